"""A review's part of the records, laid out as readers get it (PROTOCOLS 9, 11 and 15)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.domain.ending.arbitration import Choice
from app.domain.meeting.entries import Event
from app.domain.meeting.history import History, history, side_by_side
from app.domain.meeting.meeting import Language, Limits, Material
from app.domain.replies.reading import ReplyStatus
from app.formats.review.record import ReviewRecord
from app.formats.review.standing import objections_now, open_objections
from app.formats.review.story import FORMAT
from app.formats.shared.sides import Argument, Excerpt, Side
from app.records.catalogue import words_of
from app.records.listings import objections_record
from app.records.verdict import headline
from tests.formats.laid_out import laid_out
from tests.formats.review.by_hand import judged, objection, review, rounds, written
from tests.records.held import Log, decided_otherwise
from tests.records.ruled import put

RECORD = ReviewRecord()
LANGUAGES: tuple[Language, ...] = ("en", "ja")
FIRST = {
    "ann": written("A draft.", open=["who pays"]),
    "ben": judged(
        objection(),
        objection("not there", severity="minor", material="m9", point="made up", resolves_when=""),
    ),
    "cy": judged(objection("", severity="preference", point="too long")),
}
SECOND = {
    "ann": written(changes=[{"objection": "obj-1", "change": "says four hours"}]),
    "ben": judged(closed=["obj-1"]),
    "cy": judged(criteria={"c2": "fail"}),
}


def log_of_two_rounds(**fields: Any) -> list[Event]:
    return put(review(**({"rounds": 2} | fields)), rounds(FIRST, SECOND))


def log_of_a_reopening() -> list[Event]:
    """What one critic closes comes back from the other, in the next round."""
    third = {**SECOND, "ben": judged(), "cy": judged(objection(point="again"))}
    return put(review(rounds=3), rounds(FIRST, SECOND, third))


def judged_twice(**fields: Any) -> History:
    return history(log_of_two_rounds(**fields))


def reopened() -> History:
    return history(log_of_a_reopening())


def test_the_format_is_shown_by_this_record() -> None:
    assert isinstance(FORMAT.record, ReviewRecord)


# --- a round ------------------------------------------------------------------------------------

ROUND = {
    "en": """\
Progress: obj-1 was resolved, the result of criterion c1 changed, the result of criterion c2 \
changed.

| Objection | Critic | What happened | Severity |
| --- | --- | --- | --- |
| obj-1 | ben | resolved | blocking |

| Criterion | What it asks | Required | Judged by | Result |
| --- | --- | --- | --- | --- |
| c1 | names an owner | yes | code: contains “owner” | pass |
| c2 | is understandable | yes | critics | fail |""",
    "ja": """\
進展：obj-1 が解消した、基準 c1 の結果が変わった、基準 c2 の結果が変わった。

| 指摘 | 評者 | 経過 | 重さ |
| --- | --- | --- | --- |
| obj-1 | ben | 解消 | blocking（このままでは出せない） |

| 基準 | 内容 | 必須 | 判定 | 結果 |
| --- | --- | --- | --- | --- |
| c1 | names an owner | はい | プログラム：「owner」を含む | 合格 |
| c2 | is understandable | はい | 評者 | 不合格 |""",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_round_shows_what_was_done_and_how_the_criteria_came_out(language: Language) -> None:
    past = judged_twice(language=language)
    assert laid_out(RECORD.counted_in_round(past, past.rounds[1]), language) == ROUND[language]


def test_an_unsupported_objection_is_told_as_one() -> None:
    past = judged_twice()
    told = laid_out(RECORD.counted_in_round(past, past.rounds[0]))
    assert "| obj-2 | ben | raised | minor; quote not in the material |" in told


def test_what_an_author_returned_is_taken_apart() -> None:
    past = judged_twice()
    first, second = (held.replies[0] for held in past.rounds)
    assert laid_out(RECORD.reply_parts(first)) == (
        "**Draft**\n\n> A draft.\n\n**Left open by the author**\n\n- who pays"
    )
    assert laid_out(RECORD.reply_parts(second)) == (
        "**Draft**\n\n> The owner is Dee.\n\n**What was changed**\n\n- obj-1: says four hours"
    )
    critic = past.rounds[0].replies[1]
    assert RECORD.taken_apart(first)
    assert not RECORD.taken_apart(critic)
    assert laid_out(RECORD.reply_parts(critic)) == ""
    assert RECORD.columns(first) == {}


# --- what came of it ----------------------------------------------------------------------------

COMPARED = {
    "en": """\
## Round by round

| Round | Criteria that pass | Open: blocking | Open: minor | Open: preference | \
Open: unsupported |
| --- | --- | --- | --- | --- | --- |
| Round 1 | 1 of 2 | 1 | 0 | 0 | 2 |
| Round 2 | 1 of 2 | 0 | 0 | 0 | 2 |""",
    "ja": """\
## ラウンドごとの推移

| ラウンド | 合格した基準 | 未解消：blocking | 未解消：minor | 未解消：preference | \
未解消：裏づけなし |
| --- | --- | --- | --- | --- | --- |
| 第1ラウンド | 1/2 | 1 | 0 | 0 | 2 |
| 第2ラウンド | 1/2 | 0 | 0 | 0 | 2 |""",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_round_stands_beside_the_others(language: Language) -> None:
    past = judged_twice(language=language)
    assert laid_out(RECORD.comparison(past, 2), language) == COMPARED[language]


def test_a_review_without_criteria_has_no_share_of_them() -> None:
    past = judged_twice(criteria=(), rounds=1)
    assert "| Round 1 | – | 1 | 0 | 0 | 2 |" in laid_out(RECORD.comparison(past, 3))
    assert laid_out(RECORD.numbers(past)).startswith("Blocking and open: obj-1.")


def test_a_draft_that_did_not_pass_is_shown_with_what_blocks_it() -> None:
    numbers = laid_out(RECORD.numbers(judged_twice(rounds=1)))
    assert numbers.endswith("Blocking and open: obj-1.\n\n**The last draft**\n\n> A draft.")
    passed = history(put(review(), rounds({})))
    assert laid_out(RECORD.numbers(passed)).endswith("No objection blocks it.")


OBJECTIONS = """\
## Objections

### obj-1

ben, blocking. Resolved in round 2.

> the duration is missing

It rests on m1, version 1, where this stands word for word:

> lasted 4 hours

It is resolved when:

> it says four hours

### obj-2

ben, minor. Still open.

> made up

It quotes m9, but this is not there, so it blocks nothing:

> not there

### obj-3

cy, preference. Still open.

> too long

It quotes no material, so it blocks nothing.

It is resolved when:

> it says four hours"""


def test_every_objection_stands_with_what_it_rests_on() -> None:
    assert laid_out(RECORD.at_the_end(judged_twice())) == OBJECTIONS


def test_the_objections_in_japanese() -> None:
    told = laid_out(RECORD.at_the_end(judged_twice(language="ja")), "ja").split("\n\n")
    assert told[:3] == [
        "## 指摘",
        "### obj-1",
        "ben。blocking（このままでは出せない）。第2ラウンドで解消した。",
    ]
    assert told[4] == "根拠：m1（1版） に一字一句この文がある。"


def test_an_objection_that_came_back_says_when_and_by_whom() -> None:
    told = laid_out(RECORD.at_the_end(reopened()))
    assert "### obj-1\n\ncy, blocking. Still open. Reopened in: 3.\n\n> again" in told


def test_without_objections_there_is_no_section() -> None:
    assert list(RECORD.at_the_end(history(put(review(), rounds({}))))) == []


# --- how the objections stand -------------------------------------------------------------------


@pytest.mark.parametrize(
    "log",
    [log_of_two_rounds(), log_of_two_rounds(rounds=1), log_of_a_reopening()],
    ids=["resolved", "open", "reopened"],
)
def test_list_outcome_handoff_and_minutes_say_the_same_of_every_objection(log: list[Event]) -> None:
    past, listed = history(log), objections_record(history(log))
    without_time = [
        {key: value for key, value in each.items() if key != "changed_at"} for each in listed
    ]
    assert without_time == past.numbers["objections"]
    assert without_time == [told.objection.record() for told in objections_now(past)]
    still_open = [each["id"] for each in listed if each["state"] == "open"]
    critics = [side for side in RECORD.sides(past) if side.position == "critics"]
    assert still_open == [each.objection for side in critics for each in side.arguments]
    blocking = [told.objection.id for told in open_objections(past) if told.objection.blocks]
    assert blocking == past.numbers["open_blocking"]
    settled = [each["id"] for each in RECORD.settled(past) if each["kind"] == "resolved"]
    assert settled == [each["id"] for each in listed if each["state"] == "closed"]
    assert laid_out(RECORD.at_the_end(past)).count("Still open.") == len(still_open)


def test_an_objection_is_listed_with_the_round_it_came_up_in_and_told_by_its_latest() -> None:
    listed = objections_record(reopened())
    assert (listed[0]["round"], listed[0]["critic"], listed[0]["reopened_in"]) == (1, "cy", [3])
    assert listed[0]["changed_at"] > listed[1]["changed_at"]
    told = objections_now(reopened())[0]
    assert (told.happened, told.round, told.objection.round) == ("reopened", 3, 1)


# --- for whoever decides ------------------------------------------------------------------------


def test_both_sides_with_the_words_at_stake() -> None:
    past = reopened()
    assert RECORD.sides(past) == [
        Side("author", ("ann",), (Argument("ann", "says four hours"),)),
        Side(
            "critics",
            ("cy", "ben"),
            (
                Argument("cy", "again", "it says four hours", "obj-1", "blocking", "supported"),
                Argument("ben", "made up", None, "obj-2", "minor", "unsupported"),
                Argument(
                    "cy", "too long", "it says four hours", "obj-3", "preference", "unsupported"
                ),
            ),
        ),
    ]
    assert RECORD.excerpts(past) == [Excerpt("m1", 3, "lasted 4 hours", "1", "obj-1")]


def test_a_quote_stands_with_the_version_of_its_material_that_was_read() -> None:
    meeting = review(rounds=1)
    log = Log(meeting, rounds(FIRST), put(meeting, rounds(FIRST)))
    changed = Material("m1", "2", "It lasted five hours.")
    limits = replace(meeting.limits, rounds=2)
    log.resume(1, 1, materials=(changed,), limits=limits)
    assert [each.version for each in RECORD.excerpts(history(log.events))] == ["1"]


def test_criteria_as_the_last_closed_round_left_them() -> None:
    fields = {"required": True}
    assert RECORD.criteria(judged_twice()) == {
        "passed": [{"id": "c1", "text": "names an owner", **fields, "result": "pass"}],
        "open": [{"id": "c2", "text": "is understandable", **fields, "result": "fail"}],
    }


def test_what_was_agreed_and_what_was_met_is_settled() -> None:
    assert RECORD.settled(judged_twice()) == [
        {"kind": "agreed", "text": "a trial"},
        {"kind": "resolved", "id": "obj-1", "text": "the duration is missing"},
    ]


def test_the_one_candidate_is_the_whole_of_the_latest_draft() -> None:
    long = "The draft. " * 100
    past = history(put(review(rounds=1), rounds({**FIRST, "ann": written(long)})))
    assert RECORD.candidates(past) == [Choice("draft", long.strip())]
    shortened = laid_out(RECORD.candidates_page(past))
    assert shortened.startswith("- The draft. The draft.")
    assert len(shortened) <= len("- ") + 300
    assert laid_out(RECORD.candidates_in_full(past)) == f"> {long.strip()}"


@pytest.mark.parametrize(
    ("language", "none"), [("en", "None were named."), ("ja", "挙げられたものはない。")]
)
def test_without_a_draft_there_is_no_candidate(language: Language, none: str) -> None:
    silent = rounds({"ann": ReplyStatus.TIMEOUT})
    past = history(put(review(limits=Limits(rounds=1), language=language), silent))
    assert RECORD.candidates(past) == []
    assert laid_out(RECORD.candidates_page(past), language) == none
    assert laid_out(RECORD.candidates_in_full(past), language) == none


def test_a_deliverable_that_is_not_known_to_be_saved_is_no_plain_success() -> None:
    first = {"ann": written("The owner is Dee."), "ben": judged(), "cy": judged()}
    past = history(put(review(), rounds(first)))
    assert past.decided is not None
    assert "The review is complete: every required" in headline(words_of(past.meeting), past)
    numbers = {**past.numbers, "operation": {"id": "op_1", "state": "unknown"}}
    decided = decided_otherwise(past.decided, numbers=numbers)
    unsaved = replace(past, decided=decided, decision=side_by_side(decided))
    told = headline(words_of(past.meeting), unsaved)
    assert "the deliverable was not known to be saved." in told
