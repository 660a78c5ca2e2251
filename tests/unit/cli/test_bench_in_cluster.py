"""`llmservice bench --in-cluster`: the Job that is made, its log, its end. The Job's command runs here, for real."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from llmservice.bench.job import IMAGE, KEY_FOLDER, TRACE_FILE
from llmservice.cli import bench_pod
from llmservice.cli.bench import command
from llmservice.cli.bench_generator import GENERATOR_VARIABLE
from tests.builders import an_llmservice
from tests.unit.cli.openai_server import openai_server
from tests.unit.cli.small_cluster import Json, SmallCluster

GENERATOR = Path(__file__).with_name("fake_aiperf.py")
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


@dataclass
class Kubelet:
    """Runs the command of each Job against the server at `url` and keeps what it said as the log of a pod."""

    cluster: SmallCluster
    url: str
    jobs: list[Json] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    before: str = ""

    def run(self, job: Json) -> Json:
        self.jobs.append(job)
        uid = f"uid-{len(self.jobs)}"
        arguments = [self.files.get(each, each) for each in container(job)["args"][1:]]
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "llmservice", "bench", self.url, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), GENERATOR_VARIABLE: str(GENERATOR)},
        )
        pod = {
            "kind": "Pod",
            "metadata": {"name": uid, "namespace": "ml", "labels": {"batch.kubernetes.io/controller-uid": uid}},
            "status": {"phase": "Succeeded"},
        }
        self.cluster.objects.append(pod)
        self.cluster.logs[uid] = self.before + done.stderr + done.stdout
        return {**job, "metadata": {**job["metadata"], "uid": uid}}


def container(job: Json) -> Json:
    (found,) = job["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def kubelet(small: SmallCluster) -> Iterator[Kubelet]:
    service = an_llmservice(kind="LLMService", status={"url": "http://chat.ml.svc/v1", "plan": {"maxNumSeqs": 4}})
    labels = {"llmservice.dev/name": "chat"}
    pod = {"kind": "Pod", "metadata": {"name": "chat-1", "namespace": "ml", "labels": labels}, "status": READY}
    reached = {"clusterIP": "10.1.2.3", "ports": [{"port": 80}]}
    at = {"kind": "Service", "metadata": {"name": "chat", "namespace": "ml"}, "spec": reached}
    small.objects = [service, pod, at]
    with openai_server() as url:
        made = Kubelet(small, url)
        small.on_post = made.run
        yield made


def ran(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["chat", "--in-cluster", *(str(argument) for argument in arguments)])


def test_the_report_is_that_of_the_jobs_records(kubelet: Kubelet, tmp_path: Path) -> None:
    profile = tmp_path / "p.yaml"
    result = ran("--sweep", "1,4", "--requests", 12, "-o", "json", "--save", profile)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["target"], told["planned"], told["ended"], told["partial"]) == ("ml/chat", 24, 24, False)
    assert [row["ttft_seconds"]["p50"] for row in told["rows"]] == [pytest.approx(0.04)] * 2
    assert len(kubelet.jobs) == 1
    assert "max_sequences: 4" in profile.read_text("utf-8")


def test_the_job_sends_the_same_load_to_the_service_and_is_deleted(kubelet: Kubelet) -> None:
    assert ran("--users", 2, "--rounds", 2, "--until-eos", "--timeout", 30).exit_code == 0
    (job,) = kubelet.jobs
    arguments = container(job)["args"]
    assert arguments[0] == "http://10.1.2.3:80"
    assert {"--users=2", "--rounds=2", "--until-eos", "--timeout=30", "--model=chat"} <= {*arguments}
    assert container(job)["image"] == IMAGE
    assert kubelet.cluster.deleted == [job["metadata"]["name"]]


def test_a_service_without_an_ip_is_reached_by_its_name(kubelet: Kubelet) -> None:
    kubelet.cluster.objects[2]["spec"]["clusterIP"] = "None"
    assert ran("--sweep", "1", "--requests", 2).exit_code == 0
    assert container(kubelet.jobs[0])["args"][0] == "http://chat.ml.svc"


def test_two_services_are_two_jobs_one_after_the_other(kubelet: Kubelet) -> None:
    told = json.loads(ran("--against", "chat", "--sweep", "1", "--requests", 6, "-o", "json").stdout)
    assert (told["ended"], told["against"]["ended"]) == (6, 6)
    assert len(kubelet.jobs) == len(kubelet.cluster.deleted) == 2


def test_a_recorded_load_goes_with_the_job(kubelet: Kubelet, tmp_path: Path) -> None:
    trace = tmp_path / "load.csv"
    trace.write_text("arrival_seconds,prompt_tokens,output_tokens\n0,40,10\n0.25,50,20\n", encoding="utf-8")
    kubelet.files[f"--trace={TRACE_FILE}"] = f"--trace={trace}"
    assert ran("--trace", trace).exit_code == 0
    annotations = kubelet.jobs[0]["spec"]["template"]["metadata"]["annotations"]
    assert "0.250,50,20" in next(iter(annotations.values()))


def test_the_key_of_a_service_is_mounted_and_never_read_here(kubelet: Kubelet) -> None:
    kubelet.cluster.objects[0]["spec"]["auth"] = {"keysSecretRef": {"name": "clients", "key": "team"}}
    kubelet.files[f"--key-file={KEY_FOLDER}"] = "--seed=0"
    assert ran("--sweep", "1", "--requests", 2).exit_code == 0
    volumes = {each["name"]: each for each in kubelet.jobs[0]["spec"]["template"]["spec"]["volumes"]}
    assert volumes["key"]["secret"]["secretName"] == "clients"
    assert volumes["key"]["secret"]["items"] == [{"key": "team", "path": "team"}]
    assert not any("secrets" in path for path, _ in kubelet.cluster.asked)


def test_a_bench_that_fails_is_quoted_and_its_job_deleted(kubelet: Kubelet) -> None:
    kubelet.before = "\x1b[31mred\n"
    result = ran("--sweep", "1", "--model", "broken")
    assert result.exit_code == 1
    assert "the dataset could not be read" in result.stderr
    assert "\x1b" not in result.stderr
    assert len(kubelet.cluster.deleted) == 1


def test_without_the_right_to_read_logs_the_job_is_deleted(kubelet: Kubelet) -> None:
    kubelet.cluster.forbidden = {"log"}
    result = ran("--sweep", "1", "--requests", 2)
    assert result.exit_code == 1
    assert "forbidden" in result.stderr
    assert len(kubelet.cluster.deleted) == 1


def test_a_pod_that_a_quota_forbids_is_told_by_the_event_of_the_job(
    kubelet: Kubelet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_pod, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(bench_pod, "_PATIENCE_SECONDS", {"FailedCreate": 0.05})
    forbidden = 'Error creating: pods "llmservice-bench-1-x" is forbidden: exceeded quota: q'
    event = {"kind": "Event", "metadata": {"name": "e", "namespace": "ml"}, "reason": "FailedCreate"}
    kubelet.cluster.objects.append({**event, "message": forbidden})
    kubelet.cluster.on_post = lambda job: {**job, "metadata": {**job["metadata"], "uid": "uid-1"}}
    result = ran("--sweep", "1", "--requests", 2)
    assert result.exit_code == 1
    assert "exceeded quota: q" in result.stderr
    assert "llmservice-bench-1-x" not in result.stderr
    assert len(kubelet.cluster.deleted) == 1
    asked = [query for path, query in kubelet.cluster.asked if path.endswith("/events")]
    assert asked[0]["fieldSelector"] == "involvedObject.uid=uid-1"


def test_what_went_on_since_an_event_is_not_given_up_on(kubelet: Kubelet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_pod, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(bench_pod, "_PATIENCE_SECONDS", {"FailedMount": 0.03})
    mount, pull = (
        {"kind": "Event", "metadata": {"name": name, "namespace": "ml"}, "reason": name, "lastTimestamp": at}
        for name, at in (("FailedMount", "2026-01-01T00:00:00Z"), ("Pulling", "2026-01-01T00:00:09Z"))
    )
    kubelet.cluster.objects += [pull, mount]
    ending: list[threading.Timer] = []

    def soon(job: Json) -> Json:
        made = kubelet.run(job)
        pod = kubelet.cluster.objects[-1]
        done, pod["status"] = pod["status"], {"phase": "Pending"}
        ending.append(threading.Timer(1, lambda: pod.update(status=done)))
        ending[0].start()
        return made

    kubelet.cluster.on_post = soon
    assert ran("--sweep", "1", "--requests", 2).exit_code == 0
    ending[0].join()
