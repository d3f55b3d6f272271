"""The rounds in the minutes: what was asked, what was said, and what was read from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.values import Json
from app.formats.shared.page import Cell, Theirs, either
from app.formats.shared.record import Record
from app.records.asked import record_of
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.layout import lay_out, line
from app.records.resumptions import resumption
from app.records.stalls import stalls_in


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
    record = record_of(past)
    if not round_.replies:
        yield words("round.no_replies")
    else:
        yield _table(words, record, [r for r in round_.final_replies if record.in_table(r)])
    yield from lay_out(words, record.counted_in_round(past, round_))
    for reply in round_.replies:
        yield from _reply(words, record, reply)
    yield from _after(words, past, round_)


# --- what was read ------------------------------------------------------------------------------


def _table(words: Words, record: Record, replies: Sequence[ReplyGiven]) -> str:
    """One row a participant, with everything that the count rests on."""
    read = [record.columns(reply) for reply in replies]
    # Not every reply holds every value; the fullest one has them in the order that is meant.
    codes = dict.fromkeys(code for each in sorted(read, key=len, reverse=True) for code in each)
    missing = words("measure.missing")
    rows = [
        [
            inline(reply.participant),
            *(line(words, cells[code]) if code in cells else missing for code in codes),
            _reading(words, record, reply),
        ]
        for reply, cells in zip(replies, read, strict=True)
    ]
    headings = [line(words, _heading(code)) for code in codes]
    return table([words("label.participant"), *headings, words("label.reading")], rows)


def _heading(code: str) -> Cell:
    """Its words; of a value that has none, its own name."""
    return either(code, Theirs(code.rpartition(".")[2]))


def _reading(words: Words, record: Record, reply: ReplyGiven) -> str:
    said = _how_read(words, record, reply)
    return words("reading.again", reading=said) if reply.attempt > 1 else said


def _how_read(words: Words, record: Record, reply: ReplyGiven) -> str:
    if reply.usable:
        return line(words, record.how_read(reply))
    status, counts_as = status_text(words, reply.status), record.counts_as(reply)
    if counts_as is None:
        return status
    return words("reading.no_reply", status=status, stance=counts_as)


def status_text(words: Words, status: str) -> str:
    return words.either(f"status.{status}", inline(status))


# --- what was said ------------------------------------------------------------------------------


def _reply(words: Words, record: Record, reply: ReplyGiven) -> Iterator[str]:
    yield f"### {_reply_heading(words, record, reply)}"
    yield from _about(words, reply)
    if reply.usable:
        yield from lay_out(words, record.reply_parts(reply))
    if reply.text and record.taken_apart(reply):
        yield f"**{words('label.as_it_came')}**"
    if reply.text:
        yield quoted(reply.text)


def _reply_heading(words: Words, record: Record, reply: ReplyGiven) -> str:
    if not reply.final:
        return words("round.reply_first", name=inline(reply.participant))
    return line(words, record.reply_heading(reply))


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
