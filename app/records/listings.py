"""Plain lists out of a meeting's events: who cast which ballot, which objections stand how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.domain.meeting import events
from app.domain.meeting.events import Event
from app.domain.values import Json, rfc3339

_BALLOT_FIELDS = ("ballot", "confidence", "rationale", "mitigation")


def votes_record(log: Iterable[Event]) -> list[dict[str, Json]]:
    """Every ballot in the order in which it came, invalid ones with their reason among them.

    A ballot that was asked for once more stands as it was in the end.
    """
    return [
        _vote(event)
        for event in log
        if event.type == events.REPLY_RECEIVED and event.data["final"] and "ballot" in event.data
    ]


def objections_record(log: Iterable[Event]) -> list[dict[str, Json]]:
    """Every objection as it stands now, in the order in which they were first raised."""
    standing: dict[str, Mapping[str, Json]] = {}
    for event in log:
        if event.type in _OBJECTIONS:
            standing[event.data["id"]] = {**event.data, "changed_at": rfc3339(event.at)}
    return [_objection(content) for content in standing.values()]


def _objection(content: Mapping[str, Json]) -> dict[str, Json]:
    """With the round in which it was raised, and not the one of its latest event."""
    shown = dict(content)
    shown["round"] = shown.pop("raised_in")
    return shown


_OBJECTIONS = frozenset(
    {events.OBJECTION_RAISED, events.OBJECTION_RESOLVED, events.OBJECTION_REOPENED}
)


def _vote(event: Event) -> dict[str, Json]:
    reply = event.data
    return {
        "participant": reply["participant"],
        "round": reply["round"],
        "status": reply["status"],
        "reason": reply["reason"],
        **{field: reply.get(field) for field in _BALLOT_FIELDS},
        "at": rfc3339(event.at),
    }
