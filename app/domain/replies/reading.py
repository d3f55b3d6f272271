"""What becomes of a request for a reply, and how one is read, by plain code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.domain.replies.messages import Message
from app.domain.values import Json


class ReplyStatus(StrEnum):
    """What became of a request for a reply (PROTOCOLS 1, *reply*)."""

    OK = "ok"
    TIMEOUT = "timeout"
    ERROR = "error"
    REFUSED = "refused"
    INVALID = "invalid"
    OFF_TOPIC = "off_topic"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Read:
    """What was read from a reply: public event fields, and what is wrong with it, if anything.

    A ``fault`` is addressed to the answerer, who is asked once more with it.
    """

    values: Mapping[str, Json]
    fault: Message | None = None


class Reading(Protocol):
    """How a reply to one kind of question is read: by plain code, the same way every time."""

    def read(self, text: str) -> Read: ...

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        """What stands in the place of the values when there is no reply to read."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of an ``Ask``; ``values`` is what was read, ``reason`` why there is no reply.

    ``out_of_time`` tells a timeout at the end of the whole meeting's time from one at the end of
    the reply limit.
    """

    who: str
    round: int
    status: ReplyStatus
    text: str = ""
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    reason: str | None = None
    asked_twice: bool = False
    out_of_time: bool = False

    @property
    def usable(self) -> bool:
        return self.status is ReplyStatus.OK
