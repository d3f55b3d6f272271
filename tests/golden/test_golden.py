"""Logs that earlier versions wrote must replay under this one, step for step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.domain.meeting.events import (
    COMPLETION_CLOSED,
    DECISION_RECORDED,
    OFFICE_REPLIED,
    REPLY_RECEIVED,
    Entry,
    Event,
)
from app.formats import FORMATS
from tests.coordinator.table import Table
from tests.golden.recording import PLAYS, names, read

_ANSWERS = frozenset({REPLY_RECEIVED, OFFICE_REPLIED})


def _decision(entries: Sequence[Entry]) -> int:
    return next(i for i, entry in enumerate(entries) if entry.type == DECISION_RECORDED)


def _after_the_last_answer(entries: Sequence[Entry]) -> int:
    return max(i for i, entry in enumerate(entries) if entry.type in _ANSWERS) + 1


async def _replayed(name: str, cut: int, folder: Path) -> Sequence[Event]:
    """The golden log's first entries, and what this version makes of them.

    Nobody is there to be asked: whatever would be put to anyone has to be in the log.
    """
    golden = read(name)
    meeting_id = golden[0].data["id"]
    table = Table(folder)
    await table.log.append(meeting_id, 0, golden[:cut])
    await table.runner.advance(meeting_id)
    replayed = await table.archive.log(meeting_id)
    await table.close()
    assert table.agents["secretary"].requests == []
    return replayed


@pytest.mark.parametrize("name", names())
async def test_a_golden_log_replays_to_the_same_end(name: str, tmp_path: Path) -> None:
    golden = read(name)
    cut = _decision(golden)
    replayed = await _replayed(name, cut, tmp_path)
    assert [entry.type for entry in replayed] == [entry.type for entry in golden]
    assert _told(replayed[cut]) == _told(golden[cut])


@pytest.mark.parametrize("name", names())
async def test_what_follows_from_the_answers_is_the_same_again(name: str, tmp_path: Path) -> None:
    """The counts, how the gate closes on the closing questions' answers, and the decision."""
    golden = read(name)
    replayed = await _replayed(name, _after_the_last_answer(golden), tmp_path)
    assert [(entry.type, entry.step, entry.fingerprint) for entry in replayed] == [
        (entry.type, entry.step, entry.fingerprint) for entry in golden
    ]
    upto = _decision(golden)
    assert [entry.data for entry in replayed[:upto]] == [entry.data for entry in golden[:upto]]
    assert _told(replayed[upto]) == _told(golden[upto])


def _told(decision: Entry) -> dict[str, object]:
    """What was decided; the time it took is the clock's of the day."""
    return {key: value for key, value in decision.data.items() if key != "spent"}


def test_there_is_a_golden_log_of_every_format() -> None:
    assert {name.rpartition("-")[0] for name in names()} == set(FORMATS)
    assert set(PLAYS) <= set(names())


def test_a_golden_log_goes_through_a_gate_that_was_refused_once() -> None:
    (closed,) = [entry.data for entry in read("council-1") if entry.type == COMPLETION_CLOSED]
    assert (closed["status"], closed["attempt"]) == ("consensus_complete", 2)
