"""Streams of the real service: resumed anywhere, and never more in memory than needed."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.process.service import Reader, Service
from tests.process.slow_reader import SENT_BYTES, SlowReader, big_meeting
from tests.store.meetings import numbers, read_stream

# Only a guard: several starts of a process take their time on a busy machine.
pytestmark = pytest.mark.timeout(240)


async def test_every_cut_point_of_a_meeting_that_has_ended(service: Service) -> None:
    id_ = await service.open(topic="Should the four services share one repository?")
    whole = Reader(id_)
    await whole.read(service)
    count = len(whole.sent)
    assert count > 15
    for cut in range(count + 1):
        answers = (
            await service.get(f"/v1/meetings/{id_}/events?after={cut}"),
            await service.get(f"/v1/meetings/{id_}/events", **{"Last-Event-ID": str(cut)}),
        )
        for answer in answers:
            assert answer.text.startswith("retry: 2000\n\n")
            assert read_stream(answer.content) == whole.sent[cut:]
        page = (
            await service.get(f"/v1/meetings/{id_}/events?after={cut}", accept="application/json")
        ).json()
        assert page["items"] == [one.data for one in whole.sent[cut:]]
    assert numbers(whole.sent) == list(range(1, count + 1))


def _resident_bytes(process_id: int) -> int:
    status = Path(f"/proc/{process_id}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


async def test_readers_that_stop_are_cut_off_and_cost_little(service: Service) -> None:
    id_ = await big_meeting(service)
    with ExitStack() as stack:
        path = f"/v1/meetings/{id_}/events"
        readers = [stack.enter_context(SlowReader(service.port, path)) for _ in range(20)]
        before = _resident_bytes(service.process.pid)
        for reader in readers:
            await reader.begin()
        # Another reader is served meanwhile, in full.
        quick = Reader(id_)
        await quick.read(service)
        assert quick.sent[-1].event == "meeting.ended"
        grown = _resident_bytes(service.process.pid) - before
        print(f"{len(readers)} stopped readers cost {grown >> 20} MiB")  # noqa: T201
        assert grown < len(readers) * SENT_BYTES / 4
        # The server says of each that it let go of it.
        await service.until_said(b"returned without completing response", len(readers))
        for reader in readers:
            got = await reader.rest()
            assert len(got) < SENT_BYTES
            assert not got.endswith(b"0\r\n\r\n")
    again = Reader(id_)
    again.sent = quick.sent[:7]
    await again.read(service)
    assert again.sent == quick.sent
