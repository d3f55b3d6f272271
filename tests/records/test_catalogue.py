"""Both languages say the same things, with the same values in them."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.domain.meeting.outcome import Result, StopReason
from app.domain.replies.reading import ReplyStatus
from app.records.catalogue import Words, words_in

FIELD = re.compile(r"\{(\w+)\}")


def test_both_languages_have_the_same_texts() -> None:
    assert set(words_in("en").texts) == set(words_in("ja").texts)


# English writes a month's name, Japanese its number.
@pytest.mark.parametrize("key", sorted(set(words_in("en").texts) - {"date.day"}))
def test_both_languages_fill_in_the_same_values(key: str) -> None:
    en, ja = (set(FIELD.findall(words_in(language).texts[key])) for language in ("en", "ja"))
    assert en == ja


@pytest.mark.parametrize("words", [words_in("en"), words_in("ja")], ids=["en", "ja"])
def test_there_is_a_text_for_every_code(words: Words) -> None:
    assert all(words.has(f"stopped.{reason.value}") for reason in StopReason)
    assert all(words.has(f"result.{result.value}") for result in Result)
    assert all(words.has(f"status.{status.value}") for status in ReplyStatus)


def test_dates_are_written_as_the_language_writes_them() -> None:
    at = datetime(2026, 11, 30, 9, 5, 1, tzinfo=UTC)
    assert words_in("en").moment(at) == "30 November 2026, 09:05:01 UTC"
    assert words_in("ja").moment(at) == "2026年11月30日 09:05:01（協定世界時）"
    elsewhere = at.astimezone(timezone(timedelta(hours=9)))
    assert words_in("en").moment(elsewhere) == words_in("en").moment(at)


def test_values_are_never_read_as_patterns() -> None:
    assert words_in("en")("degradation.other", kind="{names}", detail="{0}") == "{names}: {0}"


def test_nothing_is_read_before_it_is_needed() -> None:
    """Records are pure: their own words and style they load with the first text they make."""
    names = ", ".join(f"app.records.{room}" for room in ("minutes", "decision", "handoff", "html"))
    reads_nothing = (
        f"import pathlib, tomllib\ntomllib.loads = pathlib.Path.read_text = None\nimport {names}\n"
    )
    subprocess.run([sys.executable, "-c", reads_nothing], check=True)
