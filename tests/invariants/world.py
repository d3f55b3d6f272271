"""Plays a scenario: two processes over one database, and a clock that is moved by hand."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import event, select

from app.coordinator.cancellation import request_cancellation
from app.coordinator.drafting import Drafting
from app.coordinator.ports import Agent, Outlets
from app.coordinator.resuming import ResumeMeeting
from app.coordinator.runner import Runner
from app.coordinator.service import MeetingService
from app.dispatch.embedded import EmbeddedDispatch
from app.domain.ending.arbitration import Ruling
from app.domain.errors import LogUnavailable, NotFound, Superseded, YoriaiError
from app.domain.meeting.entries import Event
from app.domain.meeting.state import MeetingState
from app.domain.meeting.status import Status
from app.prompts.wording import sentence
from app.records.decision import decision_markdown
from app.records.minutes import minutes_json
from app.store.database import Database
from app.store.log import SqlEventLog, event_of
from app.store.state_rows import state_of
from app.store.tables import EventRow, LogHeadRow, MeetingRow, table
from tests.clock import VirtualClock
from tests.coordinator.place import Place
from tests.coordinator.table import Directory, prompts
from tests.invariants import scenario as play
from tests.invariants.cast import Player, Witness
from tests.invariants.traffic import Line, Traffic

_event = table(EventRow)
_head = table(LogHeadRow)
_meeting = table(MeetingRow)

_MOST_MOVES = 2_000
"""Of the clock, until everything must have ended."""


@dataclass(frozen=True)
class Record:
    """What is left when all has ended: entries in their order over all meetings."""

    entries: Sequence[tuple[int, Event]]
    rows: Mapping[str, MeetingState]
    witness: Witness
    faults: Sequence[str]
    """What went wrong in our own code."""

    def log(self, meeting_id: str) -> list[Event]:
        return [entry for _, entry in self.entries if entry.meeting_id == meeting_id]


class Clock(VirtualClock):
    def next(self) -> datetime | None:
        """When something falls due next."""
        due = (at for at, _, timer in self._timers if timer.callback is not None)
        return min(due, default=None)


class Desk:
    """One process: its way to the log, and who works there."""

    def __init__(self, world: World, log: SqlEventLog) -> None:
        self._world = world
        self.log = log
        self.line = Line(log, world.traffic)
        outlets = Outlets(_minutes, _decision_text, world.place)
        self.runner = Runner(
            self.line, world.clock, world.directory, prompts, sentence, outlets, world.wake
        )
        self.dispatch = EmbeddedDispatch(world.clock, self._advance, self.runner.hear)
        drafting = Drafting(
            self.line,
            world.clock,
            world.directory,
            prompts,
            lambda format_, language, key: (key, f"the {key}"),
            lambda: f"{next(world.numbers):04}",
            lambda url, pointer: None,
        )
        self.service = MeetingService(self.line, world.clock, drafting, world, log)
        self._dozing: set[str] | None = None

    def wake(self, meeting_id: str, at: datetime | None = None) -> None:
        if self._dozing is None:
            self.dispatch.wake(meeting_id, at)
        else:
            self._dozing.add(meeting_id)

    def doze(self) -> None:
        if self._dozing is None:
            self._dozing = set()

    def rouse(self) -> None:
        held, self._dozing = self._dozing or set(), None
        for meeting_id in sorted(held):
            self.wake(meeting_id)

    async def die(self) -> None:
        self.line.cut = True
        await self.dispatch.close()

    async def _advance(self, meeting_id: str) -> datetime | None:
        try:
            return await self.runner.advance(meeting_id)
        except (Superseded, LogUnavailable):
            raise
        except Exception as fault:
            self._world.faults.append(f"{meeting_id}: {fault!r}")
            raise


@dataclass
class World:
    """``databases`` are one for each process that writes, or one for all."""

    scenario: play.Scenario
    databases: Sequence[Database]
    clock: Clock = field(default_factory=Clock)
    traffic: Traffic = field(default_factory=Traffic)
    witness: Witness = field(default_factory=Witness)
    place: Place = field(default_factory=Place)
    faults: list[str] = field(default_factory=list[str])
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        names = (*play.NAMES, play.OFFICE)
        cast = zip(names, self.scenario.cast, strict=True)
        agents: dict[str, Agent] = {
            name: Player(name, part, self.clock, self.witness) for name, part in cast
        }
        self.directory = Directory(agents)
        self.place.on_write = list(self.scenario.puts)
        self._meetings: list[str] = []
        self._callers: set[asyncio.Task[None]] = set()
        self._logs = [SqlEventLog(database) for database in self.databases]
        self._desks = [Desk(self, self._logs[number % len(self._logs)]) for number in range(2)]

    async def play(self) -> Record:
        try:
            await self._open(self.scenario.first, None)
            for action in self.scenario.actions:
                await self._perform(action)
            await self._end_all()
            return await self._replayed(await self._record())
        finally:
            await self._close()

    def wake(self, meeting_id: str, at: datetime | None = None) -> None:
        """The hint reaches the process that holds the meeting, whoever gives it."""
        self._home(meeting_id).wake(meeting_id, at)

    def _home(self, meeting_id: str) -> Desk:
        return self._desks[int(meeting_id.removeprefix("mtg_")) % len(self._desks)]

    # --- what befalls the meetings --------------------------------------------------------------

    async def _perform(self, action: play.Action) -> None:
        match action:
            case play.GoOn(calls):
                await self.traffic.rest(calls)
            case play.ComeToRest():
                await self._rest()
            case play.Pass(seconds):
                self.clock.advance(seconds)
            case play.Kill(desk):
                await self._kill(desk)
            case play.Doze(desk):
                self._desks[desk].doze()
            case play.Rouse(desk):
                self._desks[desk].rouse()
            case _:
                self._call(self._wished(action))

    def _call(self, wish: Coroutine[Any, Any, None]) -> None:
        """A caller comes; whatever else goes on goes on meanwhile."""
        task = asyncio.get_running_loop().create_task(self._heard_out(wish))
        self._callers.add(task)
        task.add_done_callback(self._callers.discard)

    async def _heard_out(self, wish: Coroutine[Any, Any, None]) -> None:
        try:
            await wish
        except YoriaiError:
            # Not everything that a scenario wishes for can be had; who died answers nobody.
            return
        except Exception as fault:
            self.faults.append(f"a caller met {fault!r}")

    async def _wished(self, action: play.Action) -> None:
        match action:
            case play.Open(plan, below):
                await self._open(plan, None if below is None else self._named(below))
            case play.Cancel(meeting, heard):
                await self._cancel(self._named(meeting), heard=heard)
            case play.Rule(meeting):
                await self._rule(self._named(meeting))
            case play.Resume(meeting, changed, limits):
                wish = ResumeMeeting(changed, "It is different now.", limits, (), True)
                await self._caller(meeting).service.resume(self._named(meeting), wish)
            case play.Seize(meeting):
                self._caller(meeting, other=True).wake(self._named(meeting))

    def _named(self, number: int) -> str:
        if not self._meetings:
            raise NotFound("Nothing has been opened yet.")
        return self._meetings[number % len(self._meetings)]

    def _caller(self, meeting: int, *, other: bool = False) -> Desk:
        """The process that holds the meeting, or the other one."""
        home = self._home(self._named(meeting))
        return next(desk for desk in self._desks if (desk is home) is not other)

    async def _open(self, plan: play.Plan, parent_id: str | None) -> None:
        desk = self._desks[len(self._meetings) % len(self._desks)]
        state = await desk.service.open(plan.wish(parent_id), None)
        self._meetings.append(state.meeting.id)

    async def _cancel(self, meeting_id: str, *, heard: bool) -> None:
        desk = self._desks[0]
        if heard:
            await desk.service.cancel(meeting_id, "It is no longer needed.")
        else:
            await request_cancellation(desk.line, self.clock, meeting_id, "Nobody was told.")

    async def _rule(self, meeting_id: str) -> None:
        desk = self._desks[0]
        question = (await desk.line.state(meeting_id)).pending_question
        if question is not None:
            choice = question.asked.choices[0].id
            await desk.service.rule(meeting_id, Ruling(choice, "It can be undone.", "Ann"))

    async def _kill(self, number: int) -> None:
        """The process dies, and with it all that share its database's writer."""
        log = self._desks[number].log
        dead = [place for place, desk in enumerate(self._desks) if desk.log is log]
        for place in dead:
            await self._desks[place].die()
        await log.close()
        at = self._logs.index(log)
        self._logs[at] = SqlEventLog(self.databases[at])
        for place in dead:
            self._desks[place] = Desk(self, self._logs[at])
        for meeting_id in await self._logs[at].unfinished():
            if self._home(meeting_id).log is self._logs[at]:
                self.wake(meeting_id)

    # --- until all has ended --------------------------------------------------------------------

    async def _rest(self) -> None:
        await self.traffic.rest()
        self.witness.settled = await self._position()

    async def _end_all(self) -> None:
        for desk in self._desks:
            desk.rouse()
        stuck, left = False, list[str]()
        for _ in range(_MOST_MOVES):
            await self._rest()
            left = await self._going_on()
            if not left:
                return
            due = self.clock.next()
            if due is not None:
                stuck = False
                self.clock.advance(max(0.0, (due - self.clock.now()).total_seconds()))
            elif stuck:
                raise AssertionError(f"nothing will ever end {left}")
            else:
                # A wish that nobody was told of is found at the next start.
                stuck = True
                for meeting_id in left:
                    self.wake(meeting_id)
        raise AssertionError(f"{left} did not come to an end")

    async def _going_on(self) -> list[str]:
        query = select(_meeting.c.id).where(_meeting.c.status != Status.ENDED.value)
        return [row["id"] for row in await self._rows(query)]

    async def _position(self) -> int:
        return (await self._rows(select(_head.c.position)))[0]["position"]

    async def _record(self) -> Record:
        entries = await self._rows(select(_event).order_by(_event.c.position))
        rows = await self._rows(select(_meeting).order_by(_meeting.c.id))
        return Record(
            [(row["position"], event_of(row)) for row in entries],
            {row["id"]: state_of(row) for row in rows},
            self.witness,
            self.faults,
        )

    async def _replayed(self, record: Record) -> Record:
        """The same, once a process that knows nothing has looked at every log."""
        called = len(self.witness.calls)
        fresh = Desk(self, SqlEventLog(self.databases[0]))
        self._logs.append(fresh.log)
        for meeting_id in record.rows:
            await fresh.runner.advance(meeting_id)
        after = await self._record()
        new = [entry.type for _, entry in after.entries[len(record.entries) :]]
        # To look after what was left open outside is no part of the meeting.
        assert set(new) <= {"operation.reconciled"}
        assert len(self.witness.calls) == called
        return after

    async def _rows(self, query: Any) -> Sequence[Any]:
        async with self.databases[0].reader.connect() as connection:
            return (await connection.execute(query)).mappings().all()

    async def _close(self) -> None:
        for desk in self._desks:
            await desk.die()
        for task in self._callers:
            task.cancel()
        await asyncio.gather(*self._callers, return_exceptions=True)
        for log in self._logs:
            await log.close()
        for database in self.databases:
            await database.close()


async def _minutes(log: Sequence[Event]) -> str:
    minutes_json(log)
    return f"minutes/{log[0].meeting_id}.md"


async def _decision_text(log: Sequence[Event]) -> str:
    return decision_markdown(log)


def unsafe_but_fast(database: Database) -> Database:
    """No example outlives its process, so nothing has to wait for the disk."""
    if database.embedded:

        @event.listens_for(database.writer, "connect")
        def configure(connection: Any, _record: object) -> None:
            connection.execute("PRAGMA synchronous=OFF")

    return database


async def held(scenario: play.Scenario, urls: Sequence[str]) -> Record:
    """What is left of the scenario, over a database that is empty; the same URL again is another
    process over it."""
    return await World(scenario, [unsafe_but_fast(Database(url)) for url in urls]).play()
