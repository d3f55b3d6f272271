"""What a reader finds in the records of councils and reviews, enough to re-count them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.coordinator.commands import SeatWanted
from app.coordinator.ports import Request
from app.domain.meeting.events import Event
from app.domain.meeting.meeting import CompletionGate, Language
from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.coordinator.gate_meeting import COMPLETE, COSTS, chair, member
from tests.coordinator.table import Table
from tests.formats.review.by_hand import CRITERIA, MATERIALS, judged, objection, written

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


async def review(folder: Path, *objections: Any, **fields: Any) -> Sequence[Event]:
    def author(request: Request) -> str:
        return written(f"The owner is Dee, round {request.round}.")

    def critic(request: Request) -> str:
        return judged(*objections) if request.round == 1 else judged()

    held = Table(folder, ann=author, ben=critic)
    state = await held.open(
        format="review", materials=MATERIALS, criteria=CRITERIA, seats=_seats(), **fields
    )
    try:
        await held.runner.advance(state.meeting.id)
        return await held.events(state.meeting.id)
    finally:
        await held.close()


def _seats() -> tuple[SeatWanted, ...]:
    return (
        SeatWanted(name="ann", role="author", agent="ann"),
        SeatWanted(name="ben", role="critic", agent="ben"),
    )


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
    assert "Try one repository, at 3,000 a year." in record["candidates"]
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


async def test_objections_stand_with_their_quotes_and_their_state(tmp_path: Path) -> None:
    log = await review(tmp_path, objection(), objection("never said", point="made up"))
    markdown = minutes_markdown(log)
    assert "| obj-1 | ben | raised | blocking |" in markdown
    assert "| obj-2 | ben | raised | blocking; quote not in the material |" in markdown
    listed = markdown.split("## Objections")[1]
    found, invented = (
        "where this stands word for word",
        "but this is not there, so it blocks nothing",
    )
    assert f"It rests on m1, version 1, {found}:\n\n> lasted 4 hours" in listed
    assert f"It quotes m1, version 1, {invented}:\n\n> never said" in listed
    assert "ben, blocking. Still open." in listed
    assert "| c1 | names an owner | yes | code: contains “owner” | pass |" in markdown
    assert "| c2 | is understandable | yes | critics | pass |" in markdown


async def test_a_review_that_did_not_pass_hands_its_last_draft_on(tmp_path: Path) -> None:
    log = await review(tmp_path, objection())
    markdown = minutes_markdown(log)
    assert "**Not decided.** The work stopped moving" in markdown
    assert "the talk stalled: stalemate. Rounds without progress: 2." in markdown
    assert "Blocking and open: obj-1." in markdown
    assert "**The last draft**\n\n> The owner is Dee, round 3." in markdown
    assert "The owner is Dee, round 3." in decision_json(log)["candidates"]
    assert "**ben, round 1: blocking objection**" in markdown
    assert "| Round 1 | 2 of 2 | 1 | 0 | 0 | 0 |" in markdown


async def test_a_deliverable_is_not_the_title_of_its_record(tmp_path: Path) -> None:
    log = await review(tmp_path)
    assert decision_json(log)["title"] == "Should we use one repository?"
    assert "> The owner is Dee, round 1." in decision_markdown(log)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_record_can_be_made(tmp_path: Path, language: Language) -> None:
    held = await council(tmp_path / "council", COSTS, language=language)
    judged_ = await review(tmp_path / "review", objection(), language=language)
    for log in (held, judged_):
        assert "{" not in minutes_markdown(log).split("\n## ")[1]
        assert minutes_html(log)
        assert minutes_json(log)["result"] == "undecided"
        assert decision_markdown(log)
    if language == "ja":
        for log in (held, judged_):
            ours = [
                line
                for line in minutes_markdown(log).split("\n")
                if line and not line.startswith((">", "|", "-", "id", "format"))
            ]
            assert not [line for line in ours if " is " in line or " the " in line]
