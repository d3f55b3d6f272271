"""Fixtures of the agents' room."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from app.agents.connections import Connections
from app.agents.directory import AgentDirectory
from app.agents.llm import LlmAgent
from app.domain.meeting.meeting import Language
from tests.agents import cast
from tests.agents.cast import Stored, directory_of
from tests.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    opened = Connections()
    yield opened
    await opened.close()


@pytest.fixture(params=["openai", "anthropic"])
def api(request: pytest.FixtureRequest) -> str:
    """Each provider whose API is spoken, one after the other."""
    return request.param


@pytest.fixture
def agent(api: str, provider: Provider, connections: Connections) -> LlmAgent:
    """A model behind the stand-in."""
    return cast.llm(api, provider, connections)


@pytest.fixture
def stored() -> Stored:
    return Stored()


@pytest.fixture
async def directory(stored: Stored) -> AsyncIterator[AgentDirectory]:
    opened = directory_of(stored)
    yield opened
    await opened.close()


@pytest.fixture(params=["en", "ja"])
def language(request: pytest.FixtureRequest) -> Language:
    return request.param
