"""The review (PROTOCOLS 9).

An author drafts a deliverable, critics judge it against materials and criteria, round after round.
It is complete when every required criterion passes and no supported blocking objection is open;
that everybody is content does not make it complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain import events
from app.domain.ballot import MOST_TEXT_CHARACTERS
from app.domain.criteria import MOST_DRAFT_CHARACTERS
from app.domain.meeting import Json, Meeting, Seat
from app.domain.objections import Changes, Ledger, Objection, Raised, Severity
from app.domain.outcome import DecidedBy, Outcome, Result, StopReason
from app.domain.review_faults import review_faults
from app.domain.review_record import (
    MOST_QUOTE_CHARACTERS,
    MOST_SHOWN_OBJECTIONS,
    author_variables,
    closing_variables,
    criteria_record,
    critic_variables,
    open_dissents,
    shown_objection,
)
from app.domain.review_replies import MOST_POINT_CHARACTERS, AuthorReading, CriticReading
from app.domain.reviewing import AUTHOR, CRITIC, ReviewRound, close_round, stall_kind
from app.domain.steps import Ask, Conversation, Part, consult, gather, note
from app.formats.closing import result_of
from app.formats.format import Format, PlannedAsk, longest
from app.formats.rounds import (
    Ending,
    Notes,
    close,
    degradation,
    plan_closing,
    until_stopped,
    usable,
)

_SYNTHESIS = "review/synthesis"
_SILENT_ROUNDS = 2
"""Rounds running without a usable reply, after which the agents count as unavailable."""


@dataclass(frozen=True)
class ReviewRules:
    """A review has no settings of its own; its materials and criteria are the meeting's."""


@dataclass(slots=True)
class _Review:
    """What is known so far. ``draft`` is the latest, also of a round that was not finished."""

    meeting: Meeting
    draft: str = ""
    rounds: list[ReviewRound] = field(default_factory=list[ReviewRound])

    @property
    def author(self) -> Seat:
        return next(seat for seat in self.meeting.seats if seat.role == AUTHOR)

    @property
    def critics(self) -> tuple[Seat, ...]:
        return tuple(seat for seat in self.meeting.seats if seat.role == CRITIC)

    @property
    def last(self) -> ReviewRound | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def ledger(self) -> Ledger:
        return self.last.ledger if self.last else Ledger()


def hold(meeting: Meeting) -> Conversation:
    review = _Review(meeting)
    stopped_by = yield from until_stopped(_work(review))
    ending = yield from close(
        meeting,
        stopped_by,
        review.rounds,
        _SYNTHESIS,
        lambda: _closing(review, review.rounds[-1]),
    )
    return _outcome(review, ending)


def _work(review: _Review) -> Part[StopReason]:
    """Round after round, until one of them ends the meeting."""
    while True:
        review.rounds.append((yield from _hold_round(review)))
        stop = yield from _stop_after(review)
        if stop is not None:
            return stop


def _hold_round(review: _Review) -> Part[ReviewRound]:
    number = len(review.rounds) + 1
    yield from note(f"round-{number}/start", events.ROUND_STARTED, round=number)
    written = yield from consult(_question_to_author(review, number))
    if written.usable:
        review.draft = written.values["draft"]
        changes: Sequence[Json] = written.values["changes"]
        judged = yield from gather(
            *(_question_to(critic, review, number, changes) for critic in review.critics)
        )
    else:
        # Without a new draft there is nothing new to judge.
        judged = ()
    closed = close_round(review.meeting, review.rounds, written, judged)
    for done in closed.changes.values():
        yield from _tell(closed, done)
    yield from note(
        f"round-{number}/close",
        events.ROUND_CLOSED,
        **closed.view(),
        progress=closed.progress.record(),
        effective_participants=usable(closed),
    )
    return closed


def _tell(closed: ReviewRound, done: Changes) -> Part[None]:
    """An event for each objection that a critic has raised, closed or reopened."""
    told = (
        ("raised", events.OBJECTION_RAISED, done.raised),
        ("resolved", events.OBJECTION_RESOLVED, done.closed),
        ("reopened", events.OBJECTION_REOPENED, done.reopened),
    )
    by_id = {objection.id: objection for objection in closed.ledger.objections}
    for word, type_, ids in told:
        for id_ in ids:
            content = {**by_id[id_].record(), "round": closed.number}
            yield from note(f"round-{closed.number}/{id_}/{word}", type_, **content)


def _stop_after(review: _Review) -> Part[StopReason | None]:
    """Whether the round just closed is the last, in the order of PROTOCOLS 11."""
    limits, rounds = review.meeting.limits, review.rounds
    number = len(rounds)
    if rounds[-1].complete(review.meeting):
        return StopReason.COMPLETED
    lately = rounds[-_SILENT_ROUNDS:]
    if len(lately) == _SILENT_ROUNDS and not any(usable(round_) for round_ in lately):
        return StopReason.AGENTS_UNAVAILABLE
    idle = rounds[-limits.no_progress_rounds :]
    if len(idle) == limits.no_progress_rounds and not any(held.progress.made for held in idle):
        stalled = {
            "kind": stall_kind(idle).value,
            "round": number,
            "rounds_without_progress": len(idle),
            "reopened": [id_ for held in idle for id_ in held.reopened],
            "waiting": list(idle[-1].waiting),
        }
        yield from note(f"round-{number}/stalled", events.PROGRESS_STALLED, **stalled)
        return StopReason.NO_PROGRESS
    return StopReason.ROUNDS if number >= limits.rounds else None


# --- what is asked ------------------------------------------------------------------------------


def _question_to_author(review: _Review, number: int) -> Ask:
    author = review.author
    variables = author_variables(review.meeting, author, number, review.draft, review.last)
    key = f"round-{number}/ask/{author.name}"
    return Ask(key, author.name, number, "review/author", variables, AuthorReading())


def _question_to(critic: Seat, review: _Review, number: int, changes: Sequence[Json]) -> Ask:
    own = [o for o in review.ledger.objections if o.open and o.critic == critic.name]
    variables = critic_variables(review.meeting, critic, number, review.draft, own, changes)
    to_judge = tuple(criterion["id"] for criterion in variables["criteria"])
    reading = CriticReading(tuple(objection.id for objection in own), to_judge)
    key = f"round-{number}/ask/{critic.name}"
    return Ask(key, critic.name, number, "review/critic", variables, reading)


def _closing(review: _Review, last: ReviewRound) -> dict[str, Json]:
    complete = last.complete(review.meeting)
    return closing_variables(
        review.meeting, review.draft, last.results, last.ledger, complete=complete
    )


# --- the outcome --------------------------------------------------------------------------------


def _outcome(review: _Review, ending: Ending) -> Outcome:
    meeting, last = review.meeting, review.last
    decided = ending.stopped_by is StopReason.COMPLETED
    result, completeness = result_of(ending.stopped_by)
    if decided:
        result, completeness = Result.DECIDED, ending.completeness(meeting)
    return Outcome(
        result=result,
        stopped_by=ending.stopped_by,
        completeness=completeness,
        decision=review.draft if decided else None,
        decision_source="draft" if decided else None,
        decided_by=_by_rule(meeting) if decided else None,
        effective_participants=usable(last) if last else 0,
        dissents=open_dissents(review.ledger),
        synthesis=ending.synthesis,
        numbers_name="review",
        numbers=_numbers(review),
        findings=_findings(review) | ending.findings(),
        degradation=degradation(meeting, review.rounds, Notes(), ending),
    )


def _by_rule(meeting: Meeting) -> DecidedBy:
    return DecidedBy("completion", "criteria_and_objections", meeting.topic)


def _numbers(review: _Review) -> dict[str, Json]:
    meeting, last = review.meeting, review.last
    return {
        "participants": len(meeting.seats),
        "rounds": len(review.rounds),
        "criteria": criteria_record(meeting, last.results if last else {}),
        "objections": [objection.record() for objection in review.ledger.objections],
        "open_blocking": [objection.id for objection in review.ledger.blocking],
        "draft": review.draft or None,
    }


def _findings(review: _Review) -> dict[str, Json]:
    rounds = review.rounds
    return {
        "baseline": rounds[0].view() if rounds else None,
        "final": rounds[-1].view() if rounds else None,
    }


# --- what it may ask ----------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the meeting, with texts as long as they can become."""
    review = _Review(meeting)
    rounds, critics = meeting.limits.rounds, review.critics
    usual = (rounds + 1) // 2
    objections = [_longest_objection(meeting)] * MOST_SHOWN_OBJECTIONS
    draft = longest(MOST_DRAFT_CHARACTERS)
    first = _question_to_author(review, 1).variables
    again = {**first, "draft": draft, "objections": objections, "more": 99}
    judged = {
        **_question_to(critics[-1], review, 1, ()).variables,
        "draft": draft,
        "own_objections": objections,
    }
    shown = closing_variables(meeting, draft, {}, Ledger(), complete=False)
    read = {**shown, "objections": objections}
    return (
        PlannedAsk("review/author", first, 1, 1),
        PlannedAsk("review/author", again, usual - 1, rounds - 1),
        PlannedAsk("review/critic", judged, len(critics) * usual, len(critics) * rounds),
        *plan_closing(meeting, _SYNTHESIS, read),
    )


def _longest_objection(meeting: Meeting) -> dict[str, Json]:
    point = longest(MOST_POINT_CHARACTERS)
    raised = Raised(Severity.PREFERENCE, longest(200), longest(MOST_QUOTE_CHARACTERS), point, point)
    objection = Objection("obj-9999", meeting.seats[-1].name, raised, supported=False, round=1)
    change = longest(MOST_TEXT_CHARACTERS)
    label = meeting.label(objection.critic)
    return {**shown_objection(objection), "from": label, "change": change, "state": "closed"}


def _perspectives(topic: str, rules: Mapping[str, Json], count: int) -> tuple[str, ...]:
    """One author; the critics look for different things and come round again."""
    del topic, rules
    keys = ("evidence", "reader", "risk", "omission")
    return (AUTHOR, *(keys[index % len(keys)] for index in range(count - 1)))


FORMAT = Format(
    name="review",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=_perspectives,
    rules=ReviewRules,
    usual_seats=lambda rules: 3,
    faults=review_faults,
)
