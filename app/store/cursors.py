"""Cursors: where a page of a list ended, opaque to whoever gives them back."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import datetime

from app.domain.errors import Fault, InvalidRequest
from app.domain.values import rfc3339

ID = "mtg_[A-Za-z0-9_-]+"
OPERATION_ID = "op_[A-Za-z0-9_-]+"
NUMBER = "[0-9]{1,9}"
"""Patterns of the parts of cursors."""

_MOMENT = r"[0-9-]{10}T[0-9:]{8}(\.[0-9]{6})?Z"


def cursor_of(*parts: str | int | datetime) -> str:
    """The last entry of a page, by what the list is ordered by."""
    text = " ".join(rfc3339(each) if isinstance(each, datetime) else str(each) for each in parts)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parts_of(cursor: str, *patterns: str) -> list[str]:
    """What ``cursor_of`` was given, each part of its pattern.

    Raises ``InvalidRequest`` for a cursor that no page gave.
    """
    parts = _text_in(cursor).split(" ")
    fit = len(parts) == len(patterns) and all(map(re.fullmatch, patterns, parts))
    if not fit:
        raise _foreign()
    return parts


def dated_parts_of(cursor: str, *patterns: str) -> tuple[datetime, list[str]]:
    """The same of a list that is ordered by a moment first."""
    at, *rest = parts_of(cursor, _MOMENT, *patterns)
    try:
        return datetime.fromisoformat(at), rest
    except ValueError:
        raise _foreign() from None


def _text_in(cursor: str) -> str:
    """What the cursor holds; nothing, if it is none."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _foreign() -> InvalidRequest:
    return InvalidRequest(Fault("/cursor", "This cursor was not given by a page of this list."))
