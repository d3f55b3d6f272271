"""A poll's count as records show it (PROTOCOLS 6 and 15): every share as X of N."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

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


def count_page(poll: Mapping[str, Json], seats: int) -> Page:
    """How many could be counted, how, the count, and what it came to."""
    yield Paragraph(said("poll.effective", effective=poll["effective"], seats=seats))
    if poll["excluded"]:
        yield _excluded(poll["excluded"])
    if poll["effective"]:
        yield from _COUNTED[poll["output"]](poll)
        yield Paragraph(_came_to(poll))


def _excluded(left_out: Sequence[Mapping[str, Json]]) -> Table:
    headings = ("label.participant", "label.state", "poll.why")
    return table(
        [said(heading) for heading in headings],
        [
            [
                Theirs(each["participant"]),
                either(f"status.{each['status']}", Theirs(each["status"])),
                Theirs(each["reason"]) if each["reason"] else said("measure.missing"),
            ]
            for each in left_out
        ],
    )


def _came_to(poll: Mapping[str, Json]) -> Cell:
    if poll["leader"] is not None:
        return said(f"poll.leads_{poll['output']}", leader=Theirs(poll["leader"]))
    if poll["leaders"]:
        return said("poll.tie", leaders=theirs(poll["leaders"]))
    return said("poll.nobody_leads")


def _of_effective(part: int, effective: int) -> Cell:
    percent = f"{100 * part / effective:.1f}"
    return said("count.share", part=part, whole=effective, percent=percent)


# --- one for each output ------------------------------------------------------------------------


def _ranking(poll: Mapping[str, Json]) -> Page:
    points: Mapping[str, float] = poll["points"]
    yield Paragraph(said("poll.ranking", most=len(points)))
    ordered = sorted(points.items(), key=lambda entry: -entry[1])
    rows = [[Theirs(option), f"{value:g}"] for option, value in ordered]
    yield table([said("count.option"), said("poll.points")], rows)


def _recommendation(poll: Mapping[str, Json]) -> Page:
    yield Paragraph(said("poll.recommendation"))
    if poll.get("method"):
        yield Paragraph(said(f"poll.grouped_by_{poll['method']}"))
    headings = ("label.kind", "poll.group", "poll.mentions", "poll.respondents")
    yield table(
        [said(heading) for heading in headings],
        [
            [
                said(f"poll.{group['kind']}"),
                Theirs(group["title"]),
                _of_effective(group["mentions"], poll["effective"]),
                theirs(group["respondents"]),
            ]
            for group in poll["groups"]
        ],
    )


def _binary(poll: Mapping[str, Json]) -> Page:
    rows = [
        [side, _of_effective(count, poll["effective"])] for side, count in poll["counts"].items()
    ]
    yield table([said("poll.answer"), said("poll.mentions")], rows)
    for side, arguments in poll["arguments"].items():
        if arguments:
            yield Strong(said("poll.arguments", side=side))
            yield bullets(_argument(argument) for argument in arguments)


def _argument(argument: Mapping[str, Json]) -> Cell:
    named = {"reason": Theirs(argument["reason"]), "name": Theirs(argument["respondent"])}
    return said("poll.argument", **named)


def _scoring(poll: Mapping[str, Json]) -> Page:
    yield Paragraph(said("poll.scoring", threshold=f"{poll['threshold']:g}"))
    scores: Mapping[str, Mapping[str, Json]] = poll["scores"]
    headings = ("count.option", "poll.mean", "poll.median", "poll.deviation", "poll.apart")
    rows = [
        [Theirs(option), *_spread(score["overall"]), _apart(score)]
        for option, score in scores.items()
    ]
    yield table([said(heading) for heading in headings], rows)
    yield from _by_criterion(scores)


def _by_criterion(scores: Mapping[str, Mapping[str, Json]]) -> Page:
    criteria = list(next(iter(scores.values()))["criteria"])
    if criteria:
        yield Strong(said("poll.by_criterion"))
        rows = [
            [Theirs(option), *(_cell(score["criteria"][name]) for name in criteria)]
            for option, score in scores.items()
        ]
        yield table([said("count.option"), *(Theirs(name) for name in criteria)], rows)


def _spread(spread: Mapping[str, Json]) -> Iterator[Cell]:
    yield f"{spread['mean']:g}"
    yield f"{spread['median']:g}"
    yield _deviation(spread)


def _deviation(spread: Mapping[str, Json]) -> Cell:
    deviation = spread["deviation"]
    return said("measure.missing") if deviation is None else f"{deviation:g}"


def _apart(score: Mapping[str, Json]) -> Cell:
    return said("measure.yes" if score["high_variance"] else "measure.no")


def _cell(spread: Mapping[str, Json]) -> Cell:
    return said("poll.cell", mean=f"{spread['mean']:g}", deviation=_deviation(spread))


_COUNTED: Mapping[str, Callable[[Mapping[str, Json]], Page]] = {
    "ranking": _ranking,
    "recommendation": _recommendation,
    "binary": _binary,
    "scoring": _scoring,
}
