"""Whether a round got anywhere (PROTOCOLS 11): never by the amount or sameness of its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.meeting import Json


@dataclass(frozen=True, slots=True)
class Progress:
    """``reasons`` name what moved; none means that nothing did."""

    reasons: tuple[str, ...]

    @property
    def made(self) -> bool:
        return bool(self.reasons)

    def record(self) -> dict[str, Json]:
        return {"made": self.made, "reasons": list(self.reasons)}


FIRST_ROUND = Progress(("first_round",))
"""Round 1 has nothing to compare with and counts as progress."""


class StallKind(StrEnum):
    """Kinds of no progress (PROTOCOLS 11).

    ``external_wait`` is none of them: a save that is handed over has an owner and a date, and
    stands beside the decision.
    """

    CIRCULAR = "circular"
    STALEMATE = "stalemate"
    MUTUAL_WAIT = "mutual_wait"


def stance_progress(before: Mapping[str, str], now: Mapping[str, str]) -> Progress:
    """Progress between two rounds of stances: somebody's stance changed.

    Only those who took one in both rounds are compared: a seat that fell silent or came back
    has not changed its mind.
    """
    changed = [name for name in now if name in before and before[name] != now[name]]
    return Progress(tuple(f"stance_changed:{name}" for name in changed))
