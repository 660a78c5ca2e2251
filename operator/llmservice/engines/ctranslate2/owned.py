"""Options of the server that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Mapping

from llmservice.engines.engine import OwnedArguments
from llmservice.engines.hugging_face import CACHE_VARIABLES, QUANTIZATION, TOKEN_VARIABLES, quantization_instead

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_CACHES = "leave it out: the operator keeps caches on a writable volume"
_DEVICES = "use spec.gpu.count (0 for CPU)"

_OWNED: Mapping[str, str] = {
    "--model": "use spec.model.uri",
    "--revision": "use spec.model.revision",
    "--served-model-name": "use spec.model.names",
    "--compute-type": QUANTIZATION,
    "--max-model-len": "use spec.maxModelLen",
    "--max-num-seqs": "use spec.maxNumSeqs",
    "--shutdown-timeout": "use spec.drain.timeoutSeconds",
    "--device": _DEVICES,
    "--device-count": _DEVICES,
    "--host": _RELIED_ON,
    "--port": _RELIED_ON,
}

CTRANSLATE2_OWNED = OwnedArguments(
    flags=_OWNED,
    environment={
        **dict.fromkeys(TOKEN_VARIABLES, "use spec.model.tokenSecretRef"),
        **dict.fromkeys(CACHE_VARIABLES, _CACHES),
        "CUDA_VISIBLE_DEVICES": _DEVICES,
    },
    by_value={QUANTIZATION: quantization_instead},
)
