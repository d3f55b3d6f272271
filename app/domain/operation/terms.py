"""The terms of an operation (PROTOCOLS 13): what is saved, what has happened, what to do.

The rules over them are in ``operation``. A happening can be written as JSON and read back, so
that a meeting's log can hold it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from app.domain.values import rfc3339

Subject = Literal["deliverable", "record"]
"""What is saved: what a review has made, or the record of a decision."""


class OperationStatus(StrEnum):
    REQUESTED = "requested"
    CONFIRMED = "confirmed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    HANDED_OVER = "handed_over"


class Fate(StrEnum):
    """What the far side's answer says of a write."""

    STORED = "stored"
    ACCEPTED = "accepted"  # it will be stored, perhaps
    EXISTS = "exists"  # nothing more will be stored: one look tells whether it is there
    DEFERRED = "deferred"  # not stored: refused for now
    UNSENT = "unsent"  # not stored: it never left
    REFUSED = "refused"  # not stored, and never will be
    UNCLEAR = "unclear"  # no answer, or one that does not say

    @property
    def open(self) -> bool:
        """Whether it may be stored already, or yet."""
        return self in (Fate.ACCEPTED, Fate.UNCLEAR)

    @property
    def surely_not_stored(self) -> bool:
        """Whether it may be sent again without a look."""
        return self in (Fate.DEFERRED, Fate.UNSENT)


class Look(StrEnum):
    """What a GET of the same URL shows."""

    SAME = "same"
    DIFFERENT = "different"
    ABSENT = "absent"
    NO_ANSWER = "no_answer"


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def compare(sent: str, seen: str | None, claimed: str | None) -> Look:
    """Whether what is there is what was sent; all three are SHA-256 digests in hexadecimal.

    ``seen`` is that of the bytes read (None: they could not be read), ``claimed`` what the far
    side says of them. Bytes count before claims: a claim may be stale, or a lie.
    """
    found = seen or claimed
    if found is None:
        return Look.NO_ANSWER
    return Look.SAME if found == sent else Look.DIFFERENT


@dataclass(frozen=True, slots=True)
class Operation:
    """Something to be saved at one place; ``sha256`` is its content's, in hexadecimal.

    ``owner`` sees to it once it has been handed over.
    """

    id: str
    url: str
    sha256: str
    owner: str
    requested_at: datetime
    check_deadline_seconds: float = 30
    subject: Subject = "deliverable"

    def record(self) -> dict[str, Any]:
        return {**asdict(self), "requested_at": rfc3339(self.requested_at)}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Operation:
        """The operation that ``record`` once wrote; fields beside its own are passed over."""
        own = {field.name: record[field.name] for field in fields(cls)}
        own["requested_at"] = datetime.fromisoformat(record["requested_at"])
        return cls(**own)


@dataclass(frozen=True, slots=True)
class WriteAnswer:
    """``retry_after`` is the pause in seconds that the far side asked for; ``left`` is whether the
    write may have gone out at all."""

    fate: Fate
    reason: str = ""
    retry_after: float | None = None
    left: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """``version`` is the ETag of what is there.

    Of something else that is there ``sha256`` is the digest, and ``ours`` the operation of the same
    meeting that sent it, if one has.
    """

    look: Look
    reason: str = ""
    version: str | None = None
    retry_after: float | None = None
    sha256: str | None = None
    ours: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A write is about to leave; noted before it does, so that a crash cannot hide it."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Written:
    at: datetime
    answer: WriteAnswer


@dataclass(frozen=True, slots=True)
class Checked:
    """``asked``: somebody wanted this look; it is no part of the schedule."""

    at: datetime
    finding: Finding
    asked: bool = False


@dataclass(frozen=True, slots=True)
class HandedOver:
    at: datetime
    next_check: datetime


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Nothing of ours was ever stored, and there is no time left to try."""

    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """Where this one was confirmed, the content of ``by`` is now: another operation of the same
    meeting, begun later if ``in_turn``."""

    at: datetime
    by: str
    in_turn: bool


OperationHappening = Sent | Written | Checked | HandedOver | GivenUp | Replaced


@dataclass(frozen=True, slots=True)
class Write:
    """Put the content there; note ``Sent`` first. Give up waiting after ``patience_seconds``."""

    only_if_absent: bool
    patience_seconds: float


@dataclass(frozen=True, slots=True)
class Check:
    """Look whether it is there."""

    patience_seconds: float


@dataclass(frozen=True, slots=True)
class OperationWait:
    """Nothing to do before ``until``; None: never, unless somebody asks for a look."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class HandOver:
    """Note ``HandedOver``: from now on it is the owner's to see to."""

    owner: str
    next_check: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Note ``GivenUp``: nothing was stored and time is up."""

    reason: str


@dataclass(frozen=True, slots=True)
class Confirmed:
    version: str | None


@dataclass(frozen=True, slots=True)
class Failed:
    reason: str


OperationAction = Write | Check | OperationWait | HandOver | GiveUp | Confirmed | Failed


def happening_record(happening: OperationHappening) -> dict[str, Any]:
    """The happening as JSON, without its time, which the log keeps for every entry."""
    match happening:
        case Sent():
            return {"happened": "sent"}
        case Written(_, answer):
            return {"happened": "written", **asdict(answer)}
        case Checked(_, finding, asked):
            return {"happened": "checked", **asdict(finding), "asked": asked}
        case HandedOver(_, next_check):
            return {"happened": "handed_over", "next_check_at": next_check.isoformat()}
        case GivenUp(_, reason):
            return {"happened": "given_up", "reason": reason}
        case Replaced(_, by, in_turn):
            return {"happened": "replaced", "by": by, "in_turn": in_turn}


def happening_read(record: Mapping[str, Any], at: datetime) -> OperationHappening:
    """What ``happening_record`` wrote, as of ``at``; fields beside its own are passed over."""
    match record["happened"]:
        case "sent":
            return Sent(at)
        case "written":
            fate, left = Fate(record["fate"]), record.get("left", True)
            return Written(at, WriteAnswer(fate, record["reason"], record["retry_after"], left))
        case "checked":
            return Checked(at, _finding_read(record), record.get("asked", False))
        case "handed_over":
            return HandedOver(at, datetime.fromisoformat(record["next_check_at"]))
        case "given_up":
            return GivenUp(at, record["reason"])
        case "replaced":
            return Replaced(at, record["by"], record["in_turn"])
        case unknown:
            raise ValueError(f"no happening of an operation: {unknown!r}")


def _finding_read(record: Mapping[str, Any]) -> Finding:
    return Finding(
        Look(record["look"]),
        record["reason"],
        record["version"],
        record["retry_after"],
        record.get("sha256"),
        record.get("ours"),
    )
