"""Numbers and ballots of any format, laid out so that a reader can re-count them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline, table

_SHARE = {"numerator", "denominator"}


def ballot_text(words: Words, ballot: Json) -> str:
    """A ballot in one cell: an option, a ranking in its order, scores by option."""
    if isinstance(ballot, Mapping):
        scores = cast("Mapping[str, Json]", ballot)
        if set(scores) == _SHARE:
            share = {"part": scores["numerator"], "whole": scores["denominator"]}
            return words("measure.of", **share)
        return "; ".join(f"{inline(key)}: {ballot_text(words, v)}" for key, v in scores.items())
    if isinstance(ballot, Sequence) and not isinstance(ballot, str):
        ranked = cast("Sequence[Json]", ballot)
        return words.joined(ballot_text(words, choice) for choice in ranked)
    if ballot is None:
        return words("measure.missing")
    if isinstance(ballot, bool):
        return words("measure.yes") if ballot else words("measure.no")
    return inline(ballot)


def figures(
    words: Words, numbers: Mapping[str, Json], passed_over: Collection[str] = ()
) -> Iterator[str]:
    """A format's numbers: the single ones in one table, each table of numbers as a table."""
    singles: list[tuple[str, str]] = []
    tables: list[tuple[str, Mapping[str, Mapping[str, Json]]]] = []
    for key, value in numbers.items():
        if key in passed_over:
            continue
        if _is_table(value):
            tables.append((key, value))
        else:
            singles.append((inline(key), ballot_text(words, value)))
    if singles:
        yield table([words("label.item"), words("label.value")], singles)
    for key, rows in tables:
        yield f"**{inline(key)}**"
        yield _rows(words, rows)


def _is_table(value: Json) -> bool:
    """Whether it is an object of objects that all have the same fields."""
    if not isinstance(value, Mapping) or not value:
        return False
    rows = list(cast("Mapping[str, Json]", value).values())
    if not all(isinstance(row, Mapping) for row in rows):
        return False
    fields = {tuple(row) for row in rows}
    return len(fields) == 1 and set(next(iter(fields))) != _SHARE


def _rows(words: Words, rows: Mapping[str, Mapping[str, Json]]) -> str:
    columns = list(next(iter(rows.values())))
    return table(
        [words("label.item"), *(inline(column) for column in columns)],
        [
            [inline(name), *(ballot_text(words, row[column]) for column in columns)]
            for name, row in rows.items()
        ],
    )
