"""The handoff package (PROTOCOLS 11): what a person needs to decide the one question.

While a question is open it is for whoever may rule. After the end it says what was decided and
what is left open, or, where nothing was, hands the case to whoever is responsible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from app.domain.errors import MeetingNotEnded
from app.domain.meeting.entries import Event
from app.domain.meeting.history import History, history
from app.domain.values import Json, rfc3339
from app.records.asked import record_of
from app.records.at_stake import criteria, excerpt_record, excerpts, side_record, sides
from app.records.catalogue import Words, words_of
from app.records.containment import front_matter, inline, plain, quoted
from app.records.decided import warnings_of
from app.records.decision import candidate_records
from app.records.degradation import (
    Safe,
    bullets,
    degradation_sentence,
    degradations,
    warning_sentence,
)
from app.records.findings import open_points
from app.records.layout import lay_out
from app.records.minutes import short
from app.records.operations import external_wait, external_wait_sentence, saved_elsewhere
from app.records.rulings import Question, arbiter_text, arbitration, choices, present_question
from app.records.stalls import stall_record, stall_sentence
from app.records.verdict import headline, who_decided

_UNCONFIRMED = "unconfirmed"


def handoff_json(log: Iterable[Event]) -> dict[str, Json]:
    """The package as JSON; texts are as they were given.

    Raises ``MeetingNotEnded`` while the meeting runs and no question is open.
    """
    past, asked = _case(log)
    words, record = words_of(past.meeting), record_of(past)
    return {
        **_front(past),
        "topic": past.meeting.topic,
        "context": past.meeting.context,
        "decided": _decided(past),
        "question": _question(past, asked),
        "may_decide": _may_decide(past, asked),
        "stalled": stall_record(past),
        "external_wait": external_wait(past),
        "candidates": candidate_records(past),
        "sides": [side_record(side) for side in record.sides(past)],
        "excerpts": [excerpt_record(each) for each in record.excerpts(past)],
        "criteria": {key: list(found) for key, found in record.criteria(past).items()},
        "settled": list(record.settled(past)),
        "dissents": list((past.decision or {}).get("dissents") or ()),
        "synthesis": past.drafted,
        "open_points": _open_points(words, past, asked, plain),
        "unconfirmed": _unconfirmed(past),
        "operations": [dict(operation) for operation in past.operations],
        "degradation": [
            {**record, "text": degradation_sentence(words, record, plain)}
            for record in degradations(past)
        ],
        "warnings": warnings_of(past),
    }


def handoff_markdown(log: Iterable[Event]) -> str:
    """The package as Markdown with YAML front matter. Raises as ``handoff_json`` does."""
    past, asked = _case(log)
    parts = (front_matter(_front(past)), *_body(words_of(past.meeting), past, asked))
    return "\n\n".join(parts) + "\n"


def _case(log: Iterable[Event]) -> tuple[History, Question | None]:
    past = history(log)
    asked = present_question(past)
    if not past.ended and (asked is None or asked.state != "open"):
        raise MeetingNotEnded(
            f"Meeting {past.meeting.id} has not ended and no question of it waits for a ruling, "
            "so there is nothing to hand over yet."
        )
    return past, asked


# --- what both forms hold -----------------------------------------------------------------------


def _front(past: History) -> dict[str, Json]:
    decided: Mapping[str, Json] = past.decision or {}
    return {
        "meeting_id": past.meeting.id,
        "format": past.meeting.format,
        "language": past.meeting.language,
        "status": past.status,
        "result": decided.get("result"),
        "stopped_by": decided.get("stopped_by"),
        "completeness": decided.get("completeness"),
    }


def _decided(past: History) -> dict[str, Json] | None:
    decided = past.decision
    if decided is None or decided["decision"] is None:
        return None
    ruling: Mapping[str, Json] = decided.get("ruling") or {}
    return {
        "decision": decided["decision"],
        "decision_source": decided["decision_source"],
        "decided_by": decided["decided_by"],
        "conditions": ruling.get("conditions"),
        "reason": ruling.get("reason"),
    }


def _question(past: History, asked: Question | None) -> dict[str, Json]:
    """The one question; of a meeting without an arbiter, the one that it was about."""
    if asked is not None:
        return asked.record()
    text = record_of(past).question(past)
    return {"question": text, "scope": text, "choices": [], "state": "not_put"}


def _may_decide(past: History, asked: Question | None) -> list[dict[str, Json]]:
    """Whose word counts now, for what and until when; nobody's once that time is over."""
    if asked is None or asked.state != "open" or past.ended:
        return []
    return [
        {
            **asked.arbiter.record(),
            "scope": asked.scope,
            "choices": [choice.id for choice in asked.allowed],
            "conditions": True,
            "until": rfc3339(asked.deadline),
        }
    ]


def _unconfirmed(past: History) -> list[dict[str, Json]]:
    """What was under way at a cancel and is not known to have stopped (PROTOCOLS 12)."""
    items = (past.cancellation or {}).get("items", ())
    return [dict(item) for item in items if item["state"] == _UNCONFIRMED]


# --- the page -----------------------------------------------------------------------------------


def _body(words: Words, past: History, asked: Question | None) -> Iterator[str]:
    yield f"# {words('heading.handoff', topic=short(past.meeting.topic))}"
    yield from _weak(words, past)
    yield f"## {words('heading.standing')}"
    yield headline(words, past) if past.ended else f"**{words('handoff.open')}**"
    yield from stall_sentence(words, past)
    yield from external_wait_sentence(words, past)
    yield from _the_question(words, past, asked)
    yield from _who(words, past, asked)
    yield from _candidates(words, past)
    yield from sides(words, past)
    yield from excerpts(words, past)
    yield from criteria(words, past)
    yield from _points(words, past, asked)


def _weak(words: Words, past: History) -> Iterator[str]:
    said = [degradation_sentence(words, record) for record in degradations(past)]
    said += [warning_sentence(words, warning) for warning in warnings_of(past)]
    if past.decision is not None and past.decision["completeness"] == "partial":
        said.insert(0, words("result.partial"))
    if said:
        yield f"## {words('heading.degradation')}"
        yield bullets(said)


def _the_question(words: Words, past: History, asked: Question | None) -> Iterator[str]:
    yield f"## {words('heading.the_question')}"
    settled_by_now = _decided(past) is not None
    yield words("handoff.decided_question" if settled_by_now else "handoff.question")
    text = record_of(past).question(past) if asked is None else asked.text
    yield quoted(text)
    if asked is not None and asked.scope != text:
        yield words("handoff.scope")
        yield quoted(asked.scope)
    if past.meeting.context:
        yield f"**{words('label.context')}**"
        yield quoted(past.meeting.context)


def _who(words: Words, past: History, asked: Question | None) -> Iterator[str]:
    yield f"## {words('heading.may_decide')}"
    if asked is not None and not past.ended:
        named = {"arbiter": arbiter_text(words, asked.arbiter)}
        yield words("handoff.who", **named, until=words.moment(asked.deadline))
        yield from choices(words, asked.choices)
        return
    if past.decision is not None and _decided(past) is not None:
        yield words("handoff.who_decided")
        yield from who_decided(words, past.decision)
    elif asked is not None:
        named = {"arbiter": arbiter_text(words, asked.arbiter)}
        yield words("handoff.who_over", **named, until=words.moment(asked.deadline))
    else:
        yield words("handoff.who_nobody")
    yield from arbitration(words, past, level=3)


def _candidates(words: Words, past: History) -> Iterator[str]:
    decided = _decided(past) is not None
    yield f"## {words('heading.options' if decided else 'heading.candidates')}"
    yield from lay_out(words, record_of(past).candidates_in_full(past))


def _points(words: Words, past: History, asked: Question | None) -> Iterator[str]:
    yield f"## {words('heading.settled')}"
    done = [
        words(f"handoff.{each['kind']}", text=inline(each["text"]), id=inline(each.get("id", "")))
        for each in record_of(past).settled(past)
    ]
    yield bullets(done) if done else words("handoff.nothing_settled")
    left = [
        words("open.unconfirmed", **{key: inline(item[key]) for key in ("kind", "ref", "state")})
        for item in _unconfirmed(past)
    ]
    told = [*left, *stall_sentence(words, past)]
    points = [point for point in _open_points(words, past, asked) if point not in told]
    yield f"## {words('heading.open_points')}"
    yield bullets(points) if points else words("open.none")
    if left:
        yield f"## {words('heading.unconfirmed')}"
        yield bullets(left)
    yield from saved_elsewhere(words, past)


def _open_points(
    words: Words, past: History, asked: Question | None, safe: Safe = inline
) -> list[str]:
    """While a question waits, that question; the rest is known only from the decision's record."""
    waiting = asked is not None and not past.ended
    first = [words("open.question", text=safe(asked.text))] if asked and waiting else []
    return first + open_points(words, past, safe)
