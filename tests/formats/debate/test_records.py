"""What a reader gets to see of a debate, in both languages (PROTOCOLS 15)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Language, Limits
from app.domain.replies.reading import ReplyStatus
from app.domain.steps import Ask, Note
from app.formats.debate.story import FORMAT
from app.records.decision import decision_json, decision_markdown
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.formats.debate.test_story import answered
from tests.records.held import Log, meeting

LANGUAGES: tuple[Language, ...] = ("en", "ja")
NAMES = ("architect", "operator", "sceptic")


def held(*rounds: str, language: Language = "en", said: str = "", **fields: Any) -> list[Event]:
    """A debate to its recorded decision; from round 2 on a word a seat, as in ``A8 B7 -``."""
    word = "Participant" if language == "en" else "参加者"
    meeting_ = meeting(
        format="debate", language=language, limits=Limits(rounds=len(rounds) + 1), **fields
    )

    def answer(ask: Ask) -> str | ReplyStatus:
        if ask.office == "secretary":
            return ReplyStatus.ERROR if said == "silent" else SYNTHESIS
        if ask.round == 1:
            return f"POSITION: yes\nPROPOSAL: {said} proposal of {ask.who}\nCONCERNS: cost {said}"
        stands = rounds[ask.round - 2].split()[NAMES.index(ask.who)]
        if stands == "-":
            return ReplyStatus.TIMEOUT
        return answered(ask.who, ask.round, f"{word} {stands[0]}", int(stands[1:]))

    return _recorded(Log(meeting_, answer), lambda log: FORMAT.hold(log.meeting))


SYNTHESIS = (
    '{"decision": "", "agreed": ["One train"], "differ": ["Who owns it"], '
    '"concerns": ["Checkout time"], "recommendation": "Ask the owners."}'
)


def _recorded(log: Log, conversation_of: Callable[[Log], Any]) -> list[Event]:
    log.open()
    conversation = conversation_of(log)
    try:
        step = next(conversation)
        while True:
            if isinstance(step, Note):
                log.tell(step.content)
                step = conversation.send(None)
            else:
                step = conversation.send(tuple(log.reply_to(ask) for ask in step.asks))
    except StopIteration as end:
        log.record(end.value)
    return log.events


def test_a_converged_debate_shows_who_backed_what_and_what_turned_it() -> None:
    minutes = minutes_markdown(held("A8 B7 A8", "A8 A9 A10"))
    assert "All 3 participants back Participant A, each with a confidence of 8 or more." in minutes
    assert (
        "| Participant B, operator | Participant B | Participant B (7) | Participant A (9) |"
        in (minutes)
    )
    assert (
        "- Round 2: sceptic went over to Participant A. After it the backing stood at "
        "Participant A 2, Participant B 1."
    ) in minutes
    assert "| operator | Participant B | 7 | read as it stands |" in minutes
    assert "### operator: backs Participant A" in minutes
    assert "Progress: operator backs another proposal" in minutes
    assert "The text is the proposal that was backed." in minutes
    for heading in ("Agreements", "Main differences", "Open risks", "Recommended action"):
        assert f"**{heading}**" in minutes


def test_a_deadlock_is_the_finding() -> None:
    log = held("A8 B9 A9")
    minutes = minutes_markdown(log)
    assert "**The finding is a deadlock: no answer dominates.**" in minutes
    assert "More than half back Participant A (2 of 3). That is no decision" in minutes
    assert (
        "**operator, round 2: backs Participant B**\n\n> operator differs on the price" in minutes
    )
    page = decision_markdown(log)
    assert "## Candidates for whoever decides" in page
    assert "- Participant B, operator: operator's proposal of round 2" in page
    assert decision_json(log)["candidates"][2] == {
        "id": "Participant C",
        "text": "sceptic's proposal of round 2",
    }
    split = minutes_markdown(held("A8 B9 C9"))
    assert "no answer dominates" in split
    assert "More than half" not in split


def test_without_a_synthesis_the_named_concerns_stay_open() -> None:
    log = held("A8 B9 C9", said="silent")
    assert "Concern: cost silent" in decision_json(log)["open_points"]
    assert "The secretary gave no synthesis." in minutes_markdown(log)


def test_an_option_named_by_all() -> None:
    log = held(options=("yes", "no"))
    assert decision_json(log)["decision"] == "yes"
    assert "All 3 participants named the same option in round 1" in minutes_markdown(log)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rounds", [("A8 B7 -", "A8 A9 A10"), ("A8 B7 -", "A8 B9 C10")])
def test_records_can_be_made_at_every_moment(language: Language, rounds: tuple[str, ...]) -> None:
    log = held(*rounds, language=language)
    for length in range(1, len(log) + 1):
        minutes = minutes_markdown(log[:length])
        ours = [line for line in minutes.split("\n") if not line.startswith((">", "- ", "|", "#"))]
        unworded = [line for line in ours if re.search(r"\b[a-z]+_[a-z_]+\b", line)]
        assert [line for line in unworded if ": " not in line] == []
        assert minutes_html(log[:length])
        assert minutes_json(log[:length])
    assert "turning_points" in minutes_json(log)["outcome"]["debate"]


def test_japanese_records_are_japanese() -> None:
    log = held("A8 B7 A8", "A8 B9 A10", language="ja", topic="一つにするか")
    for record in (minutes_markdown(log), decision_markdown(log)):
        ours = [line for line in record.split("\n") if not line.startswith((">", "|", "-"))]
        assert [line for line in ours if re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", line)] == []
        assert "ほかに勝る答えはなかった" in record


def test_hostile_proposals_forge_nothing() -> None:
    hostile = "# Outcome | x | <script>alert(1)</script> [a](javascript:b)"
    log = held("A8 B9 C9", said=hostile)
    for record in (minutes_markdown(log), decision_markdown(log)):
        assert not re.search(r"^# Outcome", record, re.MULTILINE)
    page = minutes_html(log)
    assert "<script" not in page
    assert "href" not in page
