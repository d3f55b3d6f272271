"""Operations as they stand in a meeting's log (PROTOCOLS 13).

Each happening is an entry whose data is the happening, with the operation's whole record after it
beside. A run notes ``operation.happened``; a look after the meeting's end, or one that a caller
asked for, is an ``operation.reconciled``, which any process may append at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import TypeVar, cast

from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.events import OperationHappened, OperationNoted, OperationTold
from app.domain.meeting.meeting import Destination, Meeting
from app.domain.operation.record import OperationRecord
from app.domain.operation.state import OperationState
from app.domain.operation.terms import (
    Finding,
    Look,
    Operation,
    OperationHappening,
    OperationStatus,
    Replaced,
    happening_read,
    happening_record,
)

NOBODY_NAMED = "caller"
"""Whose a save is to see to where the request names no owner and no person as arbiter."""

TOLD: Mapping[OperationStatus, type[OperationTold]] = {
    OperationStatus.REQUESTED: events.OperationRequested,
    OperationStatus.CONFIRMED: events.OperationConfirmed,
    OperationStatus.FAILED: events.OperationFailed,
    OperationStatus.UNKNOWN: events.OperationUnknown,
    OperationStatus.HANDED_OVER: events.OperationHandedOver,
}
"""The public event that tells of a state."""

BEGUN = "requested"
"""What an operation's first entry says has happened."""

_Noted = TypeVar("_Noted", bound=OperationNoted)


def operation_id(meeting: Meeting, step: str) -> str:
    """The same for the same step of the same leg of a meeting, so that a replay finds it."""
    told = f"{step}#{len(meeting.resumptions)}"
    digest = blake2b(told.encode(), digest_size=8).hexdigest()
    return f"op_{meeting.id.removeprefix('mtg_')}_{digest}"


def owner_of(meeting: Meeting, destination: Destination) -> str:
    """Who sees to a save that stays open: the one named, else the person who may rule."""
    arbiter = meeting.arbiter
    person = arbiter.name if arbiter is not None and arbiter.kind == "human" else None
    return destination.owner or person or NOBODY_NAMED


def operation_record(meeting_id: str, state: OperationState) -> OperationRecord:
    """The operation as callers see it."""
    return OperationRecord.read({"meeting_id": meeting_id, **state.record()})


def begun(meeting_id: str, state: OperationState, content: str) -> OperationHappened:
    """An operation's first entry. It holds the content too: what goes out after a restart is what
    was announced, whatever the code would write by then."""
    record = operation_record(meeting_id, state)
    return OperationHappened(happened=BEGUN, content=content, operation=record)


def happened(
    kind: type[_Noted], meeting_id: str, state: OperationState, happening: OperationHappening
) -> _Noted:
    """The entry for a happening; ``state`` is the operation's after it."""
    record = happening_record(happening)
    name = record.pop("happened")
    operation = operation_record(meeting_id, state)
    return kind(happened=name, happening=record, operation=operation)


def entries_of(log: Iterable[Event], id_: str) -> list[Event]:
    """What is noted of one operation, in order."""
    return [entry for entry in log if _notes(entry, id_)]


def _notes(entry: Event, id_: str) -> bool:
    return isinstance(entry.content, OperationNoted) and entry.content.operation.id == id_


def _noted(entry: Event) -> OperationNoted:
    return cast("OperationNoted", entry.content)


def operation_state(noted: Iterable[Event]) -> OperationState:
    """Where the operation stands of which these entries are all that is noted."""
    first, *rest = noted
    operation = Operation.read(_noted(first).operation.record())
    return OperationState.of(operation, (_happening(entry) for entry in rest))


def _happening(entry: Event) -> OperationHappening:
    noted = _noted(entry)
    return happening_read({"happened": noted.happened, **noted.happening}, entry.at)


def recognised(log: Iterable[Event], operation: Operation, finding: Finding) -> Finding:
    """The finding, naming the operation that sent what is there instead, if another of the meeting
    has: the latest of several."""
    if finding.look is not Look.DIFFERENT or finding.sha256 is None:
        return finding
    sent = [
        other.operation.id
        for other in _at_the_same_place(log, operation)
        if other.writes and other.operation.sha256 == finding.sha256
    ]
    return replace(finding, ours=sent[-1]) if sent else finding


def replaced_by(
    log: Iterable[Event], operation: Operation, at: datetime
) -> Iterator[tuple[OperationState, Replaced]]:
    """Whatever other content is down as confirmed where this operation's was found, as it stood:
    it is no longer there."""
    later = False
    for other in _at_the_same_place(log, operation):
        if other.operation.id == operation.id:
            later = True
        elif _claims_the_place(other) and other.operation.sha256 != operation.sha256:
            yield other, Replaced(at, operation.id, in_turn=not later)


def _claims_the_place(state: OperationState) -> bool:
    return state.status is OperationStatus.CONFIRMED and state.there_instead is None


def _at_the_same_place(log: Iterable[Event], operation: Operation) -> list[OperationState]:
    """The meeting's operations there, this one among them, in the order of their beginning."""
    noted: dict[str, list[Event]] = {}
    for entry in log:
        content = entry.content
        if isinstance(content, OperationNoted) and content.operation.url == operation.url:
            noted.setdefault(content.operation.id, []).append(entry)
    return [operation_state(entries) for entries in noted.values()]


def content_of(noted: Iterable[Event]) -> str:
    """What the operation is to save."""
    return _noted(next(iter(noted))).content or ""


def under_way(log: Iterable[Event], id_: str) -> bool:
    """Whether a run of the meeting is at work on the operation, or will be again."""
    running = False
    for entry in log:
        if isinstance(entry.content, events.MeetingEnded | events.MeetingResumed):
            running = False
        elif _notes(entry, id_):
            running = running or _noted(entry).happened == BEGUN
    return running
