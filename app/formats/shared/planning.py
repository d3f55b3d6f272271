"""What plans have in common: questions and decisions of the largest size that they can have."""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.meeting.meeting import Meeting
from app.domain.steps import Ask


def most_shown(asks: Iterable[Ask]) -> Ask:
    """The question that shows the most; seats differ in their names and roles."""
    return max(asks, key=lambda ask: len(str(ask.variables)))


def heaviest_option(meeting: Meeting, otherwise: str = "") -> str:
    """The longest of the options in bytes, as a stand-in for what may be decided."""
    return max(meeting.options, key=lambda text: len(text.encode()), default=otherwise)
