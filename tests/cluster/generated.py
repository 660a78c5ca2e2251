"""LLMServices made from the CRD's own schema: well-formed ones, ones with one thing wrong, and wild ones.

The same count gives the same resources. What the schema says in CEL about the form of a text becomes a pattern here, so
that a good part of what is made passes the API server and reaches the operator.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.cluster.kube import Body
from tests.cluster.services import a_tiny_service

_CRD = Path(__file__).parents[2] / "crds" / "llmservices.llmservice.dev.yaml"
_FORM = re.compile(r"self\.matches\(r'(.*)'\)")
_KEY_FORM = re.compile(r"self\.all\(key, key\.matches\(r'(.*)'\)\)")
_AMOUNTS = ("0", "1", "500m", "1.5", "2Gi", "1e3", "100n", "0.5Ki", "999T", "1P", "-1", "1 Gi", "9" * 40, "", "٣")
_MEANINGFUL: Mapping[str, tuple[Any, ...]] = {
    "uri": (
        "hf://Qwen/Qwen2.5-7B-Instruct",
        "Qwen/Qwen3-4B-GGUF",
        "pvc://models/a/b.gguf",
        "s3://bucket/a",
        "gs://b/a",
    ),
    "type": ("L4", "l4", "A100", "H100-80GB", "L40x", "MI300X"),
    "quantization": ("auto", "Q4_K_M", "q4_k_m", "awq", "AWQ", "fp8", "online-fp8"),
    "dtype": ("bfloat16", "float16", "auto"),
    "key": ("kubernetes.io/hostname", "zone"),
    "topologyKey": ("kubernetes.io/hostname", "zone"),
    "args": (["--threads", "2"], ["--ctx-size=1"], ["-c", "1"], ["--", "&a", "*a", "!!python/object:os.system"]),
    "ip": ("10.0.0.1", "::1", "999.1.1.1"),
}
"""By the name of the field: what chance would never find and the operator has an opinion about."""

_WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, 2**31, 2**63 - 1, -(2**63), 1e300),
    *("", " ", "\n", "0", "true", "null", "Ünï©ødé", "\u202eabc", "\x00", "😀" * 99, "a" * 51, "x" * 100_000),
    *("../..", "$(A)", "{{ .Values.a }}", "; rm -rf /", "__class__"),
    *([], [[]], [None], {}, {"a": {"a": {}}}, {"": ""}, {"$ref": "#"}),
)

Schema = Mapping[str, Any]
Strategy = st.SearchStrategy[Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One resource to submit. `origin` tells how it was made; when it is refused, `field` must be in the answer."""

    origin: str
    body: Body
    field: str = "spec."

    @property
    def name(self) -> str:
        """The resource's name."""
        return str(self.body["metadata"]["name"])


def generated(count: int) -> list[Case]:
    """So many resources: of eight, four are well-formed, three have one thing wrong, one is wild."""
    schema = spec_schema()
    well_formed = iter(_drawn(_edits_of(schema, most=4), count // 2 + 4))
    one_field = iter(_drawn(_edits_of(schema, most=1), count * 3 // 8 + 3))
    wild = iter(_drawn(_objects(schema, forms=False), count // 8 + 1))
    cases = []
    for number in range(count):
        if number % 8 < 4:
            cases.append(_case("well-formed", number, _changed(next(well_formed))))
        elif number % 8 < 7:
            cases.append(_with_a_fault(number, next(one_field)))
        else:
            cases.append(_case("wild", number, next(wild)))
    return cases


def spec_schema() -> Schema:
    """The schema of `spec`, as it is shipped."""
    (version,) = yaml.safe_load(_CRD.read_text())["spec"]["versions"]
    schema: Schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return schema


def _case(origin: str, number: int, spec: Body, field: str = "spec.") -> Case:
    """One in twenty may run pods; the others are suspended, unless that is the very thing that is wrong."""
    may_run = number % 20 == 0 or field == "spec.suspend"
    body = a_tiny_service(f"generated-{number}")
    return Case(origin=origin, body={**body, "spec": spec if may_run else {**spec, "suspend": True}}, field=field)


def _drawn(strategy: Strategy, count: int) -> list[Any]:
    """So many examples, each time the same."""
    found: list[Any] = []

    @seed(count)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    return found


@st.composite
def _edits_of(draw: Draw, schema: Schema, *, most: int) -> Body:
    """Some fields of a spec."""
    fields = schema["properties"]
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=most, unique=True))
    return {name: draw(_field(name, fields[name], forms=True)) for name in chosen}


def _changed(fields: Body) -> Body:
    """A spec that serves, with these fields in place of its own."""
    return {**a_tiny_service()["spec"], **fields}


@st.composite
def _objects(draw: Draw, schema: Schema, *, forms: bool) -> Body:
    """An object with what it must have and at most four more fields."""
    fields, required = schema["properties"], schema.get("required", ())
    optional = sorted(set(fields) - set(required))
    more = draw(st.lists(st.sampled_from(optional), max_size=4, unique=True)) if optional else ()
    return {name: draw(_field(name, fields[name], forms=forms)) for name in (*required, *more)}


def _field(name: str, schema: Schema, *, forms: bool) -> Strategy:
    values = _values(schema, forms=forms)
    if name in _MEANINGFUL and schema.get("type") in {"string", "array"}:
        return st.sampled_from(_MEANINGFUL[name]) | values
    return values


def _values(schema: Schema, *, forms: bool) -> Strategy:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return st.sampled_from(_AMOUNTS) | st.integers(-1, 2**40)
    if "properties" in schema:
        return _objects(schema, forms=forms)
    return _KINDS[schema["type"]](schema, forms=forms)


def _texts(schema: Schema, *, forms: bool) -> Strategy:
    least, most = schema.get("minLength", 0), schema.get("maxLength", 64)
    patterns = _patterns(_FORM, schema)
    if patterns and forms:
        return st.from_regex(patterns[0], fullmatch=True).filter(lambda text: least <= len(text) <= most)
    return st.text(st.characters(codec="utf-8"), min_size=least, max_size=min(64, most))


def _numbers(schema: Schema, *, forms: bool) -> Strategy:  # noqa: ARG001  (a number has bounds, no form)
    low, high = schema.get("minimum", -(2**63)), schema.get("maximum", 2**63 - 1)
    return st.sampled_from((low, high)) | st.integers(low, high)


def _lists(schema: Schema, *, forms: bool) -> Strategy:
    most = min(4, schema.get("maxItems", 4))
    return st.lists(_values(schema["items"], forms=forms), min_size=schema.get("minItems", 0), max_size=most)


def _maps(schema: Schema, *, forms: bool) -> Strategy:
    patterns = _patterns(_KEY_FORM, schema)
    keys = st.from_regex(patterns[0], fullmatch=True) if patterns and forms else st.text(max_size=16)
    return st.dictionaries(keys, _values(schema["additionalProperties"], forms=forms), max_size=4)


def _truths(schema: Schema, *, forms: bool) -> Strategy:  # noqa: ARG001
    return st.booleans()


_KINDS: Mapping[str, Callable[..., Strategy]] = {
    "string": _texts,
    "integer": _numbers,
    "boolean": _truths,
    "array": _lists,
    "object": _maps,
}


def _patterns(form: re.Pattern[str], schema: Schema) -> list[str]:
    rules = (rule["rule"] for rule in schema.get("x-kubernetes-validations", ()))
    return [match[1] for rule in rules if (match := form.fullmatch(rule))]


Place = tuple[Any, ...]
Edit = Callable[[Any, Any, random.Random], None]
"""Changes one element of a list or an object in place."""


def _replace(parent: Any, key: Any, chance: random.Random) -> None:
    parent[key] = chance.choice(_WRONG)


def _respell(parent: Any, key: Any, chance: random.Random) -> None:
    """A text, or the name of a field, in the wrong case."""
    value = parent[key]
    if isinstance(value, str):
        parent[key] = value.swapcase()
    elif isinstance(parent, dict):
        parent[str(key).swapcase()] = parent.pop(key)
    else:
        _repeat(parent, key, chance)


def _drop(parent: Any, key: Any, _: random.Random) -> None:
    del parent[key]


def _repeat(parent: Any, key: Any, _: random.Random) -> None:
    """An element twice; a value in a list of its own, ever deeper."""
    if isinstance(parent, list):
        parent.append(parent[key])
    else:
        for _depth in range(50):
            parent[key] = [parent[key]]


_EDITS: tuple[Edit, ...] = (_replace, _replace, _replace, _respell, _drop, _repeat)


def _with_a_fault(number: int, fields: Body) -> Case:
    """A spec with one field made anew, and one edit somewhere within it."""
    chance = random.Random(number)  # noqa: S311  (the same each time; nothing secret)
    (field,) = fields
    spec = _changed(fields)
    place = chance.choice([place for place in _places(spec) if place[0] == field])
    return _case("one fault", number, _edited(spec, place, chance.choice(_EDITS), chance), f"spec.{field}")


def _edited(value: Any, place: Place, edit: Edit, chance: random.Random) -> Any:
    copy = value.copy()
    if len(place) == 1:
        edit(copy, place[0], chance)
    else:
        copy[place[0]] = _edited(value[place[0]], place[1:], edit, chance)
    return copy


def _places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place in a value, the root left out."""
    if at:
        yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _places(part, (*at, key))
