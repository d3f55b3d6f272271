"""Each format once with a real model: the meeting ends properly, whatever the model says.

Nothing is expected of the model but that it answers. What is checked is our side: every status is
recorded, the outcome follows from the events, and the records can be read.

The model is any OpenAI-compatible server: ``YORIAI_TEST_MODEL_URL`` is its base URL (with ``/v1``),
``YORIAI_TEST_MODEL_NAME`` and ``YORIAI_TEST_MODEL_KEY`` its model and key where it wants them.
``make real-model`` fetches a small model, serves it on loopback and runs this.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from app.domain.meeting.outcome import Completeness, Result, StopReason
from app.domain.replies.reading import ReplyStatus
from tests.service.running import RunningService

pytestmark = [pytest.mark.real_model, pytest.mark.timeout(1_800)]

_OUTPUT_TOKENS = 200
"""Enough to say something; a small model often talks until it is cut off."""

WISHES: dict[str, dict[str, Any]] = {
    "roundtable": {
        "topic": "Should the platform team keep its four services in one repository?",
        "motion": "All four services move into one repository for a trial quarter.",
    },
    "debate": {"topic": "Should the web shop be rewritten, or improved step by step?"},
    "poll": {
        "topic": "Which language should the new service be written in?",
        "options": ["Go", "Python", "Rust"],
        "rules": {"output": "ranking"},
        "count": 3,
    },
    "vote": {
        "topic": "Which language should the new service be written in?",
        "options": ["Go", "Rust"],
    },
    "council": {
        "topic": "How can a team of five keep its builds under ten minutes?",
        "completion_gate": {
            "min_completions": 2,
            "window_seconds": 300,
            "nudge_after_seconds": 60,
            "fallback_timeout": 120,
        },
    },
    "review": {
        "topic": "Write a notice to customers about the outage of last Monday.",
        "participants": [
            {"name": "author", "role": "author"},
            {"name": "critic", "role": "critic"},
        ],
        "materials": [
            {
                "id": "m1",
                "version": "1",
                "text": "On Monday the shop was down for four hours. No order was lost.",
            }
        ],
        "criteria": [{"id": "c1", "text": "names how long it took", "check": {"contains": "four"}}],
    },
}

LIMITS = {"rounds": 2, "seconds": 1_500, "reply_seconds": 600}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service whose agents without a name are the real model."""
    url = os.environ.get("YORIAI_TEST_MODEL_URL")
    if not url:
        pytest.skip(
            "no model to ask: set YORIAI_TEST_MODEL_URL to the base URL of an OpenAI-compatible "
            "server, or run `make real-model`, which fetches a small one"
        )
    with RunningService(tmp_path_factory.mktemp("service")) as running:
        settings = {
            "kind": "llm",
            "model": f"openai:{os.environ.get('YORIAI_TEST_MODEL_NAME', 'local')}",
            "base_url": url,
            "max_output_tokens": _OUTPUT_TOKENS,
        }
        key = os.environ.get("YORIAI_TEST_MODEL_KEY")
        running.agent("default", **settings, **({"api_key": key} if key else {}))
        yield running


@pytest.mark.parametrize("format_", WISHES)
def test_a_meeting_ends_properly(service: RunningService, format_: str) -> None:
    opened = service.open(format=format_, limits=LIMITS, **WISHES[format_])
    events = service.events(opened["id"])
    path = f"/v1/meetings/{opened['id']}"
    meeting = service.client.get(path).json()
    _report(format_, meeting, events)
    outcome = meeting["outcome"]
    _check_the_end(meeting, events)
    _check_replies(events)
    _check_counts(format_, outcome, events)
    minutes = service.text(f"{path}/minutes", "text/markdown")
    for seat in meeting["participants"]:
        assert seat["name"] in minutes
    assert service.text(f"{path}/minutes", "text/html").startswith("<!")
    assert service.text(f"{path}/decision", "text/markdown")
    assert service.client.get(f"{path}/decision").json()["result"] == outcome["result"]


def _check_the_end(meeting: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
    assert meeting["status"] == "ended"
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert [e["type"] for e in events].count("meeting.ended") == 1
    assert events[-1]["type"] == "meeting.ended"
    outcome = meeting["outcome"]
    assert outcome == events[-1]["data"]["outcome"]
    assert outcome["result"] in {Result.DECIDED, Result.UNDECIDED, Result.FAILED}
    assert outcome["stopped_by"] != StopReason.ERROR
    decided = outcome["result"] == Result.DECIDED
    assert (outcome["decision"] is not None) is decided
    assert (outcome["decided_by"] is not None) is decided
    assert (outcome["decision_source"] is not None) is decided
    if outcome["result"] == Result.FAILED:
        assert outcome["stopped_by"] == StopReason.AGENTS_UNAVAILABLE
        assert outcome["completeness"] == Completeness.PARTIAL


def _check_replies(events: Sequence[Mapping[str, Any]]) -> None:
    replies = _replies(events)
    assert replies, "nobody was asked"
    for reply in replies:
        status = ReplyStatus(reply["status"])
        # What came in is kept as it came, and what cannot be used says why.
        if status in (ReplyStatus.OK, ReplyStatus.INVALID, ReplyStatus.OFF_TOPIC):
            assert reply["text"].strip()
        assert (reply["reason"] is None) is (status is ReplyStatus.OK)
    assert any(reply["status"] == ReplyStatus.OK for reply in replies) or (
        events[-1]["data"]["outcome"]["result"] != Result.DECIDED
    )


def _check_counts(
    format_: str, outcome: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> None:
    """What the outcome says was counted is what the replies hold."""
    last = max(reply["round"] for reply in _replies(events))
    final = [reply for reply in _replies(events) if reply["final"] and reply["round"] == last]
    usable = [reply for reply in final if reply["status"] == ReplyStatus.OK]
    if format_ == "roundtable":
        closed = [event["data"] for event in events if event["type"] == "round.closed"][-1]
        stances = Counter(reply["stance"] for reply in final)
        counts = {stance: number for stance, number in closed["counts"].items() if number}
        assert counts == dict(stances)
    if format_ == "poll":
        assert outcome["poll"]["effective"] == len(usable)
        # Three options give six points a ballot; without any ballot there are no points.
        assert sum(outcome["poll"].get("points", {}).values()) == 6 * len(usable)
    if format_ == "vote":
        tally = outcome["tally"]
        assert tally["cast"] == sum(tally["votes"].values())
        assert tally["cast"] + len(tally["abstained"]) <= tally["quorum"]["seats"]


def _replies(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [event["data"] for event in events if event["type"] == "reply.received"]


def _report(format_: str, meeting: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
    """For whoever runs this with ``-s``, or reads a failure: what the model made of it."""
    outcome = meeting["outcome"] or {}
    told = {key: outcome.get(key) for key in ("result", "stopped_by", "completeness", "decision")}
    lines = [f"\n{format_}: {json.dumps(told, ensure_ascii=False)}"]
    for reply in _replies(events):
        opening = " ".join(reply["text"].split())[:160]
        asked = f"{reply['participant']} in round {reply['round']}: {reply['status']}"
        lines.append(f"  {asked}; {reply['reason'] or ''} | {opening}")
    print("\n".join(lines))  # noqa: T201 (this is what one runs it for)
