"""Reading a stance (PROTOCOLS 3): one regular expression decides, never a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import one_line, spoken
from app.domain.values import Json

_MARKER = re.compile(r"\[STANCE:\s*(AGREE|DISAGREE|NEUTRAL)\]", re.IGNORECASE | re.ASCII)
_CHANGED = re.compile(
    r"^[\s#*_`>-]*CHANGED BECAUSE[*_`]*\s*:[*_`]*\s*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_REASON_CHARACTERS = 300


class Stance(StrEnum):
    AGREE = "AGREE"
    DISAGREE = "DISAGREE"
    NEUTRAL = "NEUTRAL"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class _StanceFound:
    """``markers`` is how many were found; ``differing`` whether they said different things."""

    stance: Stance
    markers: int
    differing: bool


def _stance_in(speech: str) -> _StanceFound:
    """The stance that a reply ends on: its last marker."""
    markers = [Stance(match.upper()) for match in _MARKER.findall(speech)]
    stance = markers[-1] if markers else Stance.UNKNOWN
    return _StanceFound(stance, len(markers), len(set(markers)) > 1)


def _changed_because_in(speech: str) -> str | None:
    """The reason that a participant gives for having changed its mind, on one line."""
    reasons = _CHANGED.findall(speech)
    if not reasons:
        return None
    return one_line(_MARKER.sub("", reasons[-1]), _MOST_REASON_CHARACTERS) or None


class StanceReading:
    """Reads a round-table reply, outside thinking, code and quotes.

    It finds no fault: a missing marker is UNKNOWN.
    """

    def read(self, text: str) -> Read:
        speech = spoken(text)
        found = _stance_in(speech)
        return Read(
            {
                "stance": found.stance.value,
                "markers": found.markers,
                "differing": found.differing,
                "changed_because": _changed_because_in(speech),
            }
        )

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        stance = Stance.NEUTRAL if status is ReplyStatus.TIMEOUT else Stance.UNKNOWN
        return {"stance": stance.value, "markers": 0, "differing": False, "changed_because": None}
