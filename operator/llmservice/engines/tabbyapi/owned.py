"""TabbyAPI's options that the operator sets, or keeps users from setting: each with what to do instead.

Each has a variable: TABBY_, its section and its name (common/tabby_config.py).
"""

from collections.abc import Iterator, Mapping

from llmservice.engines.engine import OwnedArguments
from llmservice.engines.hugging_face import CACHE_VARIABLES

_RELIED_ON = "leave it out: the Service, the probes and the proxy rely on it"
_KEYS = "use spec.auth.keysSecretRef: the proxy before the engine checks keys"
_ONE_MODEL = "leave it out: a replica serves the one model of spec.model.uri"
_CACHES = "leave it out: the operator keeps caches on a writable volume"

_OWNED: Mapping[str, tuple[str, ...]] = {
    "use spec.model.uri": ("model.model_dir", "model.model_name"),
    "use spec.model.names": ("model.use_dummy_models", "model.dummy_model_names"),
    "use spec.maxModelLen": ("model.max_seq_len",),
    "use spec.maxNumSeqs": ("model.max_batch_size",),
    "use spec.maxModelLen and spec.maxNumSeqs: the cache has room for all requests": ("model.cache_size",),
    "use spec.kvCacheDtype": ("model.cache_mode",),
    "use spec.gpu.parallelism": ("model.tensor_parallel",),
    _ONE_MODEL: ("model.inline_model_loading", "model.backend", "embeddings.embedding_model_name"),
    _RELIED_ON: ("network.host", "network.port", "network.api_servers"),
    _KEYS: ("network.disable_auth",),
    "leave it out: write its keys as args, in a file they would escape the operator": ("config.config",),
    "leave it out: prompts do not belong into files of the container": ("logging.log_chat_completion_requests",),
}
"""Remedy → keys of the configuration, with their sections."""


def _flags() -> Iterator[tuple[str, str]]:
    """Every spelling: argparse also accepts an unambiguous beginning of an option."""
    for remedy, keys in _OWNED.items():
        for key in keys:
            flag = "--" + key.partition(".")[2].replace("_", "-")
            for end in range(len("--x"), len(flag) + 1):
                yield flag[:end], remedy


def _variables() -> Iterator[tuple[str, str]]:
    for remedy, keys in _OWNED.items():
        for key in keys:
            yield "TABBY_" + key.replace(".", "_").upper(), remedy


TABBYAPI_OWNED = OwnedArguments(
    flags=dict(_flags()),
    environment={**dict(_variables()), **dict.fromkeys(CACHE_VARIABLES, _CACHES)},
)
