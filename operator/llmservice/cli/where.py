"""Which cluster a verb asks, and which namespace it means.

Only what was said: `connecting` asks, and verbs that may ask no cluster do not load it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The options. Each is empty where it is not given: then the kubeconfig's current context says it."""

    kubeconfig: str = ""
    context: str = ""
    namespace: str = ""
