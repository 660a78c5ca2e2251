"""The answer of /explain as text for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llmservice.untrusted.tables import table

Answer = Mapping[str, Any]

_POD_COLUMNS = (
    ("AGE", "ageSeconds", "{:.0f} s"),
    ("RUNNING", "running", "{:.0f}"),
    ("WAITING", "waiting", "{:.0f}"),
    ("KV CACHE", "kvCacheUse", "{:.0%}"),
    ("SLOTS", "slots", "{}"),
    ("TOKENS/S", "tokensPerSecond", "{:.1f}"),
)


def as_text(answer: Answer) -> str:
    """The last evaluation of a service: decision, conditions, pods, steps, what was learned; blank lines in between."""
    parts = (_head(answer), _conditions(answer), _pods(answer), _steps(answer), _learned(answer), _substitutes(answer))
    return "\n\n".join("\n".join(part) for part in map(list, parts) if part)


def _head(answer: Answer) -> Iterator[str]:
    if "held" in answer:
        yield from _held(answer)
        return
    name, period = f"{answer['namespace']}/{answer['name']}", f"every {answer['periodSeconds']:g} s"
    if "decision" not in answer:
        yield f"{name}: not scaled now, otherwise {period}"
        return
    decision = answer["decision"]
    yield (
        f"{name}: {answer['engine']}, {answer['minReplicas']} to {answer['maxReplicas']} replicas, {answer['policy']} "
        f"from {answer['source']}, mode {answer['mode']}, {period}"
    )
    yield from _schedule(answer.get("schedule"))
    yield f"{decision['message']} ({decision['reason']}, {answer['ageSeconds']:.0f} s ago)"
    counts = answer["replicas"]
    yield (
        f"{counts['desired']} desired: {counts['ready']} ready, {counts['starting']} starting, "
        f"{counts['unschedulable']} of them unschedulable"
    )


def _held(answer: Answer) -> Iterator[str]:
    yield f"{answer['namespace']}/{answer['name']}: not autoscaled; {answer['held']['message']}"
    if counts := answer.get("replicas"):
        yield f"{counts['desired']} desired: {counts['ready']} ready"


def _schedule(schedule: Answer | None) -> Iterator[str]:
    """Whose bounds these are, until when, and whose follow."""
    if schedule is None:
        return
    held, following = schedule.get("name", ""), schedule.get("following", "")
    until = f" until {schedule['until']}, then {following or 'none'}" if "until" in schedule else ""
    yield f"schedule in force: {held or 'none'}{until}"


def _conditions(answer: Answer) -> Iterator[str]:
    rows = [(item["type"], item["status"], item["reason"], item["message"]) for item in answer["conditions"]]
    return _headed(("CONDITION", "STATUS", "REASON", "MESSAGE"), rows)


def _pods(answer: Answer) -> Iterator[str]:
    rows = [
        (pod["name"], pod["phase"], *(_cell(pod, key, form) for _, key, form in _POD_COLUMNS), _problem(pod))
        for pod in answer.get("pods", ())
    ]
    return _headed(("POD", "PHASE", *(title for title, _, _ in _POD_COLUMNS), "PROBLEM"), rows)


def _steps(answer: Answer) -> Iterator[str]:
    rows = [(step["name"], f"{step['replicas']:g}", step["message"]) for step in answer.get("steps", ())]
    return _headed(("STEP", "REPLICAS", "WHY"), rows)


def _learned(answer: Answer) -> Iterator[str]:
    learned = answer.get("learned")
    if not learned:
        return
    text = f"cold start {learned['coldStartSeconds']:.0f} s"
    text += f" ({learned['coldStartsMeasured']} measured)" if learned["coldStartsMeasured"] else " (assumed)"
    if "tokensPerSecondPerReplica" in learned:
        text += f"; one replica holds {learned['tokensPerSecondPerReplica']} tokens/s within the objective"
        text += f", a request costs {learned['tokensPerRequest']} tokens"
    yield f"learned: {text}; {learned['loadLevels']} levels of load seen"


def _substitutes(answer: Answer) -> Iterator[str]:
    roles: dict[str, list[str]] = {}
    for role, sentence in answer.get("substitutes", {}).items():
        roles.setdefault(sentence, []).append(role)
    for sentence, concerned in roles.items():
        yield f"{', '.join(concerned)}: {sentence}"


def _cell(pod: Answer, key: str, form: str) -> str:
    return form.format(pod[key]) if key in pod else ""


def _problem(pod: Answer) -> str:
    return f"{pod['reason']}: {pod['message']}" if "reason" in pod else ""


def _headed(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Nothing without rows."""
    return iter(table([titles, *rows]) if rows else ())
