import pytest

from tests.in_memory_cluster.selecting import has_fields, has_labels

POD = {"metadata": {"name": "p", "labels": {"app": "chat"}}, "involvedObject": {"uid": "u"}, "type": "Warning"}


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        ("", True),
        ("app", True),
        ("other", False),
        ("app=chat", True),
        ("app==chat", True),
        ("app=other", False),
        ("app!=other", True),
        ("app!=chat", False),
        ("app=chat,other", False),
    ],
)
def test_labels(selector: str, *, holds: bool) -> None:
    assert has_labels(POD, selector) is holds


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        ("involvedObject.uid=u", True),
        ("involvedObject.uid=u,type=Warning", True),
        ("involvedObject.uid=u,type=Normal", False),
        ("metadata.name!=p", False),
        ("spec.nodeName=node1", False),
    ],
)
def test_fields(selector: str, *, holds: bool) -> None:
    assert has_fields(POD, selector) is holds
