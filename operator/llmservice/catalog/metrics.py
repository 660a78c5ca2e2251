"""Metrics in catalogue rows: the roles, and the notation of a series."""

from dataclasses import dataclass, replace

from llmservice.untrusted.patterns import compiled

METRIC_ROLES = (
    *("running", "waiting", "kv_use", "prompt_tokens", "generated_tokens", "finished", "rejected"),
    *("finished_prompt_tokens", "finished_generated_tokens", "ttft", "tpot", "inter_token_latency"),
    *("slots", "steps", "preemptions"),
)
"""The quantities that are read from engines; defined in `engines/metric_names.py`."""

_SERIES = compiled(
    r'(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<label>\w+)(?P<operator>=~?)"(?P<values>[^"\\]*)"\}|\[(?P<number>\w+)\])?'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A series in the notation of a row.

    - `tgi_queue_size`: all label sets.
    - `tgi_request_failure{err=~"overloaded|dropped"}`: those whose label `err` is one of these.
    - `acme:engine_info[slots]`: the value is the number in this label (an info metric).
    - `acme:queued{priority=""}`: those that have no label `priority`, or an empty one.
    - `acme:queued+acme:held`: two series that are added up; where one is absent, both are.
    """

    name: str
    label: str = ""
    accepted: frozenset[str] = frozenset()
    in_label: bool = False
    plus: "Series | None" = None

    @property
    def addends(self) -> tuple["Series", ...]:
        """What is added up: this series, and those behind a plus."""
        return (self, *(self.plus.addends if self.plus else ()))

    @classmethod
    def parse(cls, written: str) -> "Series":
        """Parse the notation; raises ValueError."""
        first, plus, rest = written.partition("+")
        return replace(cls._one(first), plus=cls.parse(rest)) if plus else cls._one(first)

    @classmethod
    def _one(cls, written: str) -> "Series":
        match = _SERIES.whole(written)
        if match is None:
            raise ValueError(f'{written!r} is not a series: write name, name{{label="value"}}, name[label] or a+b')
        name, label, values = match["name"], match["label"], match["values"]
        if number := match["number"]:
            return cls(name=name, label=number, in_label=True)
        accepted = values.split("|") if match["operator"] == "=~" else [values]
        return cls(name=name, label=label, accepted=frozenset(accepted) if label else frozenset())
