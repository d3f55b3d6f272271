"""What was read from a reply, as the minutes show it (PROTOCOLS 15, provenance)."""

from __future__ import annotations

from app.domain.meeting.rounds_held import ReplyGiven
from app.domain.values import Json
from app.formats.shared.figures import figure
from app.formats.shared.page import Cell, Page, Quote, Strong, said

_BALLOT = "ballot"
_IN_WORDS = ("rationale", "mitigation", "changed_because")
"""What a ballot says beside the choice itself; these are sentences, and no columns."""

_MOST_CELL_CHARACTERS = 60
"""Of an unknown value; a longer text is read where it stands, in the reply."""


def ballot_columns(reply: ReplyGiven) -> dict[str, Cell]:
    """The ballot and its confidence, for formats that read these and more."""
    return {
        f"label.{key}": figure(reply.read[key])
        for key in (_BALLOT, "confidence")
        if reply.read.get(key) is not None
    }


def read_columns(reply: ReplyGiven) -> dict[str, Cell]:
    """Every value that was read and fits into a cell."""
    return {
        f"label.{key}": figure(value)
        for key, value in reply.read.items()
        if key not in _IN_WORDS and (key == _BALLOT or _fits(value)) and value is not None
    }


def _fits(value: Json) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _MOST_CELL_CHARACTERS and "\n" not in value
    return isinstance(value, int | float)


def ballot_parts(reply: ReplyGiven) -> Page:
    """What a ballot gives as its reasons, and asks for should it lose."""
    for key in _IN_WORDS:
        if reply.read.get(key):
            yield Strong(said(f"label.{key}"))
            yield Quote(reply.read[key])
