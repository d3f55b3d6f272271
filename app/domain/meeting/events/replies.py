"""Requests for a reply, and what came of them."""

from __future__ import annotations

from typing import Any, Self, cast

from app.domain.meeting.entries import Content, Flat
from app.domain.money import Cost
from app.domain.replies.reading import ReplyStatus
from app.domain.values import JsonObject, JsonValue


class Replied(Flat, frozen=True, kw_only=True):
    """A reply, or why there is none. ``read`` is what plain code read from it, in the fields of its
    question's reading; those stand beside the others.

    ``usage`` is what was counted, ``booked`` the most that it can have cost where nothing was.
    ``late`` replies came after a cancel: kept, and counted nowhere but in what was spent.
    """

    flat = ("read",)
    sometimes = ("late",)

    participant: str
    round: int
    status: ReplyStatus
    text: str
    read: JsonObject
    reason: str | None = None
    out_of_time: bool = False
    attempt: int = 1
    final: bool = True
    usage: Cost | None = None
    booked: Cost | None = None
    model: str | None = None
    finish: str | None = None
    request_id: str = ""
    seconds: float | None = None
    late: bool = False

    @property
    def paid(self) -> Cost | None:
        """What it counts as spent, if anything."""
        return self.booked if self.usage is None else self.usage

    def record(self) -> JsonObject:
        record: dict[str, JsonValue] = {
            "participant": self.participant,
            "round": self.round,
            "status": self.status.value,
            "text": self.text,
            **self.read,
            "reason": self.reason,
            "out_of_time": self.out_of_time,
            "attempt": self.attempt,
            "final": self.final,
            "usage": None if self.usage is None else self.usage.record(),
            "booked": None if self.booked is None else self.booked.record(),
            "model": self.model,
            "finish": self.finish,
            "request_id": self.request_id,
            "seconds": self.seconds,
        }
        return record | {"late": True} if self.late else record

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        fields: dict[str, Any] = {name: given[name] for name in _OPTIONAL if name in given}
        for name in ("usage", "booked"):
            if given.get(name) is not None:
                fields[name] = Cost.read(given[name])
        return cls(
            participant=given["participant"],
            round=given.get("round") or 1,
            status=ReplyStatus(given["status"]),
            text=given["text"],
            read={key: value for key, value in given.items() if key not in REPLY_ENVELOPE_FIELDS},
            **fields,
        )


REPLY_ENVELOPE_FIELDS = frozenset(Replied.__struct_fields__) - {"read"}
"""The fields of a reply's event that say how it came; all others are what was read from it."""

_OPTIONAL = REPLY_ENVELOPE_FIELDS - {
    *("participant", "round", "status", "text", "usage", "booked"),
}


class ReplyReceived(Replied, frozen=True, kw_only=True):
    type = "reply.received"


class OfficeReplied(Replied, frozen=True, kw_only=True):
    """What the secretary, the chair or an arbiting agent replied."""

    type = "office.replied"
    internal = True


class RequestReserved(Flat, frozen=True, kw_only=True):
    """A request about to be sent; ``reserved`` is the most that it can cost. ``step`` is the
    question's, and ``turn`` counts the meeting's requests to this agent from 0."""

    type = "request.reserved"
    internal = True

    step: str
    request_id: str
    who: str = ""
    agent: str = ""
    turn: int = 0
    reserved: Cost
    closing: bool = False

    def record(self) -> JsonObject:
        return {
            "for": self.step,
            "request_id": self.request_id,
            "who": self.who,
            "agent": self.agent,
            "turn": self.turn,
            "reserved": self.reserved.record(),
            "closing": self.closing,
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        named = {key: given[key] for key in ("who", "agent", "turn", "closing") if key in given}
        return cls(
            step=given["for"],
            request_id=given["request_id"],
            reserved=Cost.read(given["reserved"]),
            **named,
        )


class RequestUnanswered(Flat, frozen=True, kw_only=True):
    """A sending that gets no answer any more, and is counted as spent all the same (PROTOCOLS 11).

    ``usage`` is what was counted, ``booked`` the most that it can have cost where nothing was: then
    what it cost is unconfirmed. The question may be put again, which is reserved anew.
    """

    type = "request.unanswered"
    internal = True

    step: str
    request_id: str
    who: str
    agent: str
    usage: Cost | None = None
    booked: Cost | None = None

    def record(self) -> JsonObject:
        return {
            "for": self.step,
            "request_id": self.request_id,
            "who": self.who,
            "agent": self.agent,
            "usage": None if self.usage is None else self.usage.record(),
            "booked": None if self.booked is None else self.booked.record(),
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        return cls(
            step=given["for"],
            request_id=given["request_id"],
            who=given["who"],
            agent=given["agent"],
            usage=None if given["usage"] is None else Cost.read(given["usage"]),
            booked=None if given["booked"] is None else Cost.read(given["booked"]),
        )


class BudgetExhausted(Content, frozen=True, kw_only=True):
    type = "budget.exhausted"

    round: int
    participant: str
