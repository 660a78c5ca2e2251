"""One engine replica, iteration by iteration: continuous batching, chunked prefill, paged KV cache, preemption.

Each iteration decodes one token for every running request and fills the rest of the token budget with prompt chunks of
the request being admitted. A full KV cache preempts the newest running request, whose tokens are computed again later.
Iterations that only decode differ by a constant, so a stretch of them is jumped over in closed form:
k iterations from n requests over K cached tokens last k (s(n) + r K) + r n k (k - 1) / 2.
"""

import heapq
import math
from collections import deque

from llmservice.simulation.engine_counters import EngineCounters
from llmservice.simulation.engine_profile import EngineProfile
from llmservice.simulation.request import Request

_HALF_BLOCK = 8
"""Tokens of KV cache that a request leaves unused on average in its last block of 16."""

_WATERMARK = 0.01
"""Share of the KV cache kept free when requests are admitted."""


class EngineReplica:
    """A replica whose clock (seconds) runs ahead to the end of the iteration that began last.

    `longest_jump` = 1 computes every iteration by itself: slow, and the check of the closed form.
    """

    def __init__(self, profile: EngineProfile, *, clock: float, longest_jump: int = 1 << 30) -> None:
        self.clock = clock
        self.counters = EngineCounters()
        self.cached_tokens = 0
        self._profile = profile
        self._longest_jump = longest_jump
        self._waiting: deque[Request] = deque()
        self._admitting: Request | None = None
        self._promised_tokens = 0
        self._decoding: dict[int, Request] = {}
        self._ends: list[tuple[int, int]] = []
        self._iteration = 0
        self._admissions = 0

    @property
    def running(self) -> int:
        """Requests in the batch."""
        return len(self._decoding) + (self._admitting is not None)

    @property
    def waiting(self) -> int:
        """Requests in the engine's own queue."""
        return len(self._waiting)

    @property
    def requests(self) -> int:
        """Requests it holds."""
        return len(self._decoding) + (self._admitting is not None) + len(self._waiting)

    @property
    def kv_use(self) -> float:
        """Share of the KV cache in use, 0–1."""
        used = self.cached_tokens + _HALF_BLOCK * len(self._decoding)
        return min(1.0, used / self._profile.kv_cache_tokens)

    def add(self, request: Request, at: float) -> None:
        """Queue a request that reaches the engine at this moment."""
        if self.clock < at and not self.requests:
            self.clock = at
        self._waiting.append(request)

    def advance(self, until: float) -> None:
        """Run every iteration that begins before this moment."""
        while self.clock < until:
            if not self.requests:
                self.clock = until
                return
            prompt_tokens, attention_seconds, filled = self._fill_batch()
            if prompt_tokens:
                self._mixed_iteration(prompt_tokens, attention_seconds, filled)
            else:
                self._decode(until)
            self._finish_due()

    def _fill_batch(self) -> tuple[int, float, list[Request]]:
        """Prompt tokens of this iteration, the seconds their attention takes, and the requests now fully read."""
        budget = self._profile.max_batched_tokens - len(self._decoding)
        taken, seconds, filled = 0, 0.0, list[Request]()
        while budget > taken:
            request = self._admitting or self._admit(taken, len(filled))
            if request is None:
                break
            chunk = min(request.prompt_left, budget - taken)
            before = request.prompt_tokens + request.generated - request.prompt_left
            seconds += chunk * (before + chunk * 0.5) * self._profile.attention_seconds
            request.prompt_left -= chunk
            taken += chunk
            self.cached_tokens += chunk
            self._promised_tokens -= chunk
            if not request.prompt_left:
                self._admitting = None
                filled.append(request)
        return taken, seconds, filled

    def _admit(self, taken: int, filled: int) -> Request | None:
        """The first waiting request when a slot and the KV cache have room for it (alone it always has)."""
        batch = len(self._decoding) + filled
        if not self._waiting or batch >= self._profile.max_sequences:
            return None
        request = self._waiting[0]
        tokens = request.prompt_tokens + request.generated
        held = self.cached_tokens + self._promised_tokens + _HALF_BLOCK * (batch + 1)
        if (batch or taken) and held + tokens > (1 - _WATERMARK) * self._profile.kv_cache_tokens:
            return None
        self._admitting = self._waiting.popleft()
        request.prompt_left = self._promised_tokens = tokens
        return request

    def _mixed_iteration(self, prompt_tokens: int, attention_seconds: float, filled: list[Request]) -> None:
        """One iteration that reads prompts and decodes beside it."""
        profile, decoding = self._profile, len(self._decoding)
        seconds = profile.step_seconds[decoding + prompt_tokens] + profile.kv_read_seconds * self.cached_tokens
        self._pass_iterations(1, seconds + attention_seconds, decoding)
        for request in filled:
            self._first_token(request)
        running = len(self._decoding)
        if running > 1 and self.cached_tokens + _HALF_BLOCK * running > profile.kv_cache_tokens:
            self._preempt()

    def _decode(self, until: float) -> None:
        """As many decode-only iterations as begin before `until`, end no request and fit the KV cache."""
        profile, decoding = self._profile, len(self._decoding)
        room = (profile.kv_cache_tokens - self.cached_tokens - _HALF_BLOCK * decoding) // decoding
        if room < 1 and decoding > 1:
            self._preempt()
            return
        first = profile.step_seconds[decoding] + profile.kv_read_seconds * self.cached_tokens
        more = profile.kv_read_seconds * decoding
        limit = min(self._next_end() - self._iteration, max(1, room), self._longest_jump)
        count = min(limit, _iterations_begun(until - self.clock, first, more)) if limit > 1 else 1
        self._pass_iterations(count, count * first + more * count * (count - 1) * 0.5, decoding)

    def _pass_iterations(self, count: int, seconds: float, decoding: int) -> None:
        """Let time pass and give every decoding request its tokens."""
        tokens = count * decoding
        self.clock += seconds
        self._iteration += count
        self.cached_tokens += tokens
        counters = self.counters
        counters.generated_tokens += tokens
        counters.inter_token_count += tokens
        counters.inter_token_seconds += seconds * decoding

    def _first_token(self, request: Request) -> None:
        """The token that a fully read prompt brings; after a preemption it is just the next one."""
        request.generated += 1
        self.counters.generated_tokens += 1
        if request.first_at is None:
            request.first_at = self.clock
            self.counters.prompt_tokens += request.prompt_tokens
            self.counters.ttft.observe(self.clock - request.at)
        if request.generated >= request.output_tokens:
            self._finish(request)
            return
        request.ends_in = self._iteration + request.output_tokens - request.generated
        self._admissions += 1
        self._decoding[self._admissions] = request
        heapq.heappush(self._ends, (request.ends_in, self._admissions))

    def _next_end(self) -> int:
        """The iteration that ends the next request; entries of preempted ones are dropped on the way."""
        while self._ends[0][1] not in self._decoding:
            heapq.heappop(self._ends)
        return self._ends[0][0]

    def _finish_due(self) -> None:
        while self._ends and self._ends[0][0] <= self._iteration:
            request = self._decoding.pop(heapq.heappop(self._ends)[1], None)
            if request is not None:
                request.generated = request.output_tokens
                self._finish(request)

    def _finish(self, request: Request) -> None:
        request.last_at = self.clock
        self.cached_tokens -= request.prompt_tokens + request.output_tokens - 1
        counters = self.counters
        counters.finished += 1
        counters.finished_prompt_tokens += request.prompt_tokens
        counters.finished_generated_tokens += request.output_tokens
        counters.tpot.observe(request.tpot_seconds or 0.0)

    def _preempt(self) -> None:
        """Put the newest running request back to the head of the queue; its KV cache is lost."""
        _, request = self._decoding.popitem()
        request.generated = request.output_tokens - (request.ends_in - self._iteration)
        self.cached_tokens -= request.prompt_tokens + request.generated - 1
        self.counters.preemptions += 1
        self._waiting.appendleft(request)


def _iterations_begun(seconds: float, first: float, more: float) -> int:
    """Iterations that begin within so many seconds, when the first takes `first` and each next one `more` longer.

    The largest k with (k - 1) first + more (k - 1) (k - 2) / 2 < seconds.
    """
    half = first - more * 0.5
    passed = seconds / first if more <= 0 else (math.sqrt(half * half + 2 * more * seconds) - half) / more
    return max(1, math.ceil(passed))
