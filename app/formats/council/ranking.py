"""The council's first two stages (PROTOCOLS 8): answers, and their mean ranks under letters.

The letters are shuffled for each reviewer by digests, not by chance, so they can be worked out
again from the meeting's id and the reviewer's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.domain.meeting.meeting import label_letters
from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import clean, without_thinking
from app.domain.values import Json
from app.formats.shared.shuffling import shuffled

MOST_ANSWER_CHARACTERS = 4_000
"""Of one answer, in what the other members and the chair are shown."""


class AnswerReading:
    """Reads a member's answer, which is free text; only one that says nothing is at fault."""

    def read(self, text: str) -> Read:
        answer = answered(text)
        return Read({}, None if answer else Message.of(Code.NO_ANSWER))

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {}


def answered(text: str) -> str:
    """What a member answers, without its thinking, as others are shown it."""
    return clean(without_thinking(text), MOST_ANSWER_CHARACTERS)


def shuffled_letters(
    meeting_id: str, reviewer: str, answered: Iterable[str], *, rank_self: bool = False
) -> dict[str, str]:
    """The letter of each answer that this reviewer is shown, with its author, from A on.

    ``answered`` are the members with an answer, in any order; the reviewer's own is left out
    unless ``rank_self`` is set.
    """
    authors = {name for name in answered if rank_self or name != reviewer}
    order = shuffled(authors, meeting_id, reviewer)
    return {label_letters(i): name for i, name in enumerate(order)}


@dataclass(frozen=True, slots=True)
class Review:
    """One reviewer's ranking, best first, among the answers it was shown; both by author."""

    reviewer: str
    shown: tuple[str, ...]
    ranking: tuple[str, ...]

    @classmethod
    def read(cls, reviewer: str, letters: Mapping[str, str], ranking: Sequence[str]) -> Review:
        """The review behind a ballot of letters (``LetterRankingReading``)."""
        return cls(reviewer, tuple(letters.values()), tuple(letters[letter] for letter in ranking))


@dataclass(frozen=True, slots=True)
class MeanRank:
    """``rank`` is None for an answer that nobody ranked; 1 is the best."""

    author: str
    rank: Fraction | None
    reviews: int

    def record(self) -> dict[str, Json]:
        rank = self.rank
        return {
            "author": self.author,
            "mean_rank": None if rank is None else float(round(rank, 2)),
            "numerator": None if rank is None else rank.numerator,
            "denominator": None if rank is None else rank.denominator,
            "reviews": self.reviews,
        }


def mean_ranks(authors: Sequence[str], reviews: Iterable[Review]) -> tuple[MeanRank, ...]:
    """Every author's mean rank over the reviews that were shown its answer, the best first.

    A review may leave answers out: they share the mean of the places that remain (as options do
    in a poll's ranking, PROTOCOLS 6). Equal ranks stand in the order of ``authors``.
    """
    doubled = dict.fromkeys(authors, 0)
    reviewed = dict.fromkeys(authors, 0)
    for review in reviews:
        places = {author: 2 * place for place, author in enumerate(review.ranking, 1)}
        # Places r+1 … k are left for those it did not rank: twice their mean is r+1+k.
        remaining = len(review.ranking) + 1 + len(review.shown)
        for author in review.shown:
            doubled[author] += places.get(author, remaining)
            reviewed[author] += 1
    found = [_mean_rank(author, doubled[author], reviewed[author]) for author in authors]
    return tuple(sorted(found, key=lambda mean: (mean.rank is None, mean.rank or 0)))


def _mean_rank(author: str, doubled: int, reviews: int) -> MeanRank:
    return MeanRank(author, Fraction(doubled, 2 * reviews) if reviews else None, reviews)


def best_ranked(ranks: Iterable[MeanRank]) -> tuple[str, ...]:
    """Whose answer has the best mean rank; more than one of them is a tie."""
    ranked = [(mean.rank, mean.author) for mean in ranks if mean.rank is not None]
    best = min((rank for rank, _ in ranked), default=None)
    return tuple(author for rank, author in ranked if rank == best)
