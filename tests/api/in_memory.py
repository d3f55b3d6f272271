"""The ports of the HTTP edge, in memory, until tests here run on the real store.

No database, no runner: a test appends what should have happened.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.api.meeting_view import event_view
from app.api.services import Services
from app.coordinator.commands import OpenMeeting
from app.coordinator.ports import Idempotency, MeetingFilter, OperationFilter, Page, Timer
from app.coordinator.resuming import ResumeMeeting, check_state, resuming_entry
from app.domain.ending.arbitration import Choice, NoQuestionOpen, Ruling, chosen
from app.domain.errors import AgentExists, Fault, InvalidRequest, MeetingEnded, NotFound
from app.domain.meeting import events
from app.domain.meeting.events import Entry, Event
from app.domain.meeting.meeting import Meeting, Seat
from app.domain.meeting.state import MeetingState, fold
from app.domain.money import NOTHING
from app.domain.values import Json

NOON = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


class StillClock:
    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> datetime:
        return self.time

    def call_at(self, at: datetime, callback: Callable[[], object]) -> Timer:
        raise NotImplementedError


class MemoryStore:
    """Logs, first answers, and who follows them: ``Archive`` and ``Tail``."""

    def __init__(self) -> None:
        self.logs: dict[str, list[Event]] = {}
        self.answers: dict[str, Idempotency] = {}
        self.filters: list[MeetingFilter] = []
        self.operation_filters: list[OperationFilter] = []
        self.changed = asyncio.Event()

    def append(self, meeting_id: str, *entries: Entry) -> None:
        log = self.logs.setdefault(meeting_id, [])
        for entry in entries:
            number = None if entry.internal else sum(not each.internal for each in log) + 1
            log.append(
                Event(
                    entry.type,
                    entry.data,
                    entry.at,
                    meeting_id=meeting_id,
                    seq=len(log) + 1,
                    number=number,
                )
            )
        self.changed.set()
        self.changed = asyncio.Event()

    async def state(self, meeting_id: str) -> MeetingState:
        return fold(await self.log(meeting_id))

    async def log(self, meeting_id: str) -> Sequence[Event]:
        if meeting_id not in self.logs:
            raise NotFound(f"There is no meeting {meeting_id}.")
        return tuple(self.logs[meeting_id])

    async def events(self, meeting_id: str, after: int, limit: int) -> Sequence[Event]:
        public = [each for each in await self.log(meeting_id) if (each.number or 0) > after]
        return public[:limit]

    async def meetings(self, filter_: MeetingFilter) -> Page[MeetingState]:
        self.filters.append(filter_)
        if filter_.cursor == "nobody-gave-this":
            raise InvalidRequest(Fault("/cursor", "No page gave this cursor."))
        states = [fold(log) for log in reversed(self.logs.values())]
        more = len(states) > filter_.limit
        return Page(states[: filter_.limit], "more" if more else None)

    async def decided(self, filter_: MeetingFilter) -> Page[Sequence[Event]]:
        self.filters.append(filter_)
        return Page([log for log in self.logs.values() if fold(log).ended], None)

    async def operations(self, filter_: OperationFilter) -> Page[Mapping[str, Json]]:
        self.operation_filters.append(filter_)
        known = [record for log in self.logs.values() for record in fold(log).operations.values()]
        return Page([each for each in known if each["state"] in filter_.states], None)

    async def operation(self, operation_id: str) -> Mapping[str, Json]:
        for log in self.logs.values():
            if operation_id in (operations := fold(log).operations):
                return operations[operation_id]
        raise NotFound(f"There is no operation {operation_id}.")

    async def first_answer(self, key: str) -> Idempotency | None:
        return self.answers.get(key)

    async def keep_answer(self, key: str, answer: str) -> None:
        self.answers[key] = replace(self.answers[key], answer=answer)

    async def check(self, meeting_id: str) -> None:
        await self.log(meeting_id)

    async def follow(self, meeting_id: str, after: int) -> AsyncIterator[bytes]:
        while True:
            changed = self.changed
            found = await self.events(meeting_id, after, 1000)
            if found:
                yield b"".join(frame(event) for event in found)
                after = found[-1].number or after
            if self.logs[meeting_id][-1].type == events.MEETING_ENDED:
                return
            await changed.wait()

    async def follow_all(self, cursor: str | None) -> AsyncIterator[bytes]:
        yield f"id: after-{cursor}\nevent: x\ndata: {{}}\n\n".encode()
        await asyncio.Event().wait()


def frame(event: Event) -> bytes:
    data = json.dumps(event_view(event))
    return f"id: {event.number}\nevent: {event.type}\ndata: {data}\n\n".encode()


class MemoryMeetings:
    """Opens meetings and cancels them; they come to their end when a test says so."""

    def __init__(self, store: MemoryStore, clock: StillClock) -> None:
        self._store = store
        self._clock = clock
        self.wishes: list[OpenMeeting] = []
        self.resumings: list[ResumeMeeting] = []
        self.asked = asyncio.Event()
        self.slow = asyncio.Event()
        self.slow.set()
        self.awaited = asyncio.Event()
        """Set once somebody waits for an end."""
        self.fails: Exception | None = None

    async def plan(self, wish: OpenMeeting) -> Mapping[str, Json]:
        self.wishes.append(wish)
        return {"format": wish.format, "prompts": 13}

    async def open(self, wish: OpenMeeting, idempotency: Idempotency | None) -> MeetingState:
        self.wishes.append(wish)
        self.asked.set()
        await self.slow.wait()
        if self.fails is not None:
            raise self.fails
        meeting_id = f"mtg_{len(self._store.logs) + 1:04}"
        if idempotency is not None:
            answer = json.dumps({"id": meeting_id})
            self._store.answers[idempotency.key] = replace(idempotency, answer=answer)
        self._store.append(meeting_id, created(_meeting(meeting_id, wish), self._clock.now()))
        return await self._store.state(meeting_id)

    async def cancel(self, meeting_id: str, reason: str | None) -> tuple[MeetingState, bool]:
        state = await self._store.state(meeting_id)
        if state.ended:
            raise MeetingEnded("The meeting has ended; cancelling it changes nothing.")
        if state.cancellation is not None:
            return state, False
        entry = Entry(events.CANCELLATION_REQUESTED, {"reason": reason}, self._clock.now())
        self._store.append(meeting_id, entry)
        return await self._store.state(meeting_id), True

    async def rule(self, meeting_id: str, ruling: Ruling) -> MeetingState:
        question = (await self._store.state(meeting_id)).pending_question
        if question is None:
            raise NoQuestionOpen("No question is waiting for a person's ruling here.")
        picked = chosen([Choice.read(choice) for choice in question["choices"]], ruling.choice)
        content = {
            "question_id": question["question_id"],
            "round": question["round"],
            **replace(ruling, choice=picked.id).record(),
        }
        entry = Entry(events.ARBITRATION_RULED, content, self._clock.now())
        self._store.append(meeting_id, entry)
        return await self._store.state(meeting_id)

    async def resume(self, meeting_id: str, wish: ResumeMeeting) -> MeetingState:
        self.resumings.append(wish)
        state = await self._store.state(meeting_id)
        check_state(state, acknowledged=wish.acknowledge_unknown)
        self._store.append(
            meeting_id, resuming_entry(state, (), wish, state.round, self._clock.now())
        )
        return await self._store.state(meeting_id)

    async def ended(self, meeting_id: str) -> None:
        while not (await self._store.state(meeting_id)).ended:
            self.awaited.set()
            await self._store.changed.wait()


class MemoryAgents:
    def __init__(self) -> None:
        self.kept: dict[str, Mapping[str, Json]] = {}

    async def get(self, name: str) -> Mapping[str, Json] | None:
        return self.kept.get(name)

    async def all(self) -> Sequence[Mapping[str, Json]]:
        return list(self.kept.values())

    async def put(self, settings: Mapping[str, Json], *, new: bool) -> None:
        if new and settings["name"] in self.kept:
            raise AgentExists(f"There is an agent named {settings['name']} already.")
        self.kept[settings["name"]] = settings

    async def delete(self, name: str) -> None:
        if self.kept.pop(name, None) is None:
            raise NotFound(f"There is no agent {name}.")


class World:
    """Everything behind the edge, and the services made of it."""

    def __init__(self) -> None:
        self.clock = StillClock()
        self.store = MemoryStore()
        self.meetings = MemoryMeetings(self.store, self.clock)
        self.agents = MemoryAgents()
        self.checks: dict[str, bool] = {"database": True, "engine": True}
        self.shutdown = asyncio.Event()
        self.services = Services(
            meetings=self.meetings,
            archive=self.store,
            tail=self.store,
            agents=self.agents,
            agent_settings=dict,
            agent_check=self._check,
            reconcile=self._reconcile,
            clock=self.clock,
            ready=self._ready,
            shutdown=self.shutdown,
        )

    async def _check(self, name: str) -> Mapping[str, Json]:
        if name not in self.agents.kept:
            raise NotFound(f"There is no agent {name}.")
        return {"ok": True, "latency_ms": 3, "usage": None, "model": "m", "error": None}

    async def _reconcile(self, meeting_id: str, operation_id: str) -> Mapping[str, Json]:
        return (await self.store.state(meeting_id)).operations[operation_id]

    async def _ready(self) -> Mapping[str, bool]:
        return self.checks


PLAN: dict[str, Any] = {"prompts": 13, "closing_reserve": NOTHING.record()}


def created(meeting: Meeting, at: datetime) -> Entry:
    record = meeting.record() | {"plan": PLAN, "warnings": [], "agents": {}}
    return Entry(events.MEETING_CREATED, record, at)


def _meeting(meeting_id: str, wish: OpenMeeting) -> Meeting:
    names = [seat.name or f"seat-{index}" for index, seat in enumerate(wish.seats)]
    return Meeting(
        id=meeting_id,
        format=wish.format,
        format_version=1,
        topic=wish.topic,
        seats=tuple(Seat(name, "a role", "default") for name in names or ["ann", "ben", "cid"]),
        secretary=wish.secretary,
        limits=wish.limits,
        motion=wish.motion,
        context=wish.context,
        options=wish.options,
        rules=wish.rules,
        language=wish.language,
        identities=wish.identities,
        ephemeral=wish.ephemeral,
        metadata=wish.metadata,
    )


def _reply(who: str, stance: str) -> dict[str, Any]:
    return {
        "participant": who,
        "round": 1,
        "status": "ok",
        "text": f"I am {who}. [STANCE: {stance}]",
        "stance": stance,
        "markers": 1,
        "differing": False,
        "changed_because": None,
        "reason": None,
        "out_of_time": False,
        "attempt": 1,
        "final": True,
        "booked": None,
        "usage": {"input_tokens": 100, "output_tokens": 10, "usd": "0.001"},
        "model": "m",
        "finish": "stop",
        "request_id": f"req_{who}",
        "seconds": 0.2,
    }


QUESTION: dict[str, Any] = {
    "question_id": "arbitration",
    "round": 1,
    "question": "One repository.",
    "choices": [
        {"id": "adopt", "text": "One repository."},
        {"id": "reject", "text": "reject: One repository."},
    ],
    "scope": "One repository.",
    "deadline": (NOON + timedelta(seconds=65)).isoformat(),
    "arbiter": {"kind": "human", "agent": None, "name": "Ann"},
}


def asked(clock: StillClock) -> Entry:
    """The question that is put to a person after the first round."""
    return Entry(events.ARBITRATION_OPENED, QUESTION, clock.now() + timedelta(seconds=5))


OUTCOME: dict[str, Any] = {
    "result": "decided",
    "consensus": "MAJORITY_CONSENSUS",
    "decision": "One repository.",
    "decision_source": "motion",
    "decided_by": {"kind": "consensus", "name": "MAJORITY_CONSENSUS", "scope": "One repository."},
    "completeness": "complete",
    "stopped_by": "consensus",
    "effective_participants": 3,
    "dissents": [
        {
            "participant": "cid",
            "position": "DISAGREE",
            "rationale": "Builds get slow.",
            "mitigation": None,
            "round": 1,
        }
    ],
    "synthesis": None,
    "tally": {"participants": 3, "rounds": 1, "counts": {"AGREE": 2}},
}


RESERVED: dict[str, Any] = {
    "for": "round-1/ask/ann",
    "request_id": "req_ann",
    "who": "ann",
    "reserved": NOTHING.record(),
}


def beginning(clock: StillClock) -> list[Entry]:
    """A meeting's first round, up to its replies."""
    at = clock.now() + timedelta(seconds=1)
    deadline = at + timedelta(seconds=600)
    return [
        Entry(events.MEETING_STARTED, {"deadline": deadline.isoformat()}, at),
        Entry(events.ROUND_STARTED, {"round": 1, "motion": "One repository."}, at),
        Entry(events.REQUEST_RESERVED, RESERVED, at),
        *(
            Entry(events.REPLY_RECEIVED, _reply(who, stance), at + timedelta(seconds=1))
            for who, stance in (("ann", "AGREE"), ("ben", "AGREE"), ("cid", "DISAGREE"))
        ),
    ]


def rest(clock: StillClock) -> list[Entry]:
    """What follows ``beginning``, to the end."""
    at = clock.now() + timedelta(seconds=4)
    closed = {
        "round": 1,
        "motion": "One repository.",
        "stances": {"ann": "AGREE", "ben": "AGREE", "cid": "DISAGREE"},
        "counts": {"AGREE": 2, "DISAGREE": 1, "NEUTRAL": 0, "UNKNOWN": 0},
        "consensus": "MAJORITY_CONSENSUS",
        "progress": {"made": True, "reasons": ["first_round"]},
        "effective_participants": 3,
    }
    spent = {"replies": 3, "seconds": 3.0, "usd": "0.003", "tokens": {"input": 300, "output": 30}}
    decision = {
        **OUTCOME,
        "numbers_name": "tally",
        "degradation": [],
        "spent": spent,
        "flips": [],
        "unexplained_flips": 0,
    }
    return [
        Entry(events.ROUND_CLOSED, closed, at),
        Entry(events.DECISION_RECORDED, decision, at),
        Entry(events.MEETING_ENDED, {"outcome": OUTCOME, "ended_at": at.isoformat()}, at),
    ]
