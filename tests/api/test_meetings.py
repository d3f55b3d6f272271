"""Opening, reading, listing and cancelling over HTTP."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from app.api.meeting_view import meeting_view
from app.domain.meeting.meeting import Limits, Meeting, Seat
from app.domain.meeting.state import fold
from tests.api.in_memory import NOON, OUTCOME, StillClock, World, beginning, created, rest

TOPIC = {"topic": "One repository or several?"}


async def opened(client: httpx.AsyncClient, **headers: str) -> httpx.Response:
    response = await client.post("/v1/meetings", json=TOPIC, headers=headers)
    assert response.status_code == 201, response.text
    return response


async def test_opening(client: httpx.AsyncClient) -> None:
    response = await opened(client)
    meeting = response.json()
    assert response.headers["location"] == f"/v1/meetings/{meeting['id']}"
    assert response.headers["content-type"] == "application/json"
    assert "preference-applied" not in response.headers
    assert (meeting["status"], meeting["outcome"], meeting["round"]) == ("scheduled", None, 0)
    got = await client.get(response.headers["location"])
    assert got.json() == meeting


RESOURCE = {
    *("id", "status", "format", "topic", "motion", "participants", "limits", "rules", "round"),
    *("spent", "remaining", "outcome", "pending_question", "cancellation", "operations"),
    *("parent_id", "children", "resumptions", "plan", "warnings", "created_at", "started_at"),
    *("ended_at", "deadline", "metadata", "links"),
}


def test_the_resource_by_values() -> None:
    clock = StillClock()
    world = World()
    limits = Limits(usd=Decimal("0.5"), tokens=1000)
    meeting = Meeting(
        "mtg_1", "roundtable", 1, "x", (Seat("ann", "r", "default"),), "default", limits
    )
    world.store.append("mtg_1", created(meeting, NOON), *beginning(clock))
    log = world.store.logs["mtg_1"]

    running = meeting_view(fold(log), NOON + timedelta(seconds=11.5))
    assert running.keys() == RESOURCE
    assert running["status"] == "running"
    assert running["spent"] == {
        "replies": 3,
        "seconds": 10.5,
        "usd": "0.003",
        "tokens": {"input": 300, "output": 30},
    }
    assert running["remaining"] == {"seconds": 589.5, "usd": "0.497", "tokens": 670}
    assert running["started_at"] == "2026-11-02T12:00:01Z"
    assert running["deadline"] == "2026-11-02T12:10:01Z"
    assert running["operations"] == {"pending": 0, "unknown": 0}
    assert running["links"]["events"] == "/v1/meetings/mtg_1/events"
    assert running["links"]["operations"] == "/v1/meetings/mtg_1/operations"

    world.store.append("mtg_1", *rest(clock))
    ended = meeting_view(fold(log), NOON + timedelta(days=1))
    assert ended["status"] == "ended"
    assert ended["outcome"] == OUTCOME
    assert ended["spent"]["seconds"] == 3.0


async def test_dry_run_stores_nothing(client: httpx.AsyncClient, world: World) -> None:
    headers = {"Idempotency-Key": "k", "Prefer": "wait=5"}
    response = await client.post("/v1/meetings?dry_run=true", json=TOPIC, headers=headers)
    assert response.status_code == 200
    assert response.json() == {"plan": {"format": "roundtable", "prompts": 13}}
    assert (world.store.logs, world.store.answers) == ({}, {})


async def end_soon(world: World, meeting_id: str = "mtg_0001") -> None:
    await world.meetings.awaited.wait()
    world.store.append(meeting_id, *beginning(world.clock), *rest(world.clock))


async def test_waiting_for_the_end(client: httpx.AsyncClient, world: World) -> None:
    ending = asyncio.create_task(end_soon(world))
    response = await opened(client, Prefer="respond-async, wait=30")
    await ending
    assert response.headers["preference-applied"] == "wait=30"
    assert response.json()["status"] == "ended"
    assert response.json()["outcome"] == OUTCOME


async def test_waiting_in_vain(client: httpx.AsyncClient) -> None:
    response = await opened(client, Prefer="wait=1")
    assert response.headers["preference-applied"] == "wait=1"
    assert response.json()["status"] == "scheduled"


async def test_a_shutdown_ends_the_wait(client: httpx.AsyncClient, world: World) -> None:
    opening = asyncio.create_task(opened(client, Prefer="wait=600"))
    await world.meetings.awaited.wait()
    world.shutdown.set()
    response = await asyncio.wait_for(opening, 5)
    assert response.json()["status"] == "scheduled"


async def test_preferences_that_cannot_be_read_are_ignored(client: httpx.AsyncClient) -> None:
    response = await opened(client, Prefer="wait=soon")
    assert "preference-applied" not in response.headers


async def test_same_key_same_answer(client: httpx.AsyncClient, world: World) -> None:
    first = await opened(client, **{"Idempotency-Key": "k"})
    world.store.append(first.json()["id"], *beginning(world.clock))
    again = await client.post(
        "/v1/meetings",
        content=b'{\n"topic":   "One repository or several?"}',
        headers={"Idempotency-Key": "k", "content-type": "application/json"},
    )
    assert again.status_code == 201
    assert again.content == first.content
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert len(world.store.logs) == 1


async def test_same_key_after_a_wait(client: httpx.AsyncClient, world: World) -> None:
    ending = asyncio.create_task(end_soon(world))
    first = await opened(client, **{"Idempotency-Key": "k", "Prefer": "wait=30"})
    await ending
    again = await opened(client, **{"Idempotency-Key": "k"})
    assert again.content == first.content
    assert again.json()["status"] == "ended"


async def test_same_key_another_body(client: httpx.AsyncClient, world: World) -> None:
    headers = {"Idempotency-Key": "k"}
    await opened(client, **headers)
    response = await client.post("/v1/meetings", json={"topic": "Another?"}, headers=headers)
    assert response.status_code == 422
    assert response.json()["type"] == "idempotency-key-reused"
    assert [fault["pointer"] for fault in response.json()["errors"]] == ["#/Idempotency-Key"]
    assert len(world.store.logs) == 1


async def test_same_key_at_the_same_time(client: httpx.AsyncClient, world: World) -> None:
    world.meetings.slow.clear()
    first = asyncio.create_task(opened(client, **{"Idempotency-Key": "k"}))
    await asyncio.wait_for(world.meetings.asked.wait(), 5)
    headers = {"Idempotency-Key": "k"}
    response = await client.post("/v1/meetings", json=TOPIC, headers=headers)
    assert response.status_code == 409
    assert response.json()["type"] == "request-in-progress"
    world.meetings.slow.set()
    await first
    assert (await opened(client, **headers)).headers["idempotency-replayed"] == "true"


@pytest.mark.usefixtures("logged")
async def test_a_failed_request_frees_its_key(client: httpx.AsyncClient, world: World) -> None:
    world.meetings.fails = RuntimeError()
    headers = {"Idempotency-Key": "k"}
    assert (await client.post("/v1/meetings", json=TOPIC, headers=headers)).status_code == 500
    world.meetings.fails = None
    assert "idempotency-replayed" not in (await opened(client, **headers)).headers


async def test_key_too_long(client: httpx.AsyncClient) -> None:
    response = await client.post("/v1/meetings", json=TOPIC, headers={"Idempotency-Key": "x" * 256})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "#/Idempotency-Key"


async def test_etag(client: httpx.AsyncClient, world: World) -> None:
    location = (await opened(client)).headers["location"]
    tag = (await client.get(location)).headers["etag"]
    assert tag == 'W/"1"'
    unchanged = await client.get(location, headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["etag"] == tag
    world.store.append("mtg_0001", *beginning(world.clock))
    changed = await client.get(location, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    # Entries that are not shown count too: spending may have changed with them.
    assert changed.headers["etag"] == 'W/"7"'


async def test_listing(client: httpx.AsyncClient, world: World) -> None:
    for _ in range(3):
        await opened(client)
    query = (
        "status=running&format=vote&q=会議&metadata.team=a b&metadata.x.y=&limit=2&cursor=c"
        "&created_after=2026-11-02T09:00:00%2B09:00"
    )
    page = (await client.get(f"/v1/meetings?{query}")).json()
    assert [item["id"] for item in page["items"]] == ["mtg_0003", "mtg_0002"]
    assert page["next_cursor"] == "more"
    (filter_,) = world.store.filters
    assert (filter_.status, filter_.format, filter_.text) == ("running", "vote", "会議")
    assert filter_.metadata == {"team": "a b", "x.y": ""}
    assert (filter_.limit, filter_.cursor) == (2, "c")
    assert filter_.created_after is not None
    assert filter_.created_after.isoformat() == "2026-11-02T09:00:00+09:00"


async def test_listing_without_filters(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/meetings")).json() == {"items": [], "next_cursor": None}


async def test_cancelling(client: httpx.AsyncClient, world: World) -> None:
    location = (await opened(client)).headers["location"]
    nobody = await client.get(f"{location}/cancellation")
    assert (nobody.status_code, nobody.json()["type"]) == (404, "not-found")

    first = await client.post(f"{location}/cancel", json={"reason": "settled by mail"})
    assert first.status_code == 202
    assert first.json() == {
        "requested_at": "2026-11-02T12:00:00Z",
        "reason": "settled by mail",
        "state": "requested",
        "items": [],
    }
    again = await client.post(f"{location}/cancel")
    assert (again.status_code, again.json()) == (200, first.json())
    assert (await client.get(f"{location}/cancellation")).json() == first.json()
    assert (await client.get(location)).json()["cancellation"] == first.json()

    world.store.append("mtg_0001", *rest(world.clock))
    late = await client.post(f"{location}/cancel")
    assert (late.status_code, late.json()["type"]) == (409, "meeting-ended")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"reason": 1}, "#/reason"),
        ({"why": "x"}, "#/why"),
        ([], "#"),
        ({"reason": "x" * 1001}, "#/reason"),
    ],
)
async def test_cancelling_with_a_bad_body(
    client: httpx.AsyncClient, body: Any, pointer: str
) -> None:
    location = (await opened(client)).headers["location"]
    response = await client.post(f"{location}/cancel", json=body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == pointer
    assert (await client.get(location)).json()["status"] == "scheduled"


async def test_cancelling_nothing(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/meetings/mtg_nowhere/cancel")).status_code == 404
