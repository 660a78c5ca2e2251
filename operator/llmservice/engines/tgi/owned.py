"""TGI's options that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Iterator, Mapping

from llmservice.engines.engine import KEYS_INSTEAD, OwnedArguments
from llmservice.engines.hugging_face import CACHE_VARIABLES, QUANTIZATION, TOKEN_VARIABLES, quantization_instead

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_GATEWAY = "leave it out: tunnels belong to a gateway in front"
_CACHES = "leave it out: the operator keeps caches on a writable volume"

_OWNED: Mapping[str, str] = {
    "--model-id": "use spec.model.uri",
    "--revision": "use spec.model.revision",
    "--trust-remote-code": "use spec.model.trustRemoteCode",
    "--dtype": "use spec.dtype",
    "--kv-cache-dtype": "use spec.kvCacheDtype",
    "--quantize": QUANTIZATION,
    "--num-shard": "use spec.gpu.count",
    "--sharded": "use spec.gpu.count",
    "--max-total-tokens": "use spec.maxModelLen",
    "--max-input-tokens": "use spec.maxModelLen",
    "--max-input-length": "use spec.maxModelLen",
    "--max-batch-size": "use spec.maxNumSeqs",
    "--max-concurrent-requests": "use spec.maxNumSeqs: the limit follows it",
    "--graceful-termination-timeout": "use spec.drain.timeoutSeconds",
    "-g": "use spec.drain.timeoutSeconds",
    "--hostname": _RELIED_ON,
    "--port": _RELIED_ON,
    "-p": _RELIED_ON,
    "--prometheus-port": _RELIED_ON,
    "--shard-uds-path": _RELIED_ON,
    "--huggingface-hub-cache": _CACHES,
    "--weights-cache-override": _CACHES,
    "--api-key": KEYS_INSTEAD,
    "--ngrok": _GATEWAY,
    "--ngrok-authtoken": _GATEWAY,
    "--ngrok-edge": _GATEWAY,
}
_VARIABLES: Mapping[str, str] = {
    **dict.fromkeys((*TOKEN_VARIABLES, "HF_API_TOKEN"), "use spec.model.tokenSecretRef"),
    **dict.fromkeys(CACHE_VARIABLES, _CACHES),
}


def _variables_of_options() -> Iterator[tuple[str, str]]:
    for flag, remedy in _OWNED.items():
        if flag.startswith("--"):
            yield flag.removeprefix("--").replace("-", "_").upper(), remedy


TGI_OWNED = OwnedArguments(
    flags=_OWNED,
    environment={**dict(_variables_of_options()), **_VARIABLES},
    by_value={QUANTIZATION: quantization_instead},
)
