"""What a destination's answers mean for an operation (PROTOCOLS 13).

| answer to the PUT | fate |
|---|---|
| 2xx but 202 | stored, as far as the far side says: it is read back all the same |
| 202 | accepted: it may be stored later |
| 409, 412 | something is there already: whether it is the same shows when it is read |
| 303 | the same: it may have been stored, and the far side points to what came of it |
| 425, 429 | not stored, refused for now: again after ``Retry-After`` |
| other 3xx | refused: redirects are not followed, or they would lead past the guard |
| other 4xx | refused for good |
| 408, 5xx, anything else, a broken connection, no answer in time | unclear |
| no connection, a bad certificate | it never left |

Reasons are written here and hold nothing of what the far side says but its status number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

import aiohttp
import httpx2

from app.domain.operation.terms import Fate, Finding, Look, WriteAnswer
from app.outbound.guard import TargetRefused

_MOST_RETRY_SECONDS = 86_400.0
_ACCEPTED = 202
_ONE_LOOK_TELLS = frozenset({303, 409, 412})
_FOR_NOW = frozenset({425, 429})
_REQUEST_TIMEOUT = 408
_NOT_THERE = frozenset({404, 410})
_VERSION = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]{0,200}"')

Headers = Mapping[str, str]


def write_answer(status: int, headers: Headers) -> WriteAnswer:
    """What an answer to a PUT says of it."""
    fate = _fate(status)
    if fate is Fate.STORED:
        return WriteAnswer(fate)
    return WriteAnswer(fate, _said(status), retry_after(headers))


def _fate(status: int) -> Fate:
    if status == _ACCEPTED:
        return Fate.ACCEPTED
    if status in _ONE_LOOK_TELLS:
        return Fate.EXISTS
    if status in _FOR_NOW:
        return Fate.DEFERRED
    if 200 <= status < 300:
        return Fate.STORED
    if 300 <= status < 500 and status != _REQUEST_TIMEOUT:
        return Fate.REFUSED
    return Fate.UNCLEAR


def no_finding(status: int, headers: Headers) -> Finding:
    """What an answer to a GET says that shows no content."""
    if status in _NOT_THERE:
        return Finding(Look.ABSENT)
    return Finding(Look.NO_ANSWER, _said(status), retry_after=retry_after(headers))


def failed_write(error: BaseException) -> WriteAnswer:
    """What a PUT without an answer may have done."""
    causes = tuple(_causes(error))
    if any(isinstance(cause, _NEVER_WILL) for cause in causes):
        return WriteAnswer(Fate.REFUSED, _why(causes), left=False)
    if any(isinstance(cause, _NEVER_LEFT) for cause in causes):
        return WriteAnswer(Fate.UNSENT, _why(causes), left=False)
    return WriteAnswer(Fate.UNCLEAR, _why(causes))


def failed_look(error: BaseException) -> Finding:
    """What a GET without an answer shows: nothing."""
    return Finding(Look.NO_ANSWER, _why(tuple(_causes(error))))


def version(headers: Headers) -> str | None:
    """The ETag, if it is one (RFC 9110)."""
    etag = headers.get("ETag", "").strip()
    return etag if _VERSION.fullmatch(etag) else None


def retry_after(headers: Headers) -> float | None:
    """Seconds within a day, from a number or a date; the date counts from the answer's own."""
    asked = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", asked):
        seconds = float(asked)
    else:
        until, since = _date(asked), _date(headers.get("Date", ""))
        if until is None or since is None:
            return None
        seconds = (until - since).total_seconds()
    return min(max(0.0, seconds), _MOST_RETRY_SECONDS)


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo is not None else None


_NEVER_WILL = (TargetRefused, httpx2.InvalidURL, httpx2.UnsupportedProtocol)
_NEVER_LEFT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)

_SENTENCES: tuple[tuple[type[BaseException], str], ...] = (
    (httpx2.InvalidURL, "The destination's URL cannot be called."),
    (httpx2.UnsupportedProtocol, "The destination's URL cannot be called."),
    (aiohttp.ClientConnectorDNSError, "The destination's name has no address."),
    (aiohttp.ClientSSLError, "No secure connection could be made to the destination."),
    (aiohttp.ClientConnectorError, "The destination takes no connections."),
    (aiohttp.ConnectionTimeoutError, "The destination could not be reached in time."),
    (TimeoutError, "The destination gave no answer in time."),
)


def _why(causes: tuple[BaseException, ...]) -> str:
    for cause in causes:
        if isinstance(cause, TargetRefused):
            return cause.message
    for kind, sentence in _SENTENCES:
        if any(isinstance(cause, kind) for cause in causes):
            return sentence
    return "The connection broke before the destination had answered."


def _causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__


def _said(status: int) -> str:
    if 300 <= status < 400:
        return f"The destination answered {status}, a redirect; redirects are not followed."
    return f"The destination answered {status}."
