"""What records show of the completion gate (PROTOCOLS 10): who said what, and how it closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from app.domain.meeting.events import CompletionClosed, CompletionNudged
from app.domain.meeting.history import History, Recorded
from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline, table


def confirmations(words: Words, past: History) -> Iterator[str]:
    gate = past.meeting.completion_gate
    if gate is None or not past.completions:
        return
    yield f"## {words('heading.completions')}"
    settings = {key: f"{value:g}" for key, value in gate.record().items()}
    yield words("gate.rule", **settings)
    heard = [each for each in past.completions if each.type != CompletionClosed.type]
    if heard:
        yield table(
            [words(f"gate.{key}") for key in ("time", "asking", "participant", "said", "reason")],
            [_row(words, past, each) for each in heard],
        )
    for each in past.completions:
        if each.type == CompletionClosed.type:
            yield _closing(words, each.data)


def _row(words: Words, past: History, told: Recorded) -> list[str]:
    data = told.data
    if told.type == CompletionNudged.type:
        who, said = words.joined(inline(name) for name in data["participants"]), "nudged"
    else:
        who, said = inline(data["participant"]), str(data["completion"])
    return [
        words("gate.after", seconds=f"{_held(past, told):g}"),
        str(data.get("attempt") or 1),
        who,
        words.either(f"gate.{said}", inline(said)),
        inline(data.get("reason") or "") or words("measure.missing"),
    ]


def _held(past: History, told: Recorded) -> float:
    """For how long the meeting had been held by then; between an end and a resuming it was not."""
    begun = past.started_at or past.created_at
    idle = (each.at - each.ended_at for each in past.earlier_legs if each.at <= told.at)
    return (told.at - begun - sum(idle, timedelta())).total_seconds()


def _closing(words: Words, closed: Mapping[str, Json]) -> str:
    names = words.joined(inline(name) for name in closed["completed_by"])
    wanting = words.joined(inline(name) for name in closed["reasons"])
    missing = words("measure.missing")
    key = f"gate.{closed['status']}"
    return words(key, names=names or missing, wanting=wanting or missing)
