"""What a poll asks and shows, and the largest that this can become.

Nobody is shown another's answer, so the questions of every pass are made from the meeting alone;
only the secretary, who groups what was recommended, reads what was answered.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.meeting.meeting import SECRETARY, Meeting, Seat
from app.domain.replies.ballot import RankingReading
from app.domain.replies.reading import Reading
from app.domain.replies.text import clean
from app.domain.steps import Ask
from app.domain.values import Json
from app.formats.poll.ballots import (
    MOST_RECOMMENDATIONS,
    MOST_TITLE_CHARACTERS,
    BinaryReading,
    RecommendationReading,
    ScoringReading,
)
from app.formats.poll.grouping import GroupingReading
from app.formats.poll.recommending import Recommendation
from app.formats.poll.rules import Output, output_of
from app.formats.shared.closing import plan_gate
from app.formats.shared.format import PlannedAsk, longest, seen_by
from app.formats.shared.planning import heaviest_option, most_shown
from app.formats.shared.shuffling import shuffled

_GROUP = "secretary/group"
_MOST_WHY_CHARACTERS = 300
"""Of the reasons for one recommendation, in what the secretary is shown."""


# --- everybody ----------------------------------------------------------------------------------


def questions(meeting: Meeting, number: int) -> list[Ask]:
    """The same for everybody, in the shape that is wanted."""
    output = output_of(meeting.rules)
    return [
        Ask(
            f"round-{number}/ask/{seat.name}",
            seat.name,
            number,
            f"poll/{output}",
            _variables(meeting, seat),
            _reading(meeting, output),
        )
        for seat in meeting.seats
    ]


def _variables(meeting: Meeting, seat: Seat) -> dict[str, Json]:
    return {
        **seen_by(meeting, seat),
        "motion": meeting.motion or "",
        "options": shuffled(meeting.options, meeting.id, seat.name, "options"),
        "criteria": [{"id": each.id, "text": each.text} for each in meeting.criteria],
    }


def _reading(meeting: Meeting, output: Output) -> Reading:
    match output:
        case "ranking":
            return RankingReading(meeting.options)
        case "recommendation":
            return RecommendationReading()
        case "binary":
            return BinaryReading()
        case "scoring":
            return ScoringReading(meeting.options, tuple(each.id for each in meeting.criteria))


# --- the secretary ------------------------------------------------------------------------------


def grouping_question(
    meeting: Meeting, number: int, recommendations: Sequence[Recommendation]
) -> Ask:
    """Nothing can be counted without its answer, so it may draw on the closing reserve."""
    return Ask(
        f"round-{number}/group",
        SECRETARY,
        number,
        _GROUP,
        {"topic": meeting.topic, "recommendations": _numbered(recommendations)},
        GroupingReading(len(recommendations)),
        office=SECRETARY,
        closing=True,
    )


def _numbered(recommendations: Sequence[Recommendation]) -> list[Json]:
    return [
        {"number": number, "title": each.title, "why": clean(each.why, _MOST_WHY_CHARACTERS)}
        for number, each in enumerate(recommendations)
    ]


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the poll, with texts as long as they can become."""
    seats = len(meeting.seats)
    ask = most_shown(questions(meeting, 1))
    planned = (PlannedAsk(ask.template, ask.variables, seats, seats),)
    decision = heaviest_option(meeting, "YES")
    if output_of(meeting.rules) == "recommendation":
        decision = longest(MOST_TITLE_CHARACTERS)
        planned += (PlannedAsk(_GROUP, _most_grouped(meeting), 1, 1, SECRETARY),)
    return planned + plan_gate(meeting, decision)


def _most_grouped(meeting: Meeting) -> dict[str, Json]:
    most = [
        {
            "number": number,
            "title": longest(MOST_TITLE_CHARACTERS),
            "why": longest(_MOST_WHY_CHARACTERS),
        }
        for number in range(MOST_RECOMMENDATIONS * len(meeting.seats))
    ]
    return {"topic": meeting.topic, "recommendations": most}
