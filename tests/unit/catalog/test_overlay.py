"""An overlay replaces and adds rows by name; a broken one is refused with file, row and field."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmservice.catalog.accelerator_rows import TABLES
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue, models_of, shipped_table
from llmservice.catalog.overlay import overlaid
from llmservice.cli.documents import to_yaml
from llmservice.errors import InvalidCatalogue
from tests.unit.catalog.broken import BROKEN_ACCELERATORS, BROKEN_ENGINES, BROKEN_MODELS, L5, VERSION


def engines(text: str) -> Catalogue:
    return overlaid({"engines.yaml": text})


def accelerators(text: str) -> Catalogue:
    return overlaid({"accelerators.yaml": text})


def test_nothing_given_is_the_shipped_catalogue() -> None:
    assert overlaid({}) == load_catalogue()
    assert overlaid({"engines.yaml": "# later\n", "accelerators.yaml": ""}) == load_catalogue()


def test_a_version_is_added_beside_the_shipped_ones() -> None:
    row = engines(f"vllm: {{versions: {{'9.0': {{{VERSION}}}}}}}").engines["vllm"]
    shipped = load_catalogue().engines["vllm"]
    assert row.versions["9.0"].images == {"cuda": "registry.example/vllm:v9"}
    assert {**row.versions, **shipped.versions} == row.versions
    assert row.default == shipped.default


def test_a_version_given_takes_the_place_of_the_shipped_row_whole() -> None:
    shipped = load_catalogue().engines["vllm"].default
    row = engines(f"vllm: {{versions: {{'{shipped}': {{{VERSION}}}}}}}").engine_version("vllm", None)
    assert (row.images, row.flags) == ({"cuda": "registry.example/vllm:v9"}, frozenset())


def test_the_default_can_be_a_shipped_or_a_given_version() -> None:
    assert engines("vllm: {default: 0.24.0}").engine_version("vllm", None).version == "0.24.0"
    given_too = f"vllm: {{default: '9.0', versions: {{'9.0': {{{VERSION}}}}}}}"
    assert engines(given_too).engine_version("vllm", None).version == "9.0"


def test_a_version_may_use_flags_recorded_of_a_shipped_one() -> None:
    text = f"vllm: {{versions: {{'9.0': {{{VERSION}, flags: flags/vllm-0.33.0.txt}}}}}}"
    shipped = load_catalogue().engine_version("vllm", "0.33.0")
    assert engines(text).engine_version("vllm", "9.0").flags == shipped.flags


def test_an_accelerator_is_added_with_its_vendors_columns() -> None:
    row = accelerators(f"accelerators: [{L5}]").accelerator("L5")
    assert (row.resource_name, row.image_variant, row.memory_gib) == ("nvidia.com/gpu", "cuda", 30.0)
    assert [term.platform for term in row.node_terms] == ["feature-discovery", "gke"]


def test_an_accelerator_given_takes_the_place_of_the_shipped_row() -> None:
    text = "accelerators: [{name: T4, vendor: nvidia, memory_gib: 1, labels: {gfd: [Our-T4]}}]"
    row = accelerators(text).accelerator("T4")
    assert [term.term["matchExpressions"][0]["values"] for term in row.node_terms] == [["Our-T4"]]
    assert load_catalogue().accelerator("T4") != row


def test_a_label_of_ones_own_is_a_scheme_and_a_column() -> None:
    text = """
      schemes: [{platform: ours, labels: {acme.example/card: card}}]
      platforms: {ours: [acme.example/card]}
      accelerators: [{name: L5, vendor: nvidia, memory_gib: 30, labels: {card: [l5]}}]
    """
    catalogue = accelerators(text)
    assert [term.platform for term in catalogue.accelerator("L5").node_terms] == ["ours"]
    assert catalogue.platform_of({"cloud.google.com/gke-nodepool", "acme.example/card"}) == "ours"


def test_a_scheme_with_a_shipped_first_label_takes_its_place() -> None:
    text = "schemes: [{platform: feature-discovery, labels: {nvidia.com/gpu.product: gfd}}]"
    term = accelerators(text).accelerator("T4").node_terms[-1]
    assert term.term["matchExpressions"] == [
        {"key": "nvidia.com/gpu.product", "operator": "In", "values": ["Tesla-T4"]}
    ]


@pytest.mark.parametrize(("text", "complaint"), BROKEN_ENGINES)
def test_broken_engines_are_refused_with_row_and_field(text: str, complaint: str) -> None:
    with pytest.raises(InvalidCatalogue, match=complaint):
        engines(text)


@pytest.mark.parametrize(("text", "complaint"), BROKEN_ACCELERATORS)
def test_broken_accelerators_are_refused_with_row_and_field(text: str, complaint: str) -> None:
    with pytest.raises(InvalidCatalogue, match=complaint):
        accelerators(text)


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        ("tolerations: [{key: a, efect: NoSchedule}]", r"tolerations\[0\]: efect: .*effect"),
        ("tolerations: [{operator: Equal}]", r"tolerations\[0\]: .*Exists"),
        ("seccomp_profile: Localhost", "seccomp_profile: 'Localhost' .*RuntimeDefault, Unconfined"),
    ],
)
def test_what_every_pod_would_be_refused_for_is_refused_here(column: str, complaint: str) -> None:
    vendor = f"{{domains: [a.b], resource_name: a.b/c, image_variant: cuda, {column}}}"
    with pytest.raises(InvalidCatalogue, match=f"accelerators.yaml: vendors: acme: {complaint}"):
        accelerators(f"vendors: {{acme: {vendor}}}")


def test_models_are_added_beside_the_shipped_ones() -> None:
    models = models_of(
        overlaid({"models.yaml": "models: [{id: our/own, like: Qwen/Qwen3-8B, longest_context: 100000}]"})
    )
    ours, shipped = models.facts("our/own"), models.facts("Qwen/Qwen3-8B")
    assert ours is not None
    assert shipped is not None
    assert (ours.longest_context, ours.layers) == (100_000, shipped.layers)
    assert models_of(load_catalogue()).facts("our/own") is None


@pytest.mark.parametrize(("text", "complaint"), BROKEN_MODELS)
def test_broken_models_are_refused_with_row_and_field(text: str, complaint: str) -> None:
    with pytest.raises(InvalidCatalogue, match=complaint):
        overlaid({"models.yaml": text})


def test_a_key_that_is_no_file_of_the_catalogue_is_refused() -> None:
    with pytest.raises(InvalidCatalogue, match=r"engine.yaml: .*engines.yaml"):
        overlaid({"engine.yaml": ""})


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"accelerators.yaml": {"accelerators": []}}, r"accelerators.yaml: .*\|"),
        ({"engines.yaml": 3}, r"engines.yaml: .*`engines.yaml: \|`"),
        ({"engines.yaml": None}, r"engines.yaml: .*\|"),
        (3, "data: .*engines.yaml, accelerators.yaml"),
        (["x"], "data: .*engines.yaml"),
    ],
)
def test_data_without_texts_is_refused_with_its_key(data: object, complaint: str) -> None:
    with pytest.raises(InvalidCatalogue, match=complaint):
        overlaid(data)


_NAMES = st.sampled_from(["name", "vendor", "labels", "gfd", "memory_gib", "nvidia", "T4", "default", "versions", "x"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | _NAMES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES | st.integers(0, 1), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)  # a collection of garbage takes longer than what is tested
@given(table=st.sampled_from(TABLES), rows=_JSON)
def test_nothing_written_in_accelerators_is_more_than_a_broken_overlay(table: str, rows: object) -> None:
    _refused_or_taken("accelerators.yaml", {table: rows})


@settings(deadline=None)  # a collection of garbage takes longer than what is tested
@given(engine=st.sampled_from(sorted(shipped_table("engines.yaml"))), row=_JSON)
def test_nothing_written_in_engines_is_more_than_a_broken_overlay(engine: str, row: object) -> None:
    _refused_or_taken("engines.yaml", {engine: row})


@settings(deadline=None)  # a collection of garbage takes longer than what is tested
@given(row=st.dictionaries(st.sampled_from(["id", "like", "aliases", "layers", "experts", "file_gib", "gated"]), _JSON))
def test_nothing_written_in_models_is_more_than_a_broken_overlay(row: object) -> None:
    _refused_or_taken("models.yaml", {"models": [row]})


def _refused_or_taken(file: str, table: dict[str, object]) -> None:
    try:
        overlaid({file: to_yaml([table])})
    except InvalidCatalogue as refused:
        assert str(refused).startswith(file)  # noqa: PT017  (either outcome is right)
