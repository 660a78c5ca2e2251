"""What is downloaded to a claim: the name under which it is known there, and where it lies.

On the claim, relative to its root:

    huggingface/hub/models--OWNER--NAME/{blobs,refs,snapshots/COMMIT}   of hf://, as huggingface_hub keeps it
    buckets/SCHEME/BUCKET/PATH                                         of s3://, gs:// and az://
    .llmservice/KEY.json                                               written last: all files are there and checked
    compile/…                                                          what engines compiled, writable for replicas
"""

import hashlib
import json
from dataclasses import asdict, dataclass

HUB_FOLDER = "huggingface/hub"
BUCKETS_FOLDER = "buckets"
MARKERS_FOLDER = ".llmservice"
COMPILE_FOLDER = "compile"


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadRequest:
    """Which files of a model.

    `format` is `safetensors` (with config and tokenizer), `adapter` (with its config) or `gguf` (one file with its
    parts: the named one, or that of the quantization). `uri` has its scheme. `revision` is a branch, tag or commit of a
    hub; empty for its main branch.
    """

    uri: str
    format: str = "safetensors"
    revision: str = ""
    file: str = ""
    quantization: str = ""

    @property
    def key(self) -> str:
        """The same for the same request, in 20 letters that a name may have."""
        asked = json.dumps(asdict(self), sort_keys=True).encode()
        return hashlib.blake2b(asked, digest_size=10).hexdigest()

    @property
    def marker(self) -> str:
        """The file, relative to the root of the claim, that is there when the download is complete."""
        return f"{MARKERS_FOLDER}/{self.key}.json"
