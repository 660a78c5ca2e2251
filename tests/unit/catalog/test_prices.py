"""Prices of devices: an administrator's, by type, alias, group or resource; a broken one is refused with its field."""

import pytest

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.catalog.prices import Prices

GPU, SLICE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"


def priced(per_hour: str) -> Catalogue:
    return overlaid({"accelerators.yaml": f"prices: {{currency: EUR, per_hour: {{{per_hour}}}}}"})


def test_none_are_shipped() -> None:
    assert load_catalogue().prices == Prices()
    assert load_catalogue().price_per_hour("L4", GPU) is None


def test_a_type_has_its_price() -> None:
    catalogue = priced("L4: 0.8, H100-SXM: 3")
    assert (catalogue.prices.currency, catalogue.prices.time_zone) == ("EUR", "UTC")
    assert catalogue.price_per_hour("L4", GPU) == 0.8
    assert catalogue.price_per_hour("H100-SXM", GPU) == 3.0
    assert catalogue.price_per_hour("T4", GPU) is None


def test_prices_change_no_row() -> None:
    with_prices, shipped = priced("L4: 0.8"), load_catalogue()
    assert (with_prices.accelerators, with_prices.engines) == (shipped.accelerators, shipped.engines)


def test_a_part_of_a_device_has_a_price_of_its_own_alone() -> None:
    assert priced("A100-80GB: 2.5").price_per_hour("A100-80GB", SLICE) is None
    assert priced("A100-80GB: 2.5").price_per_hour("A100-80GB", f"{GPU}.shared") is None
    both = priced(f"A100-80GB: 2.5, {SLICE}: 0.4")
    assert both.price_per_hour("A100-80GB", SLICE) == both.price_per_hour("", SLICE) == 0.4


def test_a_resource_that_nobody_knows_may_have_a_price() -> None:
    assert priced("acme.example/npu: 1.5").price_per_hour("", "acme.example/npu") == 1.5


@pytest.mark.parametrize(
    "name", sorted(name for name, row in load_catalogue().accelerators.items() if row.name != name)
)
def test_an_alias_means_its_row(name: str) -> None:
    row = load_catalogue().accelerators[name]
    assert priced(f"'{name}': 1.0").price_per_hour(row.name, row.resource_name) == 1.0


def test_a_type_of_ones_own_may_have_a_price() -> None:
    text = (
        "accelerators: [{name: L5, vendor: nvidia, memory_gib: 30, labels: {gfd: [NVIDIA-L5]}}]\n"
        "prices: {currency: USD, per_hour: {L5: 1.1}, time_zone: America/New_York}"
    )
    catalogue = overlaid({"accelerators.yaml": text})
    assert catalogue.price_per_hour("L5", GPU) == 1.1
    assert catalogue.prices.time_zone == "America/New_York"
