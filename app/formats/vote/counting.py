"""Counting a vote (PROTOCOLS 7): whether an option passes, by how much, and why not.

Nothing here is a float: votes are integers, weights, confidences, shares and thresholds are
Fractions. Only valid ballots and abstentions are handed in; an invalid ballot or a missing reply
is a seat without a ballot, so it counts against the quorum and against no option.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from app.domain.meeting.meeting import Seat
from app.domain.replies.ballot import ABSTAIN
from app.domain.replies.numbers import json_number, share_record
from app.domain.rounds.counting import top
from app.domain.values import Json, exact
from app.formats.vote.run_off import RunOffRound, condorcet_winner, run_off

SURE = Fraction(4, 5)
"""An expert has to be surer than this to settle a vote."""

Normalize = Literal["weight", "expressed"]


class Protocol(StrEnum):
    SIMPLE_MAJORITY = "simple_majority"
    SUPERMAJORITY = "supermajority"
    UNANIMOUS = "unanimous"
    WEIGHTED = "weighted"
    RANKED = "ranked"


class Reason(StrEnum):
    """Why the count ended as it did; only the first means that an option passed."""

    PASSED = "passed"
    BELOW_THRESHOLD = "below_threshold"
    TIE = "tie"
    QUORUM = "quorum"
    ABSTENTION = "abstention"


DEFAULT_QUORUM: Mapping[Protocol, Fraction] = {
    Protocol.SIMPLE_MAJORITY: Fraction(1, 2),
    Protocol.SUPERMAJORITY: Fraction(3, 4),
    Protocol.UNANIMOUS: Fraction(1),
    Protocol.WEIGHTED: Fraction(66, 100),
    Protocol.RANKED: Fraction(3, 4),
}
DEFAULT_THRESHOLD: Mapping[Protocol, Fraction] = {
    Protocol.SIMPLE_MAJORITY: Fraction(1, 2),
    Protocol.SUPERMAJORITY: Fraction(66, 100),
    Protocol.UNANIMOUS: Fraction(1),
    Protocol.WEIGHTED: Fraction(6, 10),
    Protocol.RANKED: Fraction(1, 2),
}
STRICT = frozenset({Protocol.SIMPLE_MAJORITY, Protocol.RANKED})
"""These must be passed, the other thresholds need only be reached."""

THRESHOLD_SETTABLE = frozenset({Protocol.SUPERMAJORITY, Protocol.WEIGHTED})
"""In the other protocols the name itself says what the threshold is."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """One seat's valid ballot: an option, or a ranking (best first), or an abstention."""

    voter: str
    option: str | None = None
    ranking: tuple[str, ...] = ()
    confidence: Fraction | None = None
    weight: Fraction = Fraction(1)
    expert: bool = False
    abstained: bool = False

    @property
    def choice(self) -> str | None:
        return self.ranking[0] if self.ranking else self.option


@dataclass(frozen=True, slots=True)
class Rules:
    """A vote's settings. ``quorum`` is a count (an integer) or a share (a Fraction)."""

    protocol: Protocol
    quorum: int | Fraction | None = None
    threshold: Fraction | None = None
    normalize: Normalize = "weight"
    critical: bool = False

    @property
    def abstention_accepted(self) -> bool:
        return not self.critical and self.protocol is not Protocol.UNANIMOUS

    @property
    def bar(self) -> Fraction:
        if self.threshold is None or self.protocol not in THRESHOLD_SETTABLE:
            return DEFAULT_THRESHOLD[self.protocol]
        return self.threshold

    def passed_by(self, share: Fraction) -> bool:
        """Whether the share is over the bar, or at it where that is enough."""
        return share > self.bar or (share == self.bar and self.protocol not in STRICT)

    def quorum_needed(self, seats: int) -> int:
        """How many seats must take part; a share of the seats is rounded up."""
        if isinstance(self.quorum, int):
            return self.quorum
        share = DEFAULT_QUORUM[self.protocol] if self.quorum is None else self.quorum
        return math.ceil(share * seats)

    @classmethod
    def read(cls, rules: Mapping[str, Json]) -> Rules:
        """The settings as a meeting's ``rules`` hold them: ``1`` is one ballot, ``1.0`` all."""
        quorum, threshold = rules.get("quorum"), rules.get("threshold")
        return cls(
            Protocol(rules.get("protocol") or Protocol.SIMPLE_MAJORITY),
            quorum if quorum is None or isinstance(quorum, int) else exact(quorum),
            None if threshold is None else exact(threshold),
            rules.get("normalize") or "weight",
            bool(rules.get("critical")),
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """A count, with everything that is needed to do it again.

    ``sums`` over ``total`` are the ``shares``: votes over ballots cast, weighted confidences over
    weights, or first places over continuing ballots in the last count of a run-off.
    """

    rules: Rules
    seats: int
    cast: int
    abstained: tuple[str, ...]
    votes: Mapping[str, int]
    sums: Mapping[str, Fraction]
    total: Fraction
    reason: Reason
    passed: str | None
    leaders: tuple[str, ...]
    tied: tuple[str, ...] = ()
    """The options whose tie kept any from passing; in a run-off they need not be the leaders."""
    run_off: tuple[RunOffRound, ...] = ()
    condorcet: str | None = None
    shares: Mapping[str, Fraction] = field(init=False)

    def __post_init__(self) -> None:
        shares = {o: s / self.total if self.total else Fraction(0) for o, s in self.sums.items()}
        object.__setattr__(self, "shares", shares)

    @property
    def present(self) -> int:
        return self.cast + len(self.abstained)

    @property
    def leader(self) -> str | None:
        """The one option ahead of all others, whether it passed or not."""
        return self.leaders[0] if len(self.leaders) == 1 else None

    def record(self) -> dict[str, Json]:
        ranked = self.rules.protocol is Protocol.RANKED
        return {
            "protocol": self.rules.protocol.value,
            "votes": dict(self.votes),
            "sums": {option: json_number(value) for option, value in self.sums.items()},
            "total": json_number(self.total),
            "shares": {option: share_record(share) for option, share in self.shares.items()},
            "threshold": share_record(self.rules.bar),
            "strict": self.rules.protocol in STRICT,
            "normalize": self.rules.normalize,
            "quorum": {
                "needed": self.rules.quorum_needed(self.seats),
                "present": self.present,
                "seats": self.seats,
            },
            "cast": self.cast,
            "abstained": list(self.abstained),
            "passed": self.passed,
            "reason": self.reason.value,
            "leaders": list(self.leaders),
            "tied": list(self.tied),
            "run_off": [count.record() for count in self.run_off] if ranked else None,
            "condorcet": self.condorcet,
        }


def cast_ballot(seat: Seat, values: Mapping[str, Json]) -> Ballot:
    """The ballot that a voter's reading holds (``VoteReading`` or ``RankingReading``)."""
    ballot, confidence = values["ballot"], values["confidence"]
    abstained = ballot.get("vote") == ABSTAIN
    return Ballot(
        seat.name,
        None if abstained else ballot.get("vote"),
        tuple(ballot.get("ranking", ())),
        None if confidence is None else exact(confidence),
        seat.weight,
        seat.expert,
        abstained,
    )


def count(rules: Rules, options: Sequence[str], ballots: Sequence[Ballot], seats: int) -> Tally:
    """Count a vote of ``seats`` seated voters, each with at most one of the ``ballots``."""
    cast = [ballot for ballot in ballots if not ballot.abstained]
    abstained = tuple(sorted(ballot.voter for ballot in ballots if ballot.abstained))
    held = _held(rules, options, cast)
    leaders = top(held.sums)
    best = held.sums[leaders[0]] / held.total if leaders else None
    tied = held.tied or _tied_leaders(rules, leaders, best)
    reason = _refused(rules, len(ballots), len(abstained), seats) or _result(rules, best, tied)
    return Tally(
        rules=rules,
        seats=seats,
        cast=len(cast),
        abstained=abstained,
        votes=_votes(options, cast),
        sums=held.sums,
        total=held.total,
        reason=reason,
        passed=leaders[0] if reason is Reason.PASSED else None,
        leaders=leaders,
        tied=tied,
        run_off=held.run_off,
        condorcet=held.condorcet,
    )


def _refused(rules: Rules, present: int, abstained: int, seats: int) -> Reason | None:
    """Why nothing is decided whatever the shares are, if so (PROTOCOLS 7, quorum, abstentions)."""
    if present < rules.quorum_needed(seats):
        return Reason.QUORUM
    if abstained and not rules.abstention_accepted:
        return Reason.ABSTENTION
    return None


def _result(rules: Rules, best: Fraction | None, tied: Sequence[str]) -> Reason:
    """What the shares come to; ``best`` is the leaders' share, None where nobody leads."""
    if tied:
        return Reason.TIE
    passed = best is not None and rules.passed_by(best)
    return Reason.PASSED if passed else Reason.BELOW_THRESHOLD


def _tied_leaders(rules: Rules, leaders: tuple[str, ...], best: Fraction | None) -> tuple[str, ...]:
    """Several leaders that reach the threshold keep each other from passing.

    Two options at exactly half each are a tie too, though neither passes a strict threshold.
    """
    reached = best is not None and best >= rules.bar
    return leaders if reached and len(leaders) > 1 else ()


# --- what each option holds ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Held:
    """What each option holds, and of how much; of a run-off its counts too, and their tie."""

    sums: Mapping[str, Fraction]
    total: Fraction
    run_off: tuple[RunOffRound, ...] = ()
    tied: tuple[str, ...] = ()
    condorcet: str | None = None


def _held(rules: Rules, options: Sequence[str], cast: Sequence[Ballot]) -> _Held:
    if rules.protocol is Protocol.RANKED:
        return _held_in_run_off(options, cast)
    if rules.protocol is Protocol.WEIGHTED:
        return _held_by_weight(rules.normalize, options, cast)
    votes = _votes(options, cast)
    return _Held({option: Fraction(n) for option, n in votes.items()}, Fraction(len(cast)))


def _votes(options: Sequence[str], cast: Sequence[Ballot]) -> dict[str, int]:
    """How many chose each option; of rankings, the first places."""
    chosen = Counter(ballot.choice for ballot in cast)
    return {option: chosen[option] for option in options}


def _held_in_run_off(options: Sequence[str], cast: Sequence[Ballot]) -> _Held:
    rankings = [ballot.ranking for ballot in cast]
    rounds, tied = run_off(options, rankings)
    last = rounds[-1].counts
    sums = {option: Fraction(last.get(option, 0)) for option in options}
    winner = condorcet_winner(rankings, options)
    return _Held(sums, Fraction(sum(last.values())), rounds, tied, winner)


def _held_by_weight(normalize: Normalize, options: Sequence[str], cast: Sequence[Ballot]) -> _Held:
    """The weighted scores (PROTOCOLS 7), and what they are divided by.

    They are added up as integers over common denominators: ten thousand additions of Fractions
    are slow.
    """
    weights, of_weight = _over_one_denominator([ballot.weight for ballot in cast])
    sure, of_sure = _over_one_denominator([ballot.confidence or Fraction(0) for ballot in cast])
    scores = dict.fromkeys(options, 0)
    for ballot, weight, confidence in zip(cast, weights, sure, strict=True):
        scores[ballot.choice or ""] += weight * confidence
    sums = {option: Fraction(score, of_weight * of_sure) for option, score in scores.items()}
    if normalize == "expressed":
        return _Held(sums, sum(sums.values(), Fraction(0)))
    return _Held(sums, Fraction(sum(weights), of_weight))


def _over_one_denominator(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """The numerators over the least common denominator, and that denominator."""
    denominator = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (denominator // value.denominator) for value in values], denominator


# --- experts ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExpertOverride:
    """The option that the sure experts agree on, and who they are."""

    option: str
    experts: tuple[str, ...]


def expert_override(ballots: Iterable[Ballot]) -> ExpertOverride | None:
    """The ladder's expert step: experts surer than 0.8 settle it, unless they disagree."""
    sure: dict[str, list[str]] = {}
    for ballot in ballots:
        certain = ballot.confidence is not None and ballot.confidence > SURE
        if ballot.expert and certain and ballot.choice is not None:
            sure.setdefault(ballot.choice, []).append(ballot.voter)
    if len(sure) != 1:
        return None
    ((option, experts),) = sure.items()
    return ExpertOverride(option, tuple(sorted(experts)))
