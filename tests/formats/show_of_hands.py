"""A format that is nobody's: it says nothing of its records, and they have to do without.

It is registered from outside, as one is that somebody brings along (``brought_along``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Completeness, DecidedBy, Outcome, Result, StopReason
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.rounds.progress import FIRST_ROUND
from app.domain.steps import Ask, Conversation, gather
from app.domain.values import Json
from app.formats import FORMATS
from app.formats.shared.format import Format
from app.formats.shared.round_events import tell_close, tell_start


@dataclass(frozen=True)
class HandsRules:
    """None."""


class HandReading:
    def read(self, text: str) -> Read:
        return Read({"ballot": "UP" if "UP" in text else "DOWN", "seconds_raised": len(text)})

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        return {"ballot": None, "seconds_raised": None}


def hold(meeting: Meeting) -> Conversation:
    motion = meeting.motion or meeting.topic
    yield from tell_start(1, motion)
    asks = [
        Ask(f"round-1/ask/{seat.name}", seat.name, 1, "hands/ask", {}, HandReading())
        for seat in meeting.seats
    ]
    replies = yield from gather(*asks)
    found = Counter(reply.values["ballot"] for reply in replies if reply.usable)
    counts = {"UP": found["UP"], "DOWN": found["DOWN"]}
    view: dict[str, Json] = {"round": 1, "motion": motion, "counts": counts, "consensus": None}
    yield from tell_close(1, replies, motion=motion, counts=counts, progress=FIRST_ROUND)
    passed = 2 * found["UP"] > len(meeting.seats)
    return Outcome(
        Result.DECIDED if passed else Result.UNDECIDED,
        StopReason.COMPLETED,
        Completeness.COMPLETE,
        decision=motion if passed else None,
        decision_source="motion" if passed else None,
        decided_by=DecidedBy("vote", "hands", motion) if passed else None,
        numbers_name="hands",
        numbers={"participants": len(meeting.seats), "counts": counts},
        findings={"baseline": view, "final": view, "flips": [], "unexplained_flips": 0},
    )


SHOW_OF_HANDS = Format(
    name="show_of_hands",
    version=1,
    hold=hold,
    plan=lambda meeting: (),
    perspectives=lambda topic, rules, count: ("hand",) * count,
    rules=HandsRules,
    usual_seats=lambda rules: 3,
)


@contextmanager
def brought_along(*formats: Format) -> Iterator[None]:
    """Registered for a while."""
    before = FORMATS.versions
    for format_ in formats:
        FORMATS.register(format_)
    yield
    FORMATS.__init__(before)
