"""Votes as they were counted, dissents that are searched over all meetings, and cancels once they
are closed: written once, and read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

Record = Mapping[str, Any]

MOMENT = sa.DateTime(timezone=True)
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
AT_ONCE = 200
MOST_SEARCHED_CHARACTERS = 20_000
BALLOT_FIELDS = ("ballot", "confidence", "rationale", "mitigation")

meeting = sa.table("meeting", *(sa.column(name) for name in ("id", "record", "state")))
event = sa.table(
    "event",
    *(sa.column(name) for name in ("meeting_id", "seq", "type", "data")),
    sa.column("at", MOMENT),
)
cancellation = sa.table(
    "cancellation",
    *(sa.column(name) for name in ("meeting_id", "reason", "state", "items")),
    sa.column("requested_at", MOMENT),
)


def upgrade() -> None:
    op.drop_table("dissent")
    # A cancel that is still open stands in its meeting's state.
    op.execute("DELETE FROM cancellation WHERE state = 'requested'")
    vote, dissent = _create_vote(), _create_dissent()
    for record, state in _meetings():
        if "ended_at" in state:
            _insert(vote, _votes(record) if state.get("ballots") else ())
            _insert(dissent, _dissents(record, state))


def downgrade() -> None:
    if _on_sqlite():
        op.execute("DROP TABLE dissent_search")
    op.drop_table("vote")
    op.drop_table("dissent")
    dissent = _create_former_dissent()
    for record, state in _meetings():
        if "outcome" in state:
            _insert(dissent, _former_dissents(record, state))
        if state.get("cancellation", {}).get("state") == "requested":
            _insert(cancellation, [_open_cancel(record, state)])


def _meetings() -> Iterator[tuple[Record, Record]]:
    """Every meeting as it was created, and its state."""
    last = ""
    query = sa.select(meeting).order_by(meeting.c.id).limit(AT_ONCE)
    while rows := op.get_bind().execute(query.where(meeting.c.id > last)).mappings().all():
        for row in rows:
            yield orjson.loads(row["record"]), orjson.loads(row["state"])
        last = rows[-1]["id"]


def _insert(into: Any, rows: Iterable[Record]) -> None:
    if given := list(rows):
        op.get_bind().execute(into.insert(), given)


# --- what a decision or a cancel leaves -----------------------------------------------------------


def _votes(record: Record) -> Iterator[Record]:
    weights = {seat["name"]: _exact(seat["weight"]) for seat in record["participants"]}
    replies = _replies(record["id"])
    final = [each for each in replies if "ballot" in each[1] and each[1].get("final", True)]
    for number, (row, reply) in enumerate(final):
        shown = {
            "participant": reply["participant"],
            "round": reply.get("round") or 1,
            "status": reply["status"],
            "reason": reply.get("reason"),
            **{name: reply.get(name) for name in BALLOT_FIELDS},
            "at": _rfc3339(row["at"]),
        }
        yield {
            "meeting_id": record["id"],
            "number": number,
            "seq": row["seq"],
            **{name: shown[name] for name in ("participant", "round", "status")},
            "attempt": reply.get("attempt", 1),
            "counted": reply["status"] == "ok" and not reply.get("late", False),
            **{name: _encoded_if_any(shown[name]) for name in ("ballot", "confidence")},
            "weight": weights[reply["participant"]],
            "record": _encoded(shown),
        }


def _dissents(record: Record, state: Record) -> Iterator[Record]:
    outcome = state.get("outcome") or _decided(record["id"])
    for number, each in enumerate(outcome["dissents"]):
        told = (each["position"], each["rationale"], each.get("mitigation") or "")
        yield {
            "meeting_id": record["id"],
            "number": number,
            **{name: each[name] for name in ("participant", "position", "rationale")},
            **{name: each.get(name) for name in ("mitigation", "round")},
            "topic": record["topic"],
            "decision": outcome["decision"],
            "decided_at": _moment(state["ended_at"]),
            "search_text": _folded("\n".join((record["topic"], *told))),
        }


def _replies(meeting_id: str) -> list[tuple[Any, Record]]:
    """The entries in which a ballot may have been looked for, each with what it says."""
    query = (
        sa.select(event)
        .where(event.c.meeting_id == meeting_id, event.c.type == "reply.received")
        .where(event.c.data.contains('"ballot"'))
        .order_by(event.c.seq)
    )
    rows = op.get_bind().execute(query).mappings()
    return [(row, orjson.loads(row["data"])) for row in rows]


def _decided(meeting_id: str) -> Record:
    """The outcome of a meeting that has not told of its end yet; once it was not set apart."""
    query = (
        sa.select(event.c.data)
        .where(event.c.meeting_id == meeting_id, event.c.type == "decision.recorded")
        .order_by(event.c.seq.desc())
        .limit(1)
    )
    data = orjson.loads(op.get_bind().execute(query).scalar_one())
    return data.get("outcome", data)


def _former_dissents(record: Record, state: Record) -> Iterator[Record]:
    for number, each in enumerate(state["outcome"]["dissents"]):
        yield {"meeting_id": record["id"], "number": number, **each}


def _open_cancel(record: Record, state: Record) -> Record:
    cancel = state["cancellation"]
    return {
        "meeting_id": record["id"],
        "requested_at": _moment(cancel["requested_at"]),
        "reason": cancel["reason"],
        "state": cancel["state"],
        "items": "[]",
    }


# --- values ---------------------------------------------------------------------------------------


def _encoded(value: Any) -> str:
    return orjson.dumps(value).decode()


def _encoded_if_any(value: Any) -> str | None:
    return None if value is None else _encoded(value)


def _exact(weight: float) -> str:
    return format(Decimal(str(weight)).normalize(), "f")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()[:MOST_SEARCHED_CHARACTERS]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _rfc3339(at: datetime) -> str:
    utc = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return utc.isoformat().replace("+00:00", "Z")


# --- tables ---------------------------------------------------------------------------------------


def _on_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _of_meeting(**options: Any) -> sa.Column[str]:
    return sa.Column("meeting_id", sa.String(), sa.ForeignKey("meeting.id"), **options)


def _numbered() -> sa.Column[int]:
    return sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False)


def _create_vote() -> sa.Table:
    return op.create_table(
        "vote",
        _of_meeting(primary_key=True),
        _numbered(),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("participant", sa.String(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("ballot", sa.Text()),
        sa.Column("confidence", sa.String()),
        sa.Column("weight", sa.String(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
    )


def _create_dissent() -> sa.Table:
    dissent = op.create_table(
        "dissent",
        sa.Column("row_id", ROW_ID, primary_key=True, autoincrement=True),
        _of_meeting(nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("participant", sa.String(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("mitigation", sa.Text()),
        sa.Column("round", sa.Integer()),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text()),
        sa.Column("decided_at", MOMENT, nullable=False),
        sa.Column("search_text", sa.Text(), nullable=False),
    )
    op.create_index("ix_dissent_meeting", "dissent", ["meeting_id", "number"], unique=True)
    op.create_index("ix_dissent_decided_at", "dissent", ["decided_at", "meeting_id"])
    op.create_index("ix_dissent_participant", "dissent", ["participant", "decided_at"])
    if _on_sqlite():
        op.execute(
            "CREATE VIRTUAL TABLE dissent_search USING fts5("
            "search_text, content='dissent', content_rowid='row_id', tokenize='trigram')"
        )
        op.execute(
            "CREATE TRIGGER dissent_search_insert AFTER INSERT ON dissent BEGIN "
            "INSERT INTO dissent_search(rowid, search_text) "
            "VALUES (new.row_id, new.search_text); END"
        )
        op.execute(
            "CREATE TRIGGER dissent_search_delete AFTER DELETE ON dissent BEGIN "
            "INSERT INTO dissent_search(dissent_search, rowid, search_text) "
            "VALUES ('delete', old.row_id, old.search_text); END"
        )
    else:
        op.create_index(
            "ix_dissent_search_text",
            "dissent",
            ["search_text"],
            postgresql_using="gin",
            postgresql_ops={"search_text": "gin_trgm_ops"},
        )
    return dissent


def _create_former_dissent() -> sa.Table:
    return op.create_table(
        "dissent",
        _of_meeting(primary_key=True),
        _numbered(),
        sa.Column("participant", sa.String(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("mitigation", sa.Text()),
        sa.Column("round", sa.Integer()),
    )
