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
    first = Counter(ballot.choice for ballot in cast)
    votes = {option: first[option] for option in options}
    rounds: tuple[RunOffRound, ...] = ()
    tied: tuple[str, ...] = ()
    if rules.protocol is Protocol.RANKED:
        rounds, tied = run_off(options, [ballot.ranking for ballot in cast])
        sums = {option: Fraction(rounds[-1].counts.get(option, 0)) for option in options}
        total = sum(sums.values(), Fraction(0))
    else:
        sums, total = _sums(rules, votes, cast)
    leaders = top(sums)
    best = sums[leaders[0]] / total if leaders else Fraction(0)
    # Two options at exactly half each are a tie too, though neither passes a strict threshold.
    if len(leaders) > 1 and best >= rules.bar:
        tied = tied or leaders
    missing = len(ballots) < rules.quorum_needed(seats)
    refused = len(ballots) > len(cast) and not rules.abstention_accepted
    over = best > rules.bar or (best == rules.bar and rules.protocol not in STRICT)
    if missing or refused:
        reason = Reason.QUORUM if missing else Reason.ABSTENTION
    elif tied:
        reason = Reason.TIE
    else:
        reason = Reason.PASSED if leaders and over else Reason.BELOW_THRESHOLD
    return Tally(
        rules=rules,
        seats=seats,
        cast=len(cast),
        abstained=tuple(sorted(ballot.voter for ballot in ballots if ballot.abstained)),
        votes=votes,
        sums=sums,
        total=total,
        reason=reason,
        passed=next(iter(leaders), None) if reason is Reason.PASSED else None,
        leaders=leaders,
        tied=tied,
        run_off=rounds,
        condorcet=condorcet_winner([ballot.ranking for ballot in cast], options)
        if rounds
        else None,
    )


def _sums(
    rules: Rules, votes: Mapping[str, int], cast: Sequence[Ballot]
) -> tuple[dict[str, Fraction], Fraction]:
    if rules.protocol is not Protocol.WEIGHTED:
        return {option: Fraction(n) for option, n in votes.items()}, Fraction(len(cast))
    # Integers over one common denominator: ten thousand additions of Fractions are slow.
    certain = [ballot.confidence or Fraction(0) for ballot in cast]
    of_weight = math.lcm(*(ballot.weight.denominator for ballot in cast))
    of_confidence = math.lcm(*(confidence.denominator for confidence in certain))
    points = dict.fromkeys(votes, 0)
    weights = 0
    for ballot, confidence in zip(cast, certain, strict=True):
        weight = ballot.weight.numerator * (of_weight // ballot.weight.denominator)
        weights += weight
        sure = confidence.numerator * (of_confidence // confidence.denominator)
        points[ballot.choice or ""] += weight * sure
    sums = {option: Fraction(n, of_weight * of_confidence) for option, n in points.items()}
    if rules.normalize == "expressed":
        return sums, sum(sums.values(), Fraction(0))
    return sums, Fraction(weights, of_weight)


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
