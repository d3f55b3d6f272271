"""Looks after what a meeting's end left open at its destination (PROTOCOLS 13).

After the end there are only looks: nothing is written any more. What a look shows goes into the
log and is no public event, since nothing public follows a meeting's end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeGuard

from app.coordinator.ports import Clock, Destinations, EventLog
from app.coordinator.saving import failed_here
from app.domain.errors import LogConflict, NotFound
from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import OperationReconciled
from app.domain.meeting.state import fold
from app.domain.operation.deciding import LONGEST_PATIENCE, decide
from app.domain.operation.log import (
    entries_of,
    happened,
    operation_record,
    operation_state,
    recognised,
    replaced_by,
    under_way,
)
from app.domain.operation.record import OperationRecord
from app.domain.operation.state import OperationState, is_news
from app.domain.operation.terms import (
    Check,
    Checked,
    Finding,
    GivenUp,
    GiveUp,
    HandedOver,
    HandOver,
    Look,
    OperationHappening,
    OperationStatus,
    OperationWait,
    Write,
)

_NEVER_SENT = "The meeting ended before it was sent."


class Reconciliation:
    """Any process may look at any operation. ``wake`` is told of a meeting in which a look that was
    asked for may have left more to look at."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        destinations: Destinations,
        wake: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._log = log
        self._clock = clock
        self._destinations = destinations
        self._wake = wake

    async def tend(self, meeting_id: str) -> datetime | None:
        """Do what is due for the operations that an ended meeting left open.

        The time from which there is something to do again; None: never by itself.
        """
        times: dict[str, datetime | None] = {}
        # A look at one may show that another is not there any more.
        while left := [id_ for id_ in await self._open(meeting_id) if id_ not in times]:
            for id_ in left:
                times[id_] = await self._tend(meeting_id, id_)
        return min((at for at in times.values() if at is not None), default=None)

    async def _open(self, meeting_id: str) -> list[str]:
        operations = fold(await self._log.read(meeting_id)).operations
        return [id_ for id_, record in operations.items() if record.open]

    async def look(self, meeting_id: str, id_: str) -> OperationRecord:
        """The operation's record after one look now.

        Without a look if it has ended, or while a run of the meeting is at work on it and looks by
        itself. A look moves no schedule, and leaves no trace if it has shown nothing new. Raises
        ``NotFound``.
        """
        log = await self._log.read(meeting_id)
        noted = entries_of(log, id_)
        if not noted:
            raise NotFound(f"There is no operation {id_}.")
        state = operation_state(noted)
        if state.ended or under_way(log, id_):
            return operation_record(meeting_id, state)
        found = await self._find(log, state, Check(LONGEST_PATIENCE), asked=True)
        after = await self._note(meeting_id, id_, found)
        if after.status is OperationStatus.CONFIRMED:
            self._wake(meeting_id)  # Another may have been there until then.
        return operation_record(meeting_id, after)

    async def _tend(self, meeting_id: str, id_: str) -> datetime | None:
        while True:
            log = await self._log.read(meeting_id)
            if under_way(log, id_):
                return None  # The meeting has been resumed, and its run sees to it.
            state, now = operation_state(entries_of(log, id_)), self._clock.now()
            match decide(state, now):
                case Check() as check:
                    await self._note(meeting_id, id_, await self._find(log, state, check))
                case HandOver(_, next_check):
                    await self._note(meeting_id, id_, HandedOver(now, next_check))
                case GiveUp(reason):
                    await self._note(meeting_id, id_, GivenUp(now, reason))
                case Write() if state.deadline is None:
                    await self._note(meeting_id, id_, GivenUp(now, _NEVER_SENT))
                case Write():
                    return state.deadline
                case OperationWait(until):
                    return until
                case _:
                    return None

    async def _find(
        self, log: Sequence[Event], state: OperationState, check: Check, *, asked: bool = False
    ) -> Checked:
        try:
            finding = await self._destinations.look(state.operation, check)
        except Exception as bug:
            finding = Finding(Look.NO_ANSWER, failed_here(bug))
        found = recognised(log, state.operation, finding)
        return Checked(self._clock.now(), found, asked)

    async def _note(
        self, meeting_id: str, id_: str, happening: OperationHappening
    ) -> OperationState:
        """Where the operation stands with this noted, unless it had ended before."""
        while True:
            log = await self._log.read(meeting_id)
            before = operation_state(entries_of(log, id_))
            if before.ended:
                return before
            after = before.after(happening)
            if _asked(happening) and not is_news(before, happening):
                return after
            try:
                await self._log.append(
                    meeting_id, log[-1].seq, list(_entries(log, after, happening))
                )
            except LogConflict:
                continue
            return after


def _asked(happening: OperationHappening) -> TypeGuard[Checked]:
    return isinstance(happening, Checked) and happening.asked


def _entries(
    log: Sequence[Event], after: OperationState, happening: OperationHappening
) -> Iterator[Entry]:
    """The happening, and what it means for other operations there."""
    yield _entry(log, after, happening)
    if after.status is OperationStatus.CONFIRMED:
        for other, replaced in replaced_by(log, after.operation, happening.at):
            yield _entry(log, other.after(replaced), replaced)


def _entry(log: Sequence[Event], after: OperationState, happening: OperationHappening) -> Entry:
    noted = happened(OperationReconciled, log[0].meeting_id, after, happening)
    return Entry(noted, happening.at)
