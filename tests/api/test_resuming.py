"""Resuming over HTTP, in memory: what the call takes and what it answers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest

from app.domain.meeting import events
from app.domain.meeting.events import Entry
from app.domain.meeting.meeting import Material
from tests.api.in_memory import OUTCOME, World, beginning, rest

AT = "/v1/meetings/mtg_0001"
BODY: dict[str, Any] = {"changed": "limits", "note": "More rounds.", "limits": {"rounds": 5}}


@pytest.fixture
async def undecided(client: httpx.AsyncClient, world: World) -> httpx.AsyncClient:
    await client.post("/v1/meetings", json={"topic": "One repository or several?"})
    closed, decision, end = rest(world.clock)
    outcome = {**OUTCOME, "result": "undecided", "decision": None}
    decision = replace(decision, data={**decision.data, **outcome})
    end = replace(end, data={**end.data, "outcome": outcome})
    world.store.append("mtg_0001", *beginning(world.clock), closed, decision, end)
    return client


async def test_it_answers_with_the_meeting_that_goes_on(undecided: httpx.AsyncClient) -> None:
    ended = (await undecided.get(AT)).json()
    assert (ended["status"], ended["resumptions"]) == ("ended", [])
    assert ended["links"]["resume"] == f"{AT}/resume"
    answer = await undecided.post(f"{AT}/resume", json=BODY)
    assert (answer.status_code, answer.headers["location"]) == (202, AT)
    meeting = answer.json()
    assert meeting["status"] == "running"
    assert meeting["outcome"] is meeting["ended_at"] is None
    assert meeting["limits"]["rounds"] == 5
    told = {"changed": "limits", "note": "More rounds.", "at": "2026-11-02T12:00:00Z"}
    assert meeting["resumptions"] == [told]
    again = await undecided.post(f"{AT}/resume", json=BODY)
    assert (again.status_code, again.json()["type"]) == (409, "meeting-not-ended")
    assert (await undecided.get(f"{AT}/decision")).json()["type"] == "meeting-not-ended"


async def test_only_the_limits_that_are_named_come_through(
    undecided: httpx.AsyncClient, world: World
) -> None:
    limits = {"rounds": 5, "usd": "1.50", "tokens": None}
    await undecided.post(f"{AT}/resume", json={**BODY, "limits": limits})
    (wish,) = world.meetings.resumings
    assert wish.limits == {"rounds": 5, "usd": Decimal("1.50"), "tokens": None}
    assert (wish.materials, wish.acknowledge_unknown) == ((), False)


async def test_materials_come_through_whole(undecided: httpx.AsyncClient, world: World) -> None:
    material = {"id": "m1", "version": "2", "title": "Terms", "text": "14 days."}
    body = {"changed": "materials", "note": "New terms.", "materials": [material]}
    answer = await undecided.post(f"{AT}/resume", json={**body, "acknowledge_unknown": True})
    assert answer.status_code == 202
    (wish,) = world.meetings.resumings
    assert wish.materials == (Material("m1", "2", "14 days.", "Terms"),)
    assert wish.acknowledge_unknown


async def test_it_needs_a_json_body(undecided: httpx.AsyncClient) -> None:
    plain = await undecided.post(f"{AT}/resume", content="go on")
    assert plain.json()["type"] == "unsupported-media-type"
    empty = await undecided.post(f"{AT}/resume", json={})
    assert {fault["pointer"] for fault in empty.json()["errors"]} == {"#/changed", "#/note"}
    nothing = await undecided.post(f"{AT}/resume")
    assert nothing.status_code in (400, 415)


async def test_a_meeting_that_is_not_there(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{AT}/resume", json=BODY)
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found")


async def test_a_cancel_before_the_resuming_is_not_denied(
    undecided: httpx.AsyncClient, world: World
) -> None:
    never = (await undecided.get(f"{AT}/cancellation")).json()
    assert never["detail"] == "Nobody has cancelled meeting mtg_0001."
    _, decision, end = rest(world.clock)
    await undecided.post(f"{AT}/resume", json=BODY)
    uncancelled = await undecided.get(f"{AT}/cancellation")
    assert uncancelled.json()["detail"] == never["detail"]
    await undecided.post(f"{AT}/cancel", json={"reason": "lunch"})
    cancelled = {**OUTCOME, "result": "cancelled", "decision": None}
    items = {"state": "stopped", "items": []}
    world.store.append(
        "mtg_0001",
        Entry(events.CANCELLATION_CLOSED, items, world.clock.now()),
        replace(decision, data={**decision.data, **cancelled}),
        replace(end, data={**end.data, "outcome": cancelled}),
    )
    await undecided.post(f"{AT}/resume", json={**BODY, "limits": {"rounds": 7}})
    answer = await undecided.get(f"{AT}/cancellation")
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found")
    detail = answer.json()["detail"]
    assert "was cancelled, and has been resumed since" in detail
    assert f"{AT}/minutes" in detail
    kept = await undecided.get(
        f"{AT}/minutes", params={"partial": "true"}, headers={"Accept": "application/json"}
    )
    reasons = [(each["cancellation"] or {}).get("reason") for each in kept.json()["resumptions"]]
    assert reasons == [None, "lunch"]
