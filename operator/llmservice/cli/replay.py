"""`llmservice replay`: recorded load against a simulated service, decided by what the operator decides with."""

import math
import sys
from pathlib import Path
from typing import Any

import click

from llmservice.autoscaling.policy import Law, Reserve
from llmservice.autoscaling.schedules import Timetable
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.replay_against import Policies
from llmservice.cli.replay_figures import as_json, as_text
from llmservice.cli.replay_picture import check_drawable, draw
from llmservice.cli.replay_schedules import moment_of, read_timetable
from llmservice.cli.replay_setting import FIXED, Options, policy_of, refuse_without_effect, setting_of
from llmservice.simulation.engine_profile import engine_profile, engine_profiles
from llmservice.simulation.measured_profile import read_profile
from llmservice.simulation.peers.hindsight import fixed_fleet
from llmservice.simulation.peers.registry import FORMS
from llmservice.simulation.peers.trial import Trial
from llmservice.simulation.replaying import Replay, remembering
from llmservice.simulation.scenarios import SCENARIOS

_A_MONDAY = "2026-01-05T00:00+00:00"
"""When the load begins unless --begins says it: schedules are played from the begin of a week."""


class _Finite(click.FloatRange):
    """A number within a range. nan lies in every range that click knows, inf in every one without an end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


@click.command(name="replay")
@click.option("--trace", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Recorded load, CSV.")
@click.option("--scenario", type=click.Choice(SCENARIOS), help="A benchmark scenario; conv-* and code need --trace.")
@click.option("--engine", help=f"Engine table: {', '.join(engine_profiles())}.  [default: h100-34b-tp2]")
@click.option(
    "--profile",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="An engine that `llmservice bench --save` measured, in place of a table.",
)
@click.option("--cold-start", type=_Finite(min=0), help="Seconds until a new replica is ready.  [default: 120]")
@click.option("--min", "minimum", type=click.IntRange(min=1), help="minReplicas.  [default: 1]")
@click.option("--max", "maximum", type=click.IntRange(min=1), help="maxReplicas.  [default: 32]")
@click.option("--first", type=click.IntRange(min=1), help="Replicas at the start.  [default: --min]")
@click.option("--times", type=_Finite(0.01, 1000), help="Multiply the load of --trace.  [default: 1]")
@click.option("--warm-up", type=_Finite(0, 86_400), help="Unscored seconds before --trace.  [default: 0]")
@click.option(
    "--policy", type=click.Choice([*(law.value for law in Law), FIXED]), default=Law.LEARNED.value, show_default=True
)
@click.option(
    "--reserve", type=click.Choice([kind.value for kind in Reserve]), help="Learned: the reserve.  [default: Balanced]"
)
@click.option("--kv-percent", type=_Finite(1, 100), help="Threshold: KV-cache target per replica.")
@click.option("--queued", type=_Finite(min=0.1), help="Threshold: waiting requests per replica.")
@click.option("--running", type=_Finite(min=0.1), help="Threshold: running requests per replica.")
@click.option(
    "--schedules",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Bounds by the schedules of an LLMService in this file, instead of --min and --max.",
)
@click.option("--begins", metavar="TIME", help=f"Date and time of the load's first moment.  [default: {_A_MONDAY}]")
@click.option(
    "--against",
    type=Policies(),
    default=(),
    metavar="NAME,...",
    help=f"Play the same load under others too: {', '.join(FORMS)}.",
)
@click.option("--ttft", type=_Finite(0.001, 3600), help="Objective: seconds to the first token.  [default: 3]")
@click.option("--tpot", type=_Finite(0.0001, 60), help="Objective: seconds per further token.  [default: 0.1]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of everything left to chance.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw load, replicas and latency, or what each policy attained: .svg, .png. Needs the extra `plot`.",
)
@click.option("--decisions", is_flag=True, help="Print every change and its reason.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(plot: Path | None, output: str, *, decisions: bool, **options: object) -> None:
    """Replay recorded load against simulated replicas and say what a policy would have attained and cost.

    The CSV has the columns arrival_seconds,prompt_tokens,output_tokens, or those of the Azure 2023 LLM inference traces
    (TIMESTAMP,ContextTokens,GeneratedTokens; CC-BY-4.0).

    --against puts other autoscalers beside it, as their documentation describes them: keda (running and waiting
    requests per replica), kubeai (mean of ten minutes), hpa-kv (HPA on KV-cache use), wva, aibrix; and what hindsight
    allows: fixed:best is the smallest fleet that attains 99 %, clairvoyant the cheapest schedule found that does.

    \b
    llmservice replay --trace load.csv --engine a100-8b --cold-start 60 --max 16 --plot load.svg
    llmservice replay --trace load.csv --against keda:24,kubeai:24,fixed:6 --plot compared.svg
    llmservice replay --trace load.csv --profile l4.yaml --policy Fixed --first 3 --min 3
    llmservice replay --scenario ramp-34b
    llmservice replay --scenario conv-34b --trace AzureLLMInferenceTrace_conv.csv --reserve Economy
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if plot:
            check_drawable(plot)
        title, replays = _replayed(Options(**options))  # type: ignore[arg-type]
        told = (
            as_json(replays, decisions=decisions) if output == "json" else as_text(title, replays, decisions=decisions)
        )
        click.echo(told)
        if plot:
            draw(plot, title, replays)


def _replayed(options: Options) -> tuple[str, dict[str, Replay]]:
    """What was played, and the replay of each policy: that of --policy first."""
    refuse_without_effect(options)
    timetable = read_timetable(options.schedules) if options.schedules else None
    setting = setting_of(options, timetable)
    measured = read_profile(options.profile) if options.profile else None
    profile = measured or engine_profile(setting.profile)
    trial = Trial(setting=setting, policy=policy_of(options, setting, profile), seed=options.seed, measured=measured)
    _progress(options.policy)
    replays = {options.policy: _played(options, trial, timetable)}
    for policy in options.against:
        _progress(policy.name)
        replays[policy.name] = policy.play(trial)
    name = options.scenario or (options.trace.stem if options.trace else "")
    return f"{name} on {profile.description}", replays


def _played(options: Options, trial: Trial, timetable: Timetable | None) -> Replay:
    if options.policy == FIXED:
        return fixed_fleet(trial, trial.setting.first)
    if timetable is None:
        return trial.replayed(remembering(trial.policy))
    begins = moment_of(options.begins or _A_MONDAY) - trial.setting.warm_up_seconds
    return trial.replayed(remembering(trial.policy, timetable, begins))


def _progress(name: str) -> None:
    """Say what is played now, to a person who waits; a file or a pipe gets results alone."""
    if sys.stderr.isatty():
        click.echo(f"playing {name} ...", err=True)
