"""What a meeting's state is made of, beside what the log's entries say themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.meeting import events
from app.domain.values import JsonValue, rfc3339


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
