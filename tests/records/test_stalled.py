"""A meeting that stood still says so in every record, and which kind it was (PROTOCOLS 11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_json, minutes_markdown
from tests.coordinator.table import Table, stances


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The talk came to a standstill in round 3: stalemate."),
        ("ja", "議論は第3ラウンドで止まった：膠着。"),
    ],
)
async def test_the_same_split_again_and_again(tmp_path: Path, language: str, sentence: str) -> None:
    held = Table(tmp_path, a=stances("AGREE"), b=stances("DISAGREE"))
    state = await held.open(language=language)
    await held.runner.advance(state.meeting.id)
    log = await held.log.read(state.meeting.id)
    await held.close()
    for page in (decision_markdown(log), minutes_markdown(log)):
        assert sentence in page
    assert decision_json(log)["stalled"]["kind"] == "stalemate"
    assert minutes_json(log)["stalls"][0]["kind"] == "stalemate"
