"""What the handlers of requests share: the model once it is loaded, places, metrics."""

import time
from dataclasses import dataclass, field

from ctranslate2_server.engine import Engine
from ctranslate2_server.errors import NotReady
from ctranslate2_server.metrics import Metrics
from ctranslate2_server.options import Options
from ctranslate2_server.places import Places


@dataclass(slots=True)
class ServerState:
    """The state of one server. `began` is in seconds since 1970, `loaded` is None until the model can serve."""

    options: Options
    places: Places = field(init=False)
    metrics: Metrics = field(init=False)
    began: int = field(default_factory=lambda: int(time.time()))
    loaded: Engine | None = None

    def __post_init__(self) -> None:
        self.places = Places(self.options.max_num_seqs, self.options.max_queued)
        self.metrics = Metrics(self.places)

    @property
    def engine(self) -> Engine:
        """The loaded model; raises NotReady."""
        if self.loaded is None:
            raise NotReady("the model is being loaded")
        return self.loaded

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the model."""
        return self.options.served_names

    @property
    def context(self) -> int | None:
        """Tokens of prompt and answer, None where nothing limits them."""
        return (self.loaded.context or None) if self.loaded else None

    @property
    def max_body_bytes(self) -> int:
        """The largest request."""
        return self.options.max_body_bytes
