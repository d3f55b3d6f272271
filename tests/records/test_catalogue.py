"""Both languages say the same things, with the same values in them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.domain.meeting.outcome import Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.records.catalogue import WORDS, Words

FIELD = re.compile(r"\{(\w+)\}")


def test_both_languages_have_the_same_texts() -> None:
    assert set(WORDS["en"].texts) == set(WORDS["ja"].texts)


# English writes a month's name, Japanese its number.
@pytest.mark.parametrize("key", sorted(set(WORDS["en"].texts) - {"date.day"}))
def test_both_languages_fill_in_the_same_values(key: str) -> None:
    en, ja = (set(FIELD.findall(WORDS[language].texts[key])) for language in ("en", "ja"))
    assert en == ja


@pytest.mark.parametrize("words", WORDS.values(), ids=list(WORDS))
def test_there_is_a_text_for_every_code(words: Words) -> None:
    assert all(words.has(f"stopped.{reason.value}") for reason in StopReason)
    assert all(words.has(f"result.{result.value}") for result in Result)
    assert all(words.has(f"status.{status.value}") for status in ReplyStatus)


def test_dates_are_written_as_the_language_writes_them() -> None:
    at = datetime(2026, 11, 30, 9, 5, 1, tzinfo=UTC)
    assert WORDS["en"].moment(at) == "30 November 2026, 09:05:01 UTC"
    assert WORDS["ja"].moment(at) == "2026年11月30日 09:05:01（協定世界時）"
    elsewhere = at.astimezone(timezone(timedelta(hours=9)))
    assert WORDS["en"].moment(elsewhere) == WORDS["en"].moment(at)


def test_values_are_never_read_as_patterns() -> None:
    assert WORDS["en"]("degradation.other", kind="{names}", detail="{0}") == "{names}: {0}"
