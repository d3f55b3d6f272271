"""Reading ballots (PROTOCOLS 6, 7, 8 and 16): what an answerer wrote, or what is wrong with it.

Every reading gives the event fields ``ballot``, ``confidence``, ``rationale`` and ``mitigation``;
``ballot`` has the keys of PROTOCOLS 16, with each option spelled as the meeting spells it. A
fault leaves the ballot out, except that an abstention which is not accepted stays visible.

Off topic is decided by a plain rule: the reply holds no JSON object, and names none of the
options. Such a reading's values carry ``off_topic: True``. Where there are no options to name
(recommendations), a reply without an object is only invalid.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from app.domain.meeting import Json, exact
from app.domain.reply_text import clean, folded, last_json_object, one_line, without_thinking
from app.domain.steps import Read, ReplyStatus

ABSTAIN = "ABSTAIN"
"""What a voter writes, and a ballot holds under ``vote``, for an abstention of either kind."""

MOST_RECOMMENDATIONS = 3
MOST_REASONS = 3
MOST_TEXT_CHARACTERS = 2_000
_MOST_NAME_CHARACTERS = 200
_MOST_SHOWN = 20

NO_OBJECT = "There is no JSON object in the reply."

_DIGITS = r"(?:\d{1,6}(?:\.\d{1,9})?|\.\d{1,9})"
_NUMBER = re.compile(rf"([+-]?{_DIGITS})\s*(?:(%)|/\s*({_DIGITS}))?", re.ASCII)


class Unfit(Exception):
    """What does not fit, as a sentence addressed to the answerer."""


def read_number(value: object, scale: int) -> Fraction | None:
    """A number as it was written, or None for anything else (words, booleans, infinities).

    ``9/10`` and ``90%`` are parts of ``scale``: 0.9 on a scale of 1, 9 on a scale of 10. Digits
    are bounded and strings have no exponents, so no spelling can make a huge number.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return exact(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    match = _NUMBER.fullmatch(unicodedata.normalize("NFKC", value).strip())
    if match is None:
        return None
    number = Fraction(match[1])
    if match[2]:
        return number * scale / 100
    whole = Fraction(match[3]) if match[3] else None
    if whole is None:
        return number
    return number * scale / whole if whole else None


def json_number(value: Fraction) -> int | float:
    """The JSON number whose ``exact`` is this value, for every value that decimals can write."""
    return value.numerator if value.denominator == 1 else float(value)


def share_record(share: Fraction) -> dict[str, Json]:
    """A share for the record: exact, and in per cent to one decimal for show."""
    return {
        "numerator": share.numerator,
        "denominator": share.denominator,
        "percent": float(round(share * 100, 1)),
    }


def bounded_text(value: object, most_characters: int = MOST_TEXT_CHARACTERS) -> str:
    """Text out of a JSON reply, fit to be stored; anything but a string is empty."""
    if not isinstance(value, str):
        return ""
    # JSON can spell half a surrogate pair, which no store can encode.
    return clean(value.encode("utf-8", "replace").decode(), most_characters)


def mentioned(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that occur in a text as whole words, in the order of ``names``.

    Where one name contains another, the longer one is found; spaces inside a name are optional.
    """
    by_key = {_squeezed(name): name for name in names if folded(name)}
    if not by_key:
        return ()
    found = _names_pattern(tuple(by_key)).findall(unicodedata.normalize("NFKC", text).casefold())
    seen = {_squeezed(match) for match in found}
    return tuple(name for key, name in by_key.items() if key in seen)


def _squeezed(name: str) -> str:
    return "".join(folded(name).split())


@lru_cache(maxsize=256)
def _names_pattern(keys: tuple[str, ...]) -> re.Pattern[str]:
    # Longest first, or "React" would be found where "React Native" stands. Japanese has no spaces
    # between words, so only ASCII letters and digits make a boundary.
    spaced = (r"\s*".join(map(re.escape, key)) for key in sorted(keys, key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(spaced)})(?![a-z0-9])")


def shown(value: object) -> str:
    """Something out of a reply, quoted in a sentence about it."""
    if isinstance(value, str):
        return f'"{one_line(bounded_text(value), 80)}"'
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, float) and not math.isfinite(value):
        return "endless"
    return {True: "true", False: "false", None: "null"}.get(cast("Any", value), "a number")


def listed(values: Iterable[object]) -> str:
    every = [shown(value) for value in values]
    return ", ".join(every[:_MOST_SHOWN] + ["…"] * (len(every) > _MOST_SHOWN))


def _blank() -> dict[str, Json]:
    return {"ballot": None, "confidence": None, "rationale": "", "mitigation": ""}


def _values(
    ballot: Mapping[str, Json], answer: Mapping[str, Json], confidence: Json = None
) -> dict[str, Json]:
    return {
        "ballot": dict(ballot),
        "confidence": confidence,
        "rationale": bounded_text(answer.get("rationale")),
        "mitigation": bounded_text(answer.get("mitigation")),
    }


def _read(text: str, names: Sequence[str], ballot: Callable[[dict[str, Json]], Read]) -> Read:
    answer = last_json_object(text)
    if answer is None:
        off_topic = bool(names) and not mentioned(without_thinking(text), names)
        return Read(_blank() | ({"off_topic": True} if off_topic else {}), NO_OBJECT)
    try:
        return ballot(answer)
    except Unfit as unfit:
        return Read(_blank(), str(unfit))


def _number(value: object, what: str, low: int, high: int) -> Fraction:
    scale = "a number from 0 to 1" if high == 1 else f"a number from {low} to {high}"
    number = read_number(value, high)
    if number is None:
        raise Unfit(f"{what} is {shown(value)}; it must be {scale}, in digits.")
    if not low <= number <= high:
        raise Unfit(f"{what} is out of range; it must be {scale}.")
    return number


def _confidence(answer: Mapping[str, Json], low: int, high: int, *, required: bool) -> Json:
    given = answer.get("confidence")
    if given is None and not required:
        return None
    if given is None:
        raise Unfit('The key "confidence" is missing.')
    number = _number(given, 'The key "confidence"', low, high)
    return float(number) if high == 1 else json_number(number)


def _canonical(value: object, names: Iterable[str]) -> str | None:
    """The name that a reply means, as the meeting spells it; numbers may name an option too."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        return None
    return next((name for name in names if folded(name) == folded(text)), None)


def _entries(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _abstains(value: object) -> bool:
    return isinstance(value, str) and folded(value) == folded(ABSTAIN)


def _abstention(answer: Mapping[str, Json], options: Sequence[str], *, accepted: bool) -> Read:
    # The ballot stays visible when it is not accepted: such a vote ends undecided (PROTOCOLS 7,
    # abstentions), and the record must say by whom.
    fault = f"An abstention is not accepted here; choose among {listed(options)}."
    return Read(_values({"vote": ABSTAIN}, answer), None if accepted else fault)


def _ranking(value: object, names: Sequence[str], *, complete: bool) -> list[str]:
    if not isinstance(value, list) or not value:
        raise Unfit(f'The key "ranking" must be a list, best first, of {listed(names)}.')
    entries = _entries(cast("Any", value))
    ranked = [_canonical(entry, names) for entry in entries]
    unknown = [entry for entry, name in zip(entries, ranked, strict=True) if name is None]
    if unknown:
        known = listed(names)
        raise Unfit(f"The ranking names {listed(unknown)}, but there is only {known}.")
    order = [name for name in ranked if name is not None]
    repeated = [name for name in names if order.count(name) > 1]
    if repeated:
        raise Unfit(f"The ranking names {listed(repeated)} more than once.")
    missing = [name for name in names if name not in order]
    if complete and missing:
        raise Unfit(f"The ranking leaves out {listed(missing)}.")
    return order


class _BallotReading:
    """What stands in a ballot's place when there is none."""

    __slots__ = ()

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return _blank()


@dataclass(frozen=True, slots=True)
class VoteReading(_BallotReading):
    """Reads a vote for one option, with a confidence in [0, 1]: ``{"vote": option}``.

    An option that is itself called ABSTAIN is meant before an abstention is.
    """

    options: tuple[str, ...]
    abstention_accepted: bool = True

    def read(self, text: str) -> Read:
        return _read(text, self.options, self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        if "vote" not in answer:
            raise Unfit('The key "vote" is missing.')
        option = _canonical(answer["vote"], self.options)
        if option is None and _abstains(answer["vote"]):
            return _abstention(answer, self.options, accepted=self.abstention_accepted)
        if option is None:
            options = listed(self.options)
            raise Unfit(f"The vote is {shown(answer['vote'])}, but the options are {options}.")
        confidence = _confidence(answer, 0, 1, required=True)
        return Read(_values({"vote": option}, answer, confidence))


@dataclass(frozen=True, slots=True)
class RankingReading(_BallotReading):
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
        return _read(text, self.options, self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        given = answer.get("ranking")
        first = _entries(answer.get("vote") if given is None else given)[:1]
        abstains = any(_abstains(said) and not _canonical(said, self.options) for said in first)
        if self.abstention_accepted is not None and abstains:
            return _abstention(answer, self.options, accepted=self.abstention_accepted)
        ranking = _ranking(given, self.options, complete=self.complete)
        confidence = _confidence(answer, 0, 1, required=False)
        return Read(_values({"ranking": ranking}, answer, confidence))


@dataclass(frozen=True, slots=True)
class LetterRankingReading(_BallotReading):
    """Reads a council's ranking of answers under letters; left-out ones share the last places."""

    letters: tuple[str, ...]

    def read(self, text: str) -> Read:
        # Letters occur in any text, so a ranking of letters is never called off topic.
        return _read(text, (), self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        ranking = _ranking(answer.get("ranking"), self.letters, complete=False)
        return Read(_values({"ranking": ranking}, answer))


@dataclass(frozen=True, slots=True)
class RecommendationReading(_BallotReading):
    """Reads up to three recommendations, each with a confidence from 1 to 10."""

    def read(self, text: str) -> Read:
        return _read(text, (), self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        given = answer.get("recommendations")
        if not isinstance(given, list) or not given:
            raise Unfit('The key "recommendations" must be a list with one to three of them.')
        entries = _entries(cast("Any", given))
        if len(entries) > MOST_RECOMMENDATIONS:
            raise Unfit(f"There are {len(entries)} recommendations; give three at the most.")
        every = [self._recommendation(entry, index) for index, entry in enumerate(entries, 1)]
        return Read(_values({"recommendations": every}, answer))

    def _recommendation(self, entry: object, index: int) -> dict[str, Json]:
        fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        title = one_line(bounded_text(fields.get("title")), _MOST_NAME_CHARACTERS)
        if not title:
            raise Unfit(f'Recommendation {index} has no "title".')
        what = f'The "confidence" of recommendation {index}'
        confidence = json_number(_number(fields.get("confidence"), what, 1, 10))
        return {"title": title, "confidence": confidence, "why": bounded_text(fields.get("why"))}


@dataclass(frozen=True, slots=True)
class BinaryReading(_BallotReading):
    """Reads YES or NO with up to three reasons (more are left out) and a confidence of 1 to 10."""

    def read(self, text: str) -> Read:
        return _read(text, ("YES", "NO"), self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        said = _canonical(answer.get("answer"), ("YES", "NO"))
        if said is None:
            raise Unfit(f'The key "answer" is {shown(answer.get("answer"))}; it must be YES or NO.')
        entries = _entries(answer.get("reasons"))
        reasons = [reason for entry in entries if (reason := bounded_text(entry))]
        confidence = _confidence(answer, 1, 10, required=False)
        ballot = {"answer": said, "reasons": reasons[:MOST_REASONS]}
        return Read(_values(ballot, answer, confidence))


@dataclass(frozen=True, slots=True)
class ScoringReading(_BallotReading):
    """Reads a score from 1 to 10 for each option, on each criterion where there are criteria."""

    options: tuple[str, ...]
    criteria: tuple[str, ...] = ()

    def read(self, text: str) -> Read:
        return _read(text, self.options, self._ballot)

    def _ballot(self, answer: dict[str, Json]) -> Read:
        rows = _named_fields(answer.get("scores"), self.options, 'The key "scores"')
        scores = {option: self._row(option, rows[option]) for option in self.options}
        return Read(_values({"scores": scores}, answer))

    def _row(self, option: str, value: object) -> Json:
        what = f"The score of {shown(option)}"
        if not self.criteria:
            return json_number(_number(value, what, 1, 10))
        cells = _named_fields(value, self.criteria, what)
        return {
            name: json_number(_number(cells[name], f"{what} on {shown(name)}", 1, 10))
            for name in self.criteria
        }


def _named_fields(value: object, names: Sequence[str], what: str) -> dict[str, Json]:
    """A JSON object's fields under the meeting's own names: each name once, and no others."""
    if not isinstance(value, dict):
        raise Unfit(f"{what} must be an object with a value for each of {listed(names)}.")
    fields = cast("dict[str, Any]", value)
    known = [(name, field) for key, field in fields.items() if (name := _canonical(key, names))]
    unknown = [key for key in fields if _canonical(key, names) is None]
    if unknown:
        raise Unfit(f"{what} names {listed(unknown)}, but there is only {listed(names)}.")
    read = dict(known)
    if len(read) < len(known):
        raise Unfit(f"{what} names one of {listed(read)} more than once.")
    missing = [name for name in names if name not in read]
    if missing:
        raise Unfit(f"{what} lacks {listed(missing)}.")
    return read
