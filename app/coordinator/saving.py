"""Saves something at the meeting's destination and sees that it is there (PROTOCOLS 13).

What has happened is read from the log, what is to be done now is decided by the domain's rules,
and here it is done: that a write leaves is durable before it does, so after a crash a look comes
before any other write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import datetime
from typing import Any, TypeVar

from app.coordinator.journal import Journal
from app.coordinator.pausing import Paused
from app.coordinator.ports import Clock, Destinations
from app.coordinator.replay import check_fingerprint, fingerprint
from app.domain.meeting.entries import Content, Entry
from app.domain.meeting.events import OperationHappened
from app.domain.meeting.meeting import Destination
from app.domain.meeting.outcome import StopReason
from app.domain.operation.deciding import LONGEST_PATIENCE, decide
from app.domain.operation.log import (
    TOLD,
    begun,
    content_of,
    entries_of,
    happened,
    operation_id,
    operation_record,
    operation_state,
    owner_of,
    recognised,
    replaced_by,
)
from app.domain.operation.state import OperationState, cut_short
from app.domain.operation.terms import (
    Check,
    Checked,
    Fate,
    Finding,
    GivenUp,
    GiveUp,
    HandedOver,
    HandOver,
    Look,
    Operation,
    OperationHappening,
    OperationStatus,
    OperationWait,
    Sent,
    Subject,
    Write,
    WriteAnswer,
    Written,
    sha256_of,
)
from app.domain.steps import Save, Saved, Stopped

_T = TypeVar("_T")

_CANCELLED = "The meeting was cancelled before it was confirmed."
_TIME_OVER = "The meeting's time was over before it was confirmed."


class Saving:
    """One operation of a meeting at work. ``until`` is when its time is over.

    ``subject`` says what is saved; the step is where.
    """

    def __init__(
        self,
        step: Save,
        subject: Subject,
        destination: Destination,
        journal: Journal,
        clock: Clock,
        destinations: Destinations,
        until: datetime,
    ) -> None:
        self._step = step
        self._subject: Subject = subject
        self._destination = destination
        self._journal = journal
        self._clock = clock
        self._destinations = destinations
        self._until = until
        self._id = operation_id(journal.state.meeting, step.key)
        self._call: asyncio.Task[Any] | None = None

    async def hold(self) -> Saved:
        """What became of it.

        Raises ``Stopped`` where a cancel came before it was begun, and ``Paused`` while only time
        must pass.
        """
        await self._journal.flush()
        await self._begin()
        while True:
            await self._journal.flush()
            state = self._state()
            if state.ended or state.status is OperationStatus.HANDED_OVER:
                break
            why = self._cut_short_by()
            if why is None:
                await self._act(state)
                continue
            # Nothing new is sent any more; what may be there already stays unknown.
            last = cut_short(state, self._clock.now(), why)
            if last is None:
                break
            self._note(last)
        return Saved(operation_record(self._journal.meeting_id, state))

    def abort(self) -> None:
        """Stop waiting for whatever is in flight."""
        if self._call is not None:
            self._call.cancel()

    async def _begin(self) -> None:
        noted = entries_of(self._journal.entries, self._id)
        if noted:
            check_fingerprint(noted[0], self._step)
            return
        if self._journal.state.cancellation is not None:
            raise Stopped(StopReason.CANCELLATION)
        meeting, now = self._journal.state.meeting, self._clock.now()
        operation = Operation(
            self._id,
            self._destination.url,
            sha256_of(self._step.content.encode()),
            owner_of(meeting, self._destination),
            now,
            self._destination.check_deadline_seconds,
            self._subject,
        )
        state = OperationState(operation)
        first = begun(meeting.id, state, self._step.content)
        self._journal.add(
            self._entry("begun", first, fingerprint(self._step)),
            self._announcement(state),
        )

    def _cut_short_by(self) -> str | None:
        if self._journal.state.cancellation is not None:
            return _CANCELLED
        return _TIME_OVER if self._clock.now() >= self._until else None

    async def _act(self, state: OperationState) -> None:
        if not state.writes and state.checked is None and self._earlier_is_open():
            # What an earlier end of this meeting has sent there may be this already.
            await self._look(state, Check(LONGEST_PATIENCE))
            return
        match decide(state, self._clock.now()):
            case Write() as write:
                await self._write(state, write)
            case Check() as check:
                await self._look(state, check)
            case HandOver(_, next_check):
                self._note(HandedOver(self._clock.now(), next_check))
            case GiveUp(reason):
                self._note(GivenUp(self._clock.now(), reason))
            case OperationWait(datetime() as until):
                raise Paused(min(until, self._until))
            case action:
                raise AssertionError(f"{self._id} has ended, and yet: {action}")

    def _earlier_is_open(self) -> bool:
        """Whether an earlier save at this place may have arrived: nothing is written over that
        before a look (PROTOCOLS 13)."""
        others = [each for id_, each in self._journal.state.operations.items() if id_ != self._id]
        return any(each.open and each.url == self._destination.url for each in others)

    async def _write(self, state: OperationState, write: Write) -> None:
        sent = self._entry_for(Sent(self._clock.now()))
        if not await self._journal.append_if_unchanged(sent):
            return  # Somebody was heard first, and it may have been a cancel.
        content = content_of(entries_of(self._journal.entries, self._id)).encode()
        sending = self._destinations.write(state.operation, content, write)
        try:
            answer = await self._unless_stopped(sending)
        except Exception as bug:
            # Whatever went wrong, the write may have left.
            answer = WriteAnswer(Fate.UNCLEAR, failed_here(bug))
        if answer is not None:
            self._note(Written(self._clock.now(), answer))

    async def _look(self, state: OperationState, check: Check) -> None:
        try:
            finding = await self._unless_stopped(self._destinations.look(state.operation, check))
        except Exception as bug:
            finding = Finding(Look.NO_ANSWER, failed_here(bug))
        if finding is not None:
            found = recognised(self._journal.entries, state.operation, finding)
            self._note(Checked(self._clock.now(), found))

    async def _unless_stopped(self, call: Coroutine[Any, Any, _T]) -> _T | None:
        """What the call gives; None if the meeting must end before it has given anything."""
        self._call = task = asyncio.ensure_future(call)
        timer = self._clock.call_at(self._until, task.cancel)
        try:
            await asyncio.wait([task])
        finally:
            self._call = None
            timer.cancel()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return None if task.cancelled() else task.result()

    # --- the log --------------------------------------------------------------------------------

    def _state(self) -> OperationState:
        return operation_state(entries_of(self._journal.entries, self._id))

    def _note(self, happening: OperationHappening) -> None:
        before = self._state()
        after = before.after(happening)
        self._journal.add(self._entry_for(happening))
        if after.status is before.status:
            return
        self._journal.add(self._announcement(after))
        if after.status is OperationStatus.CONFIRMED:
            self._note_replaced(after.operation)

    def _note_replaced(self, operation: Operation) -> None:
        """What an earlier leg saved there is there no longer."""
        now = self._clock.now()
        for other, replaced in list(replaced_by(self._journal.entries, operation, now)):
            after = other.after(replaced)
            noted = happened(OperationHappened, self._journal.meeting_id, after, replaced)
            self._journal.add(self._entry(f"replaced-{other.operation.id}", noted))

    def _entry_for(self, happening: OperationHappening) -> Entry:
        noted = entries_of(self._journal.entries, self._id)
        after = operation_state(noted).after(happening)
        told = happened(OperationHappened, self._journal.meeting_id, after, happening)
        return self._entry(f"happened-{len(noted)}", told)

    def _announcement(self, state: OperationState) -> Entry:
        operation = operation_record(self._journal.meeting_id, state)
        return self._entry(state.status.value, TOLD[state.status](operation=operation))

    def _entry(self, name: str, content: Content, fingerprint_: str | None = None) -> Entry:
        return Entry(content, self._clock.now(), f"{self._step.key}/{name}", fingerprint_)


def failed_here(bug: Exception) -> str:
    """What to say of a call that ended in a fault of ours."""
    return f"The call to the destination failed on our side ({type(bug).__name__})."
