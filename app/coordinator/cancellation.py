"""Cancelling: who is told to stop, what each answered, and when the list is closed (PROTOCOLS 12).

What was under way at the cancel, and what is known of each, stands in the meeting's state; so a
process that was killed in between goes on with the same list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import cast

import msgspec
from msgspec import UNSET, UnsetType

from app.coordinator.journal import Journal, cancel_entry
from app.coordinator.ports import Agent, Clock, EventLog
from app.coordinator.timing import TimeLimit
from app.domain.errors import LogConflict, MeetingEnded, NotFound
from app.domain.meeting.cancellation import ACKNOWLEDGED, REQUESTED, STOPPED, UNCONFIRMED
from app.domain.meeting.cancellation import Cancellation as CancelState
from app.domain.meeting.entries import Entry
from app.domain.meeting.events import (
    CancelItem,
    CancellationAcknowledged,
    CancellationClosed,
    CancellationTold,
)
from app.domain.meeting.meeting import CANCELLED_ABOVE_WORDS
from app.domain.meeting.state import MeetingState, fold

CONFIRM_SECONDS = 10.0
"""How long is waited for those who were told to stop."""

_TOO_LATE = "The meeting has ended; cancelling it changes nothing."
_BEING_SAVED = (
    "The meeting's decision stands already and is only being saved; cancelling it changes nothing."
)
_ASKING_AGAIN_SECONDS = 1.0
_CANCELLATION = "end/cancellation"
_OPEN = frozenset({REQUESTED, ACKNOWLEDGED})

CancelBelow = Callable[[str, str], Awaitable[bool]]
"""Cancels a meeting, by its id, for a reason; False if its decision stood already."""


async def request_cancellation(
    log: EventLog, clock: Clock, meeting_id: str, reason: str | None
) -> tuple[MeetingState, bool]:
    """Put the wish into the meeting's log; True if this call is the first to ask.

    Raises ``NotFound``, or ``MeetingEnded`` once its decision is recorded.
    """
    while True:
        entries = await log.read(meeting_id)
        if not entries:
            raise NotFound(f"There is no meeting {meeting_id}.")
        state = fold(entries)
        if state.cancellation is not None and not state.ended:
            return state, False
        if state.decided:
            raise MeetingEnded(_TOO_LATE if state.ended else _BEING_SAVED)
        entry = cancel_entry(reason, clock.now())
        try:
            (event,) = await log.append(meeting_id, state.last_seq, [entry])
        except LogConflict:
            continue
        return state.after(event), True


class Cancellation:
    """Brings the list of what was under way to its close."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        agents: Mapping[str, Agent],
        cancel_below: CancelBelow,
        confirm_seconds: float,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._agents = agents
        self._cancel_below = cancel_below
        self._until = self._cancellation.requested_at + timedelta(seconds=confirm_seconds)
        self._moved = asyncio.Event()

    async def close(self) -> None:
        """Tell everybody to stop, wait for what they say, and record what is known of each.

        Nobody is waited for beyond the confirm window; what has not stopped then is unconfirmed.
        """
        if self._journal.find(_CANCELLATION) is not None:
            return
        self._journal.on_news = self._moved.set
        while open_ := [item for item in self._items if item.state in _OPEN]:
            await asyncio.gather(*(self._tell(item) for item in open_))
            await self._journal.flush()
            if self._clock.now() >= self._until:
                break
            if any(item.state in _OPEN for item in self._items):
                await self._wait()
        self._close()
        await self._journal.flush()

    @property
    def _cancellation(self) -> CancelState:
        return cast("CancelState", self._journal.state.cancellation)

    @property
    def _items(self) -> Sequence[CancelItem]:
        return self._cancellation.items

    async def _tell(self, item: CancelItem) -> None:
        if item.kind == "child":
            await self._tell_child(item)
        else:
            await self._tell_agent(item)

    async def _tell_child(self, item: CancelItem) -> None:
        """A child that has the cancel in its log will stop; that it has, its end says."""
        if item.state != REQUESTED:
            return
        words = CANCELLED_ABOVE_WORDS[self._journal.state.meeting.language]
        reason = words.format(above=self._journal.meeting_id)
        if await self._cancel_below(item.ref, reason):
            self._know(item, ACKNOWLEDGED)

    async def _tell_agent(self, item: CancelItem) -> None:
        agent = None if item.agent is UNSET else self._agents.get(item.agent)
        if agent is None:
            self._know(item, UNCONFIRMED, reason="The agent is gone.")
            return
        try:
            async with TimeLimit(self._clock, self._until):
                state = await agent.stop(item.ref)
        except Exception as fault:
            # Whatever kept it from answering, nothing is known of the request.
            self._know(item, UNCONFIRMED, reason=type(fault).__name__)
            return
        if state != item.state:
            self._know(item, state)

    def _know(self, item: CancelItem, state: str, reason: str | UnsetType = UNSET) -> None:
        told = CancellationAcknowledged if state == ACKNOWLEDGED else CancellationTold
        content = told(
            kind=item.kind,
            ref=item.ref,
            participant=item.participant,
            agent=item.agent,
            state=state,
            reason=reason,
        )
        self._journal.add(Entry(content, self._clock.now()))

    async def _wait(self) -> None:
        """Until something comes into the log, or those who only acknowledged are asked again."""
        again = self._clock.now() + timedelta(seconds=_ASKING_AGAIN_SECONDS)
        timer = self._clock.call_at(min(again, self._until), self._moved.set)
        try:
            await self._moved.wait()
        finally:
            timer.cancel()
        self._moved.clear()
        # What another process put into the log is found by looking.
        await self._journal.catch_up()

    def _close(self) -> None:
        items = tuple(
            msgspec.structs.replace(item, state=UNCONFIRMED) if item.state in _OPEN else item
            for item in self._items
        )
        closed = CancellationClosed(state=_closing_state(items), items=items)
        self._journal.add(Entry(closed, self._clock.now(), _CANCELLATION))


def _closing_state(items: Sequence[CancelItem]) -> str:
    """The cancellation as a whole: stopped only when nothing is left in doubt."""
    return STOPPED if all(item.state == STOPPED for item in items) else UNCONFIRMED
