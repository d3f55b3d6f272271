"""The vote (PROTOCOLS 7).

Everybody is asked once for a ballot, and plain code counts them. When no option passes, the
ladder that was fixed beforehand is climbed: a sure expert settles it, or those on either side
read the other side's reasons and all vote again, or every option is laid out for whoever may
decide. Below quorum nothing is decided, and a tie does not pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain import events
from app.domain.arbitration import Choice
from app.domain.arguments import RebuttalReading, answers_the_others, shown_to
from app.domain.ballot import ABSTAIN, RankingReading, VoteReading
from app.domain.balloting import Balloting, refused_abstention
from app.domain.cut_short import cut_short
from app.domain.meeting import Json, Meeting, Seat
from app.domain.outcome import (
    DecidedBy,
    DecisionSource,
    Degradation,
    Outcome,
    Result,
    StopReason,
)
from app.domain.reply_text import clean, without_thinking
from app.domain.shuffling import shuffled
from app.domain.steps import Ask, Conversation, Part, Reading, Reply, gather, note
from app.domain.vote_record import (
    MOST_ARGUED_CHARACTERS,
    argued,
    handoff,
    question_of,
    vote_degradation,
    vote_dissents,
    vote_findings,
    vote_numbers,
)
from app.domain.vote_rules import VoteRules, ladder, revotes, vote_faults
from app.domain.voting import ExpertOverride, Protocol, Reason, Rules, expert_override
from app.formats.arbitrating import Matter, Settled, plan_ruling, settle
from app.formats.closing import missing_replies, plan_gate
from app.formats.counted import confirm, result_of_count, unconfirmed
from app.formats.format import Format, PlannedAsk, longest
from app.formats.rounds import Ending, stop_after, until_stopped

_DECIDED = frozenset({StopReason.COMPLETED, StopReason.RULING})

_MOST_RATIONALE_CHARACTERS = 1_000
_MOST_REBUTTAL_CHARACTERS = 2_000
"""Of one voter's words, in what another is shown."""


@dataclass(slots=True)
class _Vote:
    """What is known so far."""

    meeting: Meeting
    rules: Rules
    ballots: list[Balloting] = field(default_factory=list[Balloting])
    talks: list[tuple[Reply, ...]] = field(default_factory=list[tuple[Reply, ...]])
    steps: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    """What was done from the ladder, in order."""
    override: ExpertOverride | None = None
    settled: Settled = field(default_factory=lambda: Settled(StopReason.THRESHOLD))

    @property
    def last(self) -> Balloting | None:
        return self.ballots[-1] if self.ballots else None

    @property
    def ranked(self) -> bool:
        return self.rules.protocol is Protocol.RANKED

    @property
    def chosen(self) -> str | None:
        if self.settled.choice is not None:
            return self.settled.choice.text
        if self.override is not None:
            return self.override.option
        return self.last.tally.passed if self.last else None

    @property
    def escalated(self) -> bool:
        return any(step["step"] == "escalate" for step in self.steps)


def hold(meeting: Meeting) -> Conversation:
    vote = _Vote(meeting, Rules.read(meeting.rules))
    stopped_by = yield from until_stopped(_decide(vote))
    vote.settled = yield from _arbitrate(vote, stopped_by)
    ending = Ending(vote.settled.stopped_by)
    if vote.chosen is not None:
        ending = yield from confirm(meeting, vote.chosen, len(vote.ballots), ending.stopped_by)
    return _outcome(vote, ending)


# --- from the first ballot up the ladder --------------------------------------------------------


def _decide(vote: _Vote) -> Part[StopReason]:
    ended = yield from _hold_ballot(vote)
    climbed: list[str] = []
    for rung in ladder(vote.meeting):
        if ended is not None or "escalate" in climbed:
            break
        if rung == "expert":
            ended = _ask_experts(vote)
        elif rung == "deliberate":
            ended = yield from _talk_it_over(vote, experts="expert" in climbed)
        else:
            arbiter = vote.meeting.arbiter
            to = {} if arbiter is None else {"to": arbiter.shown}
            vote.steps.append({"step": "escalate", "round": len(vote.ballots), **to})
        climbed.append(rung)
    return ended or _stop_of(vote, StopReason.THRESHOLD)


def _hold_ballot(vote: _Vote) -> Part[StopReason | None]:
    """Everybody votes; None when no option passes and the ladder may go on."""
    number = len(vote.ballots) + 1
    motion = vote.meeting.motion
    yield from note(f"round-{number}/start", events.ROUND_STARTED, round=number, motion=motion)
    if vote.ballots:
        vote.talks.append((yield from gather(*_arguing(vote, number))))
    replies = yield from gather(*_questions(vote, number))
    held = Balloting.of(vote.meeting, vote.rules, replies, vote.last)
    vote.ballots.append(held)
    yield from _tell(vote, held)
    if held.tally.passed is not None:
        return StopReason.COMPLETED
    if held.tally.reason in (Reason.QUORUM, Reason.ABSTENTION):
        return _stop_of(vote, StopReason.QUORUM)
    return None


def _stop_of(vote: _Vote, otherwise: StopReason) -> StopReason:
    """What ended a vote that passed nothing: a limit that kept ballots out, or the rules."""
    replies = vote.ballots[-1].replies
    return cut_short(replies) or otherwise


def _ask_experts(vote: _Vote) -> StopReason | None:
    held = vote.ballots[-1]
    vote.override = expert_override(held.ballots.values())
    experts = list(vote.override.experts) if vote.override else []
    if any(seat.expert for seat in vote.meeting.seats):
        vote.steps.append({"step": "expert", "round": held.number, "experts": experts})
    return StopReason.COMPLETED if vote.override else None


def _talk_it_over(vote: _Vote, *, experts: bool) -> Part[StopReason | None]:
    """Reasons are exchanged and all vote again, as often as was fixed beforehand."""
    for _ in range(revotes(vote.meeting)):
        if not vote.ballots[-1].tally.leaders:
            return None  # Nobody voted for anything, so there are no reasons to exchange.
        stop = yield from stop_after(vote.ballots, vote.meeting.limits, agreed=False)
        if stop is not None:
            return stop
        vote.steps.append({"step": "deliberate", "round": len(vote.ballots) + 1})
        ended = yield from _hold_ballot(vote)
        if ended is None and experts:
            ended = _ask_experts(vote)
        if ended is not None:
            return ended
    return None


def _tell(vote: _Vote, held: Balloting) -> Part[None]:
    number = held.number
    yield from note(
        f"round-{number}/tally", events.TALLY_COMPUTED, round=number, **held.tally.record()
    )
    yield from note(
        f"round-{number}/close",
        events.ROUND_CLOSED,
        round=number,
        motion=vote.meeting.motion,
        ballots=held.cast,
        counts=held.counts,
        consensus=None,
        progress=held.progress.record(),
        effective_participants=held.effective,
    )


def _arbitrate(vote: _Vote, stopped_by: StopReason) -> Part[Settled]:
    """Every option goes to the arbiter, if there is one (PROTOCOLS 7, escalate and quorum).

    A ladder that was fixed without that step is not made longer.
    """
    meeting, last = vote.meeting, vote.last
    handed_on = stopped_by is not StopReason.THRESHOLD or vote.escalated
    if last is None or vote.chosen is not None or not handed_on:
        return Settled(stopped_by)
    matter = _matter(meeting, argued(meeting, last))
    return (yield from settle(meeting, stopped_by, last.number, matter))


def _matter(meeting: Meeting, excerpts: Sequence[Mapping[str, Json]]) -> Matter:
    question = question_of(meeting)
    choices = tuple(Choice(option, option) for option in meeting.options)
    return Matter(question, choices, question, excerpts)


# --- what is asked ------------------------------------------------------------------------------


def _questions(vote: _Vote, number: int) -> list[Ask]:
    template = "vote/ranking" if vote.ranked else "vote/ballot"
    return [
        Ask(
            f"round-{number}/ask/{seat.name}",
            seat.name,
            number,
            template,
            _ballot_variables(vote, seat, number),
            _reading(vote),
        )
        for seat in vote.meeting.seats
    ]


def _reading(vote: _Vote) -> Reading:
    options, accepted = vote.meeting.options, vote.rules.abstention_accepted
    if vote.ranked:
        return RankingReading(options, abstention_accepted=accepted)
    return VoteReading(options, abstention_accepted=accepted)


def _ballot_variables(vote: _Vote, seat: Seat, number: int) -> dict[str, Json]:
    said = {reply.who: reply for reply in vote.talks[-1]} if vote.talks else {}
    return _shared_variables(vote, seat, number) | {
        "abstention_accepted": vote.rules.abstention_accepted,
        "own_answer": _rebuttal(said.get(seat.name)),
        "others": [
            {**shown, "answer": _rebuttal(said.get(voter))}
            for voter, shown in _others(vote, seat, number)
        ],
    }


def _arguing(vote: _Vote, number: int) -> list[Ask]:
    """Who has to answer the reasons of the others, and which."""
    held = vote.ballots[-1]
    return [
        Ask(
            f"round-{number}/deliberate/{seat.name}",
            seat.name,
            number,
            "vote/deliberate",
            _shared_variables(vote, seat, number)
            | {"others": [shown for _, shown in _others(vote, seat, number)]},
            RebuttalReading(),
        )
        for seat in vote.meeting.seats
        if answers_the_others(held.choices.get(seat.name), held.tally)
    ]


def _shared_variables(vote: _Vote, seat: Seat, number: int) -> dict[str, Json]:
    """What every question of a vote shows; never how many stand where."""
    meeting = vote.meeting
    return {
        "topic": meeting.topic,
        "context": meeting.context,
        "motion": meeting.motion or "",
        "options": shuffled(meeting.options, meeting.id, seat.name, "options"),
        "round": number,
        "name": seat.name,
        "role": seat.role,
        "label": meeting.label(seat.name),
        **_last_ballot(vote.last, seat),
    }


def _last_ballot(last: Balloting | None, seat: Seat) -> dict[str, Json]:
    """A voter's own last ballot: whoever answers next may not remember it."""
    ballot = last.ballots.get(seat.name) if last else None
    if last is None or ballot is None:
        return {"last_vote": "", "last_rationale": ""}
    (reply,) = (reply for reply in last.replies if reply.who == seat.name)
    ranked = " > ".join(ballot.ranking)
    return {
        "last_vote": ranked or ballot.option or ABSTAIN,
        "last_rationale": clean(reply.values["rationale"], _MOST_RATIONALE_CHARACTERS),
    }


def _others(vote: _Vote, seat: Seat, number: int) -> list[tuple[str, dict[str, Json]]]:
    """The arguments that a voter is shown, by who gave them, in an order of this voter's own."""
    last, meeting = vote.last, vote.meeting
    if last is None:
        return []
    choice = last.choices.get(seat.name)
    shown = {a.voter: a for a in shown_to(seat.name, choice, last.arguments, last.tally)}
    order = shuffled(shown, meeting.id, seat.name, f"others-{number}")
    return [
        (
            voter,
            {
                "label": meeting.label(voter),
                "option": shown[voter].option,
                "rationale": clean(shown[voter].rationale, _MOST_RATIONALE_CHARACTERS),
            },
        )
        for voter in order
    ]


def _rebuttal(reply: Reply | None) -> str:
    if reply is None or not reply.usable:
        return ""
    return clean(without_thinking(reply.text), _MOST_REBUTTAL_CHARACTERS)


# --- the end ------------------------------------------------------------------------------------


def _outcome(vote: _Vote, ending: Ending) -> Outcome:
    decided = ending.stopped_by in _DECIDED
    result, completeness = result_of_count(vote.meeting, ending, decided=decided)
    chosen = vote.chosen if decided else None
    last = vote.last
    return Outcome(
        result=result,
        stopped_by=ending.stopped_by,
        completeness=completeness,
        decision=chosen,
        decision_source=_source(vote) if chosen else None,
        decided_by=_decided_by(vote) if chosen else None,
        effective_participants=last.effective if last else 0,
        dissents=(vote_dissents(last, chosen) if last and chosen else ()) + ending.dissents(),
        numbers_name="tally",
        numbers=vote_numbers(vote.meeting, vote.ballots, vote.steps),
        findings=_findings(vote, ending, result),
        degradation=_degradation(vote, ending),
    )


def _source(vote: _Vote) -> DecisionSource:
    return "option" if vote.settled.ruling is None else "ruling"


def _decided_by(vote: _Vote) -> DecidedBy:
    if vote.settled.decided_by is not None:
        return vote.settled.decided_by
    question = question_of(vote.meeting)
    if vote.override is not None:
        return DecidedBy("expert", ", ".join(vote.override.experts), question)
    return DecidedBy("vote", vote.rules.protocol.value, question)


def _findings(vote: _Vote, ending: Ending, result: Result) -> dict[str, Json]:
    found = vote_findings(vote.meeting, vote.ballots)
    found |= vote.settled.findings() | ending.findings()
    if vote.last is not None and result is Result.UNDECIDED:
        found["handoff"] = handoff(vote.meeting, vote.last, escalated=vote.escalated)
    return found


def _degradation(vote: _Vote, ending: Ending) -> tuple[Degradation, ...]:
    silent = missing_replies(
        [reply for reply in held.replies if not refused_abstention(reply)] for held in vote.ballots
    )
    own = vote_degradation(vote.ballots, vote.talks)
    decided = ending.stopped_by in _DECIDED
    return silent + own + unconfirmed(vote.meeting, ending, decided=decided)


# --- beforehand ---------------------------------------------------------------------------------


def plan(meeting: Meeting) -> tuple[PlannedAsk, ...]:
    """Every request of the vote, with texts as long as they can become."""
    vote = _Vote(meeting, Rules.read(meeting.rules))
    seats = len(meeting.seats)
    opening = max(_questions(vote, 1), key=lambda ask: len(str(ask.variables)))
    again = 0
    if "deliberate" in ladder(meeting):
        again = seats * max(0, min(revotes(meeting), meeting.limits.rounds - 1))
    option = max(meeting.options, key=lambda text: len(text.encode()), default="")
    shown: dict[str, Json] = {
        "label": meeting.label(meeting.seats[-1].name),
        "option": option,
        "rationale": longest(_MOST_RATIONALE_CHARACTERS),
        "answer": longest(_MOST_REBUTTAL_CHARACTERS),
    }
    later: dict[str, Json] = {
        **opening.variables,
        "round": 2,
        "last_vote": " > ".join(meeting.options) if vote.ranked else option,
        "last_rationale": longest(_MOST_RATIONALE_CHARACTERS),
        "own_answer": longest(_MOST_REBUTTAL_CHARACTERS),
        "others": [shown] * (seats - 1),
    }
    words: dict[str, Json] = {"label": shown["label"], "text": longest(MOST_ARGUED_CHARACTERS)}
    planned = (
        PlannedAsk(opening.template, opening.variables, seats, seats),
        PlannedAsk("vote/deliberate", later, 0, again),
        PlannedAsk(opening.template, later, 0, again),
        *plan_ruling(meeting, _matter(meeting, [words] * seats)),
    )
    return planned if meeting.completion_gate is None else planned + plan_gate(meeting, option)


def _perspectives(topic: str, rules: Mapping[str, Json], count: int) -> tuple[str, ...]:
    del topic, rules
    keys = ("maker", "keeper", "user", "payer", "doubter")
    return tuple(keys[index % len(keys)] for index in range(count))


FORMAT = Format(
    name="vote",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=_perspectives,
    rules=VoteRules,
    usual_seats=lambda rules: 3,
    faults=vote_faults,
    fewest_seats=2,
    uses=frozenset({"arbiter", "options", "domains"}),
)
