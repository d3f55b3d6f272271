"""Where a meeting stands: what the meeting resource shows, folded from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from app.domain import events
from app.domain.envelope import NOTHING, Cost
from app.domain.events import Event
from app.domain.meeting import Json, Meeting


class Status(StrEnum):
    SCHEDULED = "scheduled"
    RUNNING = "running"
    AWAITING_RULING = "awaiting_ruling"
    CANCELLING = "cancelling"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class MeetingState:
    """A meeting and how far it has come. ``last_seq`` counts all entries of its log,
    ``last_number`` the public ones; ``replies`` are the participants'."""

    meeting: Meeting
    plan: Mapping[str, Json]
    warnings: Sequence[Json]
    agents: Mapping[str, Mapping[str, Json]]
    created_at: datetime
    status: Status = Status.SCHEDULED
    round: int = 0
    motion: str | None = None
    replies: int = 0
    spent: Cost = NOTHING
    started_at: datetime | None = None
    ended_at: datetime | None = None
    deadline: datetime | None = None
    outcome: Mapping[str, Json] | None = None
    cancellation: Mapping[str, Json] | None = None
    pending_question: Mapping[str, Json] | None = None
    minutes_path: str | None = None
    last_seq: int = 0
    last_number: int = 0

    @property
    def ended(self) -> bool:
        return self.status is Status.ENDED

    def after(self, *new: Event) -> MeetingState:
        """Where the meeting stands once these have happened, in order."""
        state = self
        number = self.last_number
        for event in new:
            change = _CHANGES.get(event.type)
            if change is not None:
                state = change(state, event)
            number = event.number or number
        return replace(state, last_seq=new[-1].seq, last_number=number) if new else state


def spent_record(state: MeetingState, now: datetime) -> dict[str, Json]:
    """What the meeting has spent, in the contract's shape; seconds run until its end."""
    until = state.ended_at or now
    started = state.started_at
    usd = state.spent.usd
    return {
        "replies": state.replies,
        "seconds": 0.0 if started is None else round((until - started).total_seconds(), 3),
        "usd": None if usd is None else format(usd.normalize(), "f"),
        "tokens": {"input": state.spent.input_tokens, "output": state.spent.output_tokens},
    }


def fold(log: Iterable[Event]) -> MeetingState:
    """Where the meeting stands after its whole log, which begins with ``meeting.created``."""
    first, *rest = log
    return created(first).after(*rest)


def created(event: Event) -> MeetingState:
    record = event.data
    meeting = Meeting.read(record)
    return MeetingState(
        meeting=meeting,
        plan=record["plan"],
        warnings=record["warnings"],
        agents=record["agents"],
        created_at=event.at,
        motion=meeting.motion,
        last_seq=event.seq,
        last_number=event.number or 0,
    )


def _started(state: MeetingState, event: Event) -> MeetingState:
    deadline = datetime.fromisoformat(event.data["deadline"])
    # A cancel that came before the start stays in force.
    status = Status.RUNNING if state.status is Status.SCHEDULED else state.status
    return replace(state, status=status, started_at=event.at, deadline=deadline)


def _round_started(state: MeetingState, event: Event) -> MeetingState:
    return replace(
        state, round=event.data["round"], motion=event.data.get("motion") or state.motion
    )


def _reply(state: MeetingState, event: Event) -> MeetingState:
    return replace(state, replies=state.replies + 1, spent=_paid(state, event))


def _office_reply(state: MeetingState, event: Event) -> MeetingState:
    return replace(state, spent=_paid(state, event))


def _paid(state: MeetingState, event: Event) -> Cost:
    usage = event.data["usage"]
    return state.spent if usage is None else state.spent + Cost.read(usage)


def _summary(state: MeetingState, event: Event) -> MeetingState:
    return replace(state, motion=event.data.get("motion") or state.motion)


def _cancelling(state: MeetingState, event: Event) -> MeetingState:
    cancellation: dict[str, Json] = {
        "requested_at": events.rfc3339(event.at),
        "reason": event.data["reason"],
        "state": "requested",
        "items": [],
    }
    return replace(
        state, status=Status.CANCELLING, cancellation=cancellation, pending_question=None
    )


def _question_opened(state: MeetingState, event: Event) -> MeetingState:
    question = {**event.data, "opened_at": events.rfc3339(event.at)}
    return replace(state, status=Status.AWAITING_RULING, pending_question=question)


def _question_closed(state: MeetingState, event: Event) -> MeetingState:
    del event
    waiting = state.status is Status.AWAITING_RULING
    status = Status.RUNNING if waiting else state.status
    return replace(state, status=status, pending_question=None)


def _cancelled(state: MeetingState, event: Event) -> MeetingState:
    cancellation = {
        **(state.cancellation or {}),
        "state": event.data["state"],
        "items": event.data["items"],
    }
    return replace(state, cancellation=cancellation)


def _minutes(state: MeetingState, event: Event) -> MeetingState:
    return replace(state, minutes_path=event.data["path"])


def _ended(state: MeetingState, event: Event) -> MeetingState:
    outcome = event.data["outcome"]
    return replace(state, status=Status.ENDED, ended_at=event.at, outcome=outcome)


_CHANGES: Mapping[str, Callable[[MeetingState, Event], MeetingState]] = {
    events.MEETING_STARTED: _started,
    events.ROUND_STARTED: _round_started,
    events.REPLY_RECEIVED: _reply,
    events.OFFICE_REPLIED: _office_reply,
    events.SUMMARY_UPDATED: _summary,
    events.ARBITRATION_OPENED: _question_opened,
    events.ARBITRATION_RULED: _question_closed,
    events.ARBITRATION_EXPIRED: _question_closed,
    events.CANCELLATION_REQUESTED: _cancelling,
    events.CANCELLATION_CLOSED: _cancelled,
    events.MINUTES_WRITTEN: _minutes,
    events.MEETING_ENDED: _ended,
}
