"""The loader: texts in, typed rows out, complaints that name the row."""

from collections.abc import Mapping
from typing import Any

import pytest

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import catalogue_of, load_catalogue, table_in
from llmservice.catalog.rows import ENGINES_FILE
from llmservice.errors import InvalidCatalogue

ROW = "images: {cpu: img:1}, user: 1, group: 1, max_model_len: 1, max_num_seqs: 1"
NO_ACCELERATORS: Mapping[str, Any] = {"vendors": {}, "schemes": [], "accelerators": []}


def loaded(engines: str) -> Catalogue:
    return catalogue_of(engines=table_in(engines, ENGINES_FILE), accelerators=NO_ACCELERATORS)


def test_a_row_becomes_a_version() -> None:
    catalogue = loaded(f"fourth: {{default: '1', versions: {{'1': {{{ROW}}}}}}}")
    version = catalogue.engine_version("fourth", "1")
    assert (version.engine, version.version, version.images) == ("fourth", "1", {"cpu": "img:1"})


@pytest.mark.parametrize(
    ("engines", "complaint"),
    [
        ("a: [", "engines.yaml: is not YAML"),
        ("a: 5", "engines.yaml: a: "),
        ("a: {default: '2', versions: {'1': {" + ROW + "}}}", "engines.yaml: a: default .* 1"),
        ("a: {default: '1', versions: {'1': {" + ROW + ", usr: 1}}}", "engines.yaml: a: 1: .* usr"),
        ("a: {default: '1', versions: {'1': {user: 1}}}", "engines.yaml: a: 1: images: "),
        ("a: {default: '1', versions: {'1': {" + ROW + ", flags: flags/x.txt}}}", "a: 1: flags: .* flags/x.txt"),
        (
            "a: {default: '1', versions: {'1': {" + ROW + ", quantizations: [awq, online-fp8]}}}",
            "engines.yaml: a: 1: quantizations: online-fp8 .* on_load",
        ),
        ("a: {default: '1', versions: {1: {" + ROW + "}}}", "engines.yaml: a: versions: "),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_row(engines: str, complaint: str) -> None:
    with pytest.raises(InvalidCatalogue, match=complaint):
        loaded(engines)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("!!int abc", "'abc' .*int.* line 1, column 4"),
        ("!!float abc", "'abc' .*float"),
        ("!!bool maybe", "'maybe' .*bool"),
        ("!!timestamp 2026-02-30", "'2026-02-30' .*timestamp"),
        ("9" * 5000, "'9{40}' .*int"),
        ("{b: [!!int x]}", "'x' .*int"),
    ],
)
def test_a_value_that_is_not_what_it_claims_is_refused_with_its_place(value: str, complaint: str) -> None:
    with pytest.raises(InvalidCatalogue, match=f"engines.yaml: .*{complaint}"):
        loaded(f"a: {value}")


@pytest.mark.parametrize("version", ["2026-02-30", "2026-02-28"])
def test_a_version_that_looks_like_a_date_is_a_name(version: str) -> None:
    catalogue = loaded(f"fourth: {{default: {version}, versions: {{{version}: {{{ROW}}}}}}}")
    assert catalogue.engine_version("fourth", version).version == version


def test_the_shipped_catalogue_is_read_once() -> None:
    assert load_catalogue() is load_catalogue()


def test_every_shipped_image_is_pinned_by_a_version() -> None:
    images = [
        image
        for rows in load_catalogue().engines.values()
        for version in rows.versions.values()
        for image in version.images.values()
    ]
    tags = [image.rpartition(":")[2] for image in images]
    assert len(images) >= 4
    assert [tag for tag in tags if tag.startswith("latest") or not any(letter.isdigit() for letter in tag)] == []
