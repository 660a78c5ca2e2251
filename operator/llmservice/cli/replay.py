"""`llmservice replay`: recorded load against a simulated service, decided by what the operator decides with."""

import dataclasses
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import click

from llmservice.autoscaling.decision import Decision, Reason
from llmservice.autoscaling.policy import Law, Objective, Reserve, ScalingPolicy, Targets
from llmservice.errors import InvalidSpec, OperatorError
from llmservice.simulation.chart import svg
from llmservice.simulation.engine_profile import EngineProfile, engine_profile, engine_profiles
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.replaying import Decider, Replay, remembering, replay
from llmservice.simulation.scenarios import SCENARIOS, Scenario, scenario, trace_of
from llmservice.simulation.traces import multiplied, read_trace, warmed_up

FIXED = "Fixed"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for; None leaves the scenario's own value, or the default without one."""

    trace: Path | None
    scenario: str | None
    engine: str | None
    cold_start: float | None
    minimum: int | None
    maximum: int | None
    first: int | None
    times: float
    warm_up: float
    policy: str
    reserve: str
    kv_percent: float | None
    queued: float | None
    running: float | None
    seed: int


@click.command(name="replay")
@click.option("--trace", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Recorded load, CSV.")
@click.option("--scenario", type=click.Choice(SCENARIOS), help="A benchmark scenario; conv-* and code need --trace.")
@click.option("--engine", help=f"Engine table: {', '.join(engine_profiles())}.  [default: h100-34b-tp2]")
@click.option(
    "--cold-start", type=click.FloatRange(min=0), help="Seconds until a new replica is ready.  [default: 120]"
)
@click.option("--min", "minimum", type=click.IntRange(min=1), help="minReplicas.  [default: 1]")
@click.option("--max", "maximum", type=click.IntRange(min=1), help="maxReplicas.  [default: 32]")
@click.option("--first", type=click.IntRange(min=1), help="Replicas at the start.  [default: --min]")
@click.option("--times", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="Multiply the load.")
@click.option(
    "--warm-up", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Unscored seconds before."
)
@click.option(
    "--policy", type=click.Choice([*(law.value for law in Law), FIXED]), default=Law.LEARNED.value, show_default=True
)
@click.option(
    "--reserve", type=click.Choice([kind.value for kind in Reserve]), default=Reserve.BALANCED.value, show_default=True
)
@click.option("--kv-percent", type=click.FloatRange(1, 100), help="Threshold: KV-cache target per replica.")
@click.option("--queued", type=click.FloatRange(min=0.1), help="Threshold: waiting requests per replica.")
@click.option("--running", type=click.FloatRange(min=0.1), help="Threshold: running requests per replica.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything left to chance.")
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw load, replicas, latency: .svg, .png."
)
@click.option("--decisions", is_flag=True, help="Print every change and its reason.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(plot: Path | None, output: str, *, decisions: bool, **options: object) -> None:
    """Replay recorded load against simulated replicas and say what a policy would have attained and cost.

    The CSV has the columns arrival_seconds,prompt_tokens,output_tokens, or those of the Azure 2023 LLM inference traces
    (TIMESTAMP,ContextTokens,GeneratedTokens; CC-BY-4.0).

    \b
    llmservice replay --trace load.csv --engine a100-8b --cold-start 60 --max 16 --plot load.svg
    llmservice replay --scenario ramp-34b
    llmservice replay --scenario conv-34b --trace AzureLLMInferenceTrace_conv.csv --reserve Economy
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    try:
        title, result = _replayed(Options(**options))  # type: ignore[arg-type]
        if plot:
            _draw(plot, svg(result, title))
    except OperatorError as error:
        click.echo(f"llmservice: {error}", err=True)
        sys.exit(1)
    if decisions:
        _print_changes(result)
    click.echo(json.dumps(_figures(result)) if output == "json" else _text(title, result))


def _replayed(options: Options) -> tuple[str, Replay]:
    setting = _setting(options)
    profile = engine_profile(setting.profile)
    if setting.minimum > setting.maximum:
        raise InvalidSpec("InvalidBounds", f"--min {setting.minimum} is above --max {setting.maximum}")
    policy = _policy(options, setting, profile)
    decider = _fixed(setting.first) if options.policy == FIXED else remembering(policy)
    fleet = Fleet(profile, setting.cold_start_seconds, setting.first, seed=options.seed)
    result = replay(setting.arrivals, fleet, decider, objective=policy.objective, start=setting.warm_up_seconds)
    name = options.scenario or (options.trace.stem if options.trace else "")
    return f"{name} on {profile.description}, {options.policy}", result


def _setting(options: Options) -> Scenario:
    """The scenario, or one made of the trace, with what the options say otherwise."""
    arrivals = read_trace(options.trace) if options.trace else []
    if options.scenario:
        made = scenario(options.scenario, arrivals if trace_of(options.scenario) else (), seed=options.seed)
    elif arrivals:
        load = multiplied(arrivals, options.times, seed=options.seed) if options.times != 1 else arrivals
        made = Scenario(
            profile="h100-34b-tp2",
            arrivals=warmed_up(load, options.warm_up) if options.warm_up else load,
            warm_up_seconds=options.warm_up,
            cold_start_seconds=120.0,
            first=options.minimum or 1,
            minimum=1,
            maximum=32,
        )
    else:
        raise InvalidSpec("NothingToReplay", "give --trace FILE.csv, or a --scenario that needs none")
    said: dict[str, Any] = {
        "profile": options.engine,
        "cold_start_seconds": options.cold_start,
        "first": options.first,
        "minimum": options.minimum,
        "maximum": options.maximum,
    }
    return dataclasses.replace(made, **{key: value for key, value in said.items() if value is not None})


def _policy(options: Options, setting: Scenario, profile: EngineProfile) -> ScalingPolicy:
    targets = Targets(
        kv_use=options.kv_percent / 100 if options.kv_percent else None,
        waiting=options.queued,
        running=options.running,
    )
    if options.policy == Law.THRESHOLD and targets == Targets():
        raise InvalidSpec("NoTarget", "--policy Threshold: give --kv-percent, --queued or --running")
    return ScalingPolicy(
        minimum=setting.minimum,
        maximum=setting.maximum,
        law=Law.LEARNED if options.policy == FIXED else Law(options.policy),
        reserve=Reserve(options.reserve),
        targets=targets,
        slots=profile.max_sequences,
        roofline=profile.roofline,
    )


def _fixed(replicas: int) -> Decider:
    return lambda _, __: Decision(replicas=replicas, reason=Reason.STEADY, message=f"{replicas}: fixed")


def _draw(path: Path, picture: str) -> None:
    if path.suffix == ".svg":
        path.write_text(picture, encoding="utf-8")
    elif path.suffix == ".png":
        path.write_bytes(_png(picture))
    else:
        raise InvalidSpec("UnknownPictureFormat", f"--plot {path}: end it in .svg or .png")


def _png(picture: str) -> bytes:
    try:
        cairosvg = importlib.import_module("cairosvg")
    except (ImportError, OSError) as error:
        raise InvalidSpec(
            "ExtraMissing", "--plot to .png needs cairosvg (the extra `replay`) and libcairo; .svg needs nothing"
        ) from error
    return bytes(cairosvg.svg2png(bytestring=picture.encode()))


def _print_changes(result: Replay) -> None:
    ready = 0
    for moment in result.moments:
        if moment.asked != ready:
            click.echo(f"{moment.at:7.0f} s  {moment.decision.reason}: {moment.decision.message}")
        ready = moment.asked


def _figures(result: Replay) -> dict[str, float]:
    return {
        "attainment": round(result.attainment, 4),
        "average_replicas": round(result.average_replicas, 3),
        "gpu_hours": round(result.device_hours, 3),
        "actions": len(result.changes),
        "reversals": result.reversals,
        "reversals_per_hour": round(result.reversals / result.hours, 2),
        "requests": len(result.requests),
        "preemptions": result.preemptions,
        "hours": round(result.hours, 3),
    }


def _text(title: str, result: Replay) -> str:
    figures = _figures(result)
    lines = (
        title,
        f"  requests           {figures['requests']} in {figures['hours']:.2f} h",
        f"  attainment         {figures['attainment']:.4f}  ({_within(result.objective)})",
        f"  average replicas   {figures['average_replicas']:.2f}",
        f"  GPU-hours          {figures['gpu_hours']:.2f}",
        f"  actions            {figures['actions']}",
        f"  reversals          {figures['reversals']}  ({figures['reversals_per_hour']:.1f} an hour)",
        f"  preemptions        {figures['preemptions']}",
    )
    return "\n".join(lines)


def _within(objective: Objective) -> str:
    return f"first token in {objective.first_token_seconds:g} s, then {objective.output_token_seconds:g} s per token"
