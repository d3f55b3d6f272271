"""What records show of a council (PROTOCOLS 8): who saw what under which letter, and the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline, table


def is_council(numbers: Mapping[str, Json]) -> bool:
    return "by_reviewer" in numbers


def letters_table(words: Words, letters: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The key to the rankings: each reviewer saw the answers under letters of its own."""
    if not letters:
        return
    yield words("council.letters")
    every = sorted({letter for shown in letters.values() for letter in shown}, key=_in_order)
    missing = words("measure.missing")
    yield table(
        [words("council.reviewer"), *every],
        [
            [inline(reviewer), *(inline(shown.get(letter, missing)) for letter in every)]
            for reviewer, shown in letters.items()
        ],
    )


def _in_order(letter: str) -> tuple[int, str]:
    return len(letter), letter


def council_tables(words: Words, numbers: Mapping[str, Json]) -> Iterator[str]:
    """The rankings by author, and the mean ranks that follow from them."""
    ranks: Sequence[Mapping[str, Json]] = numbers["ranks"]
    if not ranks:
        return
    if numbers["by_reviewer"]:
        yield words("council.rankings", count=numbers["rankings"])
        yield _rankings(words, numbers["by_reviewer"])
    yield words("council.mean_ranks")
    yield table(
        [words(f"council.{key}") for key in ("place", "answer_of", "mean_rank", "reviews")],
        list(_rank_rows(words, ranks)),
    )
    yield _leading(words, numbers["best"])


def _rankings(words: Words, by_reviewer: Mapping[str, Sequence[str]]) -> str:
    places = max(len(ranking) for ranking in by_reviewer.values())
    missing = words("measure.missing")
    return table(
        [words("council.reviewer"), *(str(place) for place in range(1, places + 1))],
        [
            [
                inline(reviewer),
                *(inline(name) for name in ranking),
                *[missing] * (places - len(ranking)),
            ]
            for reviewer, ranking in by_reviewer.items()
        ],
    )


def _rank_rows(words: Words, ranks: Sequence[Mapping[str, Json]]) -> Iterator[list[str]]:
    """Equal ranks share a place, and an answer that nobody ranked has none."""
    place, before = 0, None
    for index, mean in enumerate(ranks, start=1):
        share = (mean["numerator"], mean["denominator"])
        if share != before:
            place, before = index, share
        ranked = mean["mean_rank"] is not None
        yield [
            str(place) if ranked else words("measure.missing"),
            inline(mean["author"]),
            _mean(words, mean) if ranked else words("measure.missing"),
            str(mean["reviews"]),
        ]


def _mean(words: Words, mean: Mapping[str, Json]) -> str:
    rounded = f"{mean['mean_rank']:g}"
    if mean["denominator"] == 1:
        return rounded
    share = f"{mean['numerator']}/{mean['denominator']}"
    return words("council.mean", rounded=rounded, share=share)


def _leading(words: Words, best: Sequence[str]) -> str:
    if not best:
        return words("council.none_ranked")
    key = "council.leading" if len(best) == 1 else "council.tied"
    return words(key, names=words.joined(inline(name) for name in best))


def council_outcome(words: Words, numbers: Mapping[str, Json], seats: int) -> Iterator[str]:
    yield words("council.answered", answers=numbers["answers"], seats=seats)
    yield from council_tables(words, numbers)
