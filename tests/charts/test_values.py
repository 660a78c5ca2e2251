"""The values: closed, described, and refused with the place of the mistake."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.charts.rendering import CHART, ROOT, Refused, chart, text_of
from tools.chart.values_table import values_in

SCHEMA = json.loads((CHART / "values.schema.json").read_bytes())
VALUES = values_in((CHART / "values.yaml").read_text("utf-8"))
PAGE_VALUES = re.findall(
    r"values.yaml <<EOF\n(.*?)^EOF$", (ROOT / "docs/how-to/install.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
Schema = dict[str, Any]


def objects(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every object of the schema with its path; those of a list end in []."""
    if schema.get("type") == "object":
        yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from objects(part, f"{path}.{name}".lstrip("."))
    if "items" in schema:
        yield from objects(schema["items"], f"{path}[]")


def test_every_object_is_closed_or_a_map_or_a_part_of_kubernetes() -> None:
    """Free are only parts that the API server or the operator checks itself."""
    free = {path for path, part in objects(SCHEMA) if "additionalProperties" not in part}
    assert free == {
        "global",
        "catalogue.accelerators",
        "catalogue.engines",
        "resources.requests",
        "resources.limits",
        "ui.resources.requests",
        "ui.resources.limits",
        "affinity.nodeAffinity",
        "affinity.podAffinity",
        "affinity.podAntiAffinity",
        *(f"activator.resources.{kind}" for kind in ("requests", "limits")),
        *(f"activator.affinity.{kind}" for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity")),
        *(
            f"{peers}[].{selector}"
            for peers in (
                *(f"networkPolicy.{name}" for name in ("metricsFrom", "servicesFrom", "prometheus")),
                "ui.from",
            )
            for selector in ("namespaceSelector", "podSelector", "ipBlock")
        ),
        "networkPolicy.egress[].to[]",
        "networkPolicy.egress[].ports[]",
    }


def test_values_and_schema_know_the_same_keys() -> None:
    def keys(schema: Schema, defaults: Any, path: str) -> Iterator[tuple[str, set[str], set[str]]]:
        yield path, set(schema["properties"]), set(defaults)
        for name, part in schema["properties"].items():
            if defaults.get(name) and "properties" in part:
                yield from keys(part, defaults[name], f"{path}.{name}")

    defaults = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    found = [(path, schema ^ given) for path, schema, given in keys(SCHEMA, defaults, "") if schema != given]
    assert found == [("", {"global"})]


def test_every_value_is_described_by_a_sentence() -> None:
    assert [value.path for value in VALUES if not value.meaning.endswith(".")] == []
    assert len(VALUES) > 50


@pytest.mark.parametrize("text", PAGE_VALUES, ids=range(len(PAGE_VALUES)))
def test_values_on_the_page_change_what_is_rendered(text: str) -> None:
    assert chart(yaml.safe_load(text)) != chart()


def test_a_parent_chart_may_share_its_globals() -> None:
    assert chart({"global": {"team": "platform"}}) == chart()


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"replica": 3}, "additional properties 'replica' not allowed"),
        ({"image": {"tags": "1"}}, "at '/image': additional properties 'tags'"),
        ({"monitoring": {"podMonitor": {"enabled": True}}}, "at '/monitoring': additional properties 'podMonitor'"),
        ({"monitoring": {"tlsSecret": "Not A Name"}}, "at '/monitoring/tlsSecret'"),
        ({"scope": "namespace"}, "at '/scope'"),
        ({"namespaces": ["team-a"]}, "at '/namespaces'"),
        ({"scope": "namespaced", "namespaces": ["Team"]}, "at '/namespaces/0'"),
        ({"replicas": 0}, "at '/replicas'"),
        ({"image": {"digest": "sha256:1"}}, "at '/image/digest'"),
        ({"image": {"repository": "ghcr.io/llmservice/operator:1"}}, "at '/image/repository'"),
        ({"engines": {"proxy": {"https": "http://user:password@proxy"}}}, "at '/engines/proxy/https'"),
        ({"engines": {"imageMirrors": {"docker.io": "a,b=c"}}}, "at '/engines/imageMirrors/docker.io'"),
        ({"prometheus": {"url": "prometheus:9090"}}, "at '/prometheus/url'"),
        ({"workers": 257}, "at '/workers'"),
        ({"activator": {"replicas": 0}}, "at '/activator/replicas'"),
        ({"activator": {"maxHeldMiB": "256Mi"}}, "at '/activator/maxHeldMiB'"),
        ({"admission": {"users": {"imagePrefixes": ["team/"]}}}, "at '/admission/users/imagePrefixes/0'"),
        ({"networkPolicy": {"apiServer": {"ports": []}}}, "at '/networkPolicy/apiServer/ports'"),
    ],
)
def test_a_mistake_is_refused_with_its_place(values: dict[str, Any], place: str) -> None:
    with pytest.raises(Refused, match="don't meet the specifications") as refused:
        text_of(values)
    assert place in str(refused.value)


def test_a_cluster_that_is_too_old_is_refused() -> None:
    with pytest.raises(Refused, match=r"requires kubeVersion: >=1\.30"):
        text_of(version="1.29")
