"""What a reader finds in the records of a council, enough to re-count it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.coordinator.commands import SeatWanted
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import CompletionGate, Language
from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.coordinator.gate_meeting import COMPLETE, COSTS, chair, member
from tests.coordinator.table import Table

LANGUAGES: tuple[Language, ...] = ("en", "ja")


async def council(folder: Path, *second: str, **fields: Any) -> Sequence[Event]:
    """Three members; one asks for a revision, then all say ``second``."""
    held = Table(folder, **{name: member(COSTS, *second) for name in "abc"})
    held.agents["secretary"].behave = chair
    try:
        events = await held.hold(format="council", completion_gate=CompletionGate(), **fields)
    finally:
        await held.close()
    return events


async def test_rankings_can_be_recounted_from_the_minutes(tmp_path: Path) -> None:
    markdown = minutes_markdown(await council(tmp_path, COMPLETE))
    second = markdown.split("## Round 2")[1].split("## Outcome")[0]
    assert "| Reviewer | A | B |" in second
    assert "| Place | Answer of | Mean rank | Ranked by |" in second
    assert second.count("\n| a |") == 3  # its ballot, its letters, its ranking by author
    assert "completion" not in second  # the closing question is no part of the round


async def test_the_closing_question_has_a_table_of_its_own(tmp_path: Path) -> None:
    markdown = minutes_markdown(await council(tmp_path, COMPLETE))
    asked = markdown.split("## Was it complete?")[1]
    assert asked.count("| 1 | a | asks for a revision | It leaves out the costs. |") == 1
    assert "| 2 | a | says it is complete | – |" in asked
    assert "Closed as complete (consensus_complete)." in asked


async def test_an_unconfirmed_synthesis_reads_as_no_decision(tmp_path: Path) -> None:
    log = await council(tmp_path, COSTS)
    markdown = minutes_markdown(log)
    first = markdown.split("## Read this first")[1].split("## ")[0]
    assert "Still asking for a revision: a, b, c." in first
    assert "**Not decided.** The council ran to its end without a synthesis" in markdown
    assert "**a: asks for a revision**" in markdown
    record = decision_json(log)
    assert record["decision"] is None
    assert record["candidates"] == [
        {"id": "synthesis", "text": "Try one repository, at 3,000 a year."}
    ]
    assert record["council"]["completion"]["status"] == "closed_incomplete"


async def test_a_replaced_chair_is_the_first_thing_said(tmp_path: Path) -> None:
    held = Table(tmp_path, a=member(COMPLETE), b=member(COMPLETE), judge=lambda _: "no")
    held.agents["secretary"].behave = chair
    seats = tuple(SeatWanted(name=name, agent=name) for name in "ab")
    events = await held.hold(format="council", chair="judge", seats=seats)
    await held.close()
    first = minutes_markdown(events).split("## Read this first")[1].strip().split("\n")[0]
    assert first == (
        "- The chair (judge) gave no synthesis that could be used. The secretary took its place."
    )


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_record_can_be_made(tmp_path: Path, language: Language) -> None:
    log = await council(tmp_path, COSTS, language=language)
    assert "{" not in minutes_markdown(log).split("\n## ")[1]
    assert minutes_html(log)
    assert minutes_json(log)["result"] == "undecided"
    assert decision_markdown(log)
    if language == "ja":
        ours = [
            line
            for line in minutes_markdown(log).split("\n")
            if line and not line.startswith((">", "|", "-", "id", "format"))
        ]
        assert not [line for line in ours if " is " in line or " the " in line]
