"""Counting a poll (PROTOCOLS 6): ranking, recommendation, binary and scoring.

A tie is reported as a tie: each count names its ``leaders``, and its ``leader`` only when there
is exactly one. ``effective`` is the N of PROTOCOLS 6, the respondents with a valid ballot. Points,
shares, means and variances are exact; deviations are rounded for show and never compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from app.domain.ballot import json_number, share_record
from app.domain.meeting import Json, exact
from app.domain.reply_text import folded

FRAMINGS = (
    "neutral_baseline",
    "risk_averse",
    "growth",
    "contrarian",
    "first_principles",
    "user_empathy",
    "tight_resources",
    "five_year_horizon",
    "only_measurable",
    "second_order_effects",
)

CONSENSUS = Fraction(70, 100)
DIVERGENCE = Fraction(40, 100)
HIGH_VARIANCE = Fraction(2)
_MOST_ARGUMENTS = 5

GroupKind = Literal["consensus", "divergence", "outlier"]


def framings(count: int) -> tuple[str, ...]:
    """The framings of that many respondents: the first ones, cycling past ten."""
    return tuple(FRAMINGS[index % len(FRAMINGS)] for index in range(count))


def top(points: Mapping[str, Fraction]) -> tuple[str, ...]:
    """Those with the most points, if any has some: more than one of them is a tie."""
    most = max(points.values(), default=Fraction(0))
    return tuple(name for name, value in points.items() if value == most and most > 0)


def _only(leaders: Sequence[str]) -> str | None:
    return leaders[0] if len(leaders) == 1 else None


# --- ranking ------------------------------------------------------------------------------------


def borda(rankings: Iterable[Sequence[str]], options: Sequence[str]) -> dict[str, Fraction]:
    """Borda points: N for a first place among N options … 1 for the last.

    Options left out of a ranking share equally the points that remain. A ranking gives
    N(N+1)/2 points in all, whatever it leaves out.
    """
    n = len(options)
    # Twice the points, in integers: k options left out hold k…1 between them, (k+1)/2 each.
    ranked: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    shared = 0
    for ranking in rankings:
        remaining = n - len(ranking) + 1
        shared += remaining
        for place, option in enumerate(ranking):
            ranked[option] += 2 * (n - place)
            left_out[option] -= remaining
    return {o: Fraction(ranked[o] + left_out[o] + shared, 2) for o in options}


@dataclass(frozen=True, slots=True)
class RankingCount:
    points: Mapping[str, Fraction]
    effective: int

    @property
    def leaders(self) -> tuple[str, ...]:
        return top(self.points)

    @property
    def leader(self) -> str | None:
        return _only(self.leaders)

    def record(self) -> dict[str, Json]:
        points = {option: json_number(value) for option, value in self.points.items()}
        return {
            "output": "ranking",
            "effective": self.effective,
            "points": points,
            "leaders": list(self.leaders),
            "leader": self.leader,
        }


def count_rankings(rankings: Sequence[Sequence[str]], options: Sequence[str]) -> RankingCount:
    return RankingCount(borda(rankings, options), len(rankings))


# --- recommendation -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recommendation:
    respondent: str
    title: str
    confidence: Fraction
    why: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Similar recommendations; ``members`` are their numbers, ``respondents`` count once each."""

    title: str
    members: tuple[int, ...]
    respondents: tuple[str, ...]
    share: Fraction

    @property
    def kind(self) -> GroupKind:
        if self.share >= CONSENSUS:
            return "consensus"
        return "divergence" if self.share >= DIVERGENCE else "outlier"

    def record(self) -> dict[str, Json]:
        return {
            "title": self.title,
            "kind": self.kind,
            "mentions": len(self.respondents),
            "share": share_record(self.share),
            "respondents": list(self.respondents),
            "members": list(self.members),
        }


@dataclass(frozen=True, slots=True)
class RecommendationCount:
    """``groups`` come with the most mentioned first."""

    groups: tuple[Group, ...]
    effective: int

    @property
    def leaders(self) -> tuple[str, ...]:
        """The titles of the largest consensus group, or of several equally large ones."""
        return tuple(
            group.title
            for group in self.groups
            if group.kind == "consensus" and group.share == self.groups[0].share
        )

    @property
    def leader(self) -> str | None:
        return _only(self.leaders)

    def record(self) -> dict[str, Json]:
        return {
            "output": "recommendation",
            "effective": self.effective,
            "groups": [group.record() for group in self.groups],
            "leaders": list(self.leaders),
            "leader": self.leader,
        }


def grouping_fault(groups: Sequence[Sequence[int]], count: int) -> str | None:
    """What keeps a grouping from holding each of ``count`` recommendations exactly once."""
    times = Counter(index for group in groups for index in group)
    faults = [f"{index} does not exist" for index in sorted(times) if not 0 <= index < count]
    faults += [f"{index} is in no group" for index in range(count) if not times[index]]
    faults += [f"{index} is there more than once" for index in range(count) if times[index] > 1]
    if not faults:
        return None
    return "Every recommendation must be in exactly one group: " + ", ".join(faults) + "."


def group_by_similarity(
    titles: Sequence[str], similarity: Callable[[str, str], float], threshold: Fraction
) -> tuple[tuple[int, ...], ...]:
    """Titles linked, also through others, by a similarity of at least the threshold.

    ``similarity`` compares two folded titles, on the threshold's scale.

    Single linkage finds the same groups in whatever order the titles come, and each pair is
    compared in one fixed order in case the similarity itself is not symmetric.
    """
    names = sorted({folded(title) for title in titles})
    group_of = {name: number for number, name in enumerate(names)}
    for index, one in enumerate(names):
        for other in names[index + 1 :]:
            old, new = group_of[other], group_of[one]
            if old != new and exact(similarity(one, other)) >= threshold:
                group_of |= {name: new for name, group in group_of.items() if group == old}
    groups: dict[int, list[int]] = {}
    for index, title in enumerate(titles):
        groups.setdefault(group_of[folded(title)], []).append(index)
    return tuple(tuple(group) for group in groups.values())


def count_recommendations(
    recommendations: Sequence[Recommendation],
    groups: Iterable[Sequence[int]],
    effective: int,
) -> RecommendationCount:
    """Which groups are consensus, divergence or outlier, of ``effective`` respondents.

    Raises ValueError when a recommendation is not in exactly one group.
    """
    given = [tuple(group) for group in groups if group]
    fault = grouping_fault(given, len(recommendations))
    if fault is not None:
        raise ValueError(fault)
    counted = [_group(recommendations, members, effective) for members in given]
    counted.sort(key=lambda group: (-group.share, folded(group.title), group.members))
    return RecommendationCount(tuple(counted), effective)


def _group(all_: Sequence[Recommendation], members: tuple[int, ...], effective: int) -> Group:
    own = [all_[index] for index in members]
    respondents = tuple(sorted({recommendation.respondent for recommendation in own}))
    # The title used most, then the one meant most surely; names break what is left, so that the
    # order in which replies came in decides nothing.
    uses = Counter(folded(recommendation.title) for recommendation in own)
    best = min(own, key=lambda r: (-uses[folded(r.title)], -r.confidence, r.title))
    return Group(best.title, members, respondents, Fraction(len(respondents), effective))


# --- binary -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    respondent: str
    answer: Literal["YES", "NO"]
    reasons: tuple[str, ...] = ()
    confidence: Fraction | None = None


@dataclass(frozen=True, slots=True)
class BinaryCount:
    """``arguments`` are each side's strongest, by what their authors claim to be sure of."""

    yes: int
    no: int
    arguments: Mapping[str, tuple[tuple[str, str], ...]]

    @property
    def leader(self) -> str | None:
        return _only(self.leaders)

    @property
    def leaders(self) -> tuple[str, ...]:
        return top({"YES": Fraction(self.yes), "NO": Fraction(self.no)})

    def record(self) -> dict[str, Json]:
        arguments = {
            side: [{"respondent": name, "reason": reason} for name, reason in found]
            for side, found in self.arguments.items()
        }
        return {
            "output": "binary",
            "effective": self.yes + self.no,
            "counts": {"YES": self.yes, "NO": self.no},
            "split": self.yes == self.no,
            "arguments": arguments,
            "leaders": list(self.leaders),
            "leader": self.leader,
        }


def count_answers(answers: Sequence[Answer]) -> BinaryCount:
    sides = Counter(answer.answer for answer in answers)
    arguments = {side: _strongest(a for a in answers if a.answer == side) for side in ("YES", "NO")}
    return BinaryCount(sides["YES"], sides["NO"], arguments)


def _strongest(answers: Iterable[Answer]) -> tuple[tuple[str, str], ...]:
    surest = sorted(answers, key=lambda a: (-(a.confidence or 0), a.respondent))
    found: dict[str, tuple[str, str]] = {}
    for answer in surest:
        for reason in answer.reasons:
            found.setdefault(folded(reason), (answer.respondent, reason))
    return tuple(found.values())[:_MOST_ARGUMENTS]


# --- scoring ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spread:
    """Some scores' mean, median and sample variance (None for a single score)."""

    n: int
    mean: Fraction
    median: Fraction
    variance: Fraction | None

    @classmethod
    def of(cls, scores: Sequence[Fraction]) -> Spread:
        n = len(scores)
        ordered = sorted(scores)
        median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
        total = sum(ordered, Fraction(0))
        squares = sum((score * score for score in ordered), Fraction(0))
        variance = (squares - total * total / n) / (n - 1) if n > 1 else None
        return cls(n, total / n, median, variance)

    def deviates(self, by: Fraction) -> bool:
        """Whether the standard deviation is at least this; compared squared, so exactly."""
        return self.variance is not None and self.variance >= by * by

    def record(self) -> dict[str, Json]:
        deviation = None if self.variance is None else round(math.sqrt(self.variance), 3)
        return {
            "n": self.n,
            "mean": float(round(self.mean, 3)),
            "median": float(round(self.median, 3)),
            "deviation": deviation,
        }


@dataclass(frozen=True, slots=True)
class ScoreCount:
    """``overall`` is each option's spread of the respondents' own means over the criteria.

    A respondent is one voice: how far its scores of different criteria lie apart is no
    disagreement between respondents. ``by_criterion`` is empty where there are no criteria.
    """

    overall: Mapping[str, Spread]
    by_criterion: Mapping[str, Mapping[str, Spread]]
    high_variance: tuple[str, ...]
    """Options on which the respondents disagree, overall or on at least one criterion."""
    threshold: Fraction
    effective: int

    @property
    def leaders(self) -> tuple[str, ...]:
        return top({option: spread.mean for option, spread in self.overall.items()})

    @property
    def leader(self) -> str | None:
        return _only(self.leaders)

    def record(self) -> dict[str, Json]:
        return {
            "output": "scoring",
            "effective": self.effective,
            "scores": {
                option: {
                    "overall": spread.record(),
                    "criteria": {
                        name: cell.record() for name, cell in self.by_criterion[option].items()
                    },
                    "high_variance": option in self.high_variance,
                }
                for option, spread in self.overall.items()
            },
            "high_variance": list(self.high_variance),
            "threshold": json_number(self.threshold),
            "leaders": list(self.leaders),
            "leader": self.leader,
        }


def count_scores(
    ballots: Sequence[Mapping[str, Json]],
    options: Sequence[str],
    criteria: Sequence[str] = (),
    threshold: Fraction = HIGH_VARIANCE,
) -> ScoreCount:
    """Count the ``scores`` of every valid scoring ballot; at least one is needed.

    A ballot is ``{option: {criterion: score}}``, or ``{option: score}`` without criteria, as
    ``ScoringReading`` gives it.
    """
    overall: dict[str, Spread] = {}
    by_criterion: dict[str, dict[str, Spread]] = {}
    for option in options:
        rows = [_row(ballot[option], criteria) for ballot in ballots]
        means = [sum(row, Fraction(0)) / len(row) for row in rows]
        overall[option] = Spread.of(means)
        columns = zip(criteria, zip(*rows, strict=True), strict=True) if criteria else ()
        by_criterion[option] = {criterion: Spread.of(column) for criterion, column in columns}
    split = tuple(
        option
        for option in options
        if any(s.deviates(threshold) for s in (overall[option], *by_criterion[option].values()))
    )
    return ScoreCount(overall, by_criterion, split, threshold, len(ballots))


def _row(scores: Json, criteria: Sequence[str]) -> list[Fraction]:
    return [exact(scores[name]) for name in criteria] if criteria else [exact(scores)]
