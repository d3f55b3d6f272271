"""What records show of a debate (PROTOCOLS 5 and 15): who backed what, what turned it, what is
left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.meeting.meeting import Meeting, labels
from app.domain.values import Json
from app.formats.debate.debating import CONVERGED_FROM
from app.formats.shared.page import (
    Cell,
    Heading,
    Page,
    Paragraph,
    Strong,
    Table,
    Theirs,
    bullets,
    joined,
    said,
    table,
)

Numbers = Mapping[str, Json]
"""The outcome's ``debate`` object."""


def rule_page(meeting: Meeting) -> Page:
    """How a reader can re-count the debate."""
    yield Heading(said("debate.counting"))
    yield Paragraph(said("debate.rule", seats=len(meeting.seats), least=CONVERGED_FROM))
    yield Paragraph(said("debate.rule_first_options" if meeting.options else "debate.rule_first"))
    yield Paragraph(said("debate.rule_progress"))


# --- the numbers --------------------------------------------------------------------------------


def result_page(numbers: Numbers) -> Page:
    """The finding in a sentence, and the table of who backed what in each round."""
    yield from _agreement(numbers)
    yield from _deadlock(numbers)
    yield _backing(numbers)
    yield Heading(said("debate.turning_points"), 3)
    points = [_turning_point(numbers, point) for point in numbers["turning_points"]]
    yield bullets(points) if points else Paragraph(said("debate.nobody_turned"))


def _agreement(numbers: Numbers) -> Page:
    seats = numbers["participants"]
    if numbers["option"] is not None:
        yield Paragraph(said("debate.same_option", seats=seats))
    elif numbers["converged_on"] is not None:
        yield _backed_by_all("debate.converged", seats, numbers["converged_on"])
    elif numbers["backed_by_all"] is not None and numbers["rounds"] > 1:
        yield _backed_by_all("debate.unsure", seats, numbers["backed_by_all"])


def _backed_by_all(code: str, seats: int, label: str) -> Paragraph:
    return Paragraph(said(code, seats=seats, label=Theirs(label), least=CONVERGED_FROM))


def _deadlock(numbers: Numbers) -> Page:
    deadlock: Mapping[str, Json] | None = numbers["deadlock"]
    if deadlock is None:
        return
    yield Strong(said("debate.deadlock"))
    leading: str | None = deadlock["leading"]
    if leading is not None:
        yield Paragraph(
            said(
                "debate.leading",
                label=Theirs(leading),
                part=deadlock["counts"][leading],
                seats=numbers["participants"],
                least=CONVERGED_FROM,
            )
        )


def _backing(numbers: Numbers) -> Table:
    rounds: Sequence[Mapping[str, Json]] = numbers["backing"]
    return table(
        [said("label.participant"), *(said("heading.round", round=r["round"]) for r in rounds)],
        [
            [_who(name, label), *(_backed(round_["backs"][name]) for round_ in rounds)]
            for name, label in numbers["labels"].items()
        ],
    )


def _backed(backing: Mapping[str, Json]) -> Cell:
    label: str | None = backing["label"]
    if label is None:
        return said("measure.missing")
    if backing["confidence"] is None:
        return Theirs(label)
    return said("debate.backs", label=Theirs(label), confidence=backing["confidence"])


def _turning_point(numbers: Numbers, point: Mapping[str, Json]) -> Cell:
    """Who went over, each with the label that it backs from then on."""
    round_: int = point["round"]
    backs = next(each["backs"] for each in numbers["backing"] if each["round"] == round_)
    changed = (
        said("debate.went_over", name=Theirs(name), label=Theirs(backs[name]["label"]))
        for name in point["changed"]
    )
    standing = (
        said("debate.standing", label=Theirs(label), part=part)
        for label, part in point["counts"].items()
        if part
    )
    return said(
        "debate.turning_point", round=round_, changed=joined(changed), standing=joined(standing)
    )


# --- in full ------------------------------------------------------------------------------------


def details_page(past: History) -> Page:
    """The proposals and concerns in full."""
    numbers = past.numbers
    yield Heading(said("debate.proposals"), 3)
    yield from proposals_page(past, numbers["proposals"])
    yield Heading(said("debate.concerns_named"), 3)
    yield from _or_none([_concern(each) for each in numbers["unresolved_concerns"]])


def _concern(concern: Mapping[str, Json]) -> Cell:
    return said(
        "debate.concern",
        text=Theirs(concern["text"]),
        name=Theirs(concern["participant"]),
        round=concern["round"],
    )


def proposals_page(past: History, proposals: Mapping[str, str], intro: Cell | None = None) -> Page:
    """The latest proposal of each label: what whoever has to decide can choose from."""
    if proposals and intro is not None:
        yield Paragraph(intro)
    known: Mapping[str, str] = past.numbers.get("labels") or labels(past.meeting)
    names = {label: name for name, label in known.items()}
    yield from _or_none([_proposal(names[label], label, text) for label, text in proposals.items()])


def _proposal(name: str, label: str, text: str) -> Cell:
    return said("debate.proposal", who=_who(name, label), text=Theirs(text))


def _or_none(lines: Sequence[Cell]) -> Page:
    yield bullets(lines) if lines else Paragraph(said("decision.none_named"))


def _who(name: str, label: str) -> Cell:
    if name == label:
        return Theirs(name)
    return said("debate.who", label=Theirs(label), name=Theirs(name))
