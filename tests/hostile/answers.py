"""How the engine of a hostile image answers GET /metrics, by name. An answer is a coroutine that writes it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random

from tests.hostile.words import adversarial, dashes, garbled

Writer = asyncio.StreamWriter
Answer = Callable[[Writer], Awaitable[None]]
_RECORDED = Path(__file__).parents[1] / "unit" / "signals" / "expositions" / "vllm-0.32.0.txt"
VERSION = "0.32.0"
"""The version of vLLM whose page the honest ones tell."""
PAGE_BYTES = 4 * 2**20 - 2**12
"""A little less than the largest page that was ever read."""
_BUCKET = 'vllm:time_to_first_token_seconds_bucket{engine="0",le="%s",model_name="chat"} 1.0\n'


def whole(body: bytes, status: bytes = b"200 OK", headers: bytes = b"") -> Answer:
    """An answer in one piece."""

    async def answer(writer: Writer) -> None:
        head = b"HTTP/1.1 %b\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n%b\r\n"
        writer.write(head % (status, len(body), headers))
        writer.write(body)
        await writer.drain()

    return answer


async def drip(writer: Writer) -> None:
    """A byte now and then, for as long as somebody reads."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(600):
        writer.write(b"#")
        await writer.drain()
        await asyncio.sleep(0.5)


async def endless(writer: Writer) -> None:
    """As fast as it is read, without an end."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(4096):
        writer.write(b'a{b="c"} 1\n' * 6000)
        await writer.drain()


async def interim(writer: Writer) -> None:
    """Interim responses without an end."""
    for _ in range(20_000):
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\n" * 64)
        await writer.drain()


async def silence(_: Writer) -> None:
    """Nothing at all."""
    await asyncio.sleep(60)


@cache
def honest() -> bytes:
    """The page of a real vLLM."""
    return _RECORDED.read_bytes()


@cache
def large() -> bytes:
    """A full page of samples that are wanted, each of which must be kept."""
    line = b'vllm:num_requests_running{engine="%07d",model_name="chat"} 1.0\n'
    return honest() + b"".join(line % number for number in range((PAGE_BYTES - len(honest())) // 64))


@cache
def many_series() -> bytes:
    """As many series of one name as make an answer of 5 MiB in a metrics server, 20,000, in a page of 4 MiB."""
    line = b'vllm:num_requests_running{engine="%d",model_name="' + b"m" * 130 + b'"} 1.0\n'
    return honest() + b"".join(line % number for number in range(20_000))


def _hash_line() -> bytes:
    """One line as long as a page may be: a label set that does not end, and an exemplar's letter."""
    return b"vllm:num_requests_running{" + b"a" * (PAGE_BYTES // 2) + b"#" + b"a" * (PAGE_BYTES // 2) + b"} 1\n"


NAMED: Mapping[str, Callable[[], Answer]] = {
    "honest": lambda: whole(honest()),
    "large": lambda: whole(large()),
    "many-series": lambda: whole(many_series()),
    "hash-line": lambda: whole(_hash_line()),
    "dashes-in-a-label": lambda: whole(honest() + (_BUCKET % dashes(60_000)).encode()),
    "location": lambda: whole(b"", b"302 Found", b"Location: http://\xff\xfe\x80/\xc3\x28\r\n"),
    "drip": lambda: drip,
    "endless": lambda: endless,
    "interim": lambda: interim,
    "silence": lambda: silence,
}


def answer_named(name: str, seed: str) -> Answer:
    """The answer of this name; `generated-N` is made from seed and N, each time the same."""
    return NAMED[name]() if name in NAMED else generated(Random(f"{seed}/{name}/page"))


def generated(random: Random) -> Answer:
    """An answer with something wrong at every level: line, headers, length, form of the page, values, pace."""
    kind = random.choice((_page, _page, _page, _page, _other_status, _garbage, _cut, _in_pieces))
    return kind(random)


def _page(random: Random) -> Answer:
    return whole(_body(random), headers=_headers(random))


def _other_status(random: Random) -> Answer:
    status = random.choice((b"301", b"302", b"307", b"401", b"403", b"404", b"500", b"503", b"299", b"999"))
    return whole(_body(random)[:4096], status + b" " + _one_line(garbled(random, 64)), _headers(random))


def _garbage(random: Random) -> Answer:
    body = garbled(random, 2 ** random.randint(0, 18))

    async def answer(writer: Writer) -> None:
        writer.write(random.choice((b"", b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\n", b"SSH-2.0-")) + body)
        await writer.drain()

    return answer


def _cut(random: Random) -> Answer:
    body = _body(random)

    async def answer(writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(body) * 2) + body)
        await writer.drain()

    return answer


def _in_pieces(random: Random) -> Answer:
    body, pause = _body(random), random.choice((0.0, 0.01, 1.0))

    async def answer(writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in range(0, min(len(body), 2**16), 997):
            piece = body[start : start + 997]
            writer.write(b"%x;%b\r\n%b\r\n" % (len(piece), b"e" * (start % 50), piece))
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def _headers(random: Random) -> bytes:
    names = (b"Location", b"Content-Encoding", b"Set-Cookie", b"Retry-After", b"Connection", b"X-A")
    chosen = random.choices(names, k=random.choice((0, 1, 2, 40)))
    return b"".join(b"%b: %b\r\n" % (name, _one_line(garbled(random, random.choice((1, 64, 4000))))) for name in chosen)


def _one_line(text: bytes) -> bytes:
    return text.replace(b"\r", b"").replace(b"\n", b"").replace(b"\x00", b"")[:7000]


def _body(random: Random) -> bytes:
    """A real page with some lines that are none."""
    lines = honest().split(b"\n")
    for _ in range(random.choice((0, 1, 5, 100))):
        lines.insert(random.randrange(len(lines)), _line(random))
    page = b"\n".join(lines) + random.choice((b"\n", b""))
    return page * random.choice((1, 1, 1, 1, 30))


def _line(random: Random) -> bytes:
    name = random.choice(
        ("vllm:num_requests_running", "vllm:time_to_first_token_seconds_bucket", "vllm:kv_cache_usage_perc", "a")
    )
    text = adversarial(random, 2 ** random.randint(2, 17 if random.random() < 0.1 else 11)).replace("\n", " ")
    value = random.choice(("1", "NaN", "-1", "1e999", "0x1", "9" * 400, "", "1 1 1", "1 # {a=", text[:50]))
    label = random.choice((f'{{le="{text}"}}', f'{{a="{text}', f"{{{text}}}", text, f'{{le="1",le="{text}"}}'))
    return f"{name}{label} {value}".encode("utf-8", "surrogatepass")
