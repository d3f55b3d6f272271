"""What the record shows beside the result (PROTOCOLS 15): how it came about, and what it lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.values import Json
from app.records.asked import record_of
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.degradation import Safe, bullets
from app.records.layout import line
from app.records.operations import open_saves
from app.records.stalls import stall_sentence

_UNCONFIRMED = "unconfirmed"


def flips(words: Words, past: History) -> Iterator[str]:
    decided = past.findings
    if not record_of(past).takes_positions:
        return
    yield f"### {words('heading.flips')}"
    changes: Sequence[Mapping[str, Json]] = decided.get("flips") or ()
    if not changes:
        yield words("findings.no_flips")
        return
    keys = ("round", "participant", "from", "to", "direction", "reason")
    yield table(
        [words(f"label.{key}") for key in keys],
        [_flip_row(words, change) for change in changes],
    )
    count = decided["unexplained_flips"]
    yield words("findings.unexplained", count=count, total=len(changes))


def _flip_row(words: Words, change: Mapping[str, Json]) -> list[str]:
    return [
        str(change["round"]),
        inline(change["participant"]),
        inline(change["from"]),
        inline(change["to"]),
        words.either(f"findings.{change['direction']}", inline(change["direction"])),
        inline(change["reason"] or "") or words("findings.no_reason"),
    ]


def dissents(words: Words, past: History, level: int = 3) -> Iterator[str]:
    """Every view that lost, with its reasons; then those who neither agreed nor opposed."""
    lost = () if past.outcome is None else past.outcome.dissents
    yield f"{'#' * level} {words('heading.dissents')}"
    if not lost:
        yield line(words, record_of(past).no_dissents(past))
    for dissent in lost:
        yield from _view_kept(words, dissent.record())
    reservations = past.findings.get("reservations") or ()
    if reservations:
        yield f"{'#' * level} {words('heading.reservations')}"
    for reservation in reservations:
        yield from _view_kept(words, reservation)


def _view_kept(words: Words, view: Mapping[str, Json]) -> Iterator[str]:
    stands = words.own(
        "position", "findings.position", position=position_text(words, view["position"])
    )
    named = {"name": inline(view["participant"]), "position": stands}
    if view.get("round"):
        yield f"**{words('findings.dissent', **named, round=view['round'])}**"
    else:
        yield f"**{words('findings.dissent_plain', **named)}**"
    yield quoted(view["rationale"] or words("measure.missing"))
    if view.get("mitigation"):
        yield words.own("mitigation", "findings.mitigation")
        yield quoted(view["mitigation"])


def position_text(words: Words, position: str) -> str:
    """A position in words; the marks that participants themselves give stay as they are."""
    shared = words.either(f"position.{position}", inline(position))
    return words.either(f"{words.format}.position_{position}", shared)


def open_points(words: Words, past: History, safe: Safe = inline) -> list[str]:
    """What nobody settled and what nobody could confirm, a sentence each."""
    points = [*stall_sentence(words, past, safe)]
    points += [line(words, each, safe) for each in record_of(past).open_points(past)]
    for item in (past.cancellation or {}).get("items", ()):
        if item["state"] == _UNCONFIRMED:
            named = {key: safe(item[key]) for key in ("kind", "ref", "state")}
            points.append(words("open.unconfirmed", **named))
    left = (past.decision or {}).get("open_below", ())
    points += [words("open.below", ref=safe(id_)) for id_ in left]
    points += open_saves(words, past, safe)
    for exhausted in past.exhausted:
        step = safe(exhausted.data.get("step") or "")
        points.append(words("open.exhausted", step=step))
    return points


def still_open(words: Words, past: History) -> Iterator[str]:
    yield f"## {words('heading.open')}"
    points = open_points(words, past)
    yield bullets(points) if points else words("open.none")
