"""Whether a round got anywhere (PROTOCOLS 11): never by the amount or sameness of its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from app.domain.values import Json, JsonValue


@dataclass(frozen=True, slots=True)
class Progress:
    """``reasons`` name what moved; none means that nothing did."""

    reasons: tuple[str, ...]

    @property
    def made(self) -> bool:
        return bool(self.reasons)

    def record(self) -> dict[str, JsonValue]:
        return {"made": self.made, "reasons": list(self.reasons)}

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Self:
        return cls(tuple(record["reasons"]))


FIRST_ROUND = Progress(("first_round",))
"""Round 1 has nothing to compare with and counts as progress."""


class StallKind(StrEnum):
    """Kinds of no progress (PROTOCOLS 11)."""

    CIRCULAR = "circular"
    STALEMATE = "stalemate"
    MUTUAL_WAIT = "mutual_wait"
    EXTERNAL_WAIT = "external_wait"
    """No stall: what is waited for has an owner and a date, so it is told of and ends nothing."""


@dataclass(frozen=True, slots=True)
class Stall:
    """How a meeting got nowhere, as of the round that closed last; told alike of every kind.

    ``reopened`` are the objections that went in circles, ``waiting`` who wait for one another.
    ``operation``, ``owner`` and ``next_check_at`` say what an external wait is for. The kind is a
    ``StallKind``, or a word that only a later version knows.
    """

    kind: str
    round: int
    rounds_without_progress: int = 0
    reopened: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    operation: str | None = None
    owner: str | None = None
    next_check_at: str | None = None

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Self:
        """What ``record`` once gave."""
        return cls(
            record["kind"],
            record["round"],
            record.get("rounds_without_progress") or 0,
            tuple(record.get("reopened") or ()),
            tuple(record.get("waiting") or ()),
            record.get("operation"),
            record.get("owner"),
            record.get("next_check_at"),
        )

    def record(self) -> dict[str, JsonValue]:
        return {
            "kind": str(self.kind),
            "round": self.round,
            "rounds_without_progress": self.rounds_without_progress,
            "reopened": list(self.reopened),
            "waiting": list(self.waiting),
            "operation": self.operation,
            "owner": self.owner,
            "next_check_at": self.next_check_at,
        }


def stance_progress(before: Mapping[str, str], now: Mapping[str, str]) -> Progress:
    """Progress between two rounds of stances: somebody's stance changed.

    Only those who took one in both rounds are compared: a seat that fell silent or came back
    has not changed its mind.
    """
    changed = [name for name in now if name in before and before[name] != now[name]]
    return Progress(tuple(f"stance_changed:{name}" for name in changed))
