from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.running import RunningService


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """One service for a file's tests; each holds meetings and stores agents of its own."""
    folder: Path = tmp_path_factory.mktemp("service")
    with RunningService(folder) as running:
        yield running
