"""What formats that talk in rounds share: when they stop, the secretary's notes, the closing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.ending.completion_gate import Close
from app.domain.ending.cut_short import limits_met
from app.domain.ending.gate_record import completeness_after, gate_degradation, gate_dissents
from app.domain.meeting import events
from app.domain.meeting.meeting import SECRETARY, Meeting
from app.domain.meeting.outcome import (
    Completeness,
    Degradation,
    Dissent,
    Result,
    StopReason,
    first_to_count,
)
from app.domain.replies.quoting import MOST_TEXT_CHARACTERS
from app.domain.replies.reading import Reply
from app.domain.replies.sections import SectionsReading
from app.domain.rounds.progress import Progress, Stall, StallKind
from app.domain.rounds.summary import bounded_motion, bounded_summary
from app.domain.steps import Ask, Part, Stopped, consult, note
from app.domain.values import Json
from app.formats.shared.arbitrating import ArbitrationResult
from app.formats.shared.closing import (
    MOST_SYNTHESIS_CHARACTERS,
    REDRAFT_STEP,
    GatePassed,
    draft_synthesis,
    missing_replies,
    pass_gate,
    plan_gate,
    result_of,
    synthesis_text,
    wanted_by,
)
from app.formats.shared.format import PlannedAsk, longest, since_resuming

MOST_QUOTED_CHARACTERS = 4_000
"""Of one reply, wherever others are shown it."""

_SILENT_ROUNDS = 2
"""Rounds running without a usable reply, after which the agents count as unavailable."""


class RoundHeld(Protocol):
    """A closed round, as far as the rules here look at it."""

    @property
    def replies(self) -> tuple[Reply, ...]: ...

    @property
    def progress(self) -> Progress: ...


def usable(round_: RoundHeld) -> int:
    return sum(reply.usable for reply in round_.replies)


# --- the end of a round -------------------------------------------------------------------------


def stop_after(
    rounds: Sequence[RoundHeld], meeting: Meeting, *, agreed: bool
) -> Part[StopReason | None]:
    """Whether the round just closed is the last, and what ended the meeting then.

    What was agreed counts whenever it was: a meeting that was cancelled in its closing and is
    resumed comes to that closing again.
    """
    met = stops_met(rounds, meeting)
    if agreed:
        met.add(StopReason.CONSENSUS)
    stop = first_to_count(met)
    if stop is StopReason.NO_PROGRESS:
        yield from tell_stall(same_split(rounds, meeting))
    return stop


def same_split(rounds: Sequence[RoundHeld], meeting: Meeting) -> Stall:
    """The stall of those who only take positions: these stayed as they were (PROTOCOLS 11)."""
    return Stall(StallKind.STALEMATE, len(rounds), meeting.limits.no_progress_rounds)


def split_found(
    settled: ArbitrationResult, rounds: Sequence[RoundHeld], meeting: Meeting
) -> dict[str, Json]:
    """What the outcome says of such a stall, if it came to one."""
    return {"stalled": same_split(rounds, meeting).record()} if settled.stalled else {}


def tell_stall(stall: Stall) -> Part[None]:
    yield from note(f"round-{stall.round}/stalled", events.PROGRESS_STALLED, **stall.record())


def stops_met(rounds: Sequence[RoundHeld], meeting: Meeting) -> set[StopReason]:
    """Every limit that the rounds so far have met (PROTOCOLS 11, stop conditions).

    What rounds from before a resuming met has ended the meeting once; silence and rounds without
    progress are counted anew after it. Only the number of rounds counts over all of them.
    """
    met: set[StopReason] = set()
    if rounds_used_up(meeting, len(rounds)):
        met.add(StopReason.ROUNDS)
    lately = rounds[meeting.resumed_after :]
    if not lately:
        return met
    met |= limits_met(lately[-1].replies)
    silent = lately[-_SILENT_ROUNDS:]
    if len(silent) == _SILENT_ROUNDS and not any(usable(round_) for round_ in silent):
        met.add(StopReason.AGENTS_UNAVAILABLE)
    idle_rounds = meeting.limits.no_progress_rounds
    idle = lately[-idle_rounds:]
    if len(idle) == idle_rounds and not any(round_.progress.made for round_ in idle):
        met.add(StopReason.NO_PROGRESS)
    return met


def rounds_used_up(meeting: Meeting, held: int) -> bool:
    """Whether no further round may follow so many; a resuming that raised nothing gives no room.

    Those that were held before a resuming all stand, whatever limit is in force now.
    """
    return held >= max(meeting.limits.rounds, meeting.resumed_after)


def until_stopped(talk: Part[StopReason]) -> Part[StopReason]:
    """The talk to its own end, or to what was thrown in to end it."""
    try:
        return (yield from talk)
    except Stopped as stopped:
        return stopped.reason


# --- the rolling summary ------------------------------------------------------------------------


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
    yield from note(
        f"round-{round_}/summary",
        events.SUMMARY_UPDATED,
        round=round_,
        summary=notes.summary,
        motion=notes.motion,
        source="secretary" if reply.usable else "extractive",
        reason=reply.reason,
    )


# --- the closing --------------------------------------------------------------------------------


@dataclass(slots=True)
class Ending:
    """How the meeting came to its end; ``gate`` is None unless it was asked for and closed.

    ``drafted`` tells whether anybody was asked for a synthesis.
    """

    stopped_by: StopReason
    synthesis: Mapping[str, Json] | None = None
    drafted: bool = False
    gate: GatePassed | None = None

    @property
    def closing(self) -> Close | None:
        return None if self.gate is None else self.gate.closing

    def completeness(self, meeting: Meeting) -> Completeness:
        """Of a decision: partial if nobody's word was had that its record is complete."""
        if meeting.completion_gate is not None and self.gate is None:
            return Completeness.PARTIAL
        return completeness_after(self.closing)

    def findings(self) -> dict[str, Json]:
        return {} if self.gate is None else {"completion": self.gate.record()}

    def dissents(self) -> tuple[Dissent, ...]:
        return gate_dissents(self.closing)


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


def result_after(meeting: Meeting, ending: Ending, *, decided: bool) -> tuple[Result, Completeness]:
    """What the meeting ends as; a decision is as complete as its confirmation makes it."""
    if decided:
        return Result.DECIDED, ending.completeness(meeting)
    return result_of(ending.stopped_by)


def degradation(
    meeting: Meeting, rounds: Sequence[RoundHeld], notes: Notes, ending: Ending
) -> tuple[Degradation, ...]:
    """What the record must say first."""
    found = missing_replies(round_.replies for round_ in rounds)
    if notes.by_code:
        found += (Degradation("summary_by_code", rounds=tuple(notes.by_code)),)
    if ending.synthesis is None and ending.drafted:
        found += (Degradation("synthesis_by_code"),)
    if meeting.completion_gate is not None and ending.gate is None:
        found += (Degradation("not_confirmed"),)
    return found + gate_degradation(ending.closing)


def plan_closing(
    meeting: Meeting, template: str, variables: Mapping[str, Json]
) -> tuple[PlannedAsk, ...]:
    """The requests of the closing; ``variables`` are of the largest size they can have."""
    first: dict[str, Json] = {**variables, "draft": "", "reasons": []}
    planned = (PlannedAsk(template, first, 1, 1, SECRETARY),)
    if meeting.completion_gate is None:
        return planned
    reason: dict[str, Json] = {
        "label": meeting.label(meeting.seats[-1].name),
        "text": longest(MOST_TEXT_CHARACTERS),
    }
    draft = longest(MOST_SYNTHESIS_CHARACTERS)
    again = {**variables, "draft": draft, "reasons": [reason] * len(meeting.seats)}
    return (
        *planned,
        PlannedAsk(template, again, 0, 1, SECRETARY),
        *plan_gate(meeting, draft),
    )
