"""Everything in the operator that reads what strangers write, as functions of one text."""

import logging
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import orjson

from llmservice.api.v1alpha1.engine_options import EngineOptions, EnvVar
from llmservice.api.v1alpha1.quantity import amount_of
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.cluster.transport.failures import failure_of
from llmservice.cluster.transport.json_as_yaml import as_yaml
from llmservice.controllers.logs import _JsonFormatter, _TextFormatter
from llmservice.converging.crashes import container_refused
from llmservice.converging.crashes import crashed as crash_of
from llmservice.converging.diagnosis import sentence
from llmservice.converging.evictions import eviction_cause
from llmservice.converging.leaving_nodes import why_leaving
from llmservice.converging.missing import find_missing
from llmservice.converging.pod_context import PodContext
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason
from llmservice.converging.preparation import Preparation, preparation, preparation_failure
from llmservice.converging.redaction import redacted, redacted_arguments
from llmservice.download.bucket_failures import refusal
from llmservice.engines.arguments import check_arguments
from llmservice.engines.gguf import quantization_in
from llmservice.engines.recorded_arguments import check_recorded
from llmservice.engines.registry import ENGINES
from llmservice.engines.timed_log import timed_log
from llmservice.errors import InvalidSpec
from llmservice.models.download_answer import result_in
from llmservice.models.download_choice import is_safe_name
from llmservice.models.download_marker import marker_in
from llmservice.models.gguf_header import read_gguf_header
from llmservice.models.gguf_values import TruncatedHeader
from llmservice.models.hugging_face_config import config_in, facts_of_config
from llmservice.models.inspection_answer import facts_in
from llmservice.models.plausible import MalformedModel
from llmservice.models.weight_files import gguf_models, loaded_weights, parts_of
from llmservice.signals.download_page import received_in
from llmservice.signals.exposition import has_samples, names_in, scan
from llmservice.signals.samples import Sample, is_of_engine, reading_from, wanted
from llmservice.untrusted.texts import cut, printable
from tests.unit.converging.plans import a_plan, a_pod, crashed
from tests.unit.signals.fake_engine import metric_names_of

Reader = Callable[[str], object]

_PLAN = a_plan()
_SIGNATURES = tuple({each.pattern: each for engine in ENGINES.values() for each in engine.log_patterns}.values())
_VLLM = metric_names_of("vllm")


def _record(text: str) -> logging.LogRecord:
    return logging.LogRecord("llmservice", logging.WARNING, "", 0, "%s", (text,), None)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _case(text: str, message: str = "") -> PodContext:
    pod = a_pod(ready=False, **crashed(exit_code=1, message=message))
    return PodContext(pod=pod, plan=_PLAN, log_patterns=_SIGNATURES, log_tail=text, preparation=Preparation())


def _read_marker(text: str) -> None:
    with suppress(MalformedModel):
        marker_in(_bytes(text))


def _parse(*path: str) -> Reader:
    """A resource with the text at one place of its spec."""

    def parse(text: str) -> None:
        value: Any = text
        for name in reversed(path):
            value = [value] if name == "[]" else {name: value}
        spec = {"engine": "vllm", "model": {"uri": "hf://a/b"}} | value
        with suppress(InvalidSpec):
            LLMService.parse({"metadata": {"name": "chat"}, "spec": spec})

    return parse


def _parse_deep(text: str) -> None:
    nested: Any = text[:1]
    for _ in range(min(len(text), 900)):
        nested = {"a": nested}
    with suppress(InvalidSpec):
        LLMService.parse({"metadata": {"name": "chat"}, "spec": {"x": nested}})


def _parse_many(text: str) -> None:
    words = {text[at : at + 16]: text[at : at + 16] for at in range(0, len(text), 64)}
    with suppress(InvalidSpec):
        LLMService.parse(
            {"metadata": {"name": "chat"}, "spec": {"pod": {"labels": words, "annotations": words}, **words}}
        )


def _check_arguments(text: str) -> None:
    pieces = [text[at : at + 8192] for at in range(0, len(text), 8192)]
    for engine in ENGINES.values():
        with suppress(InvalidSpec):
            check_arguments(engine, load_catalogue().engine_version(engine.name, None), pieces, pieces)


def _check_recorded(text: str) -> None:
    """As many names that no version knows as fit, and as many values."""
    pieces = tuple(text[at : at + 8192] for at in range(0, len(text), 8192))[:128]
    options = EngineOptions.model_construct(
        args=pieces, env=tuple(EnvVar.model_construct(name=piece) for piece in pieces), image=None
    )
    for engine in ENGINES.values():
        with suppress(InvalidSpec):
            rows = load_catalogue().engines[engine.name]
            check_recorded(engine, rows.versions[rows.default], rows.recordings, options)


def _quantity(text: str) -> None:
    with suppress(ValueError):
        amount_of(text)


def _read_page(text: str) -> None:
    page = _bytes(text)
    samples = scan(page, {**wanted(_VLLM), "m": "le", "a": ""})
    if not samples:
        has_samples(page)
        is_of_engine(names_in(page), _VLLM)
    reading_from(samples, _VLLM, 0.0)


def _read_buckets(text: str) -> None:
    name = "vllm:time_to_first_token_seconds_bucket"
    reading_from({name: [Sample(text, 1.0)], "vllm:num_requests_running": [Sample("", 1.0)]}, _VLLM, 0.0)


def _read_config(text: str) -> None:
    with suppress(MalformedModel):
        config_in(_bytes(text))
    words = [text[at : at + 64] for at in range(0, len(text), 64)]
    with suppress(MalformedModel):
        facts_of_config({"architectures": [text], "layer_types": words, "torch_dtype": text, "hidden_size": text})
    facts_of_config({"hybrid_override_pattern": text, "quantization_config": {"quant_method": text}})


def _read_gguf(text: str) -> None:
    """The text as a whole file, and as a vocabulary of many short ones."""
    data = _bytes(text)
    words = [data[at : at + 32] for at in range(0, len(data), 32)]
    array = b"".join(struct.pack("<Q", len(word)) + word for word in words)
    key = struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 8, len(words)) + array
    for file in (data, b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key):
        with suppress(MalformedModel, TruncatedHeader):
            read_gguf_header(file)


def _read_names(text: str) -> None:
    """Many names of files, and one that is as long as the text."""
    names = [f"{text[at : at + 128]}-{at:05}-of-00009.gguf" for at in range(0, len(text), 128)]
    sizes = dict.fromkeys((*names, f"{text}.safetensors"), 1)
    parts_of(gguf_models(sizes)[0], sizes)
    loaded_weights(sizes)


def _read_beginning(text: str) -> None:
    """As the kubelet gives it: each line behind its time, which counts in what is read of a log."""
    lines = "\n".join(f"2026-01-01T00:00:00.5Z {line}" for line in printable(text).split("\n"))
    log = timed_log(lines[: len(text)])
    for engine in ENGINES.values():
        engine.start_report(log.text)
        engine.start_times(log)


def _read_node(text: str) -> None:
    taints = [{"key": text[at : at + 253]} for at in range(0, len(text), 253)]
    why_leaving({"spec": {"taints": [*taints, {"key": f"aws-node-termination-handler/{text}"}]}})


def _warnings(text: str) -> None:
    event = {"reason": "FailedMount", "message": text, "metadata": {}, "lastTimestamp": "2026-01-01T00:00:00Z"}
    preparation_failure(preparation([event]), "ml")


READERS: Mapping[str, Reader] = {
    "text to be shown, secrets replaced": redacted,
    "command line to be shown": lambda text: redacted_arguments(
        [text[at : at + 8192] for at in range(0, len(text), 8192)]
    ),
    "sentence of a condition": sentence,
    "text made printable": printable,
    "bytes made printable": lambda text: printable(_bytes(text)),
    "text cut": lambda text: cut(text, 4096),
    "end of a log, signatures of all engines": lambda text: crash_of(_case(text)),
    "beginning of a log, all engines": _read_beginning,
    "taints of a node": _read_node,
    "termination message": lambda text: crash_of(_case("", text)),
    "message of a container runtime": lambda text: container_refused(_case(""), text),
    "words of scheduler and kubelet": lambda text: find_missing(text, "ml"),
    "why a node ended a pod": eviction_cause,
    "warning about a pod": _warnings,
    "page of metrics": _read_page,
    "label of a bucket": _read_buckets,
    "why a pod is unread": lambda text: ReadFailure(reason=ReadFailureReason.REDIRECTED, message=text),
    "answer of an API server, no JSON": lambda text: failure_of(500, _bytes(text)),
    "answer of an API server": lambda text: failure_of(
        403, orjson.dumps({"message": _encodable(text), "reason": _encodable(text)})
    ),
    "JSON sent as YAML": lambda text: as_yaml(orjson.dumps(_encodable(text))),
    "line of the log": lambda text: _TextFormatter().format(_record(text)),
    "line of the log as JSON": lambda text: _JsonFormatter().format(_record(text)),
    "quantity": _quantity,
    "arguments and variables": _check_arguments,
    "arguments against recorded ones": _check_recorded,
    "config.json of a model": _read_config,
    "header of a GGUF file": _read_gguf,
    "names of a model's files": _read_names,
    "answer of an inspection": facts_in,
    "answer of a download": result_in,
    "page of a download": lambda text: received_in(_bytes(text)),
    "marker of a download": _read_marker,
    "name of a file that is downloaded": is_safe_name,
    "what a bucket's store answers": lambda text: refusal(OSError(text), "s3://models/llama"),
    "name of a GGUF file": lambda text: quantization_in(text, {"Q4_K_M"}),
    "spec: model.uri": _parse("model", "uri"),
    "spec: engineOptions.args": _parse("engineOptions", "args", "[]"),
    "spec: pod.nodeSelector": lambda text: _parse("pod", "nodeSelector", text)(text),
    "spec: memory": _parse("pod", "resources", "limits", "memory"),
    "spec: unknown fields": lambda text: _parse(text)(text),
    "spec: many fields": _parse_many,
    "spec: fields in fields": _parse_deep,
}
"""What it reads → the reader."""
