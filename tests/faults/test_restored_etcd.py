"""etcd is restored to older data, as a disaster drill does: versions and generations go back, under the same names.

The operator runs on. What it knew of the lost history is void: nothing may be written by it.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from sandbox import Sandbox
from tests.cluster.conftest import box
from tests.cluster.kube import Body, Kube, Rejected
from tests.faults.proxy import Entry
from tests.faults.scenes import OWN_IMAGE, a_service_without_pods
from tests.faults.state import CHILDREN
from tests.faults.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.faults, pytest.mark.sandbox]

__all__ = ["box"]

_KEPT = ("edited", "deleted", "remade", "orphaned", "untouched")
_WITHIN_SECONDS = 30.0


@pytest.mark.parametrize("run", [pytest.param(1, marks=pytest.mark.quick), 2, 3])
def test_after_etcd_was_restored_all_is_right_again_and_nothing_was_written_by_the_lost_history(
    trial: Trial,
    box: Sandbox,
    tmp_path: Path,
    run: int,  # noqa: ARG001  (again and again: it is about races)
) -> None:
    process = trial.operator.process
    with trial.fresh() as kube:
        for name in _KEPT:
            kube.create(a_service_without_pods(name=name))
        for name in _KEPT:
            kube.wait_ready(name, reason="Suspended")
        box.save_etcd(tmp_path / "etcd")
        _live_on(kube)
        lost = _version(kube)
        told = trial.operator.log.read_text().count("everything is listed again before")
        mark = len(trial.proxy.journal)

        with _restored(box, tmp_path / "etcd", kube) as answered_at:
            since, found = _version(kube), kube.list("LLMService")
            assert since < lost, "the data are the saved ones, and older than what the operator heard"
            _act(kube)
            _wait(lambda: _problems(kube), answered_at)
            took = time.monotonic() - answered_at

        time.sleep(5)
        assert _problems(kube) == []
        written = {entry.call.name for entry in trial.proxy.journal[mark:] if entry.accepted and _counts(entry, kube)}
        assert written == {"edited", "after"}, "only what was asked for since is written"
        _assert_no_status_of_another_generation(found + _changes(kube, since))
        assert trial.operator.log.read_text().count("everything is listed again before") == told + 1
        assert trial.operator.process is process
        assert process is not None
        assert process.poll() is None
        assert trial.is_healthy()
        _clear(kube)
    assert took <= _WITHIN_SECONDS
    trial.rows.append(("etcd restored to older data, from the API server's first answer on", took))


def _live_on(kube: Kube) -> None:
    """What the restore takes back: edits, a deletion, a successor of the same name, new resources, many versions."""
    for image in ("registry.example/own:1", "registry.example/own:2"):
        kube.patch("LLMService", "edited", {"spec": {"engineOptions": {**OWN_IMAGE, "image": image}, "replicas": 1}})
    for name in ("deleted", "remade"):
        kube.delete("LLMService", name)
    kube.create(a_service_without_pods(name="remade"))
    kube.delete("Deployment", "orphaned")
    for number in range(3):
        kube.create(a_service_without_pods(name=f"lost-{number}"))
    for number in range(300):
        kube.request(
            "POST", f"/api/v1/namespaces/{kube.namespace}/configmaps", {"metadata": {"name": f"noise-{number}"}}
        )
    kube.wait(lambda: _is_settled(kube) or None, lambda: [_stand(body) for body in kube.list("LLMService")], seconds=60)


def _is_settled(kube: Kube) -> bool:
    bodies = kube.list("LLMService")
    deployments = {body["metadata"]["name"] for body in kube.list("Deployment")}
    names = {body["metadata"]["name"] for body in bodies}
    return all(_stand(body)[1] == _stand(body)[2] for body in bodies) and deployments == names


def _stand(body: Body) -> tuple[str, int, int]:
    return body["metadata"]["name"], body["metadata"]["generation"], body.get("status", {}).get("observedGeneration", 0)


@contextmanager
def _restored(box: Sandbox, source: Path, kube: Kube) -> Iterator[float]:
    """Restore, and go on from the first answer of the API server: the moment it happened."""
    restoring = threading.Thread(target=box.restore_etcd, args=(source,))
    restoring.start()
    try:
        _until_it_answers(kube)
        yield time.monotonic()
    finally:
        restoring.join()
        kube.api.rest_client.pool_manager.clear()  # what is left of connections to the former API server


def _until_it_answers(kube: Kube) -> None:
    """First it goes away, then it is back.

    Whether it went away is asked without TLS: a connection that is reset before the handshake leaves an open socket in
    CPython's `ssl`, which fails the whole run at its end.
    """
    _until(lambda: not _listens(kube), "the API server did not go away")
    _until(lambda: _answers(kube), "the API server did not come back")


def _until(over: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + 60
    while not over():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


def _listens(kube: Kube) -> bool:
    server = urllib3.util.parse_url(kube.api.configuration.host)
    try:
        with socket.create_connection((server.host or "", server.port or 443), timeout=5):
            return True
    except OSError:
        return False


def _answers(kube: Kube) -> bool:
    try:
        kube.request("GET", "/apis/llmservice.dev/v1alpha1/llmservices?limit=1")
    except (urllib3.exceptions.HTTPError, Rejected):
        return False
    return True


def _act(kube: Kube) -> None:
    """What users do in the restored cluster, before the operator may have noticed."""
    deadline = time.monotonic() + 20
    while True:  # rights and admission are ready a moment after the first answer
        try:
            kube.patch(
                "LLMService", "edited", {"spec": {"engineOptions": {**OWN_IMAGE, "image": "registry.example/own:3"}}}
            )
            break
        except (Rejected, urllib3.exceptions.HTTPError):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    kube.delete("LLMService", "deleted")
    kube.create(a_service_without_pods(name="after"))


def _problems(kube: Kube) -> list[str]:
    """What is not as the restored cluster and its users want it."""
    bodies = {body["metadata"]["name"]: body for body in kube.list("LLMService")}
    found = []
    if set(bodies) != {*_KEPT, "after"} - {"deleted"}:
        found.append(f"resources: {sorted(bodies)}")
    for name, body in bodies.items():
        stand = _stand(body)
        if stand[1] != stand[2]:
            found.append(f"{name}: generation {stand[1]}, told {stand[2]}")
        mine = [child for kind in CHILDREN if (child := kube.get(kind, name))]
        if {child["kind"] for child in mine} != set(CHILDREN):
            found.append(f"{name}: {[child['kind'] for child in mine]}")
        if any(
            owner["uid"] != body["metadata"]["uid"] for child in mine for owner in child["metadata"]["ownerReferences"]
        ):
            found.append(f"{name}: a child of another one")
    deployment = kube.get("Deployment", "edited")
    image = deployment["spec"]["template"]["spec"]["containers"][0]["image"] if deployment else ""
    if image != "registry.example/own:3":
        found.append(f"edited: image {image}")
    found += [f"{kind} {name} is there" for kind in CHILDREN for name in _left(kube, kind, bodies)]
    return found


def _left(kube: Kube, kind: str, bodies: dict[str, Body]) -> list[str]:
    return [body["metadata"]["name"] for body in kube.list(kind) if body["metadata"]["name"] not in bodies]


def _wait(problems: Callable[[], list[str]], since: float) -> None:
    while seen := problems():
        assert time.monotonic() - since < 2 * _WITHIN_SECONDS, seen
        time.sleep(0.1)


def _counts(entry: Entry, kube: Kube) -> bool:
    return bool(entry.call.namespace == kube.namespace and entry.call.resource != "events")


def _changes(kube: Kube, since: int) -> list[Body]:
    """Each state of a resource in the new history, from the API server's own record."""
    path = f"/apis/llmservice.dev/v1alpha1/namespaces/{kube.namespace}/llmservices"
    told = kube.kubectl("get", "--raw", f"{path}?watch=1&resourceVersion={since}&timeoutSeconds=3")
    return [json.loads(line)["object"] for line in told.splitlines()]


def _assert_no_status_of_another_generation(bodies: list[Body]) -> None:
    names = {_stand(body)[0] for body in bodies}
    assert names >= {"edited", "after"}, "the API server told of its changes"
    for name, generation, observed in map(_stand, bodies):
        assert observed <= generation, f"{name}: a status of generation {observed}, and the resource is at {generation}"


def _version(kube: Kube) -> int:
    listing = kube.request("GET", "/apis/llmservice.dev/v1alpha1/llmservices?limit=1")
    return int(listing["metadata"]["resourceVersion"])


def _clear(kube: Kube) -> None:
    for body in kube.list("LLMService"):
        kube.delete("LLMService", body["metadata"]["name"])
