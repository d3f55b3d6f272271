"""What records show of each resuming: what had changed, and which outcome stood until then."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.meeting.earlier_legs import EarlierLeg
from app.domain.meeting.history import History, side_by_side
from app.domain.meeting.meeting import Limits, Material
from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.degradation import bullets
from app.records.header import material_line
from app.records.verdict import cancelled, stopped


def resumptions(words: Words, past: History) -> Iterator[str]:
    for each in past.earlier_legs:
        yield from resumption(words, each)


def resumption(words: Words, each: EarlierLeg) -> Iterator[str]:
    yield f"## {words('heading.resumed', number=each.number)}"
    changed = words.either(f"resumed.{each.resuming.changed}", inline(each.resuming.changed))
    key = "resumed.told" if each.after_round else "resumed.told_before_rounds"
    yield words(key, at=words.moment(each.at), changed=changed, round=each.after_round)
    yield quoted(each.resuming.note)
    yield words(
        "resumed.before",
        at=words.moment(each.ended_at),
        result=words(f"result.{each.decided.outcome.result.value}"),
        stopped=stopped(words, side_by_side(each.decided)),
    )
    if each.cancellation is not None:
        # What nobody could confirm as stopped stays visible (PROTOCOLS 12).
        yield from cancelled(words, each.cancellation.record())
    rows = list(_changed_limits(words, each))
    if rows:
        yield words("resumed.new_limits")
        yield table([words(f"label.{key}") for key in ("item", "from", "to")], rows)
    else:
        yield words("resumed.same_limits")
    if each.resuming.materials:
        yield words("resumed.new_materials")
        yield bullets([_material(words, each, material) for material in each.resuming.materials])
    if each.resuming.acknowledged:
        ids = words.joined(inline(id_) for id_ in each.resuming.acknowledged)
        yield words("resumed.acknowledged", ids=ids)


def _material(words: Words, each: EarlierLeg, material: Material) -> str:
    line, before = material_line(words, material.record()), each.versions_before.get(material.id)
    if before is None:
        return line
    return words("resumed.material_before", material=line, version=inline(before))


def _changed_limits(words: Words, each: EarlierLeg) -> Iterator[list[str]]:
    before, after = (
        _limits_shown(words, each.limits_before),
        _limits_shown(words, each.resuming.limits),
    )
    for key, shown in after.items():
        if before[key] != shown:
            yield [words(f"label.{key}"), before[key], shown]


def _limits_shown(words: Words, limits: Limits) -> dict[str, str]:
    def or_none(limit: Json, shown: str) -> str:
        return words("measure.none") if limit is None else shown

    return {
        "rounds": str(limits.rounds),
        "time": words.seconds(limits.seconds),
        "reply_time": words.seconds(limits.reply_seconds),
        "money": or_none(limits.usd, words("measure.usd", usd=limits.usd)),
        "tokens": or_none(limits.tokens, str(limits.tokens)),
        "no_progress": str(limits.no_progress_rounds),
        "arbitration_time": words.seconds(limits.arbitration_seconds),
    }
