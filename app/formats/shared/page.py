"""What a record shows, as values: headings, tables, lists, and words by their codes.

A format's part of minutes, decision record and handoff is made of these; ``records/`` lays them out
in either language, as Markdown, HTML or JSON, and makes other people's words safe for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the catalogue, by its code (``vote.passed``), with what is filled in."""

    code: str
    args: tuple[tuple[str, Cell], ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """The text of this code if the catalogue has one, else what stands instead of it."""

    said: Said
    otherwise: Cell


@dataclass(frozen=True, slots=True)
class Theirs:
    """Other people's words, to be shown on one line and contained."""

    text: str


@dataclass(frozen=True, slots=True)
class Joined:
    """One after the other, with what the language puts between items of a list, or ``between``."""

    items: tuple[Cell, ...]
    between: str | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment as the language writes it; None where there was none."""

    at: datetime | None


Cell: TypeAlias = str | int | float | Said | Either | Theirs | Joined | Moment
"""A text on one line. A bare string is ours (a figure, a mark such as AGREE) and safe as it is."""


@dataclass(frozen=True, slots=True)
class Heading:
    """``level`` counts from the place where the part stands: 2 is a section of the whole record."""

    text: Cell
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: Cell


@dataclass(frozen=True, slots=True)
class Strong:
    """A paragraph that introduces what follows it."""

    text: Cell


@dataclass(frozen=True, slots=True)
class Quote:
    """Other people's words as a block of their own."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    items: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    headings: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]


Block: TypeAlias = Heading | Paragraph | Strong | Quote | Bullets | Table

Page: TypeAlias = Iterator[Block]


def said(code: str, **args: Cell) -> Said:
    return Said(code, tuple(args.items()))


def either(code: str, otherwise: Cell, **args: Cell) -> Either:
    return Either(said(code, **args), otherwise)


def joined(items: Iterable[Cell], between: str | None = None) -> Joined:
    return Joined(tuple(items), between)


def theirs(texts: Iterable[str]) -> Joined:
    """Several people's words, or names, as a list on one line."""
    return joined(Theirs(text) for text in texts)


def bullets(items: Iterable[Cell]) -> Bullets:
    return Bullets(tuple(items))


def table(headings: Iterable[Cell], rows: Iterable[Sequence[Cell]]) -> Table:
    return Table(tuple(headings), tuple(tuple(row) for row in rows))
