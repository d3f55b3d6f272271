"""Ballots as answerers write them, and votes and polls held by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from app.domain.meeting.meeting import Meeting, Seat
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from tests.formats.by_hand import NAMES, SUMMARY, Answer, meeting

ANSWERED = "That reason does not hold, since the load is known."

Given = str | ReplyStatus


def vote(option: str, confidence: object = 0.7, **fields: Any) -> str:
    """A vote with a rationale and a mitigation that name the option."""
    written = {
        "vote": option,
        "confidence": confidence,
        "rationale": f"{option} is known",
        "mitigation": f"a way back to {option}",
    }
    return json.dumps(written | fields, ensure_ascii=False)


def ranking(order: Sequence[str], **fields: Any) -> str:
    written = {"ranking": list(order), "confidence": 0.7, "rationale": f"{order[0]} first"}
    return json.dumps(written | fields, ensure_ascii=False)


def seats(*names: str, **changed: Mapping[str, Any]) -> tuple[Seat, ...]:
    """Seats by name; ``changed`` gives a seat's weight or makes it an expert."""
    return tuple(
        Seat(name, f"as {name}", "default", **changed.get(name, {})) for name in names or NAMES[:3]
    )


def voting(options: Sequence[str] = ("A", "B", "C"), count: int = 3, **fields: Any) -> Meeting:
    """A vote of the first ``count`` names, or of ``seats`` where these are given."""
    seated = fields.pop("seats", None)
    made = meeting("vote", count, options=tuple(options), rules=_rules(fields), **fields)
    return made if seated is None else replace(made, seats=seated)


def polling(output: str, count: int = 3, **fields: Any) -> Meeting:
    names = [f"r{number}" for number in range(count)]
    rules = {"output": output} | _rules(fields)
    fields["options"] = tuple(fields.get("options", ()))
    return replace(meeting("poll", rules=rules, **fields), seats=seats(*names))


_RULES = (
    "protocol", "quorum", "threshold", "normalize", "resolution", "revotes", "critical",
    "high_variance",
)  # fmt: skip


def _rules(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: fields.pop(name) for name in _RULES if name in fields}


def casts(*rounds: Sequence[Given]) -> Answer:
    """Each ballot's replies in the order of seats; who is asked to answer others does."""

    def answer(ask: Ask) -> Given:
        if ask.template == "vote/deliberate":
            return ANSWERED
        if ask.office != "participant":
            return SUMMARY
        place = NAMES.index(ask.who)
        return rounds[ask.round - 1][place]

    return answer


def answers(*given: Given, group: Given = ReplyStatus.ERROR) -> Answer:
    """A poll's replies in the order of seats, and the secretary's grouping."""
    return lambda ask: group if ask.office == "secretary" else given[int(ask.who[1:])]


def weight(number: str) -> dict[str, Any]:
    return {"weight": Fraction(number)}
