"""Numbers in ballots and tallies: read as they were written, recorded so that nothing is lost."""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction

from app.domain.values import Json, exact

_DIGITS = r"(?:\d{1,6}(?:\.\d{1,9})?|\.\d{1,9})"
_NUMBER = re.compile(rf"([+-]?{_DIGITS})\s*(?:(%)|/\s*({_DIGITS}))?", re.ASCII)


def read_number(value: object, scale: int) -> Fraction | None:
    """A number as it was written, or None for anything else (words, booleans, infinities).

    ``9/10`` and ``90%`` are parts of ``scale``: 0.9 on a scale of 1, 9 on a scale of 10. Digits
    are bounded and strings have no exponents, so no spelling can make a huge number.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return exact(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    match = _NUMBER.fullmatch(unicodedata.normalize("NFKC", value).strip())
    if match is None:
        return None
    number = Fraction(match[1])
    if match[2]:
        return number * scale / 100
    whole = Fraction(match[3]) if match[3] else None
    if whole is None:
        return number
    return number * scale / whole if whole else None


def json_number(value: Fraction) -> int | float:
    """The JSON number whose ``exact`` is this value, for every value that decimals can write."""
    return value.numerator if value.denominator == 1 else float(value)


def share_record(share: Fraction) -> dict[str, Json]:
    """A share for the record: exact, and in per cent to one decimal for show."""
    return {
        "numerator": share.numerator,
        "denominator": share.denominator,
        "percent": float(round(share * 100, 1)),
    }
