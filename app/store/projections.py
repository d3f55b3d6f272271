"""What an append writes beside its events: the rows that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam

from app.domain.meeting import events
from app.domain.meeting.events import Event
from app.domain.meeting.state import MeetingState
from app.domain.operation.log import BEGUN
from app.store.state_rows import changing_columns, encode, new_row, search_text
from app.store.statements import run_many
from app.store.tables import (
    CancellationRow,
    DissentRow,
    MeetingMetadataRow,
    MeetingRow,
    OperationRow,
    ParticipantRow,
    ReplyRow,
    RoundRow,
    table,
)

_meeting = table(MeetingRow)
_round = table(RoundRow)
_dissent = table(DissentRow)
_cancellation = table(CancellationRow)

_UPDATE_MEETING = _meeting.update().where(_meeting.c.id == bindparam("of_id"))
_UPDATE_SEARCH = _UPDATE_MEETING.values(search_text=bindparam("new_text"))
_IN_ROUND = (_round.c.meeting_id == bindparam("of_id")) & (_round.c.number == bindparam("of_round"))
_CLOSE_ROUND = (
    _round.update()
    .where(_IN_ROUND)
    .values(closed_at=bindparam("at"), consensus=bindparam("reached"))
)
_SUM_UP_ROUND = _round.update().where(_IN_ROUND).values(summary=bindparam("text"))
_CLOSE_CANCELLATION = (
    _cancellation.update()
    .where(_cancellation.c.meeting_id == bindparam("of_id"))
    .values(state=bindparam("now_state"), items=bindparam("now_items"))
)
_DELETE_DISSENTS = _dissent.delete().where(_dissent.c.meeting_id == bindparam("of_id"))
_DELETE_CANCELLATION = _cancellation.delete().where(
    _cancellation.c.meeting_id == bindparam("of_id")
)
_operation = table(OperationRow)
_MOVE_OPERATION = (
    _operation.update()
    .where(_operation.c.id == bindparam("of_id"))
    .values(
        state=bindparam("now_state"),
        next_check_at=bindparam("now_next"),
        record=bindparam("now_record"),
    )
)
_INSERT_MEETING = _meeting.insert()
_INSERT_ROUND = _round.insert()
_INSERT_OPERATION = _operation.insert()
_INSERT_REPLY = table(ReplyRow).insert()
_INSERT_PARTICIPANT = table(ParticipantRow).insert()
_INSERT_METADATA = table(MeetingMetadataRow).insert()
_INSERT_DISSENT = _dissent.insert()
_INSERT_CANCELLATION = _cancellation.insert()


class Projections:
    """Collects the rows of many appends, to write each table's at once and in a safe order."""

    _ORDER = (
        _INSERT_MEETING,
        _UPDATE_MEETING,
        _UPDATE_SEARCH,
        _INSERT_PARTICIPANT,
        _INSERT_METADATA,
        _INSERT_ROUND,
        _CLOSE_ROUND,
        _SUM_UP_ROUND,
        _INSERT_REPLY,
        # What an earlier end left makes way before anything takes its place.
        _DELETE_DISSENTS,
        _DELETE_CANCELLATION,
        _INSERT_DISSENT,
        _INSERT_CANCELLATION,
        _CLOSE_CANCELLATION,
        _INSERT_OPERATION,
        _MOVE_OPERATION,
    )

    def __init__(self) -> None:
        self._rows: dict[Any, list[dict[str, Any]]] = {statement: [] for statement in self._ORDER}
        self._changed: dict[str, MeetingState] = {}
        self._new: dict[str, str] = {}

    def take(self, state: MeetingState, new: Sequence[Event], encoded: Sequence[str]) -> None:
        """Take in the events of one append; ``state`` is what the meeting has become by them."""
        for event, text in zip(new, encoded, strict=True):
            if event.type == events.MEETING_CREATED:
                self._new[event.meeting_id] = text
            project = _PROJECTIONS.get(event.type)
            if project is not None:
                project(self._rows, event, state)

    def change(self, state: MeetingState) -> None:
        """Take in what a meeting's state has become; by an append of its own or of one below."""
        self._changed[state.meeting.id] = state

    def write(self, connection: Connection) -> None:
        for id_, state in self._changed.items():
            if id_ in self._new:
                self._rows[_INSERT_MEETING].append(new_row(state, self._new[id_]))
            else:
                self._rows[_UPDATE_MEETING].append({"of_id": id_, **changing_columns(state)})
        for statement in self._ORDER:
            if self._rows[statement]:
                run_many(connection, statement, self._rows[statement])


_Rows = dict[Any, list[dict[str, Any]]]


def _created(rows: _Rows, event: Event, state: MeetingState) -> None:
    id_ = event.meeting_id
    for number, seat in enumerate(state.meeting.seats):
        row = {**seat.record(), "weight": str(seat.weight), "meeting_id": id_, "seat": number}
        rows[_INSERT_PARTICIPANT].append(row)
    for key, value in state.meeting.metadata.items():
        rows[_INSERT_METADATA].append({"meeting_id": id_, "key": key, "value": value})


def _round_started(rows: _Rows, event: Event, _state: MeetingState) -> None:
    rows[_INSERT_ROUND].append(
        {
            "meeting_id": event.meeting_id,
            "number": event.data["round"],
            "motion": event.data.get("motion"),
            "started_at": event.at,
        }
    )


def _round_closed(rows: _Rows, event: Event, _state: MeetingState) -> None:
    rows[_CLOSE_ROUND].append(
        {
            "of_id": event.meeting_id,
            "of_round": event.data["round"],
            "at": event.at,
            "reached": event.data.get("consensus"),
        }
    )


def _summary(rows: _Rows, event: Event, _state: MeetingState) -> None:
    rows[_SUM_UP_ROUND].append(
        {
            "of_id": event.meeting_id,
            "of_round": event.data["round"],
            "text": event.data["summary"],
        }
    )


def _reply(rows: _Rows, event: Event, _state: MeetingState) -> None:
    if event.data.get("late"):
        return
    usage = event.data["usage"] or {}
    rows[_INSERT_REPLY].append(
        {
            "meeting_id": event.meeting_id,
            "seq": event.seq,
            "round": event.data["round"],
            "participant": event.data["participant"],
            "attempt": event.data["attempt"],
            "final": event.data["final"],
            "status": event.data["status"],
            "stance": event.data.get("stance"),
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "usd": usage.get("usd"),
        }
    )


def _cancellation_requested(rows: _Rows, event: Event, _state: MeetingState) -> None:
    rows[_INSERT_CANCELLATION].append(
        {
            "meeting_id": event.meeting_id,
            "requested_at": event.at,
            "reason": event.data["reason"],
            "state": "requested",
            "items": "[]",
        }
    )


def _cancellation_closed(rows: _Rows, event: Event, _state: MeetingState) -> None:
    rows[_CLOSE_CANCELLATION].append(
        {
            "of_id": event.meeting_id,
            "now_state": event.data["state"],
            "now_items": encode(event.data["items"]),
        }
    )


def _resumed(rows: _Rows, event: Event, _state: MeetingState) -> None:
    """It has no outcome and no cancellation any more; those that it had stay in the log."""
    rows[_DELETE_DISSENTS].append({"of_id": event.meeting_id})
    rows[_DELETE_CANCELLATION].append({"of_id": event.meeting_id})


def _operation_happened(rows: _Rows, event: Event, _state: MeetingState) -> None:
    operation = event.data["operation"]
    row = {
        "state": operation["state"],
        "next_check_at": operation["next_check_at"],
        "record": encode(operation),
    }
    if event.data["happened"] == BEGUN:
        begun = datetime.fromisoformat(operation["requested_at"])
        first = {"id": operation["id"], "meeting_id": event.meeting_id, "requested_at": begun}
        rows[_INSERT_OPERATION].append(first | row)
        return
    moved = {"now_state": row["state"], "now_next": row["next_check_at"]}
    rows[_MOVE_OPERATION].append({"of_id": operation["id"], **moved, "now_record": row["record"]})


def _ended(rows: _Rows, event: Event, state: MeetingState) -> None:
    rows[_UPDATE_SEARCH].append({"of_id": event.meeting_id, "new_text": search_text(state)})
    for number, dissent in enumerate(event.data["outcome"]["dissents"]):
        rows[_INSERT_DISSENT].append({"meeting_id": event.meeting_id, "number": number, **dissent})


_PROJECTIONS: dict[str, Callable[[_Rows, Event, MeetingState], None]] = {
    events.MEETING_CREATED: _created,
    events.ROUND_STARTED: _round_started,
    events.ROUND_CLOSED: _round_closed,
    events.SUMMARY_UPDATED: _summary,
    events.REPLY_RECEIVED: _reply,
    events.CANCELLATION_REQUESTED: _cancellation_requested,
    events.CANCELLATION_CLOSED: _cancellation_closed,
    events.MEETING_RESUMED: _resumed,
    events.OPERATION_HAPPENED: _operation_happened,
    events.OPERATION_RECONCILED: _operation_happened,
    events.MEETING_ENDED: _ended,
}
