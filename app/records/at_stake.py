"""What stands against what in a meeting: sides, the words at stake, criteria (PROTOCOLS 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.domain.meeting.history import History
from app.domain.values import Json
from app.formats.shared.sides import Argument, Excerpt, Side
from app.records.asked import record_of
from app.records.catalogue import Words
from app.records.containment import inline, quoted
from app.records.degradation import bullets
from app.records.findings import position_text
from app.records.header import material_in


def side_record(side: Side) -> dict[str, Json]:
    return {
        "position": side.position,
        "participants": list(side.participants),
        "arguments": [_argument_record(argument) for argument in side.arguments],
    }


def _argument_record(argument: Argument) -> dict[str, Json]:
    fields = ("participant", "text", "asks_for")
    if argument.objection is not None:
        fields += ("objection", "severity", "support")
    return {field: getattr(argument, field) for field in fields}


def excerpt_record(excerpt: Excerpt) -> dict[str, Json]:
    fields = ("source", "round", "text")
    if excerpt.objection is not None:
        fields = ("source", "version", "round", "objection", "text")
    return {field: getattr(excerpt, field) for field in fields}


# --- the page -----------------------------------------------------------------------------------


def sides(words: Words, past: History) -> Iterator[str]:
    yield f"## {words('heading.sides')}"
    found = record_of(past).sides(past)
    if not found:
        yield words("handoff.no_sides")
    for side in found:
        names = words.joined(inline(name) for name in side.participants)
        position = position_text(words, side.position)
        yield f"**{words('handoff.side', position=position, names=names)}**"
        lines = [_argument(words, argument) for argument in side.arguments]
        if lines:
            yield bullets(lines)


def _argument(words: Words, argument: Argument) -> str:
    given = {
        "name": inline(argument.participant),
        "text": inline(argument.text) or words("measure.missing"),
        "asks_for": inline(argument.asks_for or ""),
    }
    if argument.objection is None:
        return words("handoff.asks" if argument.asks_for else "handoff.said", **given)
    severity = position_text(words, argument.severity or "")
    if argument.support != "supported":
        severity = words("handoff.unsupported", severity=severity)
    key = "handoff.resolves" if argument.asks_for else "handoff.objection"
    return words(key, **given, id=inline(argument.objection), severity=severity)


def excerpts(words: Words, past: History) -> Iterator[str]:
    found = record_of(past).excerpts(past)
    if found:
        yield f"## {words('heading.excerpts')}"
    for each in found:
        if each.objection is None:
            yield words("handoff.source", name=inline(each.source), round=each.round)
        else:
            name = material_in(words, past.meeting, each.source, each.round)
            yield words("handoff.material", name=name, id=inline(each.objection))
        yield quoted(each.text)


def criteria(words: Words, past: History) -> Iterator[str]:
    found = record_of(past).criteria(past)
    if not any(found.values()):
        return
    for key in ("passed", "open"):
        yield f"## {words(f'heading.criteria_{key}')}"
        lines = [_criterion(words, each) for each in found[key]]
        yield bullets(lines) if lines else words("handoff.no_criteria")


def _criterion(words: Words, criterion: Mapping[str, Json]) -> str:
    return words(
        "handoff.required" if criterion["required"] else "handoff.criterion",
        id=inline(criterion["id"]),
        text=inline(criterion["text"]),
        result=words.either(f"{words.format}.{criterion['result']}", inline(criterion["result"])),
    )
