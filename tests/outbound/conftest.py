"""Fixtures of the outbound room."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from app.outbound.connections import OutboundConnections
from app.outbound.guard import Guard
from tests.destination import Destination


@pytest.fixture
def destination() -> Iterator[Destination]:
    with Destination() as running:
        yield running


@pytest.fixture
async def connections() -> AsyncIterator[OutboundConnections]:
    """With the settings that tests need: the stand-in is plain HTTP on loopback."""
    opened = OutboundConnections(Guard(allow_http=True, allow_private=True))
    yield opened
    await opened.close()
