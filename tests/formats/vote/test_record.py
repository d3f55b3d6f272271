"""What records show of a vote, as readers get it (PROTOCOLS 7, 11 and 15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from app.domain.ending.arbitration import Choice, Ruling
from app.domain.meeting.history import History, history
from app.domain.meeting.meeting import Arbiter, Language
from app.domain.meeting.outcome import ended_by_error
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from app.formats import FORMATS
from app.formats.shared.sides import Argument, Excerpt, Side
from app.formats.vote.counting import Normalize, Protocol
from app.formats.vote.record import VoteRecord
from app.formats.vote.run_off import DroppedBy
from tests.formats.ballots import ranking, seats, vote, voting, weight
from tests.formats.laid_out import shown, told, words
from tests.records import ruled
from tests.records.counted import held
from tests.records.held import Log

RECORD = VoteRecord()
DATABASES = ("PostgreSQL", "DynamoDB", "MongoDB")

Given = str | ReplyStatus


def ballots(talk: Given = "No.", **given: Given) -> Callable[[Ask], Given]:
    """Each voter's ballot, the same whenever it is asked; ``talk`` answers the others' reasons."""
    return lambda ask: talk if ask.template == "vote/deliberate" else given[ask.who]


def database_vote(language: Language = "en", *, expert: bool = True) -> History:
    seated = seats(ann=weight("2.0") | {"expert": expert}, cy=weight("1.5"))
    meeting = voting(DATABASES, seats=seated, protocol="weighted", threshold=0.6, language=language)
    cast = ballots(
        ann=vote("PostgreSQL", 0.9),
        ben=vote("PostgreSQL", 0.8),
        cy=vote("DynamoDB", 0.7, rationale="It scales | alone.", mitigation="A load test."),
    )
    return history(held(meeting, cast))


def run_off(language: Language = "en") -> History:
    orders = {"ann": "ABC", "ben": "BAC", "cy": "CBA", "dan": "ACB", "eve": "BCA"}
    meeting = voting("ABC", count=5, protocol="ranked", language=language)
    return history(held(meeting, lambda ask: ranking(orders[ask.who])))


def test_votes_are_shown_by_it() -> None:
    record = FORMATS["vote"].record
    assert isinstance(record, VoteRecord)
    assert (record.takes_positions, record.unseen, record.drafted) == (True, False, False)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_there_are_words_for_every_rule(language: Language) -> None:
    known = words(language)
    assert all(known.has(f"vote.{protocol}") for protocol in Protocol)
    assert all(known.has(f"vote.method_{protocol}") for protocol in Protocol)
    assert all(known.has(f"vote.dropped_{by}") for by in get_args(DroppedBy))
    assert all(known.has(f"vote.by_{normalize}") for normalize in get_args(Normalize))
    assert all(known.has(f"stopped.{stop}") for stop in ("threshold", "quorum"))


# --- the count ----------------------------------------------------------------------------------


def test_a_vote_can_be_counted_again_from_its_numbers() -> None:
    assert shown(RECORD.numbers(database_vote())) == [
        (
            "Weighted vote: an option's score is the sum of weight times confidence over its"
            " voters. It passes from a share of 60 %."
        ),
        "The share is the score over the sum of the weights of all votes cast.",
        "Quorum: 2 of 3 seats have to vote or abstain; 3 did.",
        (
            "| Option | Votes | Share |\n"
            "| --- | --- | --- |\n"
            "| PostgreSQL | 2 | 2.6 of 4.5 (57.8 %) |\n"
            "| DynamoDB | 1 | 1.05 of 4.5 (23.3 %) |\n"
            "| MongoDB | 0 | 0 of 4.5 (0 %) |"
        ),
        "No option passes.",
        "**What was done when no option passed**",
        "- After round 1: settled by ann, expert and surer than 0.8.",
    ]


def test_a_vote_can_be_counted_again_in_japanese() -> None:
    assert shown(RECORD.numbers(database_vote("ja")), "ja") == [
        (
            "重み付き投票：選択肢の得点は、投票した人の重みと確信度の積の合計である。"
            "割合が60%以上なら通る。"
        ),
        "割合は、投じられた票の重みの合計に対する得点の比である。",
        "定足数：3席のうち2席の投票または棄権が必要で、3席が加わった。",
        (
            "| 選択肢 | 票数 | 割合 |\n"
            "| --- | --- | --- |\n"
            "| PostgreSQL | 2 | 2.6/4.5（57.8%） |\n"
            "| DynamoDB | 1 | 1.05/4.5（23.3%） |\n"
            "| MongoDB | 0 | 0/4.5（0%） |"
        ),
        "通った選択肢はない。",
        "**どの選択肢も通らなかったときに行ったこと**",
        "- 第1ラウンドの後：確信度が0.8を超える専門家 ann が決めた。",
    ]


def test_a_run_off_is_shown_count_by_count() -> None:
    assert shown(RECORD.numbers(run_off()))[2:] == [
        (
            "| Option | First places | Share in the last count |\n"
            "| --- | --- | --- |\n"
            "| A | 2 | 2 of 5 (40 %) |\n"
            "| B | 2 | 3 of 5 (60 %) |\n"
            "| C | 1 | 0 of 5 (0 %) |"
        ),
        "**The run-off, count by count**",
        (
            "| Option | Count 1 | Count 2 |\n"
            "| --- | --- | --- |\n"
            "| A | 2 | 2 |\n"
            "| B | 2 | 3 |\n"
            "| C | 1 | – |\n"
            "| Ballots without a further option | 0 | 0 |"
        ),
        "- After count 1, C goes out with the fewest first places.",
        "In pairs, B beats every other option (Condorcet winner).",
        "B passes.",
    ]


def test_a_run_off_is_shown_in_japanese() -> None:
    assert shown(RECORD.numbers(run_off("ja")), "ja")[3:] == [
        "**決選の経過**",
        (
            "| 選択肢 | 1回目の集計 | 2回目の集計 |\n"
            "| --- | --- | --- |\n"
            "| A | 2 | 2 |\n"
            "| B | 2 | 3 |\n"
            "| C | 1 | – |\n"
            "| 移る先のない票 | 0 | 0 |"
        ),
        "- 1回目の集計の後、首位の票が最も少ない C が脱落した。",
        "一対一の比較では、B がほかのすべての選択肢に勝つ（コンドルセ勝者）。",
        "B が通った。",
    ]


@pytest.mark.parametrize(
    ("given", "rules", "sentence"),
    [
        (("A", "B", "ABSTAIN"), {}, "There is a tie between A, B, and a tie does not pass."),
        (
            ("A", "A", "ABSTAIN"),
            {"protocol": "unanimous"},
            "Somebody abstained where no abstention is accepted, so nothing is decided.",
        ),
        (
            ("A", "?", "?"),
            {"quorum": 2},
            "Too few took part, so nothing is decided whatever the shares.",
        ),
    ],
)
def test_why_nothing_passes_is_said(
    given: tuple[str, str, str], rules: dict[str, Any], sentence: str
) -> None:
    cast = dict(zip(("ann", "ben", "cy"), map(vote, given), strict=True))
    past = history(held(voting("AB", **rules), ballots(**cast)))
    assert sentence in shown(RECORD.numbers(past))


def test_a_vote_that_ended_before_anybody_voted_has_no_numbers() -> None:
    log = Log(voting("AB"), ballots())
    log.open()
    log.record(ended_by_error("boom"))
    past = history(log.events)
    assert shown(RECORD.numbers(past)) == []
    assert shown(RECORD.comparison(past, 2)) == [
        "## First round and last",
        "No round was closed, so there is nothing to compare.",
    ]


# --- a round ------------------------------------------------------------------------------------


def test_a_round_tells_its_counts_and_what_moved_before_the_tally() -> None:
    first, second = database_vote(expert=False).rounds
    past = database_vote(expert=False)
    assert shown(RECORD.counted_in_round(past, first))[:3] == [
        "PostgreSQL 2, DynamoDB 1, MongoDB 0, ABSTAIN 0, out of 3 seated participants.",
        "Progress: the first round counts as progress.",
        (
            "Weighted vote: an option's score is the sum of weight times confidence over its"
            " voters. It passes from a share of 60 %."
        ),
    ]
    assert shown(RECORD.counted_in_round(past, second))[1] == "Progress: none."


def test_who_votes_otherwise_is_progress() -> None:
    def cast(ask: Ask) -> str:
        if ask.template == "vote/deliberate":
            return "You are right."
        return vote("B" if ask.who == "ann" and ask.round == 2 else {"ann": "A"}.get(ask.who, "C"))

    meeting = voting("ABC", protocol="unanimous")
    past = history(held(meeting, cast))
    assert "Progress: ann voted otherwise." in shown(RECORD.counted_in_round(past, past.rounds[1]))


def test_a_ballot_stands_in_the_table_with_its_confidence() -> None:
    past = history(
        held(voting("AB"), ballots(ann=vote("A", 1), ben=vote("ABSTAIN"), cy=ReplyStatus.TIMEOUT))
    )
    ann, ben, cy = past.rounds[0].final_replies
    columns = {key: told(cell) for key, cell in RECORD.columns(ann).items()}
    assert columns == {"label.ballot": "A", "label.confidence": "1.0"}
    assert {key: told(cell) for key, cell in RECORD.columns(ben).items()} == {
        "label.ballot": "ABSTAIN"
    }
    assert RECORD.columns(cy) == {}


def test_a_ranking_stands_in_its_order() -> None:
    past = run_off()
    reply = past.rounds[0].final_replies[2]
    assert told(RECORD.columns(reply)["label.ballot"]) == "C > B > A"
    assert told(RECORD.reply_heading(reply)) == "cy"


def test_talk_between_ballots_is_told_and_not_counted() -> None:
    past = database_vote(expert=False)
    (answer,) = (reply for reply in past.rounds[1].final_replies if not RECORD.in_table(reply))
    assert told(RECORD.reply_heading(answer)) == "cy: answer to the others' reasons"
    assert told(RECORD.reply_heading(answer), "ja") == "cy：ほかの参加者の理由への答え"
    assert RECORD.columns(answer) == {}
    assert not RECORD.taken_apart(answer)


def test_a_ballots_words_are_told_apart() -> None:
    reply = database_vote().rounds[0].final_replies[2]
    assert told(RECORD.reply_heading(reply)) == "cy: DynamoDB"
    assert shown(RECORD.reply_parts(reply)) == [
        "**Rationale**",
        "> It scales \\| alone.",
        "**Mitigation asked for**",
        "> A load test.",
    ]


# --- beside the result --------------------------------------------------------------------------


def test_the_first_ballot_stands_beside_the_last() -> None:
    assert shown(RECORD.comparison(database_vote(expert=False), 3)) == [
        "### First round and last",
        (
            "| Round | PostgreSQL | DynamoDB | MongoDB | ABSTAIN | Result |\n"
            "| --- | --- | --- | --- | --- | --- |\n"
            "| Round 1 (independent) | 2 of 3 | 1 of 3 | 0 of 3 | 0 of 3 | No option passes. |\n"
            "| Round 2 (last) | 2 of 3 | 1 of 3 | 0 of 3 | 0 of 3 | No option passes. |"
        ),
    ]


def test_one_ballot_is_the_first_and_the_last() -> None:
    page = shown(RECORD.comparison(database_vote("ja"), 2), "ja")
    assert page[0] == "## 最初と最後の比較"
    assert page[1].splitlines()[0] == (
        "| ラウンド | PostgreSQL | DynamoDB | MongoDB | ABSTAIN | 結果 |"
    )
    assert page[2] == "ラウンドは一度だけなので、最初の集計がそのまま最後の集計である。"


def test_what_the_losing_side_asks_for_stays_open() -> None:
    points = RECORD.open_points(database_vote())
    assert [told(point) for point in points] == [
        "cy asks for this, now that another view prevailed: A load test."
    ]
    assert told(points[0], "ja") == "別の意見に決まったため、cy が求めること：A load test."


def test_an_undecided_vote_overruled_nobody_and_leaves_the_question() -> None:
    past = database_vote(expert=False)
    assert told(RECORD.no_dissents(past)) == "Nothing was decided, so no view has lost."
    assert [told(point) for point in RECORD.open_points(past)] == [
        "The question is open: One repository or several?"
    ]


def test_a_unanimous_vote_was_opposed_by_nobody() -> None:
    past = history(held(voting("AB"), lambda ask: vote("A")))
    assert told(RECORD.no_dissents(past)) == "Nobody opposed in the last round."


# --- for whoever decides ------------------------------------------------------------------------


@pytest.mark.parametrize("expert", [True, False])
def test_the_candidates_are_the_options_however_it_ended(expert: bool) -> None:
    past = database_vote(expert=expert)
    assert list(RECORD.candidates(past)) == [Choice(option, option) for option in DATABASES]


def test_every_option_is_handed_on_with_its_pros_and_cons() -> None:
    assert shown(RECORD.candidates_page(database_vote(expert=False))) == [
        "**PostgreSQL**",
        (
            "- For it, ann: PostgreSQL is known\n"
            "- For it, ben: PostgreSQL is known\n"
            "- Against it, cy, who is for DynamoDB."
            " Asked for, should this one win: A load test."
        ),
        "**DynamoDB**",
        (
            "- For it, cy: It scales \\| alone.\n"
            "- Against it, ann, who is for PostgreSQL."
            " Asked for, should this one win: a way back to PostgreSQL\n"
            "- Against it, ben, who is for PostgreSQL."
            " Asked for, should this one win: a way back to PostgreSQL"
        ),
        "**MongoDB**",
        (
            "- Against it, ann, who is for PostgreSQL."
            " Asked for, should this one win: a way back to PostgreSQL\n"
            "- Against it, ben, who is for PostgreSQL."
            " Asked for, should this one win: a way back to PostgreSQL\n"
            "- Against it, cy, who is for DynamoDB."
            " Asked for, should this one win: A load test."
        ),
    ]


def test_an_option_that_nobody_spoke_of_says_so_in_japanese() -> None:
    meeting = voting("AB", language="ja", resolution=["deliberate", "escalate"])
    past = history(
        held(meeting, lambda ask: "いいえ" if "del" in ask.template else vote("ABSTAIN"))
    )
    nobody = "賛成の理由も反対の理由も出されていない。"
    assert shown(RECORD.candidates_page(past), "ja") == ["**A**", nobody, "**B**", nobody]


def test_both_sides_are_told_with_what_they_ask_for() -> None:
    assert RECORD.sides(database_vote(expert=False)) == [
        Side(
            "PostgreSQL",
            ("ann", "ben"),
            (
                Argument("ann", "PostgreSQL is known", "a way back to PostgreSQL"),
                Argument("ben", "PostgreSQL is known", "a way back to PostgreSQL"),
            ),
        ),
        Side("DynamoDB", ("cy",), (Argument("cy", "It scales | alone.", "A load test."),)),
    ]


def test_a_ranking_stands_on_the_side_of_its_first_place() -> None:
    assert [(side.position, side.participants) for side in RECORD.sides(run_off())] == [
        ("A", ("ann", "dan")),
        ("B", ("ben", "eve")),
        ("C", ("cy",)),
    ]


def test_the_words_at_stake_are_the_answers_between_the_ballots() -> None:
    assert RECORD.excerpts(database_vote()) == []
    assert RECORD.excerpts(database_vote(expert=False)) == [Excerpt("cy", 2, "No.")]


def test_a_ladder_that_was_climbed_to_an_arbiter_names_it() -> None:
    meeting = voting("AB", arbiter=Arbiter("human", name="Ann | Lee"))
    cast = ballots(ann=vote("A"), ben=vote("B"), cy=vote("ABSTAIN"))
    past = history(ruled.put(meeting, cast, Ruling("B", "Since.", "Ann Lee")))
    assert shown(RECORD.numbers(past))[-1] == (
        "- Round 2: the reasons were put to each other, and all voted again.\n"
        "- After round 2: every option was put to Ann \\| Lee."
    )
