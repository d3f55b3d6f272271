"""What the record of a vote says beside its result (PROTOCOLS 7, 11 and 15)."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import Degradation, Dissent
from app.domain.replies.ballot import ABSTAIN
from app.domain.replies.reading import Reply
from app.domain.replies.text import clean
from app.domain.rounds.flips import flips
from app.domain.values import Json
from app.formats.vote.arguments import pros_and_cons
from app.formats.vote.balloting import Balloting

MOST_ARGUED_CHARACTERS = 4_000
"""Of one voter's words, in what an arbiter is shown."""


def question_of(meeting: Meeting) -> str:
    return meeting.motion or meeting.topic


def vote_numbers(
    meeting: Meeting, ballotings: Sequence[Balloting], steps: Sequence[Json]
) -> dict[str, Json]:
    """The last tally, with the ballots behind it and what was done from the ladder."""
    seats = len(meeting.seats)
    if not ballotings:
        return {"participants": seats, "rounds": 0, "counts": None}
    last = ballotings[-1]
    return {
        **last.tally.record(),
        "participants": seats,
        "rounds": len(ballotings),
        "counts": last.counts,
        "ballots": last.cast,
        "resolution": list(steps),
    }


def vote_findings(meeting: Meeting, ballotings: Sequence[Balloting]) -> dict[str, Json]:
    """The first tally beside the last one, who moved between them, and who took no side."""
    changed = flips([balloting.positions for balloting in ballotings])
    return {
        "baseline": _view(meeting, ballotings[0]) if ballotings else None,
        "final": _view(meeting, ballotings[-1]) if ballotings else None,
        "flips": [flip.record() for flip in changed],
        "unexplained_flips": sum(flip.reason is None for flip in changed),
        "reservations": _abstentions(ballotings[-1]) if ballotings else [],
    }


def _view(meeting: Meeting, balloting: Balloting) -> dict[str, Json]:
    return {
        **balloting.tally.record(),
        "round": balloting.number,
        "motion": meeting.motion,
        "counts": balloting.counts,
        "consensus": None,
    }


def _abstentions(last: Balloting) -> list[Json]:
    """Shown beside the dissents, so that nothing is lost."""
    return [
        {"participant": a.voter, "position": ABSTAIN, "rationale": a.rationale}
        for a in last.arguments
        if a.option is None
    ]


def vote_dissents(last: Balloting, chosen: str) -> tuple[Dissent, ...]:
    """Who voted otherwise, why, and what they ask for now that it lost."""
    return tuple(
        Dissent(a.voter, a.option, a.rationale, a.mitigation or None, a.round)
        for a in last.arguments
        if a.option is not None and a.option != chosen
    )


def handoff(meeting: Meeting, last: Balloting, *, escalated: bool) -> dict[str, Json]:
    """The case as it stands, for whoever may decide it (PROTOCOLS 11, handoff)."""
    return {
        "question": question_of(meeting),
        "choices": [{"id": option, "text": option} for option in meeting.options],
        "options": pros_and_cons(meeting.options, last.arguments),
        "reason": last.tally.reason.value,
        "escalated": escalated,
    }


def argued(meeting: Meeting, last: Balloting) -> list[dict[str, Json]]:
    """Every voter's words to an arbiter: its option, why, and what it asks for if that loses."""
    return [
        {
            "label": meeting.label(a.voter),
            "text": clean(
                "\n".join(filter(None, (a.option or ABSTAIN, a.rationale, a.mitigation))),
                MOST_ARGUED_CHARACTERS,
            ),
        }
        for a in last.arguments
    ]


def vote_degradation(
    ballotings: Sequence[Balloting], talks: Sequence[Sequence[Reply]]
) -> tuple[Degradation, ...]:
    """What weakens the record of a vote, apart from replies that never came."""
    found = tuple(
        Degradation("abstention_not_accepted", balloting.refused, (balloting.number,))
        for balloting in ballotings
        if balloting.refused
    )
    for talk in talks:
        silent = tuple(reply.who for reply in talk if not reply.usable)
        if silent:
            found += (Degradation("no_rebuttal", silent, (talk[0].round,)),)
    return found
