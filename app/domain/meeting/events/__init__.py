"""The types of entries: what happens in a meeting, one class each (API.md, events over SSE).

The classes are the contract of the stream: a field that is renamed here is renamed for callers.
``| UnsetType`` marks a field that is left out where it does not apply.
"""

from __future__ import annotations

from app.domain.meeting.events.cancelling import (
    CancelItem,
    CancellationAcknowledged,
    CancellationClosed,
    CancellationRequested,
    CancellationTold,
    CancelTold,
)
from app.domain.meeting.events.closing import (
    ArbitrationExpired,
    ArbitrationOpened,
    ArbitrationRuled,
    CompletionClosed,
    CompletionNudged,
    CompletionSignalled,
    GateAsked,
)
from app.domain.meeting.events.ends import (
    DECISION_FIELDS,
    DecisionRecorded,
    MeetingEnded,
    MinutesWritten,
)
from app.domain.meeting.events.lifecycle import (
    ChildEnded,
    ChildOpened,
    MeetingCreated,
    MeetingParked,
    MeetingResumed,
    MeetingStarted,
    MeetingUnparked,
)
from app.domain.meeting.events.operations import (
    OperationConfirmed,
    OperationFailed,
    OperationHandedOver,
    OperationHappened,
    OperationNoted,
    OperationReconciled,
    OperationRequested,
    OperationTold,
    OperationUnknown,
)
from app.domain.meeting.events.replies import (
    REPLY_ENVELOPE_FIELDS,
    BudgetExhausted,
    OfficeReplied,
    Replied,
    ReplyReceived,
    RequestReserved,
    RequestUnanswered,
)
from app.domain.meeting.events.rounds import (
    ObjectionRaised,
    ObjectionReopened,
    ObjectionResolved,
    ObjectionTold,
    ProgressStalled,
    RoundClosed,
    RoundStarted,
    SummaryUpdated,
    TallyComputed,
)

__all__ = [
    "DECISION_FIELDS",
    "REPLY_ENVELOPE_FIELDS",
    "ArbitrationExpired",
    "ArbitrationOpened",
    "ArbitrationRuled",
    "BudgetExhausted",
    "CancelItem",
    "CancelTold",
    "CancellationAcknowledged",
    "CancellationClosed",
    "CancellationRequested",
    "CancellationTold",
    "ChildEnded",
    "ChildOpened",
    "CompletionClosed",
    "CompletionNudged",
    "CompletionSignalled",
    "DecisionRecorded",
    "GateAsked",
    "MeetingCreated",
    "MeetingEnded",
    "MeetingParked",
    "MeetingResumed",
    "MeetingStarted",
    "MeetingUnparked",
    "MinutesWritten",
    "ObjectionRaised",
    "ObjectionReopened",
    "ObjectionResolved",
    "ObjectionTold",
    "OfficeReplied",
    "OperationConfirmed",
    "OperationFailed",
    "OperationHandedOver",
    "OperationHappened",
    "OperationNoted",
    "OperationReconciled",
    "OperationRequested",
    "OperationTold",
    "OperationUnknown",
    "ProgressStalled",
    "Replied",
    "ReplyReceived",
    "RequestReserved",
    "RequestUnanswered",
    "RoundClosed",
    "RoundStarted",
    "SummaryUpdated",
    "TallyComputed",
]
