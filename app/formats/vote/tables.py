"""A vote's count as records show it, so that it can be counted again (PROTOCOLS 7 and 15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.values import Json
from app.formats.shared.page import (
    Cell,
    Page,
    Paragraph,
    Strong,
    Table,
    Theirs,
    bullets,
    either,
    said,
    table,
    theirs,
)


def tally_page(tally: Mapping[str, Json]) -> Page:
    """How the ballots were counted, the count itself, and what it came to."""
    protocol: str = tally["protocol"]
    percent = f"{tally['threshold']['percent']:g}"
    yield Paragraph(said(f"vote.{protocol}", threshold=percent))
    if protocol == "weighted":
        yield Paragraph(said(f"vote.by_{tally['normalize']}"))
    yield Paragraph(said("vote.quorum", **tally["quorum"]))
    if tally["abstained"]:
        yield Paragraph(said("vote.abstained", names=theirs(tally["abstained"])))
    yield _shares(tally)
    if tally["run_off"]:
        yield from _run_off(tally)
    yield Paragraph(came_to(tally))


def _shares(tally: Mapping[str, Json]) -> Table:
    """Each share with what it is of, so that it can be worked out again."""
    ranked = tally["protocol"] == "ranked"
    counted = ("vote.first_places", "vote.last_count") if ranked else ("vote.votes", "vote.part")
    return table(
        [said("count.option"), *(said(heading) for heading in counted)],
        [
            [Theirs(option), votes, _share(tally, option)]
            for option, votes in tally["votes"].items()
        ],
    )


def _share(tally: Mapping[str, Json], option: str) -> Cell:
    of = {"part": _short(tally["sums"][option]), "whole": _short(tally["total"])}
    return said("count.share", **of, percent=f"{tally['shares'][option]['percent']:g}")


def _short(number: float) -> str:
    return f"{number:.6g}"


def came_to(tally: Mapping[str, Json]) -> Cell:
    """What a count came to, in a sentence."""
    reason: str = tally["reason"]
    if reason == "passed":
        return said("vote.passed", option=Theirs(tally["passed"]))
    if reason == "tie":
        return said("vote.tie", options=theirs(tally["tied"]))
    key = "vote.below_quorum" if reason == "quorum" else f"vote.{reason}"
    return either(key, Theirs(reason))


# --- the run-off --------------------------------------------------------------------------------


def _run_off(tally: Mapping[str, Json]) -> Page:
    counts: Sequence[Mapping[str, Json]] = tally["run_off"]
    yield Strong(said("vote.run_off"))
    yield _count_by_count(tally["votes"], counts)
    dropped = list(_dropped(counts))
    if dropped:
        yield bullets(dropped)
    winner: str | None = tally["condorcet"]
    if winner is None:
        yield Paragraph(said("vote.no_condorcet"))
    else:
        yield Paragraph(said("vote.condorcet", option=Theirs(winner)))


def _count_by_count(options: Sequence[str], counts: Sequence[Mapping[str, Json]]) -> Table:
    missing = said("measure.missing")
    rows: list[list[Cell]] = [
        [Theirs(option), *(count["counts"].get(option, missing) for count in counts)]
        for option in options
    ]
    rows.append([said("vote.exhausted"), *(count["exhausted"] for count in counts)])
    numbers = (said("vote.count", number=number) for number, _ in enumerate(counts, 1))
    return table([said("count.option"), *numbers], rows)


def _dropped(counts: Sequence[Mapping[str, Json]]) -> Iterator[Cell]:
    for number, count in enumerate(counts, 1):
        if count["by"]:
            out = theirs(count["dropped"])
            yield said(f"vote.dropped_{count['by']}", number=number, options=out)


# --- what was done from the ladder, and what was argued -----------------------------------------


def ladder_page(steps: Sequence[Mapping[str, Json]]) -> Page:
    """What was done after a ballot that passed nothing, in order."""
    if steps:
        yield Strong(said("vote.ladder"))
        yield bullets(_ladder_step(step) for step in steps)


def _ladder_step(step: Mapping[str, Json]) -> Cell:
    experts: Sequence[str] = step.get("experts") or ()
    key = f"vote.step_{step['step']}" + ("_applied" if experts else "")
    if "to" in step:
        return said(f"{key}_to", round=step["round"], name=Theirs(step["to"]))
    return said(key, round=step["round"], names=theirs(experts))


def options_argued(options: Sequence[Mapping[str, Json]]) -> Page:
    """Every option with what speaks for it and against it, for whoever has to decide."""
    arguments = {
        argument["participant"]: argument for option in options for argument in option["pros"]
    }
    for option in options:
        yield Strong(Theirs(option["option"]))
        lines = [_for(argument) for argument in option["pros"]]
        lines += [_against(arguments[name]) for name in option["cons"]]
        yield bullets(lines) if lines else Paragraph(said("vote.nobody_argued"))


def _for(argument: Mapping[str, Json]) -> Cell:
    rationale: str = argument["rationale"]
    text = Theirs(rationale) if rationale else said("measure.missing")
    return said("vote.for", name=Theirs(argument["participant"]), text=text)


def _against(argument: Mapping[str, Json]) -> Cell:
    named = {"name": Theirs(argument["participant"]), "option": Theirs(argument["option"])}
    if not argument["mitigation"]:
        return said("vote.against", **named)
    return said("vote.against_unless", **named, text=Theirs(argument["mitigation"]))
