"""How to reach a bucket, by the variables that the clouds' own clients read.

`AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_WEB_IDENTITY_TOKEN_FILE` and so on;
`GOOGLE_APPLICATION_CREDENTIALS`, `GOOGLE_SERVICE_ACCOUNT`; `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY`:
object_store, `from_env` of `AmazonS3Builder`, `GoogleCloudStorageBuilder` and `MicrosoftAzureBuilder`. Proxies and
authorities as for a hub.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from llmservice.download.failing import failed
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_layout import scheme_of

_AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT", "GOOGLE_BASE_URL")
_CONNECT_SECONDS, _READ_SECONDS = 15, 30
_RETRY: Mapping[str, Any] = {
    "max_retries": 3,
    "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=5)},
    "retry_timeout": timedelta(seconds=60),
}
"""Of one request. A piece that fails nevertheless is asked for again later."""


def bucket_store(uri: str, environment: Mapping[str, str] = os.environ) -> Any:
    """The store of the bucket in the URI; raises DownloadFailed."""
    from obstore import store  # noqa: PLC0415  (only a download waits for it)
    from obstore.exceptions import BaseError  # noqa: PLC0415

    kinds = {"s3": store.S3Store, "gs": store.GCSStore, "az": store.AzureStore}
    bucket = uri.partition("://")[2].partition("/")[0]
    try:
        return kinds[scheme_of(uri)](
            bucket, client_options=_client(environment), retry_config=_RETRY, **_config(uri, environment)
        )
    except (BaseError, ValueError, OSError) as error:
        said = " ".join(str(error).split())
        message = f"{scheme_of(uri)}://{bucket} cannot be reached with the variables that are set: {said}"
        raise failed(DownloadFailureReason.BUCKET_DENIED, message) from error


def _config(uri: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """What AWS's own clients read and object_store does not."""
    endpoint = environment.get("AWS_ENDPOINT_URL_S3")
    return {"endpoint": endpoint} if endpoint and scheme_of(uri) == "s3" else {}


def _client(environment: Mapping[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {
        "connect_timeout": timedelta(seconds=_CONNECT_SECONDS),
        "read_timeout": timedelta(seconds=_READ_SECONDS),
        "timeout": timedelta(hours=1),
        "allow_http": any(environment.get(name, "").startswith("http://") for name in _ENDPOINTS),
    }
    if authorities := b"\n".join(_authorities(environment)):
        options["root_certificate"] = authorities
    return options


def _authorities(environment: Mapping[str, str]) -> list[bytes]:
    """The files that the variables name; a folder of certificates is read by OpenSSL only."""
    named = {environment[name] for name in _AUTHORITIES if environment.get(name)}
    try:
        return [Path(name).read_bytes() for name in sorted(named) if Path(name).is_file()]
    except OSError as error:
        raise failed(DownloadFailureReason.NO_ROUTE, f"{error.filename} cannot be read: {error.strerror}") from error
