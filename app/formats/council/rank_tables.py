"""What records show of a council's rankings (PROTOCOLS 8): who saw what under which letter, and the
mean ranks that follow, so that a reader can work them out again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.values import Json
from app.formats.shared.page import Cell, Page, Paragraph, Table, Theirs, said, table, theirs

_MISSING = said("measure.missing")


def letters_table(letters: Mapping[str, Mapping[str, str]]) -> Page:
    """The key to the rankings: each reviewer saw the answers under letters of its own."""
    if not letters:
        return
    yield Paragraph(said("council.letters"))
    every = sorted({letter for shown in letters.values() for letter in shown}, key=_in_order)
    yield table(
        [said("council.reviewer"), *every],
        [
            [Theirs(reviewer), *(_author(shown.get(letter)) for letter in every)]
            for reviewer, shown in letters.items()
        ],
    )


def _in_order(letter: str) -> tuple[int, str]:
    """A to Z before AA."""
    return len(letter), letter


def _author(name: str | None) -> Cell:
    return _MISSING if name is None else Theirs(name)


def rank_tables(tally: Mapping[str, Json]) -> Page:
    """The rankings by author, and the mean ranks that follow from them."""
    ranks: Sequence[Mapping[str, Json]] = tally["ranks"]
    if not ranks:
        return
    if tally["by_reviewer"]:
        yield Paragraph(said("council.rankings", count=tally["rankings"]))
        yield _rankings(tally["by_reviewer"])
    yield Paragraph(said("council.mean_ranks"))
    headings = ("place", "answer_of", "mean_rank", "reviews")
    yield table([said(f"council.{heading}") for heading in headings], _rank_rows(ranks))
    yield Paragraph(_leading(tally["best"]))


def _rankings(by_reviewer: Mapping[str, Sequence[str]]) -> Table:
    places = max(len(ranking) for ranking in by_reviewer.values())
    return table(
        [said("council.reviewer"), *(str(place) for place in range(1, places + 1))],
        [
            [
                Theirs(reviewer),
                *(Theirs(name) for name in ranking),
                *[_MISSING] * (places - len(ranking)),
            ]
            for reviewer, ranking in by_reviewer.items()
        ],
    )


def _rank_rows(ranks: Sequence[Mapping[str, Json]]) -> Iterator[list[Cell]]:
    """Equal ranks share a place, and an answer that nobody ranked has none."""
    place, before = 0, None
    for index, mean in enumerate(ranks, start=1):
        share = (mean["numerator"], mean["denominator"])
        if share != before:
            place, before = index, share
        ranked = mean["mean_rank"] is not None
        yield [
            str(place) if ranked else _MISSING,
            Theirs(mean["author"]),
            _mean(mean) if ranked else _MISSING,
            str(mean["reviews"]),
        ]


def _mean(mean: Mapping[str, Json]) -> Cell:
    rounded = f"{mean['mean_rank']:g}"
    if mean["denominator"] == 1:
        return rounded
    share = f"{mean['numerator']}/{mean['denominator']}"
    return said("council.mean", rounded=rounded, share=share)


def _leading(best: Sequence[str]) -> Cell:
    if not best:
        return said("council.none_ranked")
    return said("council.leading" if len(best) == 1 else "council.tied", names=theirs(best))
