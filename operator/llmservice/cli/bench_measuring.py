"""Measures one target, or two with the same load one after the other."""

import asyncio
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from llmservice.autoscaling.policy import Objective
from llmservice.bench.generator import Target
from llmservice.bench.job import KEY_FOLDER, JobSettings, bench_job
from llmservice.bench.load import Load
from llmservice.bench.records import Record
from llmservice.bench.report import Report, report_of
from llmservice.cli.bench_asking import calibration
from llmservice.cli.bench_generator import generator
from llmservice.cli.bench_in_cluster import JobRun
from llmservice.cli.bench_progress import Progress
from llmservice.cli.bench_running import Running
from llmservice.cli.bench_server import Server
from llmservice.cli.bench_target import Endpoint, endpoint, endpoint_within
from llmservice.cli.connecting import connected
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.errors import Unavailable, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is measured how: the options of the command that are no load and no file."""

    target: str
    against: str | None
    where: Where
    model: str
    key: str
    load: Load
    objective: Objective
    share: float
    until_eos: bool
    timeout: float
    at_most: float
    keep: Path | None
    tell_seconds: float
    job: JobSettings | None
    arguments: tuple[str, ...]
    trace: str
    """For a Job: how it runs, the options that make the same load there, and a recorded load's CSV."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One target, measured. `slots` are those of all its replicas, None where nobody told."""

    report: Report
    records: list[Record]
    slots: int | None
    replicas: int | None


async def measure(setting: Setting) -> list[Measured]:
    """One target after the other, so that neither takes the generator's time from the other; none after Ctrl-C."""
    program = await generator() if setting.job is None else None
    measured = list[Measured]()
    for target in filter(None, (setting.target, setting.against)):
        if program is None:
            measured.append(await _measure_within(setting, target))
        else:
            measured.append(await _measure_one(setting, target, program, place=len(measured)))
        if measured[-1].report.interrupted:
            break
    return measured


async def _measure_one(setting: Setting, target: str, program: Path, *, place: int) -> Measured:
    extra = {} if setting.until_eos else {"ignore_eos": True}
    async with endpoint(target, setting.where, setting.model, setting.key) as at:
        server = Server(url=at.url, key=setting.key, title=at.title)
        counted = await calibration(server, at.model, extra)
        with _folder(setting.keep, place) as folder:
            running = Running(
                generator=program,
                target=Target(
                    url=at.url,
                    model=at.model,
                    has_key=bool(setting.key),
                    extra=extra,
                    timeout_seconds=setting.timeout,
                ),
                key=setting.key,
                load=setting.load,
                calibration=counted,
                folder=folder,
                at_most_seconds=setting.at_most,
                progress=Progress(tell_seconds=setting.tell_seconds),
            )
            with _stopped_by_signals(running.stop):
                whole = await running.run()
    if not running.records and not running.stop.is_set():
        raise Unavailable("NothingMeasured", f"{at.title}: no request ended within --at-most {setting.at_most:g} s")
    return _measured(setting, at, running.records, interrupted=not whole)


async def _measure_within(setting: Setting, target: str) -> Measured:
    """By a Job in the namespace of the service, or in the one of the options."""
    assert setting.job is not None  # noqa: S101  (else this is not called)
    async with connected(setting.where) as (connection, space):
        at = await endpoint_within(ApiServer(connection), space, target, setting.model)
        settings = replace(setting.job, key=setting.job.key or at.keys)
        arguments = [at.url, "--output=records", *setting.arguments]
        arguments += [f"--model={at.model}"] if at.model else []
        arguments += [f"--key-file={KEY_FOLDER}"] if settings.key else []
        job = bench_job(space, arguments, settings, at_most_seconds=setting.at_most, trace=setting.trace)
        run = JobRun(connection=connection, job=job)
        with _stopped_by_signals(run.stop):
            handed = await run.run()
    model = handed.model if handed else at.model
    interrupted = handed is None or handed.interrupted
    return _measured(setting, replace(at, model=model), list(handed.records if handed else ()), interrupted=interrupted)


def _measured(setting: Setting, at: Endpoint, records: list[Record], *, interrupted: bool) -> Measured:
    report = report_of(at.title, at.model, setting.load, records, setting.objective, interrupted=interrupted)
    report = replace(report, share=setting.share)
    slots = at.slots * at.replicas if at.slots and at.replicas else at.slots
    return Measured(report=report, records=records, slots=slots, replicas=at.replicas)


@contextmanager
def _folder(keep: Path | None, place: int) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="llmservice-bench-") as made:
            yield Path(made)
        return
    folder = keep.resolve() / f"target-{place + 1}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise UsageError("NoFolder", f"{folder}: {error.strerror}: name a new one", field="--keep") from error
    yield folder


@contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """Ctrl-C, or the end of a Job, ends the load and keeps what was measured."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
