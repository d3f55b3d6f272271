"""Logs that earlier versions wrote must replay under this one, step for step.

A later version of a format may say more: a new key in an object is let through. What it may not do
is to say something else: a value changed, a key gone, an entry more or less, another step or
question (its fingerprint). For these, a new version of the format is due (CONTRIBUTING, "A format
that changes").
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from app.domain.meeting.entries import Entry, Event
from app.domain.meeting.events import (
    CompletionClosed,
    DecisionRecorded,
    MeetingEnded,
    OfficeReplied,
    ReplyReceived,
)
from app.domain.meeting.history import side_by_side
from app.domain.values import Json
from app.formats import FORMATS
from tests.coordinator.table import Table
from tests.golden.recording import PLAYS, lines, names, read

_ANSWERS = frozenset({ReplyReceived.type, OfficeReplied.type})


def _decision(entries: Sequence[Entry]) -> int:
    return next(i for i, entry in enumerate(entries) if entry.type == DecisionRecorded.type)


def _after_the_last_answer(entries: Sequence[Entry]) -> int:
    return max(i for i, entry in enumerate(entries) if entry.type in _ANSWERS) + 1


async def _replayed(name: str, cut: int, folder: Path) -> Sequence[Event]:
    """The golden log's first entries, and what this version makes of them.

    Nobody is there to be asked: whatever would be put to anyone has to be in the log.
    """
    golden = read(name)
    meeting_id = golden[0].data["id"]
    table = Table(folder)
    await table.log.append(meeting_id, 0, golden[:cut])
    await table.runner.advance(meeting_id)
    replayed = await table.archive.log(meeting_id)
    await table.close()
    assert table.agents["secretary"].requests == []
    return replayed


@pytest.mark.parametrize("name", names())
async def test_a_golden_log_replays_to_the_same_end(name: str, tmp_path: Path) -> None:
    golden = read(name)
    cut = _decision(golden)
    replayed = await _replayed(name, cut, tmp_path)
    assert [entry.type for entry in replayed] == [entry.type for entry in golden]
    assert lost(_decided(golden[cut]), _decided(replayed[cut])) == []
    assert lost(_ended(golden[-1]), _ended(replayed[-1])) == []


@pytest.mark.parametrize("name", names())
async def test_what_follows_from_the_answers_is_the_same_again(name: str, tmp_path: Path) -> None:
    """The counts, how the gate closes on the closing questions' answers, and the decision."""
    golden = read(name)
    replayed = await _replayed(name, _after_the_last_answer(golden), tmp_path)
    assert [(entry.type, entry.step, entry.fingerprint) for entry in replayed] == [
        (entry.type, entry.step, entry.fingerprint) for entry in golden
    ]
    upto = _decision(golden)
    for line, entry in zip(lines(name)[:upto], replayed, strict=False):
        assert lost(line["data"], _written(entry), entry.type) == []
    assert lost(_decided(golden[upto]), _decided(replayed[upto])) == []


def _decided(entry: Entry) -> Json:
    """What was decided, however it is written; the time it took is the clock's of the day."""
    decision = entry.content
    assert isinstance(decision, DecisionRecorded)
    found = side_by_side(decision)
    del found["spent"]
    return found


def _written(entry: Entry) -> Json:
    return json.loads(entry.content.encoded())


def _ended(entry: Entry) -> Json:
    assert isinstance(entry.content, MeetingEnded)
    return entry.content.outcome.record()


def lost(before: Json, now: Json, path: str = "") -> list[str]:
    """Where ``now`` does not say what ``before`` said; what an object says besides is no loss."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return [
            each
            for key, value in before.items()
            for each in (
                lost(value, now[key], f"{path}.{key}") if key in now else [f"{path}.{key}: gone"]
            )
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [each for i, (a, b) in pairs for each in lost(a, b, f"{path}[{i}]")]
    return [] if before == now and type(before) is type(now) else [f"{path}: {before!r} → {now!r}"]


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"round": 1, "counts": [{"yes": 2}], "share": "2/3"}, []),
        ({"round": 1, "counts": [{"yes": 2, "no": 0}]}, []),
        ({"round": 2, "counts": [{"yes": 2}]}, [".round: 1 → 2"]),
        ({"round": True, "counts": [{"yes": 2}]}, [".round: 1 → True"]),
        ({"counts": [{"yes": 2}]}, [".round: gone"]),
        ({"round": 1, "counts": [{}]}, [".counts[0].yes: gone"]),
        ({"round": 1, "counts": []}, [".counts: [{'yes': 2}] → []"]),
        ({"round": 1, "counts": [{"yes": 2}, {}]}, [".counts: [{'yes': 2}] → [{'yes': 2}, {}]"]),
        ({"round": 1, "counts": None}, [".counts: [{'yes': 2}] → None"]),
    ],
)
def test_a_later_version_may_say_more_and_nothing_else(now: Json, told: list[str]) -> None:
    assert lost({"round": 1, "counts": [{"yes": 2}]}, now) == told


@pytest.mark.parametrize("name", names())
def test_a_golden_log_is_read_without_losing_anything(name: str) -> None:
    """A decision apart, which was written flat, every entry would be written so again."""
    for line, entry in zip(lines(name), read(name), strict=True):
        data = line["data"]
        if entry.type == DecisionRecorded.type:
            decided = DecisionRecorded.of(data)
            for key in ("stalled", "ruling", "completion"):
                data.setdefault(key, None)
            assert lost(data, side_by_side(decided)) == []
            data = DecisionRecorded.of(decided.record()).record()
        assert lost(data, _written(entry), entry.type) == []


def test_there_is_a_golden_log_of_every_format() -> None:
    assert {name.rpartition("-")[0] for name in names()} == set(FORMATS)
    assert set(PLAYS) <= set(names())


def test_a_golden_log_goes_through_a_gate_that_was_refused_once() -> None:
    (closed,) = [entry.data for entry in read("council-1") if entry.type == CompletionClosed.type]
    assert (closed["status"], closed["attempt"]) == ("consensus_complete", 2)
