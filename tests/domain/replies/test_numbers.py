"""Numbers are read as they were written, and words are no numbers (PROTOCOLS 7)."""

from fractions import Fraction

import pytest

from app.domain.replies.numbers import read_number


@pytest.mark.parametrize(
    ("written", "scale", "number"),
    [
        (0.9, 1, Fraction(9, 10)),
        ("0.9", 1, Fraction(9, 10)),
        (".9", 1, Fraction(9, 10)),
        ("90%", 1, Fraction(9, 10)),
        ("９０％", 1, Fraction(9, 10)),
        ("9/10", 1, Fraction(9, 10)),
        ("9 / 10", 1, Fraction(9, 10)),
        (1, 1, Fraction(1)),
        ("8/10", 10, Fraction(8)),
        ("4/5", 10, Fraction(8)),
        ("80%", 10, Fraction(8)),
        ("8", 10, Fraction(8)),
        ("-1", 10, Fraction(-1)),
        (0.1 + 0.2, 1, Fraction("0.30000000000000004")),
    ],
)
def test_numbers_are_read_as_written(written: object, scale: int, number: Fraction) -> None:
    assert read_number(written, scale) == number


@pytest.mark.parametrize(
    "written",
    [True, False, None, "high", "nine", "", "1e9", "1e999999", "9/0", "9/0.0", "0,9", "9 out of 10",
     float("nan"), float("inf"), [], {}, "9" * 40, "٩", "90%%"],
)  # fmt: skip
def test_what_is_no_number(written: object) -> None:
    assert read_number(written, 10) is None
