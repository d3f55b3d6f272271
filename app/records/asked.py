"""Whom a record asks for what depends on the format: the version that the meeting is held by."""

from __future__ import annotations

from app.domain.meeting.history import History
from app.domain.meeting.meeting import Meeting
from app.formats import FORMATS
from app.formats.shared.format import Format
from app.formats.shared.record import Record

_ANY = Record()
"""Of a version that is not at hand: its meetings are parked, and their minutes still wanted."""


def format_of(meeting: Meeting) -> Format | None:
    return FORMATS.version(meeting.format, meeting.format_version)


def record_of(past: History) -> Record:
    found = format_of(past.meeting)
    return _ANY if found is None else found.record


def delivers(meeting: Meeting) -> bool:
    """Whether what it decides is a text of its own, and no sentence."""
    found = format_of(meeting)
    return found is not None and found.delivers
