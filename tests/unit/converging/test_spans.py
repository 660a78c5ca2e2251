from llmservice.converging.spans import span, step


def test_lengths_are_short_texts() -> None:
    assert [span(seconds) for seconds in (-1, 0.4, 45, 130, 600, 11_100)] == [
        "0s",
        "0s",
        "45s",
        "2m10s",
        "10m00s",
        "3h05m",
    ]


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
