"""Saves elsewhere, as the log holds them and as callers are told of them (PROTOCOLS 13)."""

from __future__ import annotations

from typing import Any, Self, cast

import msgspec

from app.domain.meeting.entries import Flat, rest_of
from app.domain.operation.record import OperationRecord
from app.domain.values import JsonObject, JsonValue


class OperationTold(Flat, frozen=True, kw_only=True):
    flat = ("operation",)

    operation: OperationRecord

    def record(self) -> JsonObject:
        return self.operation.record()

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        return cls(operation=OperationRecord.read(record))


class OperationRequested(OperationTold, frozen=True, kw_only=True):
    type = "operation.requested"


class OperationConfirmed(OperationTold, frozen=True, kw_only=True):
    type = "operation.confirmed"


class OperationFailed(OperationTold, frozen=True, kw_only=True):
    type = "operation.failed"


class OperationUnknown(OperationTold, frozen=True, kw_only=True):
    type = "operation.unknown"


class OperationHandedOver(OperationTold, frozen=True, kw_only=True):
    type = "operation.handed_over"


class OperationNoted(Flat, frozen=True, kw_only=True):
    """Something that happened to an operation, and where that stands after it.

    ``happening`` is as ``operation.terms`` writes it. An operation's first entry holds the
    ``content`` too: what goes out after a restart is what was announced.
    """

    happened: str
    happening: JsonObject = msgspec.field(default_factory=dict[str, JsonValue])
    content: str | None = None
    operation: OperationRecord

    def record(self) -> JsonObject:
        content = {} if self.content is None else {"content": self.content}
        return {
            "happened": self.happened,
            **self.happening,
            **content,
            "operation": self.operation.record(),
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        return cls(
            happened=given["happened"],
            happening=rest_of(record, cls),
            content=given.get("content"),
            operation=OperationRecord.read(given["operation"]),
        )


class OperationHappened(OperationNoted, frozen=True, kw_only=True):
    type = "operation.happened"
    internal = True


class OperationReconciled(OperationNoted, frozen=True, kw_only=True):
    """The same, found out after the meeting's end or because a caller asked."""

    type = "operation.reconciled"
    internal = True
    from_outside = True
