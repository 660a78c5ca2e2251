"""CTranslate2's Generator behind an asynchronous stream of tokens.

Each running request is one call of `generate_batch` in a thread of its own: the library has as many workers as requests
may run, which share the weights, and it does not put requests of different callers into one batch.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import ctranslate2
from tokenizers import Tokenizer

from ctranslate2_server.asked import Asked
from ctranslate2_server.errors import UnusableModel
from ctranslate2_server.model_files import ModelFiles
from ctranslate2_server.options import Options
from ctranslate2_server.prompts import Prompts


class Engine:
    """A loaded model. `context` is in tokens, prompt and answer together; 0 for no limit."""

    def __init__(self, files: ModelFiles, options: Options) -> None:
        self.tokenizer = Tokenizer.from_file(str(files.folder / "tokenizer.json"))
        self.prompts = Prompts(files, self.tokenizer)
        self.context = options.max_model_len or files.context
        self._end_ids = list(files.end_ids)
        self._generator = _generator(files, options)
        self._threads = ThreadPoolExecutor(options.max_num_seqs, thread_name_prefix="generation")

    @property
    def described(self) -> str:
        """Where it computes and how, for the log."""
        loaded = self._generator
        devices = len(loaded.device_index)
        return f"{loaded.device} x {devices} as {loaded.compute_type} with {loaded.num_generators} workers"

    async def token_ids(self, tokens: Sequence[str], asked: Asked, most: int) -> AsyncGenerator[int, None]:
        """The ids of up to `most` generated tokens, ends left out. Closing the iterator ends the generation."""
        loop, ids, cancelled = asyncio.get_running_loop(), asyncio.Queue[int | None](), threading.Event()

        def tell(step: Any) -> bool:
            loop.call_soon_threadsafe(ids.put_nowait, step.token_id)
            return cancelled.is_set()

        def generate() -> None:
            try:
                self._generator.generate_batch([list(tokens)], callback=tell, **self._options(asked, most))
            finally:
                loop.call_soon_threadsafe(ids.put_nowait, None)

        done = loop.run_in_executor(self._threads, generate)
        try:
            while (token_id := await ids.get()) is not None:
                yield token_id
            await done
        finally:
            cancelled.set()
            await asyncio.shield(_ended(done))

    def _options(self, asked: Asked, most: int) -> dict[str, Any]:
        return {
            "beam_size": 1,
            "include_prompt_in_result": False,
            "max_length": most,
            "min_length": most if asked.ignore_eos else 0,
            "sampling_topk": asked.top_k,
            "sampling_topp": asked.top_p,
            "sampling_temperature": asked.temperature,
            "repetition_penalty": asked.repetition_penalty,
            **({"end_token": self._end_ids} if self._end_ids else {}),
        }


async def warm_up(engine: Engine) -> None:
    """Generate one token: what is allocated at first use is there before the first request."""
    asked = Asked(model="", prompt="a", top_k=1)
    async with aclosing(engine.token_ids(engine.prompts.tokens(asked), asked, 1)) as ids:
        async for _ in ids:
            pass


async def _ended(done: asyncio.Future[None]) -> None:
    """A place is given back when its worker is free again, whether its generation went well or not."""
    await asyncio.wait([done])


def _generator(files: ModelFiles, options: Options) -> Any:
    try:
        return ctranslate2.Generator(
            str(files.folder),
            device=options.device,
            compute_type=options.compute_type,
            device_index=list(range(options.device_count)),
            # For each device.
            inter_threads=-(-options.max_num_seqs // options.device_count),
            intra_threads=options.intra_threads,
            # One call for each running request: none ever waits inside the library.
            max_queued_batches=-1,
        )
    except (RuntimeError, ValueError) as error:
        raise UnusableModel(f"{files.folder} cannot be loaded: {error}") from error
