"""What a format shows of a meeting, beside what every record shows (PROTOCOLS 11 and 15).

``records/`` writes minutes, decision record and handoff; wherever a part of them depends on the
format, it asks that format's ``Record``. What stands here holds for a format that says nothing of
its own. Words are codes of the catalogue, to which each format adds its own in ``wording/``.

Some texts of every record have a variant that a format can word for itself, under its own name:
``no_motion``, ``no_dissents``, ``position`` and ``mitigation`` of a
dissent, ``synthesis_by`` and its points, and ``stopped_…``, ``decided_by_…``, ``source_…``,
``method_…``, ``position_…``, ``progress_…``, ``degradation_…`` with a code behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.ending.arbitration import Choice
from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.formats.shared.ballots_shown import ballot_parts, read_columns
from app.formats.shared.candidates_shown import listed
from app.formats.shared.compared import compared, consensus_of
from app.formats.shared.drafts_shown import draft_of
from app.formats.shared.figures import figures
from app.formats.shared.motions import last_motion, motions_judged, motions_page
from app.formats.shared.open_points import open_points
from app.formats.shared.page import Cell, Page, Theirs, either, said
from app.formats.shared.positions_shown import positions_by_round
from app.formats.shared.round_told import consensus, counts, progress
from app.formats.shared.sides import (
    Excerpt,
    Side,
    excerpts_of,
    last_with_sides,
    sides_by,
)


class Record:
    """A format's part of the records. Every method is pure; ``past`` is the whole meeting so far.

    ``takes_positions``: participants stand somewhere, and can move from one round to the next.
    ``drafted``: it closes with a synthesis, so a missing one is worth telling. ``chaired``: its
    chair is named among those who held an office. ``unseen``: nobody is shown anybody's answer.
    Of the format itself, ``delivers`` says that what was decided is a text of its own and no title.
    """

    takes_positions = True
    drafted = True
    chaired = False
    unseen = False

    # --- before anybody spoke -------------------------------------------------------------------

    def how_to_count(self, past: History) -> Page:
        """Minutes: by what rule a reader can re-count the rounds; with its own heading."""
        return iter(())

    # --- a round in the minutes -----------------------------------------------------------------

    def columns(self, reply: ReplyGiven) -> Mapping[str, Cell]:
        """What was read from a reply, by the code of its column's heading (``label.ballot``)."""
        return read_columns(reply)

    def in_table(self, reply: ReplyGiven) -> bool:
        """Whether the reply is one that the round counts, and not one that talks in between."""
        return True

    def is_wanted(self, reply: ReplyGiven) -> bool:
        """Whether it is missed where there is nothing in it that can be used."""
        return self.in_table(reply)

    def how_read(self, reply: ReplyGiven) -> Cell:
        """How the values of a usable reply came out of its text."""
        return said("reading.ballot")

    def counts_as(self, reply: ReplyGiven) -> str | None:
        """What a reply that could not be used is counted as, where it is counted at all."""
        return None

    def stands_for(self, reply: ReplyGiven) -> str | None:
        """The position that a reply takes; None where it takes none."""
        ballot = reply.read.get("ballot")
        return ballot if isinstance(ballot, str) else None

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        """Between the table of replies and the replies themselves: counts, tallies, what moved."""
        yield from counts((round_.closed or {}).get("counts") or {}, len(past.meeting.seats))
        yield from consensus(past, round_)
        yield from progress(past, round_)
        for tally in round_.tallies:
            yield from figures(tally, passed_over=("round",))

    def reply_heading(self, reply: ReplyGiven) -> Cell:
        """Who replied, and what with."""
        stands_for, name = self.stands_for(reply), Theirs(reply.participant)
        if stands_for is None:
            return said("round.reply_plain", name=name)
        return said("round.reply", name=name, stance=Theirs(stands_for))

    def taken_apart(self, reply: ReplyGiven) -> bool:
        """Whether its parts are told first, and then the text as it came under a heading."""
        return reply.usable and reply.read.get("ballot") is not None

    def reply_parts(self, reply: ReplyGiven) -> Page:
        """What a usable reply says, part by part, where that reads better than the text itself."""
        return ballot_parts(reply) if self.taken_apart(reply) else iter(())

    # --- what came of it ------------------------------------------------------------------------

    def numbers(self, past: History) -> Page:
        """The numbers behind the result, each share with its denominator."""
        if past.numbers.get("counts", ...) is not None:
            yield from figures(past.numbers)

    def details(self, past: History) -> Page:
        """Minutes only, after the numbers."""
        return iter(())

    def comparison(self, past: History, level: int) -> Page:
        """The first, independent round beside the last one, with a heading of that level."""
        return compared(past, level, said("label.consensus"), consensus_of)

    def round_by_round(self, past: History) -> Page:
        """Minutes: where each participant stood in each round, with its own heading."""
        return positions_by_round(past, self.stands_for)

    def no_dissents(self, past: History) -> Cell:
        """What stands where no view has lost."""
        return either(f"{past.meeting.format}.no_dissents", said("findings.no_dissents"))

    def concerns(self, past: History) -> Sequence[str]:
        """What participants have named, and is open where nobody has drafted anything about it."""
        return ()

    def at_the_end(self, past: History) -> Page:
        """Minutes, after the dissents: what else the format keeps, with its own heading."""
        return iter(())

    def open_points(self, past: History) -> Sequence[Cell]:
        """What nobody settled, a sentence each; stalls, saves and cancels are told of apart."""
        return tuple(open_points(past, self.concerns(past)))

    # --- for whoever decides --------------------------------------------------------------------

    def considered(self, past: History) -> Sequence[str]:
        """The decision record's options, where the meeting was given none."""
        return tuple(motions_judged(past))

    def considered_page(self, past: History) -> Page:
        """The same as the decision record's section shows them."""
        return motions_page(past)

    def candidates(self, past: History) -> Sequence[Choice]:
        """What there is to choose from, the same in every record; of a draft the whole of it."""
        if past.meeting.options:
            return tuple(Choice(option, option) for option in past.meeting.options)
        draft, found = draft_of(past), dict[str, str]()
        texts = (last_motion(past), draft.get("decision"), draft.get("recommendation"))
        for id_, text in zip(("motion", "synthesis", "recommendation"), texts, strict=True):
            if text:
                found.setdefault(text, id_)
        return tuple(Choice(id_, text) for text, id_ in found.items())

    def candidates_page(self, past: History) -> Page:
        """The candidates in the decision record, with what speaks for and against each."""
        return listed(self.candidates(past))

    def candidates_in_full(self, past: History) -> Page:
        """The candidates in the handoff, where the sides and their arguments stand apart."""
        return listed(self.candidates(past))

    def question(self, past: History) -> str:
        """The one question that the meeting was about."""
        return last_motion(past) or past.meeting.topic

    def sides(self, past: History) -> Sequence[Side]:
        """Who stands where, with the arguments."""
        return sides_by(past, self.stands_for)

    def excerpts(self, past: History) -> Sequence[Excerpt]:
        """What a reader has to see in the original words."""
        return excerpts_of(last_with_sides(past, self.stands_for))

    def criteria(self, past: History) -> Mapping[str, Sequence[Mapping[str, Json]]]:
        """The criteria that ``passed`` and those that are ``open``, as the last round left them."""
        return {"passed": (), "open": ()}

    def settled(self, past: History) -> Sequence[Mapping[str, Json]]:
        """What nobody has to decide any more: ``{kind, text}``, and ``id`` where it has one."""
        agreed: Sequence[str] = (past.drafted or {}).get("agreed", ())
        return tuple({"kind": "agreed", "text": text} for text in agreed)
