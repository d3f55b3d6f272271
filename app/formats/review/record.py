"""A review's part of the records (PROTOCOLS 9, 11 and 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.ending.arbitration import Choice
from app.domain.meeting.history import History
from app.domain.meeting.resumption import version_in
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.replies.text import one_line
from app.domain.values import Json
from app.formats.review.objections import Objection
from app.formats.review.record_pages import (
    author_returned,
    objections_page,
    result_page,
    round_page,
    rounds_compared,
)
from app.formats.review.reviewing import AUTHOR
from app.formats.review.standing import closed_objections, open_objections
from app.formats.shared.page import Cell, Page, Paragraph, Quote, Theirs, bullets, said
from app.formats.shared.record import Record
from app.formats.shared.round_told import progress
from app.formats.shared.sides import Argument, Excerpt, Side

_DRAFT = "draft"
"""The id of its one candidate, which stands or falls as a whole."""

_CRITICS = "critics"
_MOST_DRAFT_CHARACTERS = 300
"""Of the draft, where a page names the candidates; the whole stands further down."""


class ReviewRecord(Record):
    """An author has a draft, and critics object to it; nobody takes a position in rounds."""

    takes_positions = False

    # --- a round in the minutes -----------------------------------------------------------------

    def columns(self, reply: ReplyGiven) -> Mapping[str, Cell]:
        """Nothing is read that one cell could hold."""
        del reply
        return {}

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        yield from progress(past, round_)
        yield from round_page(past, round_)

    def taken_apart(self, reply: ReplyGiven) -> bool:
        """Whether all that counts of a reply stands apart, so that its text only follows it."""
        return reply.usable and reply.read.get("draft") is not None

    def reply_parts(self, reply: ReplyGiven) -> Page:
        if self.taken_apart(reply):
            yield from author_returned(reply)

    # --- what came of it ------------------------------------------------------------------------

    def numbers(self, past: History) -> Page:
        yield from result_page(past)

    def comparison(self, past: History, level: int) -> Page:
        yield from rounds_compared(past, level)

    def at_the_end(self, past: History) -> Page:
        yield from objections_page(past)

    # --- for whoever decides --------------------------------------------------------------------

    def candidates(self, past: History) -> Sequence[Choice]:
        """The latest draft, also where the meeting ended before it was judged."""
        replies = (reply for held in reversed(past.rounds) for reply in held.final_replies)
        draft = next((d for reply in replies if (d := reply.read.get("draft"))), None)
        return [] if draft is None else [Choice(_DRAFT, draft)]

    def candidates_page(self, past: History) -> Page:
        """The draft's beginning, for a page that shows the whole of it further down."""
        found = self.candidates(past)
        if not found:
            yield Paragraph(said("decision.none_named"))
            return
        yield bullets(Theirs(one_line(each.text, _MOST_DRAFT_CHARACTERS)) for each in found)

    def candidates_in_full(self, past: History) -> Page:
        """The candidates for a reader who is shown the draft nowhere else, as in the handoff."""
        found = self.candidates(past)
        if not found:
            yield Paragraph(said("decision.none_named"))
        for each in found:
            yield Quote(each.text)

    def sides(self, past: History) -> Sequence[Side]:
        """The author with what it changed last, and the critics with what is open."""
        author = next(seat.name for seat in past.meeting.seats if seat.role == AUTHOR)
        changes = tuple(
            Argument(author, change["change"])
            for held in past.rounds[-1:]
            for reply in held.final_replies
            for change in reply.read.get("changes") or ()
        )
        against = tuple(_argument(told.objection) for told in open_objections(past))
        found = [Side(AUTHOR, (author,), changes)]
        if against:
            critics = tuple(dict.fromkeys(argument.participant for argument in against))
            found.append(Side(_CRITICS, critics, against))
        return found

    def excerpts(self, past: History) -> Sequence[Excerpt]:
        """What the open objections rest on, in the version of the material that they quote."""
        return [
            Excerpt(
                told.objection.raised.material,
                told.round,
                told.objection.raised.quote,
                version_in(past.meeting, told.objection.raised.material, told.round),
                told.objection.id,
            )
            for told in open_objections(past)
            if told.objection.supported
        ]

    def criteria(self, past: History) -> Mapping[str, Sequence[Mapping[str, Json]]]:
        results: Mapping[str, str] = {}
        for held in past.rounds:
            results = (held.closed or {}).get("criteria") or results
        judged = [
            {
                "id": criterion.id,
                "text": criterion.text,
                "required": criterion.required,
                "result": results.get(criterion.id, "open"),
            }
            for criterion in past.meeting.criteria
        ]
        return {
            "passed": [each for each in judged if each["result"] == "pass"],
            "open": [each for each in judged if each["result"] != "pass"],
        }

    def settled(self, past: History) -> Sequence[Mapping[str, Json]]:
        """Agreed points, and the objections that were met."""
        met = (told.objection for told in closed_objections(past))
        return [
            *super().settled(past),
            *({"kind": "resolved", "id": each.id, "text": each.raised.point} for each in met),
        ]


def _argument(objection: Objection) -> Argument:
    raised = objection.raised
    return Argument(
        objection.critic,
        raised.point,
        raised.resolves_when or None,
        objection.id,
        raised.severity.value,
        "supported" if objection.supported else "unsupported",
    )
