"""What records show of saves elsewhere (PROTOCOLS 13): each as it stands now.

A meeting that ended while one was open says so in its first lines and among its open points, and
no longer once a later look has confirmed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from app.domain.meeting.history import History
from app.domain.values import Json
from app.records.catalogue import Words, words_of
from app.records.containment import inline, table
from app.records.reasons import reason_in

_CONFIRMED = "confirmed"
_HANDED_OVER = "handed_over"
_FAILED = "failed"
_FIELDS = ("what", "where", "state", "version", "writes", "owner", "next_check", "reference")


def degradations_of(past: History) -> list[Mapping[str, Json]]:
    """A degradation record for each save that is not there for sure, or was not at the end."""
    found = (_degradation(past, record) for record in past.operations)
    return [each for each in found if each is not None]


def _degradation(past: History, record: Mapping[str, Json]) -> Mapping[str, Json] | None:
    if _gave_way(past, record):
        return None
    kind = f"operation_{record['state']}"
    if record["state"] == _CONFIRMED:
        at_the_end = _state_at_the_end(past, record["id"])
        if at_the_end in (None, _CONFIRMED):
            return None
        kind = "operation_confirmed_late"
    detail = reason_in(words_of(past.meeting), record["reason"] or "", str)
    return {"kind": kind, "names": [record["id"]], "rounds": [], "detail": detail}


def _gave_way(past: History, record: Mapping[str, Json]) -> bool:
    """Whether a later save of the meeting is there in its place, as it should be: it had been sent
    in a leg that had come to an end (PROTOCOLS 12)."""
    ids = [each["id"] for each in past.operations]
    instead = record["there_instead"]
    if record["state"] != _FAILED or instead not in ids:
        return False
    return ids.index(instead) > ids.index(record["id"])


def _state_at_the_end(past: History, id_: str) -> str | None:
    """What the decision says of the save; of a record that was delivered it says nothing."""
    operation = past.numbers.get("operation")
    return operation["state"] if operation is not None and operation["id"] == id_ else None


def open_saves(words: Words, past: History, safe: Callable[[str], str] = inline) -> Iterator[str]:
    """A sentence for each save that is not there for sure."""
    for record in past.operations:
        if record["state"] == _CONFIRMED or _gave_way(past, record):
            continue
        named = {"ref": safe(record["id"]), "url": safe(record["url"])}
        if record["state"] == _FAILED:
            yield words("open.not_saved", **named)
            continue
        if record["state"] == _HANDED_OVER and record["next_check_at"] is None:
            yield words("open.left_to_owner", **named, owner=safe(record["owner"]))
            continue
        if record["next_check_at"] is None:
            yield words("open.operation", **named, state=_state(words, record))
            continue
        at = words.moment(datetime.fromisoformat(record["next_check_at"]))
        yield words("open.handed_over", **named, owner=safe(record["owner"]), at=at)


def external_wait(past: History) -> dict[str, Json] | None:
    """The latest save that was handed over: it has an owner and a date, so it is waited for, and
    that is no stall (PROTOCOLS 11)."""
    waiting = _handed_over(past)
    if waiting is None:
        return None
    fields = ("url", "owner", "next_check_at")
    return {"operation": waiting["id"], **{field: waiting[field] for field in fields}}


def external_wait_sentence(words: Words, past: History) -> Iterator[str]:
    """One sentence, or none."""
    waiting = _handed_over(past)
    if waiting is None:
        return
    at, named = waiting["next_check_at"], ("url", "owner")
    given = {"ref": inline(waiting["id"])} | {field: inline(waiting[field]) for field in named}
    given |= {"kind": words("stall.external_wait")}
    if at is None:
        yield words("operation.waits_on_owner", **given)
    else:
        yield words("operation.waits", **given, at=words.moment(datetime.fromisoformat(at)))


def _handed_over(past: History) -> Mapping[str, Json] | None:
    return next((each for each in reversed(past.operations) if each["state"] == _HANDED_OVER), None)


def saved_elsewhere(words: Words, past: History, level: int = 2) -> Iterator[str]:
    """Every save, and what became of it."""
    if not past.operations:
        return
    yield f"{'#' * level} {words('heading.operations')}"
    rows = [_row(words, record) for record in past.operations]
    yield table([words(f"operation.{field}") for field in _FIELDS], rows)
    for record in past.operations:
        if record["there_instead"] is not None:
            named = {"ref": inline(record["id"]), "instead": inline(record["there_instead"])}
            yield words("operation.instead", **named)
        elif record["reason"]:
            reason = reason_in(words, record["reason"], inline)
            yield words("operation.because", ref=inline(record["id"]), reason=reason)


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
