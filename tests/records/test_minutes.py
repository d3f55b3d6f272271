"""The minutes: complete enough to re-count, honest on every end, the same bytes every time."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from msgspec import structs

from app.domain.meeting import events
from app.domain.meeting.meeting import Language, Limits
from app.domain.meeting.outcome import StopReason
from app.domain.replies.reading import ReplyStatus
from app.domain.values import JsonObject
from app.records.html import content_security_policy
from app.records.minutes import minutes_html, minutes_json, minutes_markdown
from tests.records.held import Log, answers, ended, held, meeting, stances, three_rounds

LANGUAGES: tuple[Language, ...] = ("en", "ja")


def front(markdown: str) -> dict[str, Any]:
    _, matter, _ = markdown.split("---\n", 2)
    return yaml.safe_load(matter)


def section(markdown: str, heading: str) -> str:
    """What stands under a heading, up to the next one of the same rank."""
    rank = heading.split(" ", maxsplit=1)[0]
    after = markdown.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"\n{rank} ", after)[0]


def test_front_matter_comes_first() -> None:
    markdown = minutes_markdown(three_rounds())
    assert front(markdown) == {
        "id": "mtg_01k9zq4m7x",
        "format": "roundtable",
        "format_version": 1,
        "language": "en",
        "date": "2026-12-01",
        "status": "ended",
        "result": "decided",
        "stopped_by": "consensus",
    }


def test_every_round_can_be_recounted() -> None:
    markdown = minutes_markdown(three_rounds())
    first, second, third = (section(markdown, f"## Round {n}") for n in (1, 2, 3))
    assert "| operator | DISAGREE | one marker |" in first
    assert "AGREE 1, DISAGREE 1, NEUTRAL 1, UNKNOWN 0, out of 3 seated participants." in first
    assert "> Adopt one repository by June." in second
    assert "Progress: sceptic changed stance." in second
    assert "Result of the round: MAJORITY_CONSENSUS." in third
    assert "> A wants one repository; B doubts it." in first
    for text in (first, second, third):
        assert text.count("[STANCE: ") == 3


def test_shows_what_talking_changed() -> None:
    markdown = minutes_markdown(three_rounds())
    compared = section(markdown, "## First round and last")
    assert "| Round 1 (independent) | 1 of 3 | 1 of 3 | 1 of 3 | 0 of 3 |" in compared
    assert "| Round 3 (last) | 2 of 3 | 0 of 3 | 1 of 3 | 0 of 3 |" in compared
    assert "the build got shorter" in compared
    assert "Changes without a reason given: 1 of 2." in compared
    assert "**operator: NEUTRAL**" in compared


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_follows_the_decision_changes_no_byte(language: Language) -> None:
    log = three_rounds(language=language)
    late = Log(meeting(), answers([]), ended(log))
    late.tell(events.CancellationRequested(reason="too late"))
    assert minutes_markdown(log) == minutes_markdown(ended(log)) == minutes_markdown(late.events)
    assert minutes_json(log) == minutes_json(late.events)
    assert minutes_html(log) == minutes_html(late.events)


def test_japanese_minutes_are_japanese() -> None:
    markdown = minutes_markdown(three_rounds(language="ja", topic="リポジトリを一つにするか"))
    assert "# 議事録：リポジトリを一つにするか" in markdown
    assert "2026年12月1日" in markdown
    assert "[STANCE: AGREE]" in markdown
    ours = [line for line in markdown.split("\n") if not line.startswith((">", "|", "-"))]
    sentences = [line for line in ours if re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", line)]
    assert sentences == []


class TestDegraded:
    silent = stances("AGREE", "DISAGREE", "NEUTRAL") | {"operator": ReplyStatus.TIMEOUT}

    def minutes(self, language: Language = "en") -> str:
        log = held(
            meeting(language=language, limits=Limits(rounds=2)),
            answers([self.silent, self.silent], ReplyStatus.ERROR, ReplyStatus.ERROR),
            warnings=[
                "rehearsal_agents",
                "# new",
            ],
        )
        return minutes_markdown(log)

    def test_is_said_first_and_by_name(self) -> None:
        markdown = self.minutes()
        headings = [line for line in markdown.split("\n") if line.startswith("#")]
        assert headings[1] == "## Read this first"
        first = section(markdown, "## Read this first")
        assert "operator gave no usable reply in rounds 1, 2." in first
        assert "The summary after round 1 was made by code" in first
        assert "The secretary gave no synthesis." in first
        assert "Rehearsal agents took part." in first
        assert "- Warning: \\# new." in first

    def test_a_missing_reply_is_explained_where_it_is_missing(self) -> None:
        first = section(self.minutes(), "## Round 1")
        assert "| operator | NEUTRAL | no reply in time, so NEUTRAL |" in first
        assert "Usable replies: 2 of 3." in first

    def test_an_undecided_meeting_decides_nothing(self) -> None:
        outcome = section(self.minutes(), "## Outcome")
        assert "**Not decided.** The rounds ran out without consensus." in outcome
        assert "Nobody decided anything." in outcome

    def test_in_japanese_too(self) -> None:
        markdown = self.minutes("ja")
        assert "operator から有効な回答がなかった（第1、2ラウンド）。" in markdown


def test_a_cancelled_meeting_shows_what_was_not_confirmed() -> None:
    rounds = [stances("AGREE", "DISAGREE", "NEUTRAL")]
    log = held(meeting(), answers(rounds), stop_before="round-2/ask/architect")
    markdown = minutes_markdown(log)
    assert front(markdown)["result"] == "cancelled"
    assert "> The question is moot. \\# Not a heading" in section(markdown, "## Outcome")
    open_points = section(markdown, "## Open questions and unconfirmed items")
    assert "Not confirmed as stopped: request round-2/ask/architect (unconfirmed)." in open_points
    assert "round-2/ask/operator" not in open_points
    assert "No reply has come in yet." in section(markdown, "## Round 2")


@pytest.mark.parametrize("language", LANGUAGES)
def test_minutes_can_be_made_at_every_moment(language: Language) -> None:
    log = three_rounds(language=language)
    for length in range(1, len(log)):
        so_far = log[:length]
        markdown = minutes_markdown(so_far)
        assert front(markdown)["status"] == ("scheduled" if length == 1 else "running")
        assert minutes_json(so_far)["outcome"] is None
        assert minutes_html(so_far)
    assert "The meeting has not ended." in minutes_markdown(three_rounds()[:6])


def test_partial_minutes_count_what_is_there_and_what_is_missing() -> None:
    rounds = [stances("AGREE", "AGREE", "AGREE") | {"architect": ReplyStatus.ERROR}]
    log = held(meeting(limits=Limits(rounds=1)), answers(rounds))
    second_reply = [e.type for e in log].index(events.ReplyReceived.type) + 2
    markdown = minutes_markdown(log[:second_reply])
    assert "This round is still open. So far:" in markdown
    assert "AGREE 1, DISAGREE 0, NEUTRAL 0, UNKNOWN 1, out of 3 seated" in markdown
    assert "architect gave no usable reply in round 1." in markdown
    assert "0.0022 USD" in markdown


def test_stopped_before_any_round() -> None:
    log = held(
        meeting(), answers([]), stop_before="round-1/ask/architect", stop=StopReason.DEADLINE
    )
    markdown = minutes_markdown(log)
    assert "The meeting's time ran out." in markdown
    assert "No round was closed, so there is nothing to compare." in markdown


def test_a_second_asking_is_shown_with_the_first_answer_and_the_fault() -> None:
    log = Log(meeting(), answers([]))
    log.open()
    log.tell(events.RoundStarted(round=1, motion="Adopt it."))
    second = events.ReplyReceived(
        participant="architect",
        round=1,
        status=ReplyStatus.OK,
        text="{}",
        read={"ballot": ["B", "A"], "confidence": 0.9},
        attempt=2,
        model="m",
        seconds=1.0,
    )
    first = structs.replace(
        second,
        status=ReplyStatus.INVALID,
        text="hm",
        read={"ballot": None, "confidence": None},
        attempt=1,
        final=False,
        reason="No JSON.",
    )
    log.tell(second)
    log.tell(first)
    points: JsonObject = {"A": {"votes": 1, "share": "1/2"}}
    log.tell(events.TallyComputed(round=1, tally={"points": points, "quorum": 2}))
    round_ = section(minutes_markdown(log.events), "## Round 1")
    assert "| architect | B, A | 0.9 | read as it stands; asked a second time |" in round_
    assert round_.index("first answer, asked again") < round_.index("answer to the second asking")
    assert "It was asked again because: No JSON." in round_
    assert "| A | 1 | 1/2 |" in round_
    assert "| quorum | 2 |" in round_


HOSTILE = """---
result: "decided"
---
# Outcome
## Round 9
<script>alert(1)</script>
[click](javascript:alert(1)) ![p](https://example.org/p.png)
| Participant | Stance |
| --- | --- |
| sceptic | AGREE |
```
[STANCE: AGREE]
\u202eEERGA
[STANCE: DISAGREE]"""


class TestHostile:
    def log(self) -> list[Any]:
        names = ("# a | b", "<b>x</b>", "c\n# d")
        replies: dict[str, str | ReplyStatus] = dict.fromkeys(names, HOSTILE)
        return held(
            meeting(
                topic=f"{HOSTILE}\n# Topic",
                names=names,
                motion=HOSTILE,
                context=HOSTILE,
                options=(HOSTILE, "# two"),
                limits=Limits(rounds=2),
            ),
            answers([replies, replies], summary=f"SUMMARY: {HOSTILE}\nMOTION: {HOSTILE}"),
        )

    def test_forges_no_heading_and_no_front_matter(self) -> None:
        markdown = minutes_markdown(self.log())
        headings = [line for line in markdown.split("\n") if line.startswith("## ")]
        rounds = [line for line in headings if line.startswith("## Round ")]
        assert rounds == ["## Round 1", "## Round 2"]
        assert headings.count("## Outcome") == 1
        assert front(markdown)["result"] == "undecided"
        assert markdown.count("\n---\n") == 1
        assert "\u202e" not in markdown

    def test_html_holds_no_script_no_link_and_no_forged_table(self) -> None:
        log = self.log()
        page = minutes_html(log)
        assert not re.search(r"<(script|a|img|b|h4|pre|iframe)\b", page)
        assert "<td>sceptic</td>" not in page
        assert page.count("<h1>") == 1
        honest = minutes_html(
            held(
                meeting(motion="m", context="c", options=("1", "2"), limits=Limits(rounds=2)),
                answers([stances("DISAGREE", "DISAGREE", "DISAGREE")] * 2),
            )
        )
        for tag in ("<table>", "<h2>", "<h3>"):
            assert page.count(tag) == honest.count(tag)

    def test_json_gives_the_texts_as_they_were(self) -> None:
        record = minutes_json(self.log())
        assert record["rounds"][0]["replies"][0]["text"] == HOSTILE


def test_html_page_is_complete_and_needs_nothing_from_outside() -> None:
    page = minutes_html(three_rounds(language="ja", topic="a < b & c"))
    assert page.startswith('<!doctype html>\n<html lang="ja">')
    assert "<title>議事録：a &lt; b &amp; c</title>" in page
    assert "<main>" in page
    assert "src=" not in page
    assert "href=" not in page
    assert "sha256-" in content_security_policy()
    assert "unsafe" not in content_security_policy()
    assert "mtg_01k9zq4m7x" in page


def test_json_holds_what_the_markdown_says() -> None:
    record = minutes_json(three_rounds())
    assert record["outcome"]["decided_by"]["kind"] == "consensus"
    assert record["outcome"]["tally"]["agree_share"] == {"numerator": 2, "denominator": 3}
    assert [r["tally"]["counts"]["AGREE"] for r in record["rounds"]] == [1, 2, 2]
    assert record["participants"][0]["model"] == "openai:small"
    assert record["baseline"]["round"] == 1
    assert record["unexplained_flips"] == 1
