"""Text from outside, made fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agents.plain_text import one_printable_line, storable

SECRET = "sk-secret"
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]))


@given(ANY_TEXT, st.integers(1, 300))
def test_a_line_is_printable_and_bounded(text: str, most: int) -> None:
    line = one_printable_line(text, most)
    assert line.isprintable()
    assert len(line) <= most


@given(ANY_TEXT, ANY_TEXT, st.integers(10, 300))
def test_a_secret_is_struck_out(before: str, after: str, most: int) -> None:
    line = one_printable_line(f"{before}{SECRET}{after}", most, without=SECRET)
    assert SECRET not in line


@pytest.mark.parametrize("hidden", ["sk-\x00secret", "sk-\x1bsecret", "sk-\u200bsecret"])
def test_a_secret_split_by_what_nobody_sees_is_struck_out(hidden: str) -> None:
    assert one_printable_line(hidden, 100, without=SECRET) == "[secret]"


def test_half_a_secret_at_the_cut_is_struck_out() -> None:
    text = " " * (64 * 20 - 4) + SECRET
    assert "sk-" not in one_printable_line(text, 20, without=SECRET)


@given(ANY_TEXT)
def test_storable_text_can_be_encoded_and_holds_no_nul(text: str) -> None:
    made = storable(text)
    assert b"\x00" not in made.encode()


def test_storable_text_is_else_as_it_was() -> None:
    text = "寄合 🙂\r\n\tx"
    assert storable(text) == text
