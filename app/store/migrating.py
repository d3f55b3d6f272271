"""Bringing a database to the present schema, and telling whether it is there.

Alembic is imported only when there is something to do: it would cost a start more than the rest.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

_FOLDER = Path(__file__).parents[2] / "migrations"
NEWEST = "0001"
"""The revision that this code needs; a test compares it with the folder's newest."""


def revision(engine: Engine) -> str | None:
    """The database's revision, or None for an empty one."""
    with engine.connect() as connection:
        return _revision(connection)


def upgrade(engine: Engine, target: str = "head") -> None:
    """Run the migrations that are missing; each is one transaction with its number."""
    from alembic import command  # noqa: PLC0415 - see the module's docstring
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, target)
        connection.commit()


def ensure_newest(engine: Engine) -> None:
    if revision(engine) != NEWEST:
        upgrade(engine)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
