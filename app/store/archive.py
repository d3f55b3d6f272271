"""What can be asked of the store: meetings, logs, decisions, first answers."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Integer, Select, and_, column, exists, select, text

from app.coordinator.ports import Idempotency, MeetingFilter, OperationFilter, Page
from app.domain.errors import Fault, InvalidRequest, NotFound
from app.domain.meeting.events import Event
from app.domain.meeting.state import MeetingState, Status
from app.domain.replies.text import folded, sanitised
from app.domain.values import Json, rfc3339
from app.store.database import LARGEST_INTEGER, Database, outages
from app.store.log import event_of
from app.store.state_rows import state_of
from app.store.tables import (
    EventRow,
    IdempotencyRow,
    MeetingMetadataRow,
    MeetingRow,
    OperationRow,
    table,
)

_event = table(EventRow)
_meeting = table(MeetingRow)
_metadata = table(MeetingMetadataRow)
_idempotency = table(IdempotencyRow)
_operation = table(OperationRow)

_ID = re.compile("mtg_[A-Za-z0-9_-]+")
_OPERATION_ID = re.compile("op_[A-Za-z0-9_-]+")
_MOMENT = re.compile(r"[0-9-]{10}T[0-9:]{8}(\.[0-9]{6})?Z")

_SHORTEST_INDEXED = 3
"""Trigrams need three characters; shorter words are looked for by reading every row."""


class SqlArchive:
    """Implements the port ``Archive``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def state(self, meeting_id: str) -> MeetingState:
        rows = await self._rows(select(_meeting).where(_meeting.c.id == meeting_id))
        if not rows:
            raise NotFound(f"There is no meeting {meeting_id}.")
        return state_of(rows[0])

    async def meetings(self, filter_: MeetingFilter) -> Page[MeetingState]:
        rows, cursor = await self._page(select(_meeting), filter_)
        return Page([state_of(row) for row in rows], cursor)

    async def decided(self, filter_: MeetingFilter) -> Page[Sequence[Event]]:
        ended = select(_meeting.c.id).where(_meeting.c.status == Status.ENDED.value)
        rows, cursor = await self._page(ended, filter_)
        return Page([await self.log(row["id"]) for row in rows], cursor)

    async def log(self, meeting_id: str) -> Sequence[Event]:
        query = select(_event).where(_event.c.meeting_id == meeting_id).order_by(_event.c.seq)
        rows = await self._rows(query)
        if not rows:
            raise NotFound(f"There is no meeting {meeting_id}.")
        return [event_of(row) for row in rows]

    async def events(self, meeting_id: str, after: int, limit: int) -> Sequence[Event]:
        query = (
            select(_event)
            .where(
                _event.c.meeting_id == meeting_id,
                _event.c.number > min(after, LARGEST_INTEGER),
            )
            .order_by(_event.c.number)
            .limit(limit)
        )
        rows = await self._rows(query)
        if not rows:
            await self.state(meeting_id)
        return [event_of(row) for row in rows]

    async def operations(self, filter_: OperationFilter) -> Page[Mapping[str, Json]]:
        query = select(_operation).where(_operation.c.state.in_(sorted(filter_.states)))
        if filter_.cursor is not None:
            query = query.where(_older(*_operation_in(filter_.cursor)))
        newest_first = (_operation.c.requested_at.desc(), _operation.c.id.desc())
        rows = await self._rows(query.order_by(*newest_first).limit(filter_.limit + 1))
        page = rows[: filter_.limit]
        more = len(rows) > filter_.limit
        cursor = _operation_cursor(page[-1]) if more else None
        return Page([orjson.loads(row["record"]) for row in page], cursor)

    async def operation(self, operation_id: str) -> Mapping[str, Json]:
        rows = await self._rows(select(_operation).where(_operation.c.id == operation_id))
        if not rows:
            raise NotFound(f"There is no operation {operation_id}.")
        return orjson.loads(rows[0]["record"])

    async def first_answer(self, key: str) -> Idempotency | None:
        rows = await self._rows(select(_idempotency).where(_idempotency.c.key == key))
        if not rows:
            return None
        return Idempotency(rows[0]["key"], rows[0]["digest"], rows[0]["answer"])

    async def keep_answer(self, key: str, answer: str) -> None:
        update = _idempotency.update().where(_idempotency.c.key == key).values(answer=answer)
        await self._write(update)

    async def _page(
        self, query: Select[Any], filter_: MeetingFilter
    ) -> tuple[Sequence[Any], str | None]:
        for condition in self._conditions(filter_):
            query = query.where(condition)
        query = query.order_by(_meeting.c.id.desc()).limit(filter_.limit + 1)
        rows = await self._rows(query)
        page = rows[: filter_.limit]
        more = len(rows) > filter_.limit
        return page, _cursor(page[-1]["id"]) if more else None

    def _conditions(self, filter_: MeetingFilter) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        if filter_.status is not None:
            found.append(_meeting.c.status == filter_.status)
        if filter_.format is not None:
            found.append(_meeting.c.format == filter_.format)
        if filter_.result is not None:
            found.append(_meeting.c.result == filter_.result)
        if filter_.created_after is not None:
            found.append(_meeting.c.created_at > filter_.created_after)
        if filter_.cursor is not None:
            found.append(_meeting.c.id < _id_in(filter_.cursor))
        found += [_has_metadata(key, value) for key, value in filter_.metadata.items()]
        if filter_.text:
            words = folded(sanitised(filter_.text)).split()
            found += [self._mentions(word) for word in words]
        return found

    def _mentions(self, word: str) -> ColumnElement[bool]:
        if self._database.embedded and len(word) >= _SHORTEST_INDEXED:
            # LIKE through a trigram index finds nothing on some versions of SQLite; MATCH does.
            quoted = '"' + word.replace('"', '""') + '"'
            found = text("SELECT rowid FROM meeting_search WHERE meeting_search MATCH :word")
            return _meeting.c.row_id.in_(
                found.bindparams(word=quoted).columns(column("rowid", Integer))
            )
        return _meeting.c.search_text.contains(word, autoescape=True)

    async def _rows(self, query: Any) -> Sequence[Any]:
        with outages("read"):
            async with self._database.reader.connect() as connection:
                return (await connection.execute(query)).mappings().all()

    async def _write(self, statement: Any) -> None:
        with outages("written"):
            async with self._database.reader.begin() as connection:
                await connection.execute(statement)


def _has_metadata(key: str, value: str) -> ColumnElement[bool]:
    return exists().where(
        and_(
            _metadata.c.meeting_id == _meeting.c.id,
            _metadata.c.key == key,
            _metadata.c.value == value,
        )
    )


def _cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _text_in(cursor: str) -> str:
    """What the cursor holds; nothing, if it is none."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _id_in(cursor: str) -> str:
    id_ = _text_in(cursor)
    if not _ID.fullmatch(id_):
        raise _foreign_cursor()
    return id_


def _foreign_cursor() -> InvalidRequest:
    return InvalidRequest(Fault("/cursor", "This cursor was not given by a page of this list."))


def _operation_cursor(row: Any) -> str:
    return _cursor(f"{rfc3339(row['requested_at'])} {row['id']}")


def _operation_in(cursor: str) -> tuple[datetime, str]:
    """When the last operation of the page before was requested, and its id."""
    at, _, id_ = _text_in(cursor).partition(" ")
    if not (_MOMENT.fullmatch(at) and _OPERATION_ID.fullmatch(id_)):
        raise _foreign_cursor()
    try:
        return datetime.fromisoformat(at), id_
    except ValueError:
        raise _foreign_cursor() from None


def _older(at: datetime, id_: str) -> ColumnElement[bool]:
    """Behind this one among those that are listed newest first."""
    requested_at: ColumnElement[datetime] = _operation.c.requested_at
    return (requested_at < at) | ((requested_at == at) & (_operation.c.id < id_))
