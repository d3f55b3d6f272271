"""A plain list out of a meeting's events: which objections stand how."""

from __future__ import annotations

from app.domain.meeting.history import History, Recorded
from app.domain.values import Json, rfc3339


def objections_record(past: History) -> list[dict[str, Json]]:
    """Every objection as it stands now, in the order in which they were first raised."""
    return [_objection(told) for told in past.objections_now]


def _objection(told: Recorded) -> dict[str, Json]:
    """With the round in which it was raised, and not the one of its latest event."""
    shown = {**told.data, "changed_at": rfc3339(told.at)}
    shown["round"] = shown.pop("raised_in")
    return shown
