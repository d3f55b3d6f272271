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
        case str():
            return cell
        case Theirs():
            return safe(cell.text)
        case Said():
            return words(cell.code, **{name: _value(words, each, safe) for name, each in cell.args})
        case Either():
            said = cell.said
            return line(words, said if words.has(said.code) else cell.otherwise, safe)
        case Joined():
            texts = [line(words, item, safe) for item in cell.items]
            return words.joined(texts) if cell.between is None else cell.between.join(texts)
        case Moment():
            return words.moment(cell.at)
        case _:
            return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _value(words: Words, cell: Cell, safe: Safe) -> object:
    match cell:
        case str() | int() | float():
            # Numbers stay numbers: a text may have a format of its own for them.
            return cell
        case _:
            return line(words, cell, safe)


def _laid_out(words: Words, block: Block) -> str:
    match block:
        case Paragraph():
            return line(words, block.text)
        case Heading():
            return f"{'#' * block.level} {line(words, block.text)}"
        case Strong():
            return f"**{line(words, block.text)}**"
        case Quote():
            return quoted(block.text)
        case Bullets():
            return "\n".join([f"- {line(words, item)}" for item in block.items])
        case Table():
            return table(
                [line(words, each) for each in block.headings],
                [[line(words, each) for each in row] for row in block.rows],
            )
