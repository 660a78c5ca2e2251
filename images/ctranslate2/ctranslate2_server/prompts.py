"""From messages to the tokens of a prompt: the chat template of the model, and its tokenizer."""

from collections.abc import Mapping
from typing import Any

from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from ctranslate2_server.asked import Asked
from ctranslate2_server.errors import BadRequest, UnusableModel
from ctranslate2_server.model_files import ModelFiles


class Prompts:
    """Makes prompts for one model."""

    def __init__(self, files: ModelFiles, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._special = files.special_tokens
        self._template = _compiled(files.chat_template) if files.chat_template else None

    def tokens(self, asked: Asked) -> list[str]:
        """The prompt's tokens by name, as CTranslate2 takes them; raises BadRequest."""
        if not asked.messages:
            return list(self._tokenizer.encode(asked.prompt).tokens)
        # The template writes the special tokens itself.
        return list(self._tokenizer.encode(self._filled_in(asked), add_special_tokens=False).tokens)

    def _filled_in(self, asked: Asked) -> str:
        if self._template is None:
            message = "the model has no chat template: ask /v1/completions, or add chat_template.jinja to its folder"
            raise BadRequest(message, "messages")
        try:
            return str(
                self._template.render(messages=list(asked.messages), add_generation_prompt=True, **self._special)
            )
        except (TemplateError, TypeError, ValueError) as error:
            raise BadRequest(f"the model's chat template does not take them: {error}", "messages") from error


def _compiled(template: str) -> Any:
    """A template is the model's, and may not reach further than what it is given."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.globals.update(_functions())
    try:
        return environment.from_string(template)
    except TemplateError as error:
        raise UnusableModel(f"the chat template cannot be read: {error}") from error


def _functions() -> Mapping[str, Any]:
    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    return {"raise_exception": raise_exception}
