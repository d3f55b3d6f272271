"""What a record has to do without, and says first (PROTOCOLS 15, degradation).

A meeting that still runs is told of by the same rules as one that has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from app.domain.meeting.outcome import Degradation


class Heard(Protocol):
    """A reply, or what stands for one that never came."""

    @property
    def who(self) -> str: ...

    @property
    def round(self) -> int: ...

    @property
    def usable(self) -> bool: ...


def missing_replies(rounds: Iterable[Iterable[Heard]]) -> tuple[Degradation, ...]:
    """Which seats gave no usable reply, and in which rounds."""
    silent: dict[str, list[int]] = {}
    for replies in rounds:
        for reply in replies:
            if not reply.usable:
                silent.setdefault(reply.who, []).append(reply.round)
    return tuple(Degradation("no_reply", (who,), tuple(in_)) for who, in_ in silent.items())


def summarised_by_code(rounds: Sequence[int]) -> tuple[Degradation, ...]:
    """After which rounds the secretary gave no summary that could be used."""
    return (Degradation("summary_by_code", rounds=tuple(rounds)),) if rounds else ()
