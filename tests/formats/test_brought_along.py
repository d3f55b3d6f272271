"""A format that somebody brings along has whole records, without a line of the app's changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from app.domain.meeting.entries import Event
from app.domain.meeting.events import MeetingCreated
from app.domain.meeting.meeting import Language
from app.domain.replies.reading import ReplyStatus
from app.formats import FORMATS
from app.records.catalogue import words_of
from app.records.decision import decision_json, decision_markdown
from app.records.handoff import handoff_json, handoff_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.formats.show_of_hands import SHOW_OF_HANDS, brought_along
from tests.records.held import meeting
from tests.records.ruled import put

MOTION = "We use one repository."
SPLIT = ("UP, for one release train.", "DOWN, for the build time.", ReplyStatus.TIMEOUT)
AGREED = ("UP at once.", "UP too.", ReplyStatus.TIMEOUT)


@pytest.fixture(autouse=True)
def brought() -> Iterator[None]:
    with brought_along(SHOW_OF_HANDS):
        yield


def held(hands: Sequence[str | ReplyStatus], language: Language = "en") -> list[Event]:
    made = meeting(format="show_of_hands", motion=MOTION, language=language)
    names = [seat.name for seat in made.seats]
    return put(made, lambda ask: hands[names.index(ask.who)])


def test_its_minutes_can_be_recounted() -> None:
    text = minutes_markdown(held(SPLIT))
    for line in (
        "| Participant | Ballot | seconds_raised | How it was read |",
        "| architect | UP | 26 | read as it stands |",
        "| sceptic | – | – | no reply in time |",
        "UP 1, DOWN 1, out of 3 seated participants.",
        "### operator: DOWN",
        "| participants | 3 |",
        "| counts | UP: 1; DOWN: 1 |",
        "| Round 1 (independent) | 1 of 3 | 1 of 3 | – |",
    ):
        assert line in text


def test_its_decision_says_who_decided_and_how_many() -> None:
    log = held(AGREED)
    assert decision_json(log)["hands"]["counts"] == {"UP": 2, "DOWN": 0}
    text = decision_markdown(log)
    assert f"# {MOTION}" in text
    assert "The vote decided (hands)." in text


def test_whoever_decides_instead_gets_the_candidates_and_both_sides() -> None:
    package = handoff_json(held(SPLIT))
    assert package["candidates"] == [{"id": "motion", "text": MOTION}]
    assert package["question"]["question"] == MOTION
    assert [(each["position"], each["participants"]) for each in package["sides"]] == [
        ("UP", ["architect"]),
        ("DOWN", ["operator"]),
    ]
    assert "- operator: DOWN, for the build time." in handoff_markdown(held(SPLIT))
    assert f"The motion is open: {MOTION}" in package["open_points"]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("hands", [SPLIT, AGREED])
def test_every_record_can_be_made_at_every_moment(
    hands: Sequence[str | ReplyStatus], language: Language
) -> None:
    log = held(hands, language)
    for length in range(1, len(log) + 1):
        assert minutes_html(log[:length])
        json.dumps(minutes_json(log[:length]))
    for text in (minutes_markdown(log), decision_markdown(log), handoff_markdown(log)):
        assert "None" not in text.replace("None were", "").replace("None.", "")
    json.dumps([decision_json(log), handoff_json(log)])


def test_a_version_that_is_not_at_hand_has_minutes_all_the_same() -> None:
    """Its meeting is parked: what is in the log is shown by what holds for any format."""
    log = held(SPLIT)
    content = log[0].content
    assert isinstance(content, MeetingCreated)
    of_version_9 = replace(content.meeting, format_version=9)
    created = structs.replace(log[0], content=structs.replace(content, meeting=of_version_9))
    assert "| architect | UP | 26 | read as it stands |" in minutes_markdown([created, *log[1:]])


def test_two_versions_of_a_format_may_say_different_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "hands_two"
    (package / "wording").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "wording" / "en.toml").write_text(
        '[show_of_hands]\nstopped_completed = "All hands are down."\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    second = replace(SHOW_OF_HANDS, version=2, package="hands_two")
    with brought_along(second):
        first = meeting(format="show_of_hands", format_version=1)
        both = [words_of(first), words_of(replace(first, format_version=2))]
        assert [words.has("show_of_hands.stopped_completed") for words in both] == [False, True]
        log = put(replace(first, format_version=2), lambda ask: "UP")
        assert "All hands are down." in decision_markdown(log)
    assert "show_of_hands" in FORMATS
