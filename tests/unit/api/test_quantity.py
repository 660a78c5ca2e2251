"""Quantities: the form the API server stores."""

from decimal import Decimal

import pytest

from llmservice.api.v1alpha1.quantity import amount_of, canonical

CANONICAL = {
    "0": "0",
    "00": "0",
    "0Gi": "0",
    "2": "2",
    "2.0": "2",
    "0.5": "500m",
    ".5": "500m",
    "1.": "1",
    "1000m": "1",
    "1500m": "1500m",
    "100": "100",
    "1000": "1k",
    "1500": "1500",
    "2000000": "2M",
    "1024": "1024",
    "1024Mi": "1Gi",
    "1536Mi": "1536Mi",
    "1.5Gi": "1536Mi",
    "0.5Gi": "512Mi",
    "0.5Ki": "512",
    "1Ki": "1Ki",
    "2048Ki": "2Mi",
    "1000Ki": "1000Ki",
    "0.1Gi": "107374182400m",
    "500M": "500M",
    "1000M": "1G",
    "1e3": "1e3",
    "1E3": "1e3",
    "12e8": "1200e6",
    "5e-1": "500e-3",
    "+1": "1",
    "1u": "1m",
    "1.0001": "1001m",
    "100000m": "100",
}


@pytest.mark.parametrize(("written", "stored"), CANONICAL.items())
def test_is_written_as_the_api_server_stores_it(written: str, stored: str) -> None:
    assert canonical(written) == stored


@pytest.mark.parametrize("written", CANONICAL)
def test_the_canonical_form_is_the_same_amount(written: str) -> None:
    assert amount_of(canonical(written)) == amount_of(written)


@pytest.mark.parametrize(
    ("written", "amount"), [("1.5Gi", "1610612736"), ("250m", "0.25"), ("2k", "2000"), ("1n", "0.001")]
)
def test_reads_the_amount_exactly(written: str, amount: str) -> None:
    assert amount_of(written) == Decimal(amount)


@pytest.mark.parametrize(
    "text", ["", "1 Gi", "1gi", "GiB", "1GiB", "-1", "--1", "1e", "1e3Gi", "1E", "1Ei", "0x1", "٣", "1e99"]
)
def test_refuses_what_is_no_amount_below_the_bound(text: str) -> None:
    with pytest.raises(ValueError, match="amount"):
        amount_of(text)
