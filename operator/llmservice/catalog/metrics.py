"""Metrics in catalogue rows: the roles, and the notation of a series."""

from dataclasses import dataclass

from llmservice.untrusted.patterns import compiled

METRIC_ROLES = (
    *("running", "waiting", "kv_use", "prompt_tokens", "generated_tokens", "finished", "rejected"),
    *("finished_prompt_tokens", "finished_generated_tokens", "ttft", "tpot", "inter_token_latency"),
    *("slots", "steps", "preemptions"),
)
"""The quantities that are read from engines; defined in `engines/metric_names.py`."""

_SERIES = compiled(
    r'(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<label>\w+)(?P<operator>=~?)"(?P<values>[^"\\]+)"\}|\[(?P<number>\w+)\])?'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A series in the notation of a row.

    - `tgi_queue_size`: all label sets.
    - `tgi_request_failure{err=~"overloaded|dropped"}`: those whose label `err` is one of these.
    - `acme:engine_info[slots]`: the value is the number in this label (an info metric).
    """

    name: str
    label: str = ""
    accepted: frozenset[str] = frozenset()
    in_label: bool = False

    @classmethod
    def parse(cls, written: str) -> "Series":
        """Parse the notation; raises ValueError."""
        match = _SERIES.whole(written)
        if match is None:
            raise ValueError(f'{written!r} is not a series: write name, name{{label="value"}} or name[label]')
        name, label, values = match["name"], match["label"], match["values"]
        if number := match["number"]:
            return cls(name=name, label=number, in_label=True)
        accepted = values.split("|") if match["operator"] == "=~" else [values]
        return cls(name=name, label=label, accepted=frozenset(accepted) if label else frozenset())
