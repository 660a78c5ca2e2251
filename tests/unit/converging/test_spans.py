from llmservice.converging.spans import roughly, span, step


def test_lengths_are_short_texts() -> None:
    assert [span(seconds) for seconds in (-1, 0.4, 45, 59.4, 60, 130, 600, 3600, 11_100)] == [
        "0s",
        "0s",
        "45s",
        "59s",
        "1m00s",
        "2m10s",
        "10m00s",
        "1h00m",
        "3h05m",
    ]


def test_estimates_have_the_unit_that_people_use() -> None:
    assert [roughly(seconds) for seconds in (0.2, 40, 840, 12_600)] == ["1 s", "40 s", "14 min", "3.5 h"]


def test_steps_are_few() -> None:
    assert [step(seconds) for seconds in (0, 29, 31, 119, 130, 3599, 3600, 7300)] == [
        0,
        0,
        30,
        60,
        120,
        2700,
        3600,
        7200,
    ]
    assert len({step(seconds) for seconds in range(3600)}) < 12
