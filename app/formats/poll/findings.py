"""From a poll's replies to its count, and what the record says beside it (PROTOCOLS 6 and 15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Dissent
from app.domain.replies.reading import Reply
from app.domain.rounds.flips import Position
from app.domain.values import Json, exact
from app.formats.poll.grouping import GroupingMethod, group_by_similarity
from app.formats.poll.polling import (
    Answer,
    BinaryCount,
    RankingCount,
    count_answers,
    count_rankings,
)
from app.formats.poll.recommending import (
    Recommendation,
    RecommendationCount,
    count_recommendations,
)
from app.formats.poll.rules import Output, high_variance, output_of
from app.formats.poll.scoring import ScoreCount, count_scores
from app.formats.poll.similarity import ALIKE, likeness

PollCount = RankingCount | RecommendationCount | BinaryCount | ScoreCount


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which recommendations belong together, by their numbers, and how that was found."""

    groups: Sequence[Sequence[int]]
    method: GroupingMethod


def by_wording(recommendations: Sequence[Recommendation]) -> Grouping:
    titles = [recommendation.title for recommendation in recommendations]
    return Grouping(group_by_similarity(titles, likeness, ALIKE), "similarity")


def recommendations_in(replies: Sequence[Reply]) -> list[Recommendation]:
    """All recommendations of the valid ballots, in the order of seats; their places number them."""
    return [
        Recommendation(reply.who, each["title"], exact(each["confidence"]), each["why"])
        for reply in _valid(replies)
        for each in reply.values["ballot"]["recommendations"]
    ]


def count_poll(
    meeting: Meeting, replies: Sequence[Reply], grouping: Grouping | None = None
) -> PollCount | None:
    """The count of the valid ballots; None where there is none.

    Recommendations are put together by ``grouping``, or else by their wording.
    """
    valid = _valid(replies)
    if not valid:
        return None
    ballots = [reply.values["ballot"] for reply in valid]
    match output_of(meeting.rules):
        case "ranking":
            return count_rankings([ballot["ranking"] for ballot in ballots], meeting.options)
        case "recommendation":
            every = recommendations_in(replies)
            groups = (grouping or by_wording(every)).groups
            return count_recommendations(every, groups, len(valid))
        case "binary":
            return count_answers([_answer(reply) for reply in valid])
        case "scoring":
            scores = [ballot["scores"] for ballot in ballots]
            criteria = [criterion.id for criterion in meeting.criteria]
            return count_scores(scores, meeting.options, criteria, high_variance(meeting.rules))


def _valid(replies: Sequence[Reply]) -> list[Reply]:
    return [reply for reply in replies if reply.usable]


def _answer(reply: Reply) -> Answer:
    ballot, confidence = reply.values["ballot"], reply.values["confidence"]
    sure = None if confidence is None else exact(confidence)
    return Answer(reply.who, ballot["answer"], tuple(ballot["reasons"]), sure)


def excluded(replies: Sequence[Reply]) -> list[Json]:
    """Who is not among the effective ones, and why (PROTOCOLS 15, provenance)."""
    return [
        {"participant": reply.who, "status": reply.status.value, "reason": reply.reason}
        for reply in replies
        if not reply.usable
    ]


def poll_numbers(
    meeting: Meeting,
    replies: Sequence[Reply],
    count: PollCount | None,
    method: GroupingMethod | None,
) -> dict[str, Json]:
    counted: Mapping[str, Json] = {"output": output_of(meeting.rules), "effective": 0}
    if count is not None:
        counted = count.record()
    return {
        **counted,
        **({} if method is None else {"method": method}),
        "participants": len(meeting.seats),
        "excluded": excluded(replies),
        "ballots": {reply.who: reply.values["ballot"] for reply in replies},
    }


def poll_positions(replies: Sequence[Reply], output: Output) -> dict[str, Position]:
    """Where each respondent stands, as far as two passes can be compared.

    Recommendations are worded afresh each time, so nobody is held to have changed them.
    """
    return {reply.who: _position(reply, output) for reply in replies}


def _position(reply: Reply, output: Output) -> Position:
    if not reply.usable or output == "recommendation":
        return Position("", stands=False)
    ballot = reply.values["ballot"]
    if output == "ranking":
        return Position(ballot["ranking"][0])
    if output == "binary":
        return Position(ballot["answer"])
    return Position(", ".join(_scored_highest(ballot["scores"])))


# --- views that lost ----------------------------------------------------------------------------


def poll_dissents(
    replies: Sequence[Reply], output: Output, count: PollCount, leader: str
) -> tuple[Dissent, ...]:
    """Who answered otherwise, with the reasons that were given."""
    lost = _LOST[output]
    return tuple(
        Dissent(reply.who, position, reason, round=reply.round)
        for reply in _valid(replies)
        for position, reason in lost(reply, count, leader)
    )


_Lost = Callable[[Reply, PollCount, str], Iterator[tuple[str, str]]]


def _other_first_place(reply: Reply, count: PollCount, leader: str) -> Iterator[tuple[str, str]]:
    del count
    first: str = reply.values["ballot"]["ranking"][0]
    if first != leader:
        yield first, reply.values["rationale"]


def _other_answer(reply: Reply, count: PollCount, leader: str) -> Iterator[tuple[str, str]]:
    del count
    ballot = reply.values["ballot"]
    if ballot["answer"] != leader:
        yield ballot["answer"], "\n".join(ballot["reasons"]) or reply.values["rationale"]


def _other_ideas(reply: Reply, count: PollCount, leader: str) -> Iterator[tuple[str, str]]:
    """Every recommendation of whoever did not make the one that is agreed on."""
    assert isinstance(count, RecommendationCount)  # noqa: S101 - by the output
    agreed = next(group for group in count.groups if group.title == leader)
    if reply.who not in agreed.respondents:
        for each in reply.values["ballot"]["recommendations"]:
            yield each["title"], each["why"]


def _higher_scores(reply: Reply, count: PollCount, leader: str) -> Iterator[tuple[str, str]]:
    """What a respondent itself scored higher than the option that came out on top."""
    del count
    highest = _scored_highest(reply.values["ballot"]["scores"])
    if leader not in highest:
        yield ", ".join(highest), reply.values["rationale"]


def _scored_highest(scores: Mapping[str, Json]) -> list[str]:
    """The options with a respondent's own best mean, in an order of their own."""
    means = {option: _mean(given) for option, given in scores.items()}
    best = max(means.values())
    return sorted(option for option, mean in means.items() if mean == best)


def _mean(given: Json) -> Fraction:
    scores = list(cast("Mapping[str, Json]", given).values()) if isinstance(given, Mapping) else []
    each = [exact(score) for score in scores or [given]]
    return sum(each, Fraction(0)) / len(each)


_LOST: Mapping[Output, _Lost] = {
    "ranking": _other_first_place,
    "binary": _other_answer,
    "recommendation": _other_ideas,
    "scoring": _higher_scores,
}
