"""What a round is made of, and what was counted, raised and summed up in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, cast

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.meeting.entries import Content, Flat, rest_of
from app.domain.rounds.progress import Progress, Stall
from app.domain.values import JsonObject, JsonValue


class RoundStarted(Content, frozen=True, kw_only=True):
    """``letters``: the answers' authors by the letter that each reviewer sees them under."""

    type = "round.started"

    round: int
    motion: str | UnsetType | None = UNSET
    letters: Mapping[str, Mapping[str, str]] | UnsetType = UNSET


class RoundClosed(Flat, frozen=True, kw_only=True):
    """``details`` is what only this format counts; it stands beside the other fields."""

    type = "round.closed"
    flat = ("details",)

    round: int
    motion: str | None = None
    stances: Mapping[str, str] = {}
    counts: Mapping[str, int] | None = None
    consensus: str | None = None
    progress: Progress | None = None
    effective_participants: int = 0
    details: JsonObject = msgspec.field(default_factory=dict[str, JsonValue])

    def record(self) -> JsonObject:
        return {
            "round": self.round,
            "motion": self.motion,
            "stances": self.stances,
            **self.details,
            "counts": self.counts,
            "consensus": self.consensus,
            "progress": None if self.progress is None else self.progress.record(),
            "effective_participants": self.effective_participants,
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        progress = given.get("progress")
        return cls(
            round=given["round"],
            motion=given.get("motion"),
            stances=given.get("stances", {}),
            counts=given.get("counts"),
            consensus=given.get("consensus"),
            progress=None if progress is None else Progress.read(progress),
            effective_participants=given.get("effective_participants", 0),
            details=rest_of(record, cls),
        )


class SummaryUpdated(Content, frozen=True, kw_only=True):
    type = "summary.updated"

    round: int
    summary: str
    motion: str | None = None
    source: str = "secretary"
    reason: str | None = None


class TallyComputed(Flat, frozen=True, kw_only=True):
    """``tally`` is in the format's own fields, which stand beside the round."""

    type = "tally.computed"
    flat = ("tally",)

    round: int
    tally: JsonObject

    def record(self) -> JsonObject:
        return {"round": self.round, **self.tally}

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        return cls(round=cast("int", record["round"]), tally=rest_of(record, cls))


class ObjectionTold(Content, frozen=True, kw_only=True):
    """A critic's point as it stands now; ``round`` is that of the event."""

    id: str
    critic: str
    severity: str
    material: str
    quote: str
    point: str
    resolves_when: str
    support: str
    state: str
    round: int
    closed_in: int | None = None
    reopened_in: tuple[int, ...] = ()
    raised_in: int


class ObjectionRaised(ObjectionTold, frozen=True, kw_only=True):
    type = "objection.raised"


class ObjectionResolved(ObjectionTold, frozen=True, kw_only=True):
    type = "objection.resolved"


class ObjectionReopened(ObjectionTold, frozen=True, kw_only=True):
    type = "objection.reopened"


class ProgressStalled(Flat, frozen=True, kw_only=True):
    type = "progress.stalled"
    flat = ("stall",)

    stall: Stall

    def record(self) -> JsonObject:
        return self.stall.record()

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        return cls(stall=Stall.read(record))
