from pathlib import Path

import yaml

from sandbox.engine_image import ENGINE_IMAGES

CATALOGUE = Path(__file__).parents[3] / "operator/llmservice/catalog/engines/llamacpp.yaml"


def every_string(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in every_string(part)]
    if isinstance(value, list):
        return [text for part in value for text in every_string(part)]
    return [value] if isinstance(value, str) else []


def test_the_images_have_the_names_that_the_operator_asks_for() -> None:
    assert set(ENGINE_IMAGES) <= set(every_string(yaml.safe_load(CATALOGUE.read_text())))
