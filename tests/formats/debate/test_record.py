"""A debate's part of the records, laid out as readers get it (PROTOCOLS 5, 11 and 15)."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.ending.arbitration import Choice
from app.domain.meeting.history import History, history
from app.domain.meeting.meeting import Language, Limits
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from app.formats.debate.record import DebateRecord
from app.formats.debate.story import FORMAT
from app.formats.shared.sides import Argument, Side
from tests.formats.debate.test_records import NAMES, held
from tests.formats.laid_out import laid_out, told
from tests.records.held import meeting
from tests.records.ruled import PERSON, put

RECORD = DebateRecord()
LANGUAGES: tuple[Language, ...] = ("en", "ja")
A, B, C = "Participant A", "Participant B", "Participant C"


def debate(*rounds: str, **fields: Any) -> History:
    return history(held(*rounds, **fields))


def waiting() -> History:
    """One round of three proposals, and a person who has not picked one yet."""

    def answer(ask: Ask) -> str | ReplyStatus:
        return f"POSITION: yes\nPROPOSAL: the way of {ask.who}"

    fields = {"format": "debate", "limits": Limits(rounds=1), "arbiter": PERSON}
    return history(put(meeting(**fields), answer, waits=True))


def test_the_format_is_shown_by_this_record() -> None:
    assert isinstance(FORMAT.record, DebateRecord)


# --- how it is counted --------------------------------------------------------------------------


def test_the_rule_is_told_with_its_numbers() -> None:
    rule = laid_out(RECORD.how_to_count(debate("A8 B9 C9"))).split("\n\n")
    assert rule[0] == "## How a debate is counted"
    assert "once all 3 participants back the same label, each with 8 or more." in rule[1]
    assert rule[2].endswith("so everybody stands for its own proposal.")
    with_options = laid_out(RECORD.how_to_count(debate("A8 B9 C9", options=("one", "several"))))
    assert "the same one of the given options there, that option is decided." in with_options
    japanese = laid_out(RECORD.how_to_count(debate("A8 B9 C9", language="ja")), "ja")
    assert (
        "3名全員が同じ名札を支持し、それぞれの確信度が8以上になったときに決定とする。" in japanese
    )


ROUND = {
    "en": """\
Backed: Participant A 2, Participant B 1, Participant C 0, out of 3 seated participants.

Usable replies: 3 of 3. Result of the round: NO_CONSENSUS.

Progress: sceptic backs another proposal.""",
    "ja": """\
支持：参加者 A 2名、参加者 B 1名、参加者 C 0名（分母は着席した3名）。

有効な回答は3名中3名。ラウンドの判定は NO_CONSENSUS。

進展：sceptic が別の案を支持した。""",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_round_shows_who_is_backed_and_what_moved(language: Language) -> None:
    past = debate("A8 B7 A8", "A8 A9 A7", language=language)
    assert laid_out(RECORD.counted_in_round(past, past.rounds[1]), language) == ROUND[language]


def test_a_reply_is_read_by_what_it_backs_from_round_2_on() -> None:
    past = debate("A8 B7 -")
    first, second = past.rounds
    assert RECORD.columns(first.replies[1]) == {}
    columns = RECORD.columns(second.replies[1])
    assert {code: told(cell) for code, cell in columns.items()} == {
        "debate.column_backs": B,
        "label.confidence": "7",
    }
    assert told(RECORD.reply_heading(second.replies[1])) == "operator: backs Participant B"
    assert RECORD.columns(second.replies[2]) == {}


# --- what came of it ----------------------------------------------------------------------------

NUMBERS = {
    "en": """\
**The finding is a deadlock: no answer dominates.**

More than half back Participant A (2 of 3). That is no decision: it takes all of them, each \
with a confidence of 8 or more.

| Participant | Round 1 | Round 2 |
| --- | --- | --- |
| Participant A, architect | Participant A | Participant A (8) |
| Participant B, operator | Participant B | – |
| Participant C, sceptic | Participant C | Participant A (9) |

### Turning points

- Round 2: sceptic went over to Participant A. After it the backing stood at Participant A 2.""",
    "ja": """\
**討論の結果は膠着であり、ほかに勝る答えはなかった。**

過半数（3名中2名）が 参加者 A を支持しているが、決定ではない。\
決定には、全員が確信度8以上で支持する必要がある。

| 参加者 | 第1ラウンド | 第2ラウンド |
| --- | --- | --- |
| 参加者 A（architect） | 参加者 A | 参加者 A（8） |
| 参加者 B（operator） | 参加者 B | – |
| 参加者 C（sceptic） | 参加者 C | 参加者 A（9） |

### 転機

- 第2ラウンド：sceptic が 参加者 A の支持に転じた。その後の支持は 参加者 A 2名。""",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_numbers_show_who_backed_what_and_what_turned_it(language: Language) -> None:
    past = debate("A8 - A9", language=language)
    assert laid_out(RECORD.numbers(past), language) == NUMBERS[language]


@pytest.mark.parametrize(
    ("rounds", "fields", "finding"),
    [
        (
            ("A8 A8 A8",),
            {},
            "All 3 participants back Participant A, each with a confidence of 8 or more.",
        ),
        (
            ("A8 A7 A8",),
            {},
            "All 3 participants back Participant A, but not each of them with a confidence of 8",
        ),
        (
            (),
            {"options": ("yes", "no")},
            "All 3 participants named the same option in round 1, before they had seen",
        ),
    ],
)
def test_the_finding_comes_first(rounds: tuple[str, ...], fields: Any, finding: str) -> None:
    past = debate(*rounds, **fields)
    assert laid_out(RECORD.numbers(past)).startswith(finding)


def test_nobody_turned() -> None:
    assert laid_out(RECORD.numbers(debate("A8 B9 C9"))).endswith(
        "### Turning points\n\nNobody went over to another's proposal."
    )


DETAILS = {
    "en": """\
### Latest proposals

- Participant A, architect: architect's proposal of round 2
- Participant B, operator: operator's proposal of round 2
- Participant C, sceptic: sceptic's proposal of round 2

### Concerns named

- cost (architect, round 1)
- cost (operator, round 1)
- cost (sceptic, round 1)""",
    "ja": """\
### 最新の提案

- 参加者 A（architect）：architect's proposal of round 2
- 参加者 B（operator）：operator's proposal of round 2
- 参加者 C（sceptic）：sceptic's proposal of round 2

### 挙げられた懸念

- cost（architect、第1ラウンド）
- cost（operator、第1ラウンド）
- cost（sceptic、第1ラウンド）""",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_proposals_and_concerns_stand_in_full(language: Language) -> None:
    past = debate("A8 B9 C9", language=language)
    assert laid_out(RECORD.details(past), language) == DETAILS[language]


def test_named_concerns_stay_open_where_nobody_drafted_anything() -> None:
    past = debate("A8 B9 C9", said="silent")
    assert RECORD.concerns(past) == ["cost silent"] * 3
    assert [told(point) for point in RECORD.open_points(past)] == [
        *["Concern: cost silent"] * 3,
        *(f"{name} opposed in round 2." for name in NAMES),
        "No synthesis names the open questions. They have to be read from the replies.",
    ]
    assert RECORD.concerns(waiting()) == []


def test_the_first_round_stands_beside_the_last() -> None:
    assert (
        laid_out(RECORD.comparison(debate("A8 B7 A8"), 3))
        == """\
### First round and last

| Round | Participant A | Participant B | Participant C | Consensus |
| --- | --- | --- | --- | --- |
| Round 1 (independent) | 1 of 3 | 1 of 3 | 1 of 3 | NO_CONSENSUS |
| Round 2 (last) | 2 of 3 | 1 of 3 | 0 of 3 | NO_CONSENSUS |"""
    )


def test_stances_are_not_shown_twice_after_the_end() -> None:
    assert list(RECORD.round_by_round(debate("A8 B9 C9"))) == []


# --- for whoever decides ------------------------------------------------------------------------


def test_the_proposals_were_considered_and_are_the_candidates() -> None:
    past = debate("A8 B9 C9")
    texts = [f"{name}'s proposal of round 2" for name in ("architect", "operator", "sceptic")]
    assert RECORD.considered(past) == texts
    chosen_from = [Choice(label, text) for label, text in zip((A, B, C), texts, strict=True)]
    assert RECORD.candidates(past) == chosen_from
    listed = "\n".join(DETAILS["en"].split("\n")[2:5])
    intro = "No options were listed. The latest proposal of each participant:"
    assert laid_out(RECORD.considered_page(past)) == f"{intro}\n\n{listed}"
    assert laid_out(RECORD.candidates_page(past)) == listed
    handed_over = "\n".join(
        f"- {label}: {text}" for label, text in zip((A, B, C), texts, strict=True)
    )
    assert laid_out(RECORD.candidates_in_full(past)) == handed_over


def test_while_the_question_is_open_the_candidates_are_those_put_to_the_arbiter() -> None:
    past = waiting()
    assert not past.ended
    assert RECORD.candidates(past) == [
        Choice(A, "the way of architect"),
        Choice(B, "the way of operator"),
        Choice(C, "the way of sceptic"),
    ]
    assert laid_out(RECORD.candidates_page(past)).startswith(
        "- Participant A, architect: the way of architect\n"
    )


def test_given_options_are_what_there_is_to_choose_from() -> None:
    past = debate("A8 B9 C9", options=("one", "several"))
    assert RECORD.candidates(past) == [Choice("one", "one"), Choice("several", "several")]


def test_who_stands_behind_which_proposal_and_why() -> None:
    past = debate("A8 - A9")
    arguments = tuple(
        Argument(name, f"{name} differs on the price") for name in ("architect", "sceptic")
    )
    assert RECORD.sides(past) == [Side(A, ("architect", "sceptic"), arguments)]
    assert [(each.source, each.round) for each in RECORD.excerpts(past)] == [
        ("architect", 2),
        ("sceptic", 2),
    ]
    assert [side.position for side in RECORD.sides(waiting())] == [A, B, C]


def test_hostile_words_stay_in_their_place() -> None:
    hostile = "# Outcome | x | <script>alert(1)</script>"
    told = laid_out(RECORD.details(debate("A8 B9 C9", said=hostile)))
    assert "\n# Outcome" not in told
    assert "\\<script>" in told
