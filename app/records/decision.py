"""The decision record: one page on what was decided, by whom, against what, and how it came about.

It follows the plan of MADR. A meeting that decided nothing has a record too: it says so first
and gives candidates and open points to whoever has to decide (PROTOCOLS 11, handoff).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from app.domain.meeting.entries import Event
from app.domain.meeting.history import History, numbers_of
from app.domain.values import Json, rfc3339
from app.formats.shared.motions import last_motion
from app.records.asked import record_of
from app.records.containment import front_matter, inline, plain, quoted
from app.records.decided import (
    Case,
    case_of,
    consequences,
    date_of,
    lineage,
    title_of,
    warnings_of,
)
from app.records.degradation import bullets, degradation_sentence, degradations, weaknesses
from app.records.findings import dissents, flips, open_points
from app.records.header import money, participants, unconfirmed, used_tokens
from app.records.layout import lay_out
from app.records.minutes import material_records, participant_records, short
from app.records.operations import external_wait, external_wait_sentence, saved_elsewhere
from app.records.resumptions import resumptions
from app.records.rulings import arbitration, questions
from app.records.stalls import stall_record
from app.records.verdict import consensus_text, counted, headline, synthesis, who_decided


def decision_json(log: Iterable[Event]) -> dict[str, Json]:
    """The decision record as JSON; texts are as they were given, not escaped for anything.

    Raises ``MeetingNotEnded`` before ``decision.recorded``.
    """
    case = case_of(log)
    past, decided, meeting = case.past, case.decided, case.past.meeting
    name, numbers = numbers_of(decided)
    return {
        "meeting_id": meeting.id,
        "topic": meeting.topic,
        "title": title_of(case),
        "format": meeting.format,
        "format_version": meeting.format_version,
        "language": meeting.language,
        "date": date_of(past),
        "result": decided["result"],
        "consensus": decided["consensus"],
        "decision": decided["decision"],
        "decision_source": decided["decision_source"],
        "decided_by": decided["decided_by"],
        "ruling": decided.get("ruling"),
        "arbitration": [asked.record() for asked in questions(past)],
        "completeness": decided["completeness"],
        "stopped_by": decided["stopped_by"],
        "context": meeting.context,
        "motion": last_motion(past),
        "options": _considered(past),
        "materials": material_records(past),
        "consequences": consequences(case),
        "dissents": decided["dissents"],
        "reservations": list(decided.get("reservations") or ()),
        "baseline": decided.get("baseline"),
        "final": decided.get("final"),
        "flips": list(decided.get("flips") or ()),
        "unexplained_flips": decided.get("unexplained_flips", 0),
        "stalled": stall_record(past),
        "external_wait": external_wait(past),
        "synthesis": decided["synthesis"],
        name: numbers,
        "effective_participants": decided["effective_participants"],
        "candidates": candidate_records(past),
        "handoff": decided.get("handoff"),
        "open_points": open_points(case.words, past, plain),
        "degradation": [
            {**record, "text": degradation_sentence(case.words, record, plain)}
            for record in degradations(past)
        ],
        "warnings": warnings_of(past),
        "participants": participant_records(past),
        "lineage": lineage(past),
        "spent": decided["spent"],
        "open_below": list(decided.get("open_below", ())),
        "resumptions": [each.record() for each in past.earlier_legs],
        "operations": [dict(operation) for operation in past.operations],
        "started_at": None if past.started_at is None else rfc3339(past.started_at),
        "ended_at": None if past.ended_at is None else rfc3339(past.ended_at),
    }


def _considered(past: History) -> list[str]:
    """The options, or what was considered where the meeting was given none."""
    return list(past.meeting.options or record_of(past).considered(past))


def candidate_records(past: History) -> list[dict[str, Json]]:
    """What there is or was to choose from, the same in the decision record and in the handoff."""
    return [choice.record() for choice in record_of(past).candidates(past)]


def decision_markdown(log: Iterable[Event]) -> str:
    """The decision record as Markdown with YAML front matter.

    Raises ``MeetingNotEnded`` before ``decision.recorded``.
    """
    case = case_of(log)
    return "\n\n".join((front_matter(_front(case)), *_body(case))) + "\n"


# --- the page -----------------------------------------------------------------------------------


def _front(case: Case) -> dict[str, Json]:
    by = case.decided["decided_by"]
    return {
        "id": case.past.meeting.id,
        "date": date_of(case.past),
        "status": case.decided["result"],
        "decided_by": None if by is None else by["kind"],
        "decision_source": case.decided["decision_source"],
        "consensus": case.decided["consensus"],
        "completeness": case.decided["completeness"],
        "stopped_by": case.decided["stopped_by"],
        "format": case.past.meeting.format,
        "format_version": case.past.meeting.format_version,
        "language": case.past.meeting.language,
    }


def _body(case: Case) -> Iterator[str]:
    words, past, decided = case.words, case.past, case.decided
    yield f"# {short(title_of(case))}"
    weak = weaknesses(words, past)
    if weak is not None:
        yield weak
    yield from _context(case)
    yield from _options(case)
    yield f"## {words('heading.decision_outcome')}"
    yield headline(words, past)
    yield from external_wait_sentence(words, past)
    yield f"## {words('heading.decided_by')}"
    yield from who_decided(words, decided)
    yield from arbitration(words, past, level=3)
    if case.settled:
        yield from _consequences_section(case)
    else:
        yield from _handoff(case)
    yield from saved_elsewhere(words, past)
    yield from dissents(words, past, level=2)
    yield from resumptions(words, past)
    yield from _method(case)
    yield from _more(case)


def _context(case: Case) -> Iterator[str]:
    yield f"## {case.words('heading.context')}"
    yield quoted(case.past.meeting.topic)
    if case.past.meeting.context:
        yield quoted(case.past.meeting.context)


def _options(case: Case) -> Iterator[str]:
    words, past = case.words, case.past
    yield f"## {words('heading.options')}"
    if past.meeting.options:
        yield bullets([inline(option) for option in past.meeting.options])
    else:
        yield from lay_out(words, record_of(past).considered_page(past))


def _consequences_section(case: Case) -> Iterator[str]:
    words = case.words
    yield f"## {words('heading.consequences')}"
    lines = [words(f"decision.{c['kind']}", text=inline(c["text"])) for c in consequences(case)]
    yield bullets(lines) if lines else words("decision.none_named")
    yield from _points(case)


def _handoff(case: Case) -> Iterator[str]:
    """For whoever has to decide instead, without a recommendation of ours."""
    words = case.words
    yield words("decision.not_decided")
    yield f"## {words('heading.candidates')}"
    yield from lay_out(words, record_of(case.past).candidates_page(case.past))
    yield from _points(case)


def _points(case: Case) -> Iterator[str]:
    yield f"## {case.words('heading.open_points')}"
    points = open_points(case.words, case.past)
    yield bullets(points) if points else case.words("open.none")


def _method(case: Case) -> Iterator[str]:
    words, past, decided = case.words, case.past, case.decided
    yield f"## {words('heading.method')}"
    yield words(
        "decision.provenance",
        format=inline(past.meeting.format),
        version=past.meeting.format_version,
        rounds=sum(round_.closed is not None for round_ in past.rounds),
        seats=len(past.meeting.seats),
    )
    if decided["consensus"]:
        yield words("outcome.consensus", consensus=consensus_text(words, decided["consensus"]))
    yield from counted(words, past)
    yield from lay_out(words, record_of(past).comparison(past, level=3))
    yield from flips(words, past)
    yield from synthesis(words, past)


def _more(case: Case) -> Iterator[str]:
    words, past = case.words, case.past
    yield from participants(words, past)
    answered = lineage(past)
    if answered["models"]:
        key = "single_model" if answered["single_model"] else "several_models"
        models = words.joined(inline(model) for model in answered["models"])
        yield words(f"participants.{key}", models=models)
    yield f"## {words('heading.more')}"
    yield bullets(list(_facts(case)))
    yield words("decision.minutes")


def _facts(case: Case) -> Iterator[str]:
    words, past, spent = case.words, case.past, case.decided["spent"]
    facts: Sequence[tuple[str, str]] = (
        ("meeting", inline(past.meeting.id)),
        ("started", words.moment(past.started_at)),
        ("ended", words.moment(past.ended_at)),
        ("replies", str(spent["replies"])),
        ("time", words.seconds(spent["seconds"])),
        ("money", money(words, spent["usd"])),
        ("tokens", used_tokens(words, spent["tokens"])),
    )
    for key, value in facts:
        yield words("measure.pair", label=words(f"label.{key}"), value=value)
    yield from unconfirmed(words, spent)
