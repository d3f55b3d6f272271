"""What a meeting's log holds.

Public entries are the events that callers read; they are numbered 1, 2, 3 … without gaps.
Internal entries stand between them: what was reserved before a request was sent, what the
secretary or the chair replied, when a closing question was put, what became of a request that was
told to stop, what happened to an operation, which meetings were opened below this one and have
ended. All of them are needed to go on after a crash; only the public ones are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.values import Json

MEETING_CREATED = "meeting.created"
MEETING_STARTED = "meeting.started"
MEETING_RESUMED = "meeting.resumed"
MEETING_ENDED = "meeting.ended"
ROUND_STARTED = "round.started"
ROUND_CLOSED = "round.closed"
REPLY_RECEIVED = "reply.received"
SUMMARY_UPDATED = "summary.updated"
TALLY_COMPUTED = "tally.computed"
OBJECTION_RAISED = "objection.raised"
OBJECTION_RESOLVED = "objection.resolved"
OBJECTION_REOPENED = "objection.reopened"
PROGRESS_STALLED = "progress.stalled"
BUDGET_EXHAUSTED = "budget.exhausted"
CANCELLATION_REQUESTED = "cancellation.requested"
CANCELLATION_ACKNOWLEDGED = "cancellation.acknowledged"
CANCELLATION_CLOSED = "cancellation.closed"
COMPLETION_SIGNALLED = "completion.signalled"
COMPLETION_NUDGED = "completion.nudged"
COMPLETION_CLOSED = "completion.closed"
ARBITRATION_OPENED = "arbitration.opened"
ARBITRATION_RULED = "arbitration.ruled"
ARBITRATION_EXPIRED = "arbitration.expired"
OPERATION_REQUESTED = "operation.requested"
OPERATION_CONFIRMED = "operation.confirmed"
OPERATION_FAILED = "operation.failed"
OPERATION_UNKNOWN = "operation.unknown"
OPERATION_HANDED_OVER = "operation.handed_over"
DECISION_RECORDED = "decision.recorded"
MINUTES_WRITTEN = "minutes.written"

REQUEST_RESERVED = "request.reserved"
OFFICE_REPLIED = "office.replied"
GATE_ASKED = "gate.asked"
CANCELLATION_TOLD = "cancellation.told"
CHILD_OPENED = "child.opened"
CHILD_ENDED = "child.ended"
OPERATION_HAPPENED = "operation.happened"
OPERATION_RECONCILED = "operation.reconciled"


REPLY_ENVELOPE_FIELDS = frozenset(
    {
        "participant",
        "round",
        "status",
        "text",
        "attempt",
        "final",
        "reason",
        "out_of_time",
        "usage",
        "booked",
        "model",
        "finish",
        "request_id",
        "seconds",
    }
)
"""The fields of a reply's event that say how it came; all others are what was read from it."""

INTERNAL = frozenset(
    {
        REQUEST_RESERVED,
        OFFICE_REPLIED,
        GATE_ASKED,
        CANCELLATION_TOLD,
        CHILD_OPENED,
        CHILD_ENDED,
        OPERATION_HAPPENED,
        OPERATION_RECONCILED,
    }
)

FROM_OUTSIDE = frozenset(
    {
        CANCELLATION_REQUESTED,
        ARBITRATION_RULED,
        CHILD_OPENED,
        CHILD_ENDED,
        OPERATION_RECONCILED,
    }
)
"""What is appended for a caller, for a meeting below, or after a look at what an earlier end left
open, while a runner is at work: no sign of a second runner."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to append. ``step`` is the key under which a replay finds it again."""

    type: str
    data: Mapping[str, Json]
    at: datetime
    step: str | None = None
    fingerprint: str | None = None

    @property
    def internal(self) -> bool:
        return self.type in INTERNAL


@dataclass(frozen=True, slots=True)
class Event(Entry):
    """An entry in its place: ``seq`` in the log, ``number`` among the public ones."""

    meeting_id: str = ""
    seq: int = 0
    number: int | None = None
