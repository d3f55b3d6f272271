"""Rounds, dissents, minutes, decisions and pages of events over HTTP."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from app.api.meeting_view import cancellation_view
from app.domain.meeting.entries import Event
from app.domain.meeting.state import fold
from app.records.minutes import minutes_json
from tests.api.parts import MEETING, SPLIT, Parts

AT = "/v1/meetings/mtg_0001"


@pytest.fixture
async def running(client: httpx.AsyncClient, parts: Parts) -> httpx.AsyncClient:
    await client.post("/v1/meetings", json=MEETING)
    await parts.begin()
    return client


@pytest.fixture
async def ended(client: httpx.AsyncClient, parts: Parts) -> httpx.AsyncClient:
    await client.post("/v1/meetings", json=MEETING)
    parts.clock.advance(4)
    await parts.hold()
    return client


async def test_rounds(running: httpx.AsyncClient) -> None:
    page = (await running.get(f"{AT}/rounds")).json()
    (round_,) = page["items"]
    assert (round_["round"], round_["motion"]) == (1, "One repository.")
    assert [reply["participant"] for reply in round_["replies"]] == ["ann", "ben", "cid"]
    assert page["next_cursor"] is None


async def test_dissents(client: httpx.AsyncClient, parts: Parts) -> None:
    await client.post("/v1/meetings", json=SPLIT)
    await parts.begin()
    assert (await client.get(f"{AT}/dissents")).json()["items"] == []
    await parts.finish()
    dissent = {
        "participant": "cid",
        "position": "DISAGREE",
        "rationale": "I am cid. [STANCE: DISAGREE]",
        "mitigation": None,
        "round": 1,
    }
    assert (await client.get(f"{AT}/dissents")).json()["items"] == [dissent]


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


async def test_minutes_list_what_a_cancel_has_found_like_the_cancel_itself(
    running: httpx.AsyncClient, parts: Parts
) -> None:
    """While it is being cancelled as well as afterwards; one request was under way."""
    assert (await running.post(f"{AT}/cancel")).status_code == 202
    await parts.finish()
    log = await parts.log.read("mtg_0001")
    states = [folded.cancellation for folded in map(fold, _prefixes(log)) if folded.cancellation]
    assert {item.state for cancel in states for item in cancel.items} >= {"requested"}
    for part in _prefixes(log):
        assert minutes_json(part)["cancellation"] == cancellation_view(fold(part))
    headers = {"Accept": "application/json"}
    minutes = (await running.get(f"{AT}/minutes", headers=headers)).json()
    assert minutes["cancellation"] == (await running.get(f"{AT}/cancellation")).json()


def _prefixes(log: Sequence[Event]) -> list[Sequence[Event]]:
    return [log[:length] for length in range(1, len(log) + 1)]


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


async def test_decisions(ended: httpx.AsyncClient, parts: Parts) -> None:
    async def found(**query: str) -> list[tuple[str, str]]:
        page = (await ended.get("/v1/decisions", params=query)).json()
        assert page["next_cursor"] is None
        return [(record["meeting_id"], record["decision"]) for record in page["items"]]

    decided = [("mtg_0001", "One repository.")]
    assert await found() == decided
    await ended.post("/v1/meetings", json={**MEETING, "topic": "Tea or coffee?", "motion": "Tea."})
    await ended.post("/v1/meetings", json=SPLIT)
    await parts.hold("mtg_0002")
    await parts.hold("mtg_0003")
    assert await found(q="repository", result="decided") == decided
    assert await found(q="tea") == [("mtg_0002", "Tea.")]
    first = (await ended.get("/v1/decisions?limit=1&result=decided")).json()
    assert [record["decision"] for record in first["items"]] == ["Tea."]
    assert await found(cursor=first["next_cursor"], result="decided", limit="5") == decided


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
    assert ids == list(range(1, 12))
    assert page["items"][-1]["type"] == "meeting.ended"
    assert page["items"][-1].keys() == {"id", "type", "meeting_id", "at", "data"}
    assert page["items"][-1]["at"] == "2026-11-30T09:00:04Z"


async def test_a_page_past_the_end_is_empty(ended: httpx.AsyncClient) -> None:
    headers = {"Accept": "application/json"}
    page = (await ended.get(f"{AT}/events?after=99", headers=headers)).json()
    assert page == {"items": [], "next_cursor": None}


async def test_health(client: httpx.AsyncClient, parts: Parts) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    ready = await client.get("/readyz")
    assert ready.json() == {"status": "ready", "checks": {"database": True, "engine": True}}
    await parts.log.close()
    unready = await client.get("/readyz")
    assert (unready.status_code, unready.json()["type"]) == (503, "not-ready")
    assert unready.json()["checks"] == {"database": True, "engine": False}
    assert "engine" in unready.json()["detail"]


async def test_not_ready_while_shutting_down(client: httpx.AsyncClient, parts: Parts) -> None:
    parts.shutdown.set()
    assert (await client.get("/readyz")).status_code == 503
    assert (await client.get("/healthz")).status_code == 200
