"""Golden logs: whole logs of meetings, as a released version wrote them.

``python -m tests.golden.recording`` writes the log of every play anew, or of those that are named
after it. That is for a format's new version, and for what no release has written yet: the logs of
released versions are never touched again.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from app.coordinator.commands import SeatWanted
from app.coordinator.ports import Request
from app.domain.meeting.entries import Entry, Event, of_record
from app.domain.meeting.meeting import CompletionGate
from app.domain.values import rfc3339
from tests.coordinator.gate_meeting import COMPLETE, COSTS, chair, member
from tests.coordinator.table import Behaviour, Table, says, stances
from tests.formats.ballots import ranking, vote
from tests.formats.review.by_hand import CRITERIA, MATERIALS, judged, objection, written

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Play:
    """Who says what, and what else the meeting was opened with."""

    behaviours: Mapping[str, Behaviour]
    wish: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _debater(*backed: str) -> Behaviour:
    """Opens, and then backs one label a round: ``A9`` is Participant A with confidence 9."""

    def behave(request: Request) -> str:
        if request.round == 1:
            return f"POSITION: Yes.\nREASONING: cost\nPROPOSAL: {request.who}'s\nCONCERNS: time"
        label, confidence = backed[request.round - 2][0], backed[request.round - 2][1:]
        changed = "CHANGED BECAUSE: the build decides it\n" if confidence == "9" else ""
        return (
            f"AGREEMENTS: the cost\nDISAGREEMENTS: the time\n"
            f"REFINED PROPOSAL: {request.who}'s of round {request.round}\n"
            f"BACKS: Participant {label}\nCONFIDENCE: {confidence}\n{changed}"
        )

    return behave


def _voter(*ballots: str) -> Behaviour:
    """One ballot after the other, with an answer to the other side in between."""

    def behave(request: Request) -> str:
        if request.template == "vote/deliberate":
            return "The load is known, so that reason does not hold."
        return ballots[min(request.round, len(ballots)) - 1]

    return behave


def _critic(*rounds: str) -> Behaviour:
    return lambda request: rounds[min(request.round, len(rounds)) - 1]


PLAYS: dict[str, Play] = {
    "roundtable-1": Play(
        {
            "ann": stances("AGREE"),
            "bob": stances("DISAGREE", "NEUTRAL", "AGREE"),
            "cid": stances("NEUTRAL", "DISAGREE", "AGREE"),
        },
        {"context": "12 engineers", "metadata": {"team": "platform"}},
    ),
    "debate-1": Play(
        {
            "ann": _debater("A7", "B9"),
            "bob": _debater("B8", "B8"),
            "cid": _debater("C6", "B9"),
        },
        {"format": "debate"},
    ),
    # Cid's first ranking names an option that is not there, and leaves one out when asked again,
    # also where the second asking was cut off by a cancel and comes a second time.
    "poll-1": Play(
        {
            "ann": says(ranking("XYZ")),
            "bob": says(ranking("YXZ")),
            "cid": says(ranking("XQZ"), ranking("XZ"), ranking("XZ")),
        },
        {"format": "poll", "options": tuple("XYZ"), "rules": {"output": "ranking"}},
    ),
    # Split at first; then they answer each other, and who abstained is convinced.
    "vote-1": Play(
        {
            "ann": _voter(vote("X")),
            "bob": _voter(vote("Y")),
            "cid": _voter(vote("ABSTAIN"), vote("X", changed_because="the load is known")),
        },
        {"format": "vote", "options": ("X", "Y")},
    ),
    # Two find the synthesis wanting, and confirm it once it was revised for their reasons. All
    # three have to: whose completion comes in first is a matter of chance.
    "council-1": Play(
        {
            "ann": member(COMPLETE),
            "bob": member(COSTS, COMPLETE),
            "cid": member(COSTS, COMPLETE),
            "secretary": chair,
        },
        {"format": "council", "completion_gate": CompletionGate(min_completions=3)},
    ),
    "review-1": Play(
        {
            "ann": lambda request: written(f"The owner is Dee, round {request.round}."),
            "bob": _critic(judged(objection()), judged(closed=["obj-1"])),
            "cid": _critic(judged(), judged(objection("pager", severity="minor"))),
        },
        {
            "format": "review",
            "materials": MATERIALS,
            "criteria": CRITERIA,
            "seats": (
                SeatWanted("ann", role="author", agent="ann"),
                SeatWanted("bob", role="critic", agent="bob"),
                SeatWanted("cid", role="critic", agent="cid"),
            ),
        },
    ),
}


async def record(name: str) -> None:
    play = PLAYS[name]
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder), **play.behaviours)
        state = await table.open(**play.wish)
        await table.runner.advance(state.meeting.id)
        log = await table.archive.log(state.meeting.id)
        await table.close()
    if log[-1].type != "meeting.ended":
        raise RuntimeError(f"{name} came only to {log[-1].type}")
    written_ = [json.dumps(_line(entry), ensure_ascii=False) for entry in log]
    (FOLDER / f"{name}.jsonl").write_text("\n".join(written_) + "\n", "utf-8")


async def record_all(names_: Sequence[str]) -> None:
    for name in names_ or PLAYS:
        await record(name)


def lines(name: str) -> list[dict[str, Any]]:
    """A golden log as it was written, in order."""
    text = (FOLDER / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read(name: str) -> list[Entry]:
    """The entries of a golden log, in order."""
    return [_entry(line) for line in lines(name)]


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
    content = of_record(line["type"], line["data"])
    return Entry(content, at, line["step"], line["fingerprint"])


def names() -> Sequence[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


if __name__ == "__main__":
    asyncio.run(record_all(sys.argv[1:]))
