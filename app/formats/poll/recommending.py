"""Counting recommendations (PROTOCOLS 6): similar ones together, each respondent once a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from app.domain.replies.numbers import share_record
from app.domain.replies.text import folded
from app.domain.rounds.counting import only
from app.domain.values import Json
from app.formats.poll.grouping import grouping_fault

CONSENSUS = Fraction(70, 100)
DIVERGENCE = Fraction(40, 100)

GroupKind = Literal["consensus", "divergence", "outlier"]


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
        return only(self.leaders)

    def record(self) -> dict[str, Json]:
        return {
            "output": "recommendation",
            "effective": self.effective,
            "groups": [group.record() for group in self.groups],
            "leaders": list(self.leaders),
            "leader": self.leader,
        }


def count_recommendations(
    recommendations: Sequence[Recommendation],
    groups: Iterable[Sequence[int]],
    effective: int,
) -> RecommendationCount:
    """Which groups are consensus, divergence or outlier, of ``effective`` respondents.

    Raises ValueError when a recommendation is not in exactly one group.
    """
    given = [tuple(group) for group in groups if group]
    if grouping_fault(given, len(recommendations)) is not None:
        raise ValueError(f"not every recommendation is in exactly one group: {given}")
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
