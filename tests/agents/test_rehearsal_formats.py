"""The built-in script in every format but the round table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.agents.rehearsal_script import SCENES, improvise
from app.domain.meeting.meeting import Language
from app.domain.replies.sections import read_sections
from app.domain.rounds.synthesis import SynthesisReading
from app.domain.values import Json
from tests.agents import cast
from tests.agents.cast import ballot, scene


def test_debate_opens_under_its_headings(language: Language) -> None:
    headings = ("POSITION", "REASONING", "PROPOSAL", "CONCERNS")
    sections = read_sections(scene("debate/open", language, "B"), headings)
    assert all(sections.values())
    with_options = scene("debate/open", language, "B", options=["Rust", "Go"])
    assert "Rust" in read_sections(with_options, headings)["position"]


def test_debaters_back_their_own_and_then_the_same(language: Language) -> None:
    headings = (
        "AGREEMENTS", "DISAGREEMENTS", "REFINED PROPOSAL", "BACKS", "CONFIDENCE",
        "CHANGED BECAUSE",
    )  # fmt: skip
    word = "Participant" if language == "en" else "参加者"
    labels = [f"{word} {letter}" for letter in "ABC"]
    for round_, backed in ((2, labels[1]), (3, labels[0])):
        text = scene("debate/answer", language, "B", round=round_, rounds=3, labels=labels)
        sections = read_sections(text, headings)
        assert sections["backs"] == backed
        assert 1 <= int(sections["confidence"]) <= 10
        assert bool(sections["changed because"]) is (round_ == 3)
        assert all(sections[name] for name in ("agreements", "disagreements", "refined proposal"))
    assert int(sections["confidence"]) >= 8


@pytest.mark.parametrize("seat", ["A", "B", "C", "D", "AA"])
def test_votes_name_an_option(language: Language, seat: str) -> None:
    vote = ballot("vote/ballot", language, seat, options=["PostgreSQL", "DynamoDB"])
    assert vote["vote"] in ("PostgreSQL", "DynamoDB")
    assert 0 <= vote["confidence"] <= 1
    assert vote["rationale"]
    assert vote["mitigation"]


def test_votes_differ_and_agree_when_repeated() -> None:
    options = ["X", "Y"]
    votes = [ballot("vote/ballot", "en", seat, options=options)["vote"] for seat in "ABC"]
    again = [ballot("vote/ballot", "en", seat, options=options, round=2)["vote"] for seat in "ABC"]
    assert set(votes) == {"X", "Y"}
    assert set(again) == {"X"}


@pytest.mark.parametrize("template", ["vote/ranking", "poll/ranking"])
@pytest.mark.parametrize("options", [["X"], ["X", "Y"], ["X", "Y", "Z"]])
def test_rankings_hold_every_option_once(template: str, options: list[str]) -> None:
    rankings = [ballot(template, "en", seat, options=options)["ranking"] for seat in "ABC"]
    assert all(sorted(ranking) == options for ranking in rankings)
    if len(options) == 3:
        assert len({tuple(ranking) for ranking in rankings}) == 3


def test_council_ranks_the_letters_it_was_shown(language: Language) -> None:
    found = ballot("council/rank", language, "B", letters=["C", "A"])
    assert sorted(found["ranking"]) == ["A", "C"]
    assert found["rationale"]


def test_recommendations_have_one_in_common(language: Language) -> None:
    titles = [
        {
            entry["title"]
            for entry in ballot("poll/recommendation", language, seat)["recommendations"]
        }
        for seat in "ABC"
    ]
    assert len(set.intersection(*titles)) == 1
    assert len(set.union(*titles)) > 1


def test_binary_answers_have_reasons(language: Language) -> None:
    answers = [ballot("poll/binary", language, seat) for seat in "ABCDE"]
    assert [answer["answer"] for answer in answers].count("YES") == 3
    assert all(answer["reasons"] and 1 <= answer["confidence"] <= 10 for answer in answers)


def test_scores_cover_every_option_and_criterion() -> None:
    criteria = [{"id": "cost", "text": "What it costs"}, "speed"]
    options = [f"option {n}" for n in range(15)]
    scores = ballot("poll/scoring", "en", "A", options=options, criteria=criteria)["scores"]
    assert set(scores) == set(options)
    assert all(set(score) == {"cost", "speed"} for score in scores.values())
    assert all(1 <= number <= 10 for score in scores.values() for number in score.values())
    bare = ballot("poll/scoring", "en", "A", options=options)["scores"]
    assert all(isinstance(score, int) for score in bare.values())


def test_grouping_puts_equal_titles_together_and_leaves_none_out() -> None:
    recommendations = [{"title": "Try it"}, "Ask", {"title": "ＴＲＹ it"}, {"title": "Wait"}]
    groups = ballot("secretary/group", "en", recommendations=recommendations)["groups"]
    assert groups == [[0, 2], [1], [3]]


def test_the_gate_is_passed(language: Language) -> None:
    assert ballot("gate/confirm", language)["completion"] == "complete"


def test_an_author_meets_the_criteria_that_it_can(language: Language) -> None:
    criteria: list[Mapping[str, Json]] = [
        {"id": "c1", "text": "Names the owner", "check": {"contains": "OWNER-7"}},
        {"id": "c2", "text": "Is short", "check": {"max_chars": 400}},
    ]
    found = ballot(
        "review/author", language, criteria=criteria, objections=[{"id": "obj-1", "point": "…"}]
    )
    assert "OWNER-7" in found["draft"]
    assert len(found["draft"]) <= 400
    assert [change["objection"] for change in found["changes"]] == ["obj-1"]
    assert found["waiting_for"] is None


def test_a_critic_quotes_word_for_word_and_closes_later(language: Language) -> None:
    materials = [{"id": "m1", "version": "1", "text": "\n\n  The “first” line, as it is.\nMore."}]
    first = ballot("review/critic", language, materials=materials, criteria=[{"id": "c1"}])
    (objection,) = first["objections"]
    assert objection["quote"] in materials[0]["text"]
    assert objection["severity"] == "blocking"
    assert first["criteria"] == {"c1": "pass"}
    later = ballot("review/critic", language, round=2, materials=materials, objections=["obj-1"])
    assert later["objections"] == []
    assert later["closed"] == ["obj-1"]


@pytest.mark.parametrize("template", ["debate/synthesis", "council/synthesis", "made/up/synthesis"])
def test_any_synthesis_is_one(template: str, language: Language) -> None:
    read = SynthesisReading().read(scene(template, language))
    assert read.fault is None
    assert read.values["synthesis"]["decision"]


@pytest.mark.parametrize("template", [*SCENES, "unheard/of", "", "/", "roundtable/synthesis"])
@pytest.mark.parametrize(
    "variables",
    [
        {},
        dict.fromkeys(("topic", "label", "options", "labels", "criteria", "rounds")),
        dict.fromkeys(("topic", "role", "options", "replies", "materials", "letters"), 7),
        {name: [] for name in ("options", "labels", "letters", "answers", "replies", "criteria")},
        {name: {"a": 1} for name in ("topic", "options", "labels", "materials", "criteria")},
        {"criteria": [{"id": "c", "check": {"max_chars": "no"}}, None], "materials": [{"text": 7}]},
        {"topic": "{role} {0} %s", "role": "{motion}", "motion": "{}"},
    ],
)
def test_whatever_the_variables_there_is_an_answer(
    template: str, language: Language, variables: Mapping[str, Json]
) -> None:
    request = cast.request(template=template, language=language, variables=variables)
    assert improvise(request).strip()
    assert improvise(replace(request, round=2)).strip()


WORDLESS = {"poll/scoring", "secretary/group"}


@pytest.mark.parametrize("template", sorted(SCENES.keys() - WORDLESS))
def test_japanese_is_answered_in_japanese(template: str) -> None:
    materials = [{"id": "m1", "text": "first line"}]
    text = scene(template, "ja", topic="x", motion="y", materials=materials)
    assert any("\u3040" <= character <= "\u30ff" for character in text)
