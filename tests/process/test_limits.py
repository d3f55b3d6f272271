"""A limit holds however often the process is ended, by ``kill -9`` or as an operator would."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import pytest

from tests.process.service import Reader, Service

# Only a guard: several starts of a process take their time on a busy machine.
pytestmark = pytest.mark.timeout(240)

LIMIT = 5_000
"""Tokens. A question to a rehearsal takes half of them at its worst, so one has room beside what is
set aside for the closing."""

WISH = {
    "topic": "Should the four services share one repository?",
    "participants": [{"name": name, "agent": "slow"} for name in ("ann", "ben")],
    "secretary": "slow",
    "limits": {"tokens": LIMIT, "rounds": 3},
}
RESTARTS = 8


async def _kill(service: Service) -> None:
    await service.kill()


async def _terminate(service: Service) -> None:
    assert await service.terminate() == 0


def reserved(service: Service, meeting_id: str) -> list[int]:
    """The most that each sending could take, in tokens."""
    query = "SELECT data FROM event WHERE meeting_id = ? AND type = 'request.reserved' ORDER BY seq"
    with closing(sqlite3.connect(service.database)) as database:
        rows = [json.loads(row[0]) for row in database.execute(query, (meeting_id,))]
    costs = [row["reserved"] for row in rows]
    return [cost["input_tokens"] + cost["output_tokens"] for cost in costs]


async def until_asked(service: Service, meeting_id: str, times: int = 1) -> dict[str, Any]:
    """The meeting once somebody has been asked so often, or it has ended."""
    while True:
        meeting = (await service.get(f"/v1/meetings/{meeting_id}")).json()
        if meeting["status"] == "ended" or len(reserved(service, meeting_id)) >= times:
            return meeting
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("end", [_kill, _terminate], ids=["killed", "terminated"])
async def test_restarts_send_no_more_than_the_limit(
    service: Service, end: Callable[[Service], Awaitable[None]]
) -> None:
    await service.agent("slow", delay_seconds=60)
    id_ = await service.open(**WISH)
    meeting = await until_asked(service, id_)
    for number in range(RESTARTS):
        if meeting["status"] != "ended":
            await end(service)
            await service.start()
            meeting = await until_asked(service, id_, times=number + 2)
    (most,) = reserved(service, id_)
    assert 2_000 < most <= LIMIT * 4 / 5
    spent = meeting["spent"]
    assert spent["unconfirmed"] == {"requests": 1, "usd": "0", "tokens": most}
    assert sum(spent["tokens"].values()) == most
    assert meeting["remaining"]["tokens"] == LIMIT - most
    assert (meeting["outcome"]["result"], meeting["outcome"]["stopped_by"]) == (
        "undecided",
        "budget",
    )
    decision = (await service.get(f"/v1/meetings/{id_}/decision")).json()
    assert decision["spent"] == spent
    minutes = (await service.get(f"/v1/meetings/{id_}/minutes")).text
    assert f"(unconfirmed): 1, with {most} tokens and 0 USD" in minutes


async def test_with_room_it_is_asked_again_and_both_are_counted(service: Service) -> None:
    await service.agent("slow", delay_seconds=0.5)
    id_ = await service.open(**WISH | {"limits": {"tokens": 100_000, "rounds": 1}})
    await until_asked(service, id_)
    await service.kill()
    await service.start()
    await Reader(id_).read(service)
    meeting = (await service.get(f"/v1/meetings/{id_}")).json()
    sent = reserved(service, id_)
    booked = [type_ for _, type_, _ in service.log(id_)].count("request.unanswered")
    assert booked == meeting["spent"]["unconfirmed"]["requests"] > 0
    assert meeting["spent"]["unconfirmed"]["tokens"] == sum(sent[:booked])
    assert sum(meeting["spent"]["tokens"].values()) > sum(sent[:booked])
    assert meeting["outcome"]["result"] != "failed"
