"""The tables. ``event`` is the truth; all others but ``agent`` and ``idempotency`` follow from it.

Texts that hold JSON are kept as they were encoded: an event's bytes are streamed, not made anew.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Index, Integer, Text, TypeDecorator
from sqlalchemy.orm import declared_attr
from sqlmodel import Field, SQLModel


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment in UTC on every database; SQLite would drop the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


_RowId = BigInteger().with_variant(Integer, "sqlite")
"""SQLite gives stable row numbers, which full-text search needs, to INTEGER keys only."""


class _Row(SQLModel):
    @declared_attr.directive
    def __tablename__(cls) -> str:  # noqa: N805 - the directive gives the class # pyright: ignore[reportIncompatibleVariableOverride]
        """``LogHeadRow`` is kept in ``log_head``."""
        words = re.findall("[A-Z][a-z]*", cls.__name__.removesuffix("Row"))
        return "_".join(words).lower()


class EventRow(_Row, table=True):
    """One entry of a meeting's log; ``position`` orders all entries of all meetings."""

    __table_args__ = (
        Index("ix_event_position", "position", unique=True),
        Index("ix_event_number", "meeting_id", "number"),
    )

    meeting_id: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    number: int | None = None
    position: int = Field(sa_type=BigInteger)
    type: str
    step: str | None = None
    fingerprint: str | None = None
    data: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=UtcDateTime)


class LogHeadRow(_Row, table=True):
    """The last position given out, in one row."""

    id: int = Field(primary_key=True)
    position: int = Field(sa_type=BigInteger)


class MeetingRow(_Row, table=True):
    """Where a meeting stands: what is queried, and as JSON in ``state`` all else that changes.

    ``record`` is the data of its ``meeting.created``; ``below``, what meetings below it have
    drawn, changes by their appends too, so it stands apart.
    """

    __table_args__ = (
        Index("ix_meeting_id", "id", unique=True),
        Index("ix_meeting_status", "status", "id"),
    )

    row_id: int | None = Field(default=None, primary_key=True, sa_type=_RowId)
    id: str
    format: str
    status: str
    created_at: datetime = Field(sa_type=UtcDateTime)
    result: str | None = None
    record: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    below: str | None = Field(default=None, sa_type=Text)
    last_seq: int
    search_text: str = Field(sa_type=Text)


class MeetingMetadataRow(_Row, table=True):
    __table_args__ = (Index("ix_meeting_metadata_value", "key", "value"),)

    meeting_id: str = Field(primary_key=True, foreign_key="meeting.id")
    key: str = Field(primary_key=True)
    value: str


class VoteRow(_Row, table=True):
    """A ballot as it was counted, or not, by the end of its meeting; ``seq`` is its event's.

    ``record`` is what callers see of it. Numbers stand as they are written: none is rounded.
    """

    meeting_id: str = Field(primary_key=True, foreign_key="meeting.id")
    number: int = Field(primary_key=True)
    seq: int
    participant: str
    round: int
    attempt: int
    status: str
    counted: bool
    ballot: str | None = Field(default=None, sa_type=Text)
    confidence: str | None = None
    weight: str
    record: str = Field(sa_type=Text)


class DissentRow(_Row, table=True):
    """A view that lost, with what it lost against: the meeting's topic and decision."""

    __table_args__ = (
        Index("ix_dissent_meeting", "meeting_id", "number", unique=True),
        Index("ix_dissent_decided_at", "decided_at", "meeting_id"),
        Index("ix_dissent_participant", "participant", "decided_at"),
    )

    row_id: int | None = Field(default=None, primary_key=True, sa_type=_RowId)
    meeting_id: str = Field(foreign_key="meeting.id")
    number: int
    participant: str
    position: str = Field(sa_type=Text)
    rationale: str = Field(sa_type=Text)
    mitigation: str | None = Field(default=None, sa_type=Text)
    round: int | None = None
    topic: str = Field(sa_type=Text)
    decision: str | None = Field(default=None, sa_type=Text)
    decided_at: datetime = Field(sa_type=UtcDateTime)
    search_text: str = Field(sa_type=Text)


class CancellationRow(_Row, table=True):
    """How a cancel came out; ``items`` lists as JSON what was in flight."""

    meeting_id: str = Field(primary_key=True, foreign_key="meeting.id")
    requested_at: datetime = Field(sa_type=UtcDateTime)
    reason: str | None = Field(default=None, sa_type=Text)
    state: str
    items: str = Field(sa_type=Text)


class OperationRow(_Row, table=True):
    """A save outside the service as it stands now; ``record`` is what callers see of it."""

    __table_args__ = (Index("ix_operation_state", "state", "requested_at", "id"),)

    id: str = Field(primary_key=True)
    meeting_id: str = Field(foreign_key="meeting.id")
    state: str
    requested_at: datetime = Field(sa_type=UtcDateTime)
    next_check_at: str | None = None
    record: str = Field(sa_type=Text)


class IdempotencyRow(_Row, table=True):
    """The first answer to a request with an idempotency key, to be given again."""

    key: str = Field(primary_key=True)
    digest: str
    meeting_id: str
    answer: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)


class AgentRow(_Row, table=True):
    """An agent's settings as JSON, secrets included; they never leave through the API."""

    name: str = Field(primary_key=True)
    settings: str = Field(sa_type=Text)
    updated_at: datetime = Field(sa_type=UtcDateTime)


def table(row: type[SQLModel]) -> Any:
    """The Core table behind a row class, for statements without the ORM's cost."""
    return row.__table__  # type: ignore[attr-defined]  # SQLModel declares it on instances only
