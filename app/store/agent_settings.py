"""Agents as callers configured them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import IntegrityError

from app.coordinator.ports import Clock
from app.domain.errors import AgentExists, NotFound
from app.domain.values import Json
from app.store.database import Database, outages
from app.store.state_rows import encode
from app.store.tables import AgentRow, table

_agent = table(AgentRow)

_MOST_KNOWN = 1_000


class SqlAgentStore:
    """Implements the port ``AgentStore``.

    In the embedded mode nobody else writes, so what was read once is kept.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._known: dict[str, Mapping[str, Json] | None] = {}
        self._changes = 0

    async def get(self, name: str) -> Mapping[str, Json] | None:
        if name in self._known:
            return self._known[name]
        changes = self._changes
        query = select(_agent.c.settings).where(_agent.c.name == name)
        with outages("read"):
            async with self._database.reader.connect() as connection:
                settings = (await connection.execute(query)).scalar_one_or_none()
        found = None if settings is None else orjson.loads(settings)
        keeps = self._database.embedded and len(self._known) < _MOST_KNOWN
        if keeps and changes == self._changes:
            self._known[name] = found
        return found

    async def all(self) -> Sequence[Mapping[str, Json]]:
        query = select(_agent.c.settings).order_by(_agent.c.name)
        with outages("read"):
            async with self._database.reader.connect() as connection:
                return [orjson.loads(text) for text in (await connection.execute(query)).scalars()]

    async def put(self, settings: Mapping[str, Json], *, new: bool) -> None:
        name = settings["name"]
        row = {"settings": encode(settings), "updated_at": self._clock.now()}
        insert = self._insert().values(name=name, **row)
        if not new:
            insert = insert.on_conflict_do_update(index_elements=["name"], set_=row)
        try:
            await self._write(name, insert)
        except IntegrityError as clash:
            raise AgentExists(f"There is an agent named {name} already.") from clash

    async def delete(self, name: str) -> None:
        if not await self._write(name, _agent.delete().where(_agent.c.name == name)):
            raise NotFound(f"There is no agent named {name}.")

    async def _write(self, name: str, statement: Any) -> int:
        """How many rows it changed. Raises ``IntegrityError``."""
        try:
            with outages("written"):
                async with self._database.reader.begin() as connection:
                    return (await connection.execute(statement)).rowcount
        finally:
            self._changes += 1
            self._known.pop(name, None)

    def _insert(self) -> Any:
        if self._database.embedded:
            return sqlite.insert(_agent)
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - large, and for one database

        return postgresql.insert(_agent)
