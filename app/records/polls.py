"""The tables of a poll's count (PROTOCOLS 6 and 15): every share as X of N."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline, table
from app.records.degradation import bullets


def is_poll(numbers: Mapping[str, Json]) -> bool:
    return "output" in numbers


def poll_tables(words: Words, poll: Mapping[str, Json], seats: int) -> Iterator[str]:
    """How many could be counted, how, the count, and what it came to."""
    yield words("poll.effective", effective=poll["effective"], seats=seats)
    if poll["excluded"]:
        yield _excluded(words, poll["excluded"])
    if not poll["effective"]:
        return
    yield from _TABLES[poll["output"]](words, poll)
    yield _result(words, poll)


def _excluded(words: Words, left_out: Sequence[Mapping[str, Json]]) -> str:
    rows = [
        [
            inline(each["participant"]),
            words.either(f"status.{each['status']}", inline(each["status"])),
            inline(each["reason"] or "") or words("measure.missing"),
        ]
        for each in left_out
    ]
    headings = ("label.participant", "label.state", "poll.why")
    return table([words(heading) for heading in headings], rows)


def _result(words: Words, poll: Mapping[str, Json]) -> str:
    if poll["leader"] is not None:
        return words(f"poll.leads_{poll['output']}", leader=inline(poll["leader"]))
    if poll["leaders"]:
        leaders = words.joined(inline(name) for name in poll["leaders"])
        return words("poll.tie", leaders=leaders)
    return words("poll.nobody_leads")


# --- one for each output ------------------------------------------------------------------------


def _ranking(words: Words, poll: Mapping[str, Json]) -> Iterator[str]:
    points: Mapping[str, float] = poll["points"]
    yield words("poll.ranking", most=len(points))
    ordered = sorted(points.items(), key=lambda entry: -entry[1])
    rows = [[inline(option), f"{value:g}"] for option, value in ordered]
    yield table([words("vote.option"), words("poll.points")], rows)


def _recommendation(words: Words, poll: Mapping[str, Json]) -> Iterator[str]:
    yield words("poll.recommendation")
    if poll.get("method"):
        yield words(f"poll.method_{poll['method']}")
    headings = ("label.kind", "poll.group", "poll.mentions", "poll.respondents")
    yield table(
        [words(heading) for heading in headings],
        [
            [
                words(f"poll.{group['kind']}"),
                inline(group["title"]),
                _of_effective(words, group["mentions"], poll["effective"]),
                words.joined(inline(name) for name in group["respondents"]),
            ]
            for group in poll["groups"]
        ],
    )


def _of_effective(words: Words, part: int, effective: int) -> str:
    return words("vote.share", part=part, whole=effective, percent=f"{100 * part / effective:.1f}")


def _binary(words: Words, poll: Mapping[str, Json]) -> Iterator[str]:
    rows = [
        [side, _of_effective(words, count, poll["effective"])]
        for side, count in poll["counts"].items()
    ]
    yield table([words("poll.answer"), words("poll.mentions")], rows)
    for side, arguments in poll["arguments"].items():
        if arguments:
            yield f"**{words('poll.arguments', side=side)}**"
            yield bullets([_argument(words, argument) for argument in arguments])


def _argument(words: Words, argument: Mapping[str, Json]) -> str:
    named = {"reason": inline(argument["reason"]), "name": inline(argument["respondent"])}
    return words("poll.argument", **named)


def _scoring(words: Words, poll: Mapping[str, Json]) -> Iterator[str]:
    yield words("poll.scoring", threshold=f"{poll['threshold']:g}")
    scores: Mapping[str, Mapping[str, Json]] = poll["scores"]
    headings = ("vote.option", "poll.mean", "poll.median", "poll.deviation", "poll.apart")
    yield table(
        [words(heading) for heading in headings],
        [
            [inline(option), *_spread(words, score["overall"]), _apart(words, score)]
            for option, score in scores.items()
        ],
    )
    criteria = list(next(iter(scores.values()))["criteria"])
    if criteria:
        yield f"**{words('poll.by_criterion')}**"
        rows = [
            [inline(option), *(_cell(words, score["criteria"][name]) for name in criteria)]
            for option, score in scores.items()
        ]
        yield table([words("vote.option"), *(inline(name) for name in criteria)], rows)


def _spread(words: Words, spread: Mapping[str, Json]) -> list[str]:
    return [f"{spread['mean']:g}", f"{spread['median']:g}", _deviation(words, spread)]


def _deviation(words: Words, spread: Mapping[str, Json]) -> str:
    deviation = spread["deviation"]
    return words("measure.missing") if deviation is None else f"{deviation:g}"


def _apart(words: Words, score: Mapping[str, Json]) -> str:
    return words("measure.yes") if score["high_variance"] else words("measure.no")


def _cell(words: Words, spread: Mapping[str, Json]) -> str:
    return words("poll.cell", mean=f"{spread['mean']:g}", deviation=_deviation(words, spread))


_TABLES: Mapping[str, Callable[[Words, Mapping[str, Json]], Iterator[str]]] = {
    "ranking": _ranking,
    "recommendation": _recommendation,
    "binary": _binary,
    "scoring": _scoring,
}
