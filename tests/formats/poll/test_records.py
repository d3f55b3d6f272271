"""Polls in the records: shares as X of N, in both languages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Criterion, Language
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask
from app.records.minutes import minutes_markdown
from tests.formats.ballots import polling, ranking
from tests.records.counted import held, made_whole

LANGUAGES: tuple[Language, ...] = ("en", "ja")


def poll(output: str, given: Sequence[str | ReplyStatus], **fields: Any) -> list[Event]:
    def answer(ask: Ask) -> str | ReplyStatus:
        return '{"groups": [[0, 1], [2]]}' if ask.office == "secretary" else given[int(ask.who[1:])]

    return held(polling(output, len(given), **fields), answer)


def recommend(title: str) -> str:
    return json.dumps({"recommendations": [{"title": title, "confidence": 7, "why": "so"}]})


def every(language: Language = "en") -> list[list[Event]]:
    """A ranking, recommendations, two binary polls, the second of which reached nobody, scores."""
    binary = '{"answer": "%s", "reasons": ["%s"], "confidence": 7}'
    answers = [binary % ("YES", "cheap"), binary % ("NO", "dear"), "?"]
    scores = [{"X": {"cost": 10}, "Y": {"cost": n}} for n in (2, 9, 1)]
    return [
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
    for log in every(language):
        made_whole(log)


def test_a_poll_says_who_was_left_out_and_of_how_many_it_speaks() -> None:
    text = minutes_markdown(every()[0])
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
    text = minutes_markdown(every()[1])
    assert "| divergence | A | 2 of 3 (66.7 %) | r0, r1 |" in text
    assert "| outlier | B | 1 of 3 (33.3 %) | r2 |" in text
    assert "The secretary put them together." in text


def test_scores_and_what_lies_far_apart() -> None:
    text = minutes_markdown(every()[4])
    assert "| X | 10 | 10 | 0 | no |" in text
    assert "| Y | 4 | 2 | 4.359 | yes |" in text
    assert "| r0 | X (cost 10); Y (cost 2) | read as it stands |" in text


def test_a_poll_that_reached_nobody_failed() -> None:
    text = minutes_markdown(every()[3])
    assert "**Failed.** Nobody could be reached" in text
    assert "Answers that could be counted: 0 of 3." in text
