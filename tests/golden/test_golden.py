"""Logs that earlier versions wrote must replay under this one, step for step."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.events import Entry
from tests.coordinator.table import Table
from tests.golden.recording import names, read


def _before_the_end(entries: list[Entry]) -> int:
    return next(i for i, entry in enumerate(entries) if entry.type == "decision.recorded")


@pytest.mark.parametrize("name", names())
async def test_a_golden_log_replays_to_the_same_end(name: str, tmp_path: Path) -> None:
    golden = read(name)
    cut = _before_the_end(golden)
    # Nobody is there to be asked: every result has to come from the log.
    table = Table(tmp_path)
    meeting_id = golden[0].data["id"]
    await table.log.append(meeting_id, 0, golden[:cut])
    await table.runner.advance(meeting_id)
    replayed = await table.archive.log(meeting_id)
    await table.close()
    assert [entry.type for entry in replayed] == [entry.type for entry in golden]
    assert _told(replayed[cut]) == _told(golden[cut])


def _told(decision: Entry) -> dict[str, object]:
    """What was decided; the time it took is the clock's of the day."""
    return {key: value for key, value in decision.data.items() if key != "spent"}


def test_there_is_a_golden_log_of_every_format() -> None:
    assert {name.rpartition("-")[0] for name in names()} >= {"roundtable"}
