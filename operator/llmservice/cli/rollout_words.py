"""What a change means for the replicas of a service, in words: whether pods restart, how, and with what gap."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cli.plural import counted
from llmservice.converging.free_devices import Room, Uncounted
from llmservice.converging.replicas import live_replicas
from llmservice.converging.rollout_choice import NOTHING_TO_LOSE, Expected, RolloutChoice, choose, choose_replacing
from llmservice.converging.rollout_step import RolloutStep
from llmservice.converging.startup_phases import expected_start_seconds
from llmservice.reconcilers.free_devices import FreeDevices
from llmservice.reconcilers.planner import CataloguePlanner

_GB = 10**9


@dataclass(frozen=True, slots=True)
class Words:
    """`restarts`: the pods are replaced. `strategy` is Surge, Replace, or Waits; empty where nothing restarts."""

    sentences: tuple[str, ...]
    restarts: bool = False
    strategy: str = ""


async def told(
    step: RolloutStep,
    free: FreeDevices,
    planner: CataloguePlanner,
    service: LLMService,
    restarts: bool,  # noqa: FBT001
) -> Words:
    """The words for one service. Raises what the API server answers, but for a right that is not there."""
    before = tuple(_beforehand(step, planner, service))
    if step.live is None:
        wanted = counted(step.serving.desired, "pod")
        return Words((f"new: {wanted} and what belongs to them are made", *before))
    if not restarts:
        return Words((*_replicas(step), "no pod restarts"))
    choice = await _choice(step, free)
    return Words((*_replicas(step), _replaced(step, choice), *before), True, choice.strategy or "Waits")  # noqa: FBT003


def _beforehand(step: RolloutStep, planner: CataloguePlanner, service: LLMService) -> list[str]:
    """What is done before a pod starts."""
    said = []
    if not planner.knows_model(service):
        said.append(
            "nothing is known of the model: an operator that inspects models does so first, and may choose otherwise"
        )
    if step.plan.cache is not None and not step.plan.cache.weights:
        size = f", {step.plan.cache.expected_bytes / _GB:.1f} GB" if step.plan.cache.expected_bytes else ""
        said.append(f"the model is downloaded to claim {step.plan.cache.claim} first{size}, unless it is there")
    return said


def _replicas(step: RolloutStep) -> list[str]:
    after = step.intent["spec"].get("replicas")
    before = live_replicas(step.live) if step.live else 0
    return [f"replicas: {before} -> {after}"] if after is not None and after != before else []


def _replaced(step: RolloutStep, choice: RolloutChoice) -> str:
    pods = counted(len(step.pods), "pod")
    if choice.strategy is None:
        return f"{pods} would restart, but the change waits: {choice.message}"
    if not step.serving.ready:
        return f"{pods} replaced at once: none of them serves"
    how = choice.message or ("one more first" if step.plan.rollout.max_surge else "in place")
    return f"{pods} replaced: {how}"


async def _choice(step: RolloutStep, free: FreeDevices) -> RolloutChoice:
    """As the operator would choose now."""
    if not (step.serving.ready and step.serving.desired):
        return NOTHING_TO_LOSE
    if not step.plan.rollout.by_free_devices:
        held = choose_replacing(step.plan, step.serving)
        return held or RolloutChoice(strategy="Surge" if step.plan.rollout.max_surge else "Replace")
    room = await _room(step, free)
    expected = Expected(
        start_seconds=expected_start_seconds(step.body.get("status") or {}),
        budget_seconds=step.plan.container.startup_seconds,
    )
    return choose(step.plan, step.serving, room, expected)


async def _room(step: RolloutStep, free: FreeDevices) -> Room | Uncounted:
    return await free.room(step.service, step.intent["spec"]["template"]["spec"], step.own)
