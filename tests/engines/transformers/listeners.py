"""Clients of a service that stream one answer after the other: Transformers ends a stream without `[DONE]`.

Whole is a stream whose last chunk says that the length was reached, and that as many tokens came as were asked for.
"""

import json
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass
class Listeners:
    """So many clients, each with a stream of `tokens` tokens at any time, while the `with` block runs."""

    url: str
    clients: int
    tokens: int
    whole: int = 0
    problems: list[str] = field(default_factory=list)
    begun: set[int] = field(default_factory=set)
    _ends: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._threads = [threading.Thread(target=self._listen, args=(each,)) for each in range(self.clients)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def all_begun(self) -> bool:
        """Whether every client has a stream under way of which something has come."""
        return len(self.begun) == self.clients

    def _listen(self, number: int) -> None:
        while not self._ends.is_set():
            try:
                problem = self._one(number)
            except (OSError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            self.begun.discard(number)
            if problem:
                self.problems.append(problem)
                time.sleep(0.5)
            else:
                self.whole += 1

    def _one(self, number: int) -> str:
        """Follow one stream to its end; what was wrong with it."""
        asked = {"model": "chat", "stream": True, "max_tokens": self.tokens, "temperature": 0}
        body = json.dumps({**asked, "messages": [{"role": "user", "content": f"client {number}"}]}).encode()
        request = urllib.request.Request(  # noqa: S310  (a Service of the sandbox)
            f"{self.url}/v1/chat/completions", body, {"Content-Type": "application/json"}
        )
        last: dict[str, Any] = {}
        with urllib.request.urlopen(request, timeout=180) as response:  # noqa: S310  (the same)
            for line in response:
                if line.startswith(b"data: {"):
                    last = json.loads(line.removeprefix(b"data: "))
                    self.begun.add(number)
        reasons = [choice.get("finish_reason") for choice in last.get("choices", ())]
        came = last.get("usage", {}).get("completion_tokens")
        return "" if (reasons, came) == (["length"], self.tokens) else f"ended with {json.dumps(last)[:300]}"
