"""What a replica does not report is never taken for zero."""

from hypothesis import given, settings
from hypothesis import strategies as st

from llmservice.autoscaling.snapshot import Replica
from llmservice.planning.scaling_plan import LoadTargets
from tests.unit.autoscaling.builders import a_replica, a_silent_replica, a_snapshot, a_threshold_policy, after

USES = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6)


def demand(*members: Replica) -> float:
    """Replicas that the KV cache asks for, before rounding."""
    decision, _ = after(a_threshold_policy(targets=LoadTargets(kv_use=0.5)), [a_snapshot(*members)])
    return decision.trace[0].replicas


@settings(max_examples=60, deadline=None)
@given(USES, st.integers(0, 4), st.integers(0, 3))
def test_a_replica_without_kv_use_counts_as_one_with_the_mean(uses: list[float], unknown: int, unread: int) -> None:
    known = [a_replica(f"known-{number}", kv_use=use) for number, use in enumerate(uses)]
    unsaid = [a_replica(f"unsaid-{number}", kv_use=None) for number in range(unknown)]
    silent = [a_silent_replica(f"silent-{number}") for number in range(unread)]
    mean = sum(uses) / len(uses)
    wanted = mean * (len(uses) + unknown + unread) / 0.5
    assert abs(demand(*known, *unsaid, *silent) - wanted) < 1e-9
    assert demand(*known, *unsaid, *silent) >= demand(*known) - 1e-9
