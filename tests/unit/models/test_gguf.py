"""Facts from GGUF headers that the `gguf` package writes, and headers that nobody should write."""

import struct
import tracemalloc
from pathlib import Path

import gguf
import numpy as np
import pytest

from llmservice.models.gguf_facts import facts_of_gguf
from llmservice.models.gguf_header import read_gguf_header
from llmservice.models.gguf_values import MOST_HEADER_BYTES, TruncatedHeader
from llmservice.models.model_facts import Experts, LatentAttention, ModelFacts, Task
from llmservice.models.plausible import MalformedModel, implausible_in
from sandbox.tiny_model import tiny_model
from sandbox.tiny_pooled import tiny_embedder, tiny_reranker

TEXT, ARRAY, UINT8, UINT32 = 8, 9, 0, 4


def written(path: Path, architecture: str, describe: object = None, *, tensors: tuple[str, ...] = ()) -> bytes:
    """What the package of llama.cpp writes."""
    writer = gguf.GGUFWriter(path, architecture)
    if callable(describe):
        describe(writer)
    for name in tensors:
        writer.add_tensor(name, np.zeros((8, 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def facts_in(data: bytes) -> ModelFacts:
    return facts_of_gguf(read_gguf_header(data), len(data))


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def header(*keys: bytes, tensors: bytes = b"", tensor_count: int = 0, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensor_count, len(keys)) + b"".join(keys) + tensors


def test_the_tiny_model_that_the_sandbox_serves_is_understood() -> None:
    data = tiny_model()
    facts = facts_in(data)
    assert facts == ModelFacts(
        architecture="llama",
        task=Task.GENERATE,
        longest_context=4096,
        layers=2,
        hidden_size=64,
        intermediate_size=128,
        heads=4,
        kv_heads=2,
        head_size=16,
        vocabulary=311,
        tied_embeddings=False,
        parameters=113_856,
        file_bytes=len(data),
        dtype="float32",
    )


def test_a_mixture_of_experts_with_sliding_layers(tmp_path: Path) -> None:
    def describe(writer: gguf.GGUFWriter) -> None:
        writer.add_context_length(131072)
        writer.add_embedding_length(2880)
        writer.add_block_count(24)
        writer.add_feed_forward_length(2880)
        writer.add_expert_feed_forward_length(2880)
        writer.add_head_count(64)
        writer.add_head_count_kv(8)
        writer.add_key_length(64)
        writer.add_value_length(64)
        writer.add_expert_count(32)
        writer.add_expert_used_count(4)
        writer.add_sliding_window(128)
        writer.add_vocab_size(201088)
        writer.add_token_list(["a", "b"])
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_MXFP4_MOE)

    facts = facts_in(written(tmp_path / "a.gguf", "gpt-oss", describe))
    assert facts.experts == Experts(count=32, active=4, intermediate_size=2880)
    assert (facts.sliding_layers, facts.sliding_window, facts.quantization) == (12, 128, "MXFP4")
    assert (facts.head_size, facts.vocabulary, facts.longest_context) == (64, 201088, 131072)


def test_deepseek_in_gguf_compresses_keys_and_values(tmp_path: Path) -> None:
    def describe(writer: gguf.GGUFWriter) -> None:
        writer.add_block_count(62)
        writer.add_uint32("deepseek2.nextn_predict_layers", 1)
        writer.add_head_count(128)
        writer.add_head_count_kv(1)
        writer.add_key_length(576)
        writer.add_value_length(512)
        writer.add_key_length_mla(192)
        writer.add_value_length_mla(128)
        writer.add_q_lora_rank(1536)
        writer.add_kv_lora_rank(512)
        writer.add_rope_dimension_count(64)
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_K_M)

    facts = facts_in(written(tmp_path / "a.gguf", "deepseek2", describe))
    assert facts.latent == LatentAttention(rank=512, rope_size=64, query_rank=1536, nope_size=128, value_size=128)
    assert (facts.layers, facts.kv_heads, facts.head_size, facts.quantization) == (61, 128, 192, "Q4_K_M")


def test_layers_without_heads_for_keys_keep_a_state(tmp_path: Path) -> None:
    def describe(writer: gguf.GGUFWriter) -> None:
        writer.add_block_count(6)
        writer.add_head_count(16)
        writer.add_head_count_kv([0, 0, 4, 0, 0, 4])
        writer.add_array("jamba.attention.sliding_window_pattern", [False, False, True, False, False, False])
        writer.add_sliding_window(1024)

    facts = facts_in(written(tmp_path / "a.gguf", "jamba", describe))
    assert (facts.layers, facts.linear_layers, facts.kv_heads) == (6, 4, 4)
    assert (facts.sliding_layers, facts.sliding_window) == (1, 1024)


@pytest.mark.parametrize("kind", list(gguf.LlamaFileType))
def test_every_file_type_of_llama_cpp_has_its_name(kind: gguf.LlamaFileType, tmp_path: Path) -> None:
    facts = facts_in(written(tmp_path / "a.gguf", "llama", lambda writer: writer.add_file_type(kind)))
    name = kind.name.removeprefix("MOSTLY_").removeprefix("ALL_").removesuffix("_MOE")
    plain = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "GUESSED": "float32"}
    assert facts.dtype + facts.quantization == plain.get(name, name)
    assert bool(facts.dtype) == (name in plain)


def test_a_model_without_an_output_tensor_shares_its_embeddings(tmp_path: Path) -> None:
    tied = facts_in(written(tmp_path / "a.gguf", "llama", tensors=("token_embd.weight",)))
    untied = facts_in(written(tmp_path / "b.gguf", "llama", tensors=("token_embd.weight", "output.weight")))
    assert (tied.tied_embeddings, tied.parameters) == (True, 32)
    assert (untied.tied_embeddings, untied.parameters) == (False, 64)


def test_one_file_of_several_does_not_tell_how_many_weights_there_are(tmp_path: Path) -> None:
    data = written(tmp_path / "a.gguf", "llama", tensors=("token_embd.weight",))
    facts = facts_of_gguf(read_gguf_header(data), 3 * len(data), parts=3)
    assert (facts.parameters, facts.tied_embeddings, facts.file_bytes) == (0, None, 3 * len(data))


def test_a_header_that_is_cut_anywhere_asks_for_more() -> None:
    data = header(text(b"general.architecture") + struct.pack("<I", TEXT) + text(b"llama"))
    for end in range(len(data)):
        with pytest.raises(TruncatedHeader):
            read_gguf_header(data[:end])
    assert read_gguf_header(data).values == {"general.architecture": "llama"}


def test_a_large_vocabulary_is_passed_over_without_being_held() -> None:
    tokens = b"".join(text(b"token%06d" % number) for number in range(200_000))
    key = text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", ARRAY, TEXT, 200_000) + tokens
    scores = text(b"tokenizer.ggml.scores") + struct.pack("<IIQ", ARRAY, UINT32, 200_000) + b"\0" * 800_000
    data = header(text(b"general.architecture") + struct.pack("<I", TEXT) + text(b"llama"), key, scores)
    tracemalloc.start()
    try:
        found = read_gguf_header(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.lengths["tokenizer.ggml.tokens"] == 200_000
    assert most < 100_000
    assert facts_of_gguf(found, 0).vocabulary == 200_000


HUGE = 2**63
ATTACKS = {
    "no magic": b"GGML" + b"\0" * 20,
    "version 1": header(version=1),
    "big-endian": b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
    "keys without end": b"GGUF" + struct.pack("<IQQ", 3, 0, HUGE),
    "tensors without end": b"GGUF" + struct.pack("<IQQ", 3, HUGE, 0),
    "a key of petabytes": header(struct.pack("<Q", HUGE)),
    "a text of petabytes": header(text(b"a") + struct.pack("<IQ", TEXT, HUGE)),
    "an array of petabytes": header(text(b"a") + struct.pack("<IIQ", ARRAY, UINT8, HUGE)),
    "texts without end": header(text(b"a") + struct.pack("<IIQ", ARRAY, TEXT, HUGE)),
    "a text of petabytes in an array": header(text(b"a") + struct.pack("<IIQQ", ARRAY, TEXT, 1, HUGE)),
    "an array of arrays": header(text(b"a") + struct.pack("<IIQ", ARRAY, ARRAY, 1) + b"\0" * 64),
    "an unknown type": header(text(b"a") + struct.pack("<I", 77)),
    "a tensor of 2**32 dimensions": header(tensors=text(b"t") + struct.pack("<I", 2**32 - 1), tensor_count=1),
    "a tensor of 2**252 values": header(
        tensors=text(b"t") + struct.pack("<IQQQQIQ", 4, HUGE, HUGE, HUGE, HUGE, 0, 0), tensor_count=1
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_header_that_cannot_be_is_refused_in_a_sentence(attack: str) -> None:
    with pytest.raises(MalformedModel) as raised:
        read_gguf_header(ATTACKS[attack])
    assert len(str(raised.value)) < 200


def test_a_header_that_says_nothing_of_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedModel, match=r"general\.architecture"):
        facts_in(header())
    with pytest.raises(MalformedModel, match="block_count"):
        facts_in(written(tmp_path / "a.gguf", "llama", lambda writer: writer.add_block_count(2**31)))


@pytest.mark.parametrize("length", [2**16, 2**18, 2**20])
def test_the_steps_for_an_array_of_empty_texts_are_as_many_as_texts(length: int) -> None:
    data = header(text(b"a") + struct.pack("<IIQ", ARRAY, TEXT, length) + b"\0" * 8 * length)
    assert len(data) < MOST_HEADER_BYTES
    assert read_gguf_header(data).lengths == {"a": length}


def test_any_byte_may_be_wrong() -> None:
    data = tiny_model()[:6000]
    refused = 0
    for place in range(1200):
        broken = data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
        try:
            assert implausible_in(facts_in(broken)) == ""
        except (MalformedModel, TruncatedHeader):
            refused += 1
    assert refused > 100


def test_what_a_model_is_asked_for_follows_from_how_it_pools() -> None:
    """llama.cpp's enum llama_pooling_type; a model that generates says nothing."""
    told = [facts_in(content()).task for content in (tiny_model, tiny_embedder, tiny_reranker)]
    assert told == [Task.GENERATE, Task.EMBED, Task.RERANK]


def test_an_encoder_keeps_nothing_of_a_prompt(tmp_path: Path) -> None:
    facts = facts_in(written(tmp_path / "m", "bert", lambda writer: writer.add_block_count(12)))
    assert (facts.task, facts.linear_layers, facts.layers) == (Task.EMBED, 12, 12)
