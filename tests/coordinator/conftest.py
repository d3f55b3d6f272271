from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.coordinator.table import Behaviour, Table

MakeTable = Callable[..., Table]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[MakeTable]:
    """Makes tables, each with a database of its own."""
    made: list[Table] = []

    def make(**behaviours: Behaviour) -> Table:
        folder = tmp_path / str(len(made))
        made.append(Table(folder, **behaviours))
        return made[-1]

    yield make
    for one in made:
        await one.close()
