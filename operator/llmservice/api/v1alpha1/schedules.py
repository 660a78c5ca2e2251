"""Times of the week at which the autoscaler has other bounds."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.text import Form

Replicas = Annotated[int, Field(strict=True, ge=1, le=1000)]
Least = Annotated[int, Field(strict=True, ge=0, le=1000)]
Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
ScheduleName = Annotated[
    str,
    Field(min_length=1, max_length=63),
    Form(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", "is not a name: use lower-case letters, digits and '-'"),
]
_TIME = 'is not a time of day: write hours and minutes, such as "08:00", in quotes'
Start = Annotated[str, Field(max_length=16), Form(r"([01][0-9]|2[0-3]):[0-5][0-9]", _TIME)]
End = Annotated[str, Field(max_length=16), Form(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00", _TIME)]
TimeZone = Annotated[
    str,
    Field(min_length=1, max_length=64),
    Form(
        r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*",
        "is not the name of a time zone: write one of the IANA database, such as Europe/Berlin",
    ),
]


class Schedule(ApiModel):
    """Bounds for some hours of the week, instead of minReplicas and maxReplicas. Of several, the first that holds."""

    name: ScheduleName
    """What status and messages call it."""
    days: Annotated[tuple[Day, ...], Field(max_length=7), Unique()] = ()
    """Days on which it begins. Omitted: every day."""
    start: Start
    """When it begins, by the clock of the time zone: hours and minutes."""
    end: End
    """When it ends: later on the same day, else on the next. 24:00 is the end of the day."""
    time_zone: TimeZone = "UTC"
    """Time zone by its IANA name; summer time is kept."""
    min_replicas: Least | None = None
    """Replicas that always run during these hours; 0 lets it sleep. Omitted: minReplicas of the autoscaler."""
    max_replicas: Replicas | None = None
    """Replicas that may run at most during these hours. Omitted: maxReplicas of the autoscaler."""

    rules: ClassVar = (
        Rule(
            cel="has(self.minReplicas) || has(self.maxReplicas)",
            holds=lambda schedule: schedule.min_replicas is not None or schedule.max_replicas is not None,
            message="changes nothing: set minReplicas or maxReplicas",
        ),
        Rule(
            cel="self.start != self.end",
            holds=lambda schedule: schedule.start != schedule.end,
            message="must not be the start: for whole days write start 00:00 and end 24:00",
            field_path=".end",
        ),
    )
