"""What an append writes beside its events: the rows that follow from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from app.domain.meeting.entries import Content, Event
from app.domain.meeting.events import (
    CancellationClosed,
    DecisionRecorded,
    MeetingCreated,
    MeetingEnded,
    MeetingResumed,
    OperationHappened,
    OperationNoted,
    OperationReconciled,
    ReplyReceived,
)
from app.domain.meeting.state import MeetingState
from app.domain.operation.log import BEGUN
from app.store.closing_rows import Row, ballot_rows, cancellation_row, dissent_rows
from app.store.event_rows import event_of
from app.store.state_rows import changing_columns, encode, new_row, search_text
from app.store.statements import run_many
from app.store.tables import (
    CancellationRow,
    DissentRow,
    EventRow,
    MeetingMetadataRow,
    MeetingRow,
    OperationRow,
    VoteRow,
    table,
)

_event = table(EventRow)
_meeting = table(MeetingRow)
_operation = table(OperationRow)
_ballot = table(VoteRow)
_dissent = table(DissentRow)
_cancellation = table(CancellationRow)


def _delete(closed: Any) -> Any:
    return closed.delete().where(closed.c.meeting_id == bindparam("of_id"))


_INSERT_MEETING = _meeting.insert()
_UPDATE_MEETING = _meeting.update().where(_meeting.c.id == bindparam("of_id"))
_UPDATE_SEARCH = _UPDATE_MEETING.values(search_text=bindparam("new_text"))
_INSERT_METADATA = table(MeetingMetadataRow).insert()
_DELETE_BALLOTS = _delete(_ballot)
_DELETE_DISSENTS = _delete(_dissent)
_DELETE_CANCELLATION = _delete(_cancellation)
_INSERT_BALLOT = _ballot.insert()
_INSERT_DISSENT = _dissent.insert()
_INSERT_CANCELLATION = _cancellation.insert()
_INSERT_OPERATION = _operation.insert()
_MOVE_OPERATION = (
    _operation.update()
    .where(_operation.c.id == bindparam("of_id"))
    .values(
        state=bindparam("now_state"),
        next_check_at=bindparam("now_next"),
        record=bindparam("now_record"),
    )
)


class Projections:
    """Collects the rows of many appends, to write each table's at once and in a safe order."""

    _ORDER = (
        _INSERT_MEETING,
        _UPDATE_MEETING,
        _UPDATE_SEARCH,
        _INSERT_METADATA,
        # What an earlier end left makes way before anything takes its place.
        _DELETE_BALLOTS,
        _DELETE_DISSENTS,
        _DELETE_CANCELLATION,
        _INSERT_BALLOT,
        _INSERT_DISSENT,
        _INSERT_CANCELLATION,
        _INSERT_OPERATION,
        _MOVE_OPERATION,
    )

    def __init__(self) -> None:
        self.rows: defaultdict[Any, list[Row]] = defaultdict(list)
        self._changed: dict[str, MeetingState] = {}
        self._new: dict[str, str] = {}
        self._replies: defaultdict[str, list[Event]] = defaultdict(list)
        self._decided: dict[str, MeetingState] = {}

    def take(self, state: MeetingState, new: Sequence[Event], encoded: Sequence[str]) -> None:
        """Take in the events of one append; ``state`` is what the meeting has become by them."""
        for event, text in zip(new, encoded, strict=True):
            if isinstance(event.content, MeetingCreated):
                self._new[event.meeting_id] = text
            project = _PROJECTIONS.get(type(event.content))
            if project is not None:
                project(self, event, state, event.content)

    def change(self, state: MeetingState) -> None:
        """Take in what a meeting's state has become; by an append of its own or of one below."""
        self._changed[state.meeting.id] = state

    def write(self, connection: Connection) -> None:
        """Write them all. The events that they follow from are not written yet."""
        for id_, state in self._changed.items():
            if id_ in self._new:
                self.rows[_INSERT_MEETING].append(new_row(state, self._new[id_]))
            else:
                self.rows[_UPDATE_MEETING].append({"of_id": id_, **changing_columns(state)})
        for id_, state in self._decided.items():
            replies = [*_stored_replies(connection, id_), *self._replies[id_]]
            self.rows[_INSERT_BALLOT] += ballot_rows(state.meeting, replies)
        for statement in self._ORDER:
            if self.rows[statement]:
                run_many(connection, statement, self.rows[statement])

    # --- what each type of entry adds -----------------------------------------------------------

    def create(self, event: Event, state: MeetingState, _told: MeetingCreated) -> None:
        id_ = event.meeting_id
        for key, value in state.meeting.metadata.items():
            self.rows[_INSERT_METADATA].append({"meeting_id": id_, "key": key, "value": value})

    def reply(self, event: Event, _state: MeetingState, reply: ReplyReceived) -> None:
        if "ballot" in reply.read:
            self._replies[event.meeting_id].append(event)

    def decide(self, event: Event, state: MeetingState, decided: DecisionRecorded) -> None:
        if state.ballots:
            self._decided[event.meeting_id] = state
        self.rows[_INSERT_DISSENT] += dissent_rows(event, state.meeting, decided)

    def end(self, event: Event, state: MeetingState, _told: MeetingEnded) -> None:
        row = {"of_id": event.meeting_id, "new_text": search_text(state)}
        self.rows[_UPDATE_SEARCH].append(row)

    def close_cancel(self, event: Event, state: MeetingState, told: CancellationClosed) -> None:
        self.rows[_INSERT_CANCELLATION].append(cancellation_row(event, state, told))

    def resume(self, event: Event, _state: MeetingState, _told: MeetingResumed) -> None:
        """It has no outcome and no cancellation any more; those that it had stay in the log."""
        id_ = event.meeting_id
        self._decided.pop(id_, None)
        for statement in (_INSERT_DISSENT, _INSERT_CANCELLATION):
            others = [row for row in self.rows[statement] if row["meeting_id"] != id_]
            self.rows[statement] = others
        for statement in (_DELETE_BALLOTS, _DELETE_DISSENTS, _DELETE_CANCELLATION):
            self.rows[statement].append({"of_id": id_})

    def operate(self, event: Event, _state: MeetingState, noted: OperationNoted) -> None:
        operation = noted.operation
        state, next_check = operation.state.value, operation.next_check_at
        record = encode(operation.record())
        if noted.happened == BEGUN:
            first = {
                "id": operation.id,
                "meeting_id": event.meeting_id,
                "requested_at": datetime.fromisoformat(operation.requested_at),
                "state": state,
                "next_check_at": next_check,
                "record": record,
            }
            self.rows[_INSERT_OPERATION].append(first)
        else:
            moved = {"now_state": state, "now_next": next_check, "now_record": record}
            self.rows[_MOVE_OPERATION].append({"of_id": operation.id, **moved})


def _stored_replies(connection: Connection, meeting_id: str) -> list[Event]:
    query = (
        select(_event)
        .where(_event.c.meeting_id == meeting_id, _event.c.type == ReplyReceived.type)
        .order_by(_event.c.seq)
    )
    return [event_of(row) for row in connection.execute(query).mappings()]


_PROJECTIONS: dict[type[Content], Callable[[Projections, Event, MeetingState, Any], None]] = {
    MeetingCreated: Projections.create,
    ReplyReceived: Projections.reply,
    DecisionRecorded: Projections.decide,
    MeetingEnded: Projections.end,
    CancellationClosed: Projections.close_cancel,
    MeetingResumed: Projections.resume,
    OperationHappened: Projections.operate,
    OperationReconciled: Projections.operate,
}
