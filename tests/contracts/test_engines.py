"""What every engine of the registry keeps, in every version of the catalogue."""

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.engine_options import EngineOptions
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.recorded_flags import Option, Takes
from llmservice.engines.arguments import check_arguments, flag_of, owned_flag
from llmservice.engines.engine import PORT, PROXIED_PORT, Engine
from llmservice.engines.recorded_arguments import check_recorded
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import RegistrySettings, choose_facts
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.manifests import render
from tests.builders import an_llmservice
from tests.golden.cases import CASES


@dataclass(frozen=True)
class Subject:
    """One engine in one version, as its contract sees it."""

    engine: Engine
    version: EngineVersion

    def plan(self, **changes: Any) -> ServicePlan:
        """A model from the hub on one L4, unless said otherwise."""
        usual = {
            "spec__engine": self.engine.name,
            "spec__engineOptions": {"version": self.version.version},
            "spec__model": {"uri": "hf://acme/chat-7B"},
            "spec__gpu": {"type": "L4"},
        }
        service = LLMService.parse(an_llmservice(**{**usual, **changes}))
        return plan_service(service, choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=None))

    def __str__(self) -> str:
        return f"{self.engine.name}-{self.version.version}"


SUBJECTS = [
    Subject(engine, version)
    for name, engine in ENGINES.items()
    for version in load_catalogue().engines[name].versions.values()
]


@pytest.fixture(params=SUBJECTS, ids=str)
def subject(request: pytest.FixtureRequest) -> Subject:
    found: Subject = request.param
    return found


@pytest.fixture(params=[each for each in SUBJECTS if each.engine.flags], ids=str)
def with_options(request: pytest.FixtureRequest) -> Subject:
    """The engines that are told what to do by options; the others are by variables or files."""
    found: Subject = request.param
    return found


def rendered_flags(subject: Subject) -> frozenset[str]:
    """Every flag it renders for a plain resource and for one that says all it can."""
    can = subject.engine.capabilities
    more: dict[str, Any] = {
        "spec__gpu": {"type": "L4", "count": 2},
        "spec__pod__resources__limits": {"cpu": "2", "memory": "4Gi"},
        "spec__maxModelLen": 5000,
        "spec__maxNumSeqs": 3,
    }
    if can.revisions:
        more["spec__model__revision"] = "main"
    if can.remote_code:
        more["spec__model__trustRemoteCode"] = True
    plans = (subject.plan(), subject.plan(**more), subject.plan(spec__gpu={"count": 0}) if has_cpu(subject) else None)
    args = [arg for plan in plans if plan for arg in plan.container.args if re.match(r"-{1,2}[a-z]", arg)]
    return frozenset(arg.split("=", 1)[0] for arg in args)


def has_cpu(subject: Subject) -> bool:
    return "cpu" in subject.version.images


def test_renders_only_flags_that_the_version_knows(subject: Subject) -> None:
    assert [flag for flag in sorted(rendered_flags(subject)) if not subject.version.knows(flag)] == []


def test_declares_every_flag_it_renders(subject: Subject) -> None:
    """Only those are kept with a plan, so that a newer catalogue cannot change it."""
    assert rendered_flags(subject) - subject.engine.flags == frozenset()


def test_the_flags_of_the_version_were_recorded(with_options: Subject) -> None:
    assert len(with_options.version.flags) > 10


def test_what_the_version_reads_was_recorded(subject: Subject) -> None:
    recording = load_catalogue().engines[subject.engine.name].recordings[subject.version.version]
    assert len(recording.options) + len(recording.variables) > 10
    assert recording.options


@pytest.mark.parametrize("spelling", ["{0}", "{0}=x", "{0} x", "upper", "underscores"])
def test_refuses_every_owned_flag_in_every_spelling(subject: Subject, spelling: str) -> None:
    for flag in subject.engine.owned.flags:
        written = {"upper": flag.upper() if flag.startswith("--") else flag, "underscores": _underscored(flag)}
        argument = written.get(spelling) or spelling.format(flag)
        with pytest.raises(InvalidSpec) as caught:
            check_arguments(subject.engine, subject.version, [argument], [])
        assert caught.value.reason in {Reason.OWNED_ARGUMENT, Reason.ENGINE_ARGUMENT_REJECTED}
        assert flag_of(argument) in str(caught.value)


def accepted(subject: Subject, *args: str) -> tuple[str, ...]:
    """The notes about arguments that pass in this version."""
    rows = load_catalogue().engines[subject.engine.name]
    return check_recorded(subject.engine, subject.version, rows.recordings, EngineOptions(args=args))


def free_options(subject: Subject) -> list[tuple[str, Option]]:
    """Every spelling of an option that users may set."""
    recording = load_catalogue().engines[subject.engine.name].recordings[subject.version.version]
    return [each for each in recording.options.items() if not owned_flag(subject.engine, flag_of(each[0]))]


_VALUES = {
    Takes.UNKNOWN: (),
    Takes.NONE: (),
    Takes.ONE: ("1",),
    Takes.TWO: ("1", "2"),
    Takes.OPTIONAL: ("1",),
    Takes.MANY: ("1", "2", "3"),
}


def test_every_recorded_option_passes_with_its_values(with_options: Subject) -> None:
    options = free_options(with_options)
    assert options
    for spelling, option in options:
        values = _VALUES[option.takes]
        assert accepted(with_options, spelling, *values, spelling, *values) == ()
        if values and with_options.engine.capabilities.equals_sign and option.takes is not Takes.TWO:
            assert accepted(with_options, f"{spelling}={values[0]}") == ()


def test_every_recorded_option_is_refused_without_the_value_it_needs(with_options: Subject) -> None:
    needing = [spelling for spelling, option in free_options(with_options) if option.takes.least]
    assert needing
    for spelling in needing:
        for args in ([spelling], [spelling, needing[0], *_VALUES[Takes.TWO]]):
            with pytest.raises(InvalidSpec, match=re.escape("spec.engineOptions.args[0]: ")) as caught:
                accepted(with_options, *args)
            assert caught.value.reason == "EngineArgumentRejected"


def test_every_switch_is_refused_with_a_value(with_options: Subject) -> None:
    switches = [spelling for spelling, option in free_options(with_options) if option.takes is Takes.NONE]
    assert switches
    for spelling in switches:
        with pytest.raises(InvalidSpec, match=re.escape("spec.engineOptions.args[1]: ")):
            accepted(with_options, spelling, "true")


def test_an_option_that_no_version_has_is_refused_with_the_nearest(with_options: Subject) -> None:
    name = next(name for name, _ in free_options(with_options) if len(name) > 12)
    with pytest.raises(InvalidSpec, match=re.escape(name)) as caught:
        accepted(with_options, f"{name[:-2]}q{name[-1]}")
    assert caught.value.reason == "EngineArgumentRejected"


def _underscored(flag: str) -> str:
    return "--" + flag[2:].replace("-", "_") if flag.startswith("--") else flag


def test_refuses_every_owned_variable_in_any_case(subject: Subject) -> None:
    for name in subject.engine.owned.environment:
        for spelled in (name, name.lower()):
            with pytest.raises(InvalidSpec, match=spelled):
                check_arguments(subject.engine, subject.version, [], [spelled])


def test_owned_names_are_written_as_they_are_compared(subject: Subject) -> None:
    owned = subject.engine.owned
    assert [flag for flag in owned.flags if flag_of(flag) != flag] == []
    assert [name for name in owned.environment if name != name.upper()] == []


def test_every_refusal_ends_with_a_remedy(subject: Subject) -> None:
    remedies = {*subject.engine.owned.flags.values(), *subject.engine.owned.environment.values()}
    assert [remedy for remedy in remedies if not remedy.startswith(("use ", "leave it out"))] == []


@pytest.mark.parametrize("value", ["", "1", "0", "fp8", "awq", "99", "auto", "-1", "x" * 64, "٣"])
def test_a_remedy_for_a_value_is_one_too(subject: Subject, value: str) -> None:
    for remedy in subject.engine.owned.by_value.values():
        assert remedy(subject.version, value).startswith(("use ", "leave it out")) or not remedy(subject.version, value)


def test_what_limits_a_request_and_a_replica_is_owned(subject: Subject) -> None:
    """Context and concurrency mean the same on every engine, so nobody else may set them."""
    remedies = {*subject.engine.owned.flags.values(), *subject.engine.owned.environment.values()}
    assert {"use spec.maxModelLen", "use spec.maxNumSeqs", "use spec.model.uri"} - remedies == set()


@pytest.mark.parametrize(("field", "values"), [("spec__maxModelLen", (3072, 6144)), ("spec__maxNumSeqs", (3, 300))])
def test_context_and_concurrency_reach_the_engine(subject: Subject, field: str, values: tuple[int, int]) -> None:
    # One request at once, unless that is what changes: an engine may be told the context of all requests together.
    few, many = (subject.plan(**{"spec__maxNumSeqs": 1, field: value}) for value in values)
    if field == "spec__maxModelLen" and not subject.engine.capabilities.bounds_context:
        assert any("spec.maxModelLen" in note for note in few.notes)
        return
    for plan, value in ((few, values[0]), (many, values[1])):
        told = [plan.proxy.running] if plan.proxy and field == "spec__maxNumSeqs" else words(plan)
        assert any(re.search(rf"(^|=){value}$", str(word)) for word in told)


def words(plan: ServicePlan) -> list[str]:
    """What the engine is told: arguments, and the values of variables."""
    return [*plan.container.args, *(str(variable.get("value")) for variable in plan.container.environment)]


def test_serves_on_the_port_of_every_engine(subject: Subject) -> None:
    port = PROXIED_PORT if subject.engine.capabilities.proxied else PORT
    assert any(re.search(rf"(^|=|:){port}$", word) for word in words(subject.plan()))


@pytest.mark.parametrize("startup", [{}, {"timeoutSeconds": 10}, {"timeoutSeconds": 86_400}])
def test_the_startup_probe_outlasts_every_budget(subject: Subject, startup: dict[str, int]) -> None:
    container = subject.plan(spec__startup=startup).container
    probe = container.probes.startup
    assert container.startup_seconds <= 86_400 < probe.period_seconds * probe.failures <= 172_800 + probe.period_seconds


def test_a_busy_engine_is_not_a_dead_one(subject: Subject) -> None:
    """Minutes of silence, not seconds, end a replica that once was ready; it leaves the Service sooner."""
    probes = subject.plan().container.probes
    assert probes.liveness.timeout_seconds >= 10
    assert probes.liveness.period_seconds * probes.liveness.failures >= 120
    assert probes.readiness.timeout_seconds >= 10
    assert probes.readiness.failures < probes.liveness.failures


@pytest.mark.parametrize("drain", [0, 45, 3600])
def test_drain_prestop_and_grace_period_agree(subject: Subject, drain: int) -> None:
    plan = subject.plan(spec__drain__timeoutSeconds=drain)
    none = subject.plan(spec__drain__timeoutSeconds=0)
    assert plan.pod.termination_grace_seconds >= drain + 10
    assert plan.pod.termination_grace_seconds - none.pod.termination_grace_seconds == drain
    assert plan.rollout.progress_deadline_seconds > plan.container.startup_seconds + plan.pod.termination_grace_seconds


def test_no_service_links_and_no_token(subject: Subject) -> None:
    deployment = render(subject.plan(), 1)[-1]
    pod = deployment["spec"]["template"]["spec"]
    assert (pod["enableServiceLinks"], pod["automountServiceAccountToken"]) == (False, False)


def test_runs_as_a_numeric_user_who_can_write_its_caches(subject: Subject) -> None:
    plan = subject.plan()
    values = {variable["name"]: variable.get("value", "") for variable in plan.container.environment}
    caches = [path for name, path in values.items() if name == "HOME" or re.search("HF_HOME|_CACHE", name)]
    writable = [mount.path for mount in plan.pod.mounts if not mount.read_only]
    assert plan.pod.security["runAsUser"] == subject.version.user
    assert (plan.pod_security == "restricted") == plan.pod.security["runAsNonRoot"] == (subject.version.user > 0)
    assert caches
    assert [cache for cache in caches if not any(f"{cache}/".startswith(f"{path}/") for path in writable)] == []


def test_the_same_resource_always_gives_the_same_manifests(subject: Subject) -> None:
    assert render(subject.plan(), 2) == render(subject.plan(), 2)


def test_every_log_pattern_has_a_remedy(subject: Subject) -> None:
    assert subject.engine.log_patterns
    for log_pattern in subject.engine.log_patterns:
        assert not log_pattern.pattern.is_in("")
        assert log_pattern.remedy
        assert isinstance(log_pattern.reason, Reason)


def test_a_misspelled_quantization_is_refused_with_the_right_spelling(subject: Subject) -> None:
    name = next(each for each in subject.version.quantizations if each.swapcase() not in subject.version.quantizations)
    with pytest.raises(InvalidSpec, match=re.escape(name)) as caught:
        subject.plan(spec__quantization=name.swapcase())
    assert caught.value.reason == "QuantizationMisspelled"
    assert "auto" not in caught.value.message, "one spelling, and not the list of all"


def test_a_source_it_cannot_load_from_is_refused_with_those_it_can(subject: Subject) -> None:
    unable = sorted({"hf", "pvc", "s3", "gs"} - subject.engine.capabilities.schemes)
    for scheme in unable:
        with pytest.raises(InvalidSpec, match=r"spec\.model\.uri: ") as caught:
            subject.plan(spec__model={"uri": f"{scheme}://bucket/path"})
        assert caught.value.reason == "UnsupportedModelSource"
        assert {scheme, *subject.engine.capabilities.schemes} == set(re.findall(r"(\w+)://", caught.value.message))


@pytest.mark.parametrize(
    ("field", "value", "can"),
    [("revision", "main", "revisions"), ("trustRemoteCode", True, "remote_code"), ("file", "x.gguf", "gguf")],
)
def test_a_field_it_cannot_honour_is_refused(subject: Subject, field: str, value: object, can: str) -> None:
    if getattr(subject.engine.capabilities, can):
        assert subject.plan(**{f"spec__model__{field}": value}).model == "hf://acme/chat-7B"
        return
    with pytest.raises(InvalidSpec, match=rf"spec\.model\.{field}: ") as caught:
        subject.plan(**{f"spec__model__{field}": value})
    assert caught.value.reason == "UnsupportedField"


def test_has_a_golden_case(subject: Subject) -> None:
    assert any(f"engine: {subject.engine.name}\n" in case.service.read_text() for case in CASES)


def test_recorded_flags_are_shipped_with_the_package() -> None:
    shipped = files("llmservice.catalog").joinpath("flags")
    assert len(list(shipped.iterdir())) >= len(SUBJECTS)


def test_behind_a_proxy_it_listens_on_loopback_alone(subject: Subject) -> None:
    container = subject.plan(spec__auth={"keysSecretRef": {"name": "clients"}}).container
    told = " ".join((*container.args, *(str(variable.get("value")) for variable in container.environment)))
    assert ("127.0.0.1" in told, "8001" in told) == (True, True)
    assert ("0.0.0.0" in told, "8000" in told) == (False, False)  # noqa: S104
