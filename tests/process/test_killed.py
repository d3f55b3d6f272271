"""``kill -9``, and a start on the same file: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.process.service import Reader, Service
from tests.store.meetings import Sent, numbers

# Only a guard: several starts of a process take their time on a busy machine.
pytestmark = pytest.mark.timeout(240)

WISH = {
    "topic": "Should the four services share one repository?",
    "participants": [{"name": name, "agent": "slow"} for name in ("ann", "ben", "cid")],
    "secretary": "slow",
}
MOMENTS: list[dict[str, Any]] = [
    {"type": "meeting.created"},
    {"type": "reply.received", "round": 1},
    {"type": "summary.updated"},
    {"type": "reply.received", "round": 2},
    {"type": "round.closed", "round": 3},
    {"type": "decision.recorded"},
]
TIMES = {"seconds", "deadline", "spent", "request_id", "id", "path", "at", "ended_at"}
"""What differs between two runs of one meeting."""


def _told(sent: Sequence[Sent]) -> list[tuple[str, str]]:
    """What the events say. The replies of a round may come in any order."""
    return sorted((one.event, repr(_lasting(one.data["data"]))) for one in sent)


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(each) for key, each in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [_lasting(each) for each in value]
    return value


async def test_a_meeting_goes_on_however_often_its_process_is_killed(service: Service) -> None:
    await service.agent("slow", delay_seconds=0.1)
    undisturbed = Reader(await service.open(**WISH))
    await undisturbed.read(service)

    id_ = await service.open(**WISH)
    reader = Reader(id_)
    for moment in MOMENTS:
        await reader.read(service, until=moment)
        await service.kill()
        await service.start()
    await reader.read(service)

    assert numbers(reader.sent) == list(range(1, len(undisturbed.sent) + 1))
    assert _told(reader.sent) == _told(undisturbed.sent)
    replies = Counter(
        (one.data["data"]["participant"], one.data["data"]["round"])
        for one in reader.sent
        if one.event == "reply.received"
    )
    assert set(replies.values()) == {1}
    assert len(replies) == 9
    _never_asked_again(service.log(id_))
    meeting = (await service.get(f"/v1/meetings/{id_}")).json()
    assert meeting["status"] == "ended"
    assert meeting["outcome"] == reader.sent[-1].data["data"]["outcome"]


def _never_asked_again(log: Sequence[tuple[int, str, str | None]]) -> None:
    """No request goes out once its reply stands in the log."""
    answered: set[str] = set()
    asked: Counter[str] = Counter()
    for _, type_, step in log:
        if type_ == "request.reserved":
            question = (step or "").removesuffix("/request")
            assert question not in answered
            asked[question] += 1
        elif type_ in ("reply.received", "office.replied"):
            assert step is not None
            assert step not in answered
            answered.add(step)
    assert asked.keys() == answered
    # Some were on their way when the process died, or this test has shown nothing.
    assert max(asked.values()) > 1


async def test_a_reader_whose_process_is_killed_knows_that_it_was_cut_off(
    service: Service,
) -> None:
    await service.agent("slow", delay_seconds=60)
    reader = Reader(await service.open(**WISH))
    reading = asyncio.create_task(reader.read(service))
    await Reader(reader._path.split("/")[3]).read(service, until={"type": "round.started"})
    await service.kill()
    with pytest.raises(httpx.TransportError):
        await reading


async def test_many_meetings_go_on_and_each_has_whole_minutes(service: Service) -> None:
    """Killed while meetings end, again and again: minutes are there in full or not at all."""
    await service.agent("slow", delay_seconds=0.02)
    ids = [await service.open(**WISH) for _ in range(12)]
    hidden = await service.open(**WISH, ephemeral=True)
    found: dict[Path, str] = {}
    for _ in range(3):
        # Whichever of them gets there first: others are at every other step.
        watching = [
            asyncio.create_task(Reader(id_).read(service, until={"type": "minutes.written"}))
            for id_ in ids
        ]
        await asyncio.wait(watching, return_when=asyncio.FIRST_COMPLETED)
        await service.kill()
        await asyncio.gather(*watching, return_exceptions=True)
        found |= {path: path.read_text() for path in service.files() if path.suffix == ".md"}
        await service.start()
    for id_ in (*ids, hidden):
        await Reader(id_).read(service)
    minutes: dict[Path, str] = {}
    for id_ in ids:
        events = (await service.get(f"/v1/meetings/{id_}/events", accept="application/json")).json()
        (path,) = [one["data"]["path"] for one in events["items"] if "path" in one["data"]]
        text = (await service.get(f"/v1/meetings/{id_}/minutes")).text
        minutes[service.folder / path] = text
    assert {path: path.read_text() for path in minutes} == minutes
    assert {path for path in service.files() if path.suffix == ".md"} == minutes.keys()
    assert not any(hidden in path.name for path in service.files())
    # What stood there when the process was killed was whole already.
    assert found
    assert found.items() <= minutes.items()
