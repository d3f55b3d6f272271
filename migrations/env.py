"""Alembic's environment: runs on the connection that ``app.store.migrating`` hands in."""

from alembic import context

from app.store.tables import SQLModel

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    # SQLite cannot alter a table in place; batch mode copies it.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
