"""The review (PROTOCOLS 9).

An author drafts a deliverable, critics judge it against materials and criteria, round after round.
It is complete when every required criterion passes and no supported blocking objection is open;
that everybody is content does not make it complete. Where a destination is set, the deliverable is
saved there, and only a save that is confirmed makes the decision complete (PROTOCOLS 13).

Resumed, the author goes on with the draft and what is open against it. A draft that passed on
materials that have changed since is judged anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.domain.meeting.events import (
    ObjectionRaised,
    ObjectionReopened,
    ObjectionResolved,
    ProgressStalled,
)
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import (
    DecidedBy,
    DecisionSource,
    Outcome,
    StopReason,
    first_to_count,
)
from app.domain.operation.terms import OperationStatus
from app.domain.rounds.progress import Stall, StallKind
from app.domain.steps import Conversation, Part, Save, Saved, Stopped, consult, gather, note, save
from app.domain.values import Json
from app.formats.review.faults import review_faults
from app.formats.review.findings import criteria_record, open_dissents
from app.formats.review.objections import Changes, ObjectionRegister
from app.formats.review.questions import (
    SYNTHESIS,
    matter_for_arbiter,
    plan,
    question_to_author,
    questions_to_critics,
    synthesis_variables,
)
from app.formats.review.record import ReviewRecord
from app.formats.review.reviewing import AUTHOR, ReviewRound, close_round, stall_kind
from app.formats.shared.arbitrating import ACCEPT, ArbitrationResult, arbitrate_if_open
from app.formats.shared.ending import Ending, Found, close, gate_dissents, outcome_of
from app.formats.shared.format import Format, in_turn
from app.formats.shared.round_events import tell_close, tell_start
from app.formats.shared.stops import stops_met, tell_stall, until_stopped, usable

_SAVE = "save"
_LOOKED_FOR = ("evidence", "reader", "risk", "omission")


@dataclass(frozen=True)
class ReviewRules:
    """A review has no settings of its own; its materials and criteria are the meeting's."""


@dataclass(slots=True)
class _Review:
    """What is known so far. ``draft`` is the latest, also of a round that was not finished."""

    meeting: Meeting
    draft: str = ""
    rounds: list[ReviewRound] = field(default_factory=list[ReviewRound])
    saved: Saved | None = None

    @property
    def last(self) -> ReviewRound | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def register(self) -> ObjectionRegister:
        return self.last.register if self.last else ObjectionRegister()


def hold(meeting: Meeting) -> Conversation:
    review = _Review(meeting)
    stopped_by = yield from until_stopped(_work(review))
    settled = ArbitrationResult(stopped_by)
    if review.last is not None and review.draft:
        matter = matter_for_arbiter(meeting, review.draft, review.last.results, review.register)
        settled = yield from arbitrate_if_open(meeting, stopped_by, len(review.rounds), matter)
    settled = yield from _save(review, settled)
    ending = yield from close(
        meeting,
        settled.stopped_by,
        review.rounds,
        SYNTHESIS,
        lambda: synthesis_variables(meeting, review.draft, review.rounds[-1]),
    )
    return _outcome(review, ending, settled)


def _save(review: _Review, settled: ArbitrationResult) -> Part[ArbitrationResult]:
    """Have the deliverable saved where that is asked for, if it passed or was accepted."""
    accepted = settled.choice is not None and settled.choice.id == ACCEPT
    if review.meeting.destination is None:
        return settled
    if settled.stopped_by is not StopReason.COMPLETED and not accepted:
        return settled
    try:
        review.saved = yield from save(Save(_SAVE, review.draft))
    except Stopped as stopped:
        both = (settled.stopped_by, stopped.reason)
        return replace(settled, stopped_by=first_to_count(both) or stopped.reason)
    yield from _tell_wait(review, review.saved)
    return settled


def _tell_wait(review: _Review, saved: Saved) -> Part[None]:
    """A save with an owner and a date is waited for, which is no stall (PROTOCOLS 11).

    Its key belongs to this end: a resumed review saves anew.
    """
    if _handed_over(saved):
        wait = Stall(
            StallKind.EXTERNAL_WAIT,
            len(review.rounds),
            operation=saved.operation.id,
            owner=saved.operation.owner,
            next_check_at=saved.operation.next_check_at,
        )
        yield from note(f"{_SAVE}/stalled", ProgressStalled(stall=wait))


def _handed_over(saved: Saved) -> bool:
    return saved.operation.state is OperationStatus.HANDED_OVER


def _work(review: _Review) -> Part[StopReason]:
    """Round after round, until one of them ends the meeting."""
    while True:
        review.rounds.append((yield from _hold_round(review)))
        stop = yield from _stop_after(review)
        if stop is not None:
            return stop


def _hold_round(review: _Review) -> Part[ReviewRound]:
    number, meeting, before = len(review.rounds) + 1, review.meeting, review.last
    yield from tell_start(number)
    written = yield from consult(question_to_author(meeting, before, review.draft))
    if written.usable:
        review.draft = written.values["draft"]
        changes: Sequence[Json] = written.values["changes"]
        judged = yield from gather(*questions_to_critics(meeting, before, review.draft, changes))
    else:
        # Without a new draft there is nothing new to judge.
        judged = ()
    closed = close_round(meeting, review.rounds, written, judged)
    for done in closed.changes.values():
        yield from _tell(closed, done)
    yield from tell_close(
        number, closed.replies, progress=closed.progress, details=closed.counted()
    )
    return closed


def _tell(closed: ReviewRound, done: Changes) -> Part[None]:
    """An event for each objection that a critic has raised, closed or reopened."""
    changes = (
        ("raised", ObjectionRaised, done.raised),
        ("resolved", ObjectionResolved, done.closed),
        ("reopened", ObjectionReopened, done.reopened),
    )
    by_id = {objection.id: objection for objection in closed.register.objections}
    for word, kind, ids in changes:
        for id_ in ids:
            objection = by_id[id_]
            told = {**objection.record(), "raised_in": objection.round, "round": closed.number}
            yield from note(f"round-{closed.number}/{id_}/{word}", kind.of(told))


def _stop_after(review: _Review) -> Part[StopReason | None]:
    """Whether the round just closed is the last, in the order of PROTOCOLS 11."""
    meeting, rounds = review.meeting, review.rounds
    met = stops_met(rounds, meeting)
    if rounds[-1].complete(meeting):
        met.add(StopReason.COMPLETED)
    stop = first_to_count(met)
    if stop is StopReason.NO_PROGRESS:
        yield from tell_stall(_stall(review))
    return stop


def _stall(review: _Review) -> Stall:
    """How the last rounds got nowhere, with what goes in circles or who waits for whom."""
    rounds = review.rounds
    idle = rounds[-review.meeting.limits.no_progress_rounds :]
    reopened = tuple(id_ for held in idle for id_ in held.reopened)
    return Stall(stall_kind(idle), len(rounds), len(idle), reopened, idle[-1].waiting)


# --- the outcome --------------------------------------------------------------------------------


def _outcome(review: _Review, ending: Ending, settled: ArbitrationResult) -> Outcome:
    meeting, last = review.meeting, review.last
    decided = ending.stopped_by in (StopReason.COMPLETED, StopReason.RULING)
    found = Found(
        numbers_name="review",
        numbers=_numbers(review),
        heard=[round_.replies for round_ in review.rounds],
        decision=_decision(review, settled) if decided else None,
        decided_by=settled.decided_by or _by_rule(meeting),
        effective=usable(last) if last else 0,
        dissents=open_dissents(review.register) + gate_dissents(ending.closing),
        stalled=_stall(review) if review.rounds else None,
        findings=_findings(review),
        partial=review.saved is not None and not review.saved.confirmed,
    )
    return outcome_of(meeting, ending, found, settled)


def _decision(review: _Review, settled: ArbitrationResult) -> tuple[str, DecisionSource]:
    """The whole deliverable where it passed or was accepted; of a rejection, that it was one."""
    if settled.choice is None:
        return review.draft, "draft"
    accepted = settled.choice.id == ACCEPT
    return review.draft if accepted else settled.choice.text, "ruling"


def _by_rule(meeting: Meeting) -> DecidedBy:
    return DecidedBy("completion", "criteria_and_objections", meeting.topic)


def _numbers(review: _Review) -> dict[str, Json]:
    meeting, last = review.meeting, review.last
    numbers: dict[str, Json] = {
        "participants": len(meeting.seats),
        "rounds": len(review.rounds),
        "criteria": criteria_record(meeting, last.results if last else {}),
        "objections": [objection.record() for objection in review.register.objections],
        "open_blocking": [objection.id for objection in review.register.blocking],
        "draft": review.draft or None,
    }
    return numbers if meeting.destination is None else numbers | _saved(review)


def _saved(review: _Review) -> dict[str, Json]:
    """The state of the save, which stands beside the decision; one that is handed over has an
    owner and a date, so it is waited for and no stall (PROTOCOLS 11, ``external_wait``)."""
    if review.saved is None:
        return {"operation": None, "external_wait": None}
    saved = review.saved.operation
    wait: dict[str, Json] = {
        "operation": saved.id,
        "owner": saved.owner,
        "next_check_at": saved.next_check_at,
    }
    waits = wait if _handed_over(review.saved) else None
    return {"operation": saved.record(), "external_wait": waits}


def _findings(review: _Review) -> dict[str, Json]:
    rounds = review.rounds
    return {
        "baseline": rounds[0].view() if rounds else None,
        "final": rounds[-1].view() if rounds else None,
    }


# --- what callers are told ----------------------------------------------------------------------


def _perspectives(topic: str, rules: Mapping[str, Json], count: int) -> tuple[str, ...]:
    """One author; the critics look for different things and come round again."""
    del topic, rules
    return (AUTHOR, *in_turn(_LOOKED_FOR, count - 1))


FORMAT = Format(
    name="review",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=_perspectives,
    rules=ReviewRules,
    usual_seats=lambda rules: 3,
    faults=review_faults,
    delivers=True,
    uses=frozenset({"arbiter", "materials", "criteria"}),
    package=__package__,
    record=ReviewRecord(),
)
