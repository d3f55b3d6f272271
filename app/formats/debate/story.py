"""The debate (PROTOCOLS 5).

In round 1 everybody takes a position without seeing another's. From round 2 on each answers the
others, refines its proposal and says whose it backs now, its own or another's. The debate ends
when all back the same one and are sure of it, or when its rounds or its progress run out; then
the finding is that no answer dominates. Resumed, it goes on with another round of answers to all
that was said before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.domain.errors import Fault
from app.domain.meeting.meeting import Meeting, labels
from app.domain.meeting.outcome import (
    DecidedBy,
    DecisionSource,
    Outcome,
    StopReason,
)
from app.domain.replies.reading import Reply
from app.domain.rounds.consensus import Consensus
from app.domain.rounds.progress import FIRST_ROUND, Progress
from app.domain.steps import Conversation, Part, gather
from app.domain.values import Json
from app.formats.debate.debating import Diversity, backed_label, common_option, debate_progress
from app.formats.debate.debating import perspectives as perspectives_for
from app.formats.debate.findings import debate_findings, debate_numbers, dissents
from app.formats.debate.questions import (
    COMPRESS,
    SYNTHESIS,
    compress_variables,
    matter_for_arbiter,
    plan,
    questions,
    rolling,
    synthesis_variables,
)
from app.formats.debate.record import DebateRecord
from app.formats.debate.standing import (
    DebateRound,
    backings,
    concerns_by,
    proposals,
    section_of,
    summary_by_code,
    unresolved_concerns,
)
from app.formats.shared.arbitrating import ArbitrationResult, arbitrate_if_open
from app.formats.shared.ending import Ending, Found, close, gate_dissents, outcome_of
from app.formats.shared.format import Format
from app.formats.shared.notes import Notes, compress
from app.formats.shared.round_events import tell_close, tell_start
from app.formats.shared.stops import same_split, stop_after, until_stopped, usable


@dataclass(frozen=True)
class DebateRules:
    """``history``: whether all earlier replies are shown from round 2 on, or a rolling summary.

    ``diversity``: whether open seats get roles or structural constraints, or what suits the topic.
    """

    history: Literal["full", "rolling"] = "full"
    diversity: Diversity = "auto"


@dataclass(slots=True)
class _Debate:
    """What is known so far."""

    meeting: Meeting
    labels: Mapping[str, str]
    notes: Notes = field(default_factory=Notes)
    rounds: list[DebateRound] = field(default_factory=list[DebateRound])

    @property
    def last(self) -> DebateRound | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def consensus(self) -> Consensus:
        return self.last.consensus if self.last else Consensus.NONE

    @property
    def agreed(self) -> tuple[str, DecisionSource] | None:
        """The option that all named in round 1, or the latest text of the proposal all back."""
        last = self.last
        if last is None or not last.agreed:
            return None
        if last.option is not None:
            return last.option, "option"
        return proposals(self.rounds, self.labels)[last.converged or ""], "proposal"

    @property
    def agreed_text(self) -> str | None:
        return self.agreed[0] if self.agreed else None


def hold(meeting: Meeting) -> Conversation:
    debate = _Debate(meeting, labels(meeting))
    stopped_by = yield from until_stopped(_talk(debate))
    settled = ArbitrationResult(stopped_by)
    if debate.rounds:
        matter = matter_for_arbiter(meeting, debate.rounds)
        settled = yield from arbitrate_if_open(meeting, stopped_by, len(debate.rounds), matter)
    ending = yield from close(
        meeting,
        settled.stopped_by,
        debate.rounds,
        SYNTHESIS,
        lambda: synthesis_variables(
            meeting, debate.rounds, debate.notes.summary, debate.agreed_text
        ),
    )
    return _outcome(debate, ending, settled)


def _talk(debate: _Debate) -> Part[StopReason]:
    """Round after round, until one of them ends the meeting."""
    while True:
        closed = yield from _hold_round(debate)
        debate.rounds.append(closed)
        stop = yield from stop_after(debate.rounds, debate.meeting, agreed=closed.agreed)
        if stop is not None:
            return stop
        if rolling(debate.meeting):
            yield from compress(
                debate.notes,
                COMPRESS,
                compress_variables(debate.meeting, closed, debate.notes.summary),
                closed.number,
                lambda: summary_by_code(debate.rounds[-1], debate.labels),
            )


# --- a round ------------------------------------------------------------------------------------


def _hold_round(debate: _Debate) -> Part[DebateRound]:
    number, meeting = len(debate.rounds) + 1, debate.meeting
    motion = meeting.motion
    yield from tell_start(number, motion)
    replies = yield from gather(*questions(meeting, debate.rounds, debate.notes.summary))
    closed = _closed(debate, number, replies)
    yield from tell_close(
        number,
        replies,
        motion=motion,
        stances=closed.stances,
        counts=closed.counts(debate.labels),
        consensus=closed.consensus.value,
        progress=closed.progress,
        details={"confidences": closed.confidences},
    )
    return closed


def _closed(debate: _Debate, number: int, replies: tuple[Reply, ...]) -> DebateRound:
    now = backings(replies, debate.labels)
    if number > 1:
        return DebateRound(replies, now, _progress(debate, replies))
    positions = [section_of(reply, "position") for reply in replies]
    return DebateRound(replies, now, FIRST_ROUND, common_option(positions, debate.meeting.options))


def _progress(debate: _Debate, replies: Sequence[Reply]) -> Progress:
    known = (entry["text"] for entry in unresolved_concerns(debate.rounds))
    before = debate.rounds[-1].backings
    now = backings(replies, debate.labels)
    return debate_progress(before, now, known, concerns_by(replies))


# --- the outcome --------------------------------------------------------------------------------


def _outcome(debate: _Debate, ending: Ending, settled: ArbitrationResult) -> Outcome:
    decided = ending.stopped_by in (StopReason.CONSENSUS, StopReason.RULING)
    heard_out = ending.stopped_by in _HEARD_OUT
    lost = dissents(debate.rounds, settled.choice and settled.choice.id)
    found = Found(
        numbers_name="debate",
        numbers=debate_numbers(debate.rounds, debate.labels, heard_out=heard_out),
        heard=[round_.replies for round_ in debate.rounds],
        decision=(settled.decision or debate.agreed) if decided else None,
        decided_by=(settled.decided_by or _decided_by(debate)) if decided else None,
        consensus=debate.consensus.value,
        effective=usable(debate.last) if debate.last else 0,
        dissents=lost + gate_dissents(ending.closing),
        stalled=same_split(debate.rounds, debate.meeting),
        findings=debate_findings(debate.rounds, debate.labels),
        summed_by_code=debate.notes.by_code,
    )
    return outcome_of(debate.meeting, ending, found, settled)


_HEARD_OUT = (
    StopReason.ROUNDS,
    StopReason.NO_PROGRESS,
    StopReason.RULING,
    StopReason.RULING_EXPIRED,
)
"""The stops of a debate that came to its own end, so that its deadlock is a finding."""


def _decided_by(debate: _Debate) -> DecidedBy:
    return DecidedBy("consensus", debate.consensus.value, debate.meeting.topic)


# --- what callers are told ----------------------------------------------------------------------


def _perspectives(topic: str, rules: Mapping[str, Json], count: int) -> tuple[str, ...]:
    return perspectives_for(topic, count, rules.get("diversity", "auto"))


def _faults(meeting: Meeting) -> tuple[Fault, ...]:
    """Names that stand as labels, and that no BACKS could tell from one another."""
    shown = tuple(labels(meeting).values())
    return tuple(
        Fault(f"#/participants/{index}/name", f"{label!r} cannot be told from another name here.")
        for index, label in enumerate(shown)
        if backed_label(label, shown) != label
    )


FORMAT = Format(
    name="debate",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=_perspectives,
    rules=DebateRules,
    usual_seats=lambda rules: 3,
    faults=_faults,
    fills_roles=True,
    uses=frozenset({"arbiter", "options"}),
    package=__package__,
    record=DebateRecord(),
)
