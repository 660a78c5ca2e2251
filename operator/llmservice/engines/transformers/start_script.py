"""The program of the engine's container: it gives the model the name that clients use, and runs the server.

`transformers serve` answers requests for the very words it was started with, and for no others; there is no option for
another name (cli/serving/utils.py, _resolve_model). A folder of that name, relative to where it runs, is a model to it.
So the model is fetched, linked under its name, and served from there.

The server listens only when the model is loaded, and uvicorn sets its handler of SIGTERM then: before that process 1
would ignore it. When uvicorn has stopped, the thread that computes would keep the process alive; uvicorn raises what it
was told once more, and the handler ends the process. The KV cache is allocated with the first request: it is made here.

Arguments: name, folder or repository, revision or "", then the options of the server.
"""

SERVED = "/cache/served"
"""Where the name is a folder."""

START = f"""\
import json, os, signal, sys, threading, time, urllib.request
from pathlib import Path

signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
name, model, revision, *options = sys.argv[1:]


def fetched(repository):
    from huggingface_hub import list_repo_files, snapshot_download

    began = time.monotonic()
    files = list_repo_files(repository, revision=revision or None)
    unused = ["*.gguf", "*.onnx*", "*.h5", "*.msgpack", "*.pth", "*.tflite", "original/*", "onnx/*"]
    unused += ["*.bin"] if any(file.endswith(".safetensors") for file in files) else []
    folder = snapshot_download(repository, revision=revision or None, ignore_patterns=unused)
    print(f"llmservice: fetched after {{time.monotonic() - began:.1f}} s", flush=True)
    return folder


def warm_up(port):
    url, body = f"http://127.0.0.1:{{port}}", json.dumps({{"model": name, "prompt": "a", "max_tokens": 1}}).encode()
    asked = urllib.request.Request(url + "/v1/completions", body, {{"Content-Type": "application/json"}})
    while True:
        time.sleep(0.5)
        try:
            urllib.request.urlopen(url + "/health", timeout=5).close()
        except OSError:
            continue
        try:
            urllib.request.urlopen(asked, timeout=600).close()
        except OSError as error:
            print(f"llmservice: not warmed up: {{error}}", flush=True)
        return


link = Path("{SERVED}", name)
link.parent.mkdir(parents=True, exist_ok=True)
Path(os.environ["HF_HOME"], "hub").mkdir(parents=True, exist_ok=True)
link.unlink(missing_ok=True)
link.symlink_to(model if os.path.isdir(model) or os.path.isabs(model) else fetched(model))
os.chdir("{SERVED}")

import torch

kind = "cpu" if not torch.cuda.is_available() else "rocm" if torch.version.hip else "cuda"
print(f"llmservice: torch {{torch.__version__}} on {{kind}} x {{max(1, torch.cuda.device_count())}}", flush=True)

from transformers.cli.transformers import main

port = next(word.partition("=")[2] for word in options if word.startswith("--port="))
threading.Thread(target=warm_up, args=(port,), daemon=True).start()
sys.argv = ["transformers", "serve", name, *options]
main()
"""
