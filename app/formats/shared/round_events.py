"""How every format tells of its rounds: one beginning and one close each, made only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, UnsetType

from app.domain.meeting.events import RoundClosed, RoundStarted
from app.domain.replies.reading import Reply
from app.domain.rounds.progress import Progress
from app.domain.steps import Part, note
from app.domain.values import JsonObject


def tell_start(
    number: int,
    motion: str | UnsetType | None = UNSET,
    letters: Mapping[str, Mapping[str, str]] | UnsetType = UNSET,
) -> Part[None]:
    """``motion`` is given where stances or ballots are about one, ``letters`` where replies are
    shown under letters: the authors by letter, for each who is shown them."""
    started = RoundStarted(round=number, motion=motion, letters=letters)
    yield from note(f"round-{number}/start", started)


def tell_close(
    number: int,
    replies: Sequence[Reply],
    *,
    motion: str | None = None,
    stances: Mapping[str, str] | None = None,
    counts: Mapping[str, int] | None = None,
    consensus: str | None = None,
    progress: Progress | None = None,
    details: JsonObject | None = None,
) -> Part[None]:
    """What the round came to; what a format does not count stays empty, and what only it counts is
    in the ``details``."""
    closed = RoundClosed(
        round=number,
        motion=motion,
        stances=stances or {},
        counts=counts,
        consensus=consensus,
        progress=progress,
        effective_participants=sum(reply.usable for reply in replies),
        details=details or {},
    )
    yield from note(f"round-{number}/close", closed)
