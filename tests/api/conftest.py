"""The edge over an in-memory world, called without a network."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from app.api.application import create_api
from tests.api.in_memory import World


@pytest.fixture
async def world() -> World:
    return World()


@pytest.fixture
async def client(world: World) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_api(world.services))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as opened:
        yield opened


@pytest.fixture
def logged() -> Iterator[list[EventDict]]:
    with capture_logs() as entries:
        yield entries
