"""What records show of a review (PROTOCOLS 9): drafts, objections with their quotes, criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.meeting.meeting import Criterion
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.degradation import bullets
from app.records.header import material_in


def is_review(closed: Mapping[str, Json]) -> bool:
    """Whether these are the data of a review's closed round."""
    return "open_objections" in closed


def draft_of(words: Words, reply: ReplyGiven) -> Iterator[str]:
    """What an author returned: the draft as text, what was changed, what was left open."""
    yield f"**{words('review.draft')}**"
    yield quoted(reply.read["draft"])
    changes = [
        words("review.change", id=inline(each["objection"]), text=inline(each["change"]))
        for each in reply.read.get("changes") or ()
    ]
    if changes:
        yield f"**{words('review.changes')}**"
        yield bullets(changes)
    if reply.read.get("open"):
        yield f"**{words('review.left_open')}**"
        yield bullets([inline(point) for point in reply.read["open"]])


def round_summary(words: Words, past: History, round_: RoundHeld) -> Iterator[str]:
    """What the critics did to the objections in a round, and how the criteria came out."""
    told = [event for event in past.objections if event.data.get("round") == round_.number]
    if told:
        keys = ("objection", "critic", "event", "severity")
        yield table(
            [words(f"review.{key}") for key in keys],
            [
                [
                    inline(event.data["id"]),
                    inline(event.data["critic"]),
                    words.either(f"review.{event.type.partition('.')[2]}", inline(event.type)),
                    _severity(words, event.data),
                ]
                for event in told
            ],
        )
    results: Mapping[str, str] = (round_.closed or {}).get("criteria") or {}
    if results:
        criteria = [c for c in past.meeting.criteria if c.id in results]
        yield _criteria(words, [(c, results[c.id]) for c in criteria])


def _severity(words: Words, objection: Mapping[str, Json]) -> str:
    severity = words.either(f"position.{objection['severity']}", inline(objection["severity"]))
    if objection["support"] == "supported":
        return severity
    return words("review.unsupported", severity=severity)


def _criteria(words: Words, results: Sequence[tuple[Criterion, str]]) -> str:
    rows = [
        [
            inline(criterion.id),
            inline(criterion.text),
            words("measure.yes" if criterion.required else "measure.no"),
            _judged_by(words, criterion),
            words.either(f"review.{result}", inline(result)),
        ]
        for criterion, result in results
    ]
    keys = ("criterion", "criterion_text", "required", "judged_by", "result")
    return table([words(f"review.{key}") for key in keys], rows)


def _judged_by(words: Words, criterion: Criterion) -> str:
    if criterion.check is None:
        return words("review.by_critics")
    ((kind, wanted),) = criterion.check.items()
    return words(f"review.by_{kind}", wanted=inline(wanted))


def review_outcome(words: Words, past: History, numbers: Mapping[str, Json]) -> Iterator[str]:
    results = {record["id"]: record["result"] for record in numbers["criteria"]}
    criteria = [(c, results[c.id]) for c in past.meeting.criteria if c.id in results]
    if criteria:
        yield _criteria(words, criteria)
    blocking = numbers["open_blocking"]
    key = "review.blocked" if blocking else "review.not_blocked"
    yield words(key, ids=words.joined(inline(id_) for id_ in blocking))
    if past.decision is not None and numbers["draft"] not in (None, past.decision["decision"]):
        # For whoever has to decide instead, or to see what was rejected.
        yield f"**{words('review.last_draft')}**"
        yield quoted(numbers["draft"])


def rounds_compared(words: Words, past: History) -> Iterator[str]:
    """Every round's count of what was open and what passed, so that a reader sees what moved."""
    rounds = [round_ for round_ in past.rounds if is_review(round_.closed or {})]
    if not rounds:
        return
    kinds = ("blocking", "minor", "preference", "unsupported")
    rows: list[list[str]] = []
    for round_ in rounds:
        closed = round_.closed or {}
        results: Mapping[str, str] = closed["criteria"]
        passed = sum(result == "pass" for result in results.values())
        counts = [str(closed["open_objections"][kind]) for kind in kinds]
        share = words("measure.of", part=passed, whole=len(results)) if results else "–"
        rows.append([words("heading.round", round=round_.number), share, *counts])
    headings = ["review.passed", *(f"review.open_{kind}" for kind in kinds)]
    yield table([words("label.round"), *(words(heading) for heading in headings)], rows)


def objections(words: Words, past: History) -> Iterator[str]:
    """Every objection as it stands in the end, with what it rests on."""
    last: dict[str, Mapping[str, Json]] = {}
    for event in past.objections:
        last[event.data["id"]] = event.data
    if not last:
        return
    yield f"## {words('heading.objections')}"
    for id_, objection in last.items():
        yield f"### {inline(id_)}"
        yield _standing(words, objection)
        yield quoted(objection["point"])
        yield from _ground(words, past, objection)
        if objection["resolves_when"]:
            yield words("review.resolves_when")
            yield quoted(objection["resolves_when"])


def _standing(words: Words, objection: Mapping[str, Json]) -> str:
    severity = words.either(f"position.{objection['severity']}", inline(objection["severity"]))
    said = {"critic": inline(objection["critic"]), "severity": severity}
    if objection["state"] == "closed":
        state = words("review.closed_in", **said, round=objection["closed_in"])
    else:
        state = words("review.still_open", **said)
    if objection["reopened_in"]:
        rounds = words.joined(objection["reopened_in"])
        state = f"{state} {words('review.reopened_in', rounds=rounds)}"
    return state


def _ground(words: Words, past: History, objection: Mapping[str, Json]) -> Iterator[str]:
    named = {
        "material": material_in(words, past.meeting, objection["material"], objection["round"])
    }
    if not objection["quote"]:
        yield words("review.no_quote")
        return
    supported = objection["support"] == "supported"
    yield words("review.rests_on" if supported else "review.not_in_material", **named)
    yield quoted(objection["quote"])
