"""The round table (PROTOCOLS 4).

Each round every participant is asked at once and ends on a stance toward the motion. Full or
majority consensus ends the meeting; otherwise the secretary compresses what was said into a
summary of constant size, sharpens the motion, and another round follows. Resumed, it goes on from
the notes and the motion as they stood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.meeting.meeting import Meeting, labels
from app.domain.meeting.outcome import (
    DecidedBy,
    DecisionSource,
    Outcome,
    StopReason,
)
from app.domain.replies.reading import Reply
from app.domain.rounds.consensus import Consensus
from app.domain.rounds.progress import FIRST_ROUND, Progress, stance_progress
from app.domain.rounds.summary import extractive_summary
from app.domain.steps import Conversation, Part, gather
from app.domain.values import Json
from app.formats.roundtable.findings import StanceRound, dissents, findings, numbers
from app.formats.roundtable.questions import (
    COMPRESS,
    SYNTHESIS,
    compress_variables,
    matter_for_arbiter,
    plan,
    questions,
    synthesis_variables,
)
from app.formats.roundtable.record import RoundtableRecord
from app.formats.roundtable.stance import Stance
from app.formats.roundtable.tally import StanceTally
from app.formats.shared.arbitrating import REJECT, ArbitrationResult, arbitrate_if_open
from app.formats.shared.ending import Ending, Found, close, gate_dissents, outcome_of
from app.formats.shared.format import Format, in_turn
from app.formats.shared.notes import Notes, compress
from app.formats.shared.round_events import tell_close, tell_start
from app.formats.shared.stops import same_split, stop_after, until_stopped, usable

_PERSPECTIVES = ("builder", "operator", "sceptic", "user", "steward")


@dataclass(frozen=True)
class RoundtableRules:
    """A round table has no settings of its own."""


@dataclass(slots=True)
class _Table:
    """What is known so far; the motion to judge next stands in the secretary's notes."""

    meeting: Meeting
    notes: Notes
    rounds: list[StanceRound] = field(default_factory=list[StanceRound])

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
    table = _Table(meeting, Notes(motion=meeting.motion or meeting.topic))
    stopped_by = yield from until_stopped(_talk(table))
    settled = ArbitrationResult(stopped_by)
    if table.last is not None:
        matter = matter_for_arbiter(meeting, table.last)
        settled = yield from arbitrate_if_open(meeting, stopped_by, len(table.rounds), matter)
    ending = yield from close(
        meeting,
        settled.stopped_by,
        table.rounds,
        SYNTHESIS,
        lambda: synthesis_variables(meeting, table.rounds[-1], table.notes.summary),
    )
    return _outcome(table, ending, settled)


def _talk(table: _Table) -> Part[StopReason]:
    """Round after round, until one of them ends the meeting."""
    while True:
        closed = yield from _hold_round(table)
        table.rounds.append(closed)
        agreed = table.consensus.reached
        stop = yield from stop_after(table.rounds, table.meeting, agreed=agreed)
        if stop is not None:
            return stop
        yield from compress(
            table.notes,
            COMPRESS,
            compress_variables(table.meeting, closed, table.notes.summary),
            closed.number,
            lambda: extractive_summary(table.rounds[-1].replies, labels(table.meeting)),
        )


def _hold_round(table: _Table) -> Part[StanceRound]:
    number = len(table.rounds) + 1
    motion = table.motion
    yield from tell_start(number, motion)
    replies = yield from gather(*questions(table.meeting, motion, table.notes.summary, table.last))
    closed = StanceRound(motion, replies, _tally(replies), _progress(table.last, replies))
    yield from tell_close(
        number,
        replies,
        motion=motion,
        stances=closed.stances,
        counts=closed.tally.counts(),
        consensus=closed.tally.consensus.value,
        progress=closed.progress,
    )
    return closed


def _tally(replies: Sequence[Reply]) -> StanceTally:
    return StanceTally.of(Stance(reply.values["stance"]) for reply in replies)


def _progress(before: StanceRound | None, replies: Sequence[Reply]) -> Progress:
    if before is None:
        return FIRST_ROUND
    return stance_progress(_taken(before.replies), _taken(replies))


def _taken(replies: Sequence[Reply]) -> dict[str, str]:
    return {reply.who: reply.values["stance"] for reply in replies if reply.usable}


def _outcome(table: _Table, ending: Ending, settled: ArbitrationResult) -> Outcome:
    last = table.last
    decided = ending.stopped_by in (StopReason.CONSENSUS, StopReason.RULING)
    lost = dissents(last, lost=_lost_side(settled))
    found = Found(
        numbers_name="tally",
        numbers=numbers(table.rounds, len(table.meeting.seats)),
        heard=[round_.replies for round_ in table.rounds],
        decision=(settled.decision or _decision(table, ending.synthesis)) if decided else None,
        decided_by=(settled.decided_by or _decided_by(table)) if decided else None,
        consensus=table.consensus.value,
        effective=usable(last) if last else 0,
        dissents=lost + gate_dissents(ending.closing),
        stalled=same_split(table.rounds, table.meeting),
        findings=findings(table.rounds),
        summed_by_code=table.notes.by_code,
    )
    return outcome_of(table.meeting, ending, found, settled)


def _decision(table: _Table, synthesis: Mapping[str, Json] | None) -> tuple[str, DecisionSource]:
    """The motion; but a bare topic may be a question, then the synthesis' one sentence."""
    if table.motion_is_topic and synthesis and synthesis["decision"]:
        return synthesis["decision"], "synthesis"
    return table.rounds[-1].motion, "motion"


def _lost_side(settled: ArbitrationResult) -> Stance:
    """Whose view lost: who opposed the motion, or who backed it when it was rejected."""
    rejected = settled.choice is not None and settled.choice.id == REJECT
    return Stance.AGREE if rejected else Stance.DISAGREE


def _decided_by(table: _Table) -> DecidedBy:
    return DecidedBy("consensus", table.consensus.value, table.rounds[-1].motion)


FORMAT = Format(
    name="roundtable",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=lambda topic, rules, count: in_turn(_PERSPECTIVES, count),
    rules=RoundtableRules,
    usual_seats=lambda rules: 3,
    uses=frozenset({"arbiter", "options"}),
    package=__package__,
    record=RoundtableRecord(),
    by_default=True,
)
