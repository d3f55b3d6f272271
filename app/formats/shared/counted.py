"""What the formats that count ballots share: how a count is confirmed, recorded and planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.domain.ending.cut_short import limits_met
from app.domain.ending.gate_record import gate_degradation
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.outcome import (
    Completeness,
    Degradation,
    Result,
    StopReason,
    first_to_count,
)
from app.domain.replies.reading import Reply
from app.domain.steps import Ask, Part, Stopped
from app.formats.shared.closing import pass_gate, result_of
from app.formats.shared.rounds import Ending

_FULL_COURSE = frozenset(
    {
        StopReason.COMPLETED,
        StopReason.THRESHOLD,
        StopReason.QUORUM,
        StopReason.RULING,
        StopReason.RULING_EXPIRED,
    }
)
"""The rules were followed to their end, also where they decided nothing."""


def confirm(
    meeting: Meeting, decision: str, round_: int, stopped_by: StopReason = StopReason.COMPLETED
) -> Part[Ending]:
    """Put what was decided in this round to the completion gate, where one is wanted.

    The count stands whatever is answered (PROTOCOLS 10), and a limit that is met
    meanwhile comes after it (PROTOCOLS 11); the record then says that nobody confirmed it.
    """
    ending = Ending(stopped_by)
    try:
        ending.gate = yield from pass_gate(
            meeting, decision, _nothing_to_redraft, after_round=round_
        )
    except Stopped as stopped:
        ending.stopped_by = first_to_count((ending.stopped_by, stopped.reason)) or stopped.reason
    return ending


def _nothing_to_redraft(reasons: Mapping[str, str]) -> Part[str | None]:
    """What was counted is not worded anew; wishes for a revision go into the record."""
    del reasons
    yield from ()
    return None


def result_of_count(
    meeting: Meeting, ending: Ending, counted: Sequence[Reply], *, decided: bool
) -> tuple[Result, Completeness]:
    """The result of a count; a count is partial where a limit kept voices out of it, since a limit
    never reads as success (PROTOCOLS 11)."""
    if ending.stopped_by not in _FULL_COURSE:
        return result_of(ending.stopped_by)
    result = Result.DECIDED if decided else Result.UNDECIDED
    if limits_met(counted):
        return result, Completeness.PARTIAL
    return result, ending.completeness(meeting) if decided else Completeness.COMPLETE


def unconfirmed(meeting: Meeting, ending: Ending, *, decided: bool) -> tuple[Degradation, ...]:
    """What weakens the confirmation of a result that was to be confirmed."""
    if decided and meeting.completion_gate is not None and ending.gate is None:
        return (Degradation("not_confirmed"),)
    return gate_degradation(ending.closing)


def most_shown(asks: Iterable[Ask]) -> Ask:
    """The question that shows the most; seats differ in their names and roles."""
    return max(asks, key=lambda ask: len(str(ask.variables)))


def heaviest_option(meeting: Meeting, otherwise: str = "") -> str:
    """The longest of the options in bytes, as a stand-in for what may be decided."""
    return max(meeting.options, key=lambda text: len(text.encode()), default=otherwise)
