"""Preparing what an answerer wrote, before anything is read from it (PROTOCOLS 3 and 16)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, cast

_THINK = re.compile(r"<(/?)think>", re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_QUOTE = re.compile(r"^ {0,3}>")
_SET_APART = re.compile("[<>`~]")
"""One of these stands in every tag, quote and fence; most replies have none of them."""

_TYPOGRAPHIC_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "＂": '"'})
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Whatever keeps a text from being kept as it is; most texts hold none of it."""

_MOST_FAILED_PARSES = 2_000
"""Bounds the work that a reply made of opening braces can cause."""


def without_thinking(text: str) -> str:
    """The text outside ``<think>`` blocks; an unclosed one runs to the end."""
    kept: list[str] = []
    depth = 0
    position = 0
    for tag in _THINK.finditer(text):
        closing = tag.group(1) == "/"
        if depth == 0 and not closing:
            kept.append(text[position : tag.start()])
        if depth == 0 and closing:
            continue
        depth += -1 if closing else 1
        position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept)


def without_fences(lines: list[str]) -> Iterator[str]:
    """The lines outside fenced code blocks, by CommonMark's rules for fences."""
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        mark = match.group(1) if match else ""
        rest = match.group(2) if match else ""
        if fence:
            if mark.startswith(fence) and not rest.strip():
                fence = ""
        elif mark and not (mark[0] == "`" and "`" in rest):
            fence = mark
        else:
            yield line


def spoken(text: str) -> str:
    """What the answerer says in its own voice: no thinking, no code blocks, no quotes."""
    plain = unicodedata.normalize("NFKC", text).replace("【", "[").replace("】", "]")
    if _SET_APART.search(plain) is None:
        return plain
    lines = without_fences(without_thinking(plain).split("\n"))
    return "\n".join(line for line in lines if not _QUOTE.match(line))


def sanitised(text: str) -> str:
    """Text fit to be kept: no control characters, no halves of characters, one kind of line end."""
    # What is printable holds nothing unfit, and that is seen sooner.
    if text.isprintable() or _UNFIT.search(text) is None:
        return text.strip()
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub("", whole.replace("\r\n", "\n").replace("\r", "\n")).strip()


def clean(text: str, most_characters: int) -> str:
    """Sanitised text of at most so many characters."""
    cleaned = sanitised(text)
    if len(cleaned) <= most_characters:
        return cleaned
    return cleaned[: most_characters - 1].rstrip() + "…"


def one_line(text: str, most_characters: int) -> str:
    return clean(" ".join(text.split()), most_characters)


def folded(text: str) -> str:
    """The form in which names of options are compared (PROTOCOLS 16)."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def last_json_object(text: str) -> dict[str, Any] | None:
    """The last JSON object in a reply, bare or fenced, outside its thinking; else None."""
    speech = without_thinking(text)
    found = _last_object(speech)
    # Folding first would break the strings of a reply that quotes somebody properly.
    return found if found is not None else _last_object(speech.translate(_TYPOGRAPHIC_QUOTES))


def _last_object(text: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)
    found: dict[str, Any] | None = None
    failures = 0
    position = text.find("{")
    while position >= 0 and failures < _MOST_FAILED_PARSES:
        try:
            value, end = decoder.raw_decode(text, position)
            found = cast("dict[str, Any]", value)
        except (ValueError, RecursionError):
            failures += 1
            end = position + 1
        position = text.find("{", end)
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")
