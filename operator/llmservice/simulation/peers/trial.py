"""One load on one service, to be played under one policy after another."""

from dataclasses import dataclass

from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.simulation.engine_profile import EngineProfile, engine_profile
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.replaying import Decider, Replay, replay
from llmservice.simulation.scenarios import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What stays the same from policy to policy: load, engine, cold start, bounds, objective, seed.

    `measured` is an engine of no table: one that somebody measured.
    """

    setting: Scenario
    policy: ScalingPolicy
    seed: int = 0
    measured: EngineProfile | None = None

    @property
    def profile(self) -> EngineProfile:
        """The engine that serves the load."""
        return self.measured or engine_profile(self.setting.profile)

    def replayed(self, decide: Decider, *, period_seconds: float = 10.0, first: int | None = None) -> Replay:
        """The load under this policy, on `first` replicas at the start where the policy wants so many."""
        setting = self.setting
        fleet = Fleet(self.profile, setting.cold_start_seconds, first or setting.first, seed=self.seed)
        return replay(
            setting.arrivals,
            fleet,
            decide,
            objective=self.policy.objective,
            period_seconds=period_seconds,
            start=setting.warm_up_seconds,
        )
