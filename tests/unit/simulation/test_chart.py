"""The picture: three panels of well-formed SVG that show the numbers."""

import re
from xml.etree import ElementTree as ET

import pytest

from llmservice.autoscaling.policy import Objective
from llmservice.simulation.chart import Line, Panel, svg
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.replaying import replay
from llmservice.simulation.request import Arrival
from tests.unit.simulation.builders import a_profile, always


def a_picture(title: str = "load") -> str:
    arrivals = [Arrival(float(second), 50, 5) for second in range(1, 700)]
    return svg(replay(arrivals, Fleet(a_profile(), 20.0, 1), always(2), objective=Objective()), title)


def test_is_well_formed_whatever_the_title() -> None:
    root = ET.fromstring(a_picture("a < b & c"))  # noqa: S314  (our own text)
    assert root.tag.endswith("svg")
    assert "a < b & c" in "".join(root.itertext())


def test_shows_load_replicas_and_latency() -> None:
    picture = a_picture()
    assert [title for title in ("load,", "replicas", "time to first token") if title in picture] == [
        "load,",
        "replicas",
        "time to first token",
    ]
    assert "stroke-dasharray" in picture


def test_stays_within_its_frame() -> None:
    coordinates = re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", a_picture())
    assert all(0 <= float(x) <= 960 and 0 <= float(y) <= 640 for x, y in coordinates)


@pytest.mark.parametrize(("largest", "top"), [(0.7, 1.0), (1.0, 1.0), (1.4, 2.0), (3.0, 5.0), (72.0, 100.0)])
def test_an_axis_ends_at_a_round_number(largest: float, top: float) -> None:
    assert Panel(title="", lines=(Line(label="", colour="", points=[(0.0, largest)]),)).top == pytest.approx(top)
