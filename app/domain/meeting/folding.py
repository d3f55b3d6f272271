"""What each entry of a log changes in a meeting's state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from msgspec import UNSET

from app.domain.meeting import events
from app.domain.meeting.cancellation import (
    STOPPED,
    Cancellation,
    has_stopped,
    may_be_paid,
    under_way,
)
from app.domain.meeting.entries import Content, Entry, Event
from app.domain.meeting.envelope import Unconfirmed
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Outcome
from app.domain.meeting.resumption import resumed
from app.domain.meeting.status import Parked, PendingQuestion, ResumedAt, Status
from app.domain.money import Cost
from app.domain.operation.record import OperationRecord

LATE = "/late"
"""Ends the key under which a reply is kept that came after the cancel (PROTOCOLS 12)."""


def asked_in(reply: Entry) -> str:
    """The step of the request that this reply came to, late ones included."""
    return (reply.step or "").removesuffix(LATE)


class Folding:
    """A state's fields while entries change them: copied once for many, since this runs for every
    entry of every log. What each type of entry changes is the method named after it below."""

    meeting: Meeting
    status: Status
    round: int
    motion: str | None
    replies: int
    ballots: int
    spent: Cost
    unconfirmed: Unconfirmed
    started_at: datetime | None
    ended_at: datetime | None
    deadline: datetime | None
    outcome: Outcome | None
    cancellation: Cancellation | None
    pending_question: PendingQuestion | None
    minutes_path: str | None
    reserved: Mapping[str, events.RequestReserved]
    children: Mapping[str, bool]
    adopted: Mapping[str, bool]
    operations: Mapping[str, OperationRecord]
    resumptions: tuple[ResumedAt, ...]
    seconds_before: float
    parked: Parked | None
    last_seq: int
    last_number: int

    def __init__(self, values: Mapping[str, Any]) -> None:
        vars(self).update(values)

    def take(self, event: Event) -> None:
        content = event.content
        if not content.from_outside:
            # A runner that writes has taken the meeting up again.
            self.parked = None
        change = _CHANGES.get(type(content))
        if change is not None:
            change(self, event, content)
        self.last_seq = event.seq
        self.last_number = event.number or self.last_number

    # --- beginning and end ----------------------------------------------------------------------

    def start(self, event: Event, started: events.MeetingStarted) -> None:
        # A cancel that came before the start stays in force.
        if self.status is Status.SCHEDULED:
            self.status = Status.RUNNING
        self.started_at = event.at
        self.deadline = started.deadline

    def resume(self, event: Event, told: events.MeetingResumed) -> None:
        since = self.resumptions[-1].at if self.resumptions else self.started_at
        if self.ended_at is not None and since is not None:
            self.seconds_before += (self.ended_at - since).total_seconds()
        self.meeting = resumed(self.meeting, told)
        self.resumptions = (*self.resumptions, ResumedAt(told, event.at))
        self.started_at = self.started_at or event.at
        self.deadline = told.deadline
        self.status = Status.RUNNING
        self.ended_at = self.outcome = self.cancellation = self.pending_question = None

    def decide(self, event: Event, _told: events.DecisionRecorded) -> None:
        self.ended_at = event.at
        self.settle()

    def settle(self) -> None:
        """Nobody is waited for any more, and nothing stays reserved.

        A run books what got no answer before it ends a meeting. Logs of before left it to be booked
        here, where there was a limit to keep and the request was not known to have stopped.
        """
        if self.meeting.limits.bounded:
            self.spent += may_be_paid(self.reserved.values(), self.cancellation)
        self.reserved = {}

    def keep_path(self, _event: Event, written: events.MinutesWritten) -> None:
        self.minutes_path = written.path

    def end(self, _event: Event, ended: events.MeetingEnded) -> None:
        self.status = Status.ENDED
        # When the decision stood: what follows it, the minutes on disk, is no part of the meeting.
        self.ended_at = ended.ended_at
        self.pending_question = None
        self.outcome = ended.outcome

    def park(self, event: Event, told: events.MeetingParked) -> None:
        self.parked = Parked(told.reason, event.at)

    # --- rounds and replies ---------------------------------------------------------------------

    def start_round(self, _event: Event, started: events.RoundStarted) -> None:
        self.round = started.round
        if started.motion is not UNSET:
            self.motion = started.motion or self.motion

    def sum_up(self, _event: Event, summed: events.SummaryUpdated) -> None:
        self.motion = summed.motion or self.motion

    def reserve(self, _event: Event, request: events.RequestReserved) -> None:
        self.reserved = {**self.reserved, request.step: request}

    def reply(self, event: Event, reply: events.ReplyReceived) -> None:
        if not reply.late:
            self.replies += 1
        if "ballot" in reply.read:
            self.ballots += 1
        self.office_reply(event, reply)

    def office_reply(self, event: Event, reply: events.Replied) -> None:
        # A reply that never came says nothing of whether the far side is still at work.
        if reply.late and has_stopped(reply.status):
            self._tell_item(reply.request_id, STOPPED)
        if reply.paid is not None:
            self.spent += reply.paid
        self._free(asked_in(event))

    def book(self, _event: Event, unanswered: events.RequestUnanswered) -> None:
        if unanswered.usage is not None:
            self.spent += unanswered.usage
        elif unanswered.booked is not None:
            self.spent += unanswered.booked
            self.unconfirmed += Unconfirmed(1, unanswered.booked)
        self._free(unanswered.step)

    def _free(self, step: str) -> None:
        if step in self.reserved:
            self.reserved = {key: each for key, each in self.reserved.items() if key != step}

    # --- meetings below, saves elsewhere --------------------------------------------------------

    def open_below(self, _event: Event, child: events.ChildOpened) -> None:
        if child.adopted is True:
            self.adopted = {**self.adopted, child.meeting_id: False}
        else:
            self.children = {**self.children, child.meeting_id: False}
        if self.cancellation is not None and self.cancellation.open:
            self.cancellation = self.cancellation.joined(child.meeting_id)

    def end_below(self, _event: Event, child: events.ChildEnded) -> None:
        if child.meeting_id in self.children:
            self.children = {**self.children, child.meeting_id: True}
        else:
            self.adopted = {**self.adopted, child.meeting_id: True}
        if self.cancellation is not None and self.cancellation.open:
            self._tell_item(child.meeting_id, STOPPED)

    def operate(self, _event: Event, noted: events.OperationNoted) -> None:
        self.operations = {**self.operations, noted.operation.id: noted.operation}

    # --- cancelling -----------------------------------------------------------------------------

    def cancel(self, event: Event, told: events.CancellationRequested) -> None:
        self.status = Status.CANCELLING
        self.pending_question = None
        below = [id_ for id_, ended in {**self.children, **self.adopted}.items() if not ended]
        items = under_way(self.reserved.values(), below, self.operations.values())
        self.cancellation = Cancellation(event.at, told.reason, items=tuple(items))

    def know_item(self, _event: Event, told: events.CancelTold) -> None:
        self._tell_item(told.ref, told.state)

    def close_cancel(self, event: Event, closed: events.CancellationClosed) -> None:
        begun = self.cancellation or Cancellation(event.at, None)
        self.cancellation = replace(begun, state=closed.state, items=closed.items)

    def _tell_item(self, ref: str, state: str) -> None:
        if self.cancellation is not None:
            self.cancellation = self.cancellation.told(ref, state)

    # --- arbitration ----------------------------------------------------------------------------

    def open_question(self, event: Event, opened: events.ArbitrationOpened) -> None:
        self.status = Status.AWAITING_RULING
        self.pending_question = PendingQuestion(opened, event.at)

    def close_question(self, _event: Event, _closed: Content) -> None:
        if self.status is Status.AWAITING_RULING:
            self.status = Status.RUNNING
        self.pending_question = None


_CHANGES: Mapping[type[Content], Callable[[Folding, Event, Any], None]] = {
    events.MeetingStarted: Folding.start,
    events.MeetingResumed: Folding.resume,
    events.MeetingParked: Folding.park,
    events.RoundStarted: Folding.start_round,
    events.RequestReserved: Folding.reserve,
    events.RequestUnanswered: Folding.book,
    events.ReplyReceived: Folding.reply,
    events.OfficeReplied: Folding.office_reply,
    events.SummaryUpdated: Folding.sum_up,
    events.ArbitrationOpened: Folding.open_question,
    events.ArbitrationRuled: Folding.close_question,
    events.ArbitrationExpired: Folding.close_question,
    events.CancellationRequested: Folding.cancel,
    events.CancellationAcknowledged: Folding.know_item,
    events.CancellationTold: Folding.know_item,
    events.CancellationClosed: Folding.close_cancel,
    events.ChildOpened: Folding.open_below,
    events.ChildEnded: Folding.end_below,
    events.OperationHappened: Folding.operate,
    events.OperationReconciled: Folding.operate,
    events.DecisionRecorded: Folding.decide,
    events.MinutesWritten: Folding.keep_path,
    events.MeetingEnded: Folding.end,
}
