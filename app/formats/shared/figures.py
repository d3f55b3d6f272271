"""Numbers and ballots of any format, so that a reader can re-count them (PROTOCOLS 15)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from app.domain.values import Json
from app.formats.shared.page import Block, Cell, Page, Strong, Theirs, joined, said, table

_SHARE = {"numerator", "denominator"}


def figure(value: Json) -> Cell:
    """Anything in one cell: an option, a ranking in its order, scores by option."""
    if isinstance(value, str):
        return Theirs(value)
    if isinstance(value, Mapping):
        return _by_name(cast("Mapping[str, Json]", value))
    if isinstance(value, Sequence):
        return joined(figure(each) for each in cast("Sequence[Json]", value))
    if value is None:
        return said("measure.missing")
    if isinstance(value, bool):
        return said("measure.yes" if value else "measure.no")
    return Theirs(str(value))


def _by_name(values: Mapping[str, Json]) -> Cell:
    if set(values) == _SHARE:
        return said("measure.of", part=values["numerator"], whole=values["denominator"])
    pairs = (joined((Theirs(key), figure(each)), ": ") for key, each in values.items())
    return joined(pairs, "; ")


def figures(numbers: Mapping[str, Json], passed_over: Collection[str] = ()) -> Page:
    """A format's numbers: the single ones in one table, each table of numbers as a table."""
    shown = {key: value for key, value in numbers.items() if key not in passed_over}
    singles = [key for key, value in shown.items() if not _is_table(value)]
    if singles:
        yield table(
            (said("label.item"), said("label.value")),
            ((Theirs(key), figure(shown[key])) for key in singles),
        )
    for key, value in shown.items():
        if _is_table(value):
            yield Strong(Theirs(key))
            yield _rows(cast("Mapping[str, Mapping[str, Json]]", value))


def _is_table(value: Json) -> bool:
    """Whether it is an object of objects that all have the same fields."""
    if not isinstance(value, Mapping) or not value:
        return False
    rows = list(cast("Mapping[str, Json]", value).values())
    if not all(isinstance(row, Mapping) for row in rows):
        return False
    fields = {tuple(row) for row in rows}
    return len(fields) == 1 and set(next(iter(fields))) != _SHARE


def _rows(rows: Mapping[str, Mapping[str, Json]]) -> Block:
    columns = list(next(iter(rows.values())))
    return table(
        (said("label.item"), *(Theirs(column) for column in columns)),
        ((Theirs(name), *(figure(row[key]) for key in columns)) for name, row in rows.items()),
    )
