"""Other people's words inside Markdown: shown as they are, unable to become structure.

Topics, names and replies come from callers and models, and all of them are hostile. Nothing in
them may become a heading, front matter, a table, a link, HTML, or end the block it stands in.
Emphasis and lists inside a quoted block are left alone: they cannot leave it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from app.domain.values import Json

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ufffe\uffff\U000e0000-\U000e007f]"
)
"""Controls, marks that reverse the direction of text, and tags that only machines see."""

_JSON = json.JSONEncoder(ensure_ascii=False)
_SURROGATE = re.compile("[\ud800-\udfff]")

# What can begin a link, a tag, an entity, code, a table cell or a heading, wherever it stands.
# A backslash is escaped only where it would escape something; so paths stay legible.
_ACTIVE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|[<`|]|\](?=[(\[])|!(?=\[)|&(?=#?\w+;)|#(?!\w)|~(?=~)"
)
# In a line of our own, emphasis would run on into our words, so it is escaped there too.
_ACTIVE_INLINE = re.compile(_ACTIVE.pattern + r"|\*|(?<!\w)_|_(?!\w)")
# Underlines of headings, thematic breaks and delimiter rows of tables are all made of these.
_RULER_SIGNS = "-=_*:|+\\ \t"
_SIGN = re.compile(r"\S")
# A definition of a link's target starts its line; a bracket of a marker or a task box does not.
_LINE_START = re.compile(r"^([\s\d.)*+-]*)([>#]|\[(?![\w :/]*\](?!:)))")
# Most names, most lines of prose and the markers of replies hold nothing that could match above,
# and they are many.
_PLAIN = re.compile(r"(?:[^\W\d_][^\\<`|\[\]!&#~*_]*)?")
_PROSE = re.compile(r"(?:- )?[^\W\d_][^\\<`|\[\]!&#~]*|\[[\w :/]+\]")
_BLOCK_START = re.compile(r"^(?:([>=~#\[]|[-+](?=\s|$|[-+]))|(\d{1,9})([.)])(?=\s|$))")


def visible(text: str) -> str:
    """The text without anything unseen, fit for UTF-8 and for YAML."""
    if text.replace("\n", "").isprintable():
        return text
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _INVISIBLE.sub("", unified))


def plain(text: str) -> str:
    """Text on one line for where nothing is markup, as in JSON."""
    return " ".join(visible(text).split())


def inline(text: object) -> str:
    """Text on one line, safe in a sentence, a heading, a list item or a table's cell."""
    given = str(text)
    if given.isalpha() or (given.isprintable() and _PLAIN.fullmatch(given)):
        return given
    flat = " ".join(visible(given).split())
    return _BLOCK_START.sub(_escape_start, _ACTIVE_INLINE.sub(_escaped, flat))


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match.group()}"


def _escape_start(match: re.Match[str]) -> str:
    sign, digits, dot = match.groups()
    return f"\\{sign}" if sign else f"{digits}\\{dot}"


def quoted(text: str) -> str:
    """The text as a block quote that nothing in it can leave; its lines stay lines."""
    lines = [line.rstrip() for line in visible(text).strip().splitlines()]
    following = [*lines[1:], ""]
    return "\n".join(map(_quoted_line, lines, following))


def _quoted_line(line: str, following: str) -> str:
    """A line keeps its end only if the ``following`` one, which may be empty, goes on from it."""
    if not line:
        return ">"
    if _PROSE.fullmatch(line):
        safe = line
    elif not line.strip(_RULER_SIGNS):
        safe = _SIGN.sub(_escaped, line)
    else:
        safe = _LINE_START.sub(r"\1\\\2", _ACTIVE.sub(_escaped, line))
    return f"> {safe}  " if following else f"> {safe}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are already safe (our own words, or through ``inline``)."""
    lines = [_row(headings), _row(["---"] * len(headings))]
    lines.extend(_row(row) for row in rows)
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def front_matter(fields: Mapping[str, Json]) -> str:
    """YAML front matter of flat values, each written as JSON, which YAML reads as such."""
    lines = (f"{key}: {_yaml(value)}" for key, value in fields.items())
    return "\n".join(("---", *lines, "---"))


def _yaml(value: Json) -> str:
    if isinstance(value, str):
        value = " ".join(visible(value).split())
    return _JSON.encode(value)
