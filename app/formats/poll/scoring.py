"""Counting scores (PROTOCOLS 6): mean, median, deviation, and where respondents lie far apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from app.domain.replies.numbers import json_number
from app.domain.rounds.counting import only, top
from app.domain.values import Json, exact

HIGH_VARIANCE = Fraction(2)
"""Points of standard deviation from which respondents count as far apart."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Some scores' mean, median and sample variance (None for a single score)."""

    n: int
    mean: Fraction
    median: Fraction
    variance: Fraction | None

    @classmethod
    def of(cls, scores: Sequence[Fraction]) -> Spread:
        scale = math.lcm(*{score.denominator for score in scores})
        return cls.of_whole([_times(score, scale) for score in scores], scale)

    @classmethod
    def of_whole(cls, scores: Sequence[int], scale: int) -> Spread:
        """The same for scores that are each counted in parts of ``scale``.

        Whole numbers, since adding ten thousand fractions takes a hundred times as long.
        """
        n = len(scores)
        ordered = sorted(scores)
        median = Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2 * scale)
        total = sum(ordered)
        squares = sum(score * score for score in ordered)
        spread = n * squares - total * total
        variance = Fraction(spread, n * (n - 1) * scale * scale) if n > 1 else None
        return cls(n, Fraction(total, n * scale), median, variance)

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
        return only(self.leaders)

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
        exact_rows = [_row(ballot[option], criteria) for ballot in ballots]
        scale = math.lcm(*{score.denominator for row in exact_rows for score in row})
        rows = [[_times(score, scale) for score in row] for row in exact_rows]
        overall[option] = Spread.of_whole([sum(row) for row in rows], scale * len(rows[0]))
        columns = zip(criteria, zip(*rows, strict=True), strict=True) if criteria else ()
        by_criterion[option] = {
            criterion: Spread.of_whole(column, scale) for criterion, column in columns
        }
    split = tuple(
        option
        for option in options
        if any(s.deviates(threshold) for s in (overall[option], *by_criterion[option].values()))
    )
    return ScoreCount(overall, by_criterion, split, threshold, len(ballots))


def _row(scores: Json, criteria: Sequence[str]) -> list[Fraction]:
    return [_exact(scores[name]) for name in criteria] if criteria else [_exact(scores)]


_exact = lru_cache(maxsize=1_024)(exact)
"""Thousands of ballots hold the same few scores."""


def _times(score: Fraction, scale: int) -> int:
    return score.numerator * (scale // score.denominator)
