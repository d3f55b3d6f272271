"""What a record shows, as values: headings, tables, lists, and words by their codes.

A format's part of minutes, decision record and handoff is made of these; ``records/`` lays them out
in either language, as Markdown, HTML or JSON, and makes other people's words safe for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeAlias

import msgspec


class Said(msgspec.Struct, frozen=True):
    """A text of the catalogue, by its code (``vote.passed``), with what is filled in."""

    code: str
    args: tuple[tuple[str, Cell], ...] = ()


class Either(msgspec.Struct, frozen=True):
    """The text of this code if the catalogue has one, else what stands instead of it."""

    said: Said
    otherwise: Cell


class Theirs(msgspec.Struct, frozen=True):
    """Other people's words, to be shown on one line and contained."""

    text: str


class Joined(msgspec.Struct, frozen=True):
    """One after the other, with what the language puts between items of a list, or ``between``."""

    items: tuple[Cell, ...]
    between: str | None = None


class Moment(msgspec.Struct, frozen=True):
    """A moment as the language writes it; None where there was none."""

    at: datetime | None


Cell: TypeAlias = str | int | float | Said | Either | Theirs | Joined | Moment
"""A text on one line. A bare string is ours (a figure, a mark such as AGREE) and safe as it is."""


class Heading(msgspec.Struct, frozen=True):
    """``level`` counts from the place where the part stands: 2 is a section of the whole record."""

    text: Cell
    level: int = 2


class Paragraph(msgspec.Struct, frozen=True):
    text: Cell


class Strong(msgspec.Struct, frozen=True):
    """A paragraph that introduces what follows it."""

    text: Cell


class Quote(msgspec.Struct, frozen=True):
    """Other people's words as a block of their own."""

    text: str


class Bullets(msgspec.Struct, frozen=True):
    items: tuple[Cell, ...]


class Table(msgspec.Struct, frozen=True):
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
