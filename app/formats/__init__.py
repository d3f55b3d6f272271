"""The formats: each folder holds all that belongs to one way of holding a meeting.

Nothing outside a format's own folder knows its name. Whoever needs one looks it up here.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from app.domain.errors import VersionUnknown
from app.domain.meeting.meeting import Meeting
from app.formats.shared.format import Format
from app.formats.shared.registry import Registry

_SHARED = "shared"


def _found() -> Registry:
    """Every folder here whose story describes a format: a new one is a new folder and no more."""
    folders = (each.name for each in iter_modules(__path__) if each.name != _SHARED)
    stories = (import_module(f"{__name__}.{folder}.story") for folder in folders)
    found = (getattr(story, "FORMAT", None) for story in stories)
    return Registry(format_ for format_ in found if isinstance(format_, Format))


FORMATS = _found()
"""The formats that can be held."""


def format_of(meeting: Meeting) -> Format:
    """The format that this meeting is held by, in the version that began it.

    Raises ``VersionUnknown``.
    """
    found = FORMATS.version(meeting.format, meeting.format_version)
    if found is None:
        raise VersionUnknown(
            f"{meeting.id} is held by version {meeting.format_version} of the format "
            f"{meeting.format}, which is not at hand here."
        )
    return found
