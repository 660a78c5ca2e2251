"""Where a model lies: a folder as it is given, or a repository of the hub, downloaded into its cache."""

from pathlib import Path

from huggingface_hub import snapshot_download

from ctranslate2_server.errors import UnusableModel
from ctranslate2_server.options import Options

_NEEDED = ["*.json", "*.bin", "*.jinja", "*.txt"]


def folder_of(options: Options) -> Path:
    """The model's folder; raises UnusableModel, or what the hub's client raises."""
    folder = Path(options.model)
    if folder.is_dir():
        return folder
    if options.model.startswith(("/", ".")):
        raise UnusableModel(f"{options.model} is no folder")
    return Path(snapshot_download(options.model, revision=options.revision or None, allow_patterns=_NEEDED))
