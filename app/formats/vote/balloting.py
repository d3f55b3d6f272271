"""One ballot of everybody in a vote: the replies, what they are as ballots, and the count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.meeting.meeting import Meeting
from app.domain.replies.ballot import ABSTAIN
from app.domain.replies.reading import Reply
from app.domain.rounds.flips import Position
from app.domain.rounds.progress import FIRST_ROUND, Progress
from app.domain.values import Json
from app.formats.vote.arguments import Argument
from app.formats.vote.counting import Ballot, Rules, Tally, cast_ballot, count


@dataclass(frozen=True, slots=True)
class Balloting:
    """``ballots`` are by voter; abstentions are ballots too, those not accepted included."""

    replies: tuple[Reply, ...]
    ballots: Mapping[str, Ballot]
    tally: Tally
    progress: Progress

    @classmethod
    def of(
        cls, meeting: Meeting, rules: Rules, replies: tuple[Reply, ...], before: Balloting | None
    ) -> Balloting:
        """Count the replies; ``before`` is the ballot that this one repeats, if any."""
        ballots = {
            reply.who: cast_ballot(meeting.seat(reply.who), reply.values)
            for reply in replies
            if reply.usable or refused_abstention(reply)
        }
        tally = count(rules, meeting.options, list(ballots.values()), len(meeting.seats))
        progress = FIRST_ROUND if before is None else _progress(before.choices, _choices(ballots))
        return cls(replies, ballots, tally, progress)

    @property
    def number(self) -> int:
        return self.replies[0].round

    @property
    def choices(self) -> dict[str, str]:
        """What each voter chose; of a ranking, the first place."""
        return _choices(self.ballots)

    @property
    def arguments(self) -> list[Argument]:
        return [
            Argument.of(self.ballots[reply.who], reply)
            for reply in self.replies
            if reply.who in self.ballots
        ]

    @property
    def counts(self) -> dict[str, int]:
        return {**self.tally.votes, ABSTAIN: len(self.tally.abstained)}

    @property
    def cast(self) -> dict[str, Json]:
        """Every seat's ballot as it was read, or None."""
        return {reply.who: reply.values["ballot"] for reply in self.replies}

    @property
    def effective(self) -> int:
        return sum(reply.usable for reply in self.replies)

    @property
    def refused(self) -> tuple[str, ...]:
        """Who abstained where no abstention is accepted."""
        return tuple(reply.who for reply in self.replies if refused_abstention(reply))

    @property
    def positions(self) -> dict[str, Position]:
        choices = self.choices
        return {
            reply.who: Position(
                choices.get(reply.who, ""),
                reply.values.get("changed_because"),
                stands=reply.who in choices,
            )
            for reply in self.replies
        }


def refused_abstention(reply: Reply) -> bool:
    """Such a reply does not fit, and it is an abstention all the same (PROTOCOLS 7)."""
    return not reply.usable and reply.values["ballot"] is not None


def _choices(ballots: Mapping[str, Ballot]) -> dict[str, str]:
    return {name: ballot.choice or ABSTAIN for name, ballot in ballots.items()}


def _progress(before: Mapping[str, str], now: Mapping[str, str]) -> Progress:
    """Between two ballots: somebody who voted in both votes otherwise now."""
    changed = [name for name in now if name in before and before[name] != now[name]]
    return Progress(tuple(f"vote_changed:{name}" for name in changed))
