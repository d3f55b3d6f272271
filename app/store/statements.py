"""Statements that run for many rows at once, compiled once for the database at hand.

SQLAlchemy looks every statement up in its cache for each execution and walks every value of every
row through its types. For the log writer, whose rows are plain values already, that was half of
what a commit cost. Here a statement is compiled once, and the driver gets bare rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, CursorResult, Dialect, Insert

from app.store.tables import UtcDateTime

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Prepared:
    sql: str
    bind: Callable[[Row], Any]
    """A row as the driver takes it."""


def run_many(connection: Connection, statement: Any, rows: Sequence[Row]) -> None:
    """Execute the statement for each of the rows, which all have the same keys."""
    prepared = _prepared(statement, tuple(rows[0]), connection.dialect)
    connection.exec_driver_sql(prepared.sql, [prepared.bind(row) for row in rows])


def run_one(connection: Connection, statement: Any, row: Row) -> CursorResult[Any]:
    """Execute the statement once, for what it gives back."""
    prepared = _prepared(statement, tuple(row), connection.dialect)
    return connection.exec_driver_sql(prepared.sql, prepared.bind(row))


@lru_cache(maxsize=64)
def _prepared(statement: Any, keys: tuple[str, ...], dialect: Dialect) -> _Prepared:
    if isinstance(statement, Insert):
        # Else Postgres would be asked to give back the keys that it makes.
        statement = statement.inline()
    compiled: Any = statement.compile(dialect=dialect, column_keys=keys)
    binds: Mapping[str, Any] = compiled.binds
    if compiled.positiontup is None:
        return _Prepared(str(compiled), dict)
    moments = frozenset(
        name for name, bound in binds.items() if isinstance(bound.type, UtcDateTime)
    )
    return _Prepared(str(compiled), _in_order(tuple(compiled.positiontup), moments))


def _in_order(names: Sequence[str], moments: frozenset[str]) -> Callable[[Row], Any]:
    """Values by position, for SQLite, which has no type for a moment."""
    if len(names) == 1:
        return lambda row: (row[names[0]],)
    values_of: Callable[[Row], tuple[Any, ...]] = itemgetter(*names)
    places = [place for place, name in enumerate(names) if name in moments]
    if not places:
        return values_of

    def bind(row: Row) -> Any:
        values = list(values_of(row))
        for place in places:
            values[place] = _text(values[place])
        return tuple(values)

    return bind


def _text(at: datetime | None) -> str | None:
    """As SQLAlchemy writes it, and reads it again: in UTC, without saying so."""
    if at is None:
        return None
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return utc.isoformat(" ", "microseconds").removesuffix("+00:00")
