"""What the record shows of a debate beside its result (PROTOCOLS 5, 11 and 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.meeting.outcome import Dissent
from app.domain.replies.reading import Reply
from app.domain.rounds.flips import Flip, flips
from app.domain.values import Json
from app.formats.debate.standing import (
    PROPOSALS,
    DebateRound,
    proposals,
    section_of,
    unresolved_concerns,
)


def debate_numbers(
    rounds: Sequence[DebateRound], labels: Mapping[str, str], *, heard_out: bool
) -> dict[str, Json]:
    """The outcome's ``debate`` object. ``heard_out``: it was not cut short by a limit outside."""
    last = rounds[-1] if rounds else None
    return {
        "participants": len(labels),
        "rounds": len(rounds),
        "labels": dict(labels),
        "counts": last.counts(labels) if last else None,
        "converged_on": last.converged if last else None,
        "option": last.option if last else None,
        "backed_by_all": _backed_by_all(rounds[-1]) if rounds else None,
        "deadlock": _deadlock(rounds, labels) if heard_out else None,
        "backing": _backing_records(rounds),
        "changed_minds": list(dict.fromkeys(flip.participant for flip in _changes(rounds))),
        "turning_points": _turning_points(rounds, labels),
        "proposals": proposals(rounds, labels),
        "unresolved_concerns": unresolved_concerns(rounds),
    }


def debate_findings(rounds: Sequence[DebateRound], labels: Mapping[str, str]) -> dict[str, Json]:
    """The first, independent round beside the last, who changed its mind, and what is held back."""
    changed = _changes(rounds)
    return {
        "baseline": _view(rounds[0], labels) if rounds else None,
        "final": _view(rounds[-1], labels) if rounds else None,
        "flips": [flip.record() for flip in changed],
        "unexplained_flips": sum(flip.reason is None for flip in changed),
        "reservations": _reservations(rounds, labels),
    }


def _changes(rounds: Sequence[DebateRound]) -> tuple[Flip, ...]:
    """Who changed its mind: by the labels they back, never by what a model says of it."""
    return flips([round_.positions() for round_ in rounds])


def _turning_points(rounds: Sequence[DebateRound], labels: Mapping[str, str]) -> list[Json]:
    """The rounds in which somebody went over to another proposal, and how it stood after them."""
    changed = _changes(rounds)
    return [
        {
            "round": round_.number,
            "changed": [flip.participant for flip in changed if flip.round == round_.number],
            "counts": round_.counts(labels),
        }
        for round_ in rounds
        if any(flip.round == round_.number for flip in changed)
    ]


def _view(round_: DebateRound, labels: Mapping[str, str]) -> dict[str, Json]:
    return {
        "round": round_.number,
        "counts": round_.counts(labels),
        "consensus": round_.consensus.value,
    }


def _backing_records(rounds: Sequence[DebateRound]) -> list[Json]:
    """Who backed what with which confidence, round by round."""
    return [
        {
            "round": round_.number,
            "backs": {
                name: {"label": seat.label, "confidence": seat.confidence}
                for name, seat in round_.backings.items()
            },
        }
        for round_ in rounds
    ]


def _backed_by_all(last: DebateRound) -> str | None:
    """The label behind which every seat stands, whether or not all of them are sure of it."""
    backed = {backing.label for backing in last.backings.values()}
    return backed.pop() if len(backed) == 1 else None


def _deadlock(rounds: Sequence[DebateRound], labels: Mapping[str, str]) -> Json:
    """The finding that no answer dominates; None after one round, which was no debate yet.

    ``leading`` is a label that more than half of the seats back all the same. One that all of
    them back does dominate, even if not all are sure of it.
    """
    last = rounds[-1] if rounds else None
    if last is None or len(rounds) < 2 or _backed_by_all(last) is not None:
        return None
    return {
        "kind": "stalemate",
        "round": last.number,
        "counts": last.counts(labels),
        "leading": last.majority(),
    }


# --- what lost ----------------------------------------------------------------------------------


def dissents(rounds: Sequence[DebateRound], ruled: str | None = None) -> tuple[Dissent, ...]:
    """Who backs another label than the one that won, or than the majority's when none did.

    ``ruled`` is the label that an arbiter picked; it won then, whatever the majority backs.

    Where no label has a majority every view is one of a minority, and all of them are kept.
    """
    if not rounds or rounds[-1].option is not None:
        return ()
    last = rounds[-1]
    won = ruled or _kept(last)
    others = (reply for reply in last.replies if _label(last, reply) not in (None, won))
    return tuple(_view_of(last, reply) for reply in others)


def _reservations(rounds: Sequence[DebateRound], labels: Mapping[str, str]) -> list[Json]:
    """What those who took up the winning, or the majority's, proposal still hold against it."""
    last = rounds[-1] if rounds else None
    if last is None or _kept(last) is None:
        return []
    with_it = (reply for reply in last.replies if _label(last, reply) == _kept(last))
    taken_up = (reply for reply in with_it if labels[reply.who] != _kept(last))
    return [_view_of(last, r).record() for r in taken_up if section_of(r, "disagreements")]


def _kept(last: DebateRound) -> str | None:
    return last.converged or last.majority()


def _label(last: DebateRound, reply: Reply) -> str | None:
    return last.backings[reply.who].label


def _view_of(last: DebateRound, reply: Reply) -> Dissent:
    return Dissent(
        reply.who,
        _label(last, reply) or "",
        section_of(reply, "disagreements", "reasoning", *PROPOSALS) or reply.text,
        section_of(reply, "concerns") or None,
        reply.round,
    )
