"""A cancel and what is known of each thing that was under way when it came (PROTOCOLS 12).

An item is ``requested``, perhaps ``acknowledged``, and then ``stopped`` (known to have ended) or
``unconfirmed``. What is known to have stopped stays so, and once the list is closed nothing in it
is relabelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self, cast

import msgspec

from app.domain.meeting.events import CancelItem, RequestReserved
from app.domain.money import NOTHING, Cost
from app.domain.operation.record import OperationRecord
from app.domain.operation.terms import OperationStatus
from app.domain.replies.reading import ReplyStatus
from app.domain.values import Json, JsonObject, JsonValue, rfc3339

STOPPED = "stopped"
UNCONFIRMED = "unconfirmed"
REQUESTED = "requested"
ACKNOWLEDGED = "acknowledged"

_ANSWERED = frozenset(
    {ReplyStatus.OK, ReplyStatus.INVALID, ReplyStatus.OFF_TOPIC, ReplyStatus.REFUSED}
)
_IN_DOUBT = frozenset({OperationStatus.REQUESTED, OperationStatus.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Cancellation:
    """``state`` is that of the whole list, ``requested`` until it is closed."""

    requested_at: datetime
    reason: str | None
    state: str = REQUESTED
    items: tuple[CancelItem, ...] = ()

    @property
    def open(self) -> bool:
        """Whether the list has not been closed yet."""
        return self.state == REQUESTED

    def joined(self, meeting_id: str) -> Self:
        """The cancel with a meeting to stop that has come to light since it began."""
        item = CancelItem(kind="child", ref=meeting_id, state=REQUESTED)
        return replace(self, items=(*self.items, item))

    def told(self, ref: str, state: str) -> Self:
        """The cancel with what is now known of one of its items."""
        return replace(
            self,
            items=tuple(
                msgspec.structs.replace(item, state=state)
                if item.ref == ref and item.state != STOPPED
                else item
                for item in self.items
            ),
        )

    @property
    def known_to_have_stopped(self) -> set[str]:
        """The items, by ``ref``, that are known to have ended."""
        return {item.ref for item in self.items if item.state == STOPPED}

    def record(self) -> dict[str, JsonValue]:
        return {
            "requested_at": rfc3339(self.requested_at),
            "reason": self.reason,
            "state": self.state,
            "items": [item_record(item) for item in self.items],
        }

    @classmethod
    def read(cls, record: Mapping[str, Json]) -> Self:
        """What ``record`` once gave."""
        return cls(
            datetime.fromisoformat(record["requested_at"]),
            record["reason"],
            record["state"],
            msgspec.convert(record["items"], tuple[CancelItem, ...]),
        )


def item_record(item: CancelItem) -> JsonObject:
    return cast("JsonObject", msgspec.to_builtins(item))


def under_way(
    requests: Iterable[RequestReserved],
    below: Iterable[str],
    operations: Iterable[OperationRecord],
) -> Iterator[CancelItem]:
    """Every request without a reply, every open meeting below, and every save in doubt."""
    for request in requests:
        yield CancelItem(
            kind="request",
            ref=request.request_id,
            participant=request.who,
            agent=request.agent,
            state=REQUESTED,
        )
    for meeting_id in below:
        yield CancelItem(kind="child", ref=meeting_id, state=REQUESTED)
    for operation in operations:
        if operation.state in _IN_DOUBT:
            # A write that has left cannot be called back, whatever becomes of it.
            yield CancelItem(kind="operation", ref=operation.id, state=UNCONFIRMED)


def has_stopped(late_status: ReplyStatus) -> bool:
    """Whether a late reply of this status shows that its request has ended on the far side too.

    A lost connection, or our own waiting that came to its end, says nothing of it.
    """
    return late_status in _ANSWERED


def may_be_paid(requests: Iterable[RequestReserved], cancellation: Cancellation | None) -> Cost:
    """The most that requests cost which got no reply and are not known to have stopped."""
    stopped = cancellation.known_to_have_stopped if cancellation else frozenset[str]()
    most = NOTHING
    for request in requests:
        if request.request_id not in stopped:
            most += request.reserved
    return most
