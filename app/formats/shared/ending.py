"""How every meeting ends: its result, how complete that is, and what weakens it (PROTOCOLS 11).

A format says what it found; what follows from how the talk stopped, from the arbiter and from the
completion gate is worked out here, for all formats alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.ending.completion_gate import SINGLE_WARNING, Close, GateStatus
from app.domain.meeting.gaps import missing_replies, summarised_by_code
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import (
    Completeness,
    DecidedBy,
    DecisionSource,
    Degradation,
    Dissent,
    Outcome,
    Result,
    StopReason,
    first_to_count,
)
from app.domain.replies.reading import Reply
from app.domain.rounds.progress import Stall
from app.domain.steps import Part, Stopped
from app.domain.values import Json, JsonObject, JsonValue
from app.formats.shared.arbitrating import ArbitrationResult
from app.formats.shared.closing import (
    REDRAFT_STEP,
    GatePassed,
    draft_synthesis,
    pass_gate,
    synthesis_text,
    wanted_by,
)
from app.formats.shared.format import since_resuming
from app.formats.shared.stops import RoundHeld, limits_met, usable

_BY_THE_RULES = frozenset({StopReason.COMPLETED, StopReason.THRESHOLD, StopReason.QUORUM})
"""The rules of a count were followed to their end, also where they decided nothing."""


@dataclass(slots=True)
class Ending:
    """How a meeting came to its end; ``gate`` is None unless it was asked for and closed.

    ``drafted`` tells whether anybody was asked for a synthesis; ``counts``, whether the result is
    a count, which stands as it is, and no text that somebody drafts.
    """

    stopped_by: StopReason
    synthesis: JsonObject | None = None
    drafted: bool = False
    gate: GatePassed | None = None
    counts: bool = False

    @property
    def closing(self) -> Close | None:
        return None if self.gate is None else self.gate.closing


@dataclass(frozen=True, slots=True)
class Found:
    """What a format says of its end by itself.

    ``decision`` is what was decided by its own rules or by an arbiter, and where that comes from.
    ``heard`` are the replies that it asked for, by round; ``counted`` those behind a count, which
    is partial where a limit kept voices out. ``weaknesses`` are its own, the first thing to tell.
    """

    numbers_name: str
    numbers: JsonObject
    heard: Sequence[Sequence[Reply]]
    decision: tuple[str, DecisionSource] | None = None
    decided_by: DecidedBy | None = None
    consensus: str | None = None
    effective: int = 0
    dissents: tuple[Dissent, ...] = ()
    stalled: Stall | None = None
    findings: JsonObject = field(default_factory=dict[str, JsonValue])
    counted: Sequence[Reply] = ()
    summed_by_code: Sequence[int] = ()
    weaknesses: tuple[Degradation, ...] = ()
    partial: bool = False
    """Whether what was decided is not all there: a save that nobody has confirmed."""
    ruled_instead: bool = False
    """Whether an arbiter's word has taken the place of the participants' (PROTOCOLS 10)."""


def outcome_of(
    meeting: Meeting, ending: Ending, found: Found, settled: ArbitrationResult | None = None
) -> Outcome:
    decided = found.decision is not None
    decision, source = found.decision or (None, None)
    result, completeness = _result(meeting, ending, found)
    return Outcome(
        result=result,
        stopped_by=ending.stopped_by,
        completeness=completeness,
        consensus=found.consensus,
        decision=decision,
        decision_source=source,
        decided_by=found.decided_by if decided else None,
        effective_participants=found.effective,
        dissents=found.dissents,
        synthesis=ending.synthesis,
        stalled=found.stalled if settled is not None and settled.stalled else None,
        numbers_name=found.numbers_name,
        numbers=found.numbers,
        findings=found.findings,
        ruling=None if settled is None else settled.ruling,
        completion=None if ending.gate is None else ending.gate.record(),
        degradation=_degradation(meeting, ending, found),
    )


# --- result and completeness --------------------------------------------------------------------


def _result(meeting: Meeting, ending: Ending, found: Found) -> tuple[Result, Completeness]:
    """The table of PROTOCOLS 11; a limit never reads as success."""
    if found.decision is not None:
        whole = not found.partial and not limits_met(found.counted)
        confirmed = whole and not _lacks_a_word(meeting, ending, found)
        return Result.DECIDED, Completeness.COMPLETE if confirmed else Completeness.PARTIAL
    if ending.counts and ending.stopped_by in _BY_THE_RULES:
        cut = bool(limits_met(found.counted))
        return Result.UNDECIDED, Completeness.PARTIAL if cut else Completeness.COMPLETE
    return without_decision(ending.stopped_by)


def without_decision(stopped_by: StopReason) -> tuple[Result, Completeness]:
    """What a talk that was stopped so ends as, where nothing was decided."""
    if stopped_by is StopReason.CANCELLATION:
        return Result.CANCELLED, Completeness.PARTIAL
    if stopped_by in (StopReason.AGENTS_UNAVAILABLE, StopReason.ERROR):
        return Result.FAILED, Completeness.PARTIAL
    if stopped_by is StopReason.RULING_EXPIRED:
        return Result.UNDECIDED, Completeness.COMPLETE
    return Result.UNDECIDED, Completeness.PARTIAL


def _lacks_a_word(meeting: Meeting, ending: Ending, found: Found) -> bool:
    """Whether a decision lacks the participants' word for it, where that was wanted."""
    if meeting.completion_gate is None or found.ruled_instead:
        return False
    return ending.closing is None or ending.closing.status is GateStatus.INCOMPLETE


# --- what weakens the record --------------------------------------------------------------------


def _degradation(meeting: Meeting, ending: Ending, found: Found) -> tuple[Degradation, ...]:
    """What the record must say first (PROTOCOLS 15)."""
    weak = found.weaknesses + missing_replies(found.heard)
    weak += summarised_by_code(found.summed_by_code)
    if ending.synthesis is None and ending.drafted:
        weak += (Degradation("synthesis_by_code"),)
    to_confirm = found.decision is not None or ending.synthesis is not None
    if meeting.completion_gate is not None and ending.gate is None and to_confirm:
        weak += (Degradation("not_confirmed"),)
    return weak + _gate_degradation(ending.closing)


def _gate_degradation(closing: Close | None) -> tuple[Degradation, ...]:
    """What makes the confirmation weaker than it should be; the record says it first."""
    if closing is None or closing.status is GateStatus.CONSENSUS:
        return ()
    if closing.status is GateStatus.SINGLE:
        return (Degradation(SINGLE_WARNING, closing.completed_by),)
    if not closing.reasons:
        return (Degradation("unconfirmed"),)
    return (Degradation(GateStatus.INCOMPLETE.value, tuple(closing.reasons)),)


def gate_dissents(closing: Close | None) -> tuple[Dissent, ...]:
    """Who still asks for a revision of what the others hold complete, and why."""
    if closing is None:
        return ()
    return tuple(Dissent(who, "needs_revision", why) for who, why in closing.reasons.items())


# --- coming to the end --------------------------------------------------------------------------


def close(
    meeting: Meeting,
    stopped_by: StopReason,
    rounds: Sequence[RoundHeld],
    template: str,
    variables: Callable[[], Mapping[str, Json]],
) -> Part[Ending]:
    """Have the synthesis drafted and, where a completion gate is wanted, confirmed.

    Nothing is asked of anybody after a cancel, or when there was never a reply to write about.
    """
    ending = Ending(stopped_by)
    if stopped_by is StopReason.CANCELLATION or not any(usable(round_) for round_ in rounds):
        return ending
    ending.drafted = True
    shown = {**variables(), **since_resuming(meeting)}
    drafting = _Drafting(meeting, template, shown, len(rounds), ending)
    try:
        yield from drafting.draft()
        if ending.synthesis is not None:
            text = synthesis_text(ending.synthesis)
            ending.gate = yield from pass_gate(
                meeting, text, drafting.redraft, after_round=len(rounds)
            )
    except Stopped as stopped:
        both = (stopped_by, stopped.reason)
        ending.stopped_by = first_to_count(both) or stopped.reason
    return ending


@dataclass(frozen=True, slots=True)
class _Drafting:
    meeting: Meeting
    template: str
    variables: Mapping[str, Json]
    round: int
    ending: Ending

    def draft(self) -> Part[None]:
        first: dict[str, Json] = {**self.variables, "draft": "", "reasons": []}
        self.ending.synthesis = yield from draft_synthesis(self.template, first, self.round)

    def redraft(self, reasons: Mapping[str, str]) -> Part[str | None]:
        """Once more, for what the participants found wrong with it (PROTOCOLS 10)."""
        before = synthesis_text(self.ending.synthesis or {})
        wanted = wanted_by(self.meeting, reasons)
        again = {**self.variables, "draft": before, "reasons": wanted}
        redrafted = yield from draft_synthesis(self.template, again, self.round, step=REDRAFT_STEP)
        if redrafted is None:
            return None
        self.ending.synthesis = redrafted
        return synthesis_text(redrafted)


def confirm_count(
    meeting: Meeting, decision: str, round_: int, stopped_by: StopReason = StopReason.COMPLETED
) -> Part[Ending]:
    """Put what was decided in this round to the completion gate, where one is wanted.

    The count stands whatever is answered (PROTOCOLS 10), and a limit that is met
    meanwhile comes after it (PROTOCOLS 11); the record then says that nobody confirmed it.
    """
    ending = Ending(stopped_by, counts=True)
    try:
        ending.gate = yield from pass_gate(
            meeting, decision, _nothing_to_redraft, after_round=round_
        )
    except Stopped as stopped:
        ending.stopped_by = first_to_count((ending.stopped_by, stopped.reason)) or stopped.reason
    return ending


def _nothing_to_redraft(reasons: Mapping[str, str]) -> Part[str | None]:
    """What was counted is not worded anew; wishes for a revision go into the record."""
    del reasons
    yield from ()
    return None
