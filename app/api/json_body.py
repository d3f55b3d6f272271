"""Reading a JSON body strictly: what two readers could understand differently is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from app.api.faults import NOT_BUILT_YET, faults_of, pointer
from app.api.problems import Problem, invalid
from app.domain.errors import Fault

_Wire = TypeVar("_Wire", bound=BaseModel)

_JSON_TYPE = re.compile(r"\s*application/(?:json|[\w.-]+\+json)\s*(?:;.*)?", re.IGNORECASE)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


Explain = Callable[[Any], str | None]
"""Finds words of its own for a pydantic error, or None for the usual ones."""


def _in_usual_words(error: Any) -> None:
    del error


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A body that is well-formed JSON: as it came, and what it says."""

    raw: bytes
    content: Any

    @property
    def canonical(self) -> bytes:
        """The same bytes for the same content, whatever its spacing and order of keys."""
        return json.dumps(self.content, sort_keys=True, separators=(",", ":")).encode()


async def read_json(request: Request) -> JsonBody:
    """The request's body. A missing Content-Type is refused too: a page in somebody's browser
    can send a body without one to a service on loopback, unasked."""
    if not _JSON_TYPE.fullmatch(request.headers.get("content-type", "")):
        raise Problem(
            "unsupported-media-type",
            "Send the body as JSON, with the header Content-Type: application/json.",
            headers={"Accept": "application/json"},
        )
    raw = await request.body()
    content = _parsed(raw)
    _refuse_surrogates(raw, content)
    return JsonBody(raw, content)


async def read_optional_json(request: Request) -> JsonBody:
    """The same, for calls whose body may be left out; it is an empty object then."""
    if not await request.body():
        return JsonBody(b"{}", {})
    return await read_json(request)


def validated(model: type[_Wire], body: JsonBody, explain: Explain = _in_usual_words) -> _Wire:
    """The body as the wire schema reads it; else the problem that names every field at fault."""
    try:
        return model.model_validate_json(body.raw)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
    if wrong[0]["type"] == "json_invalid":
        raise _malformed("a number in it is too large or it is nested too deeply")
    later = [each for each in wrong if each["type"] == NOT_BUILT_YET]
    if later:
        # Told alone: whoever asks for what is not there has no use yet for other faults.
        raise invalid(*faults_of(later, content=body.content), code="not-built-yet")
    raise invalid(*faults_of(wrong, content=body.content, explain=explain))


def _parsed(raw: bytes) -> Any:
    if not raw.strip():
        raise _malformed("it is empty")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise _malformed("it is not UTF-8") from None
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise _malformed(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _malformed("it is nested too deeply") from None
    except ValueError:
        # Python's own guard against numbers of thousands of digits.
        raise _malformed("a number in it has too many digits") from None


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise _malformed(f"it names the field {repeated[:64]!r} more than once in one object")
    return content


def _no_number(name: str) -> NoReturn:
    raise _malformed(f"{name} is no JSON value")


def _malformed(why: str) -> Problem:
    return Problem("malformed-json", f"The body cannot be read as JSON: {why}.")


def _refuse_surrogates(raw: bytes, content: Any) -> None:
    """Half a character (``"\\ud800"``) is JSON by the letter, and no text that can be kept."""
    if b"\\u" not in raw:
        return
    halves = [Fault(pointer(path), "This holds half a character.") for path in _halves(content)]
    if halves:
        raise invalid(*halves[:10])


def _halves(content: Any) -> Iterator[tuple[int | str, ...]]:
    waiting: list[tuple[tuple[int | str, ...], Any]] = [((), content)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str) and _SURROGATE.search(value):
            yield path
        elif isinstance(value, list):
            waiting.extend(((*path, index), each) for index, each in enumerate(value))
        elif isinstance(value, dict):
            for key, each in value.items():
                if _SURROGATE.search(key):
                    yield path
                else:
                    waiting.append(((*path, key), each))
