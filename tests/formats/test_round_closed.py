"""What is told when a round closes: the same fields of every format (API, events)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.meeting.events import RoundClosed
from tests.coordinator.table import Table, of_type
from tests.golden.recording import PLAYS

TOLD = {"round", "motion", "stances", "counts", "consensus", "progress", "effective_participants"}
WITHOUT_STANCES = {"poll-1", "vote-1", "council-1", "review-1"}
WITHOUT_COUNTS = {"poll-1", "council-1", "review-1"}


@pytest.mark.parametrize("name", PLAYS)
async def test_every_format_tells_the_same_of_a_closed_round(name: str, tmp_path: Path) -> None:
    play = PLAYS[name]
    table = Table(tmp_path, **play.behaviours)
    closed = [each.data for each in of_type(await table.hold(**play.wish), RoundClosed.type)]
    await table.close()
    assert closed
    for data in closed:
        assert data.keys() >= TOLD
        assert bool(data["stances"]) is (name not in WITHOUT_STANCES)
        assert (data["counts"] is None) is (name in WITHOUT_COUNTS)
        assert (data["progress"] is None) is (name == "council-1")
