"""`llmservice replay`: recorded load against a simulated service, decided by what the operator decides with."""

import math
from pathlib import Path
from typing import Any

import click

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.policy import Law, Reserve
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.picture import check_drawable, draw
from llmservice.cli.replay_figures import as_json, as_text
from llmservice.cli.replay_setting import FIXED, Options, policy_of, setting_of
from llmservice.simulation.chart import svg
from llmservice.simulation.engine_profile import engine_profile, engine_profiles
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.replaying import Decider, Replay, remembering, replay
from llmservice.simulation.scenarios import SCENARIOS


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
    with errors_shown():
        if plot:
            check_drawable(plot)
        title, result = _replayed(Options(**options))  # type: ignore[arg-type]
        told = as_json(result, decisions=decisions) if output == "json" else as_text(title, result, decisions=decisions)
        click.echo(told)
        if plot:
            draw(plot, svg(result, title))


def _replayed(options: Options) -> tuple[str, Replay]:
    setting = setting_of(options)
    profile = engine_profile(setting.profile)
    policy = policy_of(options, setting, profile)
    decider = _fixed(setting.first) if options.policy == FIXED else remembering(policy)
    fleet = Fleet(profile, setting.cold_start_seconds, setting.first, seed=options.seed)
    result = replay(setting.arrivals, fleet, decider, objective=policy.objective, start=setting.warm_up_seconds)
    name = options.scenario or (options.trace.stem if options.trace else "")
    return f"{name} on {profile.description}, {options.policy}", result


def _fixed(replicas: int) -> Decider:
    return lambda _, __: Decision(replicas=replicas, reason=Reason.STEADY, message=f"{replicas}: fixed")
