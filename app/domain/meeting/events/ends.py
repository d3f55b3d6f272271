"""How a meeting ends: its decision, its minutes, its last event."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self, cast

from app.domain.ending.arbitration import Ruling
from app.domain.meeting.entries import Content, Flat
from app.domain.meeting.outcome import Degradation, Outcome
from app.domain.values import JsonObject, rfc3339


class DecisionRecorded(Flat, frozen=True, kw_only=True):
    """The outcome, and under the format's name what it found beside it (PROTOCOLS 15).

    ``spent`` is of the whole meeting, and ``open_below`` are the meetings that go on below it.
    """

    type = "decision.recorded"

    outcome: Outcome
    format: str
    spent: JsonObject
    open_below: tuple[str, ...] = ()

    def record(self) -> JsonObject:
        outcome = self.outcome
        return {
            "outcome": outcome.record(),
            self.format: outcome.findings,
            "ruling": None if outcome.ruling is None else outcome.ruling.record(),
            "completion": outcome.completion,
            "degradation": [part.record() for part in outcome.degradation],
            "spent": self.spent,
            "open_below": list(self.open_below),
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        if "numbers_name" in given:
            return cls.of(_nested(given))
        (format_,) = (key for key in given if key not in DECISION_FIELDS)
        ruling, completion = given.get("ruling"), given.get("completion")
        outcome = Outcome.read(
            given["outcome"],
            findings=given[format_],
            ruling=None if ruling is None else Ruling.read(ruling),
            completion=completion,
            degradation=tuple(Degradation.read(part) for part in given["degradation"]),
        )
        below = tuple(given.get("open_below", ()))
        spent: JsonObject = {"unconfirmed": _ALL_CONFIRMED, **given["spent"]}
        return cls(outcome=outcome, format=format_, spent=spent, open_below=below)


_ALL_CONFIRMED: JsonObject = {"requests": 0, "usd": "0", "tokens": 0}
"""In logs of before, whatever was booked without an answer stands among the rest."""

DECISION_FIELDS = frozenset(
    {"outcome", "ruling", "completion", "degradation", "spent", "open_below"}
)
"""What stands in ``decision.recorded`` beside the format's findings; no format is called so."""


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """A decision as the first version wrote it, with everything side by side, as it is written
    since; that version did not name the format there."""
    name: str = flat["numbers_name"]
    own = {*Outcome.RECORD_FIELDS, *DECISION_FIELDS, "numbers_name", "stalled", name}
    return {
        "outcome": {
            **{key: flat[key] for key in Outcome.RECORD_FIELDS},
            "stalled": flat.get("stalled"),
            name: flat[name],
        },
        "": {key: value for key, value in flat.items() if key not in own},
        **{key: flat[key] for key in DECISION_FIELDS if key in flat},
    }


class MinutesWritten(Content, frozen=True, kw_only=True):
    type = "minutes.written"

    path: str


class MeetingEnded(Flat, frozen=True, kw_only=True):
    """``ended_at`` is when the decision stood; ``minutes_error`` why there is no file of them."""

    type = "meeting.ended"

    outcome: Outcome
    ended_at: datetime
    minutes_error: str | None = None

    def record(self) -> JsonObject:
        outcome = self.outcome.record()
        fields = ("result", "stopped_by", "completeness", "decision")
        return {
            **{key: outcome[key] for key in fields},
            "outcome": outcome,
            "ended_at": rfc3339(self.ended_at),
            "minutes_error": self.minutes_error,
        }

    @classmethod
    def of(cls, record: JsonObject) -> Self:
        given = cast("Any", record)
        return cls(
            outcome=Outcome.read(given["outcome"]),
            ended_at=datetime.fromisoformat(given["ended_at"]),
            minutes_error=given.get("minutes_error"),
        )
