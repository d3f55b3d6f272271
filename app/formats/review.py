"""The review (PROTOCOLS 9).

An author drafts a deliverable, critics judge it against materials and criteria, round after round.
It is complete when every required criterion passes and no supported blocking objection is open;
that everybody is content does not make it complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.domain import events
from app.domain.ballot import MOST_TEXT_CHARACTERS
from app.domain.criteria import MOST_DRAFT_CHARACTERS, Verdict
from app.domain.meeting import Json, Meeting, Seat
from app.domain.objections import Changes, Ledger, Objection, Raised, Severity
from app.domain.outcome import (
    DecidedBy,
    DecisionSource,
    Outcome,
    Result,
    StopReason,
    first_to_count,
)
from app.domain.reply_text import one_line
from app.domain.review_faults import review_faults
from app.domain.review_record import (
    MOST_EXCERPT_CHARACTERS,
    MOST_QUOTE_CHARACTERS,
    MOST_SHOWN_OBJECTIONS,
    author_variables,
    closing_variables,
    criteria_record,
    critic_variables,
    open_dissents,
    put_to_arbiter,
    shown_objection,
)
from app.domain.review_replies import MOST_POINT_CHARACTERS, AuthorReading, CriticReading
from app.domain.reviewing import AUTHOR, CRITIC, ReviewRound, close_round, stall_kind
from app.domain.steps import Ask, Conversation, Part, consult, gather, note
from app.formats.arbitrating import (
    ACCEPT,
    Matter,
    Settled,
    accept_or_reject,
    plan_ruling,
    settle,
)
from app.formats.closing import result_of
from app.formats.format import Format, PlannedAsk, longest
from app.formats.rounds import (
    Ending,
    Notes,
    close,
    degradation,
    plan_closing,
    stops_met,
    until_stopped,
    usable,
)

_SYNTHESIS = "review/synthesis"
_MOST_CHOICE_CHARACTERS = 400
"""Of a draft, where it stands in one line as what may be chosen; the whole is shown beside it."""


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
    settled = Settled(stopped_by)
    if review.last is not None and review.draft:
        matter = _matter(meeting, review.draft, review.last.results, review.ledger)
        settled = yield from settle(meeting, stopped_by, len(review.rounds), matter)
    ending = yield from close(
        meeting,
        settled.stopped_by,
        review.rounds,
        _SYNTHESIS,
        lambda: _closing(review, review.rounds[-1]),
    )
    return _outcome(review, ending, settled)


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
            objection = by_id[id_].record()
            content = {**objection, "raised_in": objection["round"], "round": closed.number}
            yield from note(f"round-{closed.number}/{id_}/{word}", type_, **content)


def _stop_after(review: _Review) -> Part[StopReason | None]:
    """Whether the round just closed is the last, in the order of PROTOCOLS 11."""
    limits, rounds = review.meeting.limits, review.rounds
    number = len(rounds)
    met = stops_met(rounds, limits)
    if rounds[-1].complete(review.meeting):
        met.add(StopReason.COMPLETED)
    stop = first_to_count(met)
    if stop is StopReason.NO_PROGRESS:
        idle = rounds[-limits.no_progress_rounds :]
        stalled = {
            "kind": stall_kind(idle).value,
            "round": number,
            "rounds_without_progress": len(idle),
            "reopened": [id_ for held in idle for id_ in held.reopened],
            "waiting": list(idle[-1].waiting),
        }
        yield from note(f"round-{number}/stalled", events.PROGRESS_STALLED, **stalled)
    return stop


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


def _matter(meeting: Meeting, draft: str, results: Mapping[str, Verdict], ledger: Ledger) -> Matter:
    """The draft stands or falls as it is, and never without what is required of it."""
    missing = tuple(c.id for c in meeting.criteria if c.required and results.get(c.id) != "pass")
    choices = accept_or_reject(one_line(draft, _MOST_CHOICE_CHARACTERS), missing)
    excerpts = put_to_arbiter(meeting, draft, results, ledger)
    return Matter(meeting.topic, choices, meeting.topic, excerpts)


# --- the outcome --------------------------------------------------------------------------------


def _outcome(review: _Review, ending: Ending, settled: Settled) -> Outcome:
    meeting, last = review.meeting, review.last
    decided = ending.stopped_by in (StopReason.COMPLETED, StopReason.RULING)
    result, completeness = result_of(ending.stopped_by)
    if decided:
        result, completeness = Result.DECIDED, ending.completeness(meeting)
    decision, source = _decision(review, settled) if decided else (None, None)
    return Outcome(
        result=result,
        stopped_by=ending.stopped_by,
        completeness=completeness,
        decision=decision,
        decision_source=source,
        decided_by=(settled.decided_by or _by_rule(meeting)) if decided else None,
        effective_participants=usable(last) if last else 0,
        dissents=open_dissents(review.ledger) + ending.dissents(),
        synthesis=ending.synthesis,
        numbers_name="review",
        numbers=_numbers(review),
        findings=_findings(review) | settled.findings() | ending.findings(),
        degradation=degradation(meeting, review.rounds, Notes(), ending),
    )


def _decision(review: _Review, settled: Settled) -> tuple[str, DecisionSource]:
    """The whole deliverable where it passed or was accepted; of a rejection, that it was one."""
    if settled.choice is None:
        return review.draft, "draft"
    accepted = settled.choice.id == ACCEPT
    return review.draft if accepted else settled.choice.text, "ruling"


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
        *plan_ruling(meeting, _longest_matter(meeting)),
        *plan_closing(meeting, _SYNTHESIS, read),
    )


def _longest_matter(meeting: Meeting) -> Matter:
    label = meeting.label(meeting.seats[-1].name)
    draft = longest(MOST_DRAFT_CHARACTERS)
    excerpt: dict[str, Json] = {"label": label, "text": longest(MOST_EXCERPT_CHARACTERS)}
    matter = _matter(meeting, draft, {}, Ledger())
    return replace(matter, excerpts=[*matter.excerpts, *[excerpt] * MOST_SHOWN_OBJECTIONS])


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
    uses=frozenset({"arbiter", "materials", "criteria"}),
)
