"""The rounds in the minutes: what was asked, what was said, and what was read from it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.formats.roundtable.stance import Stance
from app.records.ballots import ballot_cell, is_vote, vote_tables
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.councils import council_tables, is_council, letters_table
from app.records.figures import figures
from app.records.polls import is_poll, poll_tables
from app.records.resumptions import resumption
from app.records.reviews import draft_of, round_summary
from app.records.stalls import stalls_in

_TALK = "deliberation"
"""Marks a reply that talks between two ballots and is none itself."""


def transcript(words: Words, past: History) -> Iterator[str]:
    if not past.rounds:
        yield words("round.none")
    resumed = deque(past.earlier_legs)
    for round_ in past.rounds:
        while resumed and resumed[0].after_round < round_.number:
            yield from resumption(words, resumed.popleft())
        yield from _round(words, past, round_)
    for each in resumed:
        yield from resumption(words, each)


def _round(words: Words, past: History, round_: RoundHeld) -> Iterator[str]:
    yield f"## {words('heading.round', round=round_.number)}"
    if round_.motion:
        yield words("round.motion")
        yield quoted(round_.motion)
    if round_.closed is None and not past.ended:
        yield words("round.open")
    if not round_.replies:
        yield words("round.no_replies")
    else:
        yield _table(words, [r for r in round_.final_replies if not r.read.get(_TALK)])
    if round_.letters:
        yield from letters_table(words, round_.letters)
    yield from _count(words, past, round_)
    yield from round_summary(words, past, round_)
    for tally in round_.tallies:
        yield from tally_tables(words, tally, len(past.meeting.seats))
    for reply in round_.replies:
        yield from _reply(words, reply)
    yield from _after(words, past, round_)


def tally_tables(words: Words, tally: Mapping[str, Json], seats: int) -> Iterator[str]:
    """The count of a round, in the tables of its format."""
    if is_vote(tally):
        yield from vote_tables(words, tally)
    elif is_poll(tally):
        yield from poll_tables(words, tally, seats)
    elif is_council(tally):
        yield from council_tables(words, tally)
    else:
        yield from figures(words, tally, passed_over=("round",))


# --- what was read ------------------------------------------------------------------------------


def _table(words: Words, replies: Sequence[ReplyGiven]) -> str:
    """One row a participant, with everything that the count rests on."""
    keys = [key for key in ("stance", "ballot", "backs", "confidence") if _any_has(replies, key)]
    headings = ["participant", *keys, "reading"]
    rows = [
        [
            inline(reply.participant),
            *(ballot_cell(words, reply.read.get(key)) for key in keys),
            _reading(words, reply),
        ]
        for reply in replies
    ]
    return table([words(f"label.{heading}") for heading in headings], rows)


def _any_has(replies: Sequence[ReplyGiven], key: str) -> bool:
    return any(reply.read.get(key) is not None for reply in replies)


def _reading(words: Words, reply: ReplyGiven) -> str:
    said = _how_read(words, reply)
    return words("reading.again", reading=said) if reply.attempt > 1 else said


def _how_read(words: Words, reply: ReplyGiven) -> str:
    if not reply.usable:
        status = status_text(words, reply.status)
        stance = reply.read.get("stance")
        return words("reading.no_reply", status=status, stance=stance) if stance else status
    markers = reply.read.get("markers")
    if markers is None:
        return words("reading.ballot")
    if not markers:
        return words("reading.no_marker")
    if reply.read.get("differing"):
        return words("reading.differing", markers=markers)
    return words("reading.marker") if markers == 1 else words("reading.markers", markers=markers)


def status_text(words: Words, status: str) -> str:
    return words.either(f"status.{status}", inline(status))


def counts_text(words: Words, counts: Mapping[str, int]) -> str:
    return words.joined(
        words("round.count", stance=inline(stance), part=part) for stance, part in counts.items()
    )


def _count(words: Words, past: History, round_: RoundHeld) -> Iterator[str]:
    if past.meeting.format == "poll":
        return  # Its tables say more, and there is nothing that its one round could move.
    seats = len(past.meeting.seats)
    closed = round_.closed or {}
    counts = closed.get("counts")
    if counts is None and round_.stances:
        # Not closed, so nobody has counted yet: what is there is counted by the same rule.
        found = Counter(round_.stances.values())
        counts = {stance.value: found[stance.value] for stance in Stance}
    if counts:
        group = "debate" if past.meeting.format == "debate" else "round"
        yield words(f"{group}.counts", counts=counts_text(words, counts), seats=seats)
    if closed.get("consensus"):
        usable = closed["effective_participants"]
        consensus = closed["consensus"]
        yield words("round.effective", usable=usable, seats=seats, consensus=consensus)
    progress = closed.get("progress")
    if progress is not None:
        yield _progress(words, progress["reasons"])


def _progress(words: Words, reasons: Sequence[str]) -> str:
    if not reasons:
        return words("round.no_progress")
    return words("round.progress", reasons=words.joined(_moved(words, r) for r in reasons))


def _moved(words: Words, reason: str) -> str:
    key, _, name = reason.partition(":")
    if not words.has(f"progress.{key}"):
        return inline(reason)
    return words(f"progress.{key}", name=inline(name))


# --- what was said ------------------------------------------------------------------------------


def _reply(words: Words, reply: ReplyGiven) -> Iterator[str]:
    yield f"### {_reply_heading(words, reply)}"
    yield from _about(words, reply)
    told = reply.usable and reply.read.get("ballot") is not None
    for key in ("rationale", "mitigation", "changed_because"):
        if told and reply.read.get(key):
            yield from _said(words, key, reply.read[key])
    drafted = reply.usable and reply.read.get("draft") is not None
    if drafted:
        yield from draft_of(words, reply)
    if reply.text and (told or drafted):
        yield f"**{words('label.as_it_came')}**"
    if reply.text:
        yield quoted(reply.text)


def _said(words: Words, key: str, text: str) -> Iterator[str]:
    yield f"**{words(f'label.{key}')}**"
    yield quoted(text)


def _reply_heading(words: Words, reply: ReplyGiven) -> str:
    name = inline(reply.participant)
    if not reply.final:
        return words("round.reply_first", name=name)
    if reply.read.get(_TALK):
        return words("round.reply_talk", name=name)
    backed: str | None = reply.read.get("backs")
    if backed is not None:
        return words("debate.reply", name=name, label=inline(backed))
    position = reply.read.get("stance") or reply.read.get("ballot")
    if isinstance(position, Mapping):
        chosen = cast("Mapping[str, Json]", position)
        position = chosen.get("vote") or chosen.get("answer")
    if position is None or not isinstance(position, str):
        return words("round.reply_plain", name=name)
    return words("round.reply", name=name, stance=inline(position))


def _about(words: Words, reply: ReplyGiven) -> Iterator[str]:
    """What a reader must know of a reply that is not simply there."""
    reason = inline(reply.reason or "")
    if not reply.final:
        yield words("round.asked_again_because", reason=reason)
    elif not reply.usable and reply.text:
        status = status_text(words, reply.status)
        yield words("round.unusable_because", status=status, reason=reason)
    elif not reply.usable:
        status = status_text(words, reply.status)
        key = "round.no_reply_because" if reason else "round.no_reply"
        yield words(key, status=status, reason=reason)
    elif reply.attempt > 1:
        yield words("round.second_asking")
    if reply.finish == "length":
        yield words("round.cut_off")


# --- what came of it ----------------------------------------------------------------------------


def _after(words: Words, past: History, round_: RoundHeld) -> Iterator[str]:
    yield from stalls_in(words, past, round_)
    if round_.summary is not None:
        yield from _summary(words, round_, round_.summary)


def _summary(words: Words, round_: RoundHeld, summary: Mapping[str, Json]) -> Iterator[str]:
    yield f"### {words('heading.summary', round=round_.number)}"
    if summary["source"] == "secretary":
        yield words("round.summary_by")
    else:
        reason = inline(summary.get("reason") or words("measure.unknown"))
        yield words("round.summary_by_code", reason=reason)
    yield quoted(summary["summary"])
    if summary.get("motion") and summary["motion"] != round_.motion:
        yield words("round.next_motion")
        yield quoted(summary["motion"])
    elif round_.motion:
        yield words("round.same_motion")
