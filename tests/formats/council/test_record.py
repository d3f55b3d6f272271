"""A council's part of the records, laid out as readers get it (PROTOCOLS 8, 11 and 15)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.ending.arbitration import Choice
from app.domain.ending.completion_gate import Close, GateStatus
from app.domain.meeting.history import History, history
from app.domain.meeting.meeting import Language
from app.domain.replies.reading import ReplyStatus
from app.formats.council.rank_tables import letters_table
from app.formats.council.record import CouncilRecord
from app.formats.council.story import FORMAT
from app.formats.shared.sides import Argument, Excerpt, Side
from tests.formats.by_hand import NAMES
from tests.formats.council.test_story import CLOSED, answers, council
from tests.formats.laid_out import laid_out, told
from tests.records.ruled import PERSON, put

RECORD = CouncilRecord()
WANTING = Close(
    GateStatus.INCOMPLETE, ("ann",), {"ben": "It omits the cost."}, datetime(2026, 1, 1, tzinfo=UTC)
)
SYNTHESIS = Choice("synthesis", "Do it.")


def confirmed(language: Language = "en") -> History:
    """Two of three answer, and two of three rank."""
    silent = {"cy": (1,), "ben": (2,)}
    return history(put(council(language=language), answers(silent=silent), gate=CLOSED))


def refused(**fields: Any) -> History:
    """One member asks for a revision, and the arbiter has not ruled yet."""
    meeting = council(arbiter=PERSON, **fields)
    return history(put(meeting, answers(), gate=WANTING, waits=True))


def test_the_format_is_shown_by_this_record() -> None:
    assert isinstance(FORMAT.record, CouncilRecord)


RANKED = {
    "en": """\
Rankings that count: 2. By author, the best first:

| Reviewer | 1 | 2 |
| --- | --- | --- |
| ann | ben | – |
| cy | ann | ben |

The mean rank of an answer is the mean of its places in the rankings that were shown it; \
answers that a ranking leaves out share the places that remain.

| Place | Answer of | Mean rank | Ranked by |
| --- | --- | --- | --- |
| 1 | ann | 1 | 1 |
| 2 | ben | 1.5 (3/2) | 2 |

Best mean rank: ann.""",
    "ja": """\
集計した順位づけは2件。書いた人の名前に直すと次のとおり（左ほど上位）。

| 評者 | 1 | 2 |
| --- | --- | --- |
| ann | ben | – |
| cy | ann | ben |

平均順位は、その回答を見た順位づけでの順位の平均である。順位づけで省かれた回答は、残りの順位を等しく分ける。

| 順位 | 回答者 | 平均順位 | 順位をつけた人数 |
| --- | --- | --- | --- |
| 1 | ann | 1 | 1 |
| 2 | ben | 1.5（3/2） | 2 |

平均順位が最もよい回答：ann。""",
}
LETTERS = {
    "en": """\
Each reviewer saw the answers under letters of its own, in an order of its own:

| Reviewer | A | B |
| --- | --- | --- |
| ann | ben | – |
| ben | ann | – |
| cy | ann | ben |""",
    "ja": """\
評者はそれぞれ別の文字と並び順で回答を見た。

| 評者 | A | B |
| --- | --- | --- |
| ann | ben | – |
| ben | ann | – |
| cy | ann | ben |""",
}
ANSWERED = {"en": "Members with an answer: 2 of 3.", "ja": "回答した評議員は3名中2名。"}
LANGUAGES: tuple[Language, ...] = ("en", "ja")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_reader_can_recount_the_rankings(language: Language) -> None:
    past = confirmed(language)
    answered, ranked = past.rounds
    assert laid_out(RECORD.counted_in_round(past, answered), language) == ""
    shown = laid_out(RECORD.counted_in_round(past, ranked), language)
    assert shown == f"{LETTERS[language]}\n\n{RANKED[language]}"
    numbers = laid_out(RECORD.numbers(past), language)
    assert numbers == f"{ANSWERED[language]}\n\n{RANKED[language]}"


def test_many_letters_stand_in_their_order() -> None:
    shown = {"ann": {"B": "x", "AA": "y", "A": "z"}}
    assert "| Reviewer | A | B | AA |" in laid_out(letters_table(shown))


def test_a_ranking_is_told_by_its_letters_and_its_reasons() -> None:
    past = confirmed()
    rankings = {reply.participant: reply for reply in past.rounds[1].replies}
    columns = RECORD.columns(rankings["cy"])
    assert {code: told(cell) for code, cell in columns.items()} == {"label.ballot": "A > B"}
    assert RECORD.taken_apart(rankings["cy"])
    assert laid_out(RECORD.reply_parts(rankings["cy"])) == "**Rationale**\n\n> it is clear"
    assert RECORD.columns(rankings["ben"]) == {}
    assert laid_out(RECORD.reply_parts(rankings["ben"])) == ""
    answer = past.rounds[0].replies[0]
    assert not RECORD.taken_apart(answer)
    assert laid_out(RECORD.reply_parts(answer)) == ""


def test_equal_ranks_share_a_place_and_an_unranked_answer_has_none() -> None:
    meeting = council(2)
    tied = history(put(meeting, answers(), gate=CLOSED))
    assert "| 1 | ann | 1 | 1 |\n| 1 | ben | 1 | 1 |" in laid_out(RECORD.numbers(tied))
    assert "Best mean rank, shared: ann, ben." in laid_out(RECORD.numbers(tied))
    unranked = history(put(meeting, answers(silent={"ann": (2,), "ben": (2,)}), gate=CLOSED))
    assert "| – | ann | – | 0 |" in laid_out(RECORD.numbers(unranked))
    assert laid_out(RECORD.numbers(unranked)).endswith("Nobody ranked an answer.")


def test_its_rounds_are_not_compared() -> None:
    assert not RECORD.takes_positions
    assert list(RECORD.comparison(confirmed(), 2)) == []


def test_whoever_decides_gets_the_synthesis_and_who_stands_where() -> None:
    past = refused()
    assert RECORD.candidates(past) == [SYNTHESIS]
    assert RECORD.sides(past) == [
        Side("complete", ("ann",), ()),
        Side("needs_revision", ("ben",), (Argument("ben", "It omits the cost."),)),
    ]
    names = ("ann", "ben", "cy")
    assert RECORD.excerpts(past) == [Excerpt(name, 1, f"{name} would try it.") for name in names]


def test_the_candidate_is_the_same_after_the_end() -> None:
    ended = history(put(council(arbiter=PERSON), answers(), None, gate=WANTING))
    assert ended.ended
    assert RECORD.candidates(ended) == [SYNTHESIS]


def test_given_options_are_what_there_is_to_choose_from() -> None:
    options = RECORD.candidates(refused(options=("one", "several")))
    assert options == [Choice("one", "one"), Choice("several", "several")]


def test_without_an_answer_there_is_nothing_to_hand_over() -> None:
    nobody = dict.fromkeys(NAMES, (1,))
    past = history(put(council(), answers(silent=nobody, chair=ReplyStatus.ERROR)))
    assert RECORD.candidates(past) == []
    assert RECORD.sides(past) == []
    assert RECORD.excerpts(past) == []
    assert laid_out(RECORD.numbers(past)) == "Members with an answer: 0 of 3."


def test_the_handoff_shows_the_whole_synthesis_with_the_candidate() -> None:
    shown = laid_out(RECORD.candidates_in_full(refused())).split("\n\n")
    assert shown[:4] == [
        "- Do it.",
        "### Synthesis",
        "Written by the chair from the members' answers and their mean ranks.",
        "The draft below is not a decision.",
    ]
    assert "**Agreed**" in shown
    assert laid_out(RECORD.candidates_page(refused())) == "- Do it."
