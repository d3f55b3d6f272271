"""The part of the minutes that was known before anybody spoke, and what it came to cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.domain.meeting.history import History
from app.domain.meeting.meeting import Meeting, Seat
from app.domain.meeting.resumption import version_in
from app.domain.values import Json
from app.records.asked import record_of
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.degradation import bullets


def question(words: Words, meeting: Meeting) -> Iterator[str]:
    yield f"## {words('heading.question')}"
    yield from _block(words("label.topic"), quoted(meeting.topic))
    if meeting.motion:
        yield from _block(words("label.motion"), quoted(meeting.motion))
    elif words.has(f"{meeting.format}.no_motion"):
        yield words(f"{meeting.format}.no_motion")
    if meeting.context:
        yield from _block(words("label.context"), quoted(meeting.context))
    if meeting.options:
        yield from _block(words("label.options"), bullets([inline(o) for o in meeting.options]))
    if meeting.materials:
        yield from _block(words("label.materials"), bullets(list(_materials(words, meeting))))
    if meeting.criteria:
        yield from _block(words("label.criteria"), bullets(list(_criteria(words, meeting))))


def _block(label: str, text: str) -> Iterator[str]:
    yield f"**{label}**"
    yield text


def _materials(words: Words, meeting: Meeting) -> Iterator[str]:
    for material in meeting.materials:
        yield material_line(words, material.record())


def material_line(words: Words, material: Mapping[str, Json]) -> str:
    key = "question.material_titled" if material["title"] else "question.material"
    named = {"id": inline(material["id"]), "version": inline(material["version"])}
    return words(key, **named, title=inline(material["title"] or ""))


def material_in(words: Words, meeting: Meeting, id_: str, round_: int) -> str:
    """A material by the version that this round was held on: a resuming may have changed it."""
    version = version_in(meeting, id_, round_)
    if version is None:
        return inline(id_) or words("measure.missing")
    return words("question.material", id=inline(id_), version=inline(version))


def _criteria(words: Words, meeting: Meeting) -> Iterator[str]:
    for criterion in meeting.criteria:
        key = "question.required" if criterion.required else "question.wanted"
        yield words(key, id=inline(criterion.id), text=inline(criterion.text))


def participants(words: Words, past: History) -> Iterator[str]:
    meeting = past.meeting
    weighted = any(seat.weight != 1 or seat.expert for seat in meeting.seats)
    headings = ["participant", "label", "role", "agent", "model"]
    if weighted:
        headings += ["weight", "expert"]
    yield f"## {words('heading.participants')}"
    yield table(
        [words(f"label.{heading}") for heading in headings],
        [_seat_row(words, past, seat, weighted=weighted) for seat in meeting.seats],
    )
    record = record_of(past)
    yield words(f"participants.{'unseen' if record.unseen else meeting.identities}")
    yield _office(words, past, "office", meeting.secretary)
    if record.chaired or meeting.chair:
        yield _office(words, past, "chair", meeting.chair_agent)


def _seat_row(words: Words, past: History, seat: Seat, *, weighted: bool) -> list[str]:
    missing = words("measure.missing")
    models = past.models_of(seat.name, seat.agent)
    row = [
        inline(seat.name),
        inline(past.meeting.label(seat.name)),
        inline(seat.role) or missing,
        inline(seat.agent),
        words.joined(inline(model) for model in models) or missing,
    ]
    if weighted:
        expert = words("measure.yes") if seat.expert else words("measure.no")
        row += [f"{float(seat.weight):g}", expert]
    return row


def _office(words: Words, past: History, office: str, agent: str) -> str:
    model = past.agents.get(agent, {}).get("model")
    known = words("participants.model", model=inline(model)) if model else ""
    return words(f"participants.{office}", agent=inline(agent), model=known)


def limits(words: Words, past: History) -> Iterator[str]:
    """When it was held, what it might spend and what it spent."""
    yield f"## {words('heading.limits')}"
    meeting = past.meeting
    held_as = {"format": inline(meeting.format), "version": meeting.format_version}
    facts = (
        ("meeting", inline(meeting.id)),
        ("format", words("question.format", **held_as)),
        ("created", words.moment(past.created_at)),
        ("started", words.moment(past.started_at)),
        ("ended", words.moment(past.ended_at)),
    )
    yield bullets(
        [words("measure.pair", label=words(f"label.{key}"), value=value) for key, value in facts]
    )
    rows = list(_limit_rows(words, past))
    yield table([words(f"label.{key}") for key in ("item", "limit", "used")], rows)
    yield from unconfirmed(words, past.spent)


def _limit_rows(words: Words, past: History) -> Iterator[list[str]]:
    set_, spent = past.meeting.limits, past.spent
    none, missing = words("measure.none"), words("measure.missing")
    yield [words("label.rounds"), str(set_.rounds), str(len(past.rounds))]
    yield [words("label.replies"), missing, str(spent["replies"])]
    yield [words("label.time"), words.seconds(set_.seconds), words.seconds(spent["seconds"])]
    yield [words("label.reply_time"), words.seconds(set_.reply_seconds), missing]
    usd = none if set_.usd is None else words("measure.usd", usd=set_.usd)
    yield [words("label.money"), usd, money(words, spent["usd"])]
    tokens = none if set_.tokens is None else str(set_.tokens)
    yield [words("label.tokens"), tokens, used_tokens(words, spent["tokens"])]
    yield [words("label.no_progress"), str(set_.no_progress_rounds), missing]


def unconfirmed(words: Words, spent: Mapping[str, Json]) -> Iterator[str]:
    """One line on what was booked without an answer, where anything was (PROTOCOLS 11)."""
    booked = spent["unconfirmed"]
    if booked["requests"]:
        yield words(
            "measure.unconfirmed",
            requests=booked["requests"],
            tokens=booked["tokens"],
            money=money(words, booked["usd"]),
        )


def money(words: Words, usd: str | None) -> str:
    return words("measure.unknown") if usd is None else words("measure.usd", usd=inline(usd))


def used_tokens(words: Words, tokens: Mapping[str, Json]) -> str:
    return words("measure.tokens", input=tokens["input"], output=tokens["output"])
