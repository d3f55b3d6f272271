"""How a review's objections stand (PROTOCOLS 9): one answer for whoever lists or shows them.

The handoff and the minutes show what this says, ``/objections`` lists the same events, and they say
what the register of the meeting's own rounds says: all are written from the same ``Objection``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.meeting.history import History, Recorded
from app.domain.meeting.rounds_held import RoundHeld
from app.domain.values import Json
from app.formats.review.objections import Objection, Raised, Severity

_SUPPORTED = "supported"


@dataclass(frozen=True, slots=True)
class ObjectionTold:
    """An objection as it stood after an event of it, and in which round that was.

    ``happened`` is ``raised``, ``resolved`` or ``reopened``.
    """

    objection: Objection
    happened: str
    round: int


def objections_now(past: History) -> tuple[ObjectionTold, ...]:
    """Every objection as it stands now, in the order in which they were first raised."""
    return tuple(_told(event) for event in past.objections_now)


def open_objections(past: History) -> tuple[ObjectionTold, ...]:
    return tuple(each for each in objections_now(past) if each.objection.open)


def closed_objections(past: History) -> tuple[ObjectionTold, ...]:
    return tuple(each for each in objections_now(past) if not each.objection.open)


def objections_in(past: History, round_: RoundHeld) -> tuple[ObjectionTold, ...]:
    """What the critics did to the objections in a round, in the order in which it was told."""
    told = (_told(event) for event in past.objections)
    return tuple(each for each in told if each.round == round_.number)


def _told(event: Recorded) -> ObjectionTold:
    _, _, happened = event.type.partition(".")
    return ObjectionTold(_objection(event.data), happened, event.data["round"])


def _objection(told: Mapping[str, Json]) -> Objection:
    """An event's ``round`` is its own, and ``raised_in`` the one that the objection came up in."""
    return Objection(
        id=told["id"],
        critic=told["critic"],
        raised=Raised(
            Severity(told["severity"]),
            told["material"],
            told["quote"],
            told["point"],
            told["resolves_when"],
        ),
        supported=told["support"] == _SUPPORTED,
        round=told["raised_in"],
        closed_in=told["closed_in"],
        reopened_in=tuple(told["reopened_in"]),
    )
