"""Reviews held by hand: what the author and the critics return, round by round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.meeting.meeting import Criterion, Material, Meeting, Seat
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from tests.formats.by_hand import SYNTHESIS, Answer, meeting

Said = str | ReplyStatus
MATERIALS = (Material("m1", "1", "The outage lasted 4 hours. Nobody had the pager."),)
CRITERIA = (
    Criterion("c1", "names an owner", check={"contains": "owner"}),
    Criterion("c2", "is understandable"),
)
SEATS = (
    Seat("ann", "author", "default"),
    Seat("ben", "critic", "default"),
    Seat("cy", "critic", "default"),
)


def review(**fields: Any) -> Meeting:
    given = {"seats": SEATS, "materials": MATERIALS, "criteria": CRITERIA} | fields
    seats = given.pop("seats")
    made = meeting("review", **given)
    return Meeting(**{**_fields(made), "seats": seats})


def _fields(made: Meeting) -> dict[str, Any]:
    return {name: getattr(made, name) for name in made.__dataclass_fields__}


def written(draft: str = "The owner is Dee.", **fields: Any) -> str:
    return json.dumps({"draft": draft, "changes": [], "open": [], "waiting_for": None} | fields)


def objection(quote: str = "lasted 4 hours", **fields: Any) -> dict[str, str]:
    given = {
        "severity": "blocking",
        "material": "m1",
        "quote": quote,
        "point": "the duration is missing",
        "resolves_when": "it says four hours",
    }
    return given | fields


def judged(*objections: Mapping[str, str], closed: Sequence[str] = (), **fields: Any) -> str:
    given = {"objections": objections, "closed": closed, "criteria": {"c2": "pass"}}
    return json.dumps(given | fields)


CONTENT = judged()


def rounds(*given: Mapping[str, Said], synthesis: Said = SYNTHESIS) -> Answer:
    """What each says in each round, the last round for ever; critics left out are content."""

    def answer(ask: Ask) -> Said:
        if ask.template == "review/synthesis":
            return synthesis
        said = given[min(ask.round, len(given)) - 1]
        return said.get(ask.who, written() if ask.template == "review/author" else CONTENT)

    return answer
