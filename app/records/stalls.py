"""What records say of a talk that got nowhere (PROTOCOLS 11): how, who waits, what came back.

Waiting for something outside is told of a round too, and is no stall of the meeting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import RoundHeld
from app.domain.rounds.progress import StallKind
from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline
from app.records.degradation import Safe

_EXTERNAL_WAIT = StallKind.EXTERNAL_WAIT.value


def stall_of(past: History) -> Mapping[str, Json] | None:
    """How the present leg got nowhere, if it did; known while its question is still open."""
    told = [each.data for each in past.of_this_leg(past.stalls)]
    stalls = [each for each in told if each["kind"] != _EXTERNAL_WAIT]
    return stalls[-1] if stalls else (past.decision or {}).get("stalled")


def stall_record(past: History) -> dict[str, Json] | None:
    stall = stall_of(past)
    return None if stall is None else dict(stall)


def stall_sentence(words: Words, past: History, safe: Safe = inline) -> Iterator[str]:
    """One sentence, or none."""
    stall = stall_of(past)
    if stall is not None:
        yield words("open.stalled", how=_how(words, stall, safe), round=stall["round"])


def stalls_in(words: Words, past: History, round_: RoundHeld) -> Iterator[str]:
    """What is told of this round."""
    for stall in past.stalls:
        if stall.data.get("round") == round_.number:
            yield _in_round(words, stall.data)


def _in_round(words: Words, stall: Mapping[str, Json]) -> str:
    how = _how(words, stall, inline)
    if stall["kind"] == _EXTERNAL_WAIT:
        next_check: str | None = stall.get("next_check_at")
        at = words.moment(None if next_check is None else datetime.fromisoformat(next_check))
        return words("round.external_wait", how=how, owner=inline(stall.get("owner") or ""), at=at)
    rounds: int | None = stall.get("rounds_without_progress")
    return words("round.stalled" if rounds else "round.stalled_plain", how=how, rounds=rounds)


def _how(words: Words, stall: Mapping[str, Json], safe: Safe) -> str:
    """The kind, with who waits for whom and which objections came back."""
    kind: str = stall["kind"]
    named = words.either(f"stall.{kind}", safe(kind))
    details = [*_waits(words, stall.get("waiting") or (), safe)]
    reopened: Sequence[str] = stall.get("reopened") or ()
    if reopened:
        details.append(words("stall.reopened", ids=words.joined(safe(id_) for id_ in reopened)))
    if not details:
        return named
    return words("stall.detailed", kind=named, detail=words.joined(details))


def _waits(words: Words, circle: Sequence[str], safe: Safe) -> Iterator[str]:
    """Who waits for whom, around the circle; nobody waits for himself."""
    for who, whom in pairwise([*circle, *circle[:1]]):
        if who != whom:
            yield words("stall.waits", who=safe(who), whom=safe(whom))
