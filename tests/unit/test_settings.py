"""Settings as tables: what a text becomes, and what is said about one that cannot be understood."""

from typing import Any

import pytest

from llmservice.errors import InvalidSetting
from llmservice.planning.facts import RegistrySettings
from llmservice.reconcilers.planner import registry_settings
from llmservice.settings import VARIABLES, Settings, settings_from


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("NAMESPACES", " b, a,,a ", "namespaces", ("a", "b")),
        ("WORKERS", "32", "workers", 32),
        ("WORKERS", " ", "workers", 16),
        ("LOG_LEVEL", "DEBUG", "log_level", "debug"),
        ("METRICS_PORT", "8443", "metrics_port", 8443),
        ("METRICS_AUTH", "None", "metrics_auth", "none"),
        ("CATALOGUE", "platform/our-gpus", "catalogue", ("platform", "our-gpus")),
        ("PLATFORM", "eks-karpenter", "platform", "eks-karpenter"),
        ("MONITORING_NAMESPACE", "monitoring", "monitoring_namespace", "monitoring"),
        ("IMAGE_MIRRORS", "docker.io=r.example:5000/hub, ghcr.io = r.example/g,", "image_mirrors",
         {"docker.io": "r.example:5000/hub", "ghcr.io": "r.example/g"}),
        ("IMAGE_MIRRORS", "docker.io/vllm/vllm-openai:v1=r.example/vllm:v1", "image_mirrors",
         {"docker.io/vllm/vllm-openai:v1": "r.example/vllm:v1"}),
        ("PULL_SECRETS", "one,two,one", "pull_secrets", ("one", "two")),
        ("HF_ENDPOINT", "https://hub.example/", "hf_endpoint", "https://hub.example"),
        ("ENGINE_HTTPS_PROXY", "http://proxy.example:3128", "engine_https_proxy", "http://proxy.example:3128"),
        ("ENGINE_NO_PROXY", ".svc, 10.0.0.0/8", "engine_no_proxy", ".svc,10.0.0.0/8"),
        ("INSPECTION", "Never", "inspection", "never"),
        ("INSPECTION_IMAGE", "r.example:5000/o@sha256:00", "inspection_image", "r.example:5000/o@sha256:00"),
        ("INSPECTION_SECONDS", "120", "inspection_seconds", 120),
        ("STALL_SECONDS", "0", "stall_seconds", 0),
        ("STALL_SECONDS", "300", "stall_seconds", 300),
        ("TOLERATIONS", '[{"key": "team", "value": "ml"}]', "tolerations", ({"key": "team", "value": "ml"},)),
        ("TOLERATIONS", "- key: team\n  operator: Exists", "tolerations", ({"key": "team", "operator": "Exists"},)),
    ],
)  # fmt: skip
def test_a_text_becomes_a_value(variable: str, text: str, field: str, value: Any) -> None:
    assert getattr(settings_from({f"LLMSERVICE_{variable}": text}), field) == value


@pytest.mark.parametrize(
    ("variable", "text", "complaint"),
    [
        ("NAMESPACES", "Team_A", "'Team_A' is not a namespace: use lower-case"),
        ("WORKERS", "0", "'0' is not a number from 1 to 256"),
        ("WORKERS", "²", "'²' is not a number"),
        ("LOG_LEVEL", "loud", "'loud' is no level: use one of debug, info"),
        ("METRICS_AUTH", "off", "'off' is no way to authenticate: use kubernetes, or none to answer this machine"),
        ("PROBE_PORT", "70000", "'70000' is not a port"),
        ("CATALOGUE", "our-gpus", "'our-gpus' is not namespace/name of a ConfigMap: write it as"),
        ("PLATFORM", "GKE!", "'GKE!' is not a platform"),
        ("MONITORING_NAMESPACE", "team=a", "'team=a' is not a namespace"),
        ("IMAGE_MIRRORS", "docker.io", "'docker.io': write PREFIX=PREFIX"),
        ("IMAGE_MIRRORS", "docker.io=https://r.example", "write PREFIX=PREFIX without https://"),
        ("IMAGE_MIRRORS", "a.b=c.d,a.b=e.f", "a.b is given twice: keep one"),
        ("PULL_SECRETS", "Registry", "'Registry' is not the name of a Secret"),
        ("HF_ENDPOINT", "hub.example", "is not an address: write http"),
        ("ENGINE_HTTP_PROXY", "http://me:secret@proxy.example", "holds a user or password, which everybody could read"),
        ("INSPECTION", "off", "'off' does not say when models are inspected: use auto or never"),
        ("INSPECTION_IMAGE", "My Image", "'My Image' is not an image reference: write"),
        ("INSPECTION_SECONDS", "9", "'9' is not a number of seconds from 10 to 600"),
        ("STALL_SECONDS", "59", "'59' is not a number of seconds from 60 to 3600"),
        ("STALL_SECONDS", "36000", "'36000' is not a number of seconds from 60 to 3600"),
        ("TOLERATIONS", "{key: team}", "must be a list of tolerations"),
        ("TOLERATIONS", "[{key: ", "is not YAML or JSON"),
    ],
)
def test_a_text_that_cannot_be_understood_is_named_with_the_way_out(variable: str, text: str, complaint: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        settings_from({f"LLMSERVICE_{variable}": text})
    assert refused.value.message.startswith(f"LLMSERVICE_{variable}: ")
    assert complaint in refused.value.message
    assert "secret@" not in refused.value.message


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: variable.name)
def test_every_example_is_understood(variable: Any) -> None:
    before, after = Settings(), settings_from({variable.name: variable.example})
    assert getattr(after, variable.field) != getattr(before, variable.field)
    assert registry_settings(after) is not None


def test_nothing_set_changes_no_pod() -> None:
    assert registry_settings(settings_from({})) == RegistrySettings()


def test_what_pods_get_is_made_of_the_settings() -> None:
    environment = {
        "LLMSERVICE_IMAGE_MIRRORS": "docker.io=r.example",
        "LLMSERVICE_PULL_SECRETS": "registry",
        "LLMSERVICE_HF_ENDPOINT": "https://hub.example",
        "LLMSERVICE_ENGINE_HTTPS_PROXY": "http://proxy.example:3128",
        "LLMSERVICE_ENGINE_NO_PROXY": ".svc",
        "LLMSERVICE_TOLERATIONS": "[{key: team, operator: Exists}]",
        "HTTP_PROXY": "http://the-operators-own.example",
    }
    assert registry_settings(settings_from(environment)) == RegistrySettings(
        mirrors={"docker.io": "r.example"},
        pull_secrets=("registry",),
        hf_endpoint="https://hub.example",
        proxies={"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": ".svc"},
        tolerations=({"key": "team", "operator": "Exists"},),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[{key: a}, {key: b, efect: NoSchedule}]", "LLMSERVICE_TOLERATIONS[1]: efect: unknown field"),
        ("[{operator: Equal}]", "LLMSERVICE_TOLERATIONS[0]: a toleration without a key needs operator: Exists"),
    ],
)
def test_a_toleration_the_api_server_would_refuse_is_refused_at_the_start(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        registry_settings(settings_from({"LLMSERVICE_TOLERATIONS": text}))
    assert complaint in refused.value.message
