"""The round table (PROTOCOLS 4).

Each round every participant is asked at once and ends on a stance toward the motion. Full or
majority consensus ends the meeting; otherwise the secretary compresses what was said into a
summary of constant size, sharpens the motion, and another round follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain import events
from app.domain.arbitration import Choice
from app.domain.consensus import Consensus, StanceTally
from app.domain.meeting import SECRETARY, Json, Meeting, labels
from app.domain.outcome import (
    DecidedBy,
    DecisionSource,
    Outcome,
    Result,
    StopReason,
)
from app.domain.progress import FIRST_ROUND, Progress, stance_progress
from app.domain.reply_text import clean
from app.domain.roundtable_record import StanceRound, dissents, findings, numbers
from app.domain.stance import Stance, StanceReading
from app.domain.steps import Ask, Conversation, Part, Reply, gather, note
from app.domain.summary import (
    MOST_MOTION_CHARACTERS,
    MOST_SUMMARY_CHARACTERS,
    extractive_summary,
)
from app.formats.arbitrating import REJECT, Matter, Settled, plan_ruling, settle
from app.formats.closing import result_of
from app.formats.format import Format, PlannedAsk, longest
from app.formats.rounds import (
    MOST_QUOTED_CHARACTERS,
    Ending,
    Notes,
    close,
    compress,
    degradation,
    plan_closing,
    stop_after,
    until_stopped,
    usable,
)

_ADOPT = "adopt"


@dataclass(frozen=True)
class RoundtableRules:
    """A round table has no settings of its own."""


@dataclass(slots=True)
class _Table:
    """What is known so far; the motion to judge next stands in the secretary's notes."""

    meeting: Meeting
    notes: Notes
    rounds: list[StanceRound] = field(default_factory=list[StanceRound])

    @classmethod
    def of(cls, meeting: Meeting) -> _Table:
        return cls(meeting, Notes(motion=meeting.motion or meeting.topic))

    @property
    def motion(self) -> str:
        return self.notes.motion or self.meeting.topic

    @property
    def last(self) -> StanceRound | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def consensus(self) -> Consensus:
        return self.last.tally.consensus if self.last else Consensus.NONE

    @property
    def motion_is_topic(self) -> bool:
        """Whether stances were about the bare topic, which may be a question."""
        return self.meeting.motion is None and self.motion == self.meeting.topic


def hold(meeting: Meeting) -> Conversation:
    table = _Table.of(meeting)
    stopped_by = yield from until_stopped(_talk(table))
    settled = Settled(stopped_by)
    if table.last is not None:
        matter = _matter(table.last.motion, _quoted(meeting, table.last.replies))
        settled = yield from settle(meeting, stopped_by, len(table.rounds), matter)
    ending = yield from close(
        meeting,
        settled.stopped_by,
        table.rounds,
        "roundtable/synthesis",
        lambda: _synthesis_variables(table),
    )
    return _outcome(table, ending, settled)


def _talk(table: _Table) -> Part[StopReason]:
    """Round after round, until one of them ends the meeting."""
    while True:
        closed = yield from _hold_round(table)
        table.rounds.append(closed)
        limits = table.meeting.limits
        stop = yield from stop_after(table.rounds, limits, agreed=table.consensus.reached)
        if stop is not None:
            return stop
        yield from compress(
            table.notes,
            "roundtable/compress",
            _compress_variables(table),
            closed.number,
            lambda: extractive_summary(table.rounds[-1].replies, labels(table.meeting)),
        )


def _hold_round(table: _Table) -> Part[StanceRound]:
    number = len(table.rounds) + 1
    motion = table.motion
    yield from note(f"round-{number}/start", events.ROUND_STARTED, round=number, motion=motion)
    replies = yield from gather(*_questions(table, number))
    closed = StanceRound(motion, replies, _tally(replies), _progress(table.last, replies))
    yield from note(
        f"round-{number}/close",
        events.ROUND_CLOSED,
        round=number,
        motion=motion,
        stances=closed.stances,
        counts=closed.tally.counts(),
        consensus=closed.tally.consensus.value,
        progress=closed.progress.record(),
        effective_participants=usable(closed),
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
        "summary": table.notes.summary,
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


def _progress(before: StanceRound | None, replies: Sequence[Reply]) -> Progress:
    if before is None:
        return FIRST_ROUND
    return stance_progress(_taken(before.replies), _taken(replies))


def _taken(replies: Sequence[Reply]) -> dict[str, str]:
    return {reply.who: reply.values["stance"] for reply in replies if reply.usable}


def _compress_variables(table: _Table) -> dict[str, Json]:
    closed = table.rounds[-1]
    return {
        "topic": table.meeting.topic,
        "motion": closed.motion,
        "summary": table.notes.summary,
        "round": closed.number,
        "replies": _quoted(table.meeting, closed.replies),
        "most_characters": MOST_SUMMARY_CHARACTERS,
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


def _synthesis_variables(table: _Table) -> dict[str, Json]:
    closed = table.rounds[-1]
    return {
        "topic": table.meeting.topic,
        "context": table.meeting.context,
        "motion": closed.motion,
        "summary": table.notes.summary,
        "consensus": closed.tally.consensus.value,
        "replies": _quoted(table.meeting, closed.replies),
    }


def _matter(motion: str, quoted: Sequence[Json]) -> Matter:
    """An arbiter adopts or rejects the motion as it stands (PROTOCOLS 11, arbitration)."""
    choices = (Choice(_ADOPT, motion), Choice(REJECT, f"{REJECT}: {motion}"))
    return Matter(motion, choices, motion, quoted)


def _outcome(table: _Table, ending: Ending, settled: Settled) -> Outcome:
    last = table.last
    decided = ending.stopped_by in (StopReason.CONSENSUS, StopReason.RULING)
    result, completeness = result_of(ending.stopped_by)
    if decided:
        result, completeness = Result.DECIDED, ending.completeness(table.meeting)
    agreed = _decision(table, ending.synthesis) if decided else (None, None)
    decision, source = settled.decision or agreed
    return Outcome(
        result=result,
        stopped_by=ending.stopped_by,
        completeness=completeness,
        consensus=table.consensus.value,
        decision=decision,
        decision_source=source,
        decided_by=(settled.decided_by or _decided_by(table)) if decided else None,
        effective_participants=usable(last) if last else 0,
        dissents=dissents(last, lost=_lost_side(settled)) + ending.dissents(),
        synthesis=ending.synthesis,
        numbers_name="tally",
        numbers=numbers(table.rounds, len(table.meeting.seats)),
        findings={**findings(table.rounds), **settled.findings(), **ending.findings()},
        degradation=degradation(table.meeting, table.rounds, table.notes, ending),
    )


def _decision(table: _Table, synthesis: Mapping[str, Json] | None) -> tuple[str, DecisionSource]:
    """The motion; but a bare topic may be a question, then the synthesis' one sentence."""
    if table.motion_is_topic and synthesis and synthesis["decision"]:
        return synthesis["decision"], "synthesis"
    return table.rounds[-1].motion, "motion"


def _lost_side(settled: Settled) -> Stance:
    """Whose view lost: who opposed the motion, or who backed it when it was rejected."""
    rejected = settled.choice is not None and settled.choice.id == REJECT
    return Stance.AGREE if rejected else Stance.DISAGREE


def _decided_by(table: _Table) -> DecidedBy:
    return DecidedBy("consensus", table.consensus.value, table.rounds[-1].motion)


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    seats = len(meeting.seats)
    rounds = meeting.limits.rounds
    table = _Table.of(meeting)
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
        "text": longest(MOST_QUOTED_CHARACTERS),
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
        *plan_ruling(meeting, _matter(longest(MOST_MOTION_CHARACTERS), [quoted] * seats)),
        *plan_closing(meeting, "roundtable/synthesis", read),
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
    uses=frozenset({"arbiter", "options"}),
)
