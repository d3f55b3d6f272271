"""The main job from outside: POST, stream, minutes, decision; against a real model server too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.provider import Asked, Provider, Reply
from tests.service.running import RunningService

SUMMARY = "SUMMARY: A wants it, B doubts the build.\nMOTION: Use one repository for one quarter."
SYNTHESIS = json.dumps(
    {
        "decision": "Try one repository for one quarter.",
        "agreed": ["A trial with an end."],
        "differ": [],
        "concerns": ["The build takes 25 minutes."],
        "recommendation": "Begin in January.",
    }
)


def _model(asked: Asked) -> str:
    """Plays three participants and the secretary, told apart by the model they run on."""
    words = json.dumps(asked.body)
    if asked.body["model"] == "clerk":
        return SYNTHESIS if '\\"recommendation\\"' in words else SUMMARY
    first = "one quarter" not in words
    if asked.body["model"] == "doubter" and first:
        return "The build is too slow for that.\n[STANCE: DISAGREE]"
    if asked.body["model"] == "doubter":
        return "CHANGED BECAUSE: it has an end.\n[STANCE: AGREE]"
    return "One repository saves us work.\n[STANCE: AGREE]"


@pytest.fixture(scope="module")
def held(service: RunningService) -> dict[str, object]:
    """A meeting held by models behind an OpenAI-compatible server over loopback."""
    with Provider() as provider:
        provider.will_answer(lambda asked: Reply.text(_model(asked)))
        for name in ("builder", "doubter", "clerk"):
            service.agent(
                name,
                kind="llm",
                model=f"openai:{name}",
                base_url=provider.openai_url,
                api_key="sk-secret",
                price={"input_per_million": "1.00", "output_per_million": "2.00"},
            )
        meeting = service.hold(
            topic="Should we use one repository?",
            context="12 engineers, 4 services",
            participants=[
                {"name": "ann", "role": "builds", "agent": "builder"},
                {"name": "bob", "role": "doubts", "agent": "doubter"},
                {"name": "cid", "role": "builds", "agent": "builder"},
            ],
            secretary="clerk",
            limits={"usd": "5"},
        )
        return {**meeting, "asked": len(provider.requests)}


def test_it_was_decided_on_the_sharpened_motion(held: dict[str, object]) -> None:
    outcome = held["outcome"]
    assert isinstance(outcome, dict)
    assert outcome["result"] == "decided"
    assert outcome["decision"] == "Use one repository for one quarter."
    assert outcome["synthesis"]["concerns"] == ["The build takes 25 minutes."]
    assert held["asked"] == 3 + 1 + 3 + 1


def test_what_was_spent_adds_up(service: RunningService, held: dict[str, object]) -> None:
    spent = held["spent"]
    assert isinstance(spent, dict)
    assert spent["replies"] == 6
    replies = [
        event["data"]["usage"]
        for event in service.events(str(held["id"]))
        if event["type"] == "reply.received"
    ]
    assert sum(usage["input_tokens"] for usage in replies) < spent["tokens"]["input"]
    assert 0 < float(spent["usd"]) < 5
    assert held["remaining"]["usd"] is not None  # type: ignore[index]


def test_events_are_numbered_without_gaps_and_end_with_the_end(
    service: RunningService, held: dict[str, object]
) -> None:
    events = service.events(str(held["id"]))
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "meeting.ended"
    page = service.client.get(
        f"/v1/meetings/{held['id']}/events", headers={"Accept": "application/json"}
    ).json()
    assert page["items"] == events


def test_minutes_lie_on_disk_and_are_what_http_gives(
    service: RunningService, held: dict[str, object]
) -> None:
    path = f"/v1/meetings/{held['id']}/minutes"
    markdown = service.text(path, "text/markdown")
    (written,) = (service.folder / "minutes").glob(f"*{held['id']}.md")
    assert Path(written).read_text("utf-8") == markdown
    assert markdown.startswith("---\n")
    for part in ("12 engineers", "The build is too slow", "it has an end.", "3 of 3"):
        assert part in markdown
    page = service.text(path, "text/html")
    assert "<script" not in page
    assert "one repository" in page
    assert json.loads(service.text(path, "application/json"))["id"] == held["id"]


def test_the_decision_record_and_the_memory_of_decisions(
    service: RunningService, held: dict[str, object]
) -> None:
    path = f"/v1/meetings/{held['id']}/decision"
    record = json.loads(service.text(path, "application/json"))
    assert record["decided_by"]["kind"] == "consensus"
    assert record["flips"][0]["reason"] == "it has an end."
    assert "Use one repository for one quarter." in service.text(path, "text/markdown")
    found = service.client.get("/v1/decisions", params={"q": "quarter", "result": "decided"}).json()
    assert [item["meeting_id"] for item in found["items"]] == [held["id"]]


def test_no_key_ever_comes_back(service: RunningService, held: dict[str, object]) -> None:
    for path in ("/v1/agents", f"/v1/meetings/{held['id']}", f"/v1/meetings/{held['id']}/minutes"):
        assert "sk-secret" not in service.client.get(path).text
