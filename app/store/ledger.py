"""What a batch of appends comes to, before it is written: states, and what trees of meetings draw.

All meetings that an append touches, those above it included, are held still meanwhile by the log's
writer, so what is refused here could not have been allowed, and the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from app.coordinator.ports import Idempotency
from app.domain.errors import CancelledAbove, LogConflict, NoRoom, NotFound
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.envelope import UNTOUCHED
from app.domain.meeting.events import MeetingCreated, MeetingResumed
from app.domain.meeting.state import MeetingState, fold
from app.domain.meeting.tree import (
    cancelled,
    check_open,
    drawn_since,
    reserves,
    told_above,
    without_room,
)

States = dict[str, MeetingState]


@dataclass(frozen=True, slots=True)
class Append:
    """Entries to follow the entry ``expected`` of a meeting's log."""

    meeting_id: str
    expected: int
    entries: Sequence[Entry]
    idempotency: Idempotency | None = None

    @property
    def creates(self) -> bool:
        return isinstance(self.entries[0].content, MeetingCreated)

    @property
    def ancestors(self) -> Sequence[str]:
        """The meetings above a new one; of others the state knows them."""
        first = self.entries[0].content
        return first.meeting.ancestors if isinstance(first, MeetingCreated) else ()


@dataclass(slots=True)
class Made:
    """What one append comes to, before the commit."""

    append: Append
    state: MeetingState
    events: list[Event]
    encoded: list[str]


class Ledger:
    """``made`` are the appends taken so far with their consequences, ``changed`` the states after
    them."""

    def __init__(self, states: States) -> None:
        self._states = states
        self.made: list[Made] = []
        self.changed: States = {}

    def take(self, append: Append) -> Sequence[Event]:
        """Take one append in, or raise why it cannot be written; then it has changed nothing.

        Raises ``LogConflict``, ``NotFound``, ``NoRoom``, ``CancelledAbove`` or ``ParentClosed``.
        """
        before = self._states.get(append.meeting_id)
        found = 0 if before is None else before.last_seq
        if found != append.expected:
            raise LogConflict(append.meeting_id, append.expected, found)
        if before is None and not append.creates:
            raise NotFound(f"There is no meeting {append.meeting_id}.")
        made = _make(append, before)
        above = self._above(made.state)
        if isinstance(made.events[0].content, MeetingCreated | MeetingResumed) and above:
            check_open(above[0], above[1:])
        if before is not None and reserves(append.entries):
            _check_reserving(made, before, above)
        self._keep(made)
        if above:
            self._tell(made, before, above)
        return made.events

    def _above(self, state: MeetingState) -> list[MeetingState]:
        """The meetings above it, the parent first."""
        try:
            return [self._states[id_] for id_ in reversed(state.meeting.ancestors)]
        except KeyError as missing:
            raise NotFound(f"There is no meeting {missing.args[0]}.") from None

    def _tell(self, made: Made, before: MeetingState | None, above: Sequence[MeetingState]) -> None:
        """Have the meetings above count what was drawn, and learn of beginning and end."""
        change = drawn_since(before, made.state)
        if change != UNTOUCHED:
            for each in above:
                self._change(replace(each, below=each.below + change))
        for id_, entry in told_above(made.state, made.events, above):
            state = self._states[id_]
            self._keep(_make(Append(id_, state.last_seq, (entry,)), state))

    def _keep(self, made: Made) -> None:
        self.made.append(made)
        self._change(made.state)

    def _change(self, state: MeetingState) -> None:
        self._states[state.meeting.id] = self.changed[state.meeting.id] = state


def _check_reserving(made: Made, before: MeetingState, above: Sequence[MeetingState]) -> None:
    """Raises ``CancelledAbove`` or ``NoRoom`` if not all of the requests may be sent."""
    by = cancelled(made.state, above)
    if by is not None:
        raise CancelledAbove(by)
    refused = without_room(before, made.events, above)
    if refused:
        raise NoRoom(before.meeting.id, refused)


def _make(append: Append, state: MeetingState | None) -> Made:
    seq = append.expected
    number = 0 if state is None else state.last_number
    made: list[Event] = []
    encoded: list[str] = []
    for entry in append.entries:
        seq += 1
        if not entry.internal:
            number += 1
        event = Event(
            content=entry.content,
            at=entry.at,
            step=entry.step,
            fingerprint=entry.fingerprint,
            meeting_id=append.meeting_id,
            seq=seq,
            number=None if entry.internal else number,
        )
        made.append(event)
        encoded.append(entry.content.encoded().decode())
    state = fold(made) if state is None else state.after(*made)
    return Made(append, state, made, encoded)
