"""What the fit check predicts of the figures an engine reports at its start, in the same terms."""

from dataclasses import dataclass

from llmservice.planning.fit.verdict import Verdict


@dataclass(frozen=True, slots=True)
class PredictedStart:
    """Bytes of KV cache on each device, at least and at most, and how many requests of so many tokens it holds at once.

    `requests` is 0 where that is not known.
    """

    at_least: int
    at_most: int
    requests: float
    request_tokens: int


def predicted_start(verdict: Verdict | None) -> PredictedStart | None:
    """The figures to compare with; None where nothing was predicted.

    Most engines take what is left of the device: that lies between the two estimates. Others take what their number of
    requests needs, and no more.
    """
    if verdict is None or verdict.room is None or not verdict.room.request:
        return None
    room, tokens = verdict.room, verdict.setup.max_model_len
    if verdict.setup.use.reserves_requests:
        return PredictedStart(int(room.needed), int(room.needed), room.reserved, tokens)
    low, high = max(0, int(room.careful)), max(0, int(room.optimistic))
    return PredictedStart(low, high, verdict.full_length_requests, tokens)
