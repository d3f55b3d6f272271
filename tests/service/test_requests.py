"""What callers may rely on beside the main job (API.md)."""

from __future__ import annotations

import pytest

from tests.service.running import RunningService

YES = ["Yes. [STANCE: AGREE]"]


def ids(service: RunningService) -> list[str]:
    """The meetings that there are; others may be at work meanwhile."""
    return [item["id"] for item in service.client.get("/v1/meetings").json()["items"]]


def test_the_same_key_gives_the_first_answer_again(service: RunningService) -> None:
    key = {"Idempotency-Key": "order-1"}
    first = service.client.post("/v1/meetings", json={"topic": "Once?"}, headers=key)
    again = service.client.post("/v1/meetings", json={"topic": "Once?"}, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json() == first.json()
    other = service.client.post("/v1/meetings", json={"topic": "Twice?"}, headers=key)
    assert other.status_code == 422
    assert other.json()["type"] == "idempotency-key-reused"


def test_ready_means_database_and_engine(service: RunningService) -> None:
    answer = service.client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["checks"] == {"database": True, "engine": True}


def test_a_dry_run_stores_and_asks_nothing(service: RunningService) -> None:
    before = ids(service)
    answer = service.client.post("/v1/meetings?dry_run=true", json={"topic": "Shall we?"})
    assert answer.status_code == 200
    assert answer.json()["plan"]["prompts"] == 12
    assert ids(service) == before


def test_an_ephemeral_meeting_writes_no_minutes_file(service: RunningService) -> None:
    seats = service.scripted(e1=YES, e2=YES)
    meeting = service.hold(topic="Shall we?", participants=seats, ephemeral=True)
    assert not list((service.folder / "minutes").glob(f"*{meeting['id']}*"))
    types = [event["type"] for event in service.events(meeting["id"])]
    assert "minutes.written" not in types
    assert service.text(f"/v1/meetings/{meeting['id']}/minutes", "text/markdown")


def test_japanese_words_of_two_characters_are_found(service: RunningService) -> None:
    meeting = service.hold(topic="議事録を毎週公開すべきか", language="ja")
    for word in ("議事", "公開", "議事録", "録"):
        found = service.client.get("/v1/meetings", params={"q": word}).json()["items"]
        assert [item["id"] for item in found] == [meeting["id"]], word
    assert not service.client.get("/v1/meetings", params={"q": "会議"}).json()["items"]


def test_records_in_japanese(service: RunningService) -> None:
    meeting = service.hold(topic="モノレポにすべきか", language="ja")
    minutes = service.text(f"/v1/meetings/{meeting['id']}/minutes", "text/markdown")
    assert "参加者" in minutes
    assert "[STANCE: " in minutes


def test_cancelling_a_meeting_whose_agents_hang(service: RunningService) -> None:
    service.agent("hanging", script=["never"], delay_seconds=60)
    seats = [{"name": name, "agent": "hanging"} for name in ("h1", "h2")]
    meeting = service.open(topic="Shall we?", participants=seats)
    path = f"/v1/meetings/{meeting['id']}"
    assert service.client.get(f"{path}/minutes").json()["type"] == "meeting-not-ended"
    assert service.client.get(f"{path}/minutes?partial=true").status_code == 200
    first = service.client.post(f"{path}/cancel", json={"reason": "plans changed"})
    assert first.status_code == 202
    assert first.json()["reason"] == "plans changed"
    events = service.events(meeting["id"])
    assert events[-1]["data"]["result"] == "cancelled"
    assert service.client.post(f"{path}/cancel").status_code == 409
    cancellation = service.client.get(f"{path}/cancellation").json()
    assert {item["state"] for item in cancellation["items"]} <= {"stopped", "unconfirmed"}


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"topic": ""}, "#/topic"),
        ({"topic": "x", "limits": {"rounds": 0}}, "#/limits/rounds"),
        ({"topic": "x", "limits": {"seconds": -1}}, "#/limits/seconds"),
        ({"topic": "x" * 5_000}, "#/topic"),
        ({"topic": "x", "participants": [{"name": "a"}] * 2}, "#/participants/1/name"),
        ({"topic": "x", "count": 21}, "#/count"),
        ({"topic": "x", "secretary": "nobody"}, "#/secretary"),
        ({"topic": "x", "topics": "y"}, "#/topics"),
        ({"topic": 7}, "#/topic"),
    ],
)
def test_bad_input_names_its_field_and_leaves_nothing(
    service: RunningService, wish: dict[str, object], pointer: str
) -> None:
    before = ids(service)
    answer = service.client.post("/v1/meetings", json=wish)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]]
    assert ids(service) == before
