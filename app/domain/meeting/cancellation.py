"""A cancel and what is known of each thing that was under way when it came (PROTOCOLS 12).

An item is ``requested``, perhaps ``acknowledged``, and then ``stopped`` (known to have ended) or
``unconfirmed``. What is known to have stopped stays so, and once the list is closed nothing in it
is relabelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from app.domain.money import NOTHING, Cost
from app.domain.values import Json, rfc3339

STOPPED = "stopped"
UNCONFIRMED = "unconfirmed"
REQUESTED = "requested"

_ANSWERED = frozenset({"ok", "invalid", "off_topic", "refused"})

Cancellation = Mapping[str, Json]
Item = dict[str, Json]


def requested(at: datetime, reason: str | None, items: Iterable[Item]) -> Cancellation:
    """A cancel as it begins; what is open below and outside is listed with it."""
    return {
        "requested_at": rfc3339(at),
        "reason": reason,
        "state": REQUESTED,
        "items": list(items),
    }


def under_way(
    requests: Mapping[str, Mapping[str, Json]],
    below: Iterable[str],
    operations: Mapping[str, Mapping[str, Json]],
) -> Iterator[Item]:
    """Every request without a reply, every open meeting below, and every save in doubt."""
    for request in requests.values():
        yield {
            "kind": "request",
            "ref": request["request_id"],
            "participant": request["who"],
            "agent": request["agent"],
            "state": REQUESTED,
        }
    for meeting_id in below:
        yield {"kind": "child", "ref": meeting_id, "state": REQUESTED}
    for operation in operations.values():
        if operation["state"] in ("requested", "unknown"):
            # A write that has left cannot be called back, whatever becomes of it.
            yield {"kind": "operation", "ref": operation["id"], "state": UNCONFIRMED}


def joined(cancellation: Cancellation, meeting_id: str) -> Cancellation:
    """The cancel with a meeting to stop that has come to light since it began."""
    item = {"kind": "child", "ref": meeting_id, "state": REQUESTED}
    return {**cancellation, "items": [*cancellation["items"], item]}


def told(cancellation: Cancellation, ref: str, state: str) -> Cancellation:
    """The cancel with what is now known of one of its items."""
    items = [
        {**item, "state": state} if item["ref"] == ref and item["state"] != STOPPED else item
        for item in cancellation["items"]
    ]
    return {**cancellation, "items": items}


def is_open(cancellation: Cancellation | None) -> bool:
    """Whether a cancel is under way whose list has not been closed."""
    return cancellation is not None and cancellation["state"] == REQUESTED


def has_stopped(late_status: str) -> bool:
    """Whether a late reply of this status shows that its request has ended on the far side too.

    A lost connection, or our own waiting that came to its end, says nothing of it.
    """
    return late_status in _ANSWERED


def may_be_paid(
    requests: Mapping[str, Mapping[str, Json]], cancellation: Cancellation | None
) -> Cost:
    """The most that requests cost which got no reply and are not known to have stopped."""
    stopped = known_to_have_stopped(cancellation)
    most = NOTHING
    for request in requests.values():
        if request["request_id"] not in stopped:
            most += Cost.read(request["reserved"])
    return most


def known_to_have_stopped(cancellation: Cancellation | None) -> set[str]:
    """The items, by ``ref``, that are known to have ended."""
    items = cancellation["items"] if cancellation else ()
    return {item["ref"] for item in items if item["state"] == STOPPED}
