"""The rounds of a meeting and the replies in them, as records show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.meeting.events import Replied
from app.domain.replies.reading import ReplyStatus
from app.domain.values import Json, rfc3339


@dataclass(frozen=True, slots=True)
class ReplyGiven:
    """One reply as it came, or why there is none.

    ``attempt`` is 2 for the second asking; ``final`` is False for a reply that was asked again.
    ``read`` is what plain code read from it: a stance with its markers, a ballot, sections.
    """

    participant: str
    round: int
    status: str
    text: str
    attempt: int
    final: bool
    reason: str | None
    model: str | None
    seconds: float | None
    usage: Mapping[str, Json] | None
    finish: str | None
    read: Mapping[str, Json]
    at: datetime

    @classmethod
    def of(cls, reply: Replied, at: datetime) -> ReplyGiven:
        return cls(
            participant=reply.participant,
            round=reply.round,
            status=reply.status.value,
            text=reply.text,
            attempt=reply.attempt,
            final=reply.final,
            reason=reply.reason,
            model=reply.model,
            seconds=reply.seconds,
            usage=None if reply.usage is None else reply.usage.record(),
            finish=reply.finish,
            read=reply.read,
            at=at,
        )

    @property
    def who(self) -> str:
        return self.participant

    @property
    def usable(self) -> bool:
        return self.status == ReplyStatus.OK

    def record(self) -> dict[str, Json]:
        return {
            "participant": self.participant,
            "status": self.status,
            "attempt": self.attempt,
            "final": self.final,
            "reason": self.reason,
            **self.read,
            "text": self.text,
            "model": self.model,
            "finish": self.finish,
            "seconds": self.seconds,
            "usage": self.usage,
            "at": rfc3339(self.at),
        }


@dataclass(frozen=True, slots=True)
class RoundHeld:
    """One round. ``closed`` is the data of its ``round.closed``, None while it is open."""

    number: int
    motion: str | None
    started_at: datetime | None
    closed_at: datetime | None
    replies: tuple[ReplyGiven, ...]
    closed: Mapping[str, Json] | None
    summary: Mapping[str, Json] | None
    tallies: tuple[Mapping[str, Json], ...]
    letters: Mapping[str, Mapping[str, str]] | None = None
    """In a council's ranking: the answers' authors by letter, for each reviewer."""

    @property
    def final_replies(self) -> tuple[ReplyGiven, ...]:
        """The replies that count: one for each participant who has been heard."""
        return tuple(reply for reply in self.replies if reply.final)

    def read_by_participant(self, key: str) -> dict[str, Json]:
        """What was read under ``key`` (``stance``, ``ballot``), by participant."""
        return {
            reply.participant: reply.read[key] for reply in self.final_replies if key in reply.read
        }

    @property
    def stances(self) -> Mapping[str, str]:
        if self.closed is not None and "stances" in self.closed:
            return self.closed["stances"]
        return self.read_by_participant("stance")

    def record(self) -> dict[str, Json]:
        """The round as ``GET /v1/meetings/{id}/rounds`` shows it."""
        closed = self.closed or {}
        summary = self.summary or {}
        return {
            "round": self.number,
            "state": "open" if self.closed is None else "closed",
            "motion": self.motion,
            "started_at": _iso(self.started_at),
            "closed_at": _iso(self.closed_at),
            "replies": [reply.record() for reply in self.replies],
            "stances": dict(self.stances),
            "ballots": self.read_by_participant("ballot"),
            "letters": self.letters,
            "tally": self._tally(),
            "consensus": closed.get("consensus"),
            "progress": closed.get("progress"),
            "summary": summary.get("summary"),
            "summary_source": summary.get("source"),
            "next_motion": summary.get("motion"),
        }

    def _tally(self) -> Mapping[str, Json] | None:
        if self.tallies:
            return self.tallies[-1]
        if self.closed is None or self.closed.get("counts") is None:
            return None
        return {
            "counts": self.closed["counts"],
            "consensus": self.closed.get("consensus"),
            "effective_participants": self.closed.get("effective_participants"),
        }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else rfc3339(at)
