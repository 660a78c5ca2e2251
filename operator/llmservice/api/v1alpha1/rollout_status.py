"""How a change of the replicas is going on, as a type: `status.rollout`."""

from typing import Annotated, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel
from llmservice.api.v1alpha1.rollback_status import FailedRevision, ServedRevision, WaitingRevision


class RolloutStatus(ApiModel):
    """How the replicas are being replaced; absent while there is nothing to tell."""

    strategy: Literal["Replace", "Surge"] | None = None
    """How this rollout goes: Replace (in place, one at a time) or Surge (one more first). Omitted while it waits."""
    message: Annotated[str, Field(max_length=1024)] | None = None
    """Why in this way, and how long the gap is expected to be."""
    served: ServedRevision | None = None
    """What was rolled out last, and is returned to when what follows it fails."""
    waiting: WaitingRevision | None = None
    """What was asked for last and must wait; until then `status.plan` is that of the replicas that run."""
    failed: FailedRevision | None = None
    """What was asked for last and did not become ready. It is tried again when the spec is edited."""
