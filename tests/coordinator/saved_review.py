"""Reviews that pass in one round and have a destination, at a table whose place does as told."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from app.coordinator.commands import SeatWanted
from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Destination
from app.domain.meeting.state import MeetingState
from app.domain.operation.record import OperationRecord
from tests.coordinator.table import Table, stances
from tests.formats.review.by_hand import CRITERIA, MATERIALS, judged, written

URL = "https://wiki.example/a.md"
DRAFT = "The owner is Dee."
SEATS = (
    SeatWanted(name="ann", role="author", agent="ann"),
    SeatWanted(name="ben", role="critic", agent="ben"),
)


def review_table(folder: Path) -> Table:
    return Table(folder, ann=lambda _: written(DRAFT), ben=lambda _: judged())


def roundtable_table(folder: Path) -> Table:
    return Table(folder, ann=stances("AGREE"), ben=stances("AGREE"))


async def open_review(held: Table, **fields: Any) -> MeetingState:
    given = {
        "format": "review",
        "materials": MATERIALS,
        "criteria": CRITERIA,
        "seats": SEATS,
        "destination": Destination(URL, 30, "dee"),
    }
    return await held.open(**(given | fields))


async def to_the_end(held: Table, meeting_id: str) -> datetime | None:
    """Advance it whenever it asks for that, until it has ended; when it wants to go on then."""
    while True:
        until = await held.runner.advance(meeting_id)
        state = await held.log.state(meeting_id)
        if state.ended:
            return until
        assert until is not None
        held.clock.advance(max(0.0, (until - held.clock.now()).total_seconds()))


async def operation(held: Table, meeting_id: str) -> OperationRecord:
    """The one operation of the meeting, as it stands now."""
    state = await held.log.state(meeting_id)
    (record,) = state.operations.values()
    assert record.record() == await held.archive.operation(record.id)
    return record


def happened(log: list[Event]) -> list[str]:
    """What the log's internal entries say has happened to operations."""
    kinds = (events.OperationHappened.type, events.OperationReconciled.type)
    return [entry.data["happened"] for entry in log if entry.type in kinds]


def told(public: list[Event]) -> list[str]:
    """The states that were told, in order."""
    return [event.type.partition(".")[2] for event in public if event.type.startswith("operation.")]
