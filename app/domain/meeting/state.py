"""Where a meeting stands: what the meeting resource shows, folded from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from msgspec import UNSET, Struct, field
from msgspec.structs import asdict

from app.domain.meeting import events
from app.domain.meeting.cancellation import (
    STOPPED,
    Cancellation,
    has_stopped,
    may_be_paid,
    under_way,
)
from app.domain.meeting.entries import Content, Entry, Event
from app.domain.meeting.envelope import UNTOUCHED, Drawn, Envelope
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Outcome
from app.domain.meeting.resumption import resumed
from app.domain.money import NOTHING, Cost
from app.domain.operation.record import OperationRecord
from app.domain.values import Json, JsonObject, JsonValue, rfc3339


class Status(StrEnum):
    SCHEDULED = "scheduled"
    RUNNING = "running"
    AWAITING_RULING = "awaiting_ruling"
    CANCELLING = "cancelling"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """What waits for a ruling, and since when."""

    asked: events.ArbitrationOpened
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class Parked:
    """Why no process at hand can replay the log, and since when."""

    reason: str
    since: datetime

    def record(self) -> dict[str, JsonValue]:
        return {"reason": self.reason, "since": rfc3339(self.since)}


@dataclass(frozen=True, slots=True)
class ResumedAt:
    """One resuming, and when it was."""

    told: events.MeetingResumed
    at: datetime


class MeetingState(Struct, frozen=True):
    """A meeting and how far it has come. ``last_seq`` counts all entries of its log,
    ``last_number`` the public ones; ``replies`` are the participants', and ``ballots`` those of all
    replies, late ones included, in which a ballot was looked for.

    ``reserved`` holds the requests under way by their step, ``children`` the meetings opened from
    this one and whether each has ended, ``adopted`` likewise those that a child left open below
    it when it ended, ``operations`` what became of each save. ``below`` is what
    all meetings further down have drawn: it lies in their logs and not in this one, so the log's
    writer keeps it. ``seconds_before`` is the time that was taken up before the latest resuming.
    """

    meeting: Meeting
    plan: JsonObject
    warnings: Sequence[str]
    agents: Mapping[str, JsonObject]
    created_at: datetime
    status: Status = Status.SCHEDULED
    round: int = 0
    motion: str | None = None
    replies: int = 0
    ballots: int = 0
    spent: Cost = NOTHING
    started_at: datetime | None = None
    ended_at: datetime | None = None
    deadline: datetime | None = None
    outcome: Outcome | None = None
    cancellation: Cancellation | None = None
    pending_question: PendingQuestion | None = None
    minutes_path: str | None = None
    reserved: Mapping[str, events.RequestReserved] = field(default_factory=dict[str, Any])
    children: Mapping[str, bool] = field(default_factory=dict[str, bool])
    adopted: Mapping[str, bool] = field(default_factory=dict[str, bool])
    operations: Mapping[str, OperationRecord] = field(default_factory=dict[str, Any])
    below: Drawn = UNTOUCHED
    resumptions: tuple[ResumedAt, ...] = ()
    seconds_before: float = 0.0
    parked: Parked | None = None
    last_seq: int = 0
    last_number: int = 0

    @property
    def ended(self) -> bool:
        return self.status is Status.ENDED

    @property
    def decided(self) -> bool:
        """Whether its decision stands, though its record may still be on the way."""
        return self.ended_at is not None

    @property
    def resumed_at(self) -> datetime | None:
        return self.resumptions[-1].at if self.resumptions else None

    @property
    def began_at(self) -> datetime | None:
        """When the present leg began."""
        return self.resumed_at or self.started_at

    @property
    def open_below(self) -> list[str]:
        """The meetings below that it would have to stop, by id."""
        return [id_ for id_, ended in {**self.children, **self.adopted}.items() if not ended]

    @property
    def own(self) -> Drawn:
        """What this meeting alone has drawn."""
        reserved = NOTHING
        for request in self.reserved.values():
            reserved += _known(request.reserved)
        return Drawn(self.replies, self.spent, reserved)

    @property
    def drawn(self) -> Drawn:
        """What it has drawn together with all meetings below it."""
        return self.own + self.below

    @property
    def envelope(self) -> Envelope:
        closing = Cost.read(cast("Mapping[str, Json]", self.plan["closing_reserve"]))
        return Envelope.of(self.meeting.limits, closing, self.drawn)

    def seconds(self, now: datetime) -> float:
        """How long it has been held; the time between an end and a resuming is no part of it."""
        if self.began_at is None:
            return 0.0
        until = self.ended_at or now
        return round(self.seconds_before + (until - self.began_at).total_seconds(), 3)

    def after(self, *new: Event) -> MeetingState:
        """Where the meeting stands once these have happened, in order."""
        folding = Folding(self)
        for event in new:
            folding.take(event)
        return folding.state()


LATE = "/late"
"""Ends the key under which a reply is kept that came after the cancel (PROTOCOLS 12)."""


def spent_record(state: MeetingState, now: datetime) -> dict[str, JsonValue]:
    """What the meeting and those below it have spent, in the contract's shape; the seconds are
    its own and run until its end."""
    drawn = state.drawn
    usd = drawn.spent.usd
    return {
        "replies": drawn.replies,
        "seconds": state.seconds(now),
        "usd": None if usd is None else format(usd.normalize(), "f"),
        "tokens": {"input": drawn.spent.input_tokens, "output": drawn.spent.output_tokens},
    }


def settled(state: MeetingState) -> MeetingState:
    """The state as it is once its decision stands and nobody is waited for any more."""
    folding = Folding(state)
    folding.settle()
    return folding.state()


def _known(cost: Cost) -> Cost:
    return cost if cost.usd is not None else replace(cost, usd=NOTHING.usd)


def fold(log: Iterable[Event]) -> MeetingState:
    """Where the meeting stands after its whole log, which begins with ``meeting.created``."""
    first, *rest = log
    return created(first).after(*rest)


def created(event: Event) -> MeetingState:
    content = cast("events.MeetingCreated", event.content)
    return MeetingState(
        meeting=content.meeting,
        plan=content.plan,
        warnings=content.warnings,
        agents=content.agents,
        created_at=event.at,
        motion=content.meeting.motion,
        last_seq=event.seq,
        last_number=event.number or 0,
    )


def asked_in(reply: Entry) -> str:
    """The step of the request that this reply came to, late ones included."""
    return (reply.step or "").removesuffix(LATE)


class Folding:
    """A state while entries change it: copied once for many, since this runs for every entry of
    every log. What each type of entry changes is the method named after it below."""

    meeting: Meeting
    status: Status
    round: int
    motion: str | None
    replies: int
    ballots: int
    spent: Cost
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

    def __init__(self, state: MeetingState) -> None:
        vars(self).update(asdict(state))

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

    def state(self) -> MeetingState:
        return MeetingState(**vars(self))

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
        """Nobody is waited for any more: what was still reserved is booked or given back.

        A request that was sent and is not known to have stopped may still be worked for and paid,
        so where there is a limit to keep it counts as spent.
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
        step = asked_in(event)
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
