"""Opening, reading, listing and cancelling over HTTP."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from app.api.meeting_view import meeting_view
from tests.api.parts import MEETING, Parts
from tests.clock import START


async def opened(client: httpx.AsyncClient, **headers: str) -> httpx.Response:
    response = await client.post("/v1/meetings", json=MEETING, headers=headers)
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
    *("spent", "remaining", "outcome", "pending_question", "cancellation", "operations", "parked"),
    *("parent_id", "children", "resumptions", "plan", "warnings", "created_at", "started_at"),
    *("ended_at", "deadline", "metadata", "links"),
}


async def test_the_resource_by_values(client: httpx.AsyncClient, parts: Parts) -> None:
    await client.post("/v1/meetings", json={**MEETING, "limits": {"usd": "0.5", "tokens": 10_000}})
    parts.clock.advance(1)
    await parts.begin()
    parts.clock.advance(10.5)

    running = meeting_view(await parts.archive.state("mtg_0001"), parts.clock.now())
    assert running.keys() == RESOURCE
    assert running["status"] == "running"
    assert running["spent"] == {
        "replies": 3,
        "seconds": 10.5,
        "usd": "0.003",
        "tokens": {"input": 300, "output": 60},
        "unconfirmed": {"requests": 0, "usd": "0", "tokens": 0},
    }
    assert running["remaining"] == {"seconds": 589.5, "usd": "0.497", "tokens": 9_640}
    assert running["started_at"] == "2026-11-30T09:00:01Z"
    assert running["deadline"] == "2026-11-30T09:10:01Z"
    assert running["operations"] == {"pending": 0, "unknown": 0}
    assert running["links"]["events"] == "/v1/meetings/mtg_0001/events"
    assert running["links"]["operations"] == "/v1/meetings/mtg_0001/operations"

    await parts.finish()
    ended = meeting_view(await parts.archive.state("mtg_0001"), START + timedelta(days=1))
    assert ended["status"] == "ended"
    assert ended["outcome"] == (await parts.last()).data["outcome"]
    assert ended["outcome"]["decision"] == "One repository."
    assert ended["spent"]["seconds"] == 10.5


async def test_dry_run_stores_nothing(client: httpx.AsyncClient, parts: Parts) -> None:
    headers = {"Idempotency-Key": "k", "Prefer": "wait=5"}
    response = await client.post("/v1/meetings?dry_run=true", json=MEETING, headers=headers)
    assert response.status_code == 200
    assert await parts.meetings() == []
    assert await parts.archive.first_answer("k") is None
    assert response.json() == {"plan": (await opened(client)).json()["plan"]}


async def end_once_followed(parts: Parts) -> None:
    await parts.log.followed.wait()
    await parts.hold()


async def test_waiting_for_the_end(client: httpx.AsyncClient, parts: Parts) -> None:
    ending = asyncio.create_task(end_once_followed(parts))
    response = await opened(client, Prefer="respond-async, wait=30")
    await ending
    assert response.headers["preference-applied"] == "wait=30"
    assert response.json()["status"] == "ended"
    assert response.json()["outcome"] == (await parts.last()).data["outcome"]


async def test_waiting_in_vain(client: httpx.AsyncClient) -> None:
    response = await opened(client, Prefer="wait=1")
    assert response.headers["preference-applied"] == "wait=1"
    assert response.json()["status"] == "scheduled"


async def test_a_shutdown_ends_the_wait(client: httpx.AsyncClient, parts: Parts) -> None:
    opening = asyncio.create_task(opened(client, Prefer="wait=600"))
    await parts.log.followed.wait()
    parts.shutdown.set()
    response = await asyncio.wait_for(opening, 5)
    assert response.json()["status"] == "scheduled"


async def test_preferences_that_cannot_be_read_are_ignored(client: httpx.AsyncClient) -> None:
    response = await opened(client, Prefer="wait=soon")
    assert "preference-applied" not in response.headers


async def test_same_key_same_answer(client: httpx.AsyncClient, parts: Parts) -> None:
    first = await opened(client, **{"Idempotency-Key": "k"})
    await parts.begin()
    again = await client.post(
        "/v1/meetings",
        content=json.dumps(dict(reversed(MEETING.items())), indent=3),
        headers={"Idempotency-Key": "k", "content-type": "application/json"},
    )
    assert again.status_code == 201
    assert again.content == first.content
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert await parts.meetings() == ["mtg_0001"]


async def test_same_key_after_a_wait(client: httpx.AsyncClient, parts: Parts) -> None:
    ending = asyncio.create_task(end_once_followed(parts))
    first = await opened(client, **{"Idempotency-Key": "k", "Prefer": "wait=30"})
    await ending
    again = await opened(client, **{"Idempotency-Key": "k"})
    assert again.content == first.content
    assert again.json()["status"] == "ended"


async def test_same_key_another_body(client: httpx.AsyncClient, parts: Parts) -> None:
    headers = {"Idempotency-Key": "k"}
    await opened(client, **headers)
    response = await client.post("/v1/meetings", json={"topic": "Another?"}, headers=headers)
    assert response.status_code == 422
    assert response.json()["type"] == "idempotency-key-reused"
    assert [fault["pointer"] for fault in response.json()["errors"]] == ["#/Idempotency-Key"]
    assert await parts.meetings() == ["mtg_0001"]


async def test_same_key_at_the_same_time(client: httpx.AsyncClient, parts: Parts) -> None:
    headers = {"Idempotency-Key": "k"}
    with parts.locked():
        first = asyncio.create_task(opened(client, **headers))
        await parts.until_handling("k")
        response = await client.post("/v1/meetings", json=MEETING, headers=headers)
    assert response.status_code == 409
    assert response.json()["type"] == "request-in-progress"
    await first
    assert (await opened(client, **headers)).headers["idempotency-replayed"] == "true"


@pytest.mark.usefixtures("logged")
async def test_a_failed_request_frees_its_key(client: httpx.AsyncClient, parts: Parts) -> None:
    headers = {"Idempotency-Key": "k"}
    with parts.broken_prompts(RuntimeError()):
        failed = await client.post("/v1/meetings", json=MEETING, headers=headers)
    assert failed.status_code == 500
    assert "idempotency-replayed" not in (await opened(client, **headers)).headers


async def test_key_too_long(client: httpx.AsyncClient) -> None:
    response = await client.post(
        "/v1/meetings", json=MEETING, headers={"Idempotency-Key": "x" * 256}
    )
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "#/Idempotency-Key"


async def test_etag(client: httpx.AsyncClient, parts: Parts) -> None:
    location = (await opened(client)).headers["location"]
    tag = (await client.get(location)).headers["etag"]
    assert tag == 'W/"1"'
    unchanged = await client.get(location, headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["etag"] == tag
    await parts.begin()
    changed = await client.get(location, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    # Entries that are not shown count too: spending may have changed with them.
    assert changed.headers["etag"] == 'W/"10"'


SOUGHT: dict[str, Any] = {
    "topic": "会議をいつ開くか",
    "format": "vote",
    "options": ["Monday", "Friday"],
    "metadata": {"team": "a b", "x.y": ""},
}


async def test_listing(client: httpx.AsyncClient, parts: Parts) -> None:
    async def found(query: str) -> tuple[list[str], str | None]:
        page = (await client.get(f"/v1/meetings?{query}")).json()
        return [item["id"] for item in page["items"]], page["next_cursor"]

    async def opened_each(*wishes: dict[str, Any]) -> None:
        for wish in wishes:
            assert (await client.post("/v1/meetings", json=wish)).status_code == 201

    too_early = SOUGHT
    await opened_each(too_early)
    parts.clock.advance(1)
    await opened_each(
        *(SOUGHT, SOUGHT, SOUGHT),
        {**SOUGHT, "topic": "Another?"},
        {**SOUGHT, "format": "poll"},
        {**SOUGHT, "metadata": {"team": "a b"}},
        {**SOUGHT, "metadata": {"team": "a", "x.y": ""}},
        SOUGHT,
    )
    await parts.hold("mtg_0009")
    query = (
        "status=scheduled&format=vote&q=会議&metadata.team=a b&metadata.x.y="
        "&created_after=2026-11-30T18:00:00%2B09:00"
    )
    assert await found(query) == (["mtg_0004", "mtg_0003", "mtg_0002"], None)
    first, cursor = await found(f"{query}&limit=2")
    assert first == ["mtg_0004", "mtg_0003"]
    assert await found(f"{query}&limit=2&cursor={cursor}") == (["mtg_0002"], None)
    ids = [f"mtg_{number:04}" for number in range(9, 0, -1)]
    assert await found("") == (ids, None)


async def test_listing_without_filters(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/meetings")).json() == {"items": [], "next_cursor": None}


async def test_cancelling(client: httpx.AsyncClient, parts: Parts) -> None:
    location = (await opened(client)).headers["location"]
    nobody = await client.get(f"{location}/cancellation")
    assert (nobody.status_code, nobody.json()["type"]) == (404, "not-found")

    first = await client.post(f"{location}/cancel", json={"reason": "settled by mail"})
    assert first.status_code == 202
    assert first.json() == {
        "requested_at": "2026-11-30T09:00:00Z",
        "reason": "settled by mail",
        "state": "requested",
        "items": [],
    }
    again = await client.post(f"{location}/cancel")
    assert (again.status_code, again.json()) == (200, first.json())
    assert (await client.get(f"{location}/cancellation")).json() == first.json()
    assert (await client.get(location)).json()["cancellation"] == first.json()

    await parts.hold()
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
