"""Why a talk stops: the limits that it has met, and how it got nowhere (PROTOCOLS 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.domain.meeting.events import ProgressStalled
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import StopReason, first_to_count
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.rounds.progress import Progress, Stall, StallKind
from app.domain.steps import Part, Stopped, note

_SILENT_ROUNDS = 2
"""Rounds running without a usable reply, after which the agents count as unavailable."""

_UNREACHED = frozenset({ReplyStatus.TIMEOUT, ReplyStatus.ERROR})


class RoundHeld(Protocol):
    """A closed round, as far as the rules here look at it."""

    @property
    def replies(self) -> tuple[Reply, ...]: ...

    @property
    def progress(self) -> Progress: ...


def usable(round_: RoundHeld) -> int:
    return sum(reply.usable for reply in round_.replies)


# --- rounds -------------------------------------------------------------------------------------


def stop_after(
    rounds: Sequence[RoundHeld], meeting: Meeting, *, agreed: bool
) -> Part[StopReason | None]:
    """Whether the round just closed is the last, and what ended the meeting then.

    What was agreed counts whenever it was: a meeting that was cancelled in its closing and is
    resumed comes to that closing again.
    """
    met = stops_met(rounds, meeting)
    if agreed:
        met.add(StopReason.CONSENSUS)
    stop = first_to_count(met)
    if stop is StopReason.NO_PROGRESS:
        yield from tell_stall(same_split(rounds, meeting))
    return stop


def same_split(rounds: Sequence[RoundHeld], meeting: Meeting) -> Stall:
    """The stall of those who only take positions: these stayed as they were (PROTOCOLS 11)."""
    return Stall(StallKind.STALEMATE, len(rounds), meeting.limits.no_progress_rounds)


def tell_stall(stall: Stall) -> Part[None]:
    yield from note(f"round-{stall.round}/stalled", ProgressStalled(stall=stall))


def stops_met(rounds: Sequence[RoundHeld], meeting: Meeting) -> set[StopReason]:
    """Every limit that the rounds so far have met (PROTOCOLS 11, stop conditions).

    What rounds from before a resuming met has ended the meeting once; silence and rounds without
    progress are counted anew after it. Only the number of rounds counts over all of them.
    """
    met: set[StopReason] = set()
    if rounds_used_up(meeting, len(rounds)):
        met.add(StopReason.ROUNDS)
    lately = rounds[meeting.resumed_after :]
    if not lately:
        return met
    met |= limits_met(lately[-1].replies)
    silent = lately[-_SILENT_ROUNDS:]
    if len(silent) == _SILENT_ROUNDS and not any(usable(round_) for round_ in silent):
        met.add(StopReason.AGENTS_UNAVAILABLE)
    idle_rounds = meeting.limits.no_progress_rounds
    idle = lately[-idle_rounds:]
    if len(idle) == idle_rounds and not any(round_.progress.made for round_ in idle):
        met.add(StopReason.NO_PROGRESS)
    return met


def rounds_used_up(meeting: Meeting, held: int) -> bool:
    """Whether no further round may follow so many; a resuming that raised nothing gives no room.

    Those that were held before a resuming all stand, whatever limit is in force now.
    """
    return held >= max(meeting.limits.rounds, meeting.resumed_after)


def until_stopped(talk: Part[StopReason]) -> Part[StopReason]:
    """The talk to its own end, or to what was thrown in to end it."""
    try:
        return (yield from talk)
    except Stopped as stopped:
        return stopped.reason


# --- replies ------------------------------------------------------------------------------------


def limits_met(replies: Sequence[Reply]) -> frozenset[StopReason]:
    """The deadline, the budget, both or neither: whatever these replies say is missing.

    It is named as what ended the meeting, since no further request is made that would run
    into it.
    """
    found: set[StopReason] = set()
    if any(reply.out_of_time for reply in replies):
        found.add(StopReason.DEADLINE)
    if any(reply.status is ReplyStatus.BUDGET for reply in replies):
        found.add(StopReason.BUDGET)
    return frozenset(found)


def cut_short(replies: Sequence[Reply]) -> StopReason | None:
    """The stop that a single pass without a result has met, if one explains what is missing.

    With one pass there is no second round to wait for (PROTOCOLS 4): one in which nobody could
    be reached means that the agents are not available.
    """
    found = set(limits_met(replies))
    if all(reply.status in _UNREACHED for reply in replies):
        found.add(StopReason.AGENTS_UNAVAILABLE)
    return first_to_count(found)
