"""A debate's part of the records (PROTOCOLS 5, 11 and 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.ending.arbitration import Choice
from app.domain.meeting.events import ArbitrationOpened
from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.replies.text import one_line
from app.domain.rounds.summary import first_sentence
from app.formats.debate.record_pages import (
    details_page,
    proposals_page,
    result_page,
    rule_page,
)
from app.formats.shared.candidates_shown import named
from app.formats.shared.page import Cell, Page, Theirs, said
from app.formats.shared.record import Record
from app.formats.shared.round_told import consensus, counts, progress
from app.formats.shared.sides import Argument, Excerpt, Side, excerpts_of

_ARGUED_IN = ("disagreements", "reasoning", "position")
"""The sections of a reply that say why, the most telling first."""

_MOST_ARGUMENT_CHARACTERS = 600


class DebateRecord(Record):
    """Participants stand behind proposals, which are known by the labels of who made them."""

    # --- before anybody spoke -------------------------------------------------------------------

    def how_to_count(self, past: History) -> Page:
        yield from rule_page(past.meeting)

    # --- a round in the minutes -----------------------------------------------------------------

    def columns(self, reply: ReplyGiven) -> Mapping[str, Cell]:
        """From round 2 on; in the first one everybody stands for its own proposal."""
        backs, confidence = reply.read.get("backs"), reply.read.get("confidence")
        found: dict[str, Cell] = {}
        if backs is not None:
            found["debate.column_backs"] = Theirs(backs)
        if confidence is not None:
            found["label.confidence"] = str(confidence)
        return found

    def counted_in_round(self, past: History, round_: RoundHeld) -> Page:
        backed: Mapping[str, int] = (round_.closed or {}).get("counts") or {}
        yield from counts(backed, len(past.meeting.seats), "debate.counts")
        yield from consensus(past, round_)
        yield from progress(past, round_)

    def reply_heading(self, reply: ReplyGiven) -> Cell:
        backs: str | None = reply.read.get("backs")
        if backs is None:
            return super().reply_heading(reply)
        return said("debate.reply", name=Theirs(reply.participant), label=Theirs(backs))

    # --- what came of it ------------------------------------------------------------------------

    def numbers(self, past: History) -> Page:
        if past.numbers.get("counts") is not None:  # else no round was closed
            yield from result_page(past.numbers)

    def details(self, past: History) -> Page:
        yield from details_page(past)

    def round_by_round(self, past: History) -> Page:
        """While it runs; its numbers show the same with the confidences."""
        if not past.ended:
            yield from super().round_by_round(past)

    def concerns(self, past: History) -> Sequence[str]:
        """What was named against a proposal: open, since a debate has no way to close a concern.

        It is told among the open points where there is no synthesis that names them.
        """
        return [concern["text"] for concern in past.numbers.get("unresolved_concerns", ())]

    # --- for whoever decides --------------------------------------------------------------------

    def considered(self, past: History) -> Sequence[str]:
        """The proposals; a debate that ended before anybody made one can still have a motion."""
        return list(_proposals(past).values()) or super().considered(past)

    def considered_page(self, past: History) -> Page:
        intro = said("debate.no_options")
        yield from proposals_page(past, _proposals(past), intro)

    def candidates(self, past: History) -> Sequence[Choice]:
        if past.meeting.options:
            return [Choice(option, option) for option in past.meeting.options]
        return [Choice(label, text) for label, text in _proposals(past).items()]

    def candidates_page(self, past: History) -> Page:
        if past.meeting.options:
            yield from super().candidates_page(past)
        else:
            yield from proposals_page(past, _proposals(past))

    def candidates_in_full(self, past: History) -> Page:
        return named(self.candidates(past))

    def sides(self, past: History) -> Sequence[Side]:
        """Who stands behind which label, in the last round in which anybody replied."""
        found: dict[str, list[Argument]] = {}
        for reply in _last_heard(past):
            position: str = reply.read.get("backs") or past.meeting.label(reply.participant)
            found.setdefault(position, []).append(Argument(reply.participant, _reason(reply)))
        return [
            Side(position, tuple(argument.participant for argument in arguments), tuple(arguments))
            for position, arguments in found.items()
        ]

    def excerpts(self, past: History) -> Sequence[Excerpt]:
        return excerpts_of(_last_heard(past))


def _proposals(past: History) -> Mapping[str, str]:
    """Each label's latest text; while the question is open, as it was put to the arbiter."""
    return past.numbers.get("proposals") or {each.id: each.text for each in _offered(past)}


def _offered(past: History) -> Sequence[Choice]:
    told = past.of_this_leg(past.arbitration)
    put = [each.data for each in told if each.type == ArbitrationOpened.type]
    return [Choice.read(choice) for choice in put[-1]["choices"]] if put else ()


def _last_heard(past: History) -> Sequence[ReplyGiven]:
    """The usable replies of the last round that has some."""
    heard = ([r for r in held.final_replies if r.usable] for held in reversed(past.rounds))
    return next((replies for replies in heard if replies), ())


def _reason(reply: ReplyGiven) -> str:
    sections: Mapping[str, str] = reply.read.get("sections") or {}
    why = next((sections[name] for name in _ARGUED_IN if sections.get(name)), None)
    if why is None:
        return first_sentence(reply.text, _MOST_ARGUMENT_CHARACTERS)
    return one_line(why, _MOST_ARGUMENT_CHARACTERS)
