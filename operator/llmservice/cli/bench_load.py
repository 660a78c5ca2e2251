"""The load that the options of `llmservice bench` ask for: a named one, or exactly one of four kinds."""

from dataclasses import asdict, dataclass
from pathlib import Path

from llmservice.bench.job import LARGEST_TRACE, TRACE_FILE
from llmservice.bench.load import LONGEST_TOKENS, MOST_REQUESTS, Load
from llmservice.bench.scenarios import SCENARIOS, rate, recorded, sweep, users, usual_turn
from llmservice.errors import UsageError
from llmservice.simulation.traces import read_trace

_MOST_LEVELS = 32
_MOST_DIGITS = 4
_LARGEST_TRACE_BYTES = 64 * 2**20
_FIRST_LOAD = "--scenario single-200, which takes seconds"
_KINDS = "--scenario, --users, --rate, --sweep or --trace"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """What the command line asks for; None where it says nothing."""

    scenario: str | None
    users: int | None
    ramp: float | None
    rounds: int | None
    think: float | None
    rate: float | None
    poisson: bool
    seconds: float | None
    sweep: str | None
    requests: int | None
    mixed: bool
    trace: Path | None
    prompt_tokens: int | None
    answer_tokens: int | None
    seed: int


def load_of(options: LoadOptions) -> Load:
    """The load. Raises UsageError for options that say nothing together, InvalidInput for a trace."""
    kinds = {"scenario": options.scenario, "users": options.users, "rate": options.rate, "sweep": options.sweep}
    given = [kind for kind, value in {**kinds, "trace": options.trace}.items() if value is not None]
    if len(given) != 1:
        so = f"not {' and '.join(f'--{kind}' for kind in given)} together" if given else f"such as {_FIRST_LOAD}"
        raise UsageError("WhichLoad", f"which load? Give exactly one of {_KINDS}; {so}")
    _refuse_without_effect(given[0], options)
    load = _made(given[0], options)
    if load.requests > MOST_REQUESTS:
        raise UsageError("LoadTooLarge", f"{load.requests} requests are more than {MOST_REQUESTS}: ask for fewer")
    return load


def arguments_of(options: LoadOptions) -> tuple[str, ...]:
    """The same options for another `llmservice bench`, which finds a trace at its place in a Job."""
    given = {name: value for name, value in asdict(options).items() if value is not None and value is not False}
    if options.trace is not None:
        given["trace"] = TRACE_FILE
    return tuple(
        f"--{name.replace('_', '-')}" if value is True else f"--{name.replace('_', '-')}={value}"
        for name, value in given.items()
    )


def trace_within(load: Load) -> str:
    """A recorded load as CSV for a Job. Raises UsageError where it has no room in one."""
    turns = ((conversation.at, conversation.turns[0]) for conversation in load.phases[0].conversations)
    lines = (f"{at:.3f},{turn.prompt_tokens},{turn.answer_tokens}\n" for at, turn in turns)
    text = "".join(("arrival_seconds,prompt_tokens,output_tokens\n", *lines))
    if len(text) > LARGEST_TRACE:
        raise UsageError(
            "TraceTooLarge",
            f"{load.requests} requests are more than a Job can be given ({LARGEST_TRACE} characters): cut the trace",
            field="--trace",
        )
    return text


def _made(kind: str, options: LoadOptions) -> Load:
    turn = usual_turn(options.prompt_tokens, options.answer_tokens)
    if kind == "scenario":
        return SCENARIOS[options.scenario or ""]()
    if kind == "users":
        ramp, think = options.ramp or 0.0, options.think or 0.0
        return users(options.users or 1, ramp_seconds=ramp, rounds=options.rounds or 1, think_seconds=think, turn=turn)
    if kind == "rate":
        seconds = options.seconds or 60.0
        if (options.rate or 0) * seconds > MOST_REQUESTS:
            raise UsageError("LoadTooLarge", f"more than {MOST_REQUESTS} requests: lower --rate or --seconds")
        return rate(options.rate or 1, seconds=seconds, poisson=options.poisson, seed=options.seed, turn=turn)
    if kind == "sweep":
        return sweep(levels_in(options.sweep or ""), requests=options.requests or 64, turn=turn, mixed=options.mixed)
    return _of_trace(options.trace or Path())


def levels_in(text: str) -> tuple[int, ...]:
    """`1-9`, `1,2,4,8`, or both. Raises UsageError."""
    levels = list[int]()
    for part in text.split(","):
        first, dash, last = (each.strip() for each in part.partition("-"))
        if not all(each.isdecimal() and len(each) <= _MOST_DIGITS for each in (first, last if dash else first)):
            raise UsageError("InvalidLevels", f"{part!r}: give levels such as 1-9 or 1,2,4,8", field="--sweep")
        levels += range(int(first), int(last if dash else first) + 1)
    if not levels or min(levels) < 1 or len(levels) > _MOST_LEVELS:
        raise UsageError("InvalidLevels", f"{text}: give 1 to {_MOST_LEVELS} levels from 1 on", field="--sweep")
    return tuple(levels)


def _of_trace(path: Path) -> Load:
    if path.stat().st_size > _LARGEST_TRACE_BYTES:
        raise UsageError("TraceTooLarge", f"{path}: is over {_LARGEST_TRACE_BYTES >> 20} MiB: cut it", field="--trace")
    arrivals = read_trace(path)
    longest = max(max(arrival.prompt_tokens, arrival.output_tokens) for arrival in arrivals)
    if longest > LONGEST_TOKENS:
        raise UsageError("TraceTooLarge", f"{path}: a request of {longest} tokens is over {LONGEST_TOKENS}")
    return recorded(path.stem, arrivals)


def _refuse_without_effect(kind: str, options: LoadOptions) -> None:
    """An option that nothing would look at is refused: its figures would be taken for another load's."""
    of_users: dict[str, object] = {"--ramp": options.ramp, "--rounds": options.rounds, "--think": options.think}
    of_rate: dict[str, object] = {"--poisson": options.poisson or None, "--seconds": options.seconds}
    sizes: dict[str, object] = {"--prompt-tokens": options.prompt_tokens, "--answer-tokens": options.answer_tokens}
    belongs: dict[str, dict[str, object]] = {
        "users": of_users,
        "rate": of_rate,
        "sweep": {"--requests": options.requests, "--mixed": options.mixed or None},
    }
    if kind in {"scenario", "trace"}:
        belongs |= {"users, --rate or --sweep": sizes}
    for other, theirs in belongs.items():
        if other == kind:
            continue
        for option, value in theirs.items():
            if value is not None:
                raise UsageError("OptionWithoutEffect", f"would change nothing: it belongs to --{other}", field=option)
