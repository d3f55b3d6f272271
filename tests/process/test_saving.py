"""``kill -9`` while a save is under way: on the next start a look comes first (PROTOCOLS 13)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.destination import Destination, Get, Put
from tests.process.service import Reader, Service
from tests.provider import Gate

pytestmark = pytest.mark.timeout(240)

DRAFT = "The owner is Dee."
_AUTHOR = json.dumps({"draft": DRAFT, "changes": [], "open": [], "waiting_for": None})
_CRITIC = json.dumps({"objections": [], "closed": [], "criteria": {"c1": "pass"}})


def wish(url: str, **fields: Any) -> dict[str, Any]:
    return {
        "topic": "Write the report.",
        "format": "review",
        "participants": [
            {"name": "ann", "role": "author", "agent": "author"},
            {"name": "ben", "role": "critic", "agent": "critic"},
        ],
        "secretary": "author",
        "criteria": [{"id": "c1", "text": "names an owner"}],
        "destination": {"url": url, "check_deadline_seconds": 120},
        **fields,
    }


@pytest.fixture
async def saving(tmp_path: Path) -> AsyncIterator[Service]:
    running = Service(tmp_path, allow_http_targets="true", allow_private_targets="true")
    await running.start()
    await running.agent("author", script=[_AUTHOR])
    await running.agent("critic", script=[_CRITIC])
    yield running
    await running.close()


@pytest.mark.parametrize("arrived", [True, False], ids=["it had arrived", "it had not"])
async def test_killed_between_the_write_and_its_answer(saving: Service, arrived: bool) -> None:
    with Destination() as place:
        place.on_put(Put(gate=Gate()), Put())
        id_ = await saving.open(**wish(place.url))
        await place.requests_arrived(1)
        await saving.kill()
        if arrived:
            place.holds(DRAFT.encode())
        await saving.start()
        reader = Reader(id_)
        await reader.read(saving)
        outcome = reader.sent[-1].data["data"]["outcome"]
        assert outcome["review"]["operation"]["state"] == "confirmed"
        assert outcome["completeness"] == "complete"
        assert place.methods[:2] == ["PUT", "GET"]
        puts = [asked for asked in place.requests if asked.method == "PUT"]
        assert len(puts) == (1 if arrived else 2)
        assert len({put.headers["Idempotency-Key"] for put in puts}) == 1
        assert all(put.headers.get("If-None-Match") == "*" for put in puts[1:])
        assert place.stored() == DRAFT.encode()


async def test_what_an_end_left_open_is_looked_after_by_the_next_start(saving: Service) -> None:
    with Destination() as place:
        place.on_put(Put.lost(stores=True))
        place.on_get(Get.status(503))
        id_ = await saving.open(**wish(place.url, limits={"seconds": 2}))
        reader = Reader(id_)
        await reader.read(saving)
        outcome = reader.sent[-1].data["data"]["outcome"]
        assert outcome["review"]["operation"]["state"] == "unknown"
        await saving.kill()
        place.on_get(Get())
        asked = len(place.requests)
        await saving.start()
        await place.requests_arrived(asked + 1)
        await saving.terminate()
        assert place.methods.count("PUT") == 1
        await saving.start()
        (record,) = (await saving.get(f"/v1/meetings/{id_}/operations")).json()["items"]
        assert record["state"] == "confirmed"
        told = (await saving.get(f"/v1/meetings/{id_}/events", accept="application/json")).json()
        assert told["items"][-1]["type"] == "meeting.ended"
