"""Where a debate stands (PROTOCOLS 5, 11 and 15): who backs whose proposal, and what lost.

Everything here is worked out from what was read from the replies, the same way every time. Seats
are known by name; proposals by the label of whoever made them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.domain.replies.reading import Reply
from app.domain.replies.text import clean
from app.domain.rounds.consensus import Consensus
from app.domain.rounds.flips import Position
from app.domain.rounds.progress import Progress
from app.domain.rounds.summary import MOST_SUMMARY_CHARACTERS, bounded_summary, first_sentence
from app.domain.values import Json
from app.formats.debate.debating import Backing, alike, concerns_in, converged_on, says_something

MOST_PROPOSAL_CHARACTERS = 4_000

PROPOSALS = ("refined proposal", "proposal", "position")


@dataclass(frozen=True, slots=True)
class DebateRound:
    """One closed round. ``option`` is what all positions named in round 1, if they did."""

    replies: tuple[Reply, ...]
    backings: Mapping[str, Backing]
    progress: Progress
    option: str | None = None

    @property
    def number(self) -> int:
        return self.replies[0].round

    @property
    def converged(self) -> str | None:
        """The label that all back with confidence; in round 1 nobody has seen another's yet."""
        return converged_on(self.backings.values()) if self.number > 1 else None

    @property
    def agreed(self) -> bool:
        return self.converged is not None or self.option is not None

    @property
    def consensus(self) -> Consensus:
        return Consensus.FULL if self.agreed else Consensus.NONE

    @property
    def stances(self) -> dict[str, str]:
        """The label that each seat backs; a seat that backs none is not there."""
        return {name: seat.label for name, seat in self.backings.items() if seat.label is not None}

    @property
    def confidences(self) -> dict[str, int]:
        return {
            name: seat.confidence
            for name, seat in self.backings.items()
            if seat.confidence is not None
        }

    def counts(self, labels: Mapping[str, str]) -> dict[str, int]:
        """How many seats back each label; those that back none make up the rest."""
        backed = list(self.stances.values())
        return {label: backed.count(label) for label in labels.values()}

    def majority(self) -> str | None:
        """The label that more than half of all seats back, those without a reply included."""
        backed = list(self.stances.values())
        return next(
            (label for label in backed if 2 * backed.count(label) > len(self.replies)), None
        )

    def positions(self) -> dict[str, Position]:
        return {
            reply.who: Position(
                self.backings[reply.who].label or "",
                reply.values.get("changed_because"),
                stands=self.backings[reply.who].label is not None,
            )
            for reply in self.replies
        }


def backings(replies: Sequence[Reply], labels: Mapping[str, str]) -> dict[str, Backing]:
    """What each seat backs. In the opening round that is its own proposal, if it made one."""
    return {reply.who: _backing(reply, labels[reply.who]) for reply in replies}


def _backing(reply: Reply, own: str) -> Backing:
    if not reply.usable:
        return Backing()
    return Backing(reply.values.get("backs", own), reply.values.get("confidence"))


def section_of(reply: Reply, *headings: str) -> str:
    """The first of these sections in which the reply says something; else empty."""
    sections: Mapping[str, str] = reply.values.get("sections", {}) if reply.usable else {}
    said = (sections.get(heading, "") for heading in headings)
    return next((text for text in said if says_something(text)), "")


def proposals(rounds: Sequence[DebateRound], labels: Mapping[str, str]) -> dict[str, str]:
    """Each label's latest proposal; whoever never replied has none.

    The latest one need not be from the last round: a reply may back another's and refine nothing.
    """
    found: dict[str, str] = {}
    for round_ in rounds:
        for reply in round_.replies:
            said = section_of(reply, *PROPOSALS)
            if said or (reply.usable and labels[reply.who] not in found):
                text = clean(said or reply.text, MOST_PROPOSAL_CHARACTERS)
                found[labels[reply.who]] = text
    return {label: found[label] for label in labels.values() if label in found}


def concerns_by(replies: Sequence[Reply]) -> dict[str, tuple[str, ...]]:
    return {reply.who: concerns_in(section_of(reply, "concerns")) for reply in replies}


def unresolved_concerns(rounds: Sequence[DebateRound]) -> list[Json]:
    """What each participant named, once however worded: a debate has no way to close a concern."""
    found: list[Json] = []
    for round_ in rounds:
        for name, concerns in concerns_by(round_.replies).items():
            for text in concerns:
                known = (each["text"] for each in found if each["participant"] == name)
                if not any(alike(text, before) for before in known):
                    found.append({"participant": name, "round": round_.number, "text": text})
    return found


# --- the summary by code ------------------------------------------------------------------------


def summary_by_code(last: DebateRound, labels: Mapping[str, str]) -> str:
    """Each seat's backing and the first sentence of its proposal, within a summary's size."""
    return bounded_summary("\n".join(_summary_lines(last, labels)))


def _summary_lines(last: DebateRound, labels: Mapping[str, str]) -> Iterator[str]:
    share = MOST_SUMMARY_CHARACTERS // max(1, len(last.replies))
    for reply in last.replies:
        seat = last.backings[reply.who]
        sure = "" if seat.confidence is None else f" {seat.confidence}/10"
        head = f"{labels[reply.who]} [{seat.label or '–'}{sure}]: "
        said = section_of(reply, *PROPOSALS) or (reply.text if reply.usable else "")
        yield head + (first_sentence(said, max(1, share - len(head) - 2)) or "–")
