from functools import partial

import pytest

from llmservice.errors import InvalidSpec
from llmservice.planning.gathering import gather


def refuse(reason: str, field: str) -> None:
    raise InvalidSpec(reason, "no", field=field)


def test_every_check_is_made_and_every_refusal_told() -> None:
    made: list[int] = []
    with pytest.raises(InvalidSpec) as error:
        gather(partial(refuse, "A", "spec.a"), lambda: made.append(1), partial(refuse, "B", "spec.b"))
    assert made == [1]
    assert str(error.value) == "spec.a: no\nspec.b: no"
    assert error.value.reason == "A"
    assert [(part.reason, part.field) for part in error.value.parts] == [("A", "spec.a"), ("B", "spec.b")]


def test_one_refusal_is_itself() -> None:
    with pytest.raises(InvalidSpec) as error:
        gather(lambda: None, partial(refuse, "B", "spec.b"))
    assert (error.value.reason, error.value.field, error.value.parts) == ("B", "spec.b", ())


def test_nothing_is_raised_where_nothing_refuses() -> None:
    gather(lambda: None)
