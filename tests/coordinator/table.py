"""A place to hold meetings in tests: a real database, agents that do as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from app.coordinator.commands import OpenMeeting, SeatWanted
from app.coordinator.drafting import Drafting
from app.coordinator.ports import (
    Agent,
    AgentProfile,
    Answer,
    EventLog,
    MinutesFile,
    Outlets,
    Prompt,
    Request,
    StopState,
    Usage,
)
from app.coordinator.reconciling import Reconciliation
from app.coordinator.runner import Runner
from app.coordinator.service import MeetingService
from app.domain.errors import NotFound
from app.domain.meeting.entries import Event
from app.domain.meeting.state import MeetingState
from app.domain.money import Price
from app.prompts.wording import sentence
from app.records.decision import decision_markdown
from app.store.archive import SqlArchive
from app.store.database import Database
from app.store.log import SqlEventLog
from app.store.migrating import ensure_newest
from tests.clock import VirtualClock
from tests.coordinator.place import Place

Behaviour = Callable[[Request], str | Answer | Exception | None]
"""What an agent does with a request: a text, an answer, a failure; None: it never answers."""

SUMMARY = "SUMMARY: They talked.\nMOTION: Use one repository for a trial quarter."
SYNTHESIS = (
    '{"decision": "Try one repository.", "agreed": ["a trial"], "differ": [], '
    '"concerns": ["build time"], "recommendation": "Start in January."}'
)


class ActingAgent:
    """An agent with a behaviour; ``requests`` are those it got, ``asked`` is set with each."""

    def __init__(self, name: str, behave: Behaviour, price: Price | None = None) -> None:
        self.price = price or Price(_ZERO, _ZERO)
        self.profile = AgentProfile(name, "rehearsal", None, 800, self.price)
        self.behave = behave
        self.requests: list[Request] = []
        self.asked = asyncio.Event()
        self.stopped: list[str] = []
        self.stop_state: StopState = "unconfirmed"

    async def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        self.asked.set()
        done = self.behave(request)
        if done is None:
            await asyncio.Event().wait()
        if isinstance(done, Exception):
            raise done
        if isinstance(done, str):
            return Answer(done, Usage(100, 20, self.price.of(100, 20)))
        return cast("Answer", done)

    async def stop(self, request_id: str) -> StopState:
        self.stopped.append(request_id)
        return self.stop_state


_ZERO = Decimal(0)


def says(*texts: str) -> Behaviour:
    """Gives the texts in turn, the same one for the same request."""
    return lambda request: texts[request.turn % len(texts)]


def stances(*words: str) -> Behaviour:
    return lambda request: (
        f"In round {request.round} I say so. [STANCE: {words[(request.round - 1) % len(words)]}]"
    )


def secretary(request: Request) -> str:
    return SYNTHESIS if request.template.endswith("synthesis") else SUMMARY


class Directory:
    def __init__(self, agents: Mapping[str, Agent]) -> None:
        self.agents = dict(agents)

    async def find(self, name: str) -> Agent:
        if name not in self.agents:
            raise NotFound(f"There is no agent named {name}.")
        return self.agents[name]


class Table:
    """One database, one clock, some agents; meetings are opened and advanced by hand."""

    def __init__(self, folder: Path, **behaviours: Behaviour) -> None:
        self.clock = VirtualClock()
        self.database = Database(f"sqlite+aiosqlite:///{folder / 'yoriai.db'}")
        ensure_newest(self.database.writer)
        self.log = SqlEventLog(self.database)
        self.archive = SqlArchive(self.database)
        named = {"secretary": secretary, **behaviours}
        self.agents = {name: ActingAgent(name, behave) for name, behave in named.items()}
        self.directory = Directory(self.agents)
        self.minutes: list[Sequence[Event]] = []
        self.place = Place()
        self.reconciliation = Reconciliation(self.log, self.clock, self.place)
        self.write_minutes: MinutesFile = self._keep_minutes
        self.woken: list[str] = []
        self.runner = self.new_runner(self.log)
        self.service = self._service()

    async def close(self) -> None:
        await self.log.close()
        await self.database.close()

    def new_runner(self, log: EventLog) -> Runner:
        # The real sentences: whether a message has all that its sentence needs shows only there.
        outlets = Outlets(self._write, _decision_text, self.place)
        return Runner(log, self.clock, self.directory, prompts, sentence, outlets, self.wake)

    async def _write(self, events: Sequence[Event]) -> str:
        # Looked up at the time, so that a test can have the writing fail.
        return await self.write_minutes(events)

    def wake(self, meeting_id: str, at: datetime | None = None) -> None:
        self.woken.append(meeting_id)
        self.runner.hear(meeting_id)

    async def open(self, seated: Sequence[str] = (), **fields: Any) -> MeetingState:
        seats = seated or [name for name in self.agents if name != "secretary"]
        wish = OpenMeeting(
            topic="Should we use one repository?",
            seats=tuple(SeatWanted(name=name, agent=name) for name in seats),
            secretary="secretary",
        )
        return await self.service.open(replace(wish, **fields), None)

    async def hold(self, **fields: Any) -> list[Event]:
        """Open a meeting, take it to its end, and give its public events."""
        state = await self.open(**fields)
        await self.runner.advance(state.meeting.id)
        return await self.events(state.meeting.id)

    async def until(self, meeting_id: str, type_: str, count: int = 1) -> Event:
        """The entry of this type, internal ones included, that makes them so many."""
        while True:
            found = [e for e in await self.log.read(meeting_id) if e.type == type_]
            if len(found) >= count:
                return found[count - 1]
            await asyncio.sleep(0)

    async def events(self, meeting_id: str) -> list[Event]:
        return [entry for entry in await self.archive.log(meeting_id) if not entry.internal]

    async def _keep_minutes(self, events: Sequence[Event]) -> str:
        self.minutes.append(list(events))
        return f"minutes/{events[0].meeting_id}.md"

    def _service(self) -> MeetingService:
        numbers = iter(range(1, 1_000))
        drafting = Drafting(
            self.log,
            self.clock,
            self.directory,
            prompts,
            lambda format_, language, key: (key, f"the {key}"),
            lambda: f"{next(numbers):04}",
            lambda url, pointer: None,
        )
        return MeetingService(self.log, self.clock, drafting, self, self.log)


async def _decision_text(events: Sequence[Event]) -> str:
    return decision_markdown(events)


def prompts(template: str, language: str, variables: Mapping[str, Any]) -> Prompt:
    del language
    return Prompt(f"system of {template}", f"user of {template}: {dict(variables)!r}")


def ended(events: Sequence[Event]) -> Mapping[str, Any]:
    """The outcome that the last event tells."""
    assert events[-1].type == "meeting.ended"
    return events[-1].data["outcome"]


def of_type(events: Sequence[Event], type_: str) -> list[Event]:
    return [event for event in events if event.type == type_]
