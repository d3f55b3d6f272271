"""What tells whether a log's step is the one that the format yields now."""

from __future__ import annotations

import pytest

from app.coordinator.replay import fingerprint
from app.domain.meeting.events import RoundClosed
from app.domain.steps import Note
from app.domain.values import JsonValue


def of(**content: JsonValue) -> str:
    return fingerprint(Note("end", RoundClosed(round=1, details=content)))


def test_the_order_of_names_makes_no_difference() -> None:
    assert of(a=1, b={"x": None, "y": ["会議"]}) == of(b={"y": ["会議"], "x": None}, a=1)


def test_any_other_content_does() -> None:
    assert of(a=[1, 2]) != of(a=[2, 1])
    assert of(a="1") != of(a=1)


@pytest.mark.parametrize("content", ["half a character: \ud83c", 2**70, {"deep": [-(2**70)]}])
def test_what_the_fast_encoder_refuses_has_one_too(content: JsonValue) -> None:
    assert of(a=content, b=1) == of(b=1, a=content) != of(a=None, b=1)
