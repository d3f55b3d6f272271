"""The edge over its real parts, called without a network."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from app.api.application import create_api
from tests.api.parts import Parts
from tests.migrated_file import migrated_file

__all__ = ["migrated_file"]


@pytest.fixture
def folder(tmp_path: Path, migrated_file: Path) -> Path:
    """Where the database lies, empty."""
    shutil.copy(migrated_file, tmp_path)
    return tmp_path


@pytest.fixture
async def parts(folder: Path) -> AsyncIterator[Parts]:
    opened = Parts(folder)
    yield opened
    await opened.close()


@pytest.fixture
async def client(parts: Parts) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_api(parts.services))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as opened:
        yield opened


@pytest.fixture
def logged() -> Iterator[list[EventDict]]:
    with capture_logs() as entries:
        yield entries
