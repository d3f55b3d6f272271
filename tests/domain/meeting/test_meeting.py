import json
from decimal import Decimal
from fractions import Fraction

import pytest

from app.domain.meeting.meeting import (
    CompletionGate,
    Criterion,
    Limits,
    Material,
    Meeting,
    Seat,
    label_letters,
)
from app.domain.values import exact

MEETING = Meeting(
    id="mtg_1",
    format="roundtable",
    format_version=1,
    topic="議題",
    seats=(
        Seat("a", "looks ahead", "default", Fraction(3, 2), expert=True),
        Seat("b", "", "judge"),
    ),
    secretary="default",
    limits=Limits(usd=Decimal("0.10"), tokens=5),
    motion="Do it.",
    options=("x", "y"),
    completion_gate=CompletionGate(),
    materials=(Material("m1", "v1", "text"),),
    criteria=(Criterion("c1", "short", check={"max_chars": 5}),),
    metadata={"team": "platform"},
)


def test_a_meeting_is_written_and_read_back_whole() -> None:
    assert Meeting.read(json.loads(json.dumps(MEETING.record()))) == MEETING


def test_labels_hide_names_unless_identities_are_shown() -> None:
    assert MEETING.label("b") == "Participant B"
    japanese = Meeting.read({**MEETING.record(), "language": "ja"})
    assert japanese.label("a") == "参加者 A"
    shown = Meeting.read({**MEETING.record(), "identities": "shown"})
    assert shown.label("a") == "a"


@pytest.mark.parametrize(("index", "letters"), [(0, "A"), (25, "Z"), (26, "AA"), (27, "AB")])
def test_letters(index: int, letters: str) -> None:
    assert label_letters(index) == letters


def test_numbers_are_taken_as_written() -> None:
    assert exact(0.6) == Fraction(6, 10)
    assert exact("0.66") == Fraction(66, 100)
