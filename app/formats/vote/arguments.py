"""The reasons behind a vote's ballots: who is shown whose, and what is handed on (PROTOCOLS 7).

They are told by who gave them and for which option, never by how many: a running tally would vote
along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.replies.messages import Code, Message
from app.domain.replies.reading import Read, Reply, ReplyStatus
from app.domain.replies.text import without_thinking
from app.domain.values import Json
from app.formats.vote.counting import Ballot, Tally


@dataclass(frozen=True, slots=True)
class Argument:
    """One voter's reasons for the option that it chose, and what it asks for if that loses."""

    voter: str
    option: str | None
    """None: an abstention."""
    rationale: str
    mitigation: str
    confidence: Json
    round: int

    @classmethod
    def of(cls, ballot: Ballot, reply: Reply) -> Argument:
        values = reply.values
        return cls(
            ballot.voter,
            ballot.choice,
            values["rationale"],
            values["mitigation"],
            values["confidence"],
            reply.round,
        )

    def record(self) -> dict[str, Json]:
        return {
            "participant": self.voter,
            "option": self.option,
            "rationale": self.rationale,
            "mitigation": self.mitigation,
            "confidence": self.confidence,
        }


def answers_the_others(choice: str | None, tally: Tally) -> bool:
    """Whether the voter of this choice has to answer: all but those with the one leader."""
    return tally.leader is None or choice != tally.leader


def shown_to(
    voter: str, choice: str | None, arguments: Sequence[Argument], tally: Tally
) -> tuple[Argument, ...]:
    """The arguments that a voter reads before it votes again.

    Those with the leader read the dissenters', the others the leader's. Where several options
    lead together there is no one leader: everybody reads the arguments for the leading options
    that are not its own.
    """
    others = [a for a in arguments if a.voter != voter and a.option is not None]
    if tally.leader is not None and choice == tally.leader:
        return tuple(a for a in others if a.option != choice)
    return tuple(a for a in others if a.option in tally.leaders and a.option != choice)


def pros_and_cons(options: Sequence[str], arguments: Sequence[Argument]) -> list[dict[str, Json]]:
    """Every option with what speaks for it, and with who speaks against it.

    Against an option speaks whoever chose another one. Its reasons stand under that other option,
    with the mitigation that it asks for; so each text is there once, however many options.
    """
    return [
        {
            "option": option,
            "pros": [a.record() for a in arguments if a.option == option],
            "cons": [a.voter for a in arguments if a.option not in (None, option)],
        }
        for option in options
    ]


class RebuttalReading:
    """Reads an answer to others' arguments: free text, and something outside the thinking."""

    def read(self, text: str) -> Read:
        values = self.absent(ReplyStatus.OK)
        return Read(values) if without_thinking(text).strip() else Read(values, _NOTHING_SAID)

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"deliberation": True}


_NOTHING_SAID = Message.of(Code.ONLY_THINKING)
