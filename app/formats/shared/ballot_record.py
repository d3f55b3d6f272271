"""What the formats that count ballots show alike (PROTOCOLS 6, 7 and 15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven
from app.domain.values import Json
from app.formats.shared.page import Cell, Theirs, said
from app.formats.shared.record import Record
from app.formats.shared.sides import Side, sides_by


class BallotRecord(Record):
    """Ballots are shown as they were read, and the words with each stand whole with its side.

    The decision is what was counted: nobody drafts it, so no synthesis is missed.
    """

    drafted = False

    def ballot_cell(self, ballot: Mapping[str, Json]) -> Cell:
        """A ballot in one cell of a table, without its keys."""
        raise NotImplementedError

    def answer_of(self, ballot: Mapping[str, Json]) -> str | None:
        """The one thing that the ballot says, where it says no more than one."""
        raise NotImplementedError

    # --- a round in the minutes -----------------------------------------------------------------

    def columns(self, reply: ReplyGiven) -> Mapping[str, Cell]:
        ballot, confidence = reply.read.get("ballot"), reply.read.get("confidence")
        found: dict[str, Cell] = {}
        if ballot is not None:
            found["label.ballot"] = self.ballot_cell(ballot)
        if confidence is not None:
            found["label.confidence"] = str(confidence)
        return found

    def reply_heading(self, reply: ReplyGiven) -> Cell:
        name = Theirs(reply.participant)
        answer = self.answer_of(reply.read.get("ballot") or {})
        if answer is None:
            return said("round.reply_plain", name=name)
        return said("round.reply", name=name, stance=Theirs(answer))

    # --- what came of it ------------------------------------------------------------------------

    def no_dissents(self, past: History) -> Cell:
        """What stands where no view has lost: an undecided count overruled nobody."""
        return said("count.nothing_lost") if _undecided(past) else super().no_dissents(past)

    def open_points(self, past: History) -> Sequence[Cell]:
        """The question, or what the losing side asks for."""
        return [*self._question_left(past), *_mitigations(past)]

    def _question_left(self, past: History) -> Iterator[Cell]:
        if _undecided(past):
            yield said("open.question", text=Theirs(self.question(past)))

    # --- for whoever decides --------------------------------------------------------------------

    def question(self, past: History) -> str:
        return past.meeting.motion or past.meeting.topic

    def sides(self, past: History) -> Sequence[Side]:
        """The voters of each answer, or of each first place, in the last round that has some."""
        return sides_by(past, self.stands_for, _reason)

    def stands_for(self, reply: ReplyGiven) -> str | None:
        ballot: Mapping[str, Json] = reply.read.get("ballot") or {}
        ranking: Sequence[str] = ballot.get("ranking") or ()
        return self.answer_of(ballot) or next(iter(ranking), None)


def _reason(reply: ReplyGiven) -> str:
    reasons: Sequence[str] = reply.read["ballot"].get("reasons") or ()
    return reply.read.get("rationale") or "; ".join(reasons)


def _undecided(past: History) -> bool:
    return past.decision is not None and past.decision["decision"] is None


def _mitigations(past: History) -> Iterator[Cell]:
    for dissent in () if past.decision is None else past.decision["dissents"]:
        if dissent["mitigation"]:
            named = {"name": Theirs(dissent["participant"]), "text": Theirs(dissent["mitigation"])}
            yield said("count.mitigation", **named)
