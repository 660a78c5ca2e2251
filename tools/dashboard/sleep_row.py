"""A row of the fleet's board: services that sleep while nobody asks, and what is held for them."""

from tools.dashboard.panel import OF_SERVICES, RATE, SERVICE, Panel, Query, largest


def _rate(counter: str, by: str = "namespace, name") -> str:
    return f"sum by ({by}) (rate({counter}{{{OF_SERVICES}}}{RATE}))"


SLEEP = (
    Panel(
        title="Asleep",
        meaning="Services without a replica because nobody asks anything.",
        unit="none",
        queries=(Query(f"sum({largest('llmservice_asleep')}) or vector(0)"),),
        kind="stat",
        width=6,
    ),
    Panel(
        title="Requests held",
        meaning="By all activators, for services that start.",
        unit="none",
        queries=(Query(f"sum({largest('llmservice_held_requests')}) or vector(0)"),),
        kind="stat",
        width=6,
    ),
    Panel(
        title="Starts in a day",
        meaning="From no replica, in the last 24 hours.",
        unit="none",
        queries=(Query(f"sum(increase(llmservice_wakes_total{{{OF_SERVICES}}}[1d])) or vector(0)"),),
        kind="stat",
        width=6,
    ),
    Panel(
        title="Activators",
        meaning="Those that are ready; without one, a service that sleeps is reached by nobody.",
        unit="none",
        queries=(Query("max(llmservice_activators_ready) or vector(0)"),),
        kind="stat",
        width=6,
    ),
    Panel(
        title="Requests held by service",
        meaning="They wait for the first replica.",
        unit="none",
        queries=(Query(largest("llmservice_held_requests"), SERVICE),),
        stacked=True,
    ),
    Panel(
        title="What became of them",
        meaning="Held requests that a replica answered, and those that were refused: too many, or too long.",
        unit="reqps",
        queries=(
            Query(_rate("llmservice_held_answered_total"), f"{SERVICE} answered"),
            Query(_rate("llmservice_held_refused_total"), f"{SERVICE} refused"),
        ),
    ),
    Panel(
        title="Last start",
        meaning="From no pod to ready: as long as the first request waits.",
        unit="s",
        queries=(Query(largest("llmservice_wake_seconds"), SERVICE),),
    ),
)
