"""Rulings over HTTP: by a person, by an agent, too late, twice, out of scope (API.md)."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest

from tests.formats.ballots import vote
from tests.service.running import RunningService

YES, NO = ["Yes. [STANCE: AGREE]"], ["No, the build gets slow. [STANCE: DISAGREE]"]
PERSON = {"kind": "human", "name": "Ann Lee"}
ADOPT = {"choice": "adopt", "reason": "It can be undone.", "decided_by": "Ann Lee"}
ONE_ROUND = {"rounds": 1}


def split(service: RunningService, **fields: Any) -> dict[str, Any]:
    """The resource of a split round table that waits for a ruling."""
    seats = service.scripted(ann=YES, ben=NO)
    wish = {"arbiter": PERSON, "motion": "One repository.", "limits": ONE_ROUND, **fields}
    return waiting(service, participants=seats, topic="Which?", **wish)


def waiting(service: RunningService, **wish: Any) -> dict[str, Any]:
    meeting = service.open(**wish)
    return until(service, meeting["id"], "awaiting_ruling")


def until(service: RunningService, meeting_id: str, status: str) -> dict[str, Any]:
    meeting: dict[str, Any] = {}
    for _ in range(2_000):
        meeting = service.client.get(f"/v1/meetings/{meeting_id}").json()
        if meeting["status"] == status:
            return meeting
        time.sleep(0.01)
    raise AssertionError(meeting)


def rule(service: RunningService, meeting: dict[str, Any], **body: Any) -> httpx.Response:
    return service.client.post(meeting["links"]["ruling"], json={**ADOPT, **body})


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"]


def test_a_persons_ruling(service: RunningService) -> None:
    meeting = split(service)
    question = meeting["pending_question"]
    assert question.keys() == {
        "id",
        "question",
        "choices",
        "scope",
        "arbiter",
        "deadline",
        "opened_at",
    }
    assert [choice["id"] for choice in question["choices"]] == ["adopt", "reject"]
    assert question["arbiter"]["name"] == "Ann Lee"
    assert question["opened_at"] < question["deadline"]
    listed = service.client.get("/v1/meetings", params={"status": "awaiting_ruling"}).json()
    assert [item["id"] for item in listed["items"]] == [meeting["id"]]
    ruled = rule(service, meeting, conditions="A review after one quarter.")
    assert ruled.status_code == 200
    assert ruled.json()["id"] == meeting["id"]
    assert ruled.json()["pending_question"] is None
    ended = until(service, meeting["id"], "ended")
    outcome = ended["outcome"]
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "ruling")
    assert outcome["decided_by"] == {
        "kind": "ruling",
        "name": "Ann Lee",
        "scope": "One repository.",
    }
    assert (outcome["consensus"], outcome["decision_source"]) == ("NO_CONSENSUS", "ruling")
    types = [event["type"] for event in service.events(meeting["id"])]
    assert types.index("arbitration.opened") < types.index("arbitration.ruled")
    minutes = service.text(ended["links"]["minutes"], "text/markdown")
    assert "A review after one quarter." in minutes
    assert "this was no consensus" in minutes
    record = service.client.get(ended["links"]["decision"]).json()
    assert record["ruling"]["conditions"] == "A review after one quarter."


def test_the_package_while_the_question_is_open_and_after_it(service: RunningService) -> None:
    meeting = split(service)
    path = meeting["links"]["handoff"]
    package = service.client.get(path).json()
    assert package["may_decide"][0]["choices"] == ["adopt", "reject"]
    assert [side["position"] for side in package["sides"]] == ["AGREE", "DISAGREE"]
    assert package["decided"] is None
    assert "The one question" in service.text(path, "text/markdown")
    assert problem(service.client.get(path, headers={"Accept": "image/png"})) == (
        406,
        "not-acceptable",
    )
    rule(service, meeting)
    until(service, meeting["id"], "ended")
    package = service.client.get(path).json()
    assert package["decided"]["decision"] == "One repository."
    assert package["may_decide"] == []


def test_there_is_nothing_to_hand_over_before(service: RunningService) -> None:
    service.agent("hanging", script=["never"], delay_seconds=60)
    seats = [{"name": name, "agent": "hanging"} for name in ("h1", "h2")]
    meeting = service.open(topic="Shall we?", participants=seats, arbiter=PERSON)
    assert problem(service.client.get(meeting["links"]["handoff"])) == (409, "meeting-not-ended")
    assert problem(rule(service, meeting)) == (409, "no-question-open")
    service.client.post(meeting["links"]["cancel"])


def test_a_question_expires_by_itself(service: RunningService) -> None:
    meeting = split(service, limits={**ONE_ROUND, "arbitration_seconds": 0.2})
    ended = until(service, meeting["id"], "ended")
    outcome = ended["outcome"]
    assert (outcome["result"], outcome["stopped_by"]) == ("undecided", "ruling_expired")
    assert ended["pending_question"] is None
    assert problem(rule(service, meeting)) == (409, "no-question-open")
    package = service.client.get(ended["links"]["handoff"]).json()
    assert (package["question"]["state"], package["may_decide"]) == ("expired", [])
    assert "No ruling came in time" in service.text(ended["links"]["minutes"], "text/markdown")


def test_a_second_ruling_changes_nothing(service: RunningService) -> None:
    meeting = split(service)
    assert rule(service, meeting).status_code == 200
    assert problem(rule(service, meeting, choice="reject")) == (409, "no-question-open")
    ended = until(service, meeting["id"], "ended")
    assert ended["outcome"]["decision"] == "One repository."


def test_what_was_not_offered(service: RunningService) -> None:
    meeting = split(service)
    answer = rule(service, meeting, choice="postpone")
    assert problem(answer) == (422, "out-of-scope")
    assert answer.json()["errors"][0]["pointer"] == "#/choice"
    assert "adopt, reject" in answer.json()["detail"]
    service.client.post(meeting["links"]["cancel"])
    until(service, meeting["id"], "ended")
    assert problem(rule(service, meeting)) == (409, "no-question-open")


def test_a_required_criterion_cannot_be_dropped(service: RunningService) -> None:
    draft = {"draft": "It lasted long.", "changes": [], "open": [], "waiting_for": None}
    content = {"objections": [], "closed": [], "waiting_for": None}
    seats = service.scripted(author=[json.dumps(draft)], critic=[json.dumps(content)])
    for seat in seats:
        seat["role"] = seat["name"]
    criteria = [{"id": "c1", "text": "names an owner", "check": {"contains": "owner"}}]
    meeting = waiting(
        service,
        format="review",
        topic="Is it fit?",
        participants=seats,
        criteria=criteria,
        materials=[{"id": "m1", "version": "1", "text": "It lasted four hours."}],
        arbiter=PERSON,
        limits=ONE_ROUND,
    )
    assert meeting["pending_question"]["choices"][0]["barred_by"] == ["c1"]
    answer = rule(service, meeting, choice="accept")
    assert problem(answer) == (422, "out-of-scope")
    assert "c1" in answer.json()["detail"]
    assert rule(service, meeting, choice="reject").status_code == 200
    assert until(service, meeting["id"], "ended")["outcome"]["stopped_by"] == "ruling"


def test_an_agent_rules(service: RunningService) -> None:
    service.agent("judge", script=['{"choice": "reject", "conditions": "", "reason": "Dear."}'])
    seats = service.scripted(ann=YES, ben=NO)
    arbiter = {"kind": "agent", "agent": "judge", "name": "the bench"}
    meeting = service.hold(topic="Which?", participants=seats, arbiter=arbiter, limits=ONE_ROUND)
    assert meeting["outcome"]["decided_by"]["name"] == "the bench"
    assert meeting["outcome"]["decision"].startswith("reject: ")
    assert problem(rule(service, meeting)) == (409, "no-question-open")


def test_a_poll_has_no_use_for_an_arbiter_and_says_so(service: RunningService) -> None:
    meeting = service.hold(
        format="poll", topic="Which?", options=["A", "B"], rules={"output": "ranking"},
        arbiter=PERSON,
    )  # fmt: skip
    assert "unused_field:arbiter" in meeting["warnings"]
    assert "arbitration.opened" not in {event["type"] for event in service.events(meeting["id"])}


def test_a_vote_without_a_majority(service: RunningService) -> None:
    ballots = [vote(option) for option in "AB"]
    seats = service.scripted(**{f"v{n}": [text, "So.", text] for n, text in enumerate(ballots)})
    meeting = waiting(
        service, format="vote", topic="Which?", options=["A", "B"], participants=seats,
        arbiter=PERSON,
    )  # fmt: skip
    assert meeting["pending_question"]["choices"] == [{"id": o, "text": o} for o in "AB"]
    rule(service, meeting, choice="B")
    outcome = until(service, meeting["id"], "ended")["outcome"]
    assert (outcome["decision"], outcome["stopped_by"]) == ("B", "ruling")
    assert [dissent["participant"] for dissent in outcome["dissents"]] == ["v0"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"choice": ""}, "#/choice"),
        ({"choice": None}, "#/choice"),
        ({"choice": "x" * 4_001}, "#/choice"),
        ({"reason": " "}, "#/reason"),
        ({"reason": "x" * 4_001}, "#/reason"),
        ({"decided_by": ""}, "#/decided_by"),
        ({"decided_by": "x" * 201}, "#/decided_by"),
        ({"conditions": 3}, "#/conditions"),
        ({"because": "x"}, "#/because"),
    ],
)
def test_bad_rulings(service: RunningService, body: dict[str, Any], pointer: str) -> None:
    answer = service.client.post("/v1/meetings/mtg_none/ruling", json={**ADOPT, **body})
    assert problem(answer) == (422, "invalid-request")
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("left_out", ["choice", "reason", "decided_by"])
def test_what_a_ruling_must_have(service: RunningService, left_out: str) -> None:
    body = {key: value for key, value in ADOPT.items() if key != left_out}
    answer = service.client.post("/v1/meetings/mtg_none/ruling", json=body)
    assert answer.json()["errors"][0]["pointer"] == f"#/{left_out}"


def test_a_meeting_that_is_not_there(service: RunningService) -> None:
    assert problem(service.client.post("/v1/meetings/mtg_none/ruling", json=ADOPT)) == (
        404,
        "not-found",
    )
    assert problem(service.client.get("/v1/meetings/mtg_none/handoff")) == (404, "not-found")
