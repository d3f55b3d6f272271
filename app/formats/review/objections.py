"""A review's objections (PROTOCOLS 9): raised, closed, reopened, and what blocks.

An objection rests on a verbatim quote from a material. One whose quote is not there is kept on
record as unsupported; it blocks nothing and is no new evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.domain.meeting.meeting import Material
from app.domain.replies.text import folded
from app.domain.rounds.progress import Progress
from app.domain.values import Json


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


# --- the objections ----------------------------------------------------------------------------


Ground = tuple[str, str]
"""A material's id and a quote, both as they are compared."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An objection as a critic wrote it."""

    severity: Severity
    material: str
    quote: str
    point: str
    resolves_when: str

    @property
    def ground(self) -> Ground | None:
        """What it rests on, word for word; no quote is none."""
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

    def shares_ground(self, critic: str, point: Raised, *, supported: bool) -> bool:
        """Whether this and the critic's point rest on the same words of a material.

        More or fewer words around its own quote are the same ground to a critic; another one may
        mean another thing by a part of them. An invented quote is its own, however many true words
        it holds.
        """
        own, other = self.raised.ground, point.ground
        if own is None or other is None or own[0] != other[0]:
            return False
        if own == other:
            return True
        within = own[1] in other[1] or other[1] in own[1]
        return within and self.critic == critic and self.supported and supported

    def repeats(self, critic: str, point: Raised) -> bool:
        """Whether it is this very point, which its critic has not closed."""
        if not self.open or self.critic != critic or self.raised.ground != point.ground:
            return False
        return folded_quote(self.raised.point) == folded_quote(point.point)

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
    ``settled`` are those closed that were supported and had never been closed before.
    """

    raised: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()

    @property
    def progress(self) -> Progress:
        """What moved (PROTOCOLS 11).

        Closing what had come back, or comes back at once, only leads to where it was before: that
        is a circle. Closing what rests on nothing moves nothing, or it could be done for ever.
        """
        closed = tuple(f"objection_closed:{id_}" for id_ in self.settled)
        return Progress((*closed, *(f"new_evidence:{id_}" for id_ in self.evidence)))


# --- the register -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ObjectionRegister:
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
    ) -> tuple[ObjectionRegister, Changes]:
        """The register after one critic's reply.

        A critic closes only its own open objections, and keeps those it does not close. One on
        the ground of a closed objection, whoever closed it, reopens that one and takes it over;
        one that repeats the critic's own open point changes nothing.
        """
        own, wanted = self.open_of(critic), set(closed)
        done = tuple(id_ for id_ in own if id_ in wanted)
        entry = _Entry(critic, round_, {o.id: o for o in self.objections})
        entry.close(done)
        for point in raised:
            entry.take(point, supported=is_supported(point.quote, point.material, materials))
        changes = Changes(
            raised=tuple(entry.raised),
            closed=done,
            kept=tuple(id_ for id_ in own if id_ not in done),
            reopened=tuple(entry.reopened),
            evidence=tuple(entry.evidence),
            settled=tuple(id_ for id_ in entry.settled if id_ not in entry.reopened),
        )
        return ObjectionRegister(tuple(entry.objections.values())), changes


@dataclass(slots=True)
class _Entry:
    """One critic's reply being entered; ``objections`` are those known so far, by id."""

    critic: str
    round: int
    objections: dict[str, Objection]
    raised: list[str] = field(default_factory=list[str])
    reopened: list[str] = field(default_factory=list[str])
    evidence: list[str] = field(default_factory=list[str])
    settled: list[str] = field(default_factory=list[str])

    def close(self, ids: Iterable[str]) -> None:
        for id_ in ids:
            objection = self.objections[id_]
            self.objections[id_] = replace(objection, closed_in=self.round)
            if objection.supported and not objection.reopened_in:
                self.settled.append(id_)

    def take(self, point: Raised, *, supported: bool) -> None:
        """Raise the point, or reopen what had been closed on its ground."""
        if any(o.repeats(self.critic, point) for o in self.objections.values()):
            return
        known = [
            objection
            for objection in self.objections.values()
            if objection.shares_ground(self.critic, point, supported=supported)
        ]
        closed = next((o for o in known if not o.open), None)
        if closed is not None:
            self._reopen(closed, point, supported=supported)
        else:
            self._raise(point, supported=supported, new_ground=not known)

    def _reopen(self, closed: Objection, point: Raised, *, supported: bool) -> None:
        back = (*closed.reopened_in, self.round)
        self.objections[closed.id] = Objection(
            closed.id, self.critic, point, supported, closed.round, reopened_in=back
        )
        self.reopened.append(closed.id)

    def _raise(self, point: Raised, *, supported: bool, new_ground: bool) -> None:
        id_ = f"obj-{len(self.objections) + 1}"
        self.objections[id_] = Objection(id_, self.critic, point, supported, self.round)
        self.raised.append(id_)
        if supported and new_ground:
            self.evidence.append(id_)
