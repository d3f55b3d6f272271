"""What a reader finds in the records of a review, enough to re-count it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.coordinator.commands import SeatWanted
from app.coordinator.ports import Request
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Language
from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.coordinator.table import Table
from tests.formats.review.by_hand import CRITERIA, MATERIALS, judged, objection, written

LANGUAGES: tuple[Language, ...] = ("en", "ja")


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
    assert decision_json(log)["candidates"] == [
        {"id": "draft", "text": "The owner is Dee, round 3."}
    ]
    assert "**ben, round 1: blocking objection**" in markdown
    assert "| Round 1 | 2 of 2 | 1 | 0 | 0 | 0 |" in markdown


async def test_a_deliverable_is_not_the_title_of_its_record(tmp_path: Path) -> None:
    log = await review(tmp_path)
    assert decision_json(log)["title"] == "Should we use one repository?"
    assert "> The owner is Dee, round 1." in decision_markdown(log)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_record_can_be_made(tmp_path: Path, language: Language) -> None:
    log = await review(tmp_path, objection(), language=language)
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
