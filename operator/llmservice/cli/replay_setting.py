"""What the options of `llmservice replay` ask for: the load, the service under it, the policy that decides."""

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llmservice.autoscaling.policy import Law, Objective, Reserve, ScalingPolicy
from llmservice.autoscaling.schedules import Timetable
from llmservice.errors import InvalidInput, UsageError
from llmservice.planning.scaling_plan import LoadTargets
from llmservice.simulation.engine_profile import EngineProfile
from llmservice.simulation.peers.registry import NamedPolicy
from llmservice.simulation.request import Arrival
from llmservice.simulation.scenarios import Scenario, scenario, trace_of
from llmservice.simulation.traces import multiplied, read_trace, warmed_up

FIXED = "Fixed"
"""The policy that leaves the number of replicas as it is."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for; None leaves the scenario's own value, or the default without one."""

    trace: Path | None
    scenario: str | None
    engine: str | None
    profile: Path | None
    cold_start: float | None
    minimum: int | None
    maximum: int | None
    first: int | None
    times: float | None
    warm_up: float | None
    policy: str
    reserve: str | None
    kv_percent: float | None
    queued: float | None
    running: float | None
    schedules: Path | None
    begins: str | None
    against: tuple[NamedPolicy, ...]
    seed: int
    ttft: float | None
    tpot: float | None

    @property
    def objective(self) -> Objective:
        """What was asked for, else the usual."""
        usual = Objective()
        return Objective(ttft_seconds=self.ttft or usual.ttft_seconds, tpot_seconds=self.tpot or usual.tpot_seconds)


def refuse_without_effect(options: Options) -> None:
    """Raises UsageError for an option that was given and that nothing would look at."""
    for option, way_out in _without_effect(options):
        raise UsageError("OptionWithoutEffect", f"{option} would change nothing: {way_out}")


def setting_of(options: Options, timetable: Timetable | None = None) -> Scenario:
    """The scenario, or one made of the trace, with what the options and the timetable say otherwise.

    Raises UsageError.
    """
    if timetable is not None:
        options = dataclasses.replace(options, minimum=timetable.minimum, maximum=timetable.maximum)
    said: dict[str, Any] = {
        "profile": options.engine,
        "cold_start_seconds": options.cold_start,
        "first": options.first,
        "minimum": options.minimum,
        "maximum": options.maximum,
    }
    setting = dataclasses.replace(_made(options), **{key: value for key, value in said.items() if value is not None})
    if setting.minimum > setting.maximum:
        raise UsageError("InvalidBounds", f"--min {setting.minimum} is above --max {setting.maximum}")
    if options.first is not None and not setting.minimum <= options.first <= setting.maximum:
        bounds = f"--min {setting.minimum} and --max {setting.maximum}"
        raise UsageError("InvalidBounds", f"--first {options.first} is not between {bounds}")
    return setting


def policy_of(options: Options, setting: Scenario, profile: EngineProfile) -> ScalingPolicy:
    """The policy that decides on this service; as in the operator it knows neither model nor device.

    Raises UsageError when Threshold has no target.
    """
    targets = LoadTargets(
        kv_use=options.kv_percent / 100 if options.kv_percent else None,
        waiting=options.queued,
        running=options.running,
    )
    if options.policy == Law.THRESHOLD and targets == LoadTargets():
        raise UsageError("NoTarget", "--policy Threshold: give --kv-percent, --queued or --running")
    return ScalingPolicy(
        minimum=setting.minimum,
        maximum=setting.maximum,
        law=Law.LEARNED if options.policy == FIXED else Law(options.policy),
        objective=options.objective,
        reserve=Reserve(options.reserve or Reserve.BALANCED),
        targets=targets,
        slots=profile.max_sequences,
    )


def _without_effect(options: Options) -> Iterator[tuple[str, str]]:
    """Every option that was given and that nothing would look at, with the way out.

    Refused rather than passed over: its figures would be taken for the answer to another question.
    """
    fixed = f"the scenario {options.scenario} fixes the load itself: leave out one of the two"
    if options.scenario:
        yield from _given(fixed, {"--times": options.times, "--warm-up": options.warm_up})
    if options.scenario and not trace_of(options.scenario):
        yield from _given(fixed, {"--trace": options.trace})
    if options.profile:
        yield from _given("the engine is that of --profile: leave out one of the two", {"--engine": options.engine})
    if options.policy != Law.THRESHOLD:
        targets = {"--kv-percent": options.kv_percent, "--queued": options.queued, "--running": options.running}
        yield from _given("leave it out, or give --policy Threshold", targets)
    if options.schedules is None:
        yield from _given("leave it out, or give --schedules FILE", {"--begins": options.begins})
    else:
        bounds = {"--min": options.minimum, "--max": options.maximum}
        yield from _given("leave it out: the file of --schedules says both bounds", bounds)
    if options.schedules and options.policy == FIXED:
        yield "--schedules", "leave it out, or give another --policy than Fixed"
    if options.policy != Law.LEARNED:
        yield from _given("leave it out, or give --policy Learned", {"--reserve": options.reserve})


def _given(way_out: str, options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    return ((option, way_out) for option, value in options.items() if value is not None)


def _made(options: Options) -> Scenario:
    arrivals = read_trace(options.trace) if options.trace else []
    if options.scenario:
        return scenario(options.scenario, arrivals, seed=options.seed)
    if not arrivals:
        raise UsageError("NothingToReplay", "give --trace FILE.csv, or a --scenario that needs none")
    return Scenario(
        profile="h100-34b-tp2",
        arrivals=_load(arrivals, options),
        warm_up_seconds=options.warm_up or 0.0,
        cold_start_seconds=120.0,
        first=options.minimum or 1,
        minimum=1,
        maximum=32,
    )


def _load(arrivals: list[Arrival], options: Options) -> list[Arrival]:
    """The trace as --times and --warm-up want it."""
    if options.times is not None and options.times != 1:
        count, arrivals = len(arrivals), multiplied(arrivals, options.times, seed=options.seed)
        if not arrivals:
            raise InvalidInput(
                "NothingToReplay", f"--times {options.times:g} leaves none of {count} requests: give more"
            )
    return warmed_up(arrivals, options.warm_up) if options.warm_up else arrivals
