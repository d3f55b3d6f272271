"""Agents as callers configured them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.coordinator.ports import Clock
from app.domain.errors import AgentExists, NotFound
from app.domain.meeting import Json
from app.store.database import Database
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

    async def get(self, name: str) -> Mapping[str, Json] | None:
        if name in self._known:
            return self._known[name]
        query = select(_agent.c.settings).where(_agent.c.name == name)
        async with self._database.reader.connect() as connection:
            settings = (await connection.execute(query)).scalar_one_or_none()
        found = None if settings is None else orjson.loads(settings)
        if self._database.embedded and len(self._known) < _MOST_KNOWN:
            self._known[name] = found
        return found

    async def all(self) -> Sequence[Mapping[str, Json]]:
        query = select(_agent.c.settings).order_by(_agent.c.name)
        async with self._database.reader.connect() as connection:
            return [orjson.loads(text) for text in (await connection.execute(query)).scalars()]

    async def put(self, settings: Mapping[str, Json], *, new: bool) -> None:
        name = settings["name"]
        row = {"settings": encode(settings), "updated_at": self._clock.now()}
        update = _agent.update().where(_agent.c.name == name).values(**row)
        insert = _agent.insert().values(name=name, **row)
        try:
            async with self._database.reader.begin() as connection:
                if new or not (await connection.execute(update)).rowcount:
                    await connection.execute(insert)
        except IntegrityError as clash:
            raise AgentExists(f"There is an agent named {name} already.") from clash
        finally:
            self._known.pop(name, None)

    async def delete(self, name: str) -> None:
        async with self._database.reader.begin() as connection:
            deleted = await connection.execute(_agent.delete().where(_agent.c.name == name))
        self._known.pop(name, None)
        if not deleted.rowcount:
            raise NotFound(f"There is no agent named {name}.")
