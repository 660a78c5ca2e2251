"""Context, start-up, drain, rollout, resources: what is taken when nothing is said, and why."""

from typing import Any

import pytest

from tests.unit.planning.planned import HUB, L4, default_of, planned


def test_omitted_fields_get_the_catalogues_defaults_and_a_reason() -> None:
    plan = planned()
    assert (plan.max_model_len, plan.max_num_seqs) == (8192, 4)
    assert (default_of(plan, "maxModelLen"), default_of(plan, "maxNumSeqs")) == ("8192", "4")


def test_what_the_resource_says_is_no_default() -> None:
    plan = planned(
        spec__maxModelLen=512,
        spec__maxNumSeqs=2,
        spec__quantization="Q8_0",
        spec__engineOptions={"version": "b11312", "image": "own:1"},
        spec__model__names=["a"],
        spec__rollout__strategy="Surge",
        spec__startup__timeoutSeconds=60,
        spec__drain__timeoutSeconds=60,
        spec__pod__resources__requests={"cpu": 1, "memory": "1Gi"},
    )
    assert plan.defaults == ()
    assert (plan.max_model_len, plan.max_num_seqs, plan.names) == (512, 2, ("a",))


def test_every_default_has_a_reason_worth_reading() -> None:
    defaults = planned(**HUB, **L4).defaults
    assert len(defaults) == 10
    assert [default.field for default in defaults if len(default.reason.split()) < 5] == []


@pytest.mark.parametrize(("uri", "quantization"), [("hf://a/b-GGUF", "auto"), ("hf://a/b-Q8_0-GGUF", "Q8_0")])
def test_the_quantization_the_engine_found_is_the_plans(uri: str, quantization: str) -> None:
    assert planned(spec__model__uri=uri).quantization == quantization


@pytest.mark.parametrize(("changes", "seconds"), [({}, 3600), (HUB, 3600), ({"spec__startup__timeoutSeconds": 77}, 77)])
def test_a_download_has_time_of_its_own(changes: dict[str, Any], seconds: int) -> None:
    assert planned(**changes).container.startup_seconds == seconds


@pytest.mark.parametrize(("drain", "seconds"), [(None, 325), (0, 25), (60, 85)])
def test_the_grace_period_is_above_all_that_happens_in_it(drain: int | None, seconds: int) -> None:
    """Five seconds until no proxy sends requests, the drain, five for the engine to stop, and fifteen to spare."""
    assert planned(spec__drain__timeoutSeconds=drain).pod.termination_grace_seconds == seconds


def test_a_rollout_is_late_only_after_leaving_pulling_and_starting() -> None:
    plan = planned(spec__startup__timeoutSeconds=60, spec__drain__timeoutSeconds=60)
    assert plan.rollout.progress_deadline_seconds == 85 + 900 + 60


@pytest.mark.parametrize(
    ("changes", "surge", "unavailable"),
    [
        ({}, 1, 0),
        (HUB | L4, 0, 1),
        ({"spec__rollout__strategy": "Replace"}, 0, 1),
        (HUB | L4 | {"spec__rollout__strategy": "Surge"}, 1, 0),
        (HUB | L4 | {"spec__rollout__strategy": "Auto"}, 0, 1),
        ({"spec__rollout__strategy": "Auto"}, 1, 0),
    ],
)
def test_devices_are_replaced_and_cpus_surge(changes: dict[str, Any], surge: int, unavailable: int) -> None:
    rollout = planned(**changes).rollout
    assert (rollout.max_surge, rollout.max_unavailable) == (surge, unavailable)


@pytest.mark.parametrize(
    ("changes", "counted"),
    [
        ({}, False),
        ({"spec__rollout__strategy": "Auto"}, False),
        (HUB | L4, True),
        (HUB | L4 | {"spec__rollout__strategy": "Auto"}, True),
        (HUB | L4 | {"spec__rollout__strategy": "Surge"}, False),
        (HUB | L4 | {"spec__rollout__strategy": "Replace"}, False),
    ],
)
def test_free_devices_are_counted_where_devices_are_asked_for_and_no_strategy(
    changes: dict[str, Any], *, counted: bool
) -> None:
    assert planned(**changes).rollout.by_free_devices is counted


@pytest.mark.parametrize(("replicas", "bound"), [(None, 1), (0, 0), (5, 5)])
def test_the_bound_is_the_spec_s(replicas: int | None, bound: int) -> None:
    assert planned(spec__replicas=replicas).replica_bound == bound


@pytest.mark.parametrize(
    ("resources", "requests", "limits"),
    [
        ({}, {"cpu": "250m", "memory": "512Mi"}, {}),
        ({"requests": {"cpu": 2}}, {"cpu": "2", "memory": "512Mi"}, {}),
        ({"limits": {"cpu": "100m", "memory": "256Mi"}}, {}, {"cpu": "100m", "memory": "256Mi"}),
        (
            {"requests": {"ephemeral-storage": "1Gi"}},
            {"cpu": "250m", "memory": "512Mi", "ephemeral-storage": "1Gi"},
            {},
        ),
    ],
)
def test_requests_are_made_up_only_where_no_limit_stands_for_them(
    resources: dict[str, Any], requests: dict[str, str], limits: dict[str, str]
) -> None:
    container = planned(spec__pod__resources=resources).container
    assert (container.resource_requests, container.resource_limits) == (requests, limits)


def test_devices_are_limits() -> None:
    container = planned(**HUB, spec__gpu={"type": "MI300X", "count": 2}).container
    assert container.resource_limits == {"amd.com/gpu": "2"}


def test_the_engine_hears_of_the_containers_limits() -> None:
    plan = planned(spec__pod__resources__limits={"cpu": "1500m", "memory": "2Gi"})
    variables = {item["name"]: item.get("value") for item in plan.container.environment}
    assert (variables["LLAMA_ARG_THREADS"], variables["LLAMA_ARG_CACHE_RAM"]) == ("2", "512")


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("LLAMA_ARG_THREADS", "--threads"),
        ("LLAMA_ARG_THREADS_HTTP", "--threads-http"),
        ("LLAMA_ARG_CACHE_RAM", "--cache-ram"),
        ("LLAMA_ARG_UI", "--no-ui"),
    ],
)
def test_a_users_variable_is_the_only_one_to_say_so(name: str, flag: str) -> None:
    own = {"name": name, "value": "3"}
    limits = {"cpu": "1500m", "memory": "2Gi"}
    container = planned(spec__pod__resources__limits=limits, spec__engineOptions={"env": [own]}).container
    assert [variable for variable in container.environment if variable["name"] == name] == [own]
    assert flag not in container.args
