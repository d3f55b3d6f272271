import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.replies.text import clean, folded, last_json_object, one_line, sanitised


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"vote": "A"}', {"vote": "A"}),
        ('First {"vote": "A"}, no: {"vote": "B"}.', {"vote": "B"}),
        ('```json\n{"vote": "A"}\n```', {"vote": "A"}),
        ('<think>{"vote": "B"}</think>{"vote": "A"}', {"vote": "A"}),
        ('{"scores": {"A": {"cost": 7}}}', {"scores": {"A": {"cost": 7}}}),
        ("{“vote”: “A”}", {"vote": "A"}),
        ('{"why": "she said “no”"}', {"why": "she said “no”"}),
        ('{"why": "two\nlines\tand a tab"}', {"why": "two\nlines\tand a tab"}),
        ('{"vote": "A"} and {broken', {"vote": "A"}),
        ('{ {"vote": "A"}', {"vote": "A"}),
        ("[1, 2]", None),
        ("no object", None),
        ('{"n": NaN}', None),
        ("{" * 60_000, None),
        ('{"a":' * 30_000, None),
    ],
)
def test_the_last_object_that_parses_counts(text: str, found: object) -> None:
    assert last_json_object(text) == found


@given(st.text())
def test_looking_for_an_object_never_raises(text: str) -> None:
    last_json_object(text)


@given(st.dictionaries(st.text(), st.one_of(st.none(), st.integers(), st.text())), st.text())
def test_an_object_behind_harmless_prose_is_found(value: dict[str, object], before: str) -> None:
    prose = before.replace("{", "(").replace("<", "(")
    assert last_json_object(prose + " " + json.dumps(value)) == value


@given(st.text(alphabet=st.characters()))
def test_sanitised_text_can_be_kept(text: str) -> None:
    kept = sanitised(text)
    kept.encode("utf-8")
    assert "\x00" not in kept
    assert "\r" not in kept
    assert sanitised(kept) == kept


def test_sanitising() -> None:
    assert sanitised(" a\r\nb\rc\x00\x1b\u202ed\ud800 ") == "a\nb\ncd?"


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_clean_text_is_bounded(text: str, most: int) -> None:
    assert len(clean(text, most)) <= most
    assert "\n" not in one_line(text, most)


def test_folding_names() -> None:
    assert folded(" ＰｏｓｔｇｒｅＳＱＬ ") == folded("postgresql")
