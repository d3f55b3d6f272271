"""What the composition root hands to the HTTP edge."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from app.coordinator.ports import AgentStore, Archive, Clock, Tail
from app.coordinator.service import MeetingService
from app.domain.operation.record import OperationRecord
from app.domain.values import Json


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a handler may use.

    ``agent_check`` asks an agent a trivial question (raises ``NotFound``). ``reconcile`` looks at
    a meeting's operation, both by id, and gives its record (raises ``NotFound``). ``shutdown`` is
    set when the process is told to end. ``handling`` holds the idempotency keys whose first
    request this process still works on.
    """

    meetings: MeetingService
    archive: Archive
    tail: Tail
    agents: AgentStore
    agent_check: Callable[[str], Awaitable[Mapping[str, Json]]]
    reconcile: Callable[[str, str], Awaitable[OperationRecord]]
    clock: Clock
    ready: Callable[[], Awaitable[Mapping[str, bool]]]
    shutdown: asyncio.Event
    handling: set[str] = field(default_factory=set[str])


async def _services(request: Request) -> Services:
    # Not a plain function: FastAPI would send that to a thread.
    return request.app.state.services


Given = Annotated[Services, Depends(_services)]
"""A handler's parameter through which it gets the services."""
