"""A review's objections and criteria (PROTOCOLS 9): raised, closed, reopened, and what blocks.

An objection rests on a verbatim quote from a material. One whose quote is not there is kept on
record as unsupported; it blocks nothing and is no new evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, cast

from app.domain.ballot import NO_OBJECT, Unfit, bounded_text, listed, shown
from app.domain.meeting import Criterion, Json, Material
from app.domain.progress import Progress
from app.domain.reply_text import folded, last_json_object, one_line
from app.domain.steps import Read, ReplyStatus

MOST_DRAFT_CHARACTERS = 12_000
MOST_OBJECTIONS = 20
_MOST_POINT_CHARACTERS = 1_000
_MOST_PATTERN_CHARACTERS = 300
_MOST_WAYS = 400
_MOST_WAYS_UNBOUNDED = 2

Verdict = Literal["pass", "fail", "open"]
"""``open``: a critic who has to judge it has not."""


class Severity(StrEnum):
    BLOCKING = "blocking"
    MINOR = "minor"
    PREFERENCE = "preference"


# --- quotes -------------------------------------------------------------------------------------

_WIDE = "[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]"
_BROKEN_LINE = re.compile(rf"(?<={_WIDE}) (?={_WIDE})")


def folded_quote(text: str) -> str:
    """The form in which quotes are compared: NFKC, white space folded to single spaces.

    Between Japanese characters it is dropped: there it only comes from a broken line.
    """
    return _BROKEN_LINE.sub("", " ".join(unicodedata.normalize("NFKC", text).split()))


def is_supported(quote: str, material: str, materials: Iterable[Material]) -> bool:
    """Whether the quote stands in that material; an empty quote rests on nothing."""
    wanted = folded_quote(quote)
    texts = (m.text for m in materials if folded(m.id) == folded(material))
    return bool(wanted) and any(wanted in folded_quote(text) for text in texts)


# --- the ledger ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Raised:
    """An objection as a critic wrote it."""

    severity: Severity
    material: str
    quote: str
    point: str
    resolves_when: str

    @property
    def ground(self) -> tuple[str, str] | None:
        """The same material and the same folded quote are the same ground; no quote is none."""
        quote = folded_quote(self.quote)
        return (folded(self.material), quote) if quote else None


@dataclass(frozen=True, slots=True)
class Objection:
    id: str
    critic: str
    raised: Raised
    supported: bool
    round: int
    closed_in: int | None = None
    reopened_in: tuple[int, ...] = ()

    @property
    def open(self) -> bool:
        return self.closed_in is None

    @property
    def blocks(self) -> bool:
        return self.open and self.supported and self.raised.severity is Severity.BLOCKING

    def record(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "critic": self.critic,
            "severity": self.raised.severity.value,
            "material": self.raised.material,
            "quote": self.raised.quote,
            "point": self.raised.point,
            "resolves_when": self.raised.resolves_when,
            "support": "supported" if self.supported else "unsupported",
            "state": "open" if self.open else "closed",
            "round": self.round,
            "closed_in": self.closed_in,
            "reopened_in": list(self.reopened_in),
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """What one critic's reply did, by objection id.

    ``evidence`` are those raised that are supported and on a ground nobody had named before.
    """

    raised: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def circular(self) -> bool:
        """An objection closed earlier is back on the same ground (PROTOCOLS 11)."""
        return bool(self.reopened)

    @property
    def progress(self) -> Progress:
        closed = tuple(f"objection_closed:{id_}" for id_ in self.closed if id_ not in self.reopened)
        return Progress((*closed, *(f"new_evidence:{id_}" for id_ in self.evidence)))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every objection of a review, in the order they were first raised."""

    objections: tuple[Objection, ...] = ()

    @property
    def blocking(self) -> tuple[Objection, ...]:
        return tuple(objection for objection in self.objections if objection.blocks)

    def open_of(self, critic: str) -> tuple[str, ...]:
        return tuple(o.id for o in self.objections if o.open and o.critic == critic)

    def after(
        self,
        critic: str,
        round_: int,
        raised: Sequence[Raised],
        closed: Iterable[str],
        materials: Sequence[Material],
    ) -> tuple[Ledger, Changes]:
        """The ledger after one critic's reply.

        A critic closes only its own open objections, and keeps those it does not close. One on
        the ground of a closed objection, whoever closed it, reopens that one and takes it over;
        one that repeats the critic's own open point changes nothing.
        """
        own = self.open_of(critic)
        done = tuple(id_ for id_ in own if id_ in set(closed))
        entries = {
            o.id: replace(o, closed_in=round_) if o.id in done else o for o in self.objections
        }
        new: list[str] = []
        reopened: list[str] = []
        evidence: list[str] = []
        for point in raised:
            known = [
                o for o in entries.values() if point.ground and o.raised.ground == point.ground
            ]
            supported = is_supported(point.quote, point.material, materials)
            again = next((o for o in known if not o.open), None)
            if any(_repeats(o, critic, point) for o in entries.values()):
                continue
            if again is not None:
                back = (*again.reopened_in, round_)
                entries[again.id] = Objection(
                    again.id, critic, point, supported, again.round, reopened_in=back
                )
                reopened.append(again.id)
                continue
            id_ = f"obj-{len(entries) + 1}"
            entries[id_] = Objection(id_, critic, point, supported, round_)
            new.append(id_)
            evidence += [id_] * (supported and not known)
        kept = tuple(id_ for id_ in own if id_ not in done)
        changes = Changes(tuple(new), done, kept, tuple(reopened), tuple(evidence))
        return Ledger(tuple(entries.values())), changes


def _repeats(objection: Objection, critic: str, point: Raised) -> bool:
    same_point = folded_quote(objection.raised.point) == folded_quote(point.point)
    same_ground = objection.raised.ground == point.ground
    return objection.open and objection.critic == critic and same_point and same_ground


# --- criteria -----------------------------------------------------------------------------------

_PIECE = re.compile(
    r"\\(?:[dDwWsSbBnrtAZ]|[^\w\s])"
    r"|\[\^?\]?(?:\\.|(?!--|&&|~~|\|\|)[^\[\]\\])*\]"
    r"|(?P<open>\((?:\?:)?)(?!\?)|(?P<close>\))|(?P<or>\|)"
    r"|(?P<quantifier>(?:[*+?]|\{(?P<low>\d{0,4})(?P<comma>,?)(?P<high>\d{0,4})\})\??)"
    r"|[^\\()\[\]{}*+?|]"
)
_FLAGS = re.compile(r"^\(\?[ims]{1,3}\)")


def pattern_fault(pattern: str) -> str | None:
    """Why a ``regex`` criterion is refused, or None; to be asked when a meeting is created.

    Python's matcher has no time limit and backtracks, so patterns are held to what it can only
    try in few ways: one unbounded quantifier (``*``, ``+``, ``{n,}``) in the whole pattern, on a
    single character or class, with next to nothing optional beside it; no repetition of a group
    that holds a quantifier or an alternative; no back-references, look-arounds, or flags but
    leading ``(?i)``, ``(?m)``, ``(?s)``. The worst such search grows with the square of the
    draft's length, and drafts are bounded (``MOST_DRAFT_CHARACTERS``): a second or two for a
    pattern and a draft made for each other, microseconds otherwise.
    """
    if len(pattern) > _MOST_PATTERN_CHARACTERS:
        return f"a pattern has at most {_MOST_PATTERN_CHARACTERS} characters"
    fault = _cost_fault(_FLAGS.sub("", pattern))
    if fault is not None:
        return fault
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"it is no regular expression: {error}"
    return None


@dataclass(slots=True)
class _Group:
    """What the scan of a pattern knows of a group that is still open, or of the whole."""

    choices: bool = False
    alternatives: int = 1
    closed: bool = False


def _cost_fault(pattern: str) -> str | None:
    groups = [_Group()]
    last = _Group()
    unbounded, ways, position = 0, 1, 0
    while position < len(pattern):
        piece = _PIECE.match(pattern, position)
        if piece is None or (piece["close"] and len(groups) == 1):
            return f"{shown(pattern[position : position + 4])} is not supported here"
        position = piece.end()
        before, last = last, _Group()
        if piece["open"]:
            groups.append(_Group())
        elif piece["close"]:
            last = replace(groups.pop(), closed=True)
            groups[-1].choices |= last.choices
            ways *= last.alternatives
        elif piece["or"]:
            groups[-1].choices = True
            groups[-1].alternatives += 1
        elif quantifier := piece["quantifier"]:
            lengths = _lengths(piece)
            if fault := _repetition_fault(before, lengths, optional=quantifier[0] == "?"):
                return fault
            groups[-1].choices = True
            unbounded += lengths is None
            ways *= lengths or 1
    if unbounded > 1:
        return "only one unbounded quantifier (*, + or {n,}) may stand in a pattern"
    if ways * groups[0].alternatives > (_MOST_WAYS_UNBOUNDED if unbounded else _MOST_WAYS):
        return "its optional parts and alternatives combine in too many ways"
    return None


def _repetition_fault(group: _Group, lengths: int | None, *, optional: bool) -> str | None:
    """Why what stands before a quantifier may not be repeated so."""
    if group.choices and not optional:
        return "a group that holds a quantifier or an alternative cannot be repeated"
    if group.closed and lengths is None:
        return "a group cannot be repeated without a bound"
    return None


def _lengths(piece: re.Match[str]) -> int | None:
    """How many lengths a quantifier can try; None for any number."""
    if piece["quantifier"][0] == "?":
        return 2
    if piece["quantifier"][0] in "*+" or (piece["comma"] and not piece["high"]):
        return None
    return int(piece["high"]) - int(piece["low"] or 0) + 1 if piece["comma"] else 1


def check_fault(check: Mapping[str, Json]) -> str | None:
    """What is wrong with a mechanical check, or None."""
    match dict(check):
        case {"contains": str(text), **rest} if text and not rest:
            return None
        case {"regex": str(pattern), **rest} if pattern and not rest:
            return pattern_fault(pattern)
        case {"max_chars": int(most), **rest} if most is not True and most > 0 and not rest:
            return None
        case _:
            return 'a check is one of {"contains": text}, {"regex": pattern}, {"max_chars": number}'


def passes(check: Mapping[str, Json], draft: str) -> bool:
    """Whether a draft passes a mechanical check: text as it stands, code points counted.

    Raises ValueError for a check that ``check_fault`` refuses, so that none is ever run.
    """
    fault = check_fault(check)
    if fault is not None:
        raise ValueError(fault)
    if "contains" in check:
        return check["contains"] in draft
    if "max_chars" in check:
        return len(draft) <= check["max_chars"]
    fits = len(draft) <= MOST_DRAFT_CHARACTERS
    return fits and re.search(check["regex"], draft) is not None


def judge(
    criteria: Iterable[Criterion],
    draft: str,
    critics: Sequence[str],
    verdicts: Mapping[str, Mapping[str, str]],
) -> dict[str, Verdict]:
    """Each criterion's result, by id; ``verdicts`` are the critics', by name and criterion.

    Without a mechanical check every critic has to pass it: one ``fail`` fails it, whatever the
    others say, and until all have judged it stays open.
    """
    results: dict[str, Verdict] = {}
    for criterion in criteria:
        if criterion.check is not None:
            results[criterion.id] = "pass" if passes(criterion.check, draft) else "fail"
            continue
        given = {verdicts.get(critic, {}).get(criterion.id, "open") for critic in critics}
        judged: Verdict = "open" if "open" in given or not given else "pass"
        results[criterion.id] = "fail" if "fail" in given else judged
    return results


def is_complete(
    criteria: Iterable[Criterion], results: Mapping[str, Verdict], ledger: Ledger
) -> bool:
    """Every required criterion passes and nothing blocks; a destination is checked elsewhere."""
    passed = all(results[criterion.id] == "pass" for criterion in criteria if criterion.required)
    return passed and not ledger.blocking


# --- reading ------------------------------------------------------------------------------------


def _read(text: str, blank: Mapping[str, Json], parse: Callable[[dict[str, Json]], Json]) -> Read:
    answer = last_json_object(text)
    if answer is None:
        return Read(blank, NO_OBJECT)
    try:
        return Read(parse(answer))
    except Unfit as unfit:
        return Read(blank, str(unfit))


def _items(answer: Mapping[str, Json], key: str) -> list[Any]:
    value = answer.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unfit(f"The key {shown(key)} must be a list.")
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
            raise Unfit('The key "draft" must hold the whole draft as text.')
        # The deliverable is never cut short without its author knowing.
        if len(draft) > MOST_DRAFT_CHARACTERS:
            raise Unfit(f"The draft is longer than {MOST_DRAFT_CHARACTERS} characters.")
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
            raise Unfit(f"There are more than {MOST_OBJECTIONS} objections; keep the weightiest.")
        closed = _items(answer, "closed")
        unknown = [id_ for id_ in closed if id_ not in self.open_objections]
        if unknown:
            yours = listed(self.open_objections) or "none"
            raise Unfit(f"You close {listed(unknown)}, but your open objections are {yours}.")
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
                what = f"The criterion {shown(criterion)} is {shown(value)}"
                raise Unfit(f'{what}; under "criteria" it must be "pass" or "fail".')
            verdicts[criterion] = verdict
        return verdicts


def _objection(fields: Mapping[str, Json], number: int) -> dict[str, Json]:
    severity = fields.get("severity")
    known = folded(severity) if isinstance(severity, str) else ""
    if known not in set(Severity):
        raise Unfit(
            f'The "severity" of objection {number} is {shown(severity)}; '
            f"it must be one of {listed(Severity)}."
        )
    point = bounded_text(fields.get("point"), _MOST_POINT_CHARACTERS)
    if not point:
        raise Unfit(f'Objection {number} has no "point".')
    return {
        "severity": known,
        "material": one_line(bounded_text(fields.get("material")), 200),
        "quote": bounded_text(fields.get("quote")),
        "point": point,
        "resolves_when": bounded_text(fields.get("resolves_when"), _MOST_POINT_CHARACTERS),
    }


def raised_in(values: Mapping[str, Json]) -> tuple[Raised, ...]:
    """The objections in what ``CriticReading`` read."""
    return tuple(Raised(**{**o, "severity": Severity(o["severity"])}) for o in values["objections"])
