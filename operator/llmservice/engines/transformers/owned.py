"""Options of `transformers serve` that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Mapping

from llmservice.engines.engine import OwnedArguments
from llmservice.engines.hugging_face import CACHE_VARIABLES, QUANTIZATION, TOKEN_VARIABLES, quantization_instead

_RELIED_ON = "leave it out: the proxy, the probes and the health check rely on it"
_CACHES = "leave it out: the operator keeps caches on a writable volume"
_DEVICES = "use spec.gpu.count (0 for CPU)"
_BATCHES = "leave it out: requests are always computed together where the model allows it"

_OWNED: Mapping[str, str] = {
    "--force-model": "use spec.model.uri",
    "--trust-remote-code": "use spec.model.trustRemoteCode",
    "--no-trust-remote-code": "use spec.model.trustRemoteCode",
    "--dtype": "use spec.dtype",
    "--quantization": QUANTIZATION,
    "--cb-num-blocks": "use spec.maxModelLen",
    "--max-num-seqs": "use spec.maxNumSeqs",
    "--device": _DEVICES,
    "--continuous-batching": _BATCHES,
    "--no-continuous-batching": _BATCHES,
    "--model-timeout": "leave it out: a replica serves one model, loaded for good",
    "--host": _RELIED_ON,
    "--port": _RELIED_ON,
    "--non-blocking": "leave it out: it is for the tests of transformers",
    "--no-non-blocking": "leave it out: it is for the tests of transformers",
}

TRANSFORMERS_OWNED = OwnedArguments(
    flags=_OWNED,
    environment={
        **dict.fromkeys(TOKEN_VARIABLES, "use spec.model.tokenSecretRef"),
        **dict.fromkeys(CACHE_VARIABLES, _CACHES),
        "CUDA_VISIBLE_DEVICES": _DEVICES,
    },
    by_value={QUANTIZATION: quantization_instead},
)
