"""Rounds, dissents, minutes, decisions and pages of events over HTTP."""

from typing import Any

import httpx
import pytest

from tests.api.in_memory import OUTCOME, World, beginning, rest

AT = "/v1/meetings/mtg_0001"


@pytest.fixture
async def running(client: httpx.AsyncClient, world: World) -> httpx.AsyncClient:
    await client.post("/v1/meetings", json={"topic": "One repository or several?"})
    world.store.append("mtg_0001", *beginning(world.clock))
    return client


@pytest.fixture
async def ended(running: httpx.AsyncClient, world: World) -> httpx.AsyncClient:
    world.store.append("mtg_0001", *rest(world.clock))
    return running


async def test_rounds(running: httpx.AsyncClient) -> None:
    page = (await running.get(f"{AT}/rounds")).json()
    (round_,) = page["items"]
    assert (round_["round"], round_["motion"]) == (1, "One repository.")
    assert [reply["participant"] for reply in round_["replies"]] == ["ann", "ben", "cid"]
    assert page["next_cursor"] is None


async def test_dissents(running: httpx.AsyncClient, world: World) -> None:
    assert (await running.get(f"{AT}/dissents")).json()["items"] == []
    world.store.append("mtg_0001", *rest(world.clock))
    assert (await running.get(f"{AT}/dissents")).json()["items"] == OUTCOME["dissents"]


@pytest.mark.parametrize(
    ("accept", "media", "begins"),
    [
        ("*/*", "text/markdown; charset=utf-8", "---\n"),
        ("text/html", "text/html; charset=utf-8", "<!doctype html>"),
        ("application/json", "application/json", "{"),
    ],
)
async def test_minutes(ended: httpx.AsyncClient, accept: str, media: str, begins: str) -> None:
    response = await ended.get(f"{AT}/minutes", headers={"Accept": accept})
    assert response.status_code == 200
    assert response.headers["content-type"] == media
    assert response.headers["vary"] == "Accept"
    assert response.text.lower().startswith(begins)
    assert ("content-security-policy" in response.headers) is (accept == "text/html")


async def test_minutes_before_the_end(running: httpx.AsyncClient) -> None:
    early = await running.get(f"{AT}/minutes")
    assert (early.status_code, early.json()["type"]) == (409, "meeting-not-ended")
    assert "partial=true" in early.json()["detail"]
    assert (await running.get(f"{AT}/minutes?partial=true")).status_code == 200


@pytest.mark.parametrize("part", ["minutes", "decision"])
async def test_not_acceptable(ended: httpx.AsyncClient, part: str) -> None:
    response = await ended.get(f"{AT}/{part}", headers={"Accept": "image/png"})
    assert (response.status_code, response.json()["type"]) == (406, "not-acceptable")


async def test_decision(ended: httpx.AsyncClient) -> None:
    record = await ended.get(f"{AT}/decision")
    assert record.headers["content-type"] == "application/json"
    assert record.json()["decision"] == "One repository."
    text = await ended.get(f"{AT}/decision", headers={"Accept": "text/markdown"})
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert text.text.startswith("---\n")


async def test_decision_before_the_end(running: httpx.AsyncClient) -> None:
    early = await running.get(f"{AT}/decision")
    assert (early.status_code, early.json()["type"]) == (409, "meeting-not-ended")


async def test_decisions(ended: httpx.AsyncClient, world: World) -> None:
    page = (await ended.get("/v1/decisions?q=repository&result=decided&limit=5&cursor=c")).json()
    assert [record["decision"] for record in page["items"]] == ["One repository."]
    assert page["next_cursor"] is None
    (filter_,) = world.store.filters
    assert (filter_.text, filter_.result, filter_.limit) == ("repository", "decided", 5)


async def test_pages_of_events(ended: httpx.AsyncClient) -> None:
    ids: list[int] = []
    page: dict[str, Any] = {"next_cursor": "0"}
    while page["next_cursor"] is not None:
        response = await ended.get(
            f"{AT}/events?after={page['next_cursor']}&limit=4",
            headers={"Accept": "application/json"},
        )
        page = response.json()
        ids += [event["id"] for event in page["items"]]
    assert ids == list(range(1, 10))
    assert page["items"][-1]["type"] == "meeting.ended"
    assert page["items"][-1].keys() == {"id", "type", "meeting_id", "at", "data"}
    assert page["items"][-1]["at"] == "2026-11-02T12:00:04Z"


async def test_a_page_past_the_end_is_empty(ended: httpx.AsyncClient) -> None:
    headers = {"Accept": "application/json"}
    page = (await ended.get(f"{AT}/events?after=99", headers=headers)).json()
    assert page == {"items": [], "next_cursor": None}


async def test_health(client: httpx.AsyncClient, world: World) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    ready = await client.get("/readyz")
    assert ready.json() == {"status": "ready", "checks": {"database": True, "engine": True}}
    world.checks["engine"] = False
    unready = await client.get("/readyz")
    assert (unready.status_code, unready.json()["type"]) == (503, "not-ready")
    assert unready.json()["checks"] == {"database": True, "engine": False}
    assert "engine" in unready.json()["detail"]


async def test_not_ready_while_shutting_down(client: httpx.AsyncClient, world: World) -> None:
    world.shutdown.set()
    assert (await client.get("/readyz")).status_code == 503
    assert (await client.get("/healthz")).status_code == 200
