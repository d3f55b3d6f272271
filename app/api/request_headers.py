"""What callers say in headers: how long to wait, which request this is, what they have already."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from app.api.problems import invalid
from app.domain.errors import Fault

MOST_WAIT_SECONDS = 600
_MOST_KEY_CHARACTERS = 255
_MOST_CURSOR_CHARACTERS = 200
_NUMBER = re.compile(r"[0-9]{1,15}")


def preferred_wait(prefer: Iterable[str]) -> int | None:
    """The seconds of ``Prefer: wait=N``, at most ``MOST_WAIT_SECONDS``; None without one.

    RFC 7240 has a server ignore preferences that it cannot read or honour, and take the first
    where one is repeated; so nothing here is ever an error. What was applied is told in
    ``Preference-Applied``.
    """
    for preference in ",".join(prefer).split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip().lower() == "wait":
            number = value.strip().strip('"')
            seconds = int(number) if _NUMBER.fullmatch(number) else 0
            return min(seconds, MOST_WAIT_SECONDS) or None
    return None


def idempotency_key(key: str | None) -> str | None:
    """The key as given. Raises a 422 ``Problem`` for one that cannot be kept."""
    if key is None:
        return None
    if not (0 < len(key) <= _MOST_KEY_CHARACTERS and key.isascii() and key.isprintable()):
        detail = f"The header must have 1 to {_MOST_KEY_CHARACTERS} printable ASCII characters."
        raise invalid(Fault("/Idempotency-Key", detail))
    return key


def digest(canonical: bytes) -> str:
    return hashlib.sha256(canonical).hexdigest()


def last_event_number(header: str | None) -> int | None:
    """The number in ``Last-Event-ID``; an empty one counts as none (as browsers send it)."""
    if not header:
        return None
    if not _NUMBER.fullmatch(header):
        detail = "The header must be the number of the last event received, such as 12."
        raise invalid(Fault("/Last-Event-ID", detail))
    return int(header)


def last_event_cursor(header: str | None) -> str | None:
    """The opaque ``Last-Event-ID`` of the stream over all meetings."""
    if not header:
        return None
    if len(header) > _MOST_CURSOR_CHARACTERS or not (header.isascii() and header.isprintable()):
        raise invalid(Fault("/Last-Event-ID", "The header must be an id that this stream gave."))
    return header


def weak_tag(*version: object) -> str:
    """Weak, since what a meeting has left is told to the moment while its version stays."""
    return f'W/"{".".join(map(str, version))}"'


def matches(if_none_match: str | None, tag: str) -> bool:
    """Whether the caller has this version (weak comparison, RFC 9110, 13.1.2)."""
    if if_none_match is None:
        return False
    if if_none_match.strip() == "*":
        return True
    known = (each.strip().removeprefix("W/") for each in if_none_match.split(","))
    return tag.removeprefix("W/") in known
