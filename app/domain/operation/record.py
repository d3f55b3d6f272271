"""An operation as callers see it, and as the log holds it after each happening (PROTOCOLS 13)."""

from __future__ import annotations

from typing import Self, cast

import msgspec

from app.domain.operation.terms import OperationStatus
from app.domain.values import JsonObject

OPEN = frozenset({OperationStatus.REQUESTED, OperationStatus.UNKNOWN, OperationStatus.HANDED_OVER})
"""The states in which it is not known whether what was to be saved is there."""


class OperationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """``writes`` counts those that left; times are as they are written for others.

    ``there_instead`` is the operation of the same meeting whose content was found there.
    """

    meeting_id: str
    id: str
    url: str
    sha256: str
    owner: str
    requested_at: str
    check_deadline_seconds: int | float = 30
    subject: str = "deliverable"
    state: OperationStatus = OperationStatus.REQUESTED
    version: str | None = None
    reason: str | None = None
    there_instead: str | None = None
    writes: int = 0
    check_deadline: str | None = None
    next_check_at: str | None = None

    @property
    def open(self) -> bool:
        return self.state in OPEN

    def record(self) -> JsonObject:
        return cast("JsonObject", msgspec.to_builtins(self))

    @classmethod
    def read(cls, record: JsonObject) -> Self:
        """What ``record`` once gave; fields beside its own are passed over."""
        return msgspec.convert(record, cls)
