"""The round table (PROTOCOLS 4).

Each round every participant is asked at once and ends on a stance toward the motion. Full or
majority consensus ends the meeting; otherwise the secretary compresses what was said into a
summary of constant size, sharpens the motion, and another round follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain import events
from app.domain.consensus import Consensus, StanceTally
from app.domain.flips import Position, flips
from app.domain.meeting import SECRETARY, Json, Meeting, labels
from app.domain.outcome import (
    Completeness,
    DecidedBy,
    DecisionSource,
    Degradation,
    Dissent,
    Outcome,
    Result,
    StopReason,
)
from app.domain.progress import FIRST_ROUND, Progress, stance_progress
from app.domain.reply_text import clean
from app.domain.sections import SectionsReading
from app.domain.stance import Stance, StanceReading
from app.domain.steps import Ask, Conversation, Part, Reply, Stopped, consult, gather, note
from app.domain.summary import (
    MOST_MOTION_CHARACTERS,
    MOST_SUMMARY_CHARACTERS,
    bounded_motion,
    bounded_summary,
    extractive_summary,
)
from app.formats.closing import draft_synthesis, missing_replies, result_of
from app.formats.format import Format, PlannedAsk, longest

_MOST_QUOTED_CHARACTERS = 4_000
"""Of one reply, in what the secretary is shown."""

_SILENT_ROUNDS = 2
"""Rounds running without a usable reply, after which the agents count as unavailable."""


@dataclass(frozen=True)
class RoundtableRules:
    """A round table has no settings of its own."""


@dataclass(frozen=True, slots=True)
class _Round:
    motion: str
    replies: tuple[Reply, ...]
    tally: StanceTally
    progress: Progress

    @property
    def number(self) -> int:
        return self.replies[0].round

    @property
    def stances(self) -> dict[str, str]:
        return {reply.who: reply.values["stance"] for reply in self.replies}

    @property
    def usable(self) -> int:
        return sum(reply.usable for reply in self.replies)


@dataclass(slots=True)
class _Table:
    """What is known so far."""

    meeting: Meeting
    motion: str
    summary: str = ""
    rounds: list[_Round] = field(default_factory=list[_Round])
    summaries_by_code: list[int] = field(default_factory=list[int])

    @property
    def last(self) -> _Round | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def consensus(self) -> Consensus:
        return self.last.tally.consensus if self.last else Consensus.NONE

    @property
    def motion_is_topic(self) -> bool:
        """Whether stances were about the bare topic, which may be a question."""
        return self.meeting.motion is None and self.motion == self.meeting.topic


def hold(meeting: Meeting) -> Conversation:
    table = _Table(meeting, meeting.motion or meeting.topic)
    synthesis: Mapping[str, Json] | None = None
    try:
        stopped_by = yield from _talk(table)
    except Stopped as stopped:
        stopped_by = stopped.reason
    if stopped_by is not StopReason.CANCELLATION and any(r.usable for r in table.rounds):
        try:
            synthesis = yield from _synthesise(table)
        except Stopped as stopped:
            stopped_by = stopped.reason
    return _outcome(table, stopped_by, synthesis)


def _talk(table: _Table) -> Part[StopReason]:
    """Round after round, until one of them ends the meeting."""
    while True:
        closed = yield from _hold_round(table)
        table.rounds.append(closed)
        stop = yield from _stop_after(table)
        if stop is not None:
            return stop
        yield from _compress(table)


def _hold_round(table: _Table) -> Part[_Round]:
    number = len(table.rounds) + 1
    motion = table.motion
    yield from note(f"round-{number}/start", events.ROUND_STARTED, round=number, motion=motion)
    replies = yield from gather(*_questions(table, number))
    closed = _Round(motion, replies, _tally(replies), _progress(table.last, replies))
    yield from note(
        f"round-{number}/close",
        events.ROUND_CLOSED,
        round=number,
        motion=motion,
        stances=closed.stances,
        counts=closed.tally.counts(),
        consensus=closed.tally.consensus.value,
        progress=closed.progress.record(),
        effective_participants=closed.usable,
    )
    return closed


def _questions(table: _Table, number: int) -> list[Ask]:
    meeting = table.meeting
    before = table.last.stances if table.last else {}
    shared: dict[str, Json] = {
        "topic": meeting.topic,
        "context": meeting.context,
        "options": list(meeting.options),
        "motion": table.motion,
        "summary": table.summary,
        "round": number,
        "rounds": meeting.limits.rounds,
    }
    return [
        Ask(
            f"round-{number}/ask/{seat.name}",
            seat.name,
            number,
            "roundtable/ask",
            shared
            | {
                "name": seat.name,
                "role": seat.role,
                "label": meeting.label(seat.name),
                "last_stance": before.get(seat.name),
            },
            StanceReading(),
        )
        for seat in meeting.seats
    ]


def _tally(replies: Sequence[Reply]) -> StanceTally:
    return StanceTally.of(Stance(reply.values["stance"]) for reply in replies)


def _progress(before: _Round | None, replies: Sequence[Reply]) -> Progress:
    if before is None:
        return FIRST_ROUND
    return stance_progress(_taken(before.replies), _taken(replies))


def _taken(replies: Sequence[Reply]) -> dict[str, str]:
    return {reply.who: reply.values["stance"] for reply in replies if reply.usable}


def _stop_after(table: _Table) -> Part[StopReason | None]:
    """Whether the round just closed is the last, in the order of PROTOCOLS 11."""
    number = len(table.rounds)
    limits = table.meeting.limits
    if table.consensus.reached:
        return StopReason.CONSENSUS
    lately = table.rounds[-_SILENT_ROUNDS:]
    if len(lately) == _SILENT_ROUNDS and not any(round_.usable for round_ in lately):
        return StopReason.AGENTS_UNAVAILABLE
    idle = table.rounds[-limits.no_progress_rounds :]
    if len(idle) == limits.no_progress_rounds and not any(r.progress.made for r in idle):
        yield from note(
            f"round-{number}/stalled",
            events.PROGRESS_STALLED,
            kind="stalemate",
            round=number,
            rounds_without_progress=len(idle),
        )
        return StopReason.NO_PROGRESS
    return StopReason.ROUNDS if number >= limits.rounds else None


def _compress(table: _Table) -> Part[None]:
    """The secretary's new summary and motion; by code if it cannot (PROTOCOLS 4)."""
    number = len(table.rounds)
    reply = yield from consult(
        Ask(
            f"round-{number}/compress",
            SECRETARY,
            number,
            "roundtable/compress",
            _compress_variables(table),
            SectionsReading(("SUMMARY", "MOTION"), required=("SUMMARY",)),
            office=SECRETARY,
        )
    )
    if reply.usable:
        table.summary = bounded_summary(reply.values["sections"]["summary"])
        table.motion = bounded_motion(reply.values["sections"]["motion"]) or table.motion
    else:
        closed = table.rounds[-1]
        table.summary = extractive_summary(closed.replies, labels(table.meeting))
        table.summaries_by_code.append(number)
    yield from note(
        f"round-{number}/summary",
        events.SUMMARY_UPDATED,
        round=number,
        summary=table.summary,
        motion=table.motion,
        source="secretary" if reply.usable else "extractive",
        reason=reply.reason,
    )


def _compress_variables(table: _Table) -> dict[str, Json]:
    closed = table.rounds[-1]
    return {
        "topic": table.meeting.topic,
        "motion": closed.motion,
        "summary": table.summary,
        "round": closed.number,
        "replies": _quoted(table.meeting, closed.replies),
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }


def _quoted(meeting: Meeting, replies: Sequence[Reply]) -> list[Json]:
    return [
        {
            "label": meeting.label(reply.who),
            "stance": reply.values["stance"],
            "text": clean(reply.text, _MOST_QUOTED_CHARACTERS) if reply.usable else "",
        }
        for reply in replies
    ]


def _synthesise(table: _Table) -> Part[Mapping[str, Json] | None]:
    closed = table.rounds[-1]
    variables: dict[str, Json] = {
        "topic": table.meeting.topic,
        "context": table.meeting.context,
        "motion": closed.motion,
        "summary": table.summary,
        "consensus": closed.tally.consensus.value,
        "replies": _quoted(table.meeting, closed.replies),
    }
    return (yield from draft_synthesis("roundtable/synthesis", variables, closed.number))


def _outcome(
    table: _Table, stopped_by: StopReason, synthesis: Mapping[str, Json] | None
) -> Outcome:
    last = table.last
    decided = stopped_by is StopReason.CONSENSUS
    result, completeness = result_of(stopped_by)
    if decided:
        result, completeness = Result.DECIDED, Completeness.COMPLETE
    decision, source = _decision(table, synthesis) if decided else (None, None)
    return Outcome(
        result=result,
        stopped_by=stopped_by,
        completeness=completeness,
        consensus=table.consensus.value,
        decision=decision,
        decision_source=source,
        decided_by=_decided_by(table) if decided else None,
        effective_participants=last.usable if last else 0,
        dissents=_dissents(last),
        synthesis=synthesis,
        numbers_name="tally",
        numbers=_numbers(table),
        findings=_findings(table),
        degradation=_degradation(table, synthesis),
    )


def _decision(table: _Table, synthesis: Mapping[str, Json] | None) -> tuple[str, DecisionSource]:
    """The motion; but a bare topic may be a question, then the synthesis' one sentence."""
    if table.motion_is_topic and synthesis and synthesis["decision"]:
        return synthesis["decision"], "synthesis"
    return table.rounds[-1].motion, "motion"


def _decided_by(table: _Table) -> DecidedBy:
    return DecidedBy("consensus", table.consensus.value, table.rounds[-1].motion)


def _dissents(last: _Round | None) -> tuple[Dissent, ...]:
    if last is None:
        return ()
    return tuple(
        Dissent(reply.who, Stance.DISAGREE.value, reply.text, round=reply.round)
        for reply in last.replies
        if reply.values["stance"] == Stance.DISAGREE.value
    )


def _numbers(table: _Table) -> dict[str, Json]:
    last = table.last
    if last is None:
        return {"participants": len(table.meeting.seats), "rounds": 0, "counts": None}
    return {
        "participants": last.tally.seats,
        "rounds": len(table.rounds),
        "counts": last.tally.counts(),
        "stances": last.stances,
        "agree_share": {"numerator": last.tally.agree, "denominator": last.tally.seats},
    }


def _findings(table: _Table) -> dict[str, Json]:
    changed = flips([_positions(round_) for round_ in table.rounds])
    return {
        "baseline": _view(table.rounds[0]) if table.rounds else None,
        "final": _view(table.rounds[-1]) if table.rounds else None,
        "flips": [flip.record() for flip in changed],
        "unexplained_flips": sum(flip.reason is None for flip in changed),
        "reservations": _reservations(table.last),
    }


def _positions(round_: _Round) -> dict[str, Position]:
    return {
        reply.who: Position(
            reply.values["stance"],
            reply.values.get("changed_because"),
            stands=reply.usable and reply.values["stance"] != Stance.UNKNOWN.value,
        )
        for reply in round_.replies
    }


def _view(round_: _Round) -> dict[str, Json]:
    return {
        "round": round_.number,
        "motion": round_.motion,
        "counts": round_.tally.counts(),
        "consensus": round_.tally.consensus.value,
    }


def _reservations(last: _Round | None) -> list[Json]:
    """Who did not agree without opposing; shown beside the dissents so that nothing is lost."""
    if last is None:
        return []
    return [
        {"participant": reply.who, "position": Stance.NEUTRAL.value, "rationale": reply.text}
        for reply in last.replies
        if reply.usable and reply.values["stance"] == Stance.NEUTRAL.value
    ]


def _degradation(table: _Table, synthesis: Mapping[str, Json] | None) -> tuple[Degradation, ...]:
    found = missing_replies(round_.replies for round_ in table.rounds)
    if table.summaries_by_code:
        found += (Degradation("summary_by_code", rounds=tuple(table.summaries_by_code)),)
    if synthesis is None:
        found += (Degradation("synthesis_by_code"),)
    return found


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    seats = len(meeting.seats)
    rounds = meeting.limits.rounds
    table = _Table(meeting, meeting.motion or meeting.topic)
    opening = _questions(table, 1)[0].variables
    summary = longest(MOST_SUMMARY_CHARACTERS)
    later = {
        **opening,
        "summary": summary,
        "motion": longest(MOST_MOTION_CHARACTERS),
        "last_stance": Stance.DISAGREE.value,
    }
    quoted: dict[str, Json] = {
        "label": labels(meeting)[meeting.seats[-1].name],
        "stance": Stance.DISAGREE.value,
        "text": longest(_MOST_QUOTED_CHARACTERS),
    }
    read = {
        **later,
        "consensus": Consensus.MAJORITY.value,
        "replies": [quoted] * seats,
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }
    usual = (rounds + 1) // 2
    return (
        PlannedAsk("roundtable/ask", opening, seats, seats),
        PlannedAsk("roundtable/ask", later, seats * (usual - 1), seats * (rounds - 1)),
        PlannedAsk("roundtable/compress", read, usual - 1, rounds - 1, SECRETARY),
        PlannedAsk("roundtable/synthesis", read, 1, 1, SECRETARY),
    )


def _perspectives(topic: str, rules: Mapping[str, Json], count: int) -> tuple[str, ...]:
    del topic, rules
    keys = ("builder", "operator", "sceptic", "user", "steward")
    return tuple(keys[index % len(keys)] for index in range(count))


FORMAT = Format(
    name="roundtable",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=_perspectives,
    rules=RoundtableRules,
    usual_seats=lambda rules: 3,
)
