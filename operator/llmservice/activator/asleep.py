"""What is answered while a service has no ready replica, without waking it."""

from http import HTTPStatus

import orjson

from llmservice.activator.refusals import Answer, Code, Refusal
from llmservice.activator.slices import Served

_HEALTH = frozenset({"/health", "/healthz", "/ping"})
_MODELS = "/v1/models"
_JSON = {"Content-Type": "application/json"}
_WAKES = "POST"


def answer_asleep(served: Served, method: str, path: str) -> Answer | None:
    """The answer to a request that wakes nobody; None for one that is held.

    Raises Refusal for every other. `path` is decoded and without query.
    """
    if method == _WAKES:
        return None
    if method in {"GET", "HEAD"}:
        if path in _HEALTH:
            return Answer(HTTPStatus.OK, b"{}", _JSON)
        if path == _MODELS:
            models = [_model(name) for name in served.activation.models]
            return Answer(HTTPStatus.OK, orjson.dumps({"object": "list", "data": models}), _JSON)
        if (name := path.removeprefix(f"{_MODELS}/")) != path:
            return _known(served, name)
    raise Refusal(
        Code.ASLEEP,
        f"{served.name} sleeps: it has no replica that is ready; send a POST, which is held until one is, "
        f"as to /v1/chat/completions, or run: llmservice wake {served.name}",
    )


def _known(served: Served, name: str) -> Answer:
    if name in served.activation.models:
        return Answer(HTTPStatus.OK, orjson.dumps(_model(name)), _JSON)
    error = {
        "message": f"the model does not exist here; {_MODELS} lists those that do",
        "type": "invalid_request_error",
        "param": "model",
        "code": "model_not_found",
    }
    return Answer(HTTPStatus.NOT_FOUND, orjson.dumps({"error": error}), _JSON)


def _model(name: str) -> dict[str, object]:
    """As OpenAI's API lists one (platform.openai.com/docs/api-reference/models/object)."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "llmservice"}
