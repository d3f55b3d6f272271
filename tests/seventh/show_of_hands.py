"""A show of hands: everybody is asked once, and more hands up than down adopt the motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import DecidedBy, StopReason
from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import Read, Reply, ReplyStatus
from app.domain.replies.text import last_json_object
from app.domain.steps import Ask, Conversation, Part, gather
from app.domain.values import Json
from app.formats.shared.ending import Ending, Found, outcome_of
from app.formats.shared.format import Format, PlannedAsk, in_turn, seen_by
from app.formats.shared.round_events import tell_close, tell_start
from app.formats.shared.stops import until_stopped


class HandReading:
    def read(self, text: str) -> Read:
        hand = (last_json_object(text) or {}).get("hand")
        known = hand in ("up", "down")
        missing = Message.of(Code.KEY_MISSING, key="hand")
        return Read({"hand": hand if known else None}, None if known else missing)

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"hand": None}


@dataclass(frozen=True)
class Rules:
    """It has none."""


def hold(meeting: Meeting) -> Conversation:
    heard: list[Reply] = []
    stopped_by = yield from until_stopped(_raise_hands(meeting, heard))
    hands = [reply.values["hand"] for reply in heard if reply.usable]
    counts = {hand: hands.count(hand) for hand in ("up", "down")}
    motion = meeting.motion or meeting.topic
    found = Found(
        numbers_name="hands",
        numbers={"participants": len(meeting.seats), "rounds": 1, "counts": counts},
        heard=[heard],
        decision=(motion, "motion") if counts["up"] > counts["down"] else None,
        decided_by=DecidedBy("vote", "show_of_hands", motion),
        effective=len(hands),
        findings={"raised": counts["up"]},
        counted=heard,
    )
    return outcome_of(meeting, Ending(stopped_by, counts=True), found)


def _raise_hands(meeting: Meeting, heard: list[Reply]) -> Part[StopReason]:
    # The second version has something else to tell, and so another log.
    yield from tell_start(1, meeting.motion if meeting.format_version == 1 else "Hands up!")
    heard += yield from gather(*_questions(meeting))
    yield from tell_close(1, heard, motion=meeting.motion)
    return StopReason.COMPLETED


def _questions(meeting: Meeting) -> list[Ask]:
    template = f"{'show_of_hands' if meeting.format_version == 1 else 'show_of_hands-2'}/ask"
    return [
        Ask(f"round-1/ask/{s.name}", s.name, 1, template, seen_by(meeting, s), HandReading())
        for s in meeting.seats
    ]


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    seats, (ask, *_) = len(meeting.seats), _questions(meeting)
    return (PlannedAsk(ask.template, ask.variables, seats, seats),)


FORMAT = Format(
    name="show_of_hands",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=lambda topic, rules, count: in_turn(("left", "right"), count),
    rules=Rules,
    usual_seats=lambda rules: 3,
    package=__package__,
)


SECOND = replace(FORMAT, version=2)
