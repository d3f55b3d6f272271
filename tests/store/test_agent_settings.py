"""The port ``AgentStore`` over both databases."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import event

from app.domain.errors import AgentExists, LogUnavailable, NotFound
from app.store.agent_settings import SqlAgentStore
from tests.store.conftest import Store

CRITIC: dict[str, Any] = {"name": "critic", "kind": "rehearsal", "script": ["会議 🎭"]}


async def test_kept_replaced_listed_and_deleted(store: Store) -> None:
    agents = store.agents
    assert await agents.get("critic") is None
    await agents.put(CRITIC, new=True)
    assert await agents.get("critic") == CRITIC
    other = {"name": "Zoe", "kind": "rehearsal"}
    await agents.put(other, new=False)
    changed = {**CRITIC, "script": ["changed"]}
    await agents.put(changed, new=False)
    assert await agents.get("critic") == changed
    assert await SqlAgentStore(store.database, store.clock).get("critic") == changed
    assert sorted((one["name"] for one in await agents.all()), key=str.lower) == ["critic", "Zoe"]
    await agents.delete("critic")
    assert await agents.get("critic") is None
    assert await agents.all() == [other]


async def test_a_name_is_given_once(store: Store) -> None:
    await store.agents.put(CRITIC, new=True)
    with pytest.raises(AgentExists):
        await store.agents.put({**CRITIC, "script": ["other"]}, new=True)
    assert await store.agents.get("critic") == CRITIC


async def test_deleting_what_is_not_there(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.agents.delete("critic")
    await store.agents.put(CRITIC, new=True)
    await store.agents.delete("critic")
    with pytest.raises(NotFound):
        await store.agents.delete("critic")


async def test_replacing_at_once_never_fails(store: Store) -> None:
    wishes = [{**CRITIC, "script": [str(number)]} for number in range(8)]
    await asyncio.gather(*(store.agents.put(wish, new=False) for wish in wishes))
    assert await store.agents.get("critic") in wishes
    assert len(await store.agents.all()) == 1


async def test_of_two_that_make_the_same_agent_one_is_refused(store: Store) -> None:
    makers = [store.agents.put(CRITIC, new=True) for _ in range(4)]
    results = await asyncio.gather(*makers, return_exceptions=True)
    assert sum(isinstance(one, AgentExists) for one in results) == 3
    assert results.count(None) == 1


async def test_a_reader_never_keeps_what_was_replaced_while_it_read(store: Store) -> None:
    """The settings change after a reader's query and before the reader has its answer."""
    await store.agents.put(CRITIC, new=True)
    fresh = SqlAgentStore(store.database, store.clock)
    changed = {**CRITIC, "script": ["changed"]}
    queried = asyncio.Event()
    engine = store.database.reader.sync_engine

    def notice(*_: object) -> None:
        queried.set()

    event.listen(engine, "after_cursor_execute", notice)
    reading = asyncio.create_task(fresh.get("critic"))
    await queried.wait()
    event.remove(engine, "after_cursor_execute", notice)
    await fresh.put(changed, new=False)
    await reading
    assert await fresh.get("critic") == changed


async def test_a_dead_database_is_said_to_be_one(store: Store) -> None:
    await store.kill()
    for ask in (
        store.agents.get("critic"),
        store.agents.all(),
        store.agents.put(CRITIC, new=True),
        store.agents.put(CRITIC, new=False),
        store.agents.delete("critic"),
    ):
        with pytest.raises(LogUnavailable):
            await ask
