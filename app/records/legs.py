"""The parts of a meeting that was resumed (PROTOCOLS 12): each ended once, and was gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.events import Event, rfc3339
from app.domain.meeting import Json, Limits
from app.domain.outcome import outcome_record


@dataclass(frozen=True, slots=True)
class Resumed:
    """One resuming: what had changed, and the end that stood before it.

    ``decision`` is the data of that end's ``decision.recorded``; an end without a decision has it
    too. ``materials`` are those that came with the resuming.
    """

    number: int
    at: datetime
    changed: str
    note: str
    after_round: int
    limits_before: Limits
    limits: Limits
    materials: tuple[Mapping[str, Json], ...]
    acknowledged: tuple[str, ...]
    decision: Mapping[str, Json]
    ended_at: datetime
    cancellation: Mapping[str, Json] | None

    @classmethod
    def of(
        cls,
        event: Event,
        before: Limits,
        decision: Mapping[str, Json],
        ended_at: datetime,
        cancellation: Mapping[str, Json] | None,
    ) -> Resumed:
        said = event.data
        return cls(
            number=said["resumption"],
            at=event.at,
            changed=said["changed"],
            note=said["note"],
            after_round=said["after_round"],
            limits_before=before,
            limits=Limits.read(said["limits"]),
            materials=tuple(said["materials"]),
            acknowledged=tuple(said["acknowledged"]),
            decision=decision,
            ended_at=ended_at,
            cancellation=cancellation,
        )

    def record(self) -> dict[str, Json]:
        named = ("id", "version", "title")
        return {
            "number": self.number,
            "at": rfc3339(self.at),
            "changed": self.changed,
            "note": self.note,
            "after_round": self.after_round,
            "limits_before": self.limits_before.record(),
            "limits": self.limits.record(),
            "materials": [{key: each[key] for key in named} for each in self.materials],
            "acknowledged": list(self.acknowledged),
            "ended_at": rfc3339(self.ended_at),
            "outcome": outcome_record(self.decision),
            "cancellation": self.cancellation,
        }
