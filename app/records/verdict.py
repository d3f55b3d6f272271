"""How a meeting came out, who decided it and for what; never more than was decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.domain.meeting.history import History, numbers_of
from app.domain.meeting.outcome import StopReason
from app.domain.values import Json
from app.formats.shared.drafts_shown import draft_of, synthesis_page
from app.records.asked import record_of
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.layout import lay_out


def headline(words: Words, past: History) -> str:
    """The result in a line, with the decision itself if there is one."""
    if past.decision is None:
        return f"**{words('result.running')}**"
    decided: Mapping[str, Json] = past.decision
    line = f"**{words('result.' + decided['result'])}** {stopped(words, decided)}"
    if decided["decision"] is None:
        return line
    line = f"{line}\n\n{quoted(decided['decision'])}"
    conditions = (decided.get("ruling") or {}).get("conditions")
    if not conditions:
        return line
    # A decision that somebody made subject to conditions is never shown without them.
    return f"{line}\n\n{words('ruling.conditions')}\n\n{quoted(conditions)}"


def stopped(words: Words, decided: Mapping[str, Json]) -> str:
    """What ended the meeting, in the format's own words where it has some for it."""
    reason: str = decided["stopped_by"]
    shared = words.either(f"stopped.{reason}", inline(reason))
    own = f"{words.format}.stopped_{reason}{_all_the_same(decided)}"
    return words.either(own, shared)


def _all_the_same(decided: Mapping[str, Json]) -> str:
    """What is still missing of an end that reads like success: a decision, or its save."""
    if decided["stopped_by"] == StopReason.COMPLETED.value and decided["decision"] is None:
        return "_undecided"
    saved: Mapping[str, Json] = numbers_of(decided)[1].get("operation") or {}
    return "_unsaved" if saved.get("state", "confirmed") != "confirmed" else ""


def who_decided(words: Words, decided: Mapping[str, Json]) -> Iterator[str]:
    by = decided["decided_by"]
    if by is None:
        yield words("decided_by.nobody")
        return
    name = inline(by["name"])
    if by["kind"] != "ruling":  # An arbiter may be named like anything.
        name = words.either(
            f"{words.format}.method_{by['name']}", consensus_text(words, by["name"])
        )
    yield _decided_by(words, by["kind"], name)
    source: str | None = decided["decision_source"]
    if source:
        shared = words.either(f"source.{source}", inline(source))
        yield words.either(f"{words.format}.source_{source}", shared)
    if by["scope"]:
        yield words("decided_by.scope")
        yield quoted(by["scope"])


def _decided_by(words: Words, kind: str, name: str) -> str:
    of_format, shared = f"{words.format}.decided_by_{kind}", f"decided_by.{kind}"
    key = next((each for each in (of_format, shared) if words.has(each)), None)
    return name if key is None else words(key, name=name)


def consensus_text(words: Words, code: str) -> str:
    """The consensus in words with its key, which stays the same in every language."""
    key = f"consensus.{code}"
    if not words.has(key):
        return inline(code)
    return words("consensus.with_code", text=words(key), code=inline(code))


def outcome(words: Words, past: History) -> Iterator[str]:
    yield f"## {words('heading.outcome')}"
    yield headline(words, past)
    decided = past.decision
    if decided is None:
        return
    if decided["consensus"]:
        consensus = consensus_text(words, decided["consensus"])
        yield words("outcome.consensus", consensus=consensus)
    yield from counted(words, past)
    if past.numbers:
        yield from lay_out(words, record_of(past).details(past))
    yield from who_decided(words, decided)
    if past.cancellation is not None:
        yield from cancelled(words, past.cancellation)
    yield from _late(words, past)
    yield from synthesis(words, past)


def cancelled(words: Words, cancellation: Mapping[str, Json]) -> Iterator[str]:
    if cancellation.get("reason"):
        yield words("outcome.cancel_reason")
        yield quoted(cancellation["reason"])
    if cancellation["items"]:
        keys = ("kind", "ref", "state")
        yield words("outcome.in_flight")
        yield table(
            [words(f"label.{key}") for key in keys],
            [[inline(item[key]) for key in keys] for item in cancellation["items"]],
        )


def _late(words: Words, past: History) -> Iterator[str]:
    if past.late:
        yield words("outcome.late")
    for reply in past.late:
        yield f"**{inline(reply.participant)}**"
        yield quoted(reply.text or reply.reason or "")


def counted(words: Words, past: History) -> Iterator[str]:
    """The numbers behind the result; a meeting that ended by a fault of ours has none."""
    if past.numbers:
        yield from lay_out(words, record_of(past).numbers(past))


def synthesis(words: Words, past: History) -> Iterator[str]:
    """The closing draft; a missing one is told where there should have been one."""
    if draft_of(past) or record_of(past).drafted:
        yield from lay_out(words, synthesis_page(past))
