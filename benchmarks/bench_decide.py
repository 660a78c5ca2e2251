"""CPU of one decision: 1,000 services with a full hour of memory, one round over all of them.

Run: python benchmarks/bench_decide.py [--services 1000] [--replicas 3]. Figures are process time, the best of five
rounds; the aim is 0.15 s for 1,000 services. Checkpoints are timed apart: they are written every ten minutes at most.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from llmservice.autoscaling.checkpoint import decoded, encoded
from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import Law, Roofline, ScalingPolicy
from llmservice.autoscaling.snapshot import Flow, Replica, Snapshot
from llmservice.planning.scaling_plan import LoadTargets

_ROUNDS = 5
_WARM_UP = 400
_ROOFLINE = Roofline(parameters=8e9, weight_bytes=16e9, operations_per_second=312e12, bytes_per_second=2e12)


def a_snapshot(tick: int, replicas: int) -> Snapshot:
    """A load that moves through several levels within the hour."""
    requests = 30 + 20 * (tick // 37 % 3) + tick * 7 % 5

    def a_replica(number: int) -> Replica:
        flow = Flow(
            seconds=10.0,
            prompt_tokens=requests * 1100.0,
            generated_tokens=requests * 210.0,
            finished=float(requests),
            arrived=float(requests + tick % 3 - 1),
            first_tokens=float(requests),
            ttft_violations=0.0,
            tpot_violations=float(tick % 50 == 0),
            inter_token_count=requests * 209.0,
            inter_token_seconds=requests * 209.0 * (0.01 + requests * 0.0002),
            finished_prompt_tokens=requests * 1100.0,
            finished_generated_tokens=requests * 210.0,
        )
        return Replica(name=f"chat-7d9f8b6c5d-{number:05d}", running=12.0, kv_use=0.2, slots=256, flow=flow)

    return Snapshot(replicas=replicas, members=tuple(a_replica(number) for number in range(replicas)))


def an_old_memory(policy: ScalingPolicy, replicas: int) -> Memory:
    """What is remembered after more than an hour."""
    memory = Memory()
    for tick in range(_WARM_UP):
        _, memory = decide(policy, a_snapshot(tick, replicas), memory, tick * policy.period_seconds)
    return memory


def seconds_of_a_round(policy: ScalingPolicy, services: int, replicas: int) -> float:
    """CPU seconds to decide for all services once."""
    memory, best = an_old_memory(policy, replicas), float("inf")
    for tick in range(_WARM_UP, _WARM_UP + _ROUNDS):
        snapshots = [a_snapshot(tick, replicas) for _ in range(services)]
        began = time.process_time()
        for snapshot in snapshots:
            _, later = decide(policy, snapshot, memory, tick * policy.period_seconds)
        best = min(best, time.process_time() - began)
        memory = later
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", type=int, default=1000)
    parser.add_argument("--replicas", type=int, default=3)
    options = parser.parse_args()
    policies = {
        law: ScalingPolicy(
            minimum=1, maximum=32, law=law, roofline=_ROOFLINE, targets=LoadTargets(kv_use=0.8, waiting=4.0)
        )
        for law in Law
    }
    for law, policy in policies.items():
        seconds = seconds_of_a_round(policy, options.services, options.replicas)
        print(f"{law:10} {options.services} services of {options.replicas} replicas   {seconds:6.3f} s CPU")
    memory = an_old_memory(policies[Law.LEARNED], options.replicas)
    began = time.process_time()
    checkpoint = encoded(memory)
    written = time.process_time()
    decoded(checkpoint)
    print(f"checkpoint {len(checkpoint)} characters   write {(written - began) * 1e6:.0f} µs", end="   ")
    print(f"read {(time.process_time() - written) * 1e6:.0f} µs")


if __name__ == "__main__":
    main()
