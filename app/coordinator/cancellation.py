"""What becomes of the requests that were in flight when a cancel came (PROTOCOLS 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.coordinator.ports import Agent
from app.coordinator.questions import REQUEST
from app.domain import events
from app.domain.events import Event
from app.domain.meeting import Json


async def items_in_flight(
    entries: Sequence[Event], agents: Mapping[str, Agent]
) -> list[dict[str, Json]]:
    """Every request that was reserved and has no reply, with what its agent knows of it.

    Read from the log, so a process that was killed in between lists the same ones.
    """
    answered = {entry.step for entry in entries}
    items: list[dict[str, Json]] = []
    for entry in entries:
        step = (entry.step or "").removesuffix(REQUEST)
        if entry.type != events.REQUEST_RESERVED or step in answered:
            continue
        agent = agents.get(entry.data["agent"])
        request_id = entry.data["request_id"]
        state = "unconfirmed" if agent is None else await agent.stop(request_id)
        items.append(
            {"kind": "request", "ref": request_id, "participant": entry.data["who"], "state": state}
        )
    return items


def closing_state(items: Sequence[Mapping[str, Json]]) -> str:
    """The cancellation as a whole: ``stopped`` only when nothing is left in doubt."""
    states = {item["state"] for item in items}
    return "stopped" if states <= {"stopped"} else "unconfirmed"
