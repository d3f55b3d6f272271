"""Meetings, their logs, and what follows from them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("meeting_id", sa.String(), primary_key=True),
        sa.Column("seq", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer()),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("step", sa.String()),
        sa.Column("fingerprint", sa.String()),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_index("ix_event_position", "event", ["position"], unique=True)
    op.create_index("ix_event_number", "event", ["meeting_id", "number"])

    log_head = op.create_table(
        "log_head",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
    )
    op.bulk_insert(log_head, [{"id": 1, "position": 0}])

    op.create_table(
        "meeting",
        sa.Column("row_id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("motion", sa.Text()),
        sa.Column("replies", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("usd", sa.String()),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("ended_at", MOMENT),
        sa.Column("deadline", MOMENT),
        sa.Column("result", sa.String()),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text()),
        sa.Column("cancellation", sa.Text()),
        sa.Column("pending_question", sa.Text()),
        sa.Column("minutes_path", sa.Text()),
        sa.Column("reserved", sa.Text(), nullable=False),
        sa.Column("children", sa.Text(), nullable=False),
        sa.Column("adopted", sa.Text(), nullable=False),
        sa.Column("operations", sa.Text(), nullable=False),
        sa.Column("below", sa.Text()),
        sa.Column("resumptions", sa.Text(), nullable=False),
        sa.Column("resumed_at", MOMENT),
        sa.Column("seconds_before", sa.Float(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
    )
    op.create_index("ix_meeting_id", "meeting", ["id"], unique=True)
    op.create_index("ix_meeting_status", "meeting", ["status", "id"])

    op.create_table(
        "meeting_metadata",
        sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), primary_key=True),
        sa.Column("key", sa.String(), primary_key=True),
        sa.Column("value", sa.String(), nullable=False),
    )
    op.create_index("ix_meeting_metadata_value", "meeting_metadata", ["key", "value"])
    op.create_table(
        "participant",
        sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), primary_key=True),
        sa.Column("seat", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("weight", sa.String(), nullable=False),
        sa.Column("expert", sa.Boolean(), nullable=False),
    )
    op.create_table(
        "round",
        sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("motion", sa.Text()),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("closed_at", MOMENT),
        sa.Column("consensus", sa.String()),
        sa.Column("summary", sa.Text()),
    )
    op.create_table(
        "reply",
        sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), primary_key=True),
        sa.Column("seq", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("participant", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("stance", sa.String()),
        sa.Column("input_tokens", sa.BigInteger()),
        sa.Column("output_tokens", sa.BigInteger()),
        sa.Column("usd", sa.String()),
    )
    op.create_index("ix_reply_round", "reply", ["meeting_id", "round"])
    op.create_table(
        "dissent",
        sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("participant", sa.String(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("mitigation", sa.Text()),
        sa.Column("round", sa.Integer()),
    )
    op.create_table(
        "cancellation",
        sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), primary_key=True),
        sa.Column("requested_at", MOMENT, nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("items", sa.Text(), nullable=False),
    )
    op.create_table(
        "operation",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("requested_at", MOMENT, nullable=False),
        sa.Column("next_check_at", sa.String()),
        sa.Column("record", sa.Text(), nullable=False),
    )
    op.create_index("ix_operation_state", "operation", ["state", "requested_at", "id"])
    op.create_table(
        "idempotency",
        sa.Column("key", sa.String(), primary_key=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("meeting_id", sa.String(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_table(
        "agent",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )
    _index_search_text()


def _index_search_text() -> None:
    """Trigrams find words of Japanese, which has no spaces to split at."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        op.create_index(
            "ix_meeting_search_text",
            "meeting",
            ["search_text"],
            postgresql_using="gin",
            postgresql_ops={"search_text": "gin_trgm_ops"},
        )
        return
    op.execute(
        "CREATE VIRTUAL TABLE meeting_search USING fts5("
        "search_text, content='meeting', content_rowid='row_id', tokenize='trigram')"
    )
    op.execute(
        "CREATE TRIGGER meeting_search_insert AFTER INSERT ON meeting BEGIN "
        "INSERT INTO meeting_search(rowid, search_text) VALUES (new.row_id, new.search_text); END"
    )
    op.execute(
        "CREATE TRIGGER meeting_search_update AFTER UPDATE OF search_text ON meeting BEGIN "
        "INSERT INTO meeting_search(meeting_search, rowid, search_text) "
        "VALUES ('delete', old.row_id, old.search_text); "
        "INSERT INTO meeting_search(rowid, search_text) VALUES (new.row_id, new.search_text); END"
    )


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE meeting_search")
    for table in (
        "agent",
        "idempotency",
        "operation",
        "cancellation",
        "dissent",
        "reply",
        "round",
        "participant",
        "meeting_metadata",
        "meeting",
        "log_head",
        "event",
    ):
        op.drop_table(table)
