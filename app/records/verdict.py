"""How a meeting came out, who decided it and for what; never more than was decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.domain.meeting.history import History
from app.domain.values import Json
from app.records import debate
from app.records.ballots import is_vote, ladder_steps, vote_tables
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.councils import council_outcome
from app.records.degradation import bullets
from app.records.figures import figures
from app.records.polls import is_poll, poll_tables
from app.records.reviews import review_outcome

_POINTS = ("agreed", "differ", "concerns")


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
    key = f"stopped.{decided['stopped_by']}"
    if counts_ballots(decided) and words.has(f"{key}_by_count"):
        return words(f"{key}_by_count")
    name, numbers = numbers_of(decided)
    of_format = f"{key}_{name}"
    if decided["stopped_by"] == "completed" and decided["decision"] is None:
        of_format += "_undecided"
    elif (numbers.get("operation") or {"state": "confirmed"})["state"] != "confirmed":
        of_format += "_unsaved"
    if words.has(of_format):
        return words(of_format)
    return words.either(key, inline(decided["stopped_by"]))


def counts_ballots(decided: Mapping[str, Json]) -> bool:
    """Whether this is the decision of a vote or a poll: counted, and never drafted."""
    name, numbers = numbers_of(decided)
    return name == "poll" or is_vote(numbers)


def who_decided(words: Words, decided: Mapping[str, Json]) -> Iterator[str]:
    by = decided["decided_by"]
    if by is None:
        yield words("decided_by.nobody")
        return
    name = inline(by["name"])
    if by["kind"] != "ruling":  # An arbiter may be named like anything.
        name = words.either(f"method.{by['name']}", consensus_text(words, by["name"]))
    key = f"decided_by.{by['kind']}"
    yield words(key, name=name) if words.has(key) else name
    if decided["decision_source"]:
        grouped = by["kind"] == "poll" and decided["decision_source"] == "synthesis"
        source = "group" if grouped else decided["decision_source"]
        source = "chair" if by["kind"] == "chair" else source
        yield words.either(f"source.{source}", inline(source))
    if by["scope"]:
        yield words("decided_by.scope")
        yield quoted(by["scope"])


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
    yield from counted(words, past, decided)
    name, numbers = numbers_of(decided)
    if name == "debate":
        yield from debate.details(words, numbers)
    yield from who_decided(words, decided)
    if past.cancellation is not None:
        yield from cancelled(words, past.cancellation)
    yield from _late(words, past)
    yield from synthesis(words, decided)


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


def counted(words: Words, past: History, decided: Mapping[str, Json]) -> Iterator[str]:
    """The numbers behind the result, each share with its denominator."""
    name, numbers = numbers_of(decided)
    if is_vote(numbers):
        yield from vote_tables(words, numbers)
        yield from ladder_steps(words, numbers["resolution"])
        return
    if is_poll(numbers):
        yield from poll_tables(words, numbers, len(past.meeting.seats))
        return
    if numbers.get("counts", ...) is None:
        return  # no round was closed, so nothing was counted
    if name == "debate":
        yield from debate.counted(words, numbers)
        return
    if name == "council":
        yield from council_outcome(words, numbers, len(past.meeting.seats))
        return
    if name == "review":
        yield from review_outcome(words, past, numbers)
        return
    if name != "tally" or "agree_share" not in numbers:
        yield from figures(words, numbers)
        return
    share = numbers["agree_share"]
    yield words(
        "outcome.agree_share",
        part=share["numerator"],
        whole=share["denominator"],
        round=numbers["rounds"],
    )
    yield words(
        "outcome.effective",
        usable=decided["effective_participants"],
        seats=len(past.meeting.seats),
    )


def numbers_of(decided: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """The format's own object with the numbers, under its name."""
    name = decided["numbers_name"]
    return name, decided[name]


def synthesis(words: Words, decided: Mapping[str, Json]) -> Iterator[str]:
    """The closing draft, marked as one: it decides nothing on its own."""
    draft = decided["synthesis"]
    if draft is None and counts_ballots(decided):
        return
    yield f"### {words('heading.synthesis')}"
    if draft is None:
        yield words("outcome.no_synthesis")
        return
    name, _ = numbers_of(decided)
    yield words.either(f"outcome.synthesis_by_{name}", words("outcome.synthesis_by"))
    if decided["decision"] is None:
        yield words("outcome.not_a_decision")
    if draft.get("decision"):
        yield quoted(draft["decision"])
    for key in _POINTS:
        if draft.get(key):
            heading = words.either(f"{name}.{key}", words(f"label.{key}"))
            yield f"**{heading}**"
            yield bullets([inline(point) for point in draft[key]])
    if draft.get("recommendation"):
        yield f"**{words('label.recommendation')}**"
        yield quoted(draft["recommendation"])
