"""A meeting that stalled says so in every record, and how it did (PROTOCOLS 11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Language, Limits
from app.domain.rounds.progress import Stall, StallKind
from app.records.catalogue import words_in
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json, handoff_markdown
from app.records.minutes import minutes_json, minutes_markdown
from tests.coordinator.table import Table
from tests.coordinator.table import stances as behaves
from tests.records.held import (
    Log,
    answers,
    decided_otherwise,
    decision_of,
    held,
    meeting,
    stances,
    told,
)
from tests.records.ruled import PERSON, put

SPLIT = stances("AGREE", "DISAGREE", "NEUTRAL")
CIRCLE = Stall(StallKind.MUTUAL_WAIT, 3, 2, waiting=("ann", "ben", "c*d"))
REOPENED = Stall(StallKind.CIRCULAR, 3, 2, reopened=("obj-1", "obj-2"))
OUTSIDE = Stall(
    StallKind.EXTERNAL_WAIT,
    3,
    operation="op_1",
    owner="dee",
    next_check_at="2026-12-01T09:00:00Z",
)
TOLD = [
    ("en", CIRCLE, "waiting for each other (ann waits for ben, ben waits for c\\*d, c\\*d waits"),
    ("ja", CIRCLE, "相互待ち（ann が ben を待つ、ben が c\\*d を待つ、c\\*d が ann を待つ）"),
    ("en", REOPENED, "going in circles (reopened: obj-1, obj-2)"),
    ("ja", REOPENED, "堂々巡り（再提起：obj-1、obj-2）"),
]


def in_three_rounds(language: Language = "en") -> list[Event]:
    """Undecided when its rounds are over; whether it stalled is for the caller to say."""
    limits = Limits(rounds=3, no_progress_rounds=9)
    return held(meeting(language=language, limits=limits), answers([SPLIT] * 3))


def stalled(language: Language, stall: Stall) -> list[Event]:
    """A meeting that ended in this stall."""
    decided = in_three_rounds(language)
    log = Log(meeting(language=language), answers([]), decided[:-1])
    log.tell(events.ProgressStalled(stall=stall))
    log.tell(decided_otherwise(decision_of(decided), stalled=stall))
    return log.events


def waiting(language: Language = "en") -> list[Event]:
    """A round table that stalled, whose question is open."""
    limits = Limits(rounds=9, no_progress_rounds=2)
    table = meeting(language=language, limits=limits, arbiter=PERSON, motion="One repository.")
    return put(table, answers([SPLIT] * 9), waits=True)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "The talk stalled in round 3: stalemate."),
        ("ja", "議論は第3ラウンドで止まった：膠着。"),
    ],
)
async def test_the_same_split_again_and_again(tmp_path: Path, language: str, sentence: str) -> None:
    held = Table(tmp_path, a=behaves("AGREE"), b=behaves("DISAGREE"))
    state = await held.open(language=language)
    await held.runner.advance(state.meeting.id)
    log = await held.log.read(state.meeting.id)
    resource = await held.archive.state(state.meeting.id)
    await held.close()
    for page in (decision_markdown(log), minutes_markdown(log), handoff_markdown(log)):
        assert page.count(sentence) == 1
    assert decision_json(log)["stalled"]["kind"] == "stalemate"
    assert handoff_json(log)["stalled"]["kind"] == "stalemate"
    assert minutes_json(log)["stalls"][0]["kind"] == "stalemate"
    assert resource.outcome is not None
    stall = resource.outcome.record()["stalled"]
    assert decision_json(log)["stalled"] == stall == minutes_json(log)["outcome"]["stalled"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_while_its_question_is_open_the_handoff_says_how_it_stalled(language: Language) -> None:
    log = waiting(language)
    assert handoff_json(log)["status"] == "awaiting_ruling"
    stall = handoff_json(log)["stalled"]
    assert (stall["kind"], stall["round"]) == ("stalemate", 3)
    words = words_in(language)
    sentence = words("open.stalled", how=words("stall.stalemate"), round=3)
    standing = handoff_markdown(log).split(f"## {words('heading.standing')}\n")[1]
    assert sentence in standing.split("\n## ")[0]
    assert sentence in handoff_json(log)["open_points"]


@pytest.mark.parametrize(("language", "stall", "sentence"), TOLD)
def test_who_waits_and_what_came_back_is_named(
    language: Language, stall: Stall, sentence: str
) -> None:
    log = stalled(language, stall)
    for page in (decision_markdown(log), minutes_markdown(log), handoff_markdown(log)):
        assert sentence in page
    assert minutes_markdown(log).count(sentence) == 2  # in its round, and among what is open
    assert handoff_json(log)["stalled"] == decision_json(log)["stalled"] == stall.record()


def test_a_kind_and_fields_that_nobody_knows_are_told_as_they_are() -> None:
    log = stalled("en", Stall.read({"kind": "*new*", "round": 2, "new": True}))
    assert "The talk stalled in round 2: \\*new\\*." in decision_markdown(log)
    assert "In this round the talk stalled: \\*new\\*." in minutes_markdown(log)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "After this round it was waiting for something outside, which is no stall. dee"),
        ("ja", "このラウンドの後は外部待ちであり、議論が止まったのではない。担当は dee、"),
    ],
)
def test_waiting_for_something_outside_is_told_of_its_round_and_is_no_stall(
    language: Language, sentence: str
) -> None:
    *before, decided = in_three_rounds(language)
    log = Log(meeting(language=language), answers([]), before)
    log.tell(events.ProgressStalled(stall=OUTSIDE))
    log.tell(decided.content)
    words = words_in(language)
    minutes = minutes_markdown(log.events)
    assert sentence in minutes.split(f"## {words('heading.round', round=3)}\n")[1]
    begins = words("open.stalled", how="\0", round=3).split("\0")[0]
    for page in (minutes, decision_markdown(log.events), handoff_markdown(log.events)):
        assert begins not in page
    assert decision_json(log.events)["stalled"] is handoff_json(log.events)["stalled"] is None


def test_what_stalled_an_earlier_leg_is_none_of_the_present_one() -> None:
    ended = Log(meeting(), answers([]), stalled("en", REOPENED))
    ended.end()
    ended.resume()
    going_on = ended.events
    opened = told(waiting(), events.ArbitrationOpened)
    again = Log(meeting(), answers([]), list(going_on))
    again.tell(opened)
    assert handoff_json(again.events)["stalled"] is None
    stalled_again = Log(meeting(), answers([]), list(going_on))
    stalled_again.tell(events.ProgressStalled(stall=CIRCLE))
    stalled_again.tell(opened)
    assert handoff_json(stalled_again.events)["stalled"] == CIRCLE.record()
    assert [each["kind"] for each in minutes_json(again.events)["stalls"]] == ["circular"]
