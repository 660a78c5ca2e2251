"""Overlays that are refused: the text of a file, and a pattern with row, field and names of the message."""

VERSION = "images: {cuda: registry.example/vllm:v9}, user: 1, group: 1, max_model_len: 1, max_num_seqs: 1"
L5 = "{name: L5, vendor: nvidia, memory_gib: 30, labels: {gfd: [NVIDIA-L5], gke: [nvidia-l5]}}"


def with_support(cells: str) -> str:
    """A version with cells of the matrix."""
    return f"vllm: {{versions: {{'9': {{{VERSION}, quantizations: [awq], support: {{{cells}}}}}}}}}"


BROKEN_ENGINES = (
    ("a: [", "engines.yaml: is not YAML"),
    ("[]", "engines.yaml: "),
    ("vlm: {default: '1'}", r"engines\.yaml: vlm: .* llamacpp, .*, vllm"),
    ("vllm: 0.9", "engines.yaml: vllm: "),
    ("vllm: {defualt: '1'}", "engines.yaml: vllm: .* defualt.* default, versions"),
    ("vllm: {default: '1'}", "engines.yaml: vllm: default .* 0.10.2"),
    ("vllm: {default: [x]}", "engines.yaml: vllm: default .* 0.10.2"),
    ("vllm: {versions: {1.0: {}}}", "engines.yaml: vllm: versions: "),
    (f"vllm: {{versions: {{'9': {{{VERSION}, usr: 1}}}}}}", "engines.yaml: vllm: 9: .* usr"),
    (f"vllm: {{versions: {{'9': {{{VERSION}, flags: ../rows.py}}}}}}", "vllm: 9: flags: .*rows.py"),
    ("vllm: {versions: {'9': {" + VERSION.replace("user: 1", "user: -1") + "}}}", "vllm: 9: user: -1 "),
    (
        "vllm: {versions: {'9': {" + VERSION.replace("registry.example/vllm:v9", "9") + "}}}",
        "images: cuda: ",
    ),
    ("vllm: {versions: {'9': {" + VERSION.replace("/vllm:v9", "/v llm") + "}}}", "images: cuda: .*/v llm"),
    (with_support("rocm: {}"), "9: support: rocm .* cuda"),
    (with_support("cuda: {lest: '8.0'}"), "9: support: cuda: .* lest"),
    (with_support("cuda: {least: 8.0}"), "9: support: cuda: least: "),
    (with_support("cuda: {most: sm90}"), "9: support: cuda: most: 'sm90'"),
    (with_support("cuda: {driver: {least: R580}}"), "9: support: cuda: driver: way_out: "),
    (with_support("cuda: {machines: [x86 64]}"), "9: support: cuda: machines: 'x86 64'"),
    (with_support("cuda: {needs: {dtyp: {bfloat16: '8.0'}}}"), "9: support: cuda: needs: dtyp .* dtype"),
    (with_support("cuda: {needs: {dtype: {bfloat16: none}}}"), "needs: dtype: bfloat16: 'none'"),
    (with_support("cuda: {needs: {quantization: {agq: '8.0'}}}"), "needs: quantization: agq "),
)
"""Texts of engines.yaml."""

BROKEN_ACCELERATORS = (
    ("prices: []", "accelerators.yaml: prices: "),
    ("prices: {currency: EUR, perHour: {L4: 1}}", "accelerators.yaml: prices: .* perHour; .*per_hour"),
    ("prices: {per_hour: {L4: 1}}", "accelerators.yaml: prices: currency .* EUR"),
    ("prices: {currency: euro, per_hour: {L4: 1}}", "prices: currency: 'euro' .* EUR"),
    ("prices: {currency: EUR, per_hour: {L44: 1}}", "prices: per_hour: L44 .*L40"),
    ("prices: {currency: EUR, per_hour: {L4: -0.8}}", "prices: per_hour: L4: -0.8 "),
    ("prices: {currency: EUR, per_hour: {L4: 10000000.0}}", "prices: per_hour: L4: 10000000.0 "),
    ("prices: {currency: EUR, per_hour: {L4: .nan}}", "prices: per_hour: L4: "),
    ("prices: {currency: EUR, per_hour: {L4: '0.8'}}", "prices: per_hour: L4: "),
    ("prices: {currency: EUR, time_zone: Berlin, per_hour: {L4: 1}}", "prices: time_zone: 'Berlin' .* Europe/Berlin"),
    ("accelerator: []", "accelerators.yaml: .* accelerator; .*: vendors, schemes"),
    ("accelerators: {name: L5}", "accelerators.yaml: accelerators: "),
    ("accelerators: [L5]", "accelerators.yaml: accelerators: "),
    (f"accelerators: [{L5.replace('gke', 'gkee')}]", "accelerators.yaml: L5: .* gkee"),
    (f"accelerators: [{L5.replace('[NVIDIA-L5]', 'NVIDIA-L5')}]", "L5: labels: gfd: "),
    (f"accelerators: [{L5.replace('NVIDIA-L5', 'NVIDIA L5')}]", "L5: labels: gfd: 'NVIDIA L5'"),
    (f"accelerators: [{L5.replace('L5', 'A100', 1)}]", "accelerators.yaml: A100: .* A100 "),
    (
        f"accelerators: [{L5.replace('memory_gib', 'resource_name: gpu, memory_gib')}]",
        "L5: resource_name: 'gpu'",
    ),
    ("vendors: {acme: {domains: [a.b], resource_name: a.b/c}}", "vendors: acme: image_variant: "),
    (
        "vendors: {a: {domains: [a.b], resource_name: a.b/c, image_variant: x, unshared: [{key: a, operator: Not}]}}",
        "vendors: a: .*operator",
    ),
    (
        "vendors: {acme: {domains: [a.b], resource_name: a.b/c, image_variant: x, slices: {a.b/half: 0.0}}}",
        "vendors: acme: slices: a.b/half: 0.0",
    ),
    ("schemes: [{platform: ours, labels: {}}]", "accelerators.yaml: schemes: ours: labels "),
    ("groups: {L: []}", "accelerators.yaml: groups: L: "),
    ("groups: {L: [L9]}", "accelerators.yaml: groups: L: L9 "),
)
"""Texts of accelerators.yaml."""

BROKEN_MODELS = (
    ("[]", "models.yaml: "),
    ("model: []", "models.yaml: .* model; .*: models, sources"),
    ("models: {a: 1}", "models.yaml: models: "),
    ("models: [a]", "models.yaml: models: "),
    ("models: [{layers: 1}]", "models.yaml: None: id "),
    ("models: [{id: a/b, aliases: c}]", "models.yaml: a/b: .* aliases"),
    ("models: [{id: a/b}, {id: A/B}]", "models.yaml: A/B: "),
    ("models: [{id: a/b, like: c/d}]", "models.yaml: a/b: like: c/d "),
    ("models: [{id: a/b, laiers: 32}]", "models.yaml: a/b: .* laiers"),
    ("models: [{id: a/b, layers: '1'}]", "models.yaml: a/b: layers: "),
    ("models: [{id: a/b, layers: -3}]", "models.yaml: a/b: layers .*-3"),
    ("models: [{id: a/b, file_gib: '5'}]", "models.yaml: a/b: file_gib: "),
    ("models: [{id: a/b, file_gib: .nan}]", "models.yaml: a/b: file_gib: "),
    ("models: [{id: a/b, experts: {count: 8}}]", "models.yaml: a/b: experts: active: "),
)
"""Texts of models.yaml."""
