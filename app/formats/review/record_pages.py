"""What the minutes show of a review (PROTOCOLS 9 and 15): drafts, objections and what they rest on,
criteria, and how all of it moved from round to round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.meeting.meeting import Criterion, Meeting
from app.domain.meeting.resumption import version_in
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.formats.review.objections import Objection, Severity
from app.formats.review.standing import ObjectionTold, objections_in, objections_now
from app.formats.shared.page import (
    Cell,
    Heading,
    Page,
    Paragraph,
    Quote,
    Strong,
    Table,
    Theirs,
    bullets,
    either,
    joined,
    said,
    table,
    theirs,
)

_UNSUPPORTED = "unsupported"
_MISSING = said("measure.missing")


# --- a round ------------------------------------------------------------------------------------


def author_returned(reply: ReplyGiven) -> Page:
    """What an author returned: the draft as text, what was changed, what was left open."""
    yield Strong(said("review.draft"))
    yield Quote(reply.read["draft"])
    changes: Sequence[Mapping[str, str]] = reply.read.get("changes") or ()
    if changes:
        yield Strong(said("review.changes"))
        yield bullets(_change(change) for change in changes)
    if reply.read.get("open"):
        yield Strong(said("review.left_open"))
        yield bullets(Theirs(point) for point in reply.read["open"])


def _change(change: Mapping[str, str]) -> Cell:
    return said("review.change", id=Theirs(change["objection"]), text=Theirs(change["change"]))


def round_page(past: History, round_: RoundHeld) -> Page:
    """What the critics did to the objections in a round, and how the criteria came out."""
    told = objections_in(past, round_)
    if told:
        headings = ("objection", "critic", "event", "severity")
        yield table([said(f"review.{each}") for each in headings], [_told_row(t) for t in told])
    results: Mapping[str, str] = (round_.closed or {}).get("criteria") or {}
    if results:
        yield criteria_table(past.meeting, results)


def _told_row(told: ObjectionTold) -> list[Cell]:
    objection = told.objection
    return [
        Theirs(objection.id),
        Theirs(objection.critic),
        said(f"review.{told.happened}"),
        _severity_and_support(objection),
    ]


def _severity_and_support(objection: Objection) -> Cell:
    severity = _severity(objection)
    return severity if objection.supported else said("review.unsupported", severity=severity)


def _severity(objection: Objection) -> Cell:
    return said(f"review.position_{objection.raised.severity.value}")


# --- criteria -----------------------------------------------------------------------------------


def criteria_table(meeting: Meeting, results: Mapping[str, str]) -> Table:
    """The criteria that have a result, each with who judged it."""
    headings = ("criterion", "criterion_text", "required", "judged_by", "result")
    return table(
        [said(f"review.{heading}") for heading in headings],
        [
            [
                Theirs(criterion.id),
                Theirs(criterion.text),
                said("measure.yes" if criterion.required else "measure.no"),
                _judged_by(criterion),
                either(f"review.{results[criterion.id]}", Theirs(results[criterion.id])),
            ]
            for criterion in meeting.criteria
            if criterion.id in results
        ],
    )


def _judged_by(criterion: Criterion) -> Cell:
    if criterion.check is None:
        return said("review.by_critics")
    ((kind, wanted),) = criterion.check.items()
    return said(f"review.by_{kind}", wanted=Theirs(str(wanted)))


# --- what came of it ----------------------------------------------------------------------------


def result_page(past: History) -> Page:
    numbers = past.numbers
    results = {record["id"]: record["result"] for record in numbers["criteria"]}
    if results:
        yield criteria_table(past.meeting, results)
    blocking: Sequence[str] = numbers["open_blocking"]
    yield Paragraph(
        said("review.blocked", ids=theirs(blocking)) if blocking else said("review.not_blocked")
    )
    if past.decision is not None and numbers["draft"] not in (None, past.decision["decision"]):
        # For whoever has to decide instead, or to see what was rejected.
        yield Strong(said("review.last_draft"))
        yield Quote(numbers["draft"])


def rounds_compared(past: History, level: int) -> Page:
    """Every round's count of what was open and what passed, so that a reader sees what moved."""
    yield Heading(said("review.rounds_compared"), level)
    rows = [_round_row(round_.number, closed) for round_, closed in _judged(past)]
    if rows:
        headings = ["review.passed", *(f"review.open_{kind}" for kind in _KINDS)]
        yield table([said("label.round"), *(said(heading) for heading in headings)], rows)


_KINDS = (*(severity.value for severity in Severity), _UNSUPPORTED)


def _judged(past: History) -> Iterator[tuple[RoundHeld, Mapping[str, Json]]]:
    for round_ in past.rounds:
        if round_.closed is not None and "open_objections" in round_.closed:
            yield round_, round_.closed


def _round_row(number: int, closed: Mapping[str, Json]) -> list[Cell]:
    results: Mapping[str, str] = closed["criteria"]
    passed = sum(result == "pass" for result in results.values())
    share = said("measure.of", part=passed, whole=len(results)) if results else _MISSING
    counts = [str(closed["open_objections"][kind]) for kind in _KINDS]
    return [said("heading.round", round=number), share, *counts]


# --- objections ---------------------------------------------------------------------------------


def objections_page(past: History) -> Page:
    """Every objection as it stands in the end, with what it rests on."""
    found = objections_now(past)
    if found:
        yield Heading(said("review.objections"))
    for told in found:
        objection = told.objection
        yield Heading(Theirs(objection.id), 3)
        yield Paragraph(_standing(objection))
        yield Quote(objection.raised.point)
        yield from _ground(past.meeting, told)
        if objection.raised.resolves_when:
            yield Paragraph(said("review.resolves_when"))
            yield Quote(objection.raised.resolves_when)


def _standing(objection: Objection) -> Cell:
    critic, severity = Theirs(objection.critic), _severity(objection)
    if objection.closed_in is None:
        state = said("review.still_open", critic=critic, severity=severity)
    else:
        state = said(
            "review.closed_in", critic=critic, severity=severity, round=objection.closed_in
        )
    if not objection.reopened_in:
        return state
    reopened = said("review.reopened_in", rounds=joined(objection.reopened_in))
    return joined((state, reopened), " ")


def _ground(meeting: Meeting, told: ObjectionTold) -> Page:
    raised = told.objection.raised
    if not raised.quote:
        yield Paragraph(said("review.no_quote"))
        return
    code = "review.rests_on" if told.objection.supported else "review.not_in_material"
    yield Paragraph(said(code, material=_material(meeting, raised.material, told.round)))
    yield Quote(raised.quote)


def _material(meeting: Meeting, id_: str, round_: int) -> Cell:
    """A material by the version that this round was held on: a resuming may have changed it."""
    version = version_in(meeting, id_, round_)
    if version is not None:
        return said("question.material", id=Theirs(id_), version=Theirs(version))
    return Theirs(id_) if id_ else _MISSING
