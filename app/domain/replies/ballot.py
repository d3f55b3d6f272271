"""Reading ballots (PROTOCOLS 6, 7, 8 and 16): what an answerer wrote, or what is wrong with it.

Every reading gives the event fields ``ballot``, ``confidence``, ``rationale`` and ``mitigation``;
``ballot`` has the keys of PROTOCOLS 16, with each option spelled as the meeting spells it. A
fault leaves the ballot out, except that an abstention which is not accepted stays visible. A later
ballot that says why it differs from the last one gives ``changed_because`` too (PROTOCOLS 15).

Off topic is decided by a plain rule: the reply holds no JSON object, and names none of the
options. Such a reading's values carry ``off_topic: True``. Where there are no options to name
(recommendations), a reply without an object is only invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from app.domain.replies.messages import Code, Message, Unfit
from app.domain.replies.numbers import json_number, read_number
from app.domain.replies.quoting import NO_OBJECT, bounded_text, listed, mentioned, shown
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.text import folded, last_json_object, without_thinking
from app.domain.values import Json

ABSTAIN = "ABSTAIN"
"""What a voter writes, and a ballot holds under ``vote``, for an abstention of either kind."""


def _blank() -> dict[str, Json]:
    return {"ballot": None, "confidence": None, "rationale": "", "mitigation": ""}


def ballot_values(
    ballot: Mapping[str, Json], answer: Mapping[str, Json], confidence: Json = None
) -> dict[str, Json]:
    values: dict[str, Json] = {
        "ballot": dict(ballot),
        "confidence": confidence,
        "rationale": bounded_text(answer.get("rationale")),
        "mitigation": bounded_text(answer.get("mitigation")),
    }
    changed = bounded_text(answer.get("changed_because"))
    return values | {"changed_because": changed} if changed else values


def read_ballot(text: str, names: Sequence[str], ballot: Callable[[dict[str, Json]], Read]) -> Read:
    answer = last_json_object(text)
    if answer is None:
        off_topic = bool(names) and not mentioned(without_thinking(text), names)
        return Read(_blank() | ({"off_topic": True} if off_topic else {}), NO_OBJECT)
    try:
        return ballot(answer)
    except Unfit as unfit:
        return Read(_blank(), unfit.message)


def number_between(value: object, what: Message, low: int, high: int) -> Fraction:
    number = read_number(value, high)
    if number is None:
        raise Unfit(Code.NOT_A_NUMBER, what=what, value=shown(value), low=low, high=high)
    if not low <= number <= high:
        raise Unfit(Code.OUT_OF_RANGE, what=what, low=low, high=high)
    return number


def confidence_of(answer: Mapping[str, Json], low: int, high: int, *, required: bool) -> Json:
    given = answer.get("confidence")
    if given is None and not required:
        return None
    if given is None:
        raise Unfit(Code.KEY_MISSING, key="confidence")
    what = Message.of(Code.THE_KEY, key="confidence")
    number = number_between(given, what, low, high)
    return float(number) if high == 1 else json_number(number)


def canonical(value: object, names: Iterable[str]) -> str | None:
    """The name that a reply means, as the meeting spells it; numbers may name an option too."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        return None
    return next((name for name in names if folded(name) == folded(text)), None)


def entries_of(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _abstains(value: object) -> bool:
    return isinstance(value, str) and folded(value) == folded(ABSTAIN)


def _abstention(answer: Mapping[str, Json], options: Sequence[str], *, accepted: bool) -> Read:
    # The ballot stays visible when it is not accepted: such a vote ends undecided (PROTOCOLS 7,
    # abstentions), and the record must say by whom.
    fault = Message.of(Code.ABSTENTION_REFUSED, options=listed(options))
    return Read(ballot_values({"vote": ABSTAIN}, answer), None if accepted else fault)


def ranking_of(value: object, names: Sequence[str], *, complete: bool) -> list[str]:
    if not isinstance(value, list) or not value:
        raise Unfit(Code.RANKING_NOT_A_LIST, names=listed(names))
    entries = entries_of(cast("Any", value))
    ranked = [canonical(entry, names) for entry in entries]
    unknown = [entry for entry, name in zip(entries, ranked, strict=True) if name is None]
    if unknown:
        raise Unfit(Code.RANKING_UNKNOWN, unknown=listed(unknown), names=listed(names))
    order = [name for name in ranked if name is not None]
    repeated = [name for name in names if order.count(name) > 1]
    if repeated:
        raise Unfit(Code.RANKING_REPEATED, repeated=listed(repeated))
    missing = [name for name in names if name not in order]
    if complete and missing:
        raise Unfit(Code.RANKING_INCOMPLETE, missing=listed(missing))
    return order


class BallotReading:
    """What stands in a ballot's place when there is none."""

    __slots__ = ()

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return _blank()


@dataclass(frozen=True, slots=True)
class VoteReading(BallotReading):
    """Reads a vote for one option, with a confidence in [0, 1]: ``{"vote": option}``.

    An option that is itself called ABSTAIN is meant before an abstention is.
    """

    options: tuple[str, ...]
    abstention_accepted: bool = True

    def read(self, text: str) -> Read:
        return read_ballot(text, self.options, self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        if "vote" not in answer:
            raise Unfit(Code.KEY_MISSING, key="vote")
        option = canonical(answer["vote"], self.options)
        if option is None and _abstains(answer["vote"]):
            return _abstention(answer, self.options, accepted=self.abstention_accepted)
        if option is None:
            value = shown(answer["vote"])
            raise Unfit(Code.VOTE_UNKNOWN, value=value, options=listed(self.options))
        confidence = confidence_of(answer, 0, 1, required=True)
        return Read(ballot_values({"vote": option}, answer, confidence))


@dataclass(frozen=True, slots=True)
class RankingReading(BallotReading):
    """Reads options in order, best first: ``{"ranking": [option, …]}``, confidence in [0, 1].

    Options may be left out unless ``complete`` is set: in a poll they share the points that
    remain, in a ranked vote the ballot is exhausted when its last option is dropped. A ranked
    vote's abstention is ABSTAIN under ``ranking`` or ``vote``.
    """

    options: tuple[str, ...]
    complete: bool = False
    abstention_accepted: bool | None = None
    """None where there is no such thing as an abstention (a poll)."""

    def read(self, text: str) -> Read:
        return read_ballot(text, self.options, self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        given = answer.get("ranking")
        first = entries_of(answer.get("vote") if given is None else given)[:1]
        abstains = any(_abstains(said) and not canonical(said, self.options) for said in first)
        if self.abstention_accepted is not None and abstains:
            return _abstention(answer, self.options, accepted=self.abstention_accepted)
        ranking = ranking_of(given, self.options, complete=self.complete)
        confidence = confidence_of(answer, 0, 1, required=False)
        return Read(ballot_values({"ranking": ranking}, answer, confidence))
