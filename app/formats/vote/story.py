"""The vote (PROTOCOLS 7).

Everybody is asked once for a ballot, and plain code counts them. When no option passes, the
ladder that was fixed beforehand is climbed: a sure expert settles it, or those on either side
read the other side's reasons and all vote again, or every option is laid out for whoever may
decide. Below quorum nothing is decided, and a tie does not pass. Resumed where the ladder had
been climbed to its end, everybody votes once more and the ladder is climbed from its foot again;
where it had not, it is climbed further.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.domain.meeting.events import TallyComputed
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import (
    DecidedBy,
    DecisionSource,
    Outcome,
    Result,
    StopReason,
)
from app.domain.replies.reading import Reply
from app.domain.steps import Conversation, Part, gather, note
from app.domain.values import Json
from app.formats.shared.arbitrating import ArbitrationResult, arbitrate_if_open
from app.formats.shared.ending import (
    Ending,
    Found,
    confirm_count,
    gate_dissents,
    outcome_of,
    without_decision,
)
from app.formats.shared.format import Format, in_turn
from app.formats.shared.round_events import tell_close, tell_start
from app.formats.shared.stops import (
    cut_short,
    rounds_used_up,
    same_split,
    stop_after,
    until_stopped,
)
from app.formats.vote.balloting import Balloting, refused_abstention
from app.formats.vote.counting import ExpertOverride, Reason, Rules, expert_override
from app.formats.vote.findings import (
    handoff,
    question_of,
    vote_degradation,
    vote_dissents,
    vote_findings,
    vote_numbers,
)
from app.formats.vote.questions import (
    ballot_questions,
    deliberation_questions,
    matter_for_arbiter,
    plan,
)
from app.formats.vote.record import VoteRecord
from app.formats.vote.rules import VoteRules, ladder, revotes, vote_faults

_PERSPECTIVES = ("maker", "keeper", "user", "payer", "doubter")
_DECIDED = frozenset({StopReason.COMPLETED, StopReason.RULING})


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
    settled: ArbitrationResult = field(
        default_factory=lambda: ArbitrationResult(StopReason.THRESHOLD)
    )

    @property
    def last(self) -> Balloting | None:
        return self.ballots[-1] if self.ballots else None

    @property
    def chosen(self) -> str | None:
        if self.settled.choice is not None:
            return self.settled.choice.text
        if self.override is not None:
            return self.override.option
        return self.last.tally.passed if self.last else None

    @property
    def escalated(self) -> bool:
        """Whether the ladder has been climbed to that step after the last ballot."""
        held = len(self.ballots)
        return any(step["step"] == "escalate" and step["round"] == held for step in self.steps)

    @property
    def talk(self) -> tuple[Reply, ...]:
        """What was answered to the others' reasons since the last ballot."""
        last, number = self.talks[-1] if self.talks else (), len(self.ballots) + 1
        return last if last and last[0].round == number else ()


def hold(meeting: Meeting) -> Conversation:
    vote = _Vote(meeting, Rules.read(meeting.rules))
    stopped_by = yield from until_stopped(_decide(vote))
    vote.settled = yield from _arbitrate(vote, stopped_by)
    ending = Ending(vote.settled.stopped_by, counts=True)
    if vote.chosen is not None:
        ending = yield from confirm_count(
            meeting, vote.chosen, len(vote.ballots), ending.stopped_by
        )
    return _outcome(vote, ending)


# --- from the first ballot up the ladder --------------------------------------------------------


def _decide(vote: _Vote) -> Part[StopReason]:
    """A ballot and the ladder; once more after each resuming of a vote that had ended so."""
    while True:
        ended = yield from _climb(vote)
        held = len(vote.ballots)
        if ended is StopReason.COMPLETED or held > vote.meeting.resumed_after:
            return ended
        if rounds_used_up(vote.meeting, held):
            return StopReason.ROUNDS


def _climb(vote: _Vote) -> Part[StopReason]:
    ended = yield from _hold_ballot(vote, talked=False)
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


def _hold_ballot(vote: _Vote, *, talked: bool) -> Part[StopReason | None]:
    """Everybody votes; None when no option passes and the ladder may go on.

    ``talked``: before it, reasons are put to those who have to answer them.
    """
    number, meeting = len(vote.ballots) + 1, vote.meeting
    motion = meeting.motion
    yield from tell_start(number, motion)
    if talked:
        asks = deliberation_questions(meeting, vote.ballots[-1])
        vote.talks.append((yield from gather(*asks)))
    replies = yield from gather(*ballot_questions(meeting, vote.last, vote.talk))
    held = Balloting.of(meeting, vote.rules, replies, vote.last)
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
        stop = yield from stop_after(vote.ballots, vote.meeting, agreed=False)
        if stop is not None:
            return stop
        vote.steps.append({"step": "deliberate", "round": len(vote.ballots) + 1})
        ended = yield from _hold_ballot(vote, talked=True)
        if ended is None and experts:
            ended = _ask_experts(vote)
        if ended is not None:
            return ended
    return None


def _tell(vote: _Vote, held: Balloting) -> Part[None]:
    number = held.number
    tally = TallyComputed(round=number, tally=held.tally.record())
    yield from note(f"round-{number}/tally", tally)
    yield from tell_close(
        number,
        held.replies,
        motion=vote.meeting.motion,
        counts=held.counts,
        progress=held.progress,
        details={"ballots": held.cast},
    )


def _arbitrate(vote: _Vote, stopped_by: StopReason) -> Part[ArbitrationResult]:
    """Every option goes to the arbiter, if there is one (PROTOCOLS 7, escalate and quorum).

    A ladder that was fixed without that step is not made longer.
    """
    meeting, last = vote.meeting, vote.last
    handed_on = stopped_by is not StopReason.THRESHOLD or vote.escalated
    if last is None or vote.chosen is not None or not handed_on:
        return ArbitrationResult(stopped_by)
    matter = matter_for_arbiter(meeting, last)
    return (yield from arbitrate_if_open(meeting, stopped_by, last.number, matter))


# --- the end ------------------------------------------------------------------------------------


def _outcome(vote: _Vote, ending: Ending) -> Outcome:
    last = vote.last
    chosen = vote.chosen if ending.stopped_by in _DECIDED else None
    lost = vote_dissents(last, chosen) if last and chosen else ()
    found = Found(
        numbers_name="tally",
        numbers=vote_numbers(vote.meeting, vote.ballots, vote.steps),
        heard=_heard(vote),
        decision=None if chosen is None else (chosen, _source(vote)),
        decided_by=_decided_by(vote),
        effective=last.effective if last else 0,
        dissents=lost + gate_dissents(ending.closing),
        stalled=same_split(vote.ballots, vote.meeting),
        findings=_findings(vote, undecided=chosen is None and _is_open(ending.stopped_by)),
        counted=last.replies if last else (),
        weaknesses=vote_degradation(vote.ballots, vote.talks),
    )
    return outcome_of(vote.meeting, ending, found, vote.settled)


def _is_open(stopped_by: StopReason) -> bool:
    """Whether somebody may still decide it: it was neither cancelled nor kept from being held."""
    return without_decision(stopped_by)[0] is Result.UNDECIDED


def _heard(vote: _Vote) -> list[list[Reply]]:
    """Who abstained where that is not accepted was heard all the same."""
    return [
        [reply for reply in held.replies if not refused_abstention(reply)] for held in vote.ballots
    ]


def _source(vote: _Vote) -> DecisionSource:
    return "option" if vote.settled.ruling is None else "ruling"


def _decided_by(vote: _Vote) -> DecidedBy:
    if vote.settled.decided_by is not None:
        return vote.settled.decided_by
    question = question_of(vote.meeting)
    if vote.override is not None:
        return DecidedBy("expert", ", ".join(vote.override.experts), question)
    return DecidedBy("vote", vote.rules.protocol.value, question)


def _findings(vote: _Vote, *, undecided: bool) -> dict[str, Json]:
    found = vote_findings(vote.meeting, vote.ballots)
    if vote.last is not None and undecided:
        found["handoff"] = handoff(vote.meeting, vote.last, escalated=vote.escalated)
    return found


FORMAT = Format(
    name="vote",
    version=1,
    hold=hold,
    plan=plan,
    perspectives=lambda topic, rules, count: in_turn(_PERSPECTIVES, count),
    rules=VoteRules,
    usual_seats=lambda rules: 3,
    faults=vote_faults,
    fewest_seats=2,
    uses=frozenset({"arbiter", "options", "domains"}),
    package=__package__,
    record=VoteRecord(),
)
