"""What a review shows of itself: to those it asks, and in its record (PROTOCOLS 9 and 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.meeting.meeting import Meeting, Seat
from app.domain.meeting.outcome import Dissent
from app.domain.replies.text import clean, folded
from app.domain.values import Json
from app.formats.review.criteria import MOST_DRAFT_CHARACTERS, Verdict
from app.formats.review.objections import Objection, ObjectionRegister
from app.formats.review.replies import MOST_OBJECTIONS
from app.formats.review.reviewing import AUTHOR, ReviewRound

MOST_SHOWN_OBJECTIONS = 2 * MOST_OBJECTIONS
MOST_QUOTE_CHARACTERS = 500
"""Of one objection's quote, in what others are shown; the record keeps all of it."""

MOST_EXCERPT_CHARACTERS = 4_000
"""Of one objection, in what an arbiter is shown."""


def author_variables(
    meeting: Meeting, seat: Seat, number: int, draft: str, before: ReviewRound | None
) -> dict[str, Json]:
    """The author gets everything that is open, what blocks first."""
    register = before.register if before else ObjectionRegister()
    open_ = sorted((o for o in register.objections if o.open), key=lambda o: not o.blocks)
    criteria: list[Json] = [
        {
            **criterion.record(),
            "result": before.results[criterion.id] if before else None,
        }
        for criterion in meeting.criteria
    ]
    objections: list[Json] = [
        {**shown_objection(objection), "from": meeting.label(objection.critic)}
        for objection in open_[:MOST_SHOWN_OBJECTIONS]
    ]
    return {
        **_shared(meeting, seat, number),
        "criteria": criteria,
        "draft": draft,
        "objections": objections,
        "more": max(0, len(open_) - MOST_SHOWN_OBJECTIONS),
        "most_characters": MOST_DRAFT_CHARACTERS,
    }


def critic_variables(
    meeting: Meeting,
    seat: Seat,
    number: int,
    draft: str,
    own: Sequence[Objection],
    changes: Sequence[Json],
) -> dict[str, Json]:
    """A critic sees the draft and its own open objections, and nobody else's."""
    done = {folded(change["objection"]): change["change"] for change in changes}
    criteria: list[Json] = [
        {"id": criterion.id, "text": criterion.text, "required": criterion.required}
        for criterion in meeting.criteria
        if criterion.check is None
    ]
    objections: list[Json] = [
        {**shown_objection(objection), "change": done.get(folded(objection.id), "")}
        for objection in own[:MOST_SHOWN_OBJECTIONS]
    ]
    return {
        **_shared(meeting, seat, number),
        "criteria": criteria,
        "draft": draft,
        "own_objections": objections,
        "most_objections": MOST_OBJECTIONS,
    }


def closing_variables(
    meeting: Meeting,
    draft: str,
    results: Mapping[str, Verdict],
    register: ObjectionRegister,
    *,
    complete: bool,
) -> dict[str, Json]:
    objections: list[Json] = [
        {
            **shown_objection(objection),
            "from": meeting.label(objection.critic),
            "state": "open" if objection.open else "closed",
        }
        for objection in register.objections[-MOST_SHOWN_OBJECTIONS:]
    ]
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "deliverable": draft,
        "complete": complete,
        "criteria": criteria_record(meeting, results),
        "objections": objections,
    }


def put_to_arbiter(
    meeting: Meeting, draft: str, results: Mapping[str, Verdict], register: ObjectionRegister
) -> list[dict[str, Json]]:
    """What an arbiter reads: the whole draft, how its criteria came out, and what is open."""
    author = next(seat.name for seat in meeting.seats if seat.role == AUTHOR)
    judged = [f"{c.id}: {c.text} → {results.get(c.id, 'open')}" for c in meeting.criteria]
    open_ = [objection for objection in register.objections if objection.open]
    criteria = [{"label": "criteria", "text": "\n".join(judged)}] if judged else []
    return [
        {"label": meeting.label(author), "text": draft},
        *criteria,
        *(
            {"label": meeting.label(objection.critic), "text": _in_words(objection)}
            for objection in open_[-MOST_SHOWN_OBJECTIONS:]
        ),
    ]


def _in_words(objection: Objection) -> str:
    raised = objection.raised
    unsupported = "" if objection.supported else " (unsupported)"
    head = f"{objection.id}, {raised.severity.value}{unsupported}"
    parts = (head, raised.point, f"“{raised.quote}”", raised.resolves_when)
    return clean("\n".join(part for part in parts if part), MOST_EXCERPT_CHARACTERS)


def _shared(meeting: Meeting, seat: Seat, number: int) -> dict[str, Json]:
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "materials": [material.record() for material in meeting.materials],
        "name": seat.name,
        "role": seat.role,
        "label": meeting.label(seat.name),
        "others": [meeting.label(other.name) for other in meeting.seats if other is not seat],
        "round": number,
        "rounds": meeting.limits.rounds,
    }


def shown_objection(objection: Objection) -> dict[str, Json]:
    raised = objection.raised
    return {
        "id": objection.id,
        "severity": raised.severity.value,
        "supported": objection.supported,
        "material": raised.material,
        "quote": clean(raised.quote, MOST_QUOTE_CHARACTERS),
        "point": raised.point,
        "resolves_when": raised.resolves_when,
    }


def criteria_record(meeting: Meeting, results: Mapping[str, Verdict]) -> list[Json]:
    return [
        {
            "id": criterion.id,
            "text": criterion.text,
            "required": criterion.required,
            "mechanical": criterion.check is not None,
            "result": results.get(criterion.id, "open"),
        }
        for criterion in meeting.criteria
    ]


def open_dissents(register: ObjectionRegister) -> tuple[Dissent, ...]:
    """What critics still object to, with the condition that would have met it."""
    return tuple(
        Dissent(
            objection.critic,
            objection.raised.severity.value if objection.supported else "unsupported",
            objection.raised.point,
            objection.raised.resolves_when or None,
            objection.round,
        )
        for objection in register.objections
        if objection.open
    )
