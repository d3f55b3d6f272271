"""A council's part of the records (PROTOCOLS 8, 11 and 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.ending.arbitration import Choice
from app.domain.meeting.events import CompletionClosed
from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.formats.council.questions import sentence_of
from app.formats.council.rank_tables import letters_table, rank_tables
from app.formats.shared.drafts_shown import draft_of, synthesis_page
from app.formats.shared.page import Cell, Page, Paragraph, Theirs, joined, said
from app.formats.shared.record import Record
from app.formats.shared.round_told import progress
from app.formats.shared.sides import Argument, Excerpt, Side, excerpts_of

_SYNTHESIS = "synthesis"
"""The id of its one candidate, which stands or falls as a whole."""

_THEN = " > "


class CouncilRecord(Record):
    """Nobody takes a position before the closing question: members answer, and rank answers."""

    takes_positions = False
    chaired = True

    # --- a round in the minutes -----------------------------------------------------------------

    def columns(self, reply: ReplyGiven) -> Mapping[str, Cell]:
        ballot: Mapping[str, Json] | None = reply.read.get("ballot")
        if ballot is None:
            return {}
        ranking: Sequence[str] = ballot["ranking"]
        return {"label.ballot": joined((Theirs(letter) for letter in ranking), _THEN)}

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        yield from letters_table(round_.letters or {})
        yield from progress(past, round_)
        for tally in round_.tallies:
            yield from rank_tables(tally)

    # --- what came of it ------------------------------------------------------------------------

    def numbers(self, past: History) -> Page:
        numbers, seats = past.numbers, len(past.meeting.seats)
        yield Paragraph(said("council.answered", answers=numbers["answers"], seats=seats))
        yield from rank_tables(numbers)

    def comparison(self, past: History, level: int) -> Page:
        """Its rounds ask different things, so nobody can have moved between them."""
        del past, level
        yield from ()

    # --- for whoever decides --------------------------------------------------------------------

    def candidates(self, past: History) -> Sequence[Choice]:
        if past.meeting.options:
            return [Choice(option, option) for option in past.meeting.options]
        draft = draft_of(past)
        sentence = sentence_of(draft) if draft else ""
        return [Choice(_SYNTHESIS, sentence)] if sentence else []

    def candidates_in_full(self, past: History) -> Page:
        """With the whole synthesis: it is the candidate."""
        yield from super().candidates_in_full(past)
        if self.candidates(past):
            yield from synthesis_page(past)

    def sides(self, past: History) -> Sequence[Side]:
        """Who holds the synthesis to be complete, and who asks for a revision of it."""
        told = past.of_this_leg(past.completions)
        closed = [each.data for each in told if each.type == CompletionClosed.type]
        if not closed:
            return []
        content: Sequence[str] = closed[-1]["completed_by"]
        wanting: Mapping[str, str] = closed[-1]["reasons"]
        found = [_side("complete", dict.fromkeys(content, "")), _side("needs_revision", wanting)]
        return [side for side in found if side.participants]

    def excerpts(self, past: History) -> Sequence[Excerpt]:
        """What the synthesis is made of: the answers that were ranked last."""
        answers = _ranked_last(past.rounds)
        return [] if answers is None else excerpts_of(answers.final_replies)


def _side(position: str, reasons: Mapping[str, str]) -> Side:
    arguments = tuple(Argument(name, text) for name, text in reasons.items() if text)
    return Side(position, tuple(reasons), arguments)


def _ranked_last(rounds: Sequence[RoundHeld]) -> RoundHeld | None:
    """The round of the answers that the latest ranking was about; the first before any ranking."""
    ranked = [index for index, held in enumerate(rounds) if held.letters and index]
    return rounds[ranked[-1] - 1] if ranked else next(iter(rounds), None)
