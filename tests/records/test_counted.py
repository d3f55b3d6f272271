"""Votes and polls in the records: tables that can be re-counted, in both languages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from app.domain.meeting.events import Event
from app.domain.meeting.meeting import Criterion, Language
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from app.records.catalogue import WORDS
from app.records.decision import decision_json, decision_markdown
from app.records.html import html_page
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.formats.ballots import polling, ranking, seats, vote, voting, weight
from tests.records.counted import held

LANGUAGES: tuple[Language, ...] = ("en", "ja")
DATABASES = ("PostgreSQL", "DynamoDB", "MongoDB")


def database_vote(language: Language = "en", *, expert: bool = True) -> list[Event]:
    seated = seats(ann=weight("2.0") | {"expert": expert}, cy=weight("1.5"))
    meeting = voting(DATABASES, seats=seated, protocol="weighted", threshold=0.6, language=language)
    votes = {
        "ann": vote("PostgreSQL", 0.9),
        "ben": vote("PostgreSQL", 0.8),
        "cy": vote("DynamoDB", 0.7, rationale="It scales | alone.", mitigation="A load test."),
    }
    return held(meeting, lambda ask: "No." if ask.template == "vote/deliberate" else votes[ask.who])


def poll(output: str, given: Sequence[str | ReplyStatus], **fields: Any) -> list[Event]:
    def answer(ask: Ask) -> str | ReplyStatus:
        return '{"groups": [[0, 1], [2]]}' if ask.office == "secretary" else given[int(ask.who[1:])]

    return held(polling(output, len(given), **fields), answer)


def recommend(title: str) -> str:
    return json.dumps({"recommendations": [{"title": title, "confidence": 7, "why": "so"}]})


def every(language: Language) -> list[list[Event]]:
    binary = '{"answer": "%s", "reasons": ["%s"], "confidence": 7}'
    answers = [binary % ("YES", "cheap"), binary % ("NO", "dear"), "?"]
    scores = [{"X": {"cost": 10}, "Y": {"cost": n}} for n in (2, 9, 1)]
    ranked = voting("ABC", protocol="ranked", language=language)
    orders = {"ann": "ABC", "ben": "BCA", "cy": "CAB"}
    return [
        database_vote(language),
        database_vote(language, expert=False),
        held(ranked, lambda ask: ranking(orders.get(ask.who, "ABC"))),
        held(
            voting("AB", protocol="unanimous", language=language),
            lambda ask: vote("A") if ask.who != "cy" else vote("ABSTAIN"),
        ),
        poll("ranking", [ranking("XYZ"), ranking("YXZ"), "?"], options="XYZ", language=language),
        poll("recommendation", [recommend(t) for t in ("A", "a", "B")], language=language),
        poll("binary", answers, language=language),
        poll("binary", [ReplyStatus.ERROR] * 3, language=language),
        poll(
            "scoring",
            [json.dumps({"scores": row}) for row in scores],
            options="XY",
            criteria=(Criterion("cost", "What it costs"),),
            language=language,
        ),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_record_can_be_made_and_leaves_no_key_untold(language: Language) -> None:
    raw = ("below_threshold", "high_variance", "off_topic", "numerator", ": None", "leaders")
    for log in every(language):
        for text in (minutes_markdown(log), decision_markdown(log)):
            assert not [word for word in raw if word in text]
            assert "{" not in text.replace('{"', "")
        assert "<table>" in minutes_html(log)
        json.dumps([minutes_json(log), decision_json(log)])
    assert html_page("x", "y", language)


def test_a_vote_can_be_counted_again_from_its_minutes() -> None:
    text = minutes_markdown(database_vote())
    for row in (
        "| ann | Participant A | as ann | default | openai:small | 2 | yes |",
        "| cy | DynamoDB | 0.7 | read as it stands |",
        "| PostgreSQL | 2 | 2.6 of 4.5 (57.8 %) |",
        "| DynamoDB | 1 | 1.05 of 4.5 (23.3 %) |",
        "It passes from a share of 60 %.",
        "Quorum: 2 of 3 seats have to vote or abstain; 3 did.",
        "After round 1: settled by ann, expert and surer than 0.8.",
        "The expert ann decided; this was no consensus.",
        "> A load test.",
        "cy asks for this, now that another view prevailed: A load test.",
    ):
        assert row in text
    assert "synthesis" not in text.lower()


def test_an_undecided_vote_is_handed_on_with_both_sides() -> None:
    log = database_vote(expert=False)
    text = decision_markdown(log)
    assert "# Not decided: One repository or several?" in text
    assert "- For it, cy: It scales \\| alone." in text
    assert "- Against it, cy, who is for DynamoDB. Asked for, should this one win: A load" in text
    assert "Round 2: the reasons were put to each other, and all voted again." in text
    assert "Nothing was decided, so no view has lost." in text
    assert decision_json(log)["handoff"]["escalated"] is True


def test_talk_between_ballots_is_told_and_not_counted() -> None:
    text = minutes_markdown(database_vote(expert=False))
    assert "### cy: answer to the others' reasons" in text
    assert text.count("| cy | DynamoDB |") == 2


def test_a_run_off_is_shown_count_by_count() -> None:
    orders = {"ann": "ABC", "ben": "BAC", "cy": "CBA", "dan": "ACB", "eve": "BCA"}
    meeting = voting("ABC", count=5, protocol="ranked")
    text = minutes_markdown(held(meeting, lambda ask: ranking(orders[ask.who])))
    for row in (
        "| cy | C > B > A | 0.7 | read as it stands |",
        "| Option | Count 1 | Count 2 |",
        "| B | 2 | 3 |",
        "| C | 1 | – |",
        "- After count 1, C goes out with the fewest first places.",
        "In pairs, B beats every other option (Condorcet winner).",
    ):
        assert row in text


def test_a_poll_says_who_was_left_out_and_of_how_many_it_speaks() -> None:
    text = minutes_markdown(every("en")[4])
    for row in (
        "Answers that could be counted: 2 of 3.",
        "| r2 | answer did not fit | There is no JSON object in the reply. |",
        "| r0 | X > Y > Z | 0.7 | read as it stands |",
        "| X | 5 |",
        "No one leads; these are equal: X, Y.",
    ):
        assert row in text
    assert "First round and last" not in text
    assert "Nobody changed position" not in text


def test_consensus_divergence_and_outliers_are_x_of_n() -> None:
    text = minutes_markdown(every("en")[5])
    assert "| divergence | A | 2 of 3 (66.7 %) | r0, r1 |" in text
    assert "| outlier | B | 1 of 3 (33.3 %) | r2 |" in text
    assert "The secretary put them together." in text


def test_scores_and_what_lies_far_apart() -> None:
    text = minutes_markdown(every("en")[8])
    assert "| X | 10 | 10 | 0 | no |" in text
    assert "| Y | 4 | 2 | 4.359 | yes |" in text
    assert "| r0 | X (cost 10); Y (cost 2) | read as it stands |" in text


def test_a_poll_that_reached_nobody_failed() -> None:
    text = minutes_markdown(every("en")[7])
    assert "**Failed.** Nobody could be reached" in text
    assert "Answers that could be counted: 0 of 3." in text


def test_an_abstention_that_is_not_accepted_is_said_first() -> None:
    text = decision_markdown(every("en")[3])
    assert text.index("cy abstained in round 1, where no abstention") < text.index("## Context")


@pytest.mark.parametrize("section", ["vote", "poll", "method"])
def test_both_languages_have_the_same_words(section: str) -> None:
    english, japanese = (
        {key for key in WORDS[language].texts if key.startswith(f"{section}.")}
        for language in LANGUAGES
    )
    assert english == japanese
