"""Policies that end in an HPA: KEDA on running and waiting requests, HPA on KV-cache use."""

from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.simulation.peers.hpa import by_external_metric, by_pod_metric, scaled_by
from llmservice.simulation.replaying import Decider


def keda(requests: float, policy: ScalingPolicy) -> Decider:
    """KEDA with a Prometheus trigger on running and waiting requests: threshold `requests` per replica.

    Between 1 and maxReplicas KEDA leaves scaling to an HPA on an external metric of type AverageValue and answers it
    from the trigger at each sync; pollingInterval (30 s) and cooldownPeriod (300 s) belong to scaling from and to 0
    (keda.sh/docs/latest/reference/scaledobject-spec). Requests are what vLLM reports as vllm:num_requests_running and
    vllm:num_requests_waiting, summed. The threshold has no default for LLMs.
    """

    def recommend(snapshot: Snapshot, _: float) -> tuple[int, str]:
        held = snapshot.running + snapshot.waiting
        return by_external_metric(held, requests, snapshot.replicas), f"{held:.0f} requests, threshold {requests:g}"

    return scaled_by(recommend, policy)


def hpa_on_kv_cache(percent: float, policy: ScalingPolicy) -> Decider:
    """HPA on vllm:kv_cache_usage_perc, a metric of each pod, with an AverageValue target of `percent` / 100.

    Google's GKE guide for vLLM autoscales on the same gauge (docs.cloud.google.com/kubernetes-engine/docs/how-to/
    autoscale-using-metrics). A starting pod serves no metrics yet: it is missing.
    """

    def recommend(snapshot: Snapshot, _: float) -> tuple[int, str]:
        used = snapshot.kv_uses
        missing = len(snapshot.members) - len(used)
        wanted = by_pod_metric(used, missing, percent / 100, snapshot.replicas)
        return wanted, f"KV cache {sum(used) / max(1, len(used)):.0%} on average, target {percent:g} %"

    return scaled_by(recommend, policy)
