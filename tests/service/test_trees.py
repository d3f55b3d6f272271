"""Meetings below meetings, over HTTP (PROTOCOLS 12, trees)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.running import RunningService

YES = ["Yes. [STANCE: AGREE]"]


@pytest.fixture
def waiting(service: RunningService) -> dict[str, Any]:
    """A meeting whose participants do not answer before it is cancelled."""
    service.agent("hanging", script=["never"], delay_seconds=60)
    seats = [{"name": name, "agent": "hanging"} for name in ("h1", "h2")]
    wish = {"topic": "Shall we?", "participants": seats}
    return service.open(**wish, limits={"seconds": 300, "tokens": 400_000, "rounds": 2})


def path(meeting: dict[str, Any]) -> str:
    return f"/v1/meetings/{meeting['id']}"


def test_a_child_stays_inside_its_parents_limits(
    service: RunningService, waiting: dict[str, Any]
) -> None:
    seats = service.scripted(c1=YES, c2=YES)
    child = service.hold(
        topic="And how?",
        participants=seats,
        parent_id=waiting["id"],
        limits={"seconds": 5_000, "rounds": 9, "tokens": 10**9},
    )
    assert child["parent_id"] == waiting["id"]
    assert child["limits"]["seconds"] <= 270
    assert child["limits"]["rounds"] == 2
    assert child["limits"]["tokens"] < 400_000
    parent = service.client.get(path(waiting)).json()
    assert parent["children"] == [child["id"]]
    assert child["deadline"] <= parent["deadline"]
    assert parent["spent"]["replies"] == child["spent"]["replies"] == 2
    assert parent["spent"]["tokens"] == child["spent"]["tokens"]
    left = 400_000 - sum(child["spent"]["tokens"].values())
    assert parent["remaining"]["tokens"] == left
    assert child["remaining"]["tokens"] <= left
    public = [
        event["type"]
        for event in service.client.get(
            f"{path(waiting)}/events", headers={"Accept": "application/json"}
        ).json()["items"]
    ]
    assert not [type_ for type_ in public if type_.startswith("child.")]
    service.client.post(f"{path(waiting)}/cancel")


def test_cancelling_a_tree(service: RunningService, waiting: dict[str, Any]) -> None:
    seats = [{"name": name, "agent": "hanging"} for name in ("h1", "h2")]
    child = service.open(topic="And how?", participants=seats, parent_id=waiting["id"])
    below = service.open(topic="And when?", participants=seats, parent_id=child["id"])
    answer = service.client.post(f"{path(waiting)}/cancel", json={"reason": "enough"})
    assert answer.status_code == 202
    listed = {(item["kind"], item["ref"]) for item in answer.json()["items"]}
    assert ("child", child["id"]) in listed
    for meeting in (waiting, child, below):
        events = service.events(meeting["id"])
        assert events[-1]["data"]["result"] == "cancelled"
    items = service.client.get(f"{path(waiting)}/cancellation").json()["items"]
    (of_child,) = [item for item in items if item["kind"] == "child"]
    assert of_child["state"] == "stopped"
    requests = [item for item in items if item["kind"] == "request"]
    assert {item["state"] for item in requests} <= {"unconfirmed", "stopped"}
    refused = service.client.post(
        "/v1/meetings", json={"topic": "Late?", "parent_id": waiting["id"]}
    )
    assert (refused.status_code, refused.json()["type"]) == (409, "parent-closed")


def test_a_tree_is_five_levels_deep_at_most(
    service: RunningService, waiting: dict[str, Any]
) -> None:
    seats = [{"name": name, "agent": "hanging"} for name in ("h1", "h2")]
    id_ = waiting["id"]
    for _ in range(4):
        id_ = service.open(topic="And then?", participants=seats, parent_id=id_)["id"]
    for call in ("/v1/meetings", "/v1/meetings?dry_run=true"):
        answer = service.client.post(call, json={"topic": "And then?", "parent_id": id_})
        assert answer.status_code == 422
        assert [fault["pointer"] for fault in answer.json()["errors"]] == ["#/parent_id"]
    service.client.post(f"{path(waiting)}/cancel")


@pytest.mark.parametrize("parent", ["mtg_none", "", 7, ["mtg_1"]])
def test_a_parent_that_there_is_not(service: RunningService, parent: object) -> None:
    answer = service.client.post("/v1/meetings", json={"topic": "Below?", "parent_id": parent})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("#/parent_id")


def test_a_money_limit_above_needs_a_known_price_below(service: RunningService) -> None:
    """A child could not keep its parent's money limit with a model of unknown price."""
    service.agent("hanging", script=["never"], delay_seconds=60)
    service.client.put(
        "/v1/agents/priceless",
        json={
            "name": "priceless",
            "kind": "llm",
            "model": "openai:nobody-knows-it",
            "base_url": "http://127.0.0.1:9/v1",
            "api_key": "none",
        },
    ).raise_for_status()
    seats = [{"name": name, "agent": "hanging"} for name in ("h1", "h2")]
    parent = service.open(
        topic="Shall we?", participants=seats, secretary="hanging", limits={"usd": "0.5"}
    )
    below = {"topic": "Below?", "parent_id": parent["id"]}
    with_it = [{"name": name, "agent": "priceless"} for name in ("p1", "p2")]
    answer = service.client.post("/v1/meetings", json={**below, "participants": with_it})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/limits/usd"
    service.client.post(f"{path(parent)}/cancel")


def test_what_is_spent_below_is_a_new_version_of_the_resource(
    service: RunningService, waiting: dict[str, Any]
) -> None:
    before = service.client.get(path(waiting)).headers["ETag"]
    child = service.hold(
        topic="And how?", participants=service.scripted(c1=YES, c2=YES), parent_id=waiting["id"]
    )
    unchanged = {"If-None-Match": before}
    answer = service.client.get(path(waiting), headers=unchanged)
    assert (answer.status_code, answer.json()["spent"]["replies"]) == (200, 2)
    again = {"If-None-Match": answer.headers["ETag"]}
    assert service.client.get(path(waiting), headers=again).status_code == 304
    shown = service.client.get(path(child)).json()
    assert shown["remaining"]["tokens"] <= answer.json()["remaining"]["tokens"]
    service.client.post(f"{path(waiting)}/cancel")
