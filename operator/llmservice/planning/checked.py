"""Every check of a resource against what is known of engine, model and device, before anything is decided of it."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.engines.engine import Engine
from llmservice.planning.beside_checks import check_beside
from llmservice.planning.checks import check_spec
from llmservice.planning.compatibility import check_compatibility
from llmservice.planning.context import check_length
from llmservice.planning.decided import Decided
from llmservice.planning.facts import Facts
from llmservice.planning.fit.gate import refuse_what_cannot_fit
from llmservice.planning.fit.verdict import Verdict
from llmservice.planning.gathering import gather
from llmservice.planning.images import choose_image
from llmservice.planning.nodes import check_nodes
from llmservice.planning.number_formats import check_files, check_quantization
from llmservice.planning.parallelism import check_parallelism
from llmservice.planning.task import check_task


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking yields beside refusals: the image, and what is worth knowing of engine and device."""

    image: Decided[str]
    compatibility: tuple[str, ...]


def check(service: LLMService, facts: Facts, engine: Engine, fit: Verdict | None, *, accepted: bool) -> Checked:
    """Raises InvalidSpec with all that is wrong, so that one edit can correct it.

    A generation that was `accepted` before is not refused by what has since been learned about the model.
    """
    spec = service.spec
    compatibility: list[str] = []
    images: list[Decided[str]] = []
    of_model = (
        lambda: check_task(spec, facts, engine),
        lambda: check_files(spec, facts, engine),
        lambda: refuse_what_cannot_fit(spec, fit),
        lambda: check_length(spec, facts, engine),
    )
    task, files, fits, length = (_nothing if accepted else each for each in of_model)
    gather(
        lambda: check_spec(spec, engine, facts),
        task,
        lambda: check_beside(service, facts, engine),
        lambda: check_nodes(service, facts, engine),
        lambda: check_parallelism(spec, facts, engine),
        files,
        lambda: check_quantization(spec, facts),
        lambda: compatibility.extend(check_compatibility(spec, facts, checkpoint=facts.model.quantization)),
        lambda: images.append(choose_image(spec, facts)),
        fits,
        length,
    )
    return Checked(images[0], tuple(compatibility))


def _nothing() -> None:
    """In the place of a check that is not made."""
