"""A review's objections (PROTOCOLS 9): raised, closed, reopened, and what blocks.

An objection rests on a verbatim quote from a material. One whose quote is not there is kept on
record as unsupported; it blocks nothing and is no new evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from app.domain.meeting import Json, Material
from app.domain.progress import Progress
from app.domain.reply_text import folded


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
    ``again`` are those closed that had been closed before and come back.
    """

    raised: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    again: tuple[str, ...] = ()

    @property
    def circular(self) -> bool:
        """An objection closed earlier is back on the same ground (PROTOCOLS 11)."""
        return bool(self.reopened)

    @property
    def progress(self) -> Progress:
        """Closing what had come back only leads to where it was before: that is a circle."""
        known = {*self.reopened, *self.again}
        closed = tuple(f"objection_closed:{id_}" for id_ in self.closed if id_ not in known)
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
        back_before = {o.id for o in self.objections if o.reopened_in}
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
        closed_again = tuple(id_ for id_ in done if id_ in back_before)
        changes = Changes(tuple(new), done, kept, tuple(reopened), tuple(evidence), closed_again)
        return Ledger(tuple(entries.values())), changes


def _repeats(objection: Objection, critic: str, point: Raised) -> bool:
    same_point = folded_quote(objection.raised.point) == folded_quote(point.point)
    same_ground = objection.raised.ground == point.ground
    return objection.open and objection.critic == critic and same_point and same_ground
