from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.coordinator.live_table import LiveTable
from tests.coordinator.table import Behaviour, Table

MakeTable = Callable[..., Table]
MakeLiveTable = Callable[..., LiveTable]


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


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[MakeLiveTable]:
    """The same of tables whose meetings are advanced by themselves."""
    made: list[LiveTable] = []

    def make(**behaviours: Behaviour) -> LiveTable:
        made.append(LiveTable(tmp_path / f"live-{len(made)}", **behaviours))
        return made[-1]

    yield make
    for one in made:
        await one.close()
