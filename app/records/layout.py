"""Lays out what a format shows (``formats.shared.page``) as Markdown, in a language's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from app.formats.shared.page import (
    Block,
    Bullets,
    Cell,
    Either,
    Heading,
    Joined,
    Moment,
    Paragraph,
    Quote,
    Said,
    Strong,
    Table,
    Theirs,
)
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table

Safe = Callable[[str], str]
"""Makes other people's words fit for where they will stand."""


def lay_out(words: Words, page: Iterable[Block]) -> Iterator[str]:
    """A paragraph of Markdown for each block."""
    for block in page:
        yield _laid_out(words, block)


def line(words: Words, cell: Cell, safe: Safe = inline) -> str:
    """A text on one line; ``safe`` contains what is other people's in it."""
    match cell:
        case Said(code, args):
            return words(code, **{name: _value(words, each, safe) for name, each in args})
        case Either(said, otherwise):
            return line(words, said if words.has(said.code) else otherwise, safe)
        case Theirs(text):
            return safe(text)
        case Joined(items, between):
            texts = [line(words, item, safe) for item in items]
            return words.joined(texts) if between is None else between.join(texts)
        case Moment(at):
            return words.moment(at)
        case str():
            return cell
        case _:
            return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _value(words: Words, cell: Cell, safe: Safe) -> object:
    # Numbers stay numbers: a text may have a format of its own for them.
    return cell if isinstance(cell, int | float) else line(words, cell, safe)


def _laid_out(words: Words, block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {line(words, text)}"
        case Paragraph(text):
            return line(words, text)
        case Strong(text):
            return f"**{line(words, text)}**"
        case Quote(text):
            return quoted(text)
        case Bullets(items):
            return "\n".join(f"- {line(words, item)}" for item in items)
        case Table(headings, rows):
            return table(
                [line(words, each) for each in headings],
                [[line(words, each) for each in row] for row in rows],
            )
