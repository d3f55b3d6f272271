"""Kinds of no progress over HTTP (PROTOCOLS 11): what trips each, and what only looks like it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.destination import Destination, Get
from tests.formats.review.by_hand import judged, objection, written
from tests.service.running import RunningService

A, B = "Participant A", "Participant B"
FAILS: dict[str, Any] = {"criteria": {"c1": "fail"}}
PASSES: dict[str, Any] = {"criteria": {"c1": "pass"}}
DRAFT = written("It lasted 4 hours.")
STUCK = judged(objection(), **FAILS)
IN_WORDS = {
    "circular": "going in circles",
    "stalemate": "stalemate",
    "mutual_wait": "waiting for each other",
    "external_wait": "waiting for something outside",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that may call the stand-in for a destination, which is plain HTTP on loopback."""
    folder: Path = tmp_path_factory.mktemp("stalls")
    settings = {"allow_http_targets": True, "allow_private_targets": True}
    with RunningService(folder, **settings) as running:
        yield running


def reviewed(
    service: RunningService, author: Sequence[str], critic: Sequence[str], **fields: Any
) -> dict[str, Any]:
    """A review of up to six rounds; each script is gone through over and over."""
    seats = service.scripted(author=[*author], critic=[*critic])
    return service.hold(
        topic="Write the report on the outage.",
        format="review",
        participants=[{**seat, "role": seat["name"]} for seat in seats],
        materials=[
            {"id": "m1", "version": "1", "text": "The outage lasted 4 hours. Nobody had the pager."}
        ],
        criteria=[{"id": "c1", "text": "is understandable"}],
        **{"limits": {"rounds": 6}} | fields,
    )


def told(service: RunningService, meeting: dict[str, Any]) -> list[dict[str, Any]]:
    events = service.events(meeting["id"])
    return [each["data"] for each in events if each["type"] == "progress.stalled"]


def assert_stalled(service: RunningService, meeting: dict[str, Any], kind: str) -> dict[str, Any]:
    """The stall as it is told; the outcome and every record name it."""
    (stall,) = told(service, meeting)
    assert (stall["kind"], meeting["outcome"]["stopped_by"]) == (kind, "no_progress")
    record = json.loads(service.text(meeting["links"]["decision"], "application/json"))
    assert record["stalled"] == stall
    for link in ("decision", "minutes"):
        assert IN_WORDS[kind] in service.text(meeting["links"][link], "text/markdown")
    return stall


def assert_went_on(service: RunningService, meeting: dict[str, Any], stopped_by: str) -> None:
    assert (told(service, meeting), meeting["outcome"]["stopped_by"]) == ([], stopped_by)
    record = json.loads(service.text(meeting["links"]["decision"], "application/json"))
    assert record["stalled"] is None


# --- circular -----------------------------------------------------------------------------------


def test_a_point_that_is_closed_and_raised_again_goes_in_circles(service: RunningService) -> None:
    """In ever other words, and with more of the sentence each time."""
    closed = judged(closed=["obj-1"], **FAILS)
    quotes = ("lasted 4 hours", "outage lasted 4 hours", "The outage lasted 4 hours.")
    raised = [judged(objection(quote, point=quote), **FAILS) for quote in quotes]
    critic = [said for each in raised for said in (each, closed)]
    stall = assert_stalled(service, reviewed(service, [DRAFT], critic), "circular")
    assert (stall["round"], stall["reopened"]) == (4, ["obj-1"])


def test_another_point_after_each_that_is_closed_does_not(service: RunningService) -> None:
    quotes = ("The outage", "lasted", "4 hours", "Nobody", "had", "the pager")
    critic = [
        judged(objection(quote), closed=[f"obj-{n}"] if n else [], **FAILS)
        for n, quote in enumerate(quotes)
    ]
    assert_went_on(service, reviewed(service, [DRAFT], critic), "rounds")


# --- stalemate ----------------------------------------------------------------------------------


def test_other_words_around_the_same_objection_are_a_stalemate(service: RunningService) -> None:
    drafts = [written(f"It lasted 4 hours, in {number} other words.") for number in range(6)]
    critic = [judged(objection(point=f"in way {number}"), **FAILS) for number in range(6)]
    stall = assert_stalled(service, reviewed(service, drafts, critic), "stalemate")
    assert (stall["round"], stall["rounds_without_progress"]) == (3, 2)


@pytest.mark.parametrize("quote", ["", "nobody said this"])
def test_closing_what_rests_on_nothing_is_a_stalemate(service: RunningService, quote: str) -> None:
    critic = [
        judged(
            objection(quote and f"{quote} {n}", point=f"in way {n}"),
            closed=[f"obj-{n}"] if n else [],
            **FAILS,
        )
        for n in range(6)
    ]
    assert_stalled(service, reviewed(service, [DRAFT], critic), "stalemate")


def test_a_critic_that_drops_out_and_comes_back_is_a_stalemate(service: RunningService) -> None:
    """Its unusable reply is asked for once more, so each takes two lines of the script."""
    silent = ("I have no answer.", "I have no answer.")
    meeting = reviewed(service, [DRAFT], [STUCK, *silent, STUCK, *silent, STUCK])
    assert assert_stalled(service, meeting, "stalemate")["round"] == 3


def test_a_round_table_of_the_same_split_is_a_stalemate(service: RunningService) -> None:
    seats = service.scripted(
        ann=[f"Yes, reason {n}. [STANCE: AGREE]" for n in range(6)],
        ben=[f"No, reason {n}. [STANCE: DISAGREE]" for n in range(6)],
    )
    split = {"topic": "Which?", "motion": "One repository.", "limits": {"rounds": 6}}
    assert_stalled(service, service.hold(participants=seats, **split), "stalemate")


def test_stances_that_move_are_none(service: RunningService) -> None:
    seats = service.scripted(
        ann=[f"As I said. [STANCE: {stance}]" for stance in ("AGREE", "NEUTRAL") * 3],
        ben=["As I said. [STANCE: DISAGREE]"],
    )
    split = {"topic": "Which?", "motion": "One repository.", "limits": {"rounds": 6}}
    assert_went_on(service, service.hold(participants=seats, **split), "rounds")


# --- waiting ------------------------------------------------------------------------------------


def test_who_wait_for_each_other(service: RunningService) -> None:
    author = written(waiting_for=B)
    critic = judged(waiting_for=A, **FAILS)
    stall = assert_stalled(service, reviewed(service, [author], [critic]), "mutual_wait")
    assert stall["waiting"] == ["author", "critic"]


def test_who_waits_for_an_input_waits_for_nobody(service: RunningService) -> None:
    author = written(waiting_for=B)
    critic = judged(waiting_for="the pager's log", **FAILS)
    stall = assert_stalled(service, reviewed(service, [author], [critic]), "stalemate")
    assert stall["waiting"] == []


def saved(service: RunningService, place: Destination) -> dict[str, Any]:
    destination = {"url": place.url, "check_deadline_seconds": 1, "owner": "dee"}
    return reviewed(service, [DRAFT], [judged(**PASSES)], destination=destination)


def test_a_save_that_is_handed_over_is_waited_for_and_no_stall(service: RunningService) -> None:
    with Destination() as place:
        place.on_get(Get.status(500))
        meeting = saved(service, place)
        (wait,) = told(service, meeting)
    outcome = meeting["outcome"]
    assert (outcome["result"], outcome["stopped_by"]) == ("decided", "completed")
    expected = outcome["review"]["external_wait"]
    assert {key: wait[key] for key in expected} == expected
    assert (wait["kind"], wait["round"], wait["owner"]) == ("external_wait", 1, "dee")
    assert (wait["rounds_without_progress"], wait["next_check_at"] is None) == (0, False)
    record = json.loads(service.text(meeting["links"]["decision"], "application/json"))
    assert record["stalled"] is None
    assert IN_WORDS["external_wait"] in service.text(meeting["links"]["minutes"], "text/markdown")


def test_a_save_that_is_confirmed_is_not_waited_for(service: RunningService) -> None:
    with Destination() as place:
        meeting = saved(service, place)
    assert meeting["outcome"]["review"]["external_wait"] is None
    assert_went_on(service, meeting, "completed")
