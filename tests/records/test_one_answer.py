"""What several records tell of a meeting is one answer: candidates, objections, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from app.domain.ending.arbitration import Ruling
from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.history import history
from app.domain.meeting.meeting import Limits
from app.domain.replies.reading import ReplyStatus
from app.formats import FORMATS
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json, handoff_markdown
from app.records.listings import objections_record
from app.records.minutes import minutes_json, minutes_markdown
from tests.formats.ballots import casts, polling, vote, voting
from tests.formats.debate.test_records import held as debated
from tests.formats.review.by_hand import judged, objection, review, rounds, written
from tests.golden.recording import names, read
from tests.records.held import answers, held, meeting, stances, three_rounds
from tests.records.ruled import put
from tests.records.test_rulings import in_council, reviewed, roundtable, voted

SPLIT = stances("AGREE", "DISAGREE", "NEUTRAL")
Records = Callable[[], list[Event]]


def binary(*given: str) -> list[Event]:
    ballots = [f'{{"answer": "{answer}", "reasons": ["so"], "confidence": 7}}' for answer in given]
    return put(polling("binary", len(given)), lambda ask: ballots[int(ask.who[1:])])


UNDECIDED: Mapping[str, Records] = {
    "roundtable": lambda: held(meeting(limits=Limits(rounds=2)), answers([SPLIT] * 2)),
    "debate": lambda: debated("A8 B9 C9"),
    "poll": lambda: binary("YES", "NO", "YES", "NO"),
    "vote": lambda: put(voting(), casts(*[[vote("A"), vote("B"), vote("C")]] * 2)),
    "council": in_council,
    "review": reviewed,
}
DECIDED: Mapping[str, Records] = {
    "roundtable": three_rounds,
    "roundtable, ruled": roundtable,
    "debate": lambda: debated("A8 B7 A8", "A8 A9 A10"),
    "poll": lambda: binary("YES", "NO", "YES"),
    "vote": lambda: put(voting(), casts([vote("A"), vote("A"), vote("C")])),
    "council": lambda: in_council(ruled=_ruled("accept")),
    "review": lambda: reviewed(ruled=_ruled("reject")),
}


def _ruled(choice: str) -> Ruling:
    return Ruling(choice, "So it is.", "Ann Lee")


def _golden(name: str) -> list[Event]:
    return [
        Event(each.content, each.at, each.step, meeting_id="mtg_0001", seq=seq, number=seq)
        for seq, each in enumerate(read(name), 1)
    ]


# --- candidates ---------------------------------------------------------------------------------


def test_every_format_is_looked_at() -> None:
    assert set(UNDECIDED) == set(FORMATS)
    assert set(FORMATS) <= set(DECIDED)


@pytest.mark.parametrize("name", UNDECIDED)
def test_candidates_are_the_same_wherever_nothing_was_decided(name: str) -> None:
    log = UNDECIDED[name]()
    record, package = decision_json(log), handoff_json(log)
    assert record["decision"] is None
    assert record["candidates"] == package["candidates"] != []
    for text in (decision_markdown(log), handoff_markdown(log)):
        section = text.split("## Candidates for whoever decides\n")[1].split("\n## ")[0]
        assert all(each["text"] in section for each in record["candidates"])


@pytest.mark.parametrize("name", DECIDED)
def test_and_wherever_something_was(name: str) -> None:
    log = DECIDED[name]()
    record = decision_json(log)
    assert record["decision"] is not None
    assert record["candidates"] == handoff_json(log)["candidates"] != []


@pytest.mark.parametrize("name", names())
def test_and_in_logs_of_every_version(name: str) -> None:
    log = _golden(name)
    assert decision_json(log)["candidates"] == handoff_json(log)["candidates"] != []


def test_an_even_split_hands_both_answers_on() -> None:
    assert handoff_json(UNDECIDED["poll"]())["candidates"] == [
        {"id": "YES", "text": "YES"},
        {"id": "NO", "text": "NO"},
    ]


def test_a_round_table_hands_its_motion_and_what_was_drafted_on() -> None:
    assert handoff_json(UNDECIDED["roundtable"]())["candidates"] == [
        {"id": "motion", "text": "Adopt one repository by June."},
        {"id": "synthesis", "text": "Adopt one repository for the four services."},
        {"id": "recommendation", "text": "Move the smallest service first."},
    ]


def test_a_voter_s_options_are_candidates_though_one_of_them_passed() -> None:
    found = decision_json(DECIDED["vote"]())["candidates"]
    assert [each["id"] for each in found] == ["A", "B", "C"]


# --- objections ---------------------------------------------------------------------------------


def objected() -> list[Event]:
    """One objection is met, one comes back, one never had any ground."""
    first = {
        "ann": written("The owner is Dee."),
        "ben": judged(objection(), objection("not there", severity="minor", point="made up")),
        "cy": judged(objection("", severity="preference", point="too long")),
    }
    second = {"ann": written("Dee owns it."), "ben": judged(closed=["obj-1"]), "cy": judged()}
    third = {**second, "ben": judged(), "cy": judged(objection(point="again"), closed=["obj-3"])}
    return put(review(rounds=3), rounds(first, second, third))


def test_open_objections_are_the_same_in_resource_list_handoff_and_record() -> None:
    log = objected()
    past = history(log)
    assert past.decision is not None
    listed = objections_record(past)
    still_open = [each["id"] for each in listed if each["state"] == "open"]
    assert still_open == ["obj-1", "obj-2"]
    assert past.decided is not None
    for outcome in (
        past.decided.outcome.record(),
        decision_json(log),
        minutes_json(log)["outcome"],
    ):
        shown = outcome["review"]["objections"]
        assert [each["id"] for each in shown if each["state"] == "open"] == still_open
        assert [each["round"] for each in shown] == [each["round"] for each in listed]
    critics = next(s for s in handoff_json(log)["sides"] if s["position"] == "critics")
    assert [each["objection"] for each in critics["arguments"]] == still_open
    dissents = decision_json(log)["dissents"]
    points = {each["id"]: each["point"] for each in listed}
    assert [each["rationale"] for each in dissents] == [points[id_] for id_ in still_open]
    settled = [each.get("id") for each in handoff_json(log)["settled"]]
    assert [each for each in settled if each] == ["obj-3"]
    minutes = minutes_markdown(log).split("## Objections")[1]
    assert minutes.count("Still open.") == len(still_open)


def test_they_are_the_same_while_it_runs() -> None:
    log = objected()
    third = next(
        place
        for place, event in enumerate(log)
        if event.type == events.RoundStarted.type and event.data["round"] == 3
    )
    listed = objections_record(history(log[:third]))
    assert [each["id"] for each in listed if each["state"] == "open"] == ["obj-2", "obj-3"]
    minutes = minutes_markdown(log[:third]).split("## Objections")[1]
    assert minutes.count("Still open.") == 2


# --- what is missing ----------------------------------------------------------------------------

SILENT = {"operator": ReplyStatus.TIMEOUT}


def _abstaining() -> list[Event]:
    return put(
        voting(protocol="unanimous"), casts(*[[vote("A"), ReplyStatus.ERROR, vote("ABSTAIN")]] * 2)
    )


MISSING: Mapping[str, Records] = {
    "roundtable": lambda: held(
        meeting(limits=Limits(rounds=2)),
        answers([SPLIT | SILENT] * 2, ReplyStatus.ERROR, ReplyStatus.ERROR),
    ),
    "debate": lambda: debated("A8 B7 -", "A8 B9 -"),
    "poll": lambda: put(
        polling("binary", 3),
        lambda ask: ReplyStatus.TIMEOUT if ask.who == "r1" else '{"answer": "YES", "reasons": []}',
    ),
    "vote": lambda: put(voting(), casts(*[[vote("A"), vote("B"), ReplyStatus.TIMEOUT]] * 2)),
    "vote, abstaining": _abstaining,
    "vote, talking": voted,
    "review": lambda: put(
        review(rounds=2),
        rounds({"ann": written("A draft."), "ben": ReplyStatus.TIMEOUT, "cy": judged()}),
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing_is_told_alike_before_and_after_the_end(name: str) -> None:
    log = MISSING[name]()
    last = next(place for place, e in enumerate(log) if e.type == events.DecisionRecorded.type)
    assert _gaps(log[:last]) == _gaps(log)


def _gaps(log: Sequence[Event]) -> list[Mapping[str, Any]]:
    told = minutes_json(log)["degradation"]
    kinds = ("no_reply", "summary_by_code")
    return [each for each in told if each["kind"] in kinds]
