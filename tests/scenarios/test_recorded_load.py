"""A run of the real vLLM whose small KV cache filled (`make test-vllm` recorded it): the same decisions again."""

from pathlib import Path

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.policy import Law, ScalingPolicy
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.vllm.engine import ENGINE as VLLM
from llmservice.planning.scaling_plan import LoadTargets
from tests.recorded_load import decisions, load

LOOKS = load(Path(__file__).parent / "vllm-kv-cache.json.gz")
READINGS = VLLM.metric_names(load_catalogue().engines["vllm"].versions["0.32.0"])
BY_KV_CACHE = ScalingPolicy(
    minimum=1,
    maximum=2,
    law=Law.THRESHOLD,
    targets=LoadTargets(kv_use=0.5, waiting=1000.0),
    slots=4,
    period_seconds=10.0,
)
LEARNT = ScalingPolicy(minimum=1, maximum=2, slots=4, period_seconds=10.0)


def test_a_full_kv_cache_orders_a_replica_and_an_empty_one_does_not_take_it_back_at_once() -> None:
    made = list(decisions(LOOKS, BY_KV_CACHE, READINGS))
    assert [decision.replicas for decision in made] == [1, 1] + [2] * 18
    assert (made[2].reason, made[2].message) == (
        Reason.LOAD_ROSE,
        "1 → 2: KV cache 74% in all, target 50% each wants 1.5",
    )
    assert {decision.reason for decision in made[6:]} == {Reason.STABILIZING}


def test_the_operator_that_was_recorded_asked_for_the_same() -> None:
    made = [decision.replicas for decision in decisions(LOOKS, BY_KV_CACHE, READINGS)]
    assert [look.asked for look in LOOKS[3:]] == made[2:-1]


def test_the_law_that_learns_finds_what_a_replica_holds_from_the_same_pages() -> None:
    made = list(decisions(LOOKS, LEARNT, READINGS))
    assert [decision.replicas for decision in made[:16]] == [1, 1] + [2] * 13 + [1]
    assert made[15].reason is Reason.LOAD_FELL
    assert "one replica holds 384 within the objective" in made[3].message
