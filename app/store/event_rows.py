"""An entry of a log as a row, and back."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from app.domain.meeting.entries import Event, decode


class Written(Struct, frozen=True):
    """An entry with its encoded data and its place among all entries."""

    event: Event
    data: str
    position: int


def event_row(written: Written) -> dict[str, object]:
    event = written.event
    return {
        "meeting_id": event.meeting_id,
        "seq": event.seq,
        "number": event.number,
        "position": written.position,
        "type": event.type,
        "step": event.step,
        "fingerprint": event.fingerprint,
        "data": written.data,
        "at": event.at,
    }


def event_of(row: Any) -> Event:
    return Event(
        content=decode(row["type"], row["data"]),
        at=row["at"],
        step=row["step"],
        fingerprint=row["fingerprint"],
        meeting_id=row["meeting_id"],
        seq=row["seq"],
        number=row["number"],
    )
