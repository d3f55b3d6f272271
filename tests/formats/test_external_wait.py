"""A save that is waited for (PROTOCOLS 11, external wait): told once of each end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from app.coordinator.resuming import ResumeMeeting
from app.domain.meeting import events
from app.domain.operation.terms import Finding, Look
from tests.coordinator.place import Put
from tests.coordinator.saved_review import open_review, review_table, to_the_end
from tests.coordinator.table import Table, ended, of_type, secretary
from tests.coordinator.test_crash import lived


def unsure(folder: Path) -> Table:
    """At whose destination nobody can tell what has arrived."""
    folder.mkdir()
    held = review_table(folder)
    held.place.on_write = [Put.lost(stores=False)]
    held.place.on_look = [Finding(Look.NO_ANSWER, "The destination answered 500.")]
    return held


async def waiting(folder: Path) -> tuple[Table, str]:
    """A review that has come to the check deadline of its save."""
    held = unsure(folder)
    meeting_id = (await open_review(held)).meeting.id
    await held.runner.advance(meeting_id)
    held.clock.advance(30)
    return held, meeting_id


async def told(held: Table, meeting_id: str) -> list[dict[str, Any]]:
    public = await held.events(meeting_id)
    return [{"step": e.step, **e.data} for e in of_type(public, events.ProgressStalled.type)]


async def test_it_is_told_once_whenever_the_process_dies(tmp_path: Path) -> None:
    deaths, survived = 0, False
    while not survived:
        deaths += 1
        held, meeting_id = await waiting(tmp_path / str(deaths))
        survived = await lived(held, meeting_id, deaths)
        await to_the_end(held, meeting_id)
        (wait,) = await told(held, meeting_id)
        expected = ended(await held.events(meeting_id))["review"]["external_wait"]
        assert {key: wait[key] for key in expected} == expected
        assert (wait["kind"], wait["step"]) == ("external_wait", "save/stalled")
        await held.close()
    assert deaths > 4


async def test_a_resumed_review_tells_of_its_own_wait(tmp_path: Path) -> None:
    """Cancelled while the synthesis is drafted, with the save handed over."""
    held, meeting_id = await waiting(tmp_path / "held")
    held.agents["secretary"].behave = lambda _: None
    run = asyncio.create_task(to_the_end(held, meeting_id))
    await held.agents["secretary"].asked.wait()
    await held.service.cancel(meeting_id, None)
    held.runner.hear(meeting_id)
    await run
    assert len(await told(held, meeting_id)) == 1
    assert ended(await held.events(meeting_id))["result"] == "cancelled"
    held.agents["secretary"].behave = secretary
    wish = ResumeMeeting("permission", "It may be saved after all.", acknowledge_unknown=True)
    await held.service.resume(meeting_id, wish)
    await to_the_end(held, meeting_id)
    first, second = await told(held, meeting_id)
    outcome = ended(await held.events(meeting_id))
    assert first["operation"] != second["operation"]
    assert second["operation"] == outcome["review"]["external_wait"]["operation"]
    assert (first["round"], second["round"], outcome["result"]) == (1, 1, "decided")
    await held.close()
