"""accelerators.yaml: vendors' and platforms' differences are columns."""

from typing import Any

import pytest
import yaml

from llmservice.catalog.accelerator_rows import accelerators_from
from llmservice.catalog.loader import load_catalogue
from llmservice.errors import InvalidCatalogue

FILE = """
vendors:
  acme: {domains: [acme.example], resource_name: acme.example/npu, image_variant: npu, seccomp_profile: Unconfined,
         tolerations: [{key: npu, operator: Exists}]}
schemes:
  - {platform: one, labels: {one/model: one}, suffixes: [-SHARED]}
  - {platform: two, labels: {two/model: two, two/memory: two_mib}}
accelerators:
  - {name: N1, vendor: acme, memory_gib: 16, labels: {one: [N1-A], two: [n1], two_mib: ["16384"]}}
  - {name: N1-XL, vendor: acme, memory_gib: 15.5, resource_name: acme.example/xl, labels: {one: [N1-XL]}}
groups: {N1-16GB: [N1, N1-XL]}
ambiguous: {N: [N1, N1-XL]}
"""


def tables(**changes: Any) -> dict[str, Any]:
    return {**yaml.safe_load(FILE), **changes}


def expressions(name: str, *, shared: bool = False) -> list[list[tuple[str, list[str]]]]:
    terms = accelerators_from(tables())["accelerators"][name].admitting(shared=shared).node_terms
    return [[(part["key"], part["values"]) for part in term.term["matchExpressions"]] for term in terms]


def test_a_row_gets_one_term_for_each_scheme_it_has_a_value_for() -> None:
    assert expressions("N1") == [
        [("one/model", ["N1-A"])],
        [("two/model", ["n1"]), ("two/memory", ["16384"])],
    ]
    assert expressions("N1-XL") == [[("one/model", ["N1-XL"])]]


def test_for_a_pod_that_admits_shared_devices_each_value_has_its_suffixes_too() -> None:
    assert expressions("N1", shared=True) == [
        [("one/model", ["N1-A", "N1-A-SHARED"])],
        [("two/model", ["n1"]), ("two/memory", ["16384"])],
    ]


def test_a_group_has_the_labels_of_its_members_and_the_least_memory() -> None:
    group = accelerators_from(tables())["accelerators"]["N1-16GB"]
    shared = ["N1-A", "N1-XL", "N1-A-SHARED", "N1-XL-SHARED"]
    assert expressions("N1-16GB", shared=True)[0] == [("one/model", shared)]
    assert (group.name, group.memory_gib) == ("N1-16GB", 15.5)


def test_a_row_has_what_its_vendor_has_unless_it_says_otherwise() -> None:
    rows = accelerators_from(tables())["accelerators"]
    assert (rows["N1"].resource_name, rows["N1-XL"].resource_name) == ("acme.example/npu", "acme.example/xl")
    assert (rows["N1"].image_variant, rows["N1"].seccomp_profile) == ("npu", "Unconfined")


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"name": "X", "vendor": "other", "memory_gib": 1}, "X: vendor other .* acme"),
        ({"name": "X", "vendor": "acme"}, "X: memory_gib: "),
        ({"name": "X", "vendor": "acme", "memory_gib": "1"}, "X: memory_gib: .*number"),
        ({"name": "X", "vendor": "acme", "memory_gib": 1, "memry": 2}, "X: .* memry"),
        ({"name": "X", "vendor": "acme", "memory_gib": 1, "labels": {"three": ["x"]}}, "X: .* three"),
        ({"name": "N", "vendor": "acme", "memory_gib": 1}, "N: .* N "),
        ({"name": 5, "vendor": "acme", "memory_gib": 1}, "5: name: "),
    ],
)
def test_a_bad_row_is_named_with_what_is_wrong(row: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidCatalogue, match=complaint):
        accelerators_from(tables(accelerators=[row], groups={}))


def test_the_shipped_terms_use_valid_label_values() -> None:
    rows = load_catalogue().accelerators.values()
    values = [v for row in rows for term in row.node_terms for e in term.term["matchExpressions"] for v in e["values"]]
    assert len(values) > 200
    assert [
        v for v in values if len(v) > 63 or not v.replace("-", "").replace("_", "").replace(".", "").isalnum()
    ] == []


def test_no_two_shipped_rows_of_different_memory_claim_the_same_nodes() -> None:
    """`a100` on EC2 means 40 and 80 GB: such a label needs the memory beside it. Groups repeat their members."""
    by_term: dict[str, set[float]] = {}
    for row in load_catalogue().accelerators.values():
        for term in row.node_terms:
            by_term.setdefault(str(term.term), set()).add(round(row.memory_gib / 4))
    assert {term: sizes for term, sizes in by_term.items() if len(sizes) > 1} == {}
