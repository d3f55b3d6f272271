"""From a request's body to the wish to hold a meeting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter

from app.api.json_body import JsonBody, validated
from app.api.schemas.meeting_request import (
    DEFAULT_FORMAT,
    MEETING_REQUESTS,
    MeetingRequest,
    WireLimits,
)
from app.api.schemas.parts import WireArbiter, WireGate
from app.api.schemas.resume_request import ResumeRequest
from app.coordinator.commands import OpenMeeting, SeatWanted
from app.coordinator.resuming import ResumeMeeting
from app.domain.errors import Fault, InvalidRequest
from app.domain.meeting.meeting import (
    Arbiter,
    CompletionGate,
    Criterion,
    Destination,
    Limits,
    Material,
)
from app.domain.replies.text import folded
from app.domain.values import Json, exact
from app.formats import FORMATS
from app.formats.shared.format import Format


def wish_of(body: JsonBody) -> OpenMeeting:
    """The wish that the body holds; else the problem that names every field at fault.

    The format picks the schema here and not in pydantic, whose pointers would hold its tags.
    """
    name = _format_name(body.content)
    request = validated(MEETING_REQUESTS[name], body, explain=_explained_for(name))
    faults = tuple(_faults_between_fields(request, FORMATS[name]))
    if faults:
        raise InvalidRequest(*faults)
    return _mapped(request)


def _format_name(content: Any) -> str:
    name = content.get("format", DEFAULT_FORMAT) if isinstance(content, dict) else DEFAULT_FORMAT
    known = ", ".join(sorted(MEETING_REQUESTS))
    if not isinstance(name, str) or name not in MEETING_REQUESTS:
        raise InvalidRequest(Fault("/format", f"This should be one of: {known}."))
    return name


def _explained_for(format_name: str) -> Any:
    def explain(error: Any) -> str | None:
        location = error["loc"]
        if location[:1] != ("rules",) or error["type"] != "unexpected_keyword_argument":
            return None
        return unknown_rule(str(location[-1]), format_name, FORMATS)

    return explain


def unknown_rule(rule: str, format_name: str, formats: Mapping[str, Format]) -> str:
    """What to say to a rule that the format does not have."""
    owners = [name for name, each in formats.items() if rule in _rules_of(each)]
    if owners:
        return f"This is a rule of {' and '.join(owners)}; {format_name} has no such rule."
    own = ", ".join(_rules_of(formats[format_name])) or "none at all"
    return f"{format_name} has no such rule; its rules are: {own}."


def _rules_of(format_: Format) -> tuple[str, ...]:
    return tuple(field.name for field in fields(format_.rules))


def _faults_between_fields(request: MeetingRequest, format_: Format) -> Iterator[Fault]:
    """What no field shows by itself."""
    participants = request.participants
    if participants and not format_.fewest_seats <= len(participants) <= format_.most_seats:
        least, most = format_.fewest_seats, format_.most_seats
        yield Fault("/participants", f"A {format_.name} has {least} to {most} participants.")
    if participants and request.count not in (None, len(participants)):
        detail = f"There are {len(participants)} participants; leave count out, or make it fit."
        yield Fault("/count", detail)
    yield from _arbiter_faults(request.arbiter)
    for index, first in _repeats([participant.name for participant in participants]):
        detail = f"Participant {first} has this name too; names must differ in more than case."
        yield Fault(f"/participants/{index}/name", detail)
    for index, first in _repeats(request.options):
        yield Fault(f"/options/{index}", f"This is the same option as option {first}.")


def _arbiter_faults(arbiter: WireArbiter | None) -> Iterator[Fault]:
    if arbiter is None:
        return
    if arbiter.kind == "agent" and arbiter.agent is None:
        yield Fault("/arbiter/agent", "Name the agent that is to rule.")
    if arbiter.kind == "human" and arbiter.agent is not None:
        yield Fault("/arbiter/agent", "A person rules here, so no agent can be named.")


def _repeats(texts: Sequence[str | None]) -> Iterator[tuple[int, int]]:
    """Where a text comes that was there before, and where it was; by its folded form."""
    seen: dict[str, int] = {}
    for index, each in enumerate(texts):
        if each is None:
            continue
        first = seen.setdefault(folded(each), index)
        if first != index:
            yield index, first


def _mapped(request: MeetingRequest) -> OpenMeeting:
    return OpenMeeting(
        topic=request.topic,
        format=request.format,
        motion=request.motion,
        context=request.context,
        options=request.options,
        seats=tuple(
            SeatWanted(
                name=seat.name,
                role=seat.role or None,
                agent=seat.agent,
                weight=None if seat.weight is None else exact(seat.weight),
                expert=seat.expert,
            )
            for seat in request.participants
        ),
        count=request.count,
        secretary=request.secretary,
        chair=request.chair,
        arbiter=None if request.arbiter is None else Arbiter(**request.arbiter.model_dump()),
        rules=_rules_record(request.rules),
        limits=_limits(request.limits),
        completion_gate=_gate(request),
        materials=tuple(Material(**material.model_dump()) for material in request.materials),
        criteria=tuple(Criterion(**criterion.model_dump()) for criterion in request.criteria),
        destination=_destination(request),
        domains=request.domains,
        language=request.language,
        identities=request.identities,
        parent_id=request.parent_id,
        ephemeral=request.ephemeral,
        metadata=request.metadata,
    )


def resuming_wish(request: ResumeRequest) -> ResumeMeeting:
    """The wish to go on with a meeting; of the limits only those that were named."""
    named = request.limits.model_fields_set if request.limits else ()
    return ResumeMeeting(
        changed=request.changed,
        note=request.note,
        limits={name: getattr(request.limits, name) for name in named},
        materials=tuple(Material(**material.model_dump()) for material in request.materials),
        acknowledge_unknown=request.acknowledge_unknown,
    )


def _rules_record(rules: Any) -> Mapping[str, Json]:
    """The rules as JSON with every default filled in, so that the log holds what was in force."""
    return _ANY.dump_python(rules, mode="json")


_ANY: TypeAdapter[Any] = TypeAdapter(Any)


def _gate(request: MeetingRequest) -> CompletionGate | None:
    """The gate asked for; where nothing was said, the format's own habit (PROTOCOLS 10)."""
    wanted = request.completion_gate
    if wanted is None:
        wanted = FORMATS[request.format].gated
    if isinstance(wanted, WireGate):
        return CompletionGate(**wanted.model_dump())
    return CompletionGate() if wanted else None


def _destination(request: MeetingRequest) -> Destination | None:
    wanted = request.destination
    return None if wanted is None else Destination(**wanted.model_dump())


def _limits(limits: WireLimits) -> Limits:
    return Limits(
        rounds=limits.rounds,
        seconds=limits.seconds,
        reply_seconds=limits.reply_seconds,
        usd=limits.usd,
        tokens=limits.tokens,
        no_progress_rounds=limits.no_progress_rounds,
        arbitration_seconds=limits.arbitration_seconds,
    )
