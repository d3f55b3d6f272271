"""Words in any script, looked for in a column ``search_text``.

On SQLite a table ``NAME_search`` holds its trigrams, on Postgres an index; Japanese has no spaces
to split at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Integer, column, text

from app.domain.replies.text import folded, sanitised

_SHORTEST_INDEXED = 3
"""Trigrams need three characters; shorter words are looked for by reading every row."""


def mentions(searched: Any, words: str, *, embedded: bool) -> Iterator[ColumnElement[bool]]:
    """A condition on the rows of the table ``searched`` for each word."""
    for word in folded(sanitised(words)).split():
        if embedded and len(word) >= _SHORTEST_INDEXED:
            yield _matches(searched, word)
        else:
            yield searched.c.search_text.contains(word, autoescape=True)


def _matches(searched: Any, word: str) -> ColumnElement[bool]:
    # LIKE through a trigram index finds nothing on some versions of SQLite; MATCH does.
    index = f"{searched.name}_search"
    found = text(f"SELECT rowid FROM {index} WHERE {index} MATCH :word")  # noqa: S608 - our table
    quoted = '"' + word.replace('"', '""') + '"'
    rows = found.bindparams(word=quoted).columns(column("rowid", Integer))
    return searched.c.row_id.in_(rows)
