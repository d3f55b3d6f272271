"""The debate (PROTOCOLS 5).

In round 1 everybody takes a position without seeing another's. From round 2 on each answers the
others, refines its proposal and says whose it backs now, its own or another's. The debate ends
when all back the same one and are sure of it, or when its rounds or its progress run out; then
the finding is that no answer dominates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.domain import events
from app.domain.arbitration import Choice
from app.domain.consensus import Consensus
from app.domain.debate_record import debate_findings, debate_numbers, dissents
from app.domain.debate_shown import (
    labels_on_offer,
    last_backed,
    others_said,
    own_said,
    quoted,
)
from app.domain.debate_standing import (
    MOST_PROPOSAL_CHARACTERS,
    DebateRound,
    backings,
    concerns_by,
    proposals,
    section_of,
    summary_by_code,
    unresolved_concerns,
)
from app.domain.debating import (
    DebateAnswerReading,
    DebateOpeningReading,
    Diversity,
    backed_label,
    common_option,
    debate_progress,
)
from app.domain.debating import perspectives as perspectives_for
from app.domain.errors import Fault
from app.domain.meeting import SECRETARY, Json, Meeting, Seat, labels
from app.domain.outcome import DecidedBy, DecisionSource, Outcome, Result, StopReason
from app.domain.progress import FIRST_ROUND, Progress
from app.domain.shuffling import shuffled
from app.domain.steps import Ask, Conversation, Part, Reply, gather, note
from app.domain.summary import MOST_SUMMARY_CHARACTERS
from app.formats.arbitrating import Matter, Settled, plan_ruling, settle
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

_OPENING = "debate/open"
_ANSWER = "debate/answer"
_COMPRESS = "debate/compress"
_SYNTHESIS = "debate/synthesis"

_MOST_READ_CHARACTERS = 60_000
"""Of the whole debate, for its synthesis: every reply gets the same share of it."""


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

    @classmethod
    def of(cls, meeting: Meeting) -> _Debate:
        return cls(meeting, labels(meeting))

    @property
    def last(self) -> DebateRound | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def rolling(self) -> bool:
        return self.meeting.rules.get("history") == "rolling"

    @property
    def consensus(self) -> Consensus:
        return self.last.consensus if self.last else Consensus.NONE


def hold(meeting: Meeting) -> Conversation:
    debate = _Debate.of(meeting)
    stopped_by = yield from until_stopped(_talk(debate))
    settled = Settled(stopped_by)
    if debate.rounds:
        settled = yield from settle(meeting, stopped_by, len(debate.rounds), _matter(debate))
    ending = yield from close(
        meeting,
        settled.stopped_by,
        debate.rounds,
        _SYNTHESIS,
        lambda: _synthesis_variables(debate),
    )
    return _outcome(debate, ending, settled)


def _matter(debate: _Debate) -> Matter:
    """An arbiter picks among the proposals as they stand (PROTOCOLS 11, arbitration)."""
    standing = proposals(debate.rounds, debate.labels)
    choices = tuple(Choice(label, text) for label, text in standing.items())
    topic, last = debate.meeting.topic, debate.rounds[-1]
    return Matter(topic, choices, topic, _quoted(debate, last))


def _talk(debate: _Debate) -> Part[StopReason]:
    """Round after round, until one of them ends the meeting."""
    while True:
        closed = yield from _hold_round(debate)
        debate.rounds.append(closed)
        limits = debate.meeting.limits
        stop = yield from stop_after(debate.rounds, limits, agreed=closed.agreed)
        if stop is not None:
            return stop
        if debate.rolling:
            yield from compress(
                debate.notes,
                _COMPRESS,
                _compress_variables(debate, closed),
                closed.number,
                lambda: summary_by_code(debate.rounds[-1], debate.labels),
            )


# --- a round ------------------------------------------------------------------------------------


def _hold_round(debate: _Debate) -> Part[DebateRound]:
    number = len(debate.rounds) + 1
    motion = debate.meeting.motion
    yield from note(f"round-{number}/start", events.ROUND_STARTED, round=number, motion=motion)
    replies = yield from gather(*_questions(debate, number))
    closed = _closed(debate, number, replies)
    yield from note(
        f"round-{number}/close",
        events.ROUND_CLOSED,
        round=number,
        motion=motion,
        stances=closed.stances,
        confidences=closed.confidences,
        counts=closed.counts(debate.labels),
        consensus=closed.consensus.value,
        progress=closed.progress.record(),
        effective_participants=usable(closed),
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


def _questions(debate: _Debate, number: int) -> list[Ask]:
    if number == 1:
        return [_opening(debate, seat) for seat in debate.meeting.seats]
    return [_answer(debate, seat, number) for seat in debate.meeting.seats]


def _opening(debate: _Debate, seat: Seat) -> Ask:
    """A question that shows nobody's words: round 1 is independent (PROTOCOLS 2, rule 3)."""
    variables = _shared(debate, seat, 1)
    return Ask(_key(1, seat), seat.name, 1, _OPENING, variables, DebateOpeningReading())


def _answer(debate: _Debate, seat: Seat, number: int) -> Ask:
    rounds, name = debate.rounds, seat.name
    on_offer = labels_on_offer(rounds, debate.labels, name)
    own = own_said(rounds, name, MOST_QUOTED_CHARACTERS)
    variables = _shared(debate, seat, number) | {
        "labels": list(on_offer),
        "last_backs": last_backed(rounds, name),
        "summary": debate.notes.summary,
        "history": [] if debate.rolling else _others(debate, name),
        "own": own[-1:] if debate.rolling else own,
    }
    reading = DebateAnswerReading(on_offer)
    return Ask(_key(number, seat), name, number, _ANSWER, variables, reading)


def _others(debate: _Debate, reader: str) -> list[Json]:
    return others_said(
        debate.rounds, debate.labels, reader, debate.meeting.id, MOST_QUOTED_CHARACTERS
    )


def _key(number: int, seat: Seat) -> str:
    return f"round-{number}/ask/{seat.name}"


def _shared(debate: _Debate, seat: Seat, number: int) -> dict[str, Json]:
    meeting = debate.meeting
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "options": shuffled(meeting.options, meeting.id, seat.name),
        "motion": meeting.motion or "",
        "round": number,
        "rounds": meeting.limits.rounds,
        "name": seat.name,
        "role": seat.role,
        "label": debate.labels[seat.name],
    }


# --- the secretary ------------------------------------------------------------------------------


def _compress_variables(debate: _Debate, closed: DebateRound) -> dict[str, Json]:
    return {
        "topic": debate.meeting.topic,
        "summary": debate.notes.summary,
        "round": closed.number,
        "replies": _quoted(debate, closed),
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }


def _quoted(
    debate: _Debate, round_: DebateRound, most_characters: int = MOST_QUOTED_CHARACTERS
) -> list[dict[str, Json]]:
    return quoted(round_, debate.labels, most_characters)


def _share(debate: _Debate, rounds: int) -> int:
    """How much of one reply the synthesis is shown when it reads so many rounds."""
    return min(MOST_QUOTED_CHARACTERS, _MOST_READ_CHARACTERS // (rounds * len(debate.labels)))


def _synthesis_variables(debate: _Debate) -> dict[str, Json]:
    """The whole debate: every round, or where that is too much the notes and the last round."""
    meeting = debate.meeting
    shown = debate.rounds[-1:] if debate.rolling else debate.rounds
    share = _share(debate, len(shown))
    decision, _ = _decision(debate)
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "options": list(meeting.options),
        "motion": meeting.motion or "",
        "summary": debate.notes.summary,
        "history": [{"round": r.number, "replies": _quoted(debate, r, share)} for r in shown],
        "consensus": debate.consensus.value,
        "proposal": decision or "",
        "backed": (debate.rounds[-1].converged if debate.rounds else None) or "",
    }


# --- the outcome --------------------------------------------------------------------------------


def _outcome(debate: _Debate, ending: Ending, settled: Settled) -> Outcome:
    decided = ending.stopped_by in (StopReason.CONSENSUS, StopReason.RULING)
    result, completeness = result_of(ending.stopped_by)
    if decided:
        result, completeness = Result.DECIDED, ending.completeness(debate.meeting)
    decision, source = settled.decision or (_decision(debate) if decided else (None, None))
    return Outcome(
        result=result,
        stopped_by=ending.stopped_by,
        completeness=completeness,
        consensus=debate.consensus.value,
        decision=decision,
        decision_source=source,
        decided_by=(settled.decided_by or _decided_by(debate)) if decided else None,
        effective_participants=usable(debate.last) if debate.last else 0,
        dissents=dissents(debate.rounds, settled.choice and settled.choice.id) + ending.dissents(),
        synthesis=ending.synthesis,
        numbers_name="debate",
        numbers=debate_numbers(
            debate.rounds, debate.labels, heard_out=ending.stopped_by in _HEARD_OUT
        ),
        findings=debate_findings(debate.rounds, debate.labels)
        | settled.findings()
        | ending.findings(),
        degradation=degradation(debate.meeting, debate.rounds, debate.notes, ending),
    )


_HEARD_OUT = (
    StopReason.ROUNDS,
    StopReason.NO_PROGRESS,
    StopReason.RULING,
    StopReason.RULING_EXPIRED,
)
"""The stops of a debate that came to its own end, so that its deadlock is a finding."""


def _decision(debate: _Debate) -> tuple[str | None, DecisionSource | None]:
    """The option that all named in round 1, or the latest text of the proposal that all back."""
    last = debate.last
    if last is None or not last.agreed:
        return None, None
    if last.option is not None:
        return last.option, "option"
    return proposals(debate.rounds, debate.labels)[last.converged or ""], "proposal"


def _decided_by(debate: _Debate) -> DecidedBy:
    return DecidedBy("consensus", debate.consensus.value, debate.meeting.topic)


# --- what callers are told ----------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become.

    With the full history a later round's question is longer, so each round is planned by itself.
    """
    debate = _Debate.of(meeting)
    rounds = meeting.limits.rounds
    seats = len(meeting.seats)
    usual = (rounds + 1) // 2
    opening = _opening(debate, meeting.seats[-1]).variables
    planned = [PlannedAsk(_OPENING, opening, seats, seats)]
    if debate.rolling:
        notes = longest(MOST_SUMMARY_CHARACTERS)
        nothing: list[Json] = []
        answer = _longest_answer(debate, opening, 1) | {"summary": notes, "history": nothing}
        read = _longest_read(debate, opening, 1) | {"summary": notes}
        asked = (seats * (usual - 1), seats * (rounds - 1))
        planned += [
            PlannedAsk(_ANSWER, answer, *asked),
            PlannedAsk(_COMPRESS, read, usual - 1, rounds - 1, SECRETARY),
        ]
    else:
        read = _longest_read(debate, opening, rounds)
        planned += [
            PlannedAsk(_ANSWER, _longest_answer(debate, opening, n), seats * (n < usual), seats)
            for n in range(1, rounds)
        ]
    ruling = plan_ruling(meeting, _longest_matter(debate))
    return (*planned, *ruling, *plan_closing(meeting, _SYNTHESIS, read))


def _longest_matter(debate: _Debate) -> Matter:
    proposal, said = longest(MOST_PROPOSAL_CHARACTERS), longest(MOST_QUOTED_CHARACTERS)
    choices = tuple(Choice(label, proposal) for label in debate.labels.values())
    excerpts = [{"label": label, "text": said} for label in debate.labels.values()]
    return Matter(debate.meeting.topic, choices, debate.meeting.topic, excerpts)


def _longest_answer(debate: _Debate, opening: Mapping[str, Json], rounds: int) -> dict[str, Json]:
    """The variables of a question after so many rounds."""
    text = longest(MOST_QUOTED_CHARACTERS)
    label = max(debate.labels.values(), key=len)
    others = [{"label": label, "text": text}] * (len(debate.labels) - 1)
    return {
        **opening,
        "round": rounds + 1,
        "labels": list(debate.labels.values()),
        "last_backs": label,
        "summary": "",
        "history": [{"round": rounds, "replies": others}] * rounds,
        "own": [{"round": rounds, "text": text}] * rounds,
    }


def _longest_read(debate: _Debate, opening: Mapping[str, Json], rounds: int) -> dict[str, Json]:
    """The variables of what the secretary reads of so many rounds, to compress or to conclude."""
    label = max(debate.labels.values(), key=len)
    reply: dict[str, Json] = {
        "label": label,
        "backs": label,
        "confidence": 10,
        "text": longest(MOST_QUOTED_CHARACTERS),
    }
    replies = [reply] * len(debate.labels)
    shared = [{**reply, "text": longest(_share(debate, rounds))}] * len(debate.labels)
    return {
        **opening,
        "summary": "",
        "replies": replies,
        "history": [{"round": rounds, "replies": shared}] * rounds,
        "consensus": Consensus.FULL.value,
        "proposal": longest(MOST_PROPOSAL_CHARACTERS),
        "backed": label,
        "most_characters": MOST_SUMMARY_CHARACTERS,
    }


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
)
