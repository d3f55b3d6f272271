from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.process.service import Service


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    """The service, started on a folder of its own."""
    made = Service(tmp_path)
    await made.start()
    yield made
    await made.close()
