"""From what pydantic found wrong to what a person is told, field by field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from app.domain.errors import Fault, pointer_to

MOST_FAULTS = 50
_SUBJECT = re.compile(r"^[A-Z]\w* should")
_OF_THE_KEY = "[key]"
"""Pydantic's last step when a key itself is at fault, and not what stands under it."""

NOT_BUILT_YET = "not_built_yet"
"""The type of a pydantic error about a field that a later version will have."""

_WORDS = {
    "missing": "This is required.",
    "string_type": "This should be text.",
    "extra_forbidden": "There is no such field; remove it or check its spelling.",
    "unexpected_keyword_argument": "There is no such field; remove it or check its spelling.",
}


_UNKNOWN: Any = object()


def faults_of(
    errors: Sequence[Any],
    *,
    content: Any = _UNKNOWN,
    skip: int = 0,
    explain: Callable[[Any], str | None] | None = None,
) -> tuple[Fault, ...]:
    """A fault for each field in ``ValidationError.errors()``.

    ``skip`` leading steps are no fields; ``content`` is the document, to tell its fields from the
    names of schemas that pydantic puts between them. ``explain`` may have better words for an
    error. There are at most ``MOST_FAULTS``, so that a hostile body gets no huge answer.
    """
    found: dict[str, Fault] = {}
    for error in errors:
        steps = error["loc"][skip:]
        if content is not _UNKNOWN:
            steps = _fields_in(content, steps, missing=error["type"] == "missing")
        place = pointer(steps)
        if place not in found and len(found) < MOST_FAULTS:
            found[place] = Fault(place, (explain and explain(error)) or _told(error))
    left = len({error["loc"] for error in errors}) - MOST_FAULTS
    told = tuple(fault for place, fault in found.items() if not _is_above_another(place, found))
    return (*told, Fault("", f"{left} more faults are not listed.")) if left > 0 else told


def _is_above_another(place: str, places: Iterable[str]) -> bool:
    """Whether a field inside this one is at fault: an object that was taken for an alternative
    of its kind is no fault of its own then."""
    return any(other.startswith(place + "/") for other in places)


def _fields_in(content: Any, steps: Sequence[int | str], *, missing: bool) -> list[int | str]:
    """The steps that lead through the document; the others name alternatives of a schema."""
    fields: list[int | str] = []
    last = len(steps) - 1
    for index, step in enumerate(steps):
        if _holds(content, step):
            content = content[step]
        elif not (missing and index == last) and step != _OF_THE_KEY:
            continue
        fields.append(step)
    return fields


def _holds(content: Any, step: int | str) -> bool:
    if isinstance(content, list):
        return isinstance(step, int) and step < len(content)
    return isinstance(content, dict) and step in content


def _told(error: Any) -> str:
    return _WORDS.get(error["type"]) or _sentence(error["msg"])


def pointer(steps: Sequence[int | str]) -> str:
    """The JSON pointer to where pydantic found something wrong."""
    return pointer_to(step for step in steps if step != _OF_THE_KEY)


def fragment(pointer_: str) -> str:
    """A JSON pointer as RFC 9457 shows it: in a URI's fragment."""
    bare = pointer_.removeprefix("#")
    return "#" + quote(bare, safe="/~!$&'()*+,;=:@", errors="replace")


def _sentence(message: str) -> str:
    words = _SUBJECT.sub("This should", message.replace("Value error, ", "This ", 1))
    return words if words.endswith((".", "!", "?")) else f"{words}."
