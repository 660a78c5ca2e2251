"""Where a model lies on a claim, by its URI. Paths are relative to the claim's root, with / between."""

from llmservice.models.download_request import BUCKETS_FOLDER, HUB_FOLDER

HUB_SCHEME = "hf"
BUCKET_SCHEMES = ("s3", "gs", "az")
COMMIT_LETTERS = 40


def scheme_of(uri: str) -> str:
    """`hf` of `hf://owner/name`, and of a bare `owner/name`."""
    scheme, found, _ = uri.partition("://")
    return scheme if found else HUB_SCHEME


def rest_of(uri: str) -> str:
    """What follows the scheme: `owner/name`, `bucket/path`."""
    return uri.rpartition("://")[2]


def hub_folder(uri: str) -> str:
    """The folder of a repository, as huggingface_hub names it (`repo_folder_name` in file_download.py)."""
    return f"{HUB_FOLDER}/models--{rest_of(uri).replace('/', '--')}"


def snapshot_folder(uri: str, commit: str) -> str:
    """The folder that holds the files of one commit, each a link to its blob."""
    return f"{hub_folder(uri)}/snapshots/{commit}"


def bucket_folder(uri: str) -> str:
    """The folder that holds the objects; of a URI that names a file, that of the file."""
    name = rest_of(uri).rstrip("/")
    return f"{BUCKETS_FOLDER}/{scheme_of(uri)}/{name.rpartition('/')[0] if named_file(uri) else name}"


def named_file(uri: str) -> str:
    """The GGUF file that the URI of a bucket names; empty where it names a folder, as that of a hub does."""
    is_file = scheme_of(uri) in BUCKET_SCHEMES and uri.lower().endswith(".gguf")
    return uri.rpartition("/")[2] if is_file else ""
