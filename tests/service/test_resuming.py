"""Resuming over HTTP (PROTOCOLS 12): what goes on, what is kept, and what is refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.destination import Destination, Get, Put
from tests.provider import Gate, Provider, Reply
from tests.service.running import RunningService
from tests.service.test_rulings import until

SPLIT = ["No. [STANCE: DISAGREE]"]
YES = ["Yes. [STANCE: AGREE]"]
LATE_YES = ["No. [STANCE: DISAGREE]"] * 3 + YES
NOTE = "They were close; one more round is worth it."


def resume(service: RunningService, meeting: dict[str, Any], **body: Any) -> httpx.Response:
    wish = {"changed": "permission", "note": NOTE, **body}
    return service.client.post(meeting["links"]["resume"], json=wish)


def raised(service: RunningService, meeting: dict[str, Any], **limits: Any) -> dict[str, Any]:
    """The resource after it has ended again with these limits."""
    answer = resume(service, meeting, changed="limits", limits=limits)
    assert answer.status_code == 202, answer.text
    return until(service, meeting["id"], "ended")


def out_of_rounds(service: RunningService, second: Sequence[str] = LATE_YES) -> dict[str, Any]:
    """A meeting that three rounds left undecided."""
    seats = service.scripted(ann=YES, ben=list(second))
    limits = {"rounds": 3, "no_progress_rounds": 9, "seconds": 60}
    meeting = service.hold(topic="Which?", motion="One.", participants=seats, limits=limits)
    assert meeting["outcome"]["stopped_by"] == "rounds", meeting["outcome"]
    return meeting


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"]


def seconds(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def pointers(answer: httpx.Response) -> list[str]:
    assert problem(answer) == (422, "invalid-request"), answer.text
    return [error["pointer"] for error in answer.json()["errors"]]


def minutes_files(service: RunningService, meeting: dict[str, Any]) -> list[Path]:
    return sorted((service.folder / "minutes").glob(f"*{meeting['id']}*.md"))


@pytest.fixture
def far() -> Iterator[Provider]:
    """A model's server, at which a request waits for as long as its gate is shut."""
    with Provider() as provider:
        yield provider


def on_call(service: RunningService, far: Provider, name: str, *replies: Reply) -> None:
    """From now on this agent is a model behind that server."""
    far.will(*replies)
    service.agent(
        name, kind="llm", model="openai:slow", base_url=far.openai_url, api_key="sk-secret"
    )


# --- going on ----------------------------------------------------------------------------------


def test_more_rounds_after_the_rounds_ran_out(service: RunningService) -> None:
    first = out_of_rounds(service)
    before = service.events(first["id"])
    files = minutes_files(service, first)
    kept = files[0].read_text()
    answer = resume(service, first, changed="limits", limits={"rounds": 5})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == first["links"]["self"]
    going_on = answer.json()
    assert (going_on["status"], going_on["outcome"], going_on["ended_at"]) == (
        "running",
        None,
        None,
    )
    assert going_on["limits"] == {**first["limits"], "rounds": 5}
    (resumption,) = going_on["resumptions"]
    assert (resumption["changed"], resumption["note"]) == ("limits", NOTE)
    meeting = until(service, first["id"], "ended")
    assert (meeting["round"], meeting["outcome"]["result"]) == (4, "decided")
    assert meeting["outcome"]["dissents"] == []
    assert meeting["spent"]["replies"] == first["spent"]["replies"] + 2
    spent = first["spent"]["seconds"] + seconds(resumption["at"], meeting["ended_at"])
    assert meeting["spent"]["seconds"] == pytest.approx(spent, abs=0.002)
    events = service.events(first["id"])
    assert events[: len(before)] == before
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    rest = [event["type"] for event in events[len(before) :]]
    # The last round's summary was not needed then; the next one begins with it.
    assert rest[:3] == ["meeting.resumed", "summary.updated", "round.started"]
    assert rest[-1] == "meeting.ended"
    assert [e["data"]["round"] for e in events if e["type"] == "round.started"] == [1, 2, 3, 4]
    said = events[len(before)]["data"]
    assert (said["after_round"], said["resumption"], said["acknowledged"]) == (3, 1, [])
    assert service.events(first["id"], after=len(before)) == events[len(before) :]

    rounds = service.client.get(meeting["links"]["rounds"]).json()["items"]
    assert [each["round"] for each in rounds] == [1, 2, 3, 4]
    minutes = service.text(meeting["links"]["minutes"], "text/markdown")
    assert 'result: "decided"' in minutes
    assert "## Resumed (1)" in minutes
    assert "| Rounds | 3 | 5 |" in minutes
    decision = service.client.get(meeting["links"]["decision"]).json()
    assert decision["resumptions"][0]["outcome"]["stopped_by"] == "rounds"
    both = minutes_files(service, first)
    assert len(both) == 2
    assert [path.read_text() for path in both if path == files[0]] == [kept]
    assert minutes in [path.read_text() for path in both]


def test_a_cancelled_meeting_goes_on(service: RunningService) -> None:
    service.agent("slow", script=YES, delay_seconds=60)
    seats = [{"name": "quick", "agent": "slow"}, {"name": "other", "agent": "slow"}]
    meeting = service.open(topic="Which?", motion="One.", participants=seats)
    service.client.post(meeting["links"]["cancel"], json={"reason": "lunch"})
    cancelled = until(service, meeting["id"], "ended")
    assert cancelled["outcome"]["result"] == "cancelled"
    service.agent("slow", script=YES)
    going_on = resume(service, meeting, note="After lunch.").json()
    assert (going_on["status"], going_on["cancellation"]) == ("running", None)
    gone = service.client.get(meeting["links"]["cancellation"])
    assert problem(gone) == (404, "not-found")
    assert "was cancelled, and has been resumed since" in gone.json()["detail"]
    ended = until(service, meeting["id"], "ended")
    assert (ended["outcome"]["result"], ended["round"]) == ("decided", 1)
    events = service.events(meeting["id"])
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    minutes = service.text(ended["links"]["minutes"], "text/markdown")
    assert "The meeting was cancelled." in minutes.split("## Resumed (1)")[1]


def test_cancelled_once_more_after_a_resuming(service: RunningService) -> None:
    service.agent("slower", script=YES, delay_seconds=60)
    seats = [{"name": "quick", "agent": "slower"}, {"name": "other", "agent": "slower"}]
    meeting = service.open(topic="Which?", participants=seats)
    for number in range(2):
        answer = service.client.post(meeting["links"]["cancel"], json={"reason": f"no {number}"})
        assert answer.status_code == 202
        assert answer.json()["reason"] == f"no {number}"
        ended = until(service, meeting["id"], "ended")
        assert ended["cancellation"]["reason"] == f"no {number}"
        assert service.client.post(meeting["links"]["cancel"]).status_code == 409
        if number == 0:
            assert resume(service, meeting).status_code == 202


def test_a_ruling_that_came_too_late_can_be_given_after_all(service: RunningService) -> None:
    seats = service.scripted(ann=YES, ben=SPLIT)
    limits = {"rounds": 1, "arbitration_seconds": 0.2}
    first = service.hold(
        topic="Which?",
        motion="One.",
        participants=seats,
        arbiter={"kind": "human", "name": "Ann Lee"},
        limits=limits,
    )
    assert first["outcome"]["stopped_by"] == "ruling_expired"
    answer = resume(service, first, changed="limits", limits={"arbitration_seconds": 60})
    assert answer.status_code == 202, answer.text
    waiting = until(service, first["id"], "awaiting_ruling")
    assert waiting["round"] == 1
    ruling = {"choice": "adopt", "reason": "It can be undone.", "decided_by": "Ann Lee"}
    assert service.client.post(waiting["links"]["ruling"], json=ruling).status_code == 200
    meeting = until(service, first["id"], "ended")
    assert (meeting["outcome"]["result"], meeting["outcome"]["stopped_by"]) == ("decided", "ruling")
    put = service.client.get(meeting["links"]["decision"]).json()["arbitration"]
    assert [asked["state"] for asked in put] == ["expired", "ruled"]


def test_twice(service: RunningService) -> None:
    meeting = out_of_rounds(service, SPLIT)
    for rounds in (4, 5):
        meeting = raised(service, meeting, rounds=rounds)
        assert (meeting["round"], meeting["outcome"]["stopped_by"]) == (rounds, "rounds")
    assert [each["changed"] for each in meeting["resumptions"]] == ["limits", "limits"]
    events = service.events(meeting["id"])
    assert [e["data"]["resumption"] for e in events if e["type"] == "meeting.resumed"] == [1, 2]
    assert [e["type"] for e in events].count("meeting.ended") == 3
    assert len(minutes_files(service, meeting)) == 3
    dissents = service.client.get(meeting["links"]["dissents"]).json()["items"]
    assert dissents == meeting["outcome"]["dissents"]


def test_limits_that_nobody_raised_end_it_again_at_once(service: RunningService) -> None:
    first = out_of_rounds(service)
    answer = resume(service, first, changed="permission")
    assert answer.status_code == 202
    again = until(service, first["id"], "ended")
    assert (again["round"], again["outcome"]["stopped_by"]) == (3, "rounds")
    assert again["outcome"]["result"] == "undecided"
    assert again["spent"]["replies"] == first["spent"]["replies"]


def test_of_two_at_once_one_comes_through(service: RunningService) -> None:
    meeting = out_of_rounds(service)
    together = threading.Barrier(4)

    def call(_: int) -> int:
        together.wait()
        return resume(service, meeting, changed="limits", limits={"rounds": 9}).status_code

    with ThreadPoolExecutor(4) as threads:
        codes = sorted(threads.map(call, range(4)))
    until(service, meeting["id"], "ended")
    assert codes == [202, 409, 409, 409]


def test_a_reader_from_the_beginning_goes_on_live(service: RunningService, far: Provider) -> None:
    first = out_of_rounds(service, SPLIT)
    gate = Gate()
    on_call(service, far, "ben", Reply.text(YES[0], gate=gate))
    resume(service, first, changed="limits", limits={"rounds": 5})
    events: list[dict[str, Any]] = []
    with service.client.stream("GET", first["links"]["events"]) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line.removeprefix("data: ")))
                if events[-1]["data"].get("round") == 4:
                    gate.open()
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "meeting.ended"
    assert events[-1]["data"]["result"] == "decided"
    assert [event["type"] for event in events].count("meeting.ended") == 2


def test_while_it_runs_again_its_records_are_not_there_yet(
    service: RunningService, far: Provider
) -> None:
    first = out_of_rounds(service)
    gate = Gate()
    on_call(service, far, "ben", Reply.text(YES[0], gate=gate))
    resume(service, first, changed="limits", limits={"rounds": 5})
    for link in ("minutes", "decision", "handoff"):
        assert problem(service.client.get(first["links"][link])) == (409, "meeting-not-ended")
    assert service.client.get(first["links"]["dissents"]).json()["items"] == []
    partial = service.client.get(first["links"]["minutes"], params={"partial": "true"}).text
    assert 'status: "running"' in partial
    assert "## Resumed (1)" in partial
    listed = service.client.get("/v1/meetings", params={"status": "running"}).json()["items"]
    assert first["id"] in [item["id"] for item in listed]
    gate.open()
    until(service, first["id"], "ended")


def test_a_review_on_a_new_version_of_its_material(service: RunningService) -> None:
    draft = {"draft": "We pay within 30 days.", "changes": [], "open": []}
    objection = {
        "id": "o1",
        "severity": "blocking",
        "material": "terms",
        "quote": "within 30 days",
        "point": "The terms say otherwise.",
        "resolves_when": "The terms are changed.",
    }
    against = {"objections": [objection], "resolved": [], "criteria": {}}
    seats = [
        {"name": "author", "role": "author", "agent": "writer"},
        {"name": "critic", "role": "critic", "agent": "critic"},
    ]
    service.agent("writer", script=[json.dumps(draft)])
    service.agent("critic", script=[json.dumps(against)])
    terms = {"id": "terms", "version": "1", "text": "Payment within 30 days."}
    meeting = service.hold(
        topic="Write the payment clause.",
        format="review",
        participants=seats,
        materials=[terms],
        limits={"rounds": 3},
    )
    assert meeting["outcome"]["result"] == "undecided", meeting["outcome"]
    same = resume(service, meeting, changed="materials", materials=[terms])
    assert pointers(same) == ["#/materials"]
    assert pointers(resume(service, meeting, changed="materials")) == ["#/materials"]
    other = resume(service, meeting, changed="materials", materials=[{**terms, "text": "x"}])
    assert pointers(other) == ["#/materials/0/version"]
    renamed = resume(service, meeting, changed="materials", materials=[{**terms, "version": "2"}])
    assert pointers(renamed) == ["#/materials"]
    new = {**terms, "version": "2", "text": "Payment within 14 days."}
    answer = resume(service, meeting, changed="materials", materials=[new])
    assert answer.status_code == 202, answer.text
    again = until(service, meeting["id"], "ended")
    minutes = service.text(again["links"]["minutes"], "text/markdown")
    assert "terms, version 2 (until then version 1)" in minutes.split("## Resumed (1)")[1]
    assert "It rests on terms, version 1, where this stands word for word:" in minutes
    for kind in ("minutes", "decision"):
        record = json.loads(service.text(again["links"][kind], "application/json"))
        assert record["materials"] == [{"id": "terms", "version": "2", "title": None}]
        (given,) = record["resumptions"][0]["materials"]
        assert (given["version"], given["version_before"]) == ("2", "1")
    handoff = json.loads(service.text(again["links"]["handoff"], "application/json"))
    assert ("terms", "1") in [(e["source"], e["version"]) for e in handoff["excerpts"]]


# --- what is refused ---------------------------------------------------------------------------


def test_only_a_meeting_that_ended_without_a_decision(service: RunningService) -> None:
    links = {"resume": "/v1/meetings/mtg_nowhere/resume"}
    assert problem(resume(service, {"links": links})) == (404, "not-found")
    seats = service.scripted(ann=YES, ben=YES)
    decided = service.hold(topic="Which?", participants=seats)
    assert problem(resume(service, decided)) == (409, "meeting-decided")
    service.agent("slow", script=YES, delay_seconds=60)
    running = service.open(
        topic="Which?", participants=[{"agent": "slow"}, {"agent": "slow"}, {"agent": "slow"}]
    )
    assert problem(resume(service, running)) == (409, "meeting-not-ended")
    service.client.post(running["links"]["cancel"]).raise_for_status()
    until(service, running["id"], "ended")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"changed": None}, "#/changed"),
        ({"changed": "weather"}, "#/changed"),
        ({"note": ""}, "#/note"),
        ({"note": " \n "}, "#/note"),
        ({"note": None}, "#/note"),
        ({"limits": {"rounds": 5}}, "#/limits"),
        ({"changed": "limits"}, "#/limits"),
        ({"changed": "limits", "limits": {}}, "#/limits"),
        ({"changed": "limits", "limits": {"rounds": 3}}, "#/limits"),
        ({"changed": "limits", "limits": {"seconds": 30}}, "#/limits"),
        ({"changed": "limits", "limits": {"rounds": 2, "seconds": 900}}, "#/limits/rounds"),
        ({"changed": "limits", "limits": {"rounds": 9, "seconds": 0.001}}, "#/limits/seconds"),
        ({"changed": "limits", "limits": {"rounds": 0}}, "#/limits/rounds"),
        ({"changed": "limits", "limits": {"round": 9}}, "#/limits/round"),
        ({"changed": "limits", "limits": {"rounds": 9, "tokens": 1}}, "#/limits/tokens"),
        ({"materials": [{"id": "m", "version": "1", "text": "x"}]}, "#/materials"),
        ({"changed": "materials", "materials": [{"id": "m"}]}, "#/materials/0/version"),
        ({"why": "because"}, "#/why"),
        ({"acknowledge_unknown": "yes"}, "#/acknowledge_unknown"),
    ],
)
def test_what_cannot_be_asked(
    undecided: dict[str, Any], service: RunningService, body: dict[str, Any], pointer: str
) -> None:
    wish = {"changed": "order", "note": NOTE, **body}
    content = {key: value for key, value in wish.items() if value is not None}
    answer = service.client.post(undecided["links"]["resume"], json=content)
    assert pointer in pointers(answer), answer.text
    after = service.client.get(undecided["links"]["self"]).json()
    assert after["resumptions"] == []


@pytest.fixture(scope="module")
def undecided(service: RunningService) -> dict[str, Any]:
    return out_of_rounds(service)


def test_what_nobody_knows_must_be_acknowledged(tmp_path: Path) -> None:
    """The record of an end without a decision was sent off, and no answer ever came."""
    settings: dict[str, Any] = {"allow_http_targets": True, "allow_private_targets": True}
    with RunningService(tmp_path, **settings) as service, Destination() as place:
        place.on_put(Put.lost(stores=False))
        place.on_get(Get.status(503))
        seats = service.scripted(ann=YES, ben=LATE_YES)
        first = service.hold(
            topic="Which?",
            motion="One.",
            participants=seats,
            limits={"rounds": 3, "no_progress_rounds": 9},
            destination={"url": place.url, "check_deadline_seconds": 1},
        )
        assert first["operations"] == {"pending": 0, "unknown": 1}
        raised_ = {"changed": "limits", "limits": {"rounds": 5}}
        refused = resume(service, first, **raised_)
        assert problem(refused) == (409, "operation-unknown")
        listed = service.client.get(first["links"]["operations"]).json()["items"]
        (known,) = [each["id"] for each in listed]
        assert known in refused.json()["detail"]
        place.on_put(Put())
        place.on_get(Get())
        assert resume(service, first, **raised_, acknowledge_unknown=True).status_code == 202
        meeting = until(service, first["id"], "ended")
        assert meeting["outcome"]["result"] == "decided"
        (told,) = [e for e in service.events(first["id"]) if e["type"] == "meeting.resumed"]
        assert told["data"]["acknowledged"] == [known]
        minutes = service.text(meeting["links"]["minutes"], "text/markdown")
        assert known in minutes.split("## Resumed (1)")[1].split("## Round 4")[0]
        listed = service.client.get(first["links"]["operations"]).json()["items"]
        assert len(listed) == 2


# --- a restart in between ----------------------------------------------------------------------


def test_a_restart_goes_on_with_a_resumed_meeting(tmp_path: Path, far: Provider) -> None:
    gate = Gate()
    with RunningService(tmp_path) as service:
        first = out_of_rounds(service)
        # The first request waits until the service has gone, the second one for the gate.
        on_call(service, far, "ben", Reply(gate=Gate()), Reply.text(YES[0], gate=gate))
        going_on = resume(service, first, changed="limits", limits={"rounds": 5}).json()
        far.wait_for_requests(1)
    with RunningService(tmp_path) as service:
        far.wait_for_requests(2)
        meeting = service.client.get(first["links"]["self"]).json()
        assert meeting["status"] == "running"
        assert meeting["deadline"] == going_on["deadline"]
        gate.open()
        events = service.events(first["id"])
        assert [event["id"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["data"]["result"] == "decided"
