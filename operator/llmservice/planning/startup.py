"""How long a start may take before it counts as failed."""

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import ModelSource
from llmservice.planning.decided import Decided, default

_LOAD_SECONDS = 900
_DOWNLOAD_SECONDS = 2700
_BEFORE_START_SECONDS = 900


def startup_seconds(spec: LLMServiceSpec, source: ModelSource) -> Decided[int]:
    """The budget from container start to ready, with the reason when it is a default.

    Loading takes about 3 s per GB, compiling and warming up some minutes, a download 10 s per GB at 100 MB/s. The size
    of the model is not known here, so the budget suits large ones; a crash is detected at once whatever the budget.
    """
    if spec.startup.timeout_seconds is not None:
        return Decided(spec.startup.timeout_seconds)
    if source.scheme == "pvc":
        seconds, reason = _LOAD_SECONDS, "loading from a volume takes about 3 s per GB, plus minutes to warm up"
    else:
        seconds = _LOAD_SECONDS + _DOWNLOAD_SECONDS
        reason = "enough to download 200 GB at 100 MB/s and load them; a crash is detected at once in any case"
    return Decided(seconds, default("startup.timeoutSeconds", seconds, reason))


def progress_deadline_seconds(startup: int, grace: int) -> int:
    """The progress deadline of a rollout.

    The old replica stops first, a node may have to be added and the image pulled; only then the startup budget begins.
    """
    return grace + _BEFORE_START_SECONDS + startup
