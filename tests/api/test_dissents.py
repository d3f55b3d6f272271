"""``GET /v1/dissents``: the views that lost, over all meetings."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.domain.meeting.outcome import Dissent
from tests.api.parts import Parts
from tests.store.meetings import created, decided, ended, started

SPLIT = Dissent("cid", "複数のまま。", "チームごとに違う。", "段階的に移る", 2)
SLOW = Dissent("ann", "One repository.", "The build is slow.")


@pytest.fixture(autouse=True)
async def held(parts: Parts) -> None:
    """Two meetings that were decided against somebody, and one that has not ended."""
    for id_, format_, dissents in (
        ("mtg_1", "roundtable", (SPLIT,)),
        ("mtg_2", "vote", (SLOW, SPLIT)),
    ):
        opening = created(id_, topic=f"About {id_}", format=format_)
        await parts.append(id_, opening, started(), decided(dissents=dissents), ended())
    await parts.append("mtg_3", created("mtg_3"), started(), decided())


async def _get(client: httpx.AsyncClient, **query: str) -> Any:
    answer = await client.get("/v1/dissents", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def _found(client: httpx.AsyncClient, **query: str) -> list[tuple[str, str]]:
    items = (await _get(client, **query))["items"]
    return [(item["meeting_id"], item["participant"]) for item in items]


EVERY = [("mtg_2", "ann"), ("mtg_2", "cid"), ("mtg_1", "cid")]


async def test_each_says_what_it_lost_against(client: httpx.AsyncClient) -> None:
    page = await _get(client, participant="ann")
    assert page == {
        "items": [
            {
                "meeting_id": "mtg_2",
                "format": "vote",
                "topic": "About mtg_2",
                "result": "decided",
                "decision": "One repository.",
                "decided_at": "2026-11-30T09:00:08Z",
                "participant": "ann",
                "position": "One repository.",
                "rationale": "The build is slow.",
                "mitigation": None,
                "round": None,
            }
        ],
        "next_cursor": None,
    }


async def test_filters(client: httpx.AsyncClient) -> None:
    assert await _found(client) == EVERY
    assert await _found(client, format="vote") == EVERY[:2]
    assert await _found(client, format="vote", participant="cid") == EVERY[1:2]
    assert await _found(client, q="段階的に") == EVERY[1:]
    assert await _found(client, q="違") == EVERY[1:]
    assert await _found(client, q="BUILD slow") == EVERY[:1]
    assert await _found(client, q="about mtg_1") == EVERY[2:]
    assert await _found(client, q="walrus") == []
    assert await _found(client, participant="nobody") == []


async def test_page_by_page(client: httpx.AsyncClient) -> None:
    seen: list[tuple[str, str]] = []
    query: dict[str, str] = {"limit": "1"}
    while True:
        page = await _get(client, **query)
        seen += [(item["meeting_id"], item["participant"]) for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == EVERY


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ({"who": "cid"}, "/who"),
        ({"cursor": "bXRnXzE"}, "/cursor"),
        ({"limit": "201"}, "/limit"),
        ({"format": "séance"}, "/format"),
        ({"participant": ""}, "/participant"),
        ({"q": "\x00"}, "/q"),
    ],
)
async def test_what_is_refused(client: httpx.AsyncClient, query: dict[str, str], at: str) -> None:
    answer = await client.get("/v1/dissents", params=query)
    assert answer.status_code == 422
    assert at in answer.json()["errors"][0]["pointer"]
