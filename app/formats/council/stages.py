"""A council as far as its members have come: answers, then rankings of them (PROTOCOLS 8)."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.meeting.meeting import Meeting, names
from app.domain.replies.reading import Reply
from app.domain.values import Json
from app.formats.council.ranking import (
    MeanRank,
    Review,
    answered,
    best_ranked,
    mean_ranks,
    shuffled_letters,
)


@dataclass(frozen=True, slots=True)
class Stages:
    """Everything here follows from the replies, so that it is worked out and never kept."""

    meeting: Meeting
    answers: tuple[Reply, ...] = ()
    rankings: tuple[Reply, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """Each answer by its author. A member without one cannot be ranked."""
        return {reply.who: answered(reply.text) for reply in self.answers if reply.usable}

    @property
    def letters(self) -> dict[str, dict[str, str]]:
        """The letters of the answers that each reviewer is shown, with their authors.

        A reviewer for whom there is nothing to rank is not among them.
        """
        authors = tuple(self.texts)
        rank_self: bool = self.meeting.rules.get("rank_self", False)
        shown = {
            name: shuffled_letters(self.meeting.id, name, authors, rank_self=rank_self)
            for name in names(self.meeting.seats)
        }
        return {name: letters for name, letters in shown.items() if letters}

    @property
    def reviews(self) -> dict[str, Review]:
        letters = self.letters
        return {
            reply.who: Review.read(reply.who, letters[reply.who], reply.values["ballot"]["ranking"])
            for reply in self.rankings
            if reply.usable
        }

    @property
    def ranks(self) -> tuple[MeanRank, ...]:
        return mean_ranks(tuple(self.texts), self.reviews.values())

    def tally(self) -> dict[str, Json]:
        reviews, ranks = self.reviews, self.ranks
        return {
            "answers": len(self.texts),
            "rankings": len(reviews),
            "ranks": [mean.record() for mean in ranks],
            "best": list(best_ranked(ranks)),
            "by_reviewer": {name: list(review.ranking) for name, review in reviews.items()},
        }
