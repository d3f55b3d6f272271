"""A meeting's beginning, what resumes or parks it, and the meetings below it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self, cast

from msgspec import UNSET, UnsetType

from app.domain.meeting.entries import Content, Flat
from app.domain.meeting.meeting import Limits, Material, Meeting
from app.domain.values import JsonObject, rfc3339


class MeetingCreated(Flat, frozen=True, kw_only=True):
    type = "meeting.created"
    flat = ("meeting",)

    meeting: Meeting
    plan: JsonObject
    warnings: tuple[str, ...] = ()
    agents: Mapping[str, JsonObject] = {}

    def record(self) -> JsonObject:
        beside = {"plan": self.plan, "warnings": list(self.warnings), "agents": self.agents}
        return {**self.meeting.record(), **beside}

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        return cls(
            meeting=Meeting.read(record),
            plan=given["plan"],
            warnings=tuple(given["warnings"]),
            agents=given["agents"],
        )


class MeetingStarted(Content, frozen=True, kw_only=True):
    type = "meeting.started"

    deadline: datetime


class MeetingResumed(Flat, frozen=True, kw_only=True):
    """``limits`` and ``deadline`` are those in force from now on, ``materials`` those given now;
    ``acknowledged`` are the operations that nobody could be sure of, and ``resumption`` counts."""

    type = "meeting.resumed"

    changed: str
    note: str
    after_round: int
    limits: Limits
    materials: tuple[Material, ...] = ()
    acknowledged: tuple[str, ...] = ()
    deadline: datetime
    resumption: int

    def record(self) -> JsonObject:
        return {
            "changed": self.changed,
            "note": self.note,
            "after_round": self.after_round,
            "limits": self.limits.record(),
            "materials": [material.record() for material in self.materials],
            "acknowledged": list(self.acknowledged),
            "deadline": rfc3339(self.deadline),
            "resumption": self.resumption,
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        return cls(
            changed=given["changed"],
            note=given["note"],
            after_round=given["after_round"],
            limits=Limits.read(given["limits"]),
            materials=tuple(Material(**material) for material in given["materials"]),
            acknowledged=tuple(given["acknowledged"]),
            deadline=datetime.fromisoformat(given["deadline"]),
            resumption=given["resumption"],
        )


class MeetingParked(Content, frozen=True, kw_only=True):
    """This process could not replay the log: it is kept whole until one can."""

    type = "meeting.parked"
    internal = True

    reason: str
    detail: str = ""


class MeetingUnparked(Content, frozen=True, kw_only=True):
    """A process that can replay the log has taken it up again, and has only to wait."""

    type = "meeting.unparked"
    internal = True


class ChildOpened(Content, frozen=True, kw_only=True):
    """A meeting below this one has begun or gone on; or, ``adopted``, was left to it by a child."""

    type = "child.opened"
    internal = True
    from_outside = True

    meeting_id: str
    adopted: bool | UnsetType = UNSET


class ChildEnded(Content, frozen=True, kw_only=True):
    type = "child.ended"
    internal = True
    from_outside = True

    meeting_id: str
