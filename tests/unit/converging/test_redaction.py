import pytest

from llmservice.converging.redaction import redacted, redacted_arguments


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer PLANTED-abc.def",
        "curl -H 'Authorization: Basic UExBTlRFRDpQTEFOVEVE'",
        "token eyJhbGciPLANTED.eyJzdWIiPLANTED.c2lnPLANTED in a header",
        "llama-server: --hf-token PLANTEDabcd --port 8000",
        "vllm serve --api-key=PLANTEDabcd",
        '{"password": "PLANTEDabcd"}',
        "AWS_SECRET_ACCESS_KEY=PLANTED/abcd+efg",
        "https://user:PLANTEDabcd@proxy:3128 refused",
        'spec.engineOptions.env[0].value: Invalid value: "PLANTEDabcd": too long',
        'POST /v1/completions {"prompt": "PLANTED words of a user", "n": 1}',
        '{"messages": [{"role": "user", "content": "PLANTED"}]}',
        '{"prompt": "say \\"hi\\" PLANTED", "n": 1}',
        "prompt: 'PLANTED words without an end",
        "prompt=[{'role': 'user', 'content': 'PLANTED",
        "[{'type': 'missing', 'input': {'model': 'm', 'x': 'PLANTED'}}]",
        "github_pat_PLANTED1234",
        "remote: ghs_PLANTED1234 refused",
        "glpat-PLANTED1234",
        "xoxb-123-PLANTED12",
        "key AIzaPLANTED1234",
        "npm_PLANTED1234 pypi-PLANTED1234 nvapi-PLANTED1234",
        "token eyJhbGciPLANTED",
        "client_secret=PLANTED1",
        '{"SecretAccessKey": "PLANTED/+1"}',
        "--hf-token=PLANTED1",
        "GET https://blob.example/m?sv=1&sig=PLANTED%3D&se=2",
        "GET https://s3.example/m?X-Amz-Signature=PLANTED&x=1",
        "https://user:p@PLANTED@proxy:3128 refused",
        "https://PLANTEDPLANTEDPLANTED@code.example/x",
        "Set-Cookie: session=PLANTED; path=/",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIPLANTED\nPLANTED==\n-----END RSA PRIVATE KEY-----",
        "key: -----BEGIN PRIVATE KEY-----\\nMIIPLANTED\\nPLANTED",
        "MIIPLANTED\n  PLANTED==\n-----END EC PRIVATE KEY-----",
        "non-default args: {'model': 'm', 'api_key': ['PLANTEDabcd']}",
        'Args { model_id: "m", api_key: Some("PLANTEDabcd"), usage_stats: On }',
        "hf_hub_download hf_abcdefPLANTED12",
        "Authorization: Basic UExBTlRFRDpQTEFOVEVE as sent",
        "password: check.PLANTED1",
        "authorization: bearer PLANTEDpassword",
    ],
)
def test_what_looks_like_a_secret_or_a_prompt_is_hidden(text: str) -> None:
    assert "PLANTED" not in redacted(text)
    assert "UExBTlRFRDpQTEFOVEVE" not in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "Deployment ml/chat: created",
        "max_tokens=512, tokens: 4096",
        "Secret token in namespace ml has no key hf_token",
        "KV cache of 12 GiB; key heads 8",
        "https://10.64.128.1:443/apis/apps/v1",
        "prompt eval time = 12 ms, input length 7, text generation",
        "-----BEGIN CERTIFICATE-----",
        "prompt: [hidden], params: SamplingParams(n=1)",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    "line",
    [
        # vLLM, Transformers and the hub
        "KeyError: 'model.layers.0.self_attn.qkv_proj.weight'",
        "non-default args: {'model': 'Qwen/Qwen2.5', 'max_model_len': 4096, 'hf_token': None, 'api_key': None}",
        "config: model='m', tokenizer='m', skip_tokenizer_init=False, tokenizer_mode=auto, tokenizer_revision=None",
        "Avg prompt throughput: 12.3 tokens/s, Avg generation throughput: 45.6 tokens/s, Running: 1 reqs",
        "api_server.py: error: argument --max-num-batched-tokens: invalid int value: 'abc'",
        "vllm serve Qwen/Qwen2.5 --max-num-batched-tokens 8192 --tokenizer-mode auto",
        "api_server.py: error: argument --api-key: expected at least one argument",
        "TypeError: forward() got an unexpected keyword argument 'token_type_ids'",
        "ValueError: Input prompt (5000 tokens) is too long and exceeds limit of 4096",
        "RuntimeError: Expected query, key, and value to have the same dtype, but got key.dtype: half",
        'Missing key(s) in state_dict: "model.embed_tokens.weight", "lm_head.weight"',
        "ImportError: cannot import name 'hf_hub_download' from 'transformers_utils.config.hf_overrides'",
        "ValueError: hf_quant_config.json is missing",
        "'hf_text_config': {'num_key_value_heads': 8, 'eos_token': '</s>', 'pad_token': '<pad>'}",
        "make sure to pass a token having permission to this repo or by passing `token=<your_token>`",
        "huggingface_hub.errors.HfHubHTTPError: 401 Client Error. Invalid user token: expired.",
        "botocore.exceptions.NoCredentialsError: Unable to locate credentials: check AWS config",
        "ModuleNotFoundError: No module named 'sk-learn-contrib'",
        # TGI
        'Args { model_id: "m", max_input_tokens: Some(1024), tokenizer_config_path: None, api_key: None }',
        "Error: `max_batch_prefill_tokens` must be >= `max_input_tokens`. Given: 1024 and 2048",
        '{"level":"ERROR","fields":{"message":"Shard complete:"},"target":"text_generation_launcher"}',
        # llama.cpp
        "print_info: EOG token             = 128008 '<|eom_id|>'",
        "llm_load_print_meta: BOS token        = 128000 '<|begin_of_text|>'",
        "llama_model_loader: - kv  23:            tokenizer.ggml.padding_token_id u32 = 151643",
        "llama_model_load: error loading model: missing tensor 'token_embd.weight'",
        "error loading model hyperparameters: key not found in model: qwen3.context_length",
        "prompt eval time = 123.45 ms / 12 tokens (10.29 ms per token, 97.21 tokens per second)",
        "slot release: id  0 | task 0 | stop processing: n_tokens = 25, truncated = 0",
        "gguf_init_from_file: invalid magic characters 'tjfk', key: general.name",
        # Kubernetes and registries
        "couldn't find key token in Secret team-a/hf-token",
        'MountVolume.SetUp failed for volume "files" : secret "my-secret" not found',
        "failed to fetch anonymous token: unexpected status from GET request to https://auth.example/token: 401",
        'failed to fetch oauth token: Post "https://auth.example/token": dial tcp: lookup auth.example: no such host',
        "server says: Bearer authentication required; basic authentication is off",
        "token: none, secret = none, api-key: required",
    ],
)
def test_an_ordinary_line_of_an_engine_or_the_cluster_stays(line: str) -> None:
    assert redacted(line) == line


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--threads", "2"), ["--threads", "2"]),
        (("--hub-token", "PLANTED"), ["--hub-token", "[hidden]"]),
        (("--hub-token=PLANTED", "x"), ["--hub-token=[hidden]", "x"]),
        (("--adapter-key", "--verbose"), ["--adapter-key", "--verbose"]),
        (("--max-num-batched-tokens", "8192"), ["--max-num-batched-tokens", "8192"]),
        (("hf_PLANTEDPLANTED",), ["[hidden]"]),
    ],
)
def test_a_command_line_is_shown_without_its_secrets(arguments: tuple[str, ...], shown: list[str]) -> None:
    assert redacted_arguments(arguments) == shown


def test_a_long_argument_is_shown_by_its_beginning_and_its_length() -> None:
    assert redacted_arguments(["--grammar", "x" * 8192, "y" * 256]) == [
        "--grammar",
        f"{'x' * 256}… (7936 more characters)",
        "y" * 256,
    ]


def test_the_secret_at_the_end_of_a_long_argument_is_hidden_before_it_is_cut() -> None:
    (shown,) = redacted_arguments([f"{'x' * 240} hf_PLANTEDPLANTED {'x' * 100}"])
    assert "PLANTED" not in shown


def test_of_a_long_command_line_the_beginning_is_shown_and_the_rest_counted() -> None:
    shown = redacted_arguments(["x" * 256] * 128)
    assert (len(shown), shown[-1]) == (65, "… (64 more arguments)")


@pytest.mark.parametrize(
    "secret", ["hf_PLANTEDPLANTED", "https://user:PLANTED@host/", "prompt: 'PLANTED", "eyJPLANTEDPLA"]
)
@pytest.mark.parametrize("before", range(80, 101))
def test_no_half_of_a_secret_stays_where_a_text_is_cut(secret: str, before: int) -> None:
    text = f"{'x ' * (before // 2)}{secret}{' y' * 2000}"
    assert "PLA" not in redacted(text, 100)


def test_what_lies_behind_secrets_that_were_hidden_is_not_shown_unread() -> None:
    text = "token=" + "a" * 1100 + " https://user:PLANTED" + "P" * 50 + "@host/ " + "y" * 5000
    assert "PLANTED" not in redacted(text, 130)


def test_hiding_twice_changes_nothing() -> None:
    once = redacted('Bearer abcdefgh {"prompt": "a", "token": "abcdef"} --key abcd https://u:p@h/ prompt=[1, 2] x')
    assert redacted(once) == once


def test_the_hidden_is_found_in_what_is_coloured() -> None:
    assert redacted("hf_PLAN\x1b[31mTEDPLANTED") == "[hidden]"


def test_an_argument_is_judged_by_the_flag_before_it_each_time() -> None:
    told = redacted_arguments(["--model", "qwen-three", "--hub-token", "qwen-three", "--model", "qwen-three"])
    assert told == ["--model", "qwen-three", "--hub-token", "[hidden]", "--model", "qwen-three"]
