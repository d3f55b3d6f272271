"""The secretary's notes between rounds (PROTOCOLS 4, rolling summary)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.domain.meeting.events import SummaryUpdated
from app.domain.meeting.meeting import SECRETARY
from app.domain.replies.sections import SectionsReading
from app.domain.rounds.summary import bounded_motion, bounded_summary
from app.domain.steps import Ask, Part, consult, note
from app.domain.values import Json

MOST_QUOTED_CHARACTERS = 4_000
"""Of one reply, wherever others are shown it."""


@dataclass(slots=True)
class Notes:
    """The secretary's notes so far (PROTOCOLS 4, rolling summary).

    ``motion`` is None in a format that does not restate one. ``by_code`` are the rounds after
    which the secretary gave nothing that could be used.
    """

    summary: str = ""
    motion: str | None = None
    by_code: list[int] = field(default_factory=list[int])


def compress(
    notes: Notes,
    template: str,
    variables: Mapping[str, Json],
    round_: int,
    by_code: Callable[[], str],
) -> Part[None]:
    """Have the notes brought up to date; where that fails, by the summary made ``by_code``."""
    # MOTION is read in every format, or an answerer's habit would end up inside the summary.
    reading = SectionsReading(("SUMMARY", "MOTION"), required=("SUMMARY",))
    key = f"round-{round_}/compress"
    reply = yield from consult(
        Ask(key, SECRETARY, round_, template, variables, reading, office=SECRETARY)
    )
    if reply.usable:
        sections = reply.values["sections"]
        notes.summary = bounded_summary(sections["summary"])
        notes.motion = notes.motion and (bounded_motion(sections["motion"]) or notes.motion)
    else:
        notes.summary = by_code()
        notes.by_code.append(round_)
    summed = SummaryUpdated(
        round=round_,
        summary=notes.summary,
        motion=notes.motion,
        source="secretary" if reply.usable else "extractive",
        reason=reply.reason,
    )
    yield from note(f"round-{round_}/summary", summed)
