"""What records show of a debate (PROTOCOLS 15): who backed what, what turned it, what is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.meeting import Meeting
from app.domain.values import Json
from app.formats.debate.debating import CONVERGED_FROM
from app.records.catalogue import Words
from app.records.containment import inline, table
from app.records.degradation import Safe, bullets


def rule(words: Words, meeting: Meeting) -> Iterator[str]:
    """How a reader can re-count the debate."""
    yield words("debate.rule", seats=len(meeting.seats), least=CONVERGED_FROM)
    yield words("debate.rule_first_options" if meeting.options else "debate.rule_first")
    yield words("debate.rule_progress")


def counted(words: Words, numbers: Mapping[str, Json]) -> Iterator[str]:
    """The finding in a sentence, and the table of who backed what in each round."""
    yield from _finding(words, numbers)
    yield _backing(words, numbers)
    points = [_turning_point(words, numbers, point) for point in numbers["turning_points"]]
    yield f"### {words('debate.turning_points')}"
    yield bullets(points) if points else words("debate.nobody_turned")


def details(words: Words, numbers: Mapping[str, Json]) -> Iterator[str]:
    """The proposals and concerns in full."""
    yield f"### {words('debate.proposals')}"
    proposals = proposal_texts(words, numbers)
    yield bullets(proposals) if proposals else words("decision.none_named")
    yield f"### {words('debate.concerns_named')}"
    concerns = [
        words(
            "debate.concern",
            text=inline(each["text"]),
            name=inline(each["participant"]),
            round=each["round"],
        )
        for each in numbers["unresolved_concerns"]
    ]
    yield bullets(concerns) if concerns else words("decision.none_named")


def proposal_texts(words: Words, numbers: Mapping[str, Json], safe: Safe = inline) -> list[str]:
    """The latest proposal of each label: what whoever has to decide can choose from."""
    names = {label: name for name, label in numbers["labels"].items()}
    return [
        words("debate.proposal", who=_who(words, names[label], label, safe), text=safe(text))
        for label, text in numbers["proposals"].items()
    ]


def _who(words: Words, name: str, label: str, safe: Safe = inline) -> str:
    if name == label:
        return safe(name)
    return words("debate.who", label=safe(label), name=safe(name))


def _finding(words: Words, numbers: Mapping[str, Json]) -> Iterator[str]:
    seats = numbers["participants"]
    if numbers["option"] is not None:
        yield words("debate.same_option", seats=seats)
    elif numbers["converged_on"] is not None:
        label = inline(numbers["converged_on"])
        yield words("debate.converged", seats=seats, label=label, least=CONVERGED_FROM)
    elif numbers["backed_by_all"] is not None and numbers["rounds"] > 1:
        label = inline(numbers["backed_by_all"])
        yield words("debate.unsure", seats=seats, label=label, least=CONVERGED_FROM)
    deadlock: Mapping[str, Json] | None = numbers["deadlock"]
    if deadlock is None:
        return
    yield f"**{words('debate.deadlock')}**"
    leading: str | None = deadlock["leading"]
    if leading is not None:
        part = deadlock["counts"][leading]
        yield words(
            "debate.leading", label=inline(leading), part=part, seats=seats, least=CONVERGED_FROM
        )


def _backing(words: Words, numbers: Mapping[str, Json]) -> str:
    rounds: Sequence[Mapping[str, Json]] = numbers["backing"]
    headings = [words("label.participant")]
    headings += [words("heading.round", round=each["round"]) for each in rounds]
    return table(
        headings,
        [
            [_who(words, name, label), *(_cell(words, each["backs"][name]) for each in rounds)]
            for name, label in numbers["labels"].items()
        ],
    )


def _cell(words: Words, backing: Mapping[str, Json]) -> str:
    label: str | None = backing["label"]
    if label is None:
        return words("measure.missing")
    if backing["confidence"] is None:
        return inline(label)
    return words("debate.backs", label=inline(label), confidence=backing["confidence"])


def _turning_point(words: Words, numbers: Mapping[str, Json], point: Mapping[str, Json]) -> str:
    backs = next(each["backs"] for each in numbers["backing"] if each["round"] == point["round"])
    changed = [
        words("debate.went_over", name=inline(name), label=inline(backs[name]["label"]))
        for name in point["changed"]
    ]
    standing = [
        words("debate.standing", label=inline(label), part=part)
        for label, part in point["counts"].items()
        if part
    ]
    return words(
        "debate.turning_point",
        round=point["round"],
        changed=words.joined(changed),
        standing=words.joined(standing),
    )
