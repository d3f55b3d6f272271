"""The legs of a meeting that was resumed (what a leg is, says ``domain/resuming``).

They count from 0: each by the number of resumptions before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.meeting.events import Event
from app.domain.meeting.meeting import Limits, Meeting
from app.domain.meeting.outcome import outcome_record
from app.domain.values import Json, rfc3339


@dataclass(frozen=True, slots=True)
class EarlierLeg:
    """A leg that has ended, and the resuming after it: what had changed, and what began with it.

    ``decision`` is the data of the leg's ``decision.recorded``; an end without a decision has it
    too. ``materials`` are those that came with the resuming, whose number is ``number``, and
    ``versions_before`` the versions until then by material.
    """

    number: int
    at: datetime
    changed: str
    note: str
    after_round: int
    limits_before: Limits
    limits: Limits
    materials: tuple[Mapping[str, Json], ...]
    versions_before: Mapping[str, str]
    acknowledged: tuple[str, ...]
    decision: Mapping[str, Json]
    ended_at: datetime
    cancellation: Mapping[str, Json] | None

    @classmethod
    def of(
        cls,
        resuming: Event,
        before: Meeting,
        decision: Mapping[str, Json],
        ended_at: datetime,
        cancellation: Mapping[str, Json] | None,
    ) -> EarlierLeg:
        said = resuming.data
        return cls(
            number=said["resumption"],
            at=resuming.at,
            changed=said["changed"],
            note=said["note"],
            after_round=said["after_round"],
            limits_before=before.limits,
            limits=Limits.read(said["limits"]),
            materials=tuple(said["materials"]),
            versions_before={each.id: each.version for each in before.materials},
            acknowledged=tuple(said["acknowledged"]),
            decision=decision,
            ended_at=ended_at,
            cancellation=cancellation,
        )

    def record(self) -> dict[str, Json]:
        return {
            "number": self.number,
            "at": rfc3339(self.at),
            "changed": self.changed,
            "note": self.note,
            "after_round": self.after_round,
            "limits_before": self.limits_before.record(),
            "limits": self.limits.record(),
            "materials": [self._material(each) for each in self.materials],
            "acknowledged": list(self.acknowledged),
            "ended_at": rfc3339(self.ended_at),
            "outcome": outcome_record(self.decision),
            "cancellation": self.cancellation,
        }

    def _material(self, given: Mapping[str, Json]) -> dict[str, Json]:
        named = {key: given[key] for key in ("id", "version", "title")}
        return {**named, "version_before": self.versions_before.get(given["id"])}
