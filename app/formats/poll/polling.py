"""Counting a poll (PROTOCOLS 6): its framings, rankings and answers of YES or NO.

Recommendations are counted in ``recommending`` and scores in ``scoring``, by the same rules.

A tie is reported as a tie: each count names its ``leaders``, and its ``leader`` only when there
is exactly one. ``effective`` is the N of PROTOCOLS 6, the respondents with a valid ballot. Points,
shares, means and variances are exact; deviations are rounded for show and never compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from app.domain.replies.numbers import json_number
from app.domain.replies.text import folded
from app.domain.rounds.counting import borda, only, top
from app.domain.values import Json

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

_MOST_ARGUMENTS = 5


def framings(count: int) -> tuple[str, ...]:
    """The framings of that many respondents: the first ones, cycling past ten."""
    return tuple(FRAMINGS[index % len(FRAMINGS)] for index in range(count))


# --- ranking ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RankingCount:
    points: Mapping[str, Fraction]
    effective: int

    @property
    def leaders(self) -> tuple[str, ...]:
        return top(self.points)

    @property
    def leader(self) -> str | None:
        return only(self.leaders)

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
    def effective(self) -> int:
        return self.yes + self.no

    @property
    def leader(self) -> str | None:
        return only(self.leaders)

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
            "effective": self.effective,
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
