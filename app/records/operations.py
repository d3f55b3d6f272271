"""What records show of saves elsewhere (PROTOCOLS 13): each as it stands now.

A meeting that ended while one was open says so in its first lines and among its open points, and
no longer once a later look has confirmed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from app.domain.meeting import Json
from app.records.catalogue import Words
from app.records.containment import inline, table
from app.records.history import History

_CONFIRMED = "confirmed"
_FIELDS = ("what", "where", "state", "version", "writes", "owner", "next_check", "reference")


def degradations_of(past: History) -> list[Mapping[str, Json]]:
    """A degradation record for each save that is not there for sure, or was not at the end."""
    found = (_degradation(past, record) for record in past.operations)
    return [each for each in found if each is not None]


def _degradation(past: History, record: Mapping[str, Json]) -> Mapping[str, Json] | None:
    kind = f"operation_{record['state']}"
    if record["state"] == _CONFIRMED:
        at_the_end = _state_at_the_end(past, record["id"])
        if at_the_end in (None, _CONFIRMED):
            return None
        kind = "operation_confirmed_late"
    detail = record["reason"] or ""
    return {"kind": kind, "names": [record["id"]], "rounds": [], "detail": detail}


def _state_at_the_end(past: History, id_: str) -> str | None:
    """What the decision says of the save; of a record that was delivered it says nothing."""
    operation = ((past.decision or {}).get("review") or {}).get("operation")
    return operation["state"] if operation is not None and operation["id"] == id_ else None


def open_saves(words: Words, past: History, safe: Callable[[str], str] = inline) -> Iterator[str]:
    """A sentence for each save that is not there for sure."""
    for record in past.operations:
        if record["state"] == _CONFIRMED:
            continue
        named = {"ref": safe(record["id"]), "url": safe(record["url"])}
        if record["next_check_at"] is None:
            yield words("open.operation", **named, state=_state(words, record))
            continue
        at = words.moment(datetime.fromisoformat(record["next_check_at"]))
        yield words("open.handed_over", **named, owner=safe(record["owner"]), at=at)


def saved_elsewhere(words: Words, past: History, level: int = 2) -> Iterator[str]:
    """Every save, and what became of it."""
    if not past.operations:
        return
    yield f"{'#' * level} {words('heading.operations')}"
    rows = [_row(words, record) for record in past.operations]
    yield table([words(f"operation.{field}") for field in _FIELDS], rows)
    for record in past.operations:
        if record["reason"]:
            named = {"ref": inline(record["id"]), "reason": inline(record["reason"])}
            yield words("operation.because", **named)


def _row(words: Words, record: Mapping[str, Json]) -> list[str]:
    missing = words("measure.missing")
    next_check = record["next_check_at"]
    return [
        words.either(f"operation.{record['subject']}", inline(record["subject"])),
        inline(record["url"]),
        _state(words, record),
        inline(record["version"] or "") or missing,
        str(record["writes"]),
        inline(record["owner"]),
        missing if next_check is None else words.moment(datetime.fromisoformat(next_check)),
        inline(record["id"]),
    ]


def _state(words: Words, record: Mapping[str, Json]) -> str:
    return words.either(f"operation.{record['state']}", inline(record["state"]))
