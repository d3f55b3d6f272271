"""Where a meeting stands: what the meeting resource shows, folded from its log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.domain.meeting import cancellation as cancelling
from app.domain.meeting import events
from app.domain.meeting.envelope import UNTOUCHED, Drawn, Envelope
from app.domain.meeting.events import Event
from app.domain.meeting.meeting import Meeting
from app.domain.meeting.resumption import resumed
from app.domain.money import NOTHING, Cost
from app.domain.values import Json, rfc3339


class Status(StrEnum):
    SCHEDULED = "scheduled"
    RUNNING = "running"
    AWAITING_RULING = "awaiting_ruling"
    CANCELLING = "cancelling"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class MeetingState:
    """A meeting and how far it has come. ``last_seq`` counts all entries of its log,
    ``last_number`` the public ones; ``replies`` are the participants'.

    ``reserved`` holds the requests under way by their step, ``children`` the meetings opened from
    this one and whether each has ended, ``adopted`` likewise those that a child left open below
    it when it ended, ``operations`` what became of each save. ``below`` is what
    all meetings further down have drawn: it lies in their logs and not in this one, so the log's
    writer keeps it. ``seconds_before`` is the time that was taken up before the latest resuming.
    """

    meeting: Meeting
    plan: Mapping[str, Json]
    warnings: Sequence[str]
    agents: Mapping[str, Mapping[str, Json]]
    created_at: datetime
    status: Status = Status.SCHEDULED
    round: int = 0
    motion: str | None = None
    replies: int = 0
    spent: Cost = NOTHING
    started_at: datetime | None = None
    ended_at: datetime | None = None
    deadline: datetime | None = None
    outcome: Mapping[str, Json] | None = None
    cancellation: Mapping[str, Json] | None = None
    pending_question: Mapping[str, Json] | None = None
    minutes_path: str | None = None
    reserved: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Any])
    children: Mapping[str, bool] = field(default_factory=dict[str, bool])
    adopted: Mapping[str, bool] = field(default_factory=dict[str, bool])
    operations: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Any])
    below: Drawn = UNTOUCHED
    resumptions: Sequence[Mapping[str, Json]] = ()
    resumed_at: datetime | None = None
    seconds_before: float = 0.0
    last_seq: int = 0
    last_number: int = 0

    @property
    def ended(self) -> bool:
        return self.status is Status.ENDED

    @property
    def decided(self) -> bool:
        """Whether its decision stands, though its record may still be on the way."""
        return self.ended_at is not None

    @property
    def open_below(self) -> list[str]:
        """The meetings below that it would have to stop, by id."""
        return _open_below(self.children, self.adopted)

    @property
    def own(self) -> Drawn:
        """What this meeting alone has drawn."""
        reserved = NOTHING
        for request in self.reserved.values():
            reserved += _known(Cost.read(request["reserved"]))
        return Drawn(self.replies, self.spent, reserved)

    @property
    def drawn(self) -> Drawn:
        """What it has drawn together with all meetings below it."""
        return self.own + self.below

    @property
    def envelope(self) -> Envelope:
        closing = Cost.read(self.plan["closing_reserve"])
        return Envelope.of(self.meeting.limits, closing, self.drawn)

    def seconds(self, now: datetime) -> float:
        """How long it has been held; the time between an end and a resuming is no part of it."""
        since = self.resumed_at or self.started_at
        if since is None:
            return 0.0
        until = self.ended_at or now
        return round(self.seconds_before + (until - since).total_seconds(), 3)

    def after(self, *new: Event) -> MeetingState:
        """Where the meeting stands once these have happened, in order."""
        # Copied once for all of them: this runs for every entry of every log.
        now: _Fields = {name: getattr(self, name) for name in _NAMES}
        for event in new:
            change = _CHANGES.get(event.type)
            if change is not None:
                change(now, event)
            now["last_seq"] = event.seq
            now["last_number"] = event.number or now["last_number"]
        return MeetingState(**now)


LATE = "/late"
"""Ends the key under which a reply is kept that came after the cancel (PROTOCOLS 12)."""

_NAMES = tuple(each.name for each in fields(MeetingState))
_Fields = dict[str, Any]
"""The fields of a state while events change them."""


def spent_record(state: MeetingState, now: datetime) -> dict[str, Json]:
    """What the meeting and those below it have spent, in the contract's shape; the seconds are
    its own and run until its end."""
    drawn = state.drawn
    usd = drawn.spent.usd
    return {
        "replies": drawn.replies,
        "seconds": state.seconds(now),
        "usd": None if usd is None else format(usd.normalize(), "f"),
        "tokens": {"input": drawn.spent.input_tokens, "output": drawn.spent.output_tokens},
    }


def settled(state: MeetingState) -> MeetingState:
    """The state as it is once its decision stands and nobody is waited for any more."""
    now: _Fields = {name: getattr(state, name) for name in _NAMES}
    _settle(now)
    return MeetingState(**now)


def _known(cost: Cost) -> Cost:
    return cost if cost.usd is not None else replace(cost, usd=NOTHING.usd)


def fold(log: Iterable[Event]) -> MeetingState:
    """Where the meeting stands after its whole log, which begins with ``meeting.created``."""
    first, *rest = log
    return created(first).after(*rest)


def created(event: Event) -> MeetingState:
    record = event.data
    meeting = Meeting.read(record)
    return MeetingState(
        meeting=meeting,
        plan=record["plan"],
        warnings=record["warnings"],
        agents=record["agents"],
        created_at=event.at,
        motion=meeting.motion,
        last_seq=event.seq,
        last_number=event.number or 0,
    )


def _started(now: _Fields, event: Event) -> None:
    # A cancel that came before the start stays in force.
    if now["status"] is Status.SCHEDULED:
        now["status"] = Status.RUNNING
    now["started_at"] = event.at
    now["deadline"] = datetime.fromisoformat(event.data["deadline"])


def _round_started(now: _Fields, event: Event) -> None:
    now["round"] = event.data["round"]
    now["motion"] = event.data.get("motion") or now["motion"]


def _reserved(now: _Fields, event: Event) -> None:
    now["reserved"] = {**now["reserved"], event.data["for"]: event.data}


def _reply(now: _Fields, event: Event) -> None:
    if not event.data.get("late"):
        now["replies"] += 1
    _office_reply(now, event)


def _office_reply(now: _Fields, event: Event) -> None:
    # A reply that never came says nothing of whether the far side is still at work.
    if event.data.get("late") and cancelling.has_stopped(event.data["status"]):
        _item(now, event.data["request_id"], cancelling.STOPPED)
    usage = event.data["usage"] or event.data["booked"]
    if usage is not None:
        now["spent"] += Cost.read(usage)
    _release(now, asked_in(event))


def asked_in(reply: Event | events.Entry) -> str:
    """The step of the request that this reply came to, late ones included."""
    return (reply.step or "").removesuffix(LATE)


def _release(now: _Fields, step: str) -> None:
    if step in now["reserved"]:
        now["reserved"] = {key: each for key, each in now["reserved"].items() if key != step}


def _decided(now: _Fields, event: Event) -> None:
    now["ended_at"] = event.at
    _settle(now)


def _settle(now: _Fields) -> None:
    """Nobody is waited for any more: what was still reserved is booked or given back.

    A request that was sent and is not known to have stopped may still be worked for and paid, so
    where there is a limit to keep it counts as spent.
    """
    if now["meeting"].limits.bounded:
        now["spent"] += cancelling.may_be_paid(now["reserved"], now["cancellation"])
    now["reserved"] = {}


def _child_opened(now: _Fields, event: Event) -> None:
    kind = "adopted" if event.data.get("adopted") else "children"
    now[kind] = {**now[kind], event.data["meeting_id"]: False}
    if cancelling.is_open(now["cancellation"]):
        now["cancellation"] = cancelling.joined(now["cancellation"], event.data["meeting_id"])


def _child_ended(now: _Fields, event: Event) -> None:
    id_ = event.data["meeting_id"]
    kind = "children" if id_ in now["children"] else "adopted"
    now[kind] = {**now[kind], id_: True}
    if cancelling.is_open(now["cancellation"]):
        _item(now, id_, cancelling.STOPPED)


def _operation(now: _Fields, event: Event) -> None:
    operation = event.data["operation"]
    now["operations"] = {**now["operations"], operation["id"]: operation}


def _summary(now: _Fields, event: Event) -> None:
    now["motion"] = event.data.get("motion") or now["motion"]


def _cancelling(now: _Fields, event: Event) -> None:
    now["status"] = Status.CANCELLING
    now["pending_question"] = None
    below = _open_below(now["children"], now["adopted"])
    items = cancelling.under_way(now["reserved"], below, now["operations"])
    now["cancellation"] = cancelling.requested(event.at, event.data["reason"], items)


def _told(now: _Fields, event: Event) -> None:
    _item(now, event.data["ref"], event.data["state"])


def _item(now: _Fields, ref: str, state: str) -> None:
    if now["cancellation"] is not None:
        now["cancellation"] = cancelling.told(now["cancellation"], ref, state)


def _open_below(children: Mapping[str, bool], adopted: Mapping[str, bool]) -> list[str]:
    return [id_ for id_, ended in {**children, **adopted}.items() if not ended]


def _question_opened(now: _Fields, event: Event) -> None:
    now["status"] = Status.AWAITING_RULING
    now["pending_question"] = {**event.data, "opened_at": rfc3339(event.at)}


def _question_closed(now: _Fields, event: Event) -> None:
    del event
    if now["status"] is Status.AWAITING_RULING:
        now["status"] = Status.RUNNING
    now["pending_question"] = None


def _cancelled(now: _Fields, event: Event) -> None:
    now["cancellation"] = {
        **(now["cancellation"] or {}),
        "state": event.data["state"],
        "items": event.data["items"],
    }


def _minutes(now: _Fields, event: Event) -> None:
    now["minutes_path"] = event.data["path"]


def _resumed(now: _Fields, event: Event) -> None:
    ended_at, since = now["ended_at"], now["resumed_at"] or now["started_at"]
    if ended_at is not None and since is not None:
        now["seconds_before"] += (ended_at - since).total_seconds()
    now["meeting"] = resumed(now["meeting"], event.data)
    at = rfc3339(event.at)
    now["resumptions"] = (*now["resumptions"], {**event.data, "at": at})
    now["resumed_at"] = event.at
    now["started_at"] = now["started_at"] or event.at
    now["deadline"] = datetime.fromisoformat(event.data["deadline"])
    now["status"] = Status.RUNNING
    for name in ("ended_at", "outcome", "cancellation", "pending_question"):
        now[name] = None


def _ended(now: _Fields, event: Event) -> None:
    now["status"] = Status.ENDED
    # When the decision stood: what follows it, the minutes on disk, is no part of the meeting.
    now["ended_at"] = datetime.fromisoformat(event.data["ended_at"])
    now["pending_question"] = None
    now["outcome"] = event.data["outcome"]


_CHANGES: Mapping[str, Callable[[_Fields, Event], None]] = {
    events.MEETING_STARTED: _started,
    events.MEETING_RESUMED: _resumed,
    events.ROUND_STARTED: _round_started,
    events.REQUEST_RESERVED: _reserved,
    events.REPLY_RECEIVED: _reply,
    events.OFFICE_REPLIED: _office_reply,
    events.SUMMARY_UPDATED: _summary,
    events.ARBITRATION_OPENED: _question_opened,
    events.ARBITRATION_RULED: _question_closed,
    events.ARBITRATION_EXPIRED: _question_closed,
    events.CANCELLATION_REQUESTED: _cancelling,
    events.CANCELLATION_ACKNOWLEDGED: _told,
    events.CANCELLATION_TOLD: _told,
    events.CANCELLATION_CLOSED: _cancelled,
    events.CHILD_OPENED: _child_opened,
    events.CHILD_ENDED: _child_ended,
    events.OPERATION_HAPPENED: _operation,
    events.OPERATION_RECONCILED: _operation,
    events.DECISION_RECORDED: _decided,
    events.MINUTES_WRITTEN: _minutes,
    events.MEETING_ENDED: _ended,
}
