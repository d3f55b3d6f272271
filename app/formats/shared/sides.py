"""Who stands where in a meeting, and in which words (PROTOCOLS 11, handoff).

It is taken from the replies, so it can be told while a question is open as well as after the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven
from app.domain.replies.text import clean, without_thinking
from app.domain.rounds.summary import first_sentence

MOST_ARGUMENT_CHARACTERS = 600
_MOST_EXCERPT_CHARACTERS = 4_000

Stands = Callable[[ReplyGiven], str | None]
"""What a reply stands for; None where it takes no position."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What somebody says for its side, and what it asks for if that side loses.

    An ``objection`` has its id, its severity and whether its quote was found.
    """

    participant: str
    text: str
    asks_for: str | None = None
    objection: str | None = None
    severity: str | None = None
    support: str | None = None


@dataclass(frozen=True, slots=True)
class Side:
    position: str
    participants: tuple[str, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Words that a reader has to see in the original: a participant's, or of a material in the
    ``version`` that an ``objection`` rests on."""

    source: str
    round: int
    text: str
    version: str | None = None
    objection: str | None = None


def sides_by(
    past: History, stands: Stands, reason: Callable[[ReplyGiven], str] | None = None
) -> list[Side]:
    """The sides of the last round in which anybody took one, each with its reasons."""
    found: dict[str, list[Argument]] = {}
    for reply in last_with_sides(past, stands):
        position = stands(reply) if reply.usable else None
        if position:
            text = (reason or given_reason)(reply)
            argument = Argument(reply.participant, text, reply.read.get("mitigation") or None)
            found.setdefault(position, []).append(argument)
    return [
        Side(position, tuple(each.participant for each in arguments), tuple(arguments))
        for position, arguments in found.items()
    ]


def last_with_sides(past: History, stands: Stands) -> Sequence[ReplyGiven]:
    """The replies of the last round in which anybody took a side."""
    rounds = (held.final_replies for held in reversed(past.rounds))
    sided = (each for each in rounds if any(reply.usable and stands(reply) for reply in each))
    return next(sided, ())


def given_reason(reply: ReplyGiven) -> str:
    """The reason beside a ballot, or what a reply says first."""
    return reply.read.get("rationale") or first_sentence(reply.text, MOST_ARGUMENT_CHARACTERS)


def excerpts_of(replies: Iterable[ReplyGiven]) -> list[Excerpt]:
    """What was said, without thinking; a ballot's words are left out, since they stand with its
    side."""
    return [
        Excerpt(reply.participant, reply.round, text)
        for reply in replies
        if reply.usable and not reply.read.get("ballot") and (text := _spoken(reply.text))
    ]


def _spoken(text: str) -> str:
    return clean(without_thinking(text).strip(), _MOST_EXCERPT_CHARACTERS)
