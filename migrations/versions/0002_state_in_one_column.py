"""What of a meeting is queried has a column; everything else that changes is JSON in one of them.
Rounds, replies and seats beside the log go: nothing ever read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Record = Mapping[str, Any]

MOMENT = sa.DateTime(timezone=True)
AT_ONCE = 200
REFERRING = ("meeting_metadata", "dissent", "cancellation", "operation")

# What goes into ``state`` as it is, with what it is in a meeting that has just been created.
PLAIN: Record = {
    "round": 0,
    "motion": None,
    "replies": 0,
    "minutes_path": None,
    "seconds_before": 0.0,
    "last_number": 0,
}
MOMENTS = ("started_at", "ended_at", "deadline")
# What was JSON text before, likewise.
ENCODED: Record = {
    "outcome": None,
    "cancellation": None,
    "pending_question": None,
    "reserved": {},
    "children": {},
    "adopted": {},
    "operations": {},
    "resumptions": [],
}
SPENT = ("input_tokens", "output_tokens", "usd")
GONE = {
    "topic": sa.Text(),
    "round": sa.Integer(),
    "motion": sa.Text(),
    "replies": sa.Integer(),
    "input_tokens": sa.BigInteger(),
    "output_tokens": sa.BigInteger(),
    "usd": sa.String(),
    "started_at": MOMENT,
    "ended_at": MOMENT,
    "deadline": MOMENT,
    **dict.fromkeys(("outcome", "cancellation", "pending_question", "minutes_path"), sa.Text()),
    **dict.fromkeys(("reserved", "children", "adopted", "operations", "resumptions"), sa.Text()),
    "resumed_at": MOMENT,
    "seconds_before": sa.Float(),
    "last_number": sa.Integer(),
}
NEVER_NULL = ("topic", "round", "replies", "input_tokens", "output_tokens", "seconds_before")
NEVER_NULL += ("last_number", "reserved", "children", "adopted", "operations", "resumptions")

meeting = sa.table(
    "meeting",
    *(sa.column(name, sa.Text()) for name in ("id", "record", "state")),
    *(sa.column(name, type_) for name, type_ in GONE.items()),
)
event = sa.table("event", *(sa.column(name) for name in ("meeting_id", "type", "data")))


def upgrade() -> None:
    for name in ("participant", "round", "reply"):
        op.drop_table(name)
    op.add_column("meeting", sa.Column("state", sa.Text()))
    for rows in _meetings(meeting.c.id, *(meeting.c[name] for name in GONE)):
        _update([{"of": row["id"], "state": _encoded(_state(row))} for row in rows])
    with _meeting_table() as changed:
        for name in GONE:
            changed.drop_column(name)
        changed.alter_column("state", existing_type=sa.Text(), nullable=False)


def downgrade() -> None:
    for name, type_ in GONE.items():
        op.add_column("meeting", sa.Column(name, type_))
    for rows in _meetings(meeting.c.id, meeting.c.record, meeting.c.state):
        _update([{"of": row["id"], **_columns(row)} for row in rows])
    with _meeting_table() as changed:
        changed.drop_column("state")
        for name in NEVER_NULL:
            changed.alter_column(name, existing_type=GONE[name], nullable=False)
    _create_what_nothing_reads()


# --- the state of a meeting -----------------------------------------------------------------------


def _state(row: Record) -> Record:
    """All that changes and is not queried; what is empty is left out."""
    kept = {name: row[name] for name, empty in PLAIN.items() if row[name] != empty}
    kept |= {name: _rfc3339(row[name]) for name in MOMENTS if row[name] is not None}
    for name, empty in ENCODED.items():
        value = None if row[name] is None else orjson.loads(row[name])
        if value != empty:
            kept[name] = value
    usd = row["usd"]
    if row["input_tokens"] or row["output_tokens"] or usd is None or Decimal(usd):
        kept["spent"] = {name: row[name] for name in SPENT}
    ballots = _ballots(row["id"])
    return kept | {"ballots": ballots} if ballots else kept


def _columns(row: Record) -> Record:
    """The same as the columns that there were before."""
    state = orjson.loads(row["state"])
    spent = state.get("spent", {"input_tokens": 0, "output_tokens": 0, "usd": "0"})
    columns: dict[str, Any] = {"topic": orjson.loads(row["record"])["topic"], **spent}
    columns |= {name: state.get(name, empty) for name, empty in PLAIN.items()}
    columns |= {name: _moment(state.get(name)) for name in MOMENTS}
    for name, empty in ENCODED.items():
        value = state.get(name, empty)
        columns[name] = None if value is None else _encoded(value)
    resumptions = state.get("resumptions")
    columns["resumed_at"] = _moment(resumptions[-1]["at"]) if resumptions else None
    return columns


def _ballots(meeting_id: str) -> int:
    """How many of its replies were looked through for a ballot."""
    query = (
        sa.select(event.c.data)
        .where(event.c.meeting_id == meeting_id, event.c.type == "reply.received")
        .where(event.c.data.contains('"ballot"'))
    )
    return sum("ballot" in orjson.loads(data) for data in op.get_bind().scalars(query))


def _meetings(*columns: Any) -> Iterator[Sequence[Any]]:
    last = ""
    query = sa.select(*columns).order_by(meeting.c.id).limit(AT_ONCE)
    while rows := op.get_bind().execute(query.where(meeting.c.id > last)).mappings().all():
        yield rows
        last = rows[-1]["id"]


def _update(rows: list[dict[str, Any]]) -> None:
    names = rows[0].keys() - {"of"}
    change = meeting.update().where(meeting.c.id == sa.bindparam("of"))
    change = change.values({name: sa.bindparam(f"new_{name}") for name in names})
    given = [{"of": row["of"], **{f"new_{name}": row[name] for name in names}} for row in rows]
    op.get_bind().execute(change, given)


@contextmanager
def _meeting_table() -> Iterator[Any]:
    """The table ``meeting``, to be altered.

    SQLite alters a table by putting another in its place, and not while there are rows that refer
    to it: these step aside. Its triggers go with the old one.
    """
    referring = REFERRING if _on_sqlite() else ()
    for name in referring:
        op.execute(f"CREATE TEMP TABLE {name}_aside AS SELECT * FROM {name}")  # noqa: S608
        op.execute(f"DELETE FROM {name}")  # noqa: S608
    with op.batch_alter_table("meeting") as changed:
        yield changed
    for name in referring:
        op.execute(f"INSERT INTO {name} SELECT * FROM {name}_aside")  # noqa: S608
        op.execute(f"DROP TABLE {name}_aside")
    if _on_sqlite():
        _restore_search()


def _restore_search() -> None:
    """Keep the index of trigrams in line with the table again."""
    add = "INSERT INTO meeting_search(rowid, search_text) VALUES (new.row_id, new.search_text); "
    remove = (
        "INSERT INTO meeting_search(meeting_search, rowid, search_text) "
        "VALUES ('delete', old.row_id, old.search_text); "
    )
    op.execute(f"CREATE TRIGGER meeting_search_insert AFTER INSERT ON meeting BEGIN {add}END")
    op.execute(
        "CREATE TRIGGER meeting_search_update AFTER UPDATE OF search_text ON meeting "
        f"BEGIN {remove}{add}END"
    )


def _on_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


# --- values ---------------------------------------------------------------------------------------


def _encoded(value: Any) -> str:
    return orjson.dumps(value).decode()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _rfc3339(at: datetime) -> str:
    utc = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return utc.isoformat().replace("+00:00", "Z")


# --- what nothing reads ---------------------------------------------------------------------------


def _of_meeting() -> sa.Column[str]:
    return sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), primary_key=True)


def _numbered(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), primary_key=True, autoincrement=False)


def _create_what_nothing_reads() -> None:
    """Without rows: the version that wrote them did without, too."""
    op.create_table(
        "participant",
        _of_meeting(),
        _numbered("seat"),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("weight", sa.String(), nullable=False),
        sa.Column("expert", sa.Boolean(), nullable=False),
    )
    op.create_table(
        "round",
        _of_meeting(),
        _numbered("number"),
        sa.Column("motion", sa.Text()),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("closed_at", MOMENT),
        sa.Column("consensus", sa.String()),
        sa.Column("summary", sa.Text()),
    )
    op.create_table(
        "reply",
        _of_meeting(),
        _numbered("seq"),
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
