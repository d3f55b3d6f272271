"""The meetings that the benchmarks hold."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.service import ServiceFailed
from benchmarks.wire import Connection

SEATS = ("architect", "operator", "sceptic")

_TOPIC = "Should the platform team keep its four services in one repository?"
_CONTEXT = "12 engineers, 4 services, one release train, a build of 25 minutes."
_ROUND_CLOSED = b"event: round.closed\n"
_ENDED = b"event: meeting.ended\n"


def round_table(
    agents: Sequence[str] = ("default",) * len(SEATS), secretary: str = "default", rounds: int = 3
) -> dict[str, Any]:
    """The request for a round table with a seat for each of the agents.

    The rehearsal's own script, which ``default`` has on a bare service, disagrees for two rounds
    and agrees in the third, so a table of three of them goes through exactly three rounds.
    """
    return {
        "topic": _TOPIC,
        "context": _CONTEXT,
        "participants": [
            {"name": SEATS[place] if place < len(SEATS) else f"seat-{place}", "agent": agent}
            for place, agent in enumerate(agents)
        ],
        "secretary": secretary,
        "limits": {"rounds": rounds},
    }


async def keep_agent(connection: Connection, name: str, **settings: Any) -> None:
    await connection.post("/v1/agents", {"name": name, **settings})


async def open_meeting(connection: Connection, wish: Mapping[str, Any]) -> str:
    answer: dict[str, Any] = json.loads(await connection.post("/v1/meetings", wish))
    return answer["id"]


async def hold(connection: Connection, wish: Mapping[str, Any], rounds: int = 3) -> float:
    """Open a meeting, follow it to its end, and say how many seconds that took.

    Raises ``ServiceFailed`` if the meeting did not have so many rounds.
    """
    begun = time.perf_counter()
    meeting_id = await open_meeting(connection, wish)
    pieces = [piece async for piece in connection.stream(events_path(meeting_id))]
    took = time.perf_counter() - begun
    told = b"".join(pieces)
    found = told.count(_ROUND_CLOSED)
    if found != rounds or _ENDED not in told:
        raise ServiceFailed(f"{meeting_id} should have ended after {rounds} rounds, not {found}.")
    return took


def events_path(meeting_id: str, after: int = 0) -> str:
    return f"/v1/meetings/{meeting_id}/events?after={after}"
