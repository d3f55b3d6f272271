"""The handoff package (PROTOCOLS 11): what a person needs to decide the one question.

While a question is open it is for whoever may rule. After the end it says what was decided and
what is left open, or, where nothing was, hands the case to whoever is responsible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from app.domain.errors import MeetingNotEnded
from app.domain.meeting.events import Event
from app.domain.meeting.history import History, history
from app.domain.values import Json, rfc3339
from app.records.catalogue import WORDS, Words
from app.records.containment import front_matter, inline, plain, quoted
from app.records.decided import last_motion, warnings_of
from app.records.degradation import (
    Safe,
    bullets,
    degradation_sentence,
    degradations,
    warning_sentence,
)
from app.records.findings import open_points
from app.records.header import material_in
from app.records.minutes import short
from app.records.operations import external_wait, external_wait_sentence, saved_elsewhere
from app.records.positions import candidates, criteria, excerpts, settled, sides
from app.records.rulings import Question, arbiter_text, arbitration, choices, present_question
from app.records.stalls import stall_record, stall_sentence
from app.records.verdict import headline, synthesis, who_decided

_UNCONFIRMED = "unconfirmed"


def handoff_json(log: Iterable[Event]) -> dict[str, Json]:
    """The package as JSON; texts are as they were given.

    Raises ``MeetingNotEnded`` while the meeting runs and no question is open.
    """
    past, asked = _case(log)
    words, decided = WORDS[past.meeting.language], past.decision or {}
    return {
        **_front(past),
        "topic": past.meeting.topic,
        "context": past.meeting.context,
        "decided": _decided(past),
        "question": _question(past, asked),
        "may_decide": _may_decide(past, asked),
        "stalled": stall_record(past),
        "external_wait": external_wait(past),
        "candidates": candidates(past, asked),
        "sides": sides(past),
        "excerpts": excerpts(past),
        "criteria": criteria(past),
        "settled": settled(past),
        "dissents": list(decided.get("dissents") or ()),
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
    parts = (front_matter(_front(past)), *_body(WORDS[past.meeting.language], past, asked))
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
    decided = past.decision or {}
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
    text = _about(past)
    return {"question": text, "scope": text, "choices": [], "state": "not_put"}


def _about(past: History) -> str:
    return (last_motion(past) if past.meeting.format == "roundtable" else None) or (
        past.meeting.motion or past.meeting.topic
    )


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
    yield from _candidates(words, past, asked)
    yield from _sides(words, past)
    yield from _excerpts(words, past)
    yield from _criteria(words, past)
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
    text = _about(past) if asked is None else asked.text
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


def _candidates(words: Words, past: History, asked: Question | None) -> Iterator[str]:
    decided = _decided(past) is not None
    yield f"## {words('heading.options' if decided else 'heading.candidates')}"
    found = candidates(past, asked)
    if not found:
        yield words("decision.none_named")
        return
    if past.meeting.format == "review":
        yield quoted(found[0]["text"])
        return
    yield bullets([_candidate(words, each, alone=len(found) == 1) for each in found])
    if past.meeting.format == "council":
        decision = (past.decision or {}).get("decision")
        drafted = {"synthesis": past.drafted, "decision": decision, "numbers_name": "council"}
        yield from synthesis(words, {**drafted, "council": {}})


def _candidate(words: Words, candidate: Mapping[str, Json], *, alone: bool) -> str:
    text = inline(candidate["text"])
    if alone or candidate["id"] == candidate["text"]:
        return text
    return words("handoff.candidate", id=inline(candidate["id"]), text=text)


def _sides(words: Words, past: History) -> Iterator[str]:
    yield f"## {words('heading.sides')}"
    found = sides(past)
    if not found:
        yield words("handoff.no_sides")
    for side in found:
        names = words.joined(inline(name) for name in side["participants"])
        yield f"**{words('handoff.side', position=_position(words, side), names=names)}**"
        lines = [_argument(words, argument) for argument in side["arguments"]]
        if lines:
            yield bullets(lines)


def _position(words: Words, side: Mapping[str, Json]) -> str:
    position: str = side["position"]
    said = words.either(f"handoff.{position}", inline(position))
    return words.either(f"position.{position}", said)


def _argument(words: Words, argument: Mapping[str, Json]) -> str:
    given = {
        "name": inline(argument["participant"]),
        "text": inline(argument["text"]) or words("measure.missing"),
        "asks_for": inline(argument["asks_for"] or ""),
    }
    if "objection" not in argument:
        return words("handoff.asks" if argument["asks_for"] else "handoff.said", **given)
    severity = words.either(f"position.{argument['severity']}", inline(argument["severity"]))
    if argument["support"] != "supported":
        severity = words("review.unsupported", severity=severity)
    key = "handoff.resolves" if argument["asks_for"] else "handoff.objection"
    return words(key, **given, id=inline(argument["objection"]), severity=severity)


def _excerpts(words: Words, past: History) -> Iterator[str]:
    found = excerpts(past)
    if found:
        yield f"## {words('heading.excerpts')}"
    for each in found:
        name = inline(each["source"])
        if "objection" in each:
            name = material_in(words, past.meeting, each["source"], each["round"])
            yield words("handoff.material", name=name, id=inline(each["objection"]))
        else:
            yield words("handoff.source", name=name, round=each["round"])
        yield quoted(each["text"])


def _criteria(words: Words, past: History) -> Iterator[str]:
    found = criteria(past)
    if not any(found.values()):
        return
    for key in ("passed", "open"):
        yield f"## {words(f'heading.criteria_{key}')}"
        lines = [_criterion(words, each) for each in found[key]]
        yield bullets(lines) if lines else words("handoff.no_criteria")


def _criterion(words: Words, criterion: Mapping[str, Json]) -> str:
    return words(
        "handoff.required" if criterion["required"] else "handoff.criterion",
        id=inline(criterion["id"]),
        text=inline(criterion["text"]),
        result=words.either(f"review.{criterion['result']}", inline(criterion["result"])),
    )


def _points(words: Words, past: History, asked: Question | None) -> Iterator[str]:
    yield f"## {words('heading.settled')}"
    done = [
        words(f"handoff.{each['kind']}", text=inline(each["text"]), id=inline(each.get("id", "")))
        for each in settled(past)
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
