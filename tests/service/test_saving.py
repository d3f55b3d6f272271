"""Saving through the whole service, at a real HTTP destination that misbehaves (PROTOCOLS 13)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.destination import Destination, Get, Put, etag_of
from tests.provider import Gate
from tests.service.running import RunningService

DRAFT = "The outage lasted 4 hours. The owner is Dee."
_AUTHOR = json.dumps({"draft": DRAFT, "changes": [], "open": [], "waiting_for": None})
_CRITIC = json.dumps({"objections": [], "closed": [], "criteria": {"c1": "pass"}})
_PATIENCE = 20.0


@pytest.fixture(scope="module")
def saving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that may call the stand-in, which is plain HTTP on loopback."""
    folder: Path = tmp_path_factory.mktemp("saving")
    settings = {"allow_http_targets": True, "allow_private_targets": True}
    with RunningService(folder, **settings) as running:
        running.agent("author", script=[_AUTHOR])
        running.agent("critic", script=[_CRITIC])
        yield running


@pytest.fixture
def place() -> Iterator[Destination]:
    with Destination() as running:
        yield running


def review(url: str, seconds: float = 600, **destination: Any) -> dict[str, Any]:
    return {
        "topic": "Write the report on the outage.",
        "format": "review",
        "participants": [
            {"name": "ann", "role": "author", "agent": "author"},
            {"name": "ben", "role": "critic", "agent": "critic"},
        ],
        "secretary": "author",
        "materials": [{"id": "m1", "version": "1", "text": "The outage lasted 4 hours."}],
        "criteria": [{"id": "c1", "text": "names an owner"}],
        "limits": {"seconds": seconds},
        "destination": {"url": url, **destination},
    }


def operation_of(service: RunningService, meeting: dict[str, Any]) -> dict[str, Any]:
    answer = service.client.get(meeting["links"]["operations"])
    (record,) = answer.json()["items"]
    return record


def states_told(service: RunningService, meeting: dict[str, Any]) -> list[str]:
    types = [event["type"] for event in service.events(meeting["id"])]
    return [each.partition(".")[2] for each in types if each.startswith("operation.")]


def comes_true(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE
    while not happened():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.05)


def external_waits(service: RunningService, meeting: dict[str, Any]) -> list[Any]:
    """What the decision and the handoff say is waited for."""
    links = (meeting["links"][name] for name in ("decision", "handoff"))
    return [service.client.get(link).json()["external_wait"] for link in links]


def records(service: RunningService, meeting: dict[str, Any]) -> dict[str, str]:
    """Every record that a reader may take for the last word."""
    path = f"/v1/meetings/{meeting['id']}"
    kinds = {"decision": ("json", "markdown"), "minutes": ("json", "markdown", "html")}
    kinds["handoff"] = ("json", "markdown")
    media = {"json": "application/json", "markdown": "text/markdown", "html": "text/html"}
    found = {
        f"{name} {kind}": service.text(f"{path}/{name}", media[kind])
        for name, given in kinds.items()
        for kind in given
    }
    listed = service.client.get("/v1/decisions").json()["items"]
    (own,) = [each for each in listed if each["meeting_id"] == meeting["id"]]
    return {**found, "decisions": json.dumps(own)}


def test_saved_and_read_back(saving: RunningService, place: Destination) -> None:
    meeting = saving.hold(**review(place.url))
    outcome = meeting["outcome"]
    assert place.stored() == DRAFT.encode()
    assert place.methods == ["PUT", "GET"]
    put = place.requests[0]
    assert put.headers["Content-Type"] == "text/markdown; charset=utf-8"
    record = operation_of(saving, meeting)
    assert put.headers["Idempotency-Key"] == record["id"]
    assert (record["state"], record["version"]) == ("confirmed", etag_of(DRAFT.encode()))
    assert (outcome["result"], outcome["completeness"]) == ("decided", "complete")
    assert outcome["review"]["operation"] == record
    assert meeting["operations"] == {"pending": 0, "unknown": 0}
    assert states_told(saving, meeting) == ["requested", "confirmed"]
    assert not any("nobody knows" in text for text in records(saving, meeting).values())


def test_a_lost_answer_is_looked_into_before_any_second_write(
    saving: RunningService, place: Destination
) -> None:
    place.on_put(Put.lost(stores=True))
    meeting = saving.hold(**review(place.url))
    assert place.methods == ["PUT", "GET"]
    assert states_told(saving, meeting) == ["requested", "unknown", "confirmed"]
    assert meeting["outcome"]["completeness"] == "complete"


def test_a_lost_write_is_sent_again_only_where_nothing_is(
    saving: RunningService, place: Destination
) -> None:
    place.on_put(Put.lost(stores=False), Put())
    meeting = saving.hold(**review(place.url))
    assert place.methods == ["PUT", "GET", "GET", "PUT", "GET"]
    assert place.requests[3].headers["If-None-Match"] == "*"
    assert operation_of(saving, meeting)["state"] == "confirmed"


async def test_a_slow_place_is_waited_for(saving: RunningService, place: Destination) -> None:
    gate = Gate()
    place.on_put(Put(gate=gate))
    meeting = await asyncio.to_thread(lambda: saving.open(**review(place.url)))
    await place.requests_arrived(1)
    shown = saving.client.get(meeting["links"]["self"]).json()
    assert (shown["status"], shown["operations"]) == ("running", {"pending": 1, "unknown": 0})
    listed = saving.client.get("/v1/operations", params={"status": "requested"}).json()["items"]
    assert [each["meeting_id"] for each in listed] == [meeting["id"]]
    gate.open()
    assert await asyncio.to_thread(lambda: states_told(saving, meeting)) == [
        "requested",
        "confirmed",
    ]


def test_already_there_and_equal(saving: RunningService, place: Destination) -> None:
    place.holds(DRAFT.encode())
    place.on_put(Put.status(409))
    meeting = saving.hold(**review(place.url))
    assert operation_of(saving, meeting)["state"] == "confirmed"
    assert place.methods == ["PUT", "GET"]


def test_something_else_is_there(saving: RunningService, place: Destination) -> None:
    place.holds(b"# Another report\n")
    place.on_put(Put.status(412))
    meeting = saving.hold(**review(place.url))
    record = operation_of(saving, meeting)
    assert record["state"] == "failed"
    assert "Something else is there." in record["reason"]
    assert place.stored() == b"# Another report\n"
    assert meeting["outcome"]["completeness"] == "partial"


def test_stored_and_something_else_is_served_for_ever(
    saving: RunningService, place: Destination
) -> None:
    place.on_get(Get(instead=b"# Another report\n"))
    meeting = saving.hold(**review(place.url, check_deadline_seconds=1))
    record = operation_of(saving, meeting)
    assert (record["state"], record["reason"]) == ("failed", "Something else is there.")
    assert states_told(saving, meeting) == ["requested", "unknown", "failed"]
    assert place.methods.count("PUT") == 1


def test_a_stale_read_after_the_write_settles_nothing(
    saving: RunningService, place: Destination
) -> None:
    place.on_get(Get(instead=b"# The old report\n"), Get())
    meeting = saving.hold(**review(place.url))
    assert states_told(saving, meeting) == ["requested", "unknown", "confirmed"]


def test_refused_for_good(saving: RunningService, place: Destination) -> None:
    place.on_put(Put.status(403))
    meeting = saving.hold(**review(place.url))
    outcome = meeting["outcome"]
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "completed")
    assert (outcome["decision"], outcome["decision_source"]) == (DRAFT, "draft")
    assert (outcome["decided_by"]["kind"], outcome["completeness"]) == ("completion", "partial")
    assert meeting["operations"] == {"pending": 0, "unknown": 0}
    for name, text in records(saving, meeting).items():
        assert "it is not there" in text or "failed" in text, name


@pytest.mark.parametrize("location", ["http://169.254.169.254/", "/elsewhere"])
def test_a_redirect_is_not_followed(
    saving: RunningService, place: Destination, location: str
) -> None:
    place.on_put(Put.status(307, location=location))
    meeting = saving.hold(**review(place.url))
    record = operation_of(saving, meeting)
    assert record["state"] == "failed"
    assert "redirects are not followed" in record["reason"]
    assert place.methods == ["PUT"]


def test_handed_over_and_then_reconciled_by_hand(
    saving: RunningService, place: Destination
) -> None:
    place.on_get(Get.status(500))
    meeting = saving.hold(**review(place.url, check_deadline_seconds=1, owner="dee"))
    record = operation_of(saving, meeting)
    assert (record["state"], record["owner"]) == ("handed_over", "dee")
    assert meeting["operations"] == {"pending": 0, "unknown": 1}
    assert meeting["outcome"]["review"]["external_wait"]["owner"] == "dee"
    assert meeting["outcome"]["completeness"] == "partial"
    stalls = [each["data"] for each in saving.events(meeting["id"]) if "stalled" in each["type"]]
    assert [each["kind"] for each in stalls] == ["external_wait"]
    assert meeting["outcome"]["stalled"] is None
    wait = {"operation": record["id"]} | {k: record[k] for k in ("url", "owner", "next_check_at")}
    assert external_waits(saving, meeting) == [wait, wait]
    listed = saving.client.get("/v1/operations").json()["items"]
    assert record["id"] in [each["id"] for each in listed]
    for name, text in records(saving, meeting).items():
        assert "handed over" in text or "could not be confirmed in time" in text, name
    told = saving.events(meeting["id"])

    still = saving.client.post(f"/v1/operations/{record['id']}/reconcile")
    assert (still.status_code, still.json()["state"]) == (200, "handed_over")
    place.on_get(Get())
    now = saving.client.post(f"/v1/operations/{record['id']}/reconcile").json()
    assert (now["state"], now["version"]) == ("confirmed", etag_of(DRAFT.encode()))
    assert operation_of(saving, meeting) == now
    looks = len(place.requests)
    again = saving.client.post(f"/v1/operations/{record['id']}/reconcile").json()
    assert (again, len(place.requests)) == (now, looks)

    assert saving.events(meeting["id"]) == told
    shown = saving.client.get(meeting["links"]["self"]).json()
    assert shown["operations"] == {"pending": 0, "unknown": 0}
    assert shown["outcome"] == meeting["outcome"]
    assert external_waits(saving, meeting) == [None, None]
    for name, text in records(saving, meeting).items():
        assert "confirmed" in text, name
    assert place.methods.count("PUT") == 1


def test_ended_while_unknown_says_so_everywhere_and_is_settled_by_schedule(
    saving: RunningService, place: Destination
) -> None:
    landing = Gate()
    place.on_put(Put.lost(stores=True, late=landing))
    place.on_get(Get.status(503))
    meeting = saving.hold(**review(place.url, seconds=2, check_deadline_seconds=600))
    outcome = meeting["outcome"]
    assert (outcome["result"], outcome["completeness"]) == ("decided", "partial")
    assert outcome["stopped_by"] == "completed"
    assert outcome["review"]["operation"]["state"] == "unknown"
    assert meeting["operations"] == {"pending": 0, "unknown": 1}
    for name, text in records(saving, meeting).items():
        assert "nobody knows whether it is there" in text, name
    place.on_get(Get())
    landing.open()
    comes_true(lambda: operation_of(saving, meeting)["state"] == "confirmed")
    for name, text in records(saving, meeting).items():
        assert "nobody knows" not in text, name
        assert "only after the meeting had ended" in text, name
    assert place.methods.count("PUT") == 1
    assert saving.events(meeting["id"])[-1]["type"] == "meeting.ended"


async def test_cancelled_while_it_is_under_way(saving: RunningService, place: Destination) -> None:
    gate = Gate()
    place.on_put(Put(gate=gate))
    place.on_get(Get.status(503))
    meeting = await asyncio.to_thread(lambda: saving.open(**review(place.url)))
    await place.requests_arrived(1)
    saving.client.post(meeting["links"]["cancel"]).raise_for_status()
    events = await asyncio.to_thread(lambda: saving.events(meeting["id"]))
    outcome = events[-1]["data"]["outcome"]
    assert outcome["result"] == "cancelled"
    assert outcome["review"]["operation"]["state"] == "unknown"
    assert place.methods.count("PUT") == 1
    gate.open()


def test_another_format_delivers_its_decision_record(
    saving: RunningService, place: Destination
) -> None:
    meeting = saving.hold(topic="Tea or coffee?", destination={"url": place.url})
    stored = place.stored()
    assert stored is not None
    assert f'id: "{meeting["id"]}"' in stored.decode()
    assert "## " in stored.decode()
    record = operation_of(saving, meeting)
    assert (record["subject"], record["state"], record["owner"]) == (
        "record",
        "confirmed",
        "caller",
    )
    types = [event["type"] for event in saving.events(meeting["id"])]
    assert types.index("decision.recorded") < types.index("operation.confirmed")
    assert types[-1] == "meeting.ended"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a.md",
        "https://127.0.0.1/a.md",
        "https://localhost/a.md",
        "https://10.0.0.1/a.md",
        "https://2130706433/a.md",
        "https://0x7f000001/a.md",
        "https://0x7f.1/a.md",
        "https://[::1]/a.md",
        "https://[::ffff:10.0.0.1]/a.md",
        "https://169.254.169.254/latest",
        "https://user:pass@example.com/a.md",
        "https://example.com:25/a.md",
        "ftp://example.com/a.md",
    ],
)
def test_a_url_that_may_not_be_called_is_refused_at_once(service: RunningService, url: str) -> None:
    wish = {"topic": "Tea or coffee?", "destination": {"url": url}}
    for query in ({}, {"dry_run": "true"}):
        answer = service.client.post("/v1/meetings", json=wish, params=query)
        assert answer.status_code == 422
        assert [e["pointer"] for e in answer.json()["errors"]] == ["#/destination/url"]


def test_metadata_addresses_stay_shut_whatever_is_allowed(saving: RunningService) -> None:
    answer = saving.client.post("/v1/meetings", json=review("http://169.254.169.254/latest"))
    assert answer.status_code == 422


def test_the_list_over_all_meetings(saving: RunningService, place: Destination) -> None:
    place.on_put(Put.status(403))
    for _ in range(3):
        saving.hold(**review(place.url))
    seen: list[str] = []
    query: dict[str, Any] = {"status": "failed", "limit": 2}
    while True:
        page = saving.client.get("/v1/operations", params=query).json()
        seen += [each["id"] for each in page["items"]]
        assert {each["state"] for each in page["items"]} <= {"failed"}
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert len(seen) == len(set(seen)) >= 3
    assert seen == sorted(seen, reverse=True)
    refused = saving.client.get("/v1/operations", params={"cursor": "eA"})
    assert refused.status_code == 422
    assert saving.client.get("/v1/operations", params={"status": "lost"}).status_code == 422


def test_an_operation_that_there_is_not(saving: RunningService) -> None:
    assert saving.client.post("/v1/operations/op_none/reconcile").status_code == 404
    assert saving.client.get("/v1/meetings/mtg_none/operations").status_code == 404
