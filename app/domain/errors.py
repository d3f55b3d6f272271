"""Everything that can go wrong, in one tree.

YoriaiError                    a stable ``code`` and a sentence for a person
├── InvalidRequest             what a caller asked for cannot be done as asked
│   ├── NotBuiltYet            it will be possible, in a later version
│   └── OutOfScope             a ruling beside the question, or against what must be kept
├── NotFound                   no such meeting or agent
├── Conflict                   it is possible, but not in the present state
│   ├── MeetingEnded · MeetingNotEnded · MeetingDecided · OperationUnknown
│   ├── AgentExists · NoQuestionOpen · ParentClosed
│   └── RequestInProgress      the first request with this idempotency key still runs
├── LogUnavailable             the log could not be written or read; nothing was lost
├── LogConflict                somebody else appended first (the fence of the log)
├── NoRoom                     a reservation that the envelope has no room for
├── CancelledAbove             nothing more is sent: the meeting's tree is being cancelled
├── Superseded                 another runner holds this meeting: stand down
├── Unreplayable               no process at hand can go on with this log: it is parked
│   ├── ReplayDiverged         it does not fit the format's code any more
│   └── VersionUnknown         its format, or that version of it, is not at hand
└── AgentFailure               an agent did not give a reply
    ├── AgentUnavailable       for now: the same request may be sent again
    ├── AgentRejected          for good: sending it again will not change the answer
    ├── AgentRefused           the model declined to answer
    └── AgentNonsense          it answered, but nothing that can be read as a reply

Only ``api/problems.py`` knows which HTTP status belongs to which code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.domain.money import Cost

_MOST_STEP_CHARACTERS = 64


class YoriaiError(Exception):
    """Root of the tree; ``code`` is stable and part of the contract with callers."""

    code = "internal-error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one field; ``pointer`` is a JSON pointer (RFC 6901)."""

    pointer: str
    detail: str


def pointer_to(steps: Iterable[int | str]) -> str:
    """The JSON pointer to a place in a document."""
    return "".join(f"/{_escaped(str(step))}" for step in steps)


def _escaped(step: str) -> str:
    # Cut, since an unknown field may be named with a megabyte.
    return step[:_MOST_STEP_CHARACTERS].replace("~", "~0").replace("/", "~1")


class InvalidRequest(YoriaiError):
    """A request that names something impossible; ``faults`` say which fields."""

    code = "invalid-request"

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(f"{fault.pointer}: {fault.detail}" for fault in faults))
        self.faults = faults


class NotBuiltYet(InvalidRequest):
    """A request that uses a part of the contract that this version does not have."""

    code = "not-built-yet"


class NotFound(YoriaiError):
    code = "not-found"


class Conflict(YoriaiError):
    code = "conflict"


class MeetingEnded(Conflict):
    code = "meeting-ended"


class MeetingNotEnded(Conflict):
    code = "meeting-not-ended"


class MeetingDecided(Conflict):
    code = "meeting-decided"


class OperationUnknown(Conflict):
    """Nobody knows yet whether something took effect outside; nothing goes on over that unseen."""

    code = "operation-unknown"


class AgentExists(Conflict):
    code = "agent-exists"


class RequestInProgress(Conflict):
    code = "request-in-progress"


class IdempotencyKeyReused(InvalidRequest):
    code = "idempotency-key-reused"


class LogUnavailable(YoriaiError):
    code = "log-unavailable"


class LogConflict(YoriaiError):
    """An append named a sequence number that is not the log's last one."""

    code = "log-conflict"

    def __init__(self, meeting_id: str, expected: int, found: int) -> None:
        super().__init__(f"{meeting_id}: expected to follow entry {expected}, found {found}")
        self.found = found


class NoRoom(YoriaiError):
    """Nothing of the append was written; ``steps`` are those whose requests do not fit."""

    code = "no-room"

    def __init__(self, meeting_id: str, steps: frozenset[str]) -> None:
        super().__init__(f"{meeting_id}: no room for {', '.join(sorted(steps))}")
        self.steps = steps


class CancelledAbove(YoriaiError):
    """Nothing of the append was written: ``meeting_id``, above in the tree, is being cancelled."""

    code = "cancelled-above"

    def __init__(self, meeting_id: str) -> None:
        super().__init__(f"{meeting_id} is being cancelled")
        self.meeting_id = meeting_id


class Superseded(YoriaiError):
    code = "superseded"


class Unreplayable(YoriaiError):
    """The meeting is kept whole until a process can go on with it; ``reason`` is what callers see
    of it in ``parked``."""

    code = "unreplayable"
    reason = "unreplayable"


class ReplayDiverged(Unreplayable):
    code = "replay-diverged"
    reason = "replay_diverged"


class VersionUnknown(Unreplayable):
    code = "version-unknown"
    reason = "version_unknown"


class AgentFailure(YoriaiError):
    """``answered`` tells that the far side worked for it all the same, and will want to be paid;
    ``usage`` is what it counted then (None: it counted nothing)."""

    code = "agent-failed"

    def __init__(self, message: str, *, answered: bool = False, usage: Cost | None = None) -> None:
        super().__init__(message)
        self.answered = answered
        self.usage = usage


class AgentUnavailable(AgentFailure):
    """Sending the same request again may succeed.

    ``retry_after`` is the pause in seconds that the far side asked for, or None.
    """

    code = "agent-unavailable"

    def __init__(
        self,
        message: str,
        retry_after: float | None = None,
        *,
        answered: bool = False,
        usage: Cost | None = None,
    ) -> None:
        super().__init__(message, answered=answered, usage=usage)
        self.retry_after = retry_after


class AgentRejected(AgentFailure):
    code = "agent-rejected"


class AgentRefused(AgentFailure):
    code = "agent-refused"


class AgentNonsense(AgentFailure):
    code = "agent-nonsense"

    def __init__(self, message: str, *, usage: Cost | None = None) -> None:
        super().__init__(message, answered=True, usage=usage)
