"""Golden logs: whole logs of meetings, as a released version wrote them.

``python -m tests.golden.recording NAME`` writes the log of one play anew, for a new version of its
format. Those of released versions are never touched again.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from app.domain.events import Entry, Event, rfc3339
from tests.coordinator.table import Behaviour, Table, stances

FOLDER = Path(__file__).parent

Play = tuple[Mapping[str, Behaviour], Mapping[str, Any]]

PLAYS: dict[str, Play] = {
    "roundtable-1": (
        {
            "ann": stances("AGREE"),
            "bob": stances("DISAGREE", "NEUTRAL", "AGREE"),
            "cid": stances("NEUTRAL", "DISAGREE", "AGREE"),
        },
        {"context": "12 engineers", "metadata": {"team": "platform"}},
    ),
}


async def record(name: str) -> None:
    behaviours, wish = PLAYS[name]
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder), **behaviours)
        state = await table.open(**wish)
        await table.runner.advance(state.meeting.id)
        log = await table.archive.log(state.meeting.id)
        await table.close()
    lines = [json.dumps(_line(entry), ensure_ascii=False) for entry in log]
    (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def read(name: str) -> list[Entry]:
    """The entries of a golden log, in order."""
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [_entry(json.loads(line)) for line in lines]


def _line(entry: Event) -> dict[str, Any]:
    return {
        "type": entry.type,
        "step": entry.step,
        "fingerprint": entry.fingerprint,
        "at": rfc3339(entry.at),
        "data": entry.data,
    }


def _entry(line: Mapping[str, Any]) -> Entry:
    at = datetime.fromisoformat(line["at"])
    return Entry(line["type"], line["data"], at, line["step"], line["fingerprint"])


def names() -> Sequence[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
