"""Counting stances (PROTOCOLS 4): who lines up, by a rule fixed beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.rounds.consensus import Consensus
from app.domain.values import Json
from app.formats.roundtable.stance import Stance


@dataclass(frozen=True, slots=True)
class StanceTally:
    """How many of the seated participants took each stance; a missing reply is a seat too."""

    agree: int
    disagree: int
    neutral: int
    unknown: int

    @classmethod
    def of(cls, stances: Iterable[Stance]) -> StanceTally:
        counts = Counter(stances)
        return cls(
            counts[Stance.AGREE],
            counts[Stance.DISAGREE],
            counts[Stance.NEUTRAL],
            counts[Stance.UNKNOWN],
        )

    @property
    def seats(self) -> int:
        return self.agree + self.disagree + self.neutral + self.unknown

    @property
    def consensus(self) -> Consensus:
        if self.agree == self.seats and self.seats:
            return Consensus.FULL
        # In integers: two thirds exactly is a majority, whatever floats would say.
        if 3 * self.agree >= 2 * self.seats and self.disagree == 0 and self.seats:
            return Consensus.MAJORITY
        return Consensus.NONE

    def counts(self) -> dict[str, Json]:
        return {
            Stance.AGREE.value: self.agree,
            Stance.DISAGREE.value: self.disagree,
            Stance.NEUTRAL.value: self.neutral,
            Stance.UNKNOWN.value: self.unknown,
        }
