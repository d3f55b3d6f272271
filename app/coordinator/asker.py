"""Asking one question on behalf of a meeting: found in the log, or sent, read and recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b

from app.coordinator.asking import Exchange, exchange, unanswered
from app.coordinator.journal import Journal, belated
from app.coordinator.ports import Agent, Clock, Prompt, Prompts, Request, Wording
from app.coordinator.replay import AGAIN, check_fingerprint, fingerprint, recorded_reply, replied
from app.coordinator.request_counter import RequestCounter
from app.coordinator.reserving import Reservation, book_unanswered
from app.coordinator.retrying import Patience
from app.coordinator.stopping import stop_if_due
from app.coordinator.timing import sleep_until
from app.domain.errors import AgentUnavailable, NoRoom
from app.domain.meeting import events
from app.domain.meeting.entries import Entry
from app.domain.meeting.envelope import closing_seconds
from app.domain.meeting.meeting import ARBITER, CHAIR, SECRETARY
from app.domain.replies.messages import Arg, Code, Message
from app.domain.replies.reading import Reply, ReplyStatus
from app.domain.steps import Ask

_EXHAUSTED = "envelope/exhausted"


@dataclass(frozen=True, slots=True)
class _Asking:
    """A question put once: under which step, with which id, and until when."""

    ask: Ask
    attempt: int
    step: str
    request_id: str
    until: datetime


class Asker:
    """``agents`` are those of the meeting, by name; one that is missing makes its replies errors.

    ``deadline`` is when the meeting must have ended, ``talk_deadline`` when its conversation
    must have: between them lies the closing reserve.
    """

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        agents: Mapping[str, Agent],
        prompts: Prompts,
        wording: Wording,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._agents = agents
        self._prompts = prompts
        self._wording = wording
        self._meeting = journal.state.meeting
        self._turns = RequestCounter(journal.entries)
        self._patience = Patience()
        self._in_flight: set[asyncio.Task[Reply]] = set()
        self.budget_spent = journal.find(_EXHAUSTED) is not None
        # A run before this one sent them, and whatever comes back of them now, nobody hears.
        book_unanswered(journal, clock)
        self.deadline = self._begin()
        reserve = closing_seconds(self._meeting.limits.seconds)
        self.talk_deadline = self.deadline - timedelta(seconds=reserve)

    def _begin(self) -> datetime:
        state = self._journal.state
        if state.deadline is not None:
            return state.deadline
        now = self._clock.now()
        deadline = now + timedelta(seconds=self._meeting.limits.seconds)
        if self._meeting.ends_by is not None:
            # A meeting in a tree ends in time for those above it, however late it starts.
            deadline = min(deadline, self._meeting.ends_by)
        self._journal.add(Entry(events.MeetingStarted(deadline=deadline), now, step="start"))
        return deadline

    def stop_if_talk_is_over(self) -> None:
        """Raises ``Stopped`` where nothing but the closing may be asked any more."""
        stop_if_due(
            self._journal.state,
            self._clock.now(),
            self.talk_deadline,
            out_of_budget=self.budget_spent,
        )

    def recall(self, ask: Ask) -> Reply | None:
        """The reply to this question that the log already holds.

        Raises ``ReplayDiverged`` if the log holds another question under its key.
        """
        recorded = self._journal.find(ask.key + AGAIN) or self._journal.find(ask.key)
        if recorded is None:
            return None
        if self._journal.of_this_leg(recorded):
            check_fingerprint(recorded, ask)
        return recorded_reply(recorded) if replied(recorded).final else None

    def begun(self, asks: Iterable[Ask]) -> bool:
        return any(self._journal.find(ask.key) for ask in asks)

    def start(self, ask: Ask) -> asyncio.Task[Reply]:
        """Ask in the background; ``abort`` ends the waiting for it."""
        task = asyncio.create_task(self._ask(ask))
        self._in_flight.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[Reply]) -> None:
        self._in_flight.discard(task)
        if not task.cancelled():
            # Of several that fail of the same thing one is heard; the others are no news.
            task.exception()

    def abort(self) -> None:
        for task in self._in_flight:
            task.cancel()

    async def abandon(self) -> None:
        """Abort, and wait until nothing is left."""
        left = tuple(self._in_flight)
        self.abort()
        await asyncio.gather(*left, return_exceptions=True)

    async def _ask(self, ask: Ask) -> Reply:
        """Ask, and once more if the reply does not fit (PROTOCOLS 16)."""
        first = self._journal.find(ask.key)
        fault = None if first is None else replied(first).reason
        made = await self._exchange(ask, attempt=1) if fault is None else None
        if made is None or not made.final:
            fault = fault if made is None else made.fault
            made = await self._exchange(ask, attempt=2, fault=fault)
        self._have_written()
        return made.reply

    def _have_written(self) -> None:
        """Have this task's reply written, at the latest with whatever the meeting does next."""
        self._in_flight -= {asyncio.current_task()}
        if self._in_flight:
            self._journal.flush_soon()
        else:
            self._journal.cancel_flush()

    async def _exchange(self, ask: Ask, attempt: int, fault: str | None = None) -> Exchange:
        """Put the question this once, and record what comes of it, whatever that is."""
        step = ask.key if attempt == 1 else ask.key + AGAIN
        once = _Asking(ask, attempt, step, self._request_id(step), self._until(ask))
        made = self._timed(once, await self._put(once, fault))
        self._record(once, made)
        return made

    async def _put(self, once: _Asking, fault: str | None) -> Exchange:
        """What comes of it. The most that it can cost is reserved, and only then is it sent; what
        nobody counted is booked at that (PROTOCOLS 11)."""
        name = self._agent_of(once.ask)
        agent = self._agents.get(name)
        if agent is None:
            return self._unanswered(once, ReplyStatus.ERROR, Code.AGENT_GONE, agent=name)
        if self._clock.now() >= once.until:
            return self._unanswered(once, ReplyStatus.TIMEOUT, Code.TIME_WAS_OVER)
        request = self._request(once, agent, fault)
        reservation = Reservation(
            self._journal,
            self._clock,
            once.step,
            request,
            agent.profile,
            closing=once.ask.closing,
        )
        try:
            made = await self._send(once, agent, request, reservation)
        except NoRoom:
            self._exhaust(once.ask)
            return self._unanswered(once, ReplyStatus.BUDGET, Code.NO_ROOM)
        if made.answered and made.usage is None:
            made = replace(made, booked=reservation.held)
        return made

    async def _send(
        self, once: _Asking, agent: Agent, request: Request, reservation: Reservation
    ) -> Exchange:
        await reservation.make()
        if self._clock.now() >= once.until:
            return self._unanswered(once, ReplyStatus.TIMEOUT, Code.TIME_WAS_OVER)

        async def again(failure: AgentUnavailable, attempt: int) -> bool:
            return await self._ready_again(agent, request, reservation, failure, attempt)

        return await exchange(self._clock, agent, once.ask, request, once.attempt, self._say, again)

    async def _ready_again(
        self,
        agent: Agent,
        request: Request,
        reservation: Reservation,
        failure: AgentUnavailable,
        attempt: int,
    ) -> bool:
        """Wait until the request may be sent once more, with room for it; False to give up."""
        now = self._clock.now()
        left = (request.deadline - now).total_seconds()
        pause = self._patience.pause(
            agent.profile.name, request.round, attempt, failure.retry_after, left
        )
        if pause is None:
            return False
        await sleep_until(self._clock, now + timedelta(seconds=pause))
        # A cancel may have come through another process, which nobody told this one of.
        await self._look_up()
        if failure.answered or failure.usage is not None:
            await reservation.renew(failure.usage)
        return True

    def _unanswered(self, once: _Asking, status: ReplyStatus, code: Code, **args: Arg) -> Exchange:
        return unanswered(once.ask, status, self._say(Message(code, args)), once.attempt)

    def _timed(self, once: _Asking, made: Exchange) -> Exchange:
        """The exchange with whether it was the meeting's own end that cut it off."""
        timed_out = made.reply.status is ReplyStatus.TIMEOUT
        if timed_out and once.until == self._end_for(once.ask):
            return replace(made, reply=replace(made.reply, out_of_time=True))
        return made

    def _request(self, once: _Asking, agent: Agent, fault: str | None) -> Request:
        ask, prompt = once.ask, self._prompt(once.ask, fault)
        return Request(
            request_id=once.request_id,
            meeting_id=self._meeting.id,
            who=ask.who,
            office=ask.office,
            round=ask.round,
            turn=self._turns.of(once.step, agent.profile.name),
            template=ask.template,
            variables=ask.variables,
            language=self._meeting.language,
            system=prompt.system,
            prompt=prompt.user,
            deadline=once.until,
        )

    async def _look_up(self) -> None:
        """Learn of a cancel; what is in flight, the caller of this included, is aborted by it."""
        await self._journal.catch_up()
        # An abort of this very task takes hold where it next waits.
        await asyncio.sleep(0)

    def _say(self, message: Message) -> str:
        return self._wording(message, self._meeting.language)

    def _prompt(self, ask: Ask, fault: str | None) -> Prompt:
        language = self._meeting.language
        first = self._prompts(ask.template, language, ask.variables)
        if fault is None:
            return first
        again = self._prompts("again", language, {"prompt": first.user, "fault": fault})
        return Prompt(first.system, again.user)

    def _exhaust(self, ask: Ask) -> None:
        if self.budget_spent:
            return
        self.budget_spent = True
        exhausted = events.BudgetExhausted(round=ask.round, participant=ask.who)
        self._journal.add(Entry(exhausted, self._clock.now(), _EXHAUSTED))

    def _record(self, once: _Asking, made: Exchange) -> None:
        seat = once.ask.office == "participant"
        kind = events.ReplyReceived if seat else events.OfficeReplied
        reply = made.event(kind, once.request_id)
        entry = Entry(reply, self._clock.now(), once.step, fingerprint(once.ask))
        late = self._journal.state.cancellation is not None
        self._journal.add(belated(entry) if late else entry)

    def _request_id(self, step: str) -> str:
        """The same for the same question, so that a far side can tell a repetition.

        After a resuming it is another question, though its step may be the same.
        """
        leg = len(self._meeting.resumptions)
        asked = f"{step}#{leg}" if leg else step
        digest = blake2b(asked.encode(), digest_size=8).hexdigest()
        return f"req_{self._meeting.id.removeprefix('mtg_')}_{digest}"

    def _agent_of(self, ask: Ask) -> str:
        if ask.office == SECRETARY:
            return self._meeting.secretary
        if ask.office == CHAIR:
            return self._meeting.chair_agent
        if ask.office == ARBITER:
            arbiter = self._meeting.arbiter
            return "" if arbiter is None else arbiter.agent or ""
        return self._meeting.seat(ask.who).agent

    def _until(self, ask: Ask) -> datetime:
        """When this question's time is over; only closing ones may use the reserve."""
        reply_limit = self._clock.now() + timedelta(seconds=self._meeting.limits.reply_seconds)
        return min(reply_limit, self._end_for(ask))

    def _end_for(self, ask: Ask) -> datetime:
        """When the meeting's time is over for this question."""
        return self.deadline if ask.closing else self.talk_deadline
