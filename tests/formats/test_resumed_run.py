"""Resumed over a real log: cancelled after any append, a meeting of any format ends as it would."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.coordinator.resuming import ResumeMeeting
from app.domain.errors import MeetingEnded
from app.domain.meeting.entries import Event
from app.domain.meeting.events import ReplyReceived, RoundClosed, RoundStarted
from app.domain.meeting.history import rounds_record
from app.domain.meeting.meeting import Limits
from tests.coordinator.table import Table, ended, stances
from tests.coordinator.test_crash import lived
from tests.golden.recording import PLAYS

WISH = ResumeMeeting("permission", "They may go on.")


@pytest.mark.parametrize("name", PLAYS)
async def test_cancelled_after_any_append_it_goes_on_to_its_end(name: str, tmp_path: Path) -> None:
    play = PLAYS[name]
    whole = Table(_folder(tmp_path, 0), **play.behaviours)
    expected = ended(await whole.hold(**play.wish))
    await whole.close()
    appends = 0
    while True:
        appends += 1
        held = Table(_folder(tmp_path, appends), **play.behaviours)
        log, decided = await _cancelled_and_resumed(held, play.wish, appends)
        await held.close()
        if decided:
            break
        assert _told(ended(log)) == _told(expected)
        said = [
            e.step for e in log if e.type == ReplyReceived.type and (e.step or "")[:6] == "round-"
        ]
        rounds = [
            (e.type, e.data["round"])
            for e in log
            if e.type in (RoundStarted.type, RoundClosed.type)
        ]
        assert max(Counter(said).values(), default=1) == 1
        assert max(Counter(rounds).values(), default=1) == 1
    assert appends > 3


async def _cancelled_and_resumed(
    held: Table, wish: Mapping[str, Any], appends: int
) -> tuple[Sequence[Event], bool]:
    """The public log, and whether it had been decided before anybody could cancel it."""
    meeting_id = (await held.open(**wish)).meeting.id
    await lived(held, meeting_id, appends)
    try:
        await held.service.cancel(meeting_id, None)
    except MeetingEnded:
        return await held.events(meeting_id), True
    await held.runner.advance(meeting_id)
    await held.service.resume(meeting_id, WISH)
    await held.runner.advance(meeting_id)
    return await held.events(meeting_id), False


def _told(outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    told = {key: outcome[key] for key in ("result", "stopped_by", "consensus")}
    if "council" in outcome:
        # Its members were told to ask for a revision only once, whichever closing that was in.
        return told
    return {**told, "decision": outcome["decision"]}


def _folder(tmp_path: Path, number: int) -> Path:
    folder = tmp_path / str(number)
    folder.mkdir()
    return folder


async def test_who_was_kept_out_by_the_budget_is_asked_once_there_is_money(tmp_path: Path) -> None:
    """In a round that a cancel cut off, and that goes on with a raised limit."""
    held = Table(_folder(tmp_path, 0), a=stances("AGREE"), b=lambda _: None, c=stances("AGREE"))
    state = await held.open(limits=Limits(tokens=3_500))
    meeting_id = state.meeting.id
    run = asyncio.create_task(held.runner.advance(meeting_id))
    await held.agents["b"].asked.wait()
    kept_out = await _kept_out(held, meeting_id)
    await held.service.cancel(meeting_id, None)
    held.runner.hear(meeting_id)
    await run
    held.agents["b"].behave = stances("AGREE")
    raised = ResumeMeeting("limits", "There is more money.", {"tokens": 100_000})
    await held.service.resume(meeting_id, raised)
    await held.runner.advance(meeting_id)
    assert not held.agents[kept_out].requests[1:], "asked for the first time"
    outcome = ended(await held.events(meeting_id))
    assert (outcome["consensus"], outcome["stopped_by"]) == ("FULL_CONSENSUS", "consensus")
    (first,) = rounds_record(await held.log.read(meeting_id))
    assert [reply["status"] for reply in first["replies"]] == ["ok", "ok", "ok"]
    await held.close()


async def _kept_out(held: Table, meeting_id: str) -> str:
    """The participant whose request had no room, as soon as the log says so."""
    while True:
        for entry in await held.log.read(meeting_id):
            if entry.type == ReplyReceived.type and entry.data["status"] == "budget":
                return entry.data["participant"]
        await asyncio.sleep(0)
