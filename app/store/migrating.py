"""Bringing a database to the present schema, and telling whether it is there.

Alembic is imported only when there is something to do: it would cost a start more than the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from app.domain.errors import YoriaiError
from app.store.database import DatabaseUnusable, reason_of

if TYPE_CHECKING:
    from alembic.config import Config

_FOLDER = Path(__file__).parents[2] / "migrations"
NEWEST = "0003"
"""The revision that this code needs; a test compares it with the folder's newest."""


class SchemaTooNew(YoriaiError):
    code = "schema-too-new"


def revision(engine: Engine) -> str | None:
    """The database's revision, or None for an empty one. Raises ``DatabaseUnusable``."""
    with _usable(engine) as connection:
        return _revision(connection)


def upgrade(engine: Engine, target: str = "head") -> None:
    """Run the migrations that are missing, with the schema's number, in one transaction.

    Raises ``SchemaTooNew`` for a database that newer code has migrated, ``DatabaseUnusable`` for
    what is none.
    """
    from alembic import command  # noqa: PLC0415 - see the module's docstring

    _run(engine, command.upgrade, target)


def downgrade(engine: Engine, target: str) -> None:
    """Undo migrations down to this revision (``base``: all of them), in one transaction."""
    from alembic import command  # noqa: PLC0415 - the same

    _run(engine, command.downgrade, target)


def ensure_newest(engine: Engine) -> None:
    """Raises what ``upgrade`` does."""
    if revision(engine) != NEWEST:
        upgrade(engine)


def _run(engine: Engine, command: Callable[[Config, str], None], target: str) -> None:
    from alembic.config import Config  # noqa: PLC0415 - the same
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - the same

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    with _usable(engine) as connection:
        present = _revision(connection)
        if present is not None and present not in known:
            raise SchemaTooNew(
                f"The database has schema {present}, which this version of Yoriai does not know; "
                "it needs a newer one."
            )
        # On SQLite too: the connection's own BEGIN, not the driver's, opened this transaction.
        config.attributes["connection"] = connection
        command(config, target)
        connection.commit()


@contextmanager
def _usable(engine: Engine) -> Iterator[Connection]:
    try:
        with engine.connect() as connection:
            yield connection
    except SQLAlchemyError as failure:
        name = engine.url.render_as_string()
        raise DatabaseUnusable(f"{name} cannot be used: {reason_of(failure)}.") from failure


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
