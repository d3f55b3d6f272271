"""What nobody confirmed is said in one line where there is any, and kept in every JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import structs

from app.domain.meeting import events
from app.domain.meeting.entries import Event
from app.domain.meeting.history import history
from app.domain.meeting.meeting import Language
from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_json, minutes_markdown
from tests.golden import recording
from tests.records.held import answers, ended, held, meeting, stances

NONE = {"requests": 0, "usd": "0", "tokens": 0}
SOME = {"requests": 2, "usd": "0.0054", "tokens": 5_400}
SAID: Mapping[Language, str] = {"en": "(unconfirmed): 2, with 5400", "ja": "2件、トークン5400"}


def decided(unconfirmed: Mapping[str, Any], language: Language = "en") -> list[Event]:
    log = ended(held(meeting(language=language), answers([stances("AGREE", "AGREE", "AGREE")])))
    return [
        structs.replace(
            event,
            content=structs.replace(
                event.content, spent={**event.content.spent, "unconfirmed": unconfirmed}
            ),
        )
        if isinstance(event.content, events.DecisionRecorded)
        else event
        for event in log
    ]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_one_line_tells_of_it_in_minutes_and_decision(language: Language) -> None:
    log = decided(SOME, language)
    for page in (minutes_markdown(log), decision_markdown(log)):
        assert [SAID[language] in line for line in page.splitlines()].count(True) == 1
    for record in (minutes_json(log), decision_json(log)):
        assert record["spent"]["unconfirmed"] == SOME


@pytest.mark.parametrize("language", ["en", "ja"])
def test_where_all_is_confirmed_no_line_tells_of_it(language: Language) -> None:
    log = decided(NONE, language)
    words = {"en": "unconfirmed)", "ja": "未確認。"}[language]
    for page in (minutes_markdown(log), decision_markdown(log)):
        assert words not in page
    for record in (minutes_json(log), decision_json(log)):
        assert record["spent"]["unconfirmed"] == NONE


@pytest.mark.parametrize(("language", "unknown"), [("en", "unknown"), ("ja", "不明")])
def test_an_unknown_price_is_called_so(language: Language, unknown: str) -> None:
    page = minutes_markdown(decided({**SOME, "usd": None}, language))
    (line,) = [line for line in page.splitlines() if SAID[language] in line]
    assert unknown in line


@pytest.mark.parametrize("name", recording.names())
def test_logs_of_before_say_that_there_was_none(name: str) -> None:
    log = [
        Event(each.content, each.at, each.step, each.fingerprint, "mtg_1", seq, seq)
        for seq, each in enumerate(recording.read(name), 1)
    ]
    assert history(log).spent["unconfirmed"] == NONE
    assert decision_json(log)["spent"]["unconfirmed"] == NONE
