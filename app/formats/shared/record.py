"""What a format shows of a meeting, beside what every record shows (PROTOCOLS 11 and 15).

``records/`` writes minutes, decision record and handoff; wherever a part of them depends on the
format, it asks that format's ``Record``. What stands here holds for a format that says nothing of
its own. Words are codes of the catalogue, to which each format adds its own in ``wording/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.ending.arbitration import Choice
from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.formats.shared.page import Cell, Page


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


class Record:
    """A format's part of the records. Every method is pure; ``past`` is the whole meeting so far.

    ``takes_positions``: participants stand somewhere, and can move from one round to the next.
    ``drafted``: it closes with a synthesis, so a missing one is worth telling. ``chaired``: its
    chair is named among those who held an office. ``unseen``: nobody is shown anybody's answer.
    ``delivers`` (of the format itself) says that what was decided is a text of its own and no title.
    """

    takes_positions = True
    drafted = True
    chaired = False
    unseen = False

    # --- before anybody spoke -------------------------------------------------------------------

    def how_to_count(self, past: History) -> Page:
        """Minutes: by what rule a reader can re-count the rounds; with its own heading."""
        ...

    # --- a round in the minutes -----------------------------------------------------------------

    def columns(self, reply: ReplyGiven) -> Mapping[str, Cell]:
        """What was read from a reply, by the code of its column's heading (``label.stance``)."""
        ...

    def in_table(self, reply: ReplyGiven) -> bool:
        """Whether the reply is one that the round counts, and not one that talks in between."""
        ...

    def how_read(self, reply: ReplyGiven) -> Cell:
        """How the values of a usable reply came out of its text."""
        ...

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        """Between the table of replies and the replies themselves: counts, tallies, what moved."""
        ...

    def reply_heading(self, reply: ReplyGiven) -> Cell:
        """Who replied, and what with."""
        ...

    def reply_parts(self, reply: ReplyGiven) -> Page:
        """What a usable reply says, taken apart, where that reads better than the text as it came."""
        ...

    # --- what came of it ------------------------------------------------------------------------

    def numbers(self, past: History) -> Page:
        """The numbers behind the result, each share with its denominator."""
        ...

    def details(self, past: History) -> Page:
        """Minutes only, after the numbers."""
        ...

    def comparison(self, past: History, level: int) -> Page:
        """The first, independent round beside the last one, with a heading of that level."""
        ...

    def round_by_round(self, past: History) -> Page:
        """Minutes: where each participant stood in each round, with its own heading."""
        ...

    def at_the_end(self, past: History) -> Page:
        """Minutes, after the dissents: what else the format keeps, with its own heading."""
        ...

    def open_points(self, past: History) -> Sequence[Cell]:
        """What nobody settled, a sentence each; stalls, saves and cancels are told of apart."""
        ...

    # --- for whoever decides --------------------------------------------------------------------

    def considered(self, past: History) -> Sequence[str]:
        """The decision record's options, where the meeting was given none."""
        ...

    def considered_page(self, past: History) -> Page:
        """The same as the decision record's section shows them."""
        ...

    def candidates(self, past: History) -> Sequence[Choice]:
        """What there is to choose from, the same in every record; of a draft the whole of it."""
        ...

    def candidates_page(self, past: History) -> Page:
        """The candidates as a reader is shown them, with what speaks for and against each."""
        ...

    def question(self, past: History) -> str:
        """The one question that the meeting was about."""
        ...

    def sides(self, past: History) -> Sequence[Side]:
        """Who stands where, with the arguments."""
        ...

    def excerpts(self, past: History) -> Sequence[Excerpt]: ...

    def criteria(self, past: History) -> Mapping[str, Sequence[Mapping[str, Json]]]:
        """The criteria that ``passed`` and those that are ``open``, as the last round left them."""
        ...

    def settled(self, past: History) -> Sequence[Mapping[str, Json]]:
        """What nobody has to decide any more: ``{kind, text}``, and ``id`` where it has one."""
        ...
