"""Implements the port ``Destinations``; what speaks HTTP is imported with the first save.

It is a good part of a start, and a service that was killed should be back before anybody notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.domain.operation.terms import Check, Finding, Operation, Write, WriteAnswer
from app.outbound.guard import Guard

if TYPE_CHECKING:
    from app.outbound.connections import OutboundConnections
    from app.outbound.destination import HttpDestination


class GuardedDestinations:
    """Saves and looks under the guard; nothing is opened before it is needed."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._connections: OutboundConnections | None = None
        self._http: HttpDestination | None = None

    async def write(self, operation: Operation, content: bytes, write: Write) -> WriteAnswer:
        return await self._adapter().write(operation, content, write)

    async def look(self, operation: Operation, check: Check) -> Finding:
        return await self._adapter().look(operation, check)

    async def close(self) -> None:
        if self._connections is not None:
            await self._connections.close()

    def _adapter(self) -> HttpDestination:
        if self._http is None:
            from app.outbound.connections import OutboundConnections  # noqa: PLC0415 - see above
            from app.outbound.destination import HttpDestination  # noqa: PLC0415 - the same

            self._connections = OutboundConnections(self._guard)
            self._http = HttpDestination(self._connections.client)
        return self._http
