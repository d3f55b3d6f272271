"""What a round table asks and shows, and the largest that this can become.

All of it is of constant size: the motion, the secretary's notes, and the round that was held last.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.meeting.meeting import SECRETARY, Meeting
from app.domain.replies.reading import Reply
from app.domain.replies.text import clean
from app.domain.rounds.consensus import Consensus
from app.domain.rounds.summary import MOST_MOTION_CHARACTERS, MOST_SUMMARY_CHARACTERS
from app.domain.steps import Ask
from app.domain.values import Json
from app.formats.roundtable.findings import StanceRound
from app.formats.roundtable.stance import Stance, StanceReading
from app.formats.shared.arbitrating import Matter, accept_or_reject, plan_ruling
from app.formats.shared.closing import plan_closing
from app.formats.shared.format import PlannedAsk, longest, seen_by, usual_rounds
from app.formats.shared.notes import MOST_QUOTED_CHARACTERS

_ASK = "roundtable/ask"
COMPRESS = "roundtable/compress"
SYNTHESIS = "roundtable/synthesis"

_ADOPT = "adopt"


# --- the participants ---------------------------------------------------------------------------


def questions(
    meeting: Meeting, motion: str, summary: str = "", last: StanceRound | None = None
) -> list[Ask]:
    """Those of the round that follows the last one, on the motion as it stands now."""
    number = 1 if last is None else last.number + 1
    before = {} if last is None else last.stances
    shared: dict[str, Json] = {
        "options": list(meeting.options),
        "motion": motion,
        "summary": summary,
        "round": number,
        "rounds": meeting.limits.rounds,
    }
    return [
        Ask(
            f"round-{number}/ask/{seat.name}",
            seat.name,
            number,
            _ASK,
            {**seen_by(meeting, seat), **shared, "last_stance": before.get(seat.name)},
            StanceReading(),
        )
        for seat in meeting.seats
    ]


# --- the secretary ------------------------------------------------------------------------------


def compress_variables(meeting: Meeting, closed: StanceRound, summary: str) -> dict[str, Json]:
    return {
        "topic": meeting.topic,
        "motion": closed.motion,
        "summary": summary,
        "round": closed.number,
        "replies": _quoted(meeting, closed.replies),
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }


def synthesis_variables(meeting: Meeting, closed: StanceRound, summary: str) -> dict[str, Json]:
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "motion": closed.motion,
        "summary": summary,
        "consensus": closed.tally.consensus.value,
        "replies": _quoted(meeting, closed.replies),
    }


def _quoted(meeting: Meeting, replies: Sequence[Reply]) -> list[Json]:
    return [
        {
            "label": meeting.label(reply.who),
            "stance": reply.values["stance"],
            "text": clean(reply.text, MOST_QUOTED_CHARACTERS) if reply.usable else "",
        }
        for reply in replies
    ]


# --- the arbiter --------------------------------------------------------------------------------


def matter_for_arbiter(meeting: Meeting, last: StanceRound) -> Matter:
    """An arbiter adopts or rejects the motion as it stands (PROTOCOLS 11, arbitration)."""
    return _matter(meeting, last.motion, _quoted(meeting, last.replies))


def _matter(meeting: Meeting, motion: str, quoted: Sequence[Json]) -> Matter:
    choices = accept_or_reject(meeting, motion, accept=_ADOPT)
    return Matter(motion, choices, motion, quoted)


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    seats, most, usual = len(meeting.seats), meeting.limits.rounds, usual_rounds(meeting)
    opening = questions(meeting, meeting.motion or meeting.topic)[0].variables
    motion = longest(MOST_MOTION_CHARACTERS)
    later = {
        **opening,
        "summary": longest(MOST_SUMMARY_CHARACTERS),
        "motion": motion,
        "last_stance": Stance.DISAGREE.value,
    }
    quoted: dict[str, Json] = {
        "label": meeting.label(meeting.seats[-1].name),
        "stance": Stance.DISAGREE.value,
        "text": longest(MOST_QUOTED_CHARACTERS),
    }
    read = {
        **later,
        "consensus": Consensus.MAJORITY.value,
        "replies": [quoted] * seats,
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }
    return (
        PlannedAsk(_ASK, opening, seats, seats),
        PlannedAsk(_ASK, later, seats * (usual - 1), seats * (most - 1)),
        PlannedAsk(COMPRESS, read, usual - 1, most - 1, SECRETARY),
        *plan_ruling(meeting, _matter(meeting, motion, [quoted] * seats)),
        *plan_closing(meeting, SYNTHESIS, read),
    )
