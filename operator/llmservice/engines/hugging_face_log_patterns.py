"""What engines built on huggingface_hub say when the hub, or the way to it, fails them.

Sources: huggingface_hub 2.4 (errors.py, utils/_http.py, file_download.py), transformers 5.23 (utils/hub.py). The older
releases that engines ship write the same words, on `requests` instead of `httpx`.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import compiled

_CLAIM = "or keep the model on a claim (pvc://)"

HUB_LOG_PATTERNS = (
    LogPattern(
        cause="the model is gated",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"GatedRepoError: |[Cc]annot access gated repo|You are trying to access a gated repo"),
        remedy="accept the model's licence, and set spec.model.tokenSecretRef to a token that may read it",
    ),
    LogPattern(
        cause="the token is not valid",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"Invalid credentials in Authorization header|Invalid user token"),
        remedy="put a new token into the Secret of spec.model.tokenSecretRef",
    ),
    LogPattern(
        cause="the model has no such revision",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"RevisionNotFoundError: |is not a valid git identifier"),
        remedy="correct spec.model.revision",
    ),
    LogPattern(
        cause="the hub has no such model, or hides it",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"RepositoryNotFoundError: |is not a valid model identifier|HFValidationError: "),
        remedy="correct spec.model.uri; a private model needs spec.model.tokenSecretRef",
    ),
    LogPattern(
        cause="the proxy does not let the engine through",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"ProxyError|Tunnel connection failed|407 Proxy Authentication"),
        remedy="correct HTTPS_PROXY and NO_PROXY in spec.engineOptions.env",
        uncertain=True,
    ),
    LogPattern(
        cause="the hub denies access",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"(401|403) (Client Error|Forbidden)|error '(401|403) "),
        remedy="set spec.model.tokenSecretRef to a token that may read the model",
    ),
    LogPattern(
        cause="the hub throttles requests",
        reason=Reason.HUB_THROTTLED,
        pattern=compiled(r"429 (Client Error|Too Many Requests)|hit the rate limit"),
        remedy=f"set spec.model.tokenSecretRef (the limit is higher with a token) and wait, {_CLAIM}",
        self_healing=True,
    ),
    LogPattern(
        cause="the hub is failing",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"50[0234] Server Error|Server error '50[0234] "),
        remedy=f"wait (status.huggingface.co), {_CLAIM}",
        self_healing=True,
    ),
    LogPattern(
        cause="the certificate of the hub, a mirror or a proxy is not trusted",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|SSLCertVerificationError"),
        remedy=(
            "mount the authority's certificate with spec.engineOptions.files, and name it in SSL_CERT_FILE and "
            "REQUESTS_CA_BUNDLE in spec.engineOptions.env"
        ),
    ),
    LogPattern(
        cause="the hub's name cannot be resolved",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(
            r"name resolution|Name or service not known|NameResolutionError|No address associated with hostname"
        ),
        remedy=f"let the pod reach the cluster's DNS (a NetworkPolicy may stop it), correct HF_ENDPOINT, {_CLAIM}",
        self_healing=True,
    ),
    LogPattern(
        cause="the engine is told not to ask the hub, and the model is not on its disk",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"outgoing traffic has been disabled|offline mode is enabled"),
        remedy=f"leave out HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE in spec.engineOptions.env, {_CLAIM}",
    ),
    LogPattern(
        cause="the address of HF_ENDPOINT is no hub",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"Distant resource does(n't| not) (seem to be|have)"),
        remedy="correct HF_ENDPOINT in spec.engineOptions.env, or the mirror behind it",
    ),
    LogPattern(
        cause="the hub cannot be reached",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(
            r"ConnectTimeout| timed out\. \(connect timeout=|ReadTimeout|Max retries exceeded|ConnectError: "
            r"|LocalEntryNotFoundError: |[Cc]ouldn't connect to 'https?://|Network is unreachable"
        ),
        remedy=f"let the pod reach it (a NetworkPolicy, HTTPS_PROXY in spec.engineOptions.env), {_CLAIM}",
        self_healing=True,
    ),
    LogPattern(
        cause="the bucket denies access",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(
            r"Unable to locate credentials|NoCredentialsError|InvalidAccessKeyId|SignatureDoesNotMatch"
            r"|\(AccessDenied\)|DefaultCredentialsError"
        ),
        remedy=(
            "give the bucket's credentials in spec.engineOptions.env, or a spec.pod.serviceAccountName that has them"
        ),
    ),
)
"""Errors of the hub, the most specific first: without a token an unknown repository is answered with 401."""
