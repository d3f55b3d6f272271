"""How the rows are found and shown that are written when a decision or a cancel is closed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Select, select

from app.coordinator.ports import DissentFilter
from app.domain.meeting.outcome import Dissent
from app.domain.meeting.status import Status
from app.domain.values import JsonObject, rfc3339
from app.store.cursors import ID, NUMBER, dated_parts_of
from app.store.searching import mentions
from app.store.tables import CancellationRow, DissentRow, MeetingRow, VoteRow, table

_meeting = table(MeetingRow)
_ballot = table(VoteRow)
_dissent = table(DissentRow)
_cancellation = table(CancellationRow)


def ballots_of(meeting_id: str) -> Select[Any]:
    """The meeting's votes, each with the meeting's status; without any, the status alone."""
    return _of_meeting(meeting_id, _ballot, _ballot.c.record)


def dissents_of(meeting_id: str) -> Select[Any]:
    """The same for its dissents."""
    return _of_meeting(meeting_id, _dissent, *_dissent.c)


def _of_meeting(meeting_id: str, closed: Any, *shown: Any) -> Select[Any]:
    columns: Any = select(_meeting.c.status, closed.c.number, *shown)
    return (
        columns.join_from(_meeting, closed, closed.c.meeting_id == _meeting.c.id, isouter=True)
        .where(_meeting.c.id == meeting_id)
        .order_by(closed.c.number)
    )


def dissent_shown(row: Any) -> JsonObject:
    return Dissent(
        row["participant"], row["position"], row["rationale"], row["mitigation"], row["round"]
    ).record()


def cancellation_of(meeting_id: str) -> Select[Any]:
    return select(_cancellation).where(_cancellation.c.meeting_id == meeting_id)


def cancellation_shown(row: Any) -> JsonObject:
    return {
        "requested_at": rfc3339(row["requested_at"]),
        "reason": row["reason"],
        "state": row["state"],
        "items": orjson.loads(row["items"]),
    }


# --- dissents over all meetings -------------------------------------------------------------------

DISSENTS_ORDERED_BY = ("decided_at", "meeting_id", "number")


def all_dissents(filter_: DissentFilter, *, embedded: bool) -> Select[Any]:
    """Newest first, and those of one meeting in their order."""
    of_its_meeting = _meeting.c.id == _dissent.c.meeting_id
    newest_first = (_dissent.c.decided_at.desc(), _dissent.c.meeting_id.desc(), _dissent.c.number)
    columns: Any = select(_dissent, _meeting.c.format, _meeting.c.result)
    return (
        columns.join_from(_dissent, _meeting, of_its_meeting)
        .where(*_conditions(filter_, embedded=embedded))
        .order_by(*newest_first)
    )


def _conditions(filter_: DissentFilter, *, embedded: bool) -> Iterator[ColumnElement[bool]]:
    # As in its meeting's own list, there are none before the end.
    yield _meeting.c.status == Status.ENDED.value
    if filter_.participant is not None:
        yield _dissent.c.participant == filter_.participant
    if filter_.format is not None:
        yield _meeting.c.format == filter_.format
    if filter_.cursor is not None:
        yield _behind(filter_.cursor)
    if filter_.text is not None:
        yield from mentions(_dissent, filter_.text, embedded=embedded)


def _behind(cursor: str) -> ColumnElement[bool]:
    at, (id_, number) = dated_parts_of(cursor, ID, NUMBER)
    decided_at: ColumnElement[datetime] = _dissent.c.decided_at
    meeting_id: ColumnElement[str] = _dissent.c.meeting_id
    of_it = (meeting_id == id_) & (_dissent.c.number > int(number))
    return (decided_at < at) | ((decided_at == at) & ((meeting_id < id_) | of_it))


def dissent_listed(row: Any) -> JsonObject:
    """A dissent with what it lost against."""
    return {
        "meeting_id": row["meeting_id"],
        "format": row["format"],
        "topic": row["topic"],
        "result": row["result"],
        "decision": row["decision"],
        "decided_at": rfc3339(row["decided_at"]),
        **dissent_shown(row),
    }
