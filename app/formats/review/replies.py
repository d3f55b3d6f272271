"""Reading what an author and a critic return in a review (PROTOCOLS 9 and 16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from app.domain.replies.messages import Code, Unfit
from app.domain.replies.quoting import NO_OBJECT, bounded_text, listed, shown
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import folded, last_json_object, one_line
from app.domain.values import Json
from app.formats.review.criteria import MOST_DRAFT_CHARACTERS
from app.formats.review.objections import Raised, Severity

MOST_OBJECTIONS = 20
MOST_POINT_CHARACTERS = 1_000


def _read(text: str, blank: Mapping[str, Json], parse: Callable[[dict[str, Json]], Json]) -> Read:
    answer = last_json_object(text)
    if answer is None:
        return Read(blank, NO_OBJECT)
    try:
        return Read(parse(answer))
    except Unfit as unfit:
        return Read(blank, unfit.message)


def _items(answer: Mapping[str, Json], key: str) -> list[Any]:
    value = answer.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unfit(Code.KEY_NOT_A_LIST, key=key)
    return cast("list[Any]", value)


def _waiting_for(answer: Mapping[str, Json]) -> str | None:
    return one_line(bounded_text(answer.get("waiting_for")), 200) or None


def _fields(value: object) -> dict[str, Json]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class AuthorReading:
    """Reads a draft with what it changed for which objection, and what it leaves open."""

    def read(self, text: str) -> Read:
        return _read(text, self.absent(ReplyStatus.INVALID), self._parse)

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"draft": None, "changes": [], "open": [], "waiting_for": None}

    def _parse(self, answer: dict[str, Json]) -> dict[str, Json]:
        draft = answer.get("draft")
        if not isinstance(draft, str) or not bounded_text(draft):
            raise Unfit(Code.DRAFT_MISSING)
        # The deliverable is never cut short without its author knowing.
        if len(draft) > MOST_DRAFT_CHARACTERS:
            raise Unfit(Code.DRAFT_TOO_LONG, most=MOST_DRAFT_CHARACTERS)
        rows = [_fields(item) for item in _items(answer, "changes")]
        changes = [{k: bounded_text(row.get(k)) for k in ("objection", "change")} for row in rows]
        left = [point for item in _items(answer, "open") if (point := bounded_text(item))]
        return {
            "draft": bounded_text(draft, MOST_DRAFT_CHARACTERS),
            "changes": [change for change in changes if change["change"]],
            "open": left,
            "waiting_for": _waiting_for(answer),
        }


@dataclass(frozen=True, slots=True)
class CriticReading:
    """Reads a critic's objections, which of its ``open_objections`` it closes, and its verdicts.

    ``criteria`` are those without a mechanical check, by id; each needs a verdict. A quote or a
    material that does not exist is no fault: such an objection is unsupported.
    """

    open_objections: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()

    def read(self, text: str) -> Read:
        return _read(text, self.absent(ReplyStatus.INVALID), self._parse)

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"objections": [], "closed": [], "criteria": {}, "waiting_for": None}

    def _parse(self, answer: dict[str, Json]) -> dict[str, Json]:
        given = _items(answer, "objections")
        if len(given) > MOST_OBJECTIONS:
            raise Unfit(Code.OBJECTIONS_TOO_MANY, most=MOST_OBJECTIONS)
        closed = _items(answer, "closed")
        unknown = [id_ for id_ in closed if id_ not in self.open_objections]
        if unknown and not self.open_objections:
            raise Unfit(Code.NOTHING_TO_CLOSE, unknown=listed(unknown))
        if unknown:
            yours = listed(self.open_objections)
            raise Unfit(Code.CLOSED_UNKNOWN, unknown=listed(unknown), yours=yours)
        return {
            "objections": [_objection(_fields(o), number) for number, o in enumerate(given, 1)],
            "closed": list(dict.fromkeys(closed)),
            "criteria": self._verdicts(_fields(answer.get("criteria"))),
            "waiting_for": _waiting_for(answer),
        }

    def _verdicts(self, given: Mapping[str, Json]) -> dict[str, Json]:
        said = {folded(key): value for key, value in given.items()}
        verdicts: dict[str, Json] = {}
        for criterion in self.criteria:
            value = said.get(folded(criterion))
            verdict = folded(value) if isinstance(value, str) else ""
            if verdict not in ("pass", "fail"):
                known = shown(criterion)
                raise Unfit(Code.VERDICT_UNKNOWN, criterion=known, value=shown(value))
            verdicts[criterion] = verdict
        return verdicts


def _objection(fields: Mapping[str, Json], number: int) -> dict[str, Json]:
    severity = fields.get("severity")
    known = folded(severity) if isinstance(severity, str) else ""
    if known not in set(Severity):
        given = shown(severity)
        raise Unfit(Code.SEVERITY_UNKNOWN, number=number, value=given, known=listed(Severity))
    point = bounded_text(fields.get("point"), MOST_POINT_CHARACTERS)
    if not point:
        raise Unfit(Code.POINT_MISSING, number=number)
    return {
        "severity": known,
        "material": one_line(bounded_text(fields.get("material")), 200),
        "quote": bounded_text(fields.get("quote")),
        "point": point,
        "resolves_when": bounded_text(fields.get("resolves_when"), MOST_POINT_CHARACTERS),
    }


def raised_in(values: Mapping[str, Json]) -> tuple[Raised, ...]:
    """The objections in what ``CriticReading`` read."""
    return tuple(Raised(**{**o, "severity": Severity(o["severity"])}) for o in values["objections"])
