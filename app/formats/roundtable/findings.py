"""What a round table's records show: its numbers, what talking changed, and who stood aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.meeting.outcome import Dissent
from app.domain.replies.reading import Reply
from app.domain.rounds.flips import Position, flips
from app.domain.rounds.progress import Progress
from app.domain.values import Json
from app.formats.roundtable.stance import Stance
from app.formats.roundtable.tally import StanceTally


@dataclass(frozen=True, slots=True)
class StanceRound:
    """A closed round: the motion that was judged, the replies, and how they were counted."""

    motion: str
    replies: tuple[Reply, ...]
    tally: StanceTally
    progress: Progress

    @property
    def number(self) -> int:
        return self.replies[0].round

    @property
    def stances(self) -> dict[str, str]:
        return {reply.who: reply.values["stance"] for reply in self.replies}


def dissents(last: StanceRound | None, lost: Stance) -> tuple[Dissent, ...]:
    """The views on the side that lost, with their reasons; none is dropped (PROTOCOLS 2)."""
    if last is None:
        return ()
    return tuple(
        Dissent(reply.who, lost.value, reply.text, round=reply.round)
        for reply in last.replies
        if reply.values["stance"] == lost.value
    )


def numbers(rounds: Sequence[StanceRound], seats: int) -> dict[str, Json]:
    """The ``tally`` of the outcome."""
    if not rounds:
        return {"participants": seats, "rounds": 0, "counts": None}
    last = rounds[-1]
    return {
        "participants": last.tally.seats,
        "rounds": len(rounds),
        "counts": last.tally.counts(),
        "stances": last.stances,
        "agree_share": {"numerator": last.tally.agree, "denominator": last.tally.seats},
    }


def findings(rounds: Sequence[StanceRound]) -> dict[str, Json]:
    """Baseline beside final, flips, and who neither agreed nor opposed (PROTOCOLS 15)."""
    changed = flips([_positions(round_) for round_ in rounds])
    return {
        "baseline": _view(rounds[0]) if rounds else None,
        "final": _view(rounds[-1]) if rounds else None,
        "flips": [flip.record() for flip in changed],
        "unexplained_flips": sum(flip.reason is None for flip in changed),
        "reservations": _reservations(rounds[-1]) if rounds else [],
    }


def _positions(round_: StanceRound) -> dict[str, Position]:
    return {
        reply.who: Position(
            reply.values["stance"],
            reply.values.get("changed_because"),
            stands=reply.usable and reply.values["stance"] != Stance.UNKNOWN.value,
        )
        for reply in round_.replies
    }


def _view(round_: StanceRound) -> dict[str, Json]:
    return {
        "round": round_.number,
        "motion": round_.motion,
        "counts": round_.tally.counts(),
        "consensus": round_.tally.consensus.value,
    }


def _reservations(last: StanceRound) -> list[Json]:
    """Who did not agree without opposing; shown beside the dissents so that nothing is lost."""
    return [
        {"participant": reply.who, "position": Stance.NEUTRAL.value, "rationale": reply.text}
        for reply in last.replies
        if reply.usable and reply.values["stance"] == Stance.NEUTRAL.value
    ]
