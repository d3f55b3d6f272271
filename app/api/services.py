"""What the composition root hands to the HTTP edge."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Protocol

from fastapi import Depends, Request

from app.coordinator.commands import OpenMeeting
from app.coordinator.ports import AgentStore, Archive, Clock, Idempotency, Tail
from app.coordinator.resuming import ResumeMeeting
from app.domain.ending.arbitration import Ruling
from app.domain.meeting.state import MeetingState
from app.domain.values import Json


class MeetingService(Protocol):
    """The use cases of ``coordinator.service``."""

    async def plan(self, wish: OpenMeeting) -> Mapping[str, Json]:
        """What the meeting would be and cost. Raises ``InvalidRequest``."""
        ...

    async def open(self, wish: OpenMeeting, idempotency: Idempotency | None) -> MeetingState:
        """Open the meeting. Raises ``InvalidRequest``.

        With a key, ``{"id": "mtg_…"}`` is kept as its answer, in the meeting's transaction.
        """
        ...

    async def cancel(self, meeting_id: str, reason: str | None) -> tuple[MeetingState, bool]:
        """Where the meeting stands then, and whether this was the first cancel.

        Raises ``NotFound`` or ``MeetingEnded``.
        """
        ...

    async def rule(self, meeting_id: str, ruling: Ruling) -> MeetingState:
        """Where the meeting stands with its open question answered.

        Raises ``NotFound``, ``NoQuestionOpen`` or ``OutOfScope``.
        """
        ...

    async def resume(self, meeting_id: str, wish: ResumeMeeting) -> MeetingState:
        """Where the meeting stands as it goes on.

        Raises ``NotFound``, ``MeetingNotEnded``, ``MeetingDecided``, ``OperationUnknown``,
        ``ParentClosed`` or ``InvalidRequest``.
        """
        ...

    async def ended(self, meeting_id: str) -> None:
        """Come back once the meeting has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a handler may use.

    ``agent_settings`` checks an agent's settings and gives them in the form in which they are
    kept (raises ``InvalidRequest``); ``agent_check`` asks an agent a trivial question (raises
    ``NotFound``). ``reconcile`` looks at a meeting's operation, both by id, and gives its record
    (raises ``NotFound``). ``shutdown`` is set when the process is told to end. ``handling`` holds
    the idempotency keys whose first request this process still works on.
    """

    meetings: MeetingService
    archive: Archive
    tail: Tail
    agents: AgentStore
    agent_settings: Callable[[Mapping[str, Json]], Mapping[str, Json]]
    agent_check: Callable[[str], Awaitable[Mapping[str, Json]]]
    reconcile: Callable[[str, str], Awaitable[Mapping[str, Json]]]
    clock: Clock
    ready: Callable[[], Awaitable[Mapping[str, bool]]]
    shutdown: asyncio.Event
    handling: set[str] = field(default_factory=set[str])


async def _services(request: Request) -> Services:
    # Not a plain function: FastAPI would send that to a thread.
    return request.app.state.services


Given = Annotated[Services, Depends(_services)]
"""A handler's parameter through which it gets the services."""
