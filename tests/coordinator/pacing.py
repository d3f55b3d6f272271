"""Takes a run to its end while time goes by: the clock moves on whenever nothing else does."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from tests.coordinator.table import Table
from tests.invariants.traffic import Line, Traffic


async def to_the_end(held: Table, meeting_id: str) -> None:
    traffic = Traffic()
    run = asyncio.create_task(held.new_runner(Line(held.log, traffic)).advance(meeting_id))
    while True:
        await traffic.rest()
        if run.done():
            break
        assert held.clock.due is not None, "nothing will ever end it"
        held.clock.advance((held.clock.due - held.clock.now()) / timedelta(seconds=1))
    await run
