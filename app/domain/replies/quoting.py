"""What an answerer wrote, quoted back: bounded, and fit to stand in a sentence about it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from app.domain.replies.messages import Arg, Code, Message
from app.domain.replies.text import clean, folded, one_line

MOST_TEXT_CHARACTERS = 2_000


_MOST_SHOWN = 20


NO_OBJECT = Message.of(Code.NO_OBJECT)


def bounded_text(value: object, most_characters: int = MOST_TEXT_CHARACTERS) -> str:
    """Text out of a JSON reply, fit to be stored; anything but a string is empty."""
    if not isinstance(value, str):
        return ""
    # JSON can spell half a surrogate pair, which no store can encode.
    return clean(value.encode("utf-8", "replace").decode(), most_characters)


def mentioned(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that occur in a text as whole words, in the order of ``names``.

    Where one name contains another, the longer one is found; spaces inside a name are optional.
    """
    by_key = {_squeezed(name): name for name in names if folded(name)}
    if not by_key:
        return ()
    found = _names_pattern(tuple(by_key)).findall(unicodedata.normalize("NFKC", text).casefold())
    seen = {_squeezed(match) for match in found}
    return tuple(name for key, name in by_key.items() if key in seen)


def _squeezed(name: str) -> str:
    return "".join(folded(name).split())


@lru_cache(maxsize=256)
def _names_pattern(keys: tuple[str, ...]) -> re.Pattern[str]:
    # Longest first, or "React" would be found where "React Native" stands. Japanese has no spaces
    # between words, so only ASCII letters and digits make a boundary.
    spaced = (r"\s*".join(map(re.escape, key)) for key in sorted(keys, key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(spaced)})(?![a-z0-9])")


def shown(value: object) -> Arg:
    """Something out of a reply, short enough for a sentence about it."""
    if isinstance(value, str):
        return one_line(bounded_text(value), 80)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (list, dict)):
        return Message.of(Code.A_LIST if isinstance(value, list) else Code.AN_OBJECT)
    endless = isinstance(value, float) and not math.isfinite(value)
    return Message.of(Code.ENDLESS if endless else Code.A_NUMBER)


def listed(values: Iterable[object]) -> tuple[Arg, ...]:
    every = tuple(shown(value) for value in values)
    more = (Message.of(Code.MORE),) if len(every) > _MOST_SHOWN else ()
    return every[:_MOST_SHOWN] + more
