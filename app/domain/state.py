"""Where a meeting stands: what the meeting resource shows, folded from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

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
    warnings: Sequence[str]
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
        # Copied once for all of them: this runs for every entry of every log.
        now: _Fields = {name: getattr(self, name) for name in _NAMES}
        for event in new:
            change = _CHANGES.get(event.type)
            if change is not None:
                change(now, event)
            now["last_seq"] = event.seq
            now["last_number"] = event.number or now["last_number"]
        return MeetingState(**now)


_NAMES = tuple(field.name for field in fields(MeetingState))
_Fields = dict[str, Any]
"""The fields of a state while events change them."""


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


def _started(now: _Fields, event: Event) -> None:
    # A cancel that came before the start stays in force.
    if now["status"] is Status.SCHEDULED:
        now["status"] = Status.RUNNING
    now["started_at"] = event.at
    now["deadline"] = datetime.fromisoformat(event.data["deadline"])


def _round_started(now: _Fields, event: Event) -> None:
    now["round"] = event.data["round"]
    now["motion"] = event.data.get("motion") or now["motion"]


def _reply(now: _Fields, event: Event) -> None:
    now["replies"] += 1
    _office_reply(now, event)


def _office_reply(now: _Fields, event: Event) -> None:
    usage = event.data["usage"] or event.data["booked"]
    if usage is not None:
        now["spent"] += Cost.read(usage)


def _summary(now: _Fields, event: Event) -> None:
    now["motion"] = event.data.get("motion") or now["motion"]


def _cancelling(now: _Fields, event: Event) -> None:
    now["status"] = Status.CANCELLING
    now["pending_question"] = None
    now["cancellation"] = {
        "requested_at": events.rfc3339(event.at),
        "reason": event.data["reason"],
        "state": "requested",
        "items": [],
    }


def _question_opened(now: _Fields, event: Event) -> None:
    now["status"] = Status.AWAITING_RULING
    now["pending_question"] = {**event.data, "opened_at": events.rfc3339(event.at)}


def _question_closed(now: _Fields, event: Event) -> None:
    del event
    if now["status"] is Status.AWAITING_RULING:
        now["status"] = Status.RUNNING
    now["pending_question"] = None


def _cancelled(now: _Fields, event: Event) -> None:
    now["cancellation"] = {
        **(now["cancellation"] or {}),
        "state": event.data["state"],
        "items": event.data["items"],
    }


def _minutes(now: _Fields, event: Event) -> None:
    now["minutes_path"] = event.data["path"]


def _ended(now: _Fields, event: Event) -> None:
    now["status"] = Status.ENDED
    # When the decision stood: what follows it, the minutes on disk, is no part of the meeting.
    now["ended_at"] = datetime.fromisoformat(event.data["ended_at"])
    now["pending_question"] = None
    now["outcome"] = event.data["outcome"]


_CHANGES: Mapping[str, Callable[[_Fields, Event], None]] = {
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
