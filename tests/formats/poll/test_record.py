"""What records show of a poll, as readers get it (PROTOCOLS 6, 11 and 15)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

import pytest

from app.domain.ending.arbitration import Choice
from app.domain.meeting.history import History, history
from app.domain.meeting.meeting import Criterion, Language
from app.domain.meeting.outcome import ended_by_error
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from app.formats import FORMATS
from app.formats.poll.grouping import GroupingMethod
from app.formats.poll.recommending import GroupKind
from app.formats.poll.record import PollRecord
from app.formats.poll.rules import Output
from app.formats.shared.sides import Argument, Side
from tests.formats.ballots import polling, ranking
from tests.formats.laid_out import shown, told, words
from tests.records.counted import held
from tests.records.held import Log

RECORD = PollRecord()

Given = str | ReplyStatus


def poll(
    output: str, given: Sequence[Given], group: Given = '{"groups": [[0, 1], [2]]}', **fields: Any
) -> History:
    """A poll that was answered so; ``group`` is how the secretary put recommendations together."""

    def answer(ask: Ask) -> Given:
        return group if ask.office == "secretary" else given[int(ask.who[1:])]

    return history(held(polling(output, len(given), **fields), answer))


def recommend(title: str, confidence: object = 7) -> str:
    every = [{"title": title, "confidence": confidence, "why": "so"}]
    return json.dumps({"recommendations": every})


def say(answer: str, *reasons: str, **fields: object) -> str:
    return json.dumps({"answer": answer, "reasons": reasons, "confidence": 7} | fields)


def scores(**given: object) -> str:
    return json.dumps({"scores": given})


def cells(past: History, place: int = 0) -> dict[str, str]:
    """What stands in a respondent's columns."""
    columns = RECORD.columns(past.rounds[0].final_replies[place])
    return {key: told(cell) for key, cell in columns.items()}


def test_polls_are_shown_by_it() -> None:
    record = FORMATS["poll"].record
    assert isinstance(record, PollRecord)
    assert (record.takes_positions, record.unseen, record.drafted) == (False, True, False)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_there_are_words_for_every_output(language: Language) -> None:
    known = words(language)
    assert all(known.has(f"poll.method_{output}") for output in get_args(Output))
    assert all(known.has(f"poll.leads_{output}") for output in get_args(Output))
    assert all(known.has(f"poll.grouped_by_{method}") for method in get_args(GroupingMethod))
    assert all(known.has(f"poll.{kind}") for kind in get_args(GroupKind))


# --- one for each output ------------------------------------------------------------------------


def test_borda_points_and_who_was_left_out() -> None:
    past = poll("ranking", [ranking("XYZ"), ranking("YXZ"), "?"], options="XYZ")
    page = [
        "Answers that could be counted: 2 of 3. Every share below is out of these.",
        (
            "| Participant | State | Why it was left out |\n"
            "| --- | --- | --- |\n"
            "| r2 | answer did not fit | There is no JSON object in the reply. |"
        ),
        (
            "Borda points: a first place among 3 options gives 3 points, the last one 1."
            " Options left out share what remains."
        ),
        "| Option | Points |\n| --- | --- |\n| X | 5 |\n| Y | 5 |\n| Z | 2 |",
        "No one leads; these are equal: X, Y.",
    ]
    assert shown(RECORD.numbers(past)) == page
    assert shown(RECORD.counted_in_round(past, past.rounds[0])) == page
    assert cells(past) == {"label.ballot": "X > Y > Z", "label.confidence": "0.7"}
    assert cells(past, 2) == {}


def test_consensus_divergence_and_outliers_are_x_of_n() -> None:
    past = poll("recommendation", [recommend(title) for title in ("A | a", "a", "B")])
    assert shown(RECORD.numbers(past))[1:] == [
        (
            "Recommendations that mean the same are one group, and each respondent counts once in a"
            " group. Consensus: at least 70 %. Divergence: at least 40 %. Outlier: less."
        ),
        "The secretary put them together. Code checked that each is in exactly one group.",
        (
            "| Kind | Recommendation | Named by | Respondents |\n"
            "| --- | --- | --- | --- |\n"
            "| divergence | A \\| a | 2 of 3 (66.7 %) | r0, r1 |\n"
            "| outlier | B | 1 of 3 (33.3 %) | r2 |"
        ),
        "No group reaches 70 %, so there is no consensus.",
    ]
    assert cells(past) == {"label.ballot": "A \\| a (7)"}


def test_recommendations_in_japanese() -> None:
    given = [recommend("A", 6.5) for _ in range(3)]
    past = poll("recommendation", given, ReplyStatus.ERROR, language="ja")
    assert shown(RECORD.numbers(past), "ja")[1:] == [
        (
            "同じ意味の推奨を一つの組とし、一人の回答者は一つの組に一度だけ数える。"
            "70%以上は合意、40%以上は意見の分岐、それ未満は少数意見。"
        ),
        "組分けは書記によらず、文面の類似度で行った。",
        (
            "| 種類 | 推奨 | 挙げた人数 | 回答者 |\n"
            "| --- | --- | --- | --- |\n"
            "| 合意 | A | 3/3（100.0%） | r0、r1、r2 |"
        ),
        "最も大きな合意の組：A。",
    ]
    (ballot,) = RECORD.columns(past.rounds[0].final_replies[0]).values()
    assert told(ballot, "ja") == "A（6.5）"


def test_answers_with_the_strongest_arguments_of_each_side() -> None:
    past = poll("binary", [say("YES", "cheap", "fa|st"), say("NO", "dear"), say("YES")])
    assert shown(RECORD.numbers(past)) == [
        "Answers that could be counted: 3 of 3. Every share below is out of these.",
        "| Answer | Named by |\n| --- | --- |\n| YES | 2 of 3 (66.7 %) |\n| NO | 1 of 3 (33.3 %) |",
        "**The strongest arguments for YES**",
        "- cheap (r0)\n- fa\\|st (r0)",
        "**The strongest arguments for NO**",
        "- dear (r1)",
        "The majority says YES.",
    ]
    assert told(RECORD.reply_heading(past.rounds[0].final_replies[1])) == "r1: NO"


def test_scores_and_what_lies_far_apart() -> None:
    rows = [scores(X={"cost": 10}, Y={"cost": n}) for n in (2, 9, 1)]
    past = poll("scoring", rows, options="XY", criteria=(Criterion("cost", "What it costs"),))
    assert shown(RECORD.numbers(past))[1:] == [
        (
            "Scores from 1 to 10. Each respondent is one voice, with the mean of its scores."
            " Respondents lie far apart from a standard deviation of 2,"
            " overall or on one criterion."
        ),
        (
            "| Option | Mean | Median | Standard deviation | Far apart |\n"
            "| --- | --- | --- | --- | --- |\n"
            "| X | 10 | 10 | 0 | no |\n"
            "| Y | 4 | 2 | 4.359 | yes |"
        ),
        "**By criterion: mean (standard deviation)**",
        "| Option | cost |\n| --- | --- |\n| X | 10 (0) |\n| Y | 4 (4.359) |",
        "Highest mean: X.",
    ]
    assert cells(past) == {"label.ballot": "X (cost 10); Y (cost 2)"}


def test_scores_without_criteria_in_japanese() -> None:
    given = [scores(X=7.5, Y=3), ReplyStatus.TIMEOUT, ReplyStatus.TIMEOUT]
    past = poll("scoring", given, options="XY", language="ja")
    assert shown(RECORD.numbers(past), "ja")[3:] == [
        (
            "| 選択肢 | 平均 | 中央値 | 標準偏差 | 評価の割れ |\n"
            "| --- | --- | --- | --- | --- |\n"
            "| X | 7.5 | 7.5 | – | いいえ |\n"
            "| Y | 3 | 3 | – | いいえ |"
        ),
        "平均が最も高いもの：X。",
    ]
    assert cells(past) == {"label.ballot": "X (7.5); Y (3)"}


def test_a_poll_that_reached_nobody_counts_nothing() -> None:
    page = shown(RECORD.numbers(poll("binary", [ReplyStatus.ERROR] * 3)))
    assert page[0].startswith("Answers that could be counted: 0 of 3.")
    assert page[1].splitlines()[2] == "| r0 | failed | No reply. |"
    assert len(page) == 2


# --- beside the result, and for whoever decides -------------------------------------------------


def test_one_pass_is_compared_with_nothing() -> None:
    past = poll("binary", [say("YES")] * 3)
    assert shown(RECORD.comparison(past, 2)) == []


def test_an_even_split_leaves_the_question_between_yes_and_no() -> None:
    past = poll("binary", [say("YES"), say("NO"), "?"])
    assert RECORD.candidates(past) == [Choice("YES", "YES"), Choice("NO", "NO")]
    assert [told(point, "ja") for point in RECORD.open_points(past)] == [
        "問いは決着していない：One repository or several?"
    ]
    assert told(RECORD.no_dissents(past)) == "Nothing was decided, so no view has lost."


def test_yes_and_no_are_the_candidates_even_if_it_never_came_to_an_answer() -> None:
    log = Log(polling("binary"), lambda ask: "?")
    log.open()
    log.record(ended_by_error("boom"))
    past = history(log.events)
    assert RECORD.candidates(past) == [Choice("YES", "YES"), Choice("NO", "NO")]
    assert shown(RECORD.numbers(past)) == []


def test_the_candidates_of_recommendations_are_their_groups() -> None:
    past = poll("recommendation", [recommend(title) for title in ("A", "a", "B")])
    assert RECORD.candidates(past) == [Choice("1", "A"), Choice("2", "B")]
    assert not RECORD.sides(past)


def test_the_candidates_of_a_ranking_are_its_options() -> None:
    past = poll("ranking", [ranking("XY"), ranking("YX"), "?"], options="XY")
    assert RECORD.candidates(past) == [Choice("X", "X"), Choice("Y", "Y")]
    assert [side.position for side in RECORD.sides(past)] == ["X", "Y"]


def test_both_sides_of_an_answer_with_their_reasons() -> None:
    past = poll("binary", [say("YES", "cheap", "fast"), say("NO", rationale="dear"), say("YES")])
    assert RECORD.sides(past) == [
        Side("YES", ("r0", "r2"), (Argument("r0", "cheap; fast"), Argument("r2", ""))),
        Side("NO", ("r1",), (Argument("r1", "dear"),)),
    ]
    assert not RECORD.excerpts(past)


def test_an_answer_without_a_rationale_is_taken_apart_all_the_same() -> None:
    reply = poll("binary", [say("YES")] * 3).rounds[0].final_replies[0]
    assert RECORD.taken_apart(reply)
    assert shown(RECORD.reply_parts(reply)) == []
