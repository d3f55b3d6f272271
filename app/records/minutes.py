"""Minutes (PROTOCOLS 15): the audit trail that lets somebody who was not there re-count it all.

They can be made at any time. Of a meeting that still runs they say so in their first lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.domain.meeting.entries import Event
from app.domain.meeting.history import History, history
from app.domain.values import Json, rfc3339
from app.formats.shared.compared import views
from app.records.asked import record_of
from app.records.catalogue import Words, words_of
from app.records.confirmations import confirmations
from app.records.containment import front_matter, inline, plain
from app.records.decided import date_of, warnings_of
from app.records.degradation import degradation_sentence, degradations, weaknesses
from app.records.findings import dissents, flips, open_points, still_open
from app.records.header import limits, participants, question
from app.records.html import html_page
from app.records.layout import lay_out
from app.records.operations import saved_elsewhere
from app.records.rulings import arbitration, questions
from app.records.transcript import transcript
from app.records.verdict import headline, outcome

_MOST_TITLE_CHARACTERS = 120


def minutes_markdown(log: Iterable[Event]) -> str:
    """The minutes as Markdown with YAML front matter."""
    past = history(log)
    return _markdown(past)


def _markdown(past: History) -> str:
    parts = (front_matter(_front(past)), *_body(words_of(past.meeting), past))
    return "\n\n".join(parts) + "\n"


def minutes_html(log: Iterable[Event]) -> str:
    """The minutes as a complete HTML page without scripts, safe to serve."""
    past = history(log)
    words = words_of(past.meeting)
    title = words("heading.minutes", topic=past.meeting.topic)
    return html_page(title, "\n\n".join(_body(words, past)), past.meeting.language)


def minutes_json(log: Iterable[Event]) -> dict[str, Json]:
    """The minutes as JSON: the same content, with the texts as they were given."""
    past = history(log)
    words = words_of(past.meeting)
    baseline, final = views(past)
    return {
        **_front(past),
        "completeness": None if past.decision is None else past.decision["completeness"],
        "degradation": [
            {**record, "text": degradation_sentence(words, record, plain)}
            for record in degradations(past)
        ],
        "warnings": warnings_of(past),
        "topic": past.meeting.topic,
        "motion": past.meeting.motion,
        "context": past.meeting.context,
        "options": list(past.meeting.options),
        "materials": material_records(past),
        "participants": participant_records(past),
        "secretary": past.meeting.secretary,
        "limits": past.meeting.limits.record(),
        "spent": dict(past.spent),
        "resumptions": [each.record() for each in past.earlier_legs],
        "created_at": rfc3339(past.created_at),
        "started_at": None if past.started_at is None else rfc3339(past.started_at),
        "ended_at": None if past.ended_at is None else rfc3339(past.ended_at),
        "rounds": [round_.record() for round_ in past.rounds],
        "stalls": [stall.record() for stall in past.stalls],
        "objections": [objection.record() for objection in past.objections],
        "completions": [completion.record() for completion in past.completions],
        "confirmations": [reply.record() for reply in past.confirmations],
        "operations": [dict(operation) for operation in past.operations],
        "arbitration": [asked.record() for asked in questions(past)],
        "cancellation": past.cancellation,
        "late_replies": [reply.record() for reply in past.late],
        "outcome": None if past.decided is None else past.decided.outcome.record(),
        "baseline": baseline,
        "final": final,
        "flips": list((past.decision or {}).get("flips") or ()),
        "unexplained_flips": (past.decision or {}).get("unexplained_flips", 0),
        "reservations": list((past.decision or {}).get("reservations") or ()),
        "open_points": open_points(words, past, plain),
    }


def material_records(past: History) -> list[dict[str, Json]]:
    """The materials in force by version, without their texts."""
    named = ("id", "version", "title")
    records = [material.record() for material in past.meeting.materials]
    return [{key: record[key] for key in named} for record in records]


def participant_records(past: History) -> list[dict[str, Json]]:
    """Each seat with the model that answered for it (None where that is not known)."""
    return [
        {
            **seat.record(),
            "label": past.meeting.label(seat.name),
            "model": ", ".join(past.models_of(seat.name, seat.agent)) or None,
        }
        for seat in past.meeting.seats
    ]


def _front(past: History) -> dict[str, Json]:
    decided = past.decision or {}
    meeting = past.meeting
    resumed = {"resumed": len(past.earlier_legs)} if past.earlier_legs else {}
    return {
        "id": meeting.id,
        "format": meeting.format,
        "format_version": meeting.format_version,
        "language": meeting.language,
        "date": date_of(past),
        "status": past.status,
        "result": decided.get("result"),
        "stopped_by": decided.get("stopped_by"),
        **resumed,
    }


def _body(words: Words, past: History) -> Iterator[str]:
    yield f"# {words('heading.minutes', topic=short(past.meeting.topic))}"
    weak = weaknesses(words, past)
    if weak is not None:
        yield weak
    yield headline(words, past)
    yield from question(words, past.meeting)
    yield from participants(words, past)
    yield from limits(words, past)
    record = record_of(past)
    yield from lay_out(words, record.how_to_count(past))
    yield from transcript(words, past)
    yield from arbitration(words, past)
    yield from outcome(words, past)
    yield from lay_out(words, record.round_by_round(past))
    yield from lay_out(words, record.comparison(past, level=2))
    if past.ended:
        yield from flips(words, past)
        yield from dissents(words, past)
    yield from lay_out(words, record.at_the_end(past))
    yield from confirmations(words, past)
    yield from saved_elsewhere(words, past)
    yield from still_open(words, past)


def short(text: str) -> str:
    """Text for a heading: one line, not longer than a heading should be."""
    flat = " ".join(text.split())
    if len(flat) > _MOST_TITLE_CHARACTERS:
        flat = flat[: _MOST_TITLE_CHARACTERS - 1].rstrip() + "…"
    return inline(flat)
