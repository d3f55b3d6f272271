"""The words that each format brings to its records: the same in every language, and its own."""

from __future__ import annotations

import re

import pytest

from app.formats import FORMATS
from tests.formats.laid_out import own_texts

FIELD = re.compile(r"\{(\w+)\}")
WORDED = [name for name in FORMATS if own_texts("en", name)]


@pytest.mark.parametrize("name", WORDED)
def test_a_format_words_nothing_but_its_own(name: str) -> None:
    assert {code.partition(".")[0] for code in own_texts("en", name)} == {name}


@pytest.mark.parametrize("name", WORDED)
def test_both_languages_say_the_same_with_the_same_values(name: str) -> None:
    english, japanese = own_texts("en", name), own_texts("ja", name)
    assert {code: set(FIELD.findall(text)) for code, text in english.items()} == {
        code: set(FIELD.findall(text)) for code, text in japanese.items()
    }
