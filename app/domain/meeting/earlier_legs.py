"""The legs of a meeting that was resumed (what a leg is, says ``meeting.resumption``).

They count from 0: each by the number of resumptions before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.meeting.cancellation import Cancellation
from app.domain.meeting.events import DecisionRecorded, MeetingResumed
from app.domain.meeting.meeting import Limits, Material, Meeting
from app.domain.values import JsonValue, rfc3339


@dataclass(frozen=True, slots=True)
class EarlierLeg:
    """A leg that has ended, and the resuming after it: what had changed, and what began with it.

    ``meeting`` is as it was until then, and ``cancellation`` the cancel that stood, if one did. An
    end without a decision has a record of it too.
    """

    resuming: MeetingResumed
    at: datetime
    meeting: Meeting
    decided: DecisionRecorded
    ended_at: datetime
    cancellation: Cancellation | None

    @property
    def number(self) -> int:
        return self.resuming.resumption

    @property
    def after_round(self) -> int:
        return self.resuming.after_round

    @property
    def limits_before(self) -> Limits:
        return self.meeting.limits

    @property
    def versions_before(self) -> Mapping[str, str]:
        """The versions of materials until then, by material."""
        return {each.id: each.version for each in self.meeting.materials}

    def record(self) -> dict[str, JsonValue]:
        told = self.resuming
        return {
            "number": self.number,
            "at": rfc3339(self.at),
            "changed": told.changed,
            "note": told.note,
            "after_round": told.after_round,
            "limits_before": self.limits_before.record(),
            "limits": told.limits.record(),
            "materials": [self._material(each) for each in told.materials],
            "acknowledged": list(told.acknowledged),
            "ended_at": rfc3339(self.ended_at),
            "outcome": self.decided.outcome.record(),
            "cancellation": None if self.cancellation is None else self.cancellation.record(),
        }

    def _material(self, given: Material) -> dict[str, JsonValue]:
        return {
            "id": given.id,
            "version": given.version,
            "title": given.title,
            "version_before": self.versions_before.get(given.id),
        }
