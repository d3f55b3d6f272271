"""What a review asks and shows, and the largest that this can become.

Each function takes the draft and what is open against it, and knows nothing of how it goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.domain.meeting.meeting import Meeting, Seat
from app.domain.replies.quoting import MOST_TEXT_CHARACTERS
from app.domain.replies.text import one_line
from app.domain.steps import Ask
from app.domain.values import Json
from app.formats.review.criteria import MOST_DRAFT_CHARACTERS, Verdict
from app.formats.review.findings import (
    MOST_EXCERPT_CHARACTERS,
    MOST_QUOTE_CHARACTERS,
    MOST_SHOWN_OBJECTIONS,
    author_variables,
    closing_variables,
    critic_variables,
    put_to_arbiter,
    shown_objection,
)
from app.formats.review.objections import Objection, ObjectionRegister, Raised, Severity
from app.formats.review.replies import MOST_POINT_CHARACTERS, AuthorReading, CriticReading
from app.formats.review.reviewing import AUTHOR, CRITIC, ReviewRound
from app.formats.shared.arbitrating import Matter, accept_or_reject, plan_ruling
from app.formats.shared.closing import plan_closing
from app.formats.shared.format import PlannedAsk, longest, since_resuming, usual_rounds

_AUTHOR = "review/author"
_CRITIC = "review/critic"
SYNTHESIS = "review/synthesis"

_MOST_CHOICE_CHARACTERS = 400
"""Of a draft, where it stands in one line as what may be chosen; the whole is shown beside it."""


# --- the author and the critics -----------------------------------------------------------------


def question_to_author(meeting: Meeting, last: ReviewRound | None = None, draft: str = "") -> Ask:
    """To draft, or to go on with the draft and what was found against it in the last round."""
    author = next(seat for seat in meeting.seats if seat.role == AUTHOR)
    number = _next(last)
    variables = author_variables(meeting, author, number, draft, last) | since_resuming(meeting)
    return Ask(_key(number, author), author.name, number, _AUTHOR, variables, AuthorReading())


def questions_to_critics(
    meeting: Meeting,
    last: ReviewRound | None = None,
    draft: str = "",
    changes: Sequence[Json] = (),
) -> list[Ask]:
    """To judge the draft, and its ``changes`` for what each critic still has open from before."""
    critics = [seat for seat in meeting.seats if seat.role == CRITIC]
    return [_question_to_critic(meeting, seat, last, draft, changes) for seat in critics]


def _question_to_critic(
    meeting: Meeting,
    critic: Seat,
    last: ReviewRound | None,
    draft: str,
    changes: Sequence[Json],
) -> Ask:
    number, before = _next(last), last.register.objections if last else ()
    own = [objection for objection in before if objection.open and objection.critic == critic.name]
    variables = critic_variables(meeting, critic, number, draft, own, changes)
    variables |= since_resuming(meeting)
    to_judge = tuple(criterion["id"] for criterion in variables["criteria"])
    reading = CriticReading(tuple(objection.id for objection in own), to_judge)
    return Ask(_key(number, critic), critic.name, number, _CRITIC, variables, reading)


def _next(last: ReviewRound | None) -> int:
    return 1 if last is None else last.number + 1


def _key(number: int, seat: Seat) -> str:
    return f"round-{number}/ask/{seat.name}"


# --- the arbiter and the secretary --------------------------------------------------------------


def matter_for_arbiter(
    meeting: Meeting, draft: str, results: Mapping[str, Verdict], register: ObjectionRegister
) -> Matter:
    """The draft stands or falls as it is, and never without what is required of it."""
    missing = tuple(c.id for c in meeting.criteria if c.required and results.get(c.id) != "pass")
    choices = accept_or_reject(meeting, one_line(draft, _MOST_CHOICE_CHARACTERS), missing)
    excerpts = put_to_arbiter(meeting, draft, results, register)
    return Matter(meeting.topic, choices, meeting.topic, excerpts)


def synthesis_variables(meeting: Meeting, draft: str, last: ReviewRound) -> dict[str, Json]:
    complete = last.complete(meeting)
    return closing_variables(meeting, draft, last.results, last.register, complete=complete)


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    most, usual = meeting.limits.rounds, usual_rounds(meeting)
    objections = [_longest_objection(meeting)] * MOST_SHOWN_OBJECTIONS
    draft = longest(MOST_DRAFT_CHARACTERS)
    first = question_to_author(meeting).variables
    again = {**first, "draft": draft, "objections": objections, "more": 99}
    to_critics = questions_to_critics(meeting)
    critics = len(to_critics)
    judged = {**to_critics[-1].variables, "draft": draft, "own_objections": objections}
    shown = closing_variables(meeting, draft, {}, ObjectionRegister(), complete=False)
    read = {**shown, "objections": objections}
    return (
        PlannedAsk(_AUTHOR, first, 1, 1),
        PlannedAsk(_AUTHOR, again, usual - 1, most - 1),
        PlannedAsk(_CRITIC, judged, critics * usual, critics * most),
        *plan_ruling(meeting, _longest_matter(meeting)),
        *plan_closing(meeting, SYNTHESIS, read),
    )


def _longest_matter(meeting: Meeting) -> Matter:
    label = meeting.label(meeting.seats[-1].name)
    draft = longest(MOST_DRAFT_CHARACTERS)
    excerpt: dict[str, Json] = {"label": label, "text": longest(MOST_EXCERPT_CHARACTERS)}
    matter = matter_for_arbiter(meeting, draft, {}, ObjectionRegister())
    return replace(matter, excerpts=[*matter.excerpts, *[excerpt] * MOST_SHOWN_OBJECTIONS])


def _longest_objection(meeting: Meeting) -> dict[str, Json]:
    point = longest(MOST_POINT_CHARACTERS)
    raised = Raised(Severity.PREFERENCE, longest(200), longest(MOST_QUOTE_CHARACTERS), point, point)
    objection = Objection("obj-9999", meeting.seats[-1].name, raised, supported=False, round=1)
    change = longest(MOST_TEXT_CHARACTERS)
    label = meeting.label(objection.critic)
    return {**shown_objection(objection), "from": label, "change": change, "state": "closed"}
