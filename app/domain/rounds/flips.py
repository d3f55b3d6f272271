"""Who changed position between rounds, and why (PROTOCOLS 15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.values import Json

Direction = Literal["toward_majority", "away_from_majority", "neither"]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a participant stood in one round, and the reason it gave if that was new.

    ``stands`` is False for a seat without a position (no reply, or none that could be read);
    between such a round and another there is no flip.
    """

    value: str
    reason: str | None = None
    stands: bool = True


@dataclass(frozen=True, slots=True)
class Flip:
    participant: str
    round: int
    before: str
    after: str
    direction: Direction
    reason: str | None

    def record(self) -> dict[str, Json]:
        return {
            "participant": self.participant,
            "round": self.round,
            "from": self.before,
            "to": self.after,
            "direction": self.direction,
            "reason": self.reason,
            "explained": self.reason is not None,
        }


def flips(rounds: Sequence[Mapping[str, Position]]) -> tuple[Flip, ...]:
    """Every change between a participant's successive positions, in order of rounds."""
    found: list[Flip] = []
    last: dict[str, Position] = {}
    for index, positions in enumerate(rounds):
        majority = _majority(rounds[index - 1]) if index else None
        for name, position in positions.items():
            if not position.stands:
                continue
            before = last.get(name)
            if before is not None and before.value != position.value:
                direction = _direction(before.value, position.value, majority)
                change = (before.value, position.value, direction, position.reason)
                found.append(Flip(name, index + 1, *change))
            last[name] = position
    return tuple(found)


def _majority(positions: Mapping[str, Position]) -> str | None:
    """What more participants held than anything else, among those with a position."""
    counts = Counter(position.value for position in positions.values() if position.stands)
    ranked = counts.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _direction(before: str, after: str, majority: str | None) -> Direction:
    if majority == after:
        return "toward_majority"
    if majority == before:
        return "away_from_majority"
    return "neither"
