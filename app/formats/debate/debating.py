"""The debate's own rules (PROTOCOLS 5): who argues from where, who backs whom, and when it ends.

Perspectives are keys; their texts live in the prompts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.replies.ballot import json_number, read_number
from app.domain.replies.messages import Code, Message
from app.domain.replies.quoting import listed, mentioned, shown
from app.domain.replies.reading import Read, ReplyStatus
from app.domain.replies.sections import read_sections
from app.domain.replies.text import folded, one_line, without_thinking
from app.domain.rounds.progress import Progress
from app.domain.values import Json

OPENING = ("POSITION", "REASONING", "PROPOSAL", "CONCERNS")
ANSWER = (
    "AGREEMENTS",
    "DISAGREEMENTS",
    "REFINED PROPOSAL",
    "CONCERNS",
    "BACKS",
    "CONFIDENCE",
    "CHANGED BECAUSE",
)
CONVERGED_FROM = 8
"""The confidence from which backing a proposal counts toward convergence."""

_MOST_REASON_CHARACTERS = 300
_EMPHASIS = "*_` \t\"'“”「」『』()（）[].。:：,、"

_NOTHING = frozenset({
    "", "none", "none at all", "no concerns", "no concern", "nothing", "nothing new", "n/a", "na",
    "なし", "無し", "ない", "特になし", "特に無し", "特にない", "ありません", "特にありません",
    "該当なし",
})  # fmt: skip
"""What answerers write where there is nothing to say."""

TopicKind = Literal["software", "product", "strategy"]
Diversity = Literal["roles", "constraints", "auto"]
Band = Literal["low", "middle", "high"]

ROLES: Mapping[TopicKind, tuple[str, str, str]] = {
    "software": ("architect", "pragmatist", "critic"),
    "product": ("user_advocate", "business_strategist", "engineer"),
    "strategy": ("optimist", "sceptic", "synthesiser"),
}
TENSION = (
    "devils_advocate",
    "operator",
    "newcomer",
    "risk_officer",
    "minimalist",
    "historian",
    "long_term_owner",
    "measurer",
)
"""The roles past three, in this order, then from the start again."""

CONSTRAINTS = ("smallest_surface", "most_flexible", "best_common_case", "named_paradigm")

_ENGLISH: Mapping[TopicKind, str] = {
    "software": (
        "software code codebase api apis database databases backend frontend microservice "
        "microservices monolith monorepo repository repositories deploy deployment kubernetes "
        "docker framework library libraries programming refactor refactoring "
        "server servers cache caching queue sql postgresql mysql graphql devops "
        "typescript python rust java compiler test tests testing bug bugs latency"
    ),
    "product": (
        "product products feature features user users customer customers ux ui onboarding "
        "roadmap mvp app usability checkout signup subscription pricing churn retention"
    ),
    "strategy": (
        "strategy strategic market markets business company budget invest investment hire hiring "
        "growth merger acquisition policy expansion revenue competitor competitors partnership "
        "organisation organization"
    ),
}
_JAPANESE: Mapping[TopicKind, str] = {
    "software": (
        "ソフトウェア コード データベース バックエンド フロントエンド マイクロサービス モノリス "
        "モノレポ リポジトリ デプロイ フレームワーク ライブラリ プログラミング リファクタリング "
        "サーバー キャッシュ テスト バグ 実装 開発言語 システム"
    ),
    "product": (
        "プロダクト 製品 商品 機能 ユーザー 利用者 顧客 オンボーディング ロードマップ 画面 "
        "使いやすさ 料金 価格 解約 アプリ"
    ),
    "strategy": (
        "戦略 市場 事業 経営 会社 予算 投資 採用 成長 買収 合併 方針 進出 売上 競合 提携 組織"
    ),
}
_DESIGN = re.compile(
    r"\b(?:design|designs|designing|architecture|architectural|interface|schema)\b"
    r"|設計|アーキテクチャ|インターフェース|スキーマ"
)


def topic_kind(topic: str) -> TopicKind:
    """The kind whose words occur most in a topic; the first of equal ones, strategy if none."""
    text = folded(topic)
    words = set(re.findall(r"[a-z]+", text))
    hits = {
        kind: len(words & set(_ENGLISH[kind].split()))
        + sum(word in text for word in _JAPANESE[kind].split())
        for kind in ROLES
    }
    kinds: tuple[TopicKind, ...] = ("software", "product", "strategy")
    best = max(kinds, key=lambda kind: hits[kind])
    return best if hits[best] else "strategy"


def is_design(topic: str) -> bool:
    """Whether a topic asks for a design or an architecture."""
    return _DESIGN.search(folded(topic)) is not None


def perspectives(topic: str, count: int, diversity: Diversity = "auto") -> tuple[str, ...]:
    """The roles or structural constraints of that many seats nobody gave a role."""
    if diversity == "constraints" or (diversity == "auto" and is_design(topic)):
        return tuple(CONSTRAINTS[index % len(CONSTRAINTS)] for index in range(count))
    roles = ROLES[topic_kind(topic)]
    more = tuple(TENSION[index % len(TENSION)] for index in range(count - len(roles)))
    return (*roles, *more)[:count]


# --- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DebateOpeningReading:
    """Reads round 1. A missing section is empty; a reply without any section is at fault."""

    def read(self, text: str) -> Read:
        sections = read_sections(text, OPENING)
        wanted = tuple(f"{heading}:" for heading in OPENING)
        fault = Message.of(Code.NO_SECTION, headings=wanted)
        return Read({"sections": sections}, None if any(sections.values()) else fault)

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return {"sections": {heading.lower(): "" for heading in OPENING}}


@dataclass(frozen=True, slots=True)
class DebateAnswerReading:
    """Reads a later round: which of the ``labels`` it backs, and its confidence from 1 to 10.

    CONCERNS is read where an answerer writes it, and never asked for.
    """

    labels: tuple[str, ...]

    def read(self, text: str) -> Read:
        sections = read_sections(text, ANSWER)
        backs = backed_label(sections["backs"], self.labels)
        confidence = read_confidence(sections["confidence"])
        faults: list[Message] = []
        if backs is None:
            named, known = shown(sections["backs"]), listed(self.labels)
            faults.append(Message.of(Code.BACKS_UNCLEAR, value=named, labels=known))
        if confidence is None:
            given = shown(sections["confidence"])
            faults.append(Message.of(Code.CONFIDENCE_UNCLEAR, value=given))
        values = self._values(sections, backs, confidence)
        return Read(values, _together(faults))

    def absent(self, status: ReplyStatus) -> Mapping[str, Json]:
        del status
        return self._values({heading.lower(): "" for heading in ANSWER}, None, None)

    def _values(
        self, sections: Mapping[str, str], backs: str | None, confidence: int | None
    ) -> dict[str, Json]:
        reason = one_line(sections["changed because"], _MOST_REASON_CHARACTERS) or None
        return {
            "sections": dict(sections),
            "backs": backs,
            "confidence": confidence,
            "changed_because": reason,
        }


def _together(faults: Sequence[Message]) -> Message | None:
    if len(faults) == 2:
        return Message.of(Code.BOTH, first=faults[0], second=faults[1])
    return faults[0] if faults else None


def backed_label(text: str, labels: Sequence[str]) -> str | None:
    """The one label that a text names, in full or by its letter alone; None for none or several.

    ``**Participant B**``, ``participant b (mine)`` and ``B`` all name Participant B.
    """
    named = mentioned(text, labels)
    if len(named) == 1:
        return named[0]
    letters = {folded(label.split()[-1]): label for label in labels if _lettered(label)}
    return None if named else letters.get(folded(text).strip(_EMPHASIS))


def _lettered(label: str) -> bool:
    return re.fullmatch(r"\S+ [A-Z]+", label) is not None


def read_confidence(text: str) -> int | None:
    """A whole confidence from 1 to 10: ``8``, ``8/10``, ``80%``, or such with ``(a remark)``."""
    plain = re.sub(r"\(.*\)", "", unicodedata.normalize("NFKC", text), flags=re.DOTALL)
    number = read_number(plain.strip("*_`\n ").rstrip("."), 10)
    if number is None or number.denominator != 1 or not 1 <= number <= 10:
        return None
    return int(json_number(number))


# --- counting -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Backing:
    """What one seat backs after a round, by label; None without a reply that could be read."""

    label: str | None = None
    confidence: int | None = None


def converged_on(backings: Iterable[Backing]) -> str | None:
    """The label that every seat backs with confidence 8 or more; an empty seat prevents it."""
    seats = tuple(backings)
    labels = {seat.label for seat in seats}
    sure = all(seat.confidence is not None and seat.confidence >= CONVERGED_FROM for seat in seats)
    return labels.pop() if len(labels) == 1 and sure else None


_AGAINST = re.compile(
    r"\b(?:not|never|no|none|nor|neither|without|against|avoid|reject|drop|except|unless|but|rather"
    r"|instead|than|over|only if)\b|n['’]t\b"
    r"|ない|なく|ません|ぬ|反対|避け|やめ|以外|除|より|だけは|否",
    re.IGNORECASE,
)
"""Words that may turn a named option into its opposite. A position that holds one is left to
round 2: two who only seem to agree would otherwise end the debate (PROTOCOLS 2, rule 4)."""

_SHORTEST_WORD = 3
"""An option of fewer letters is also an article or an initial, and has to stand alone."""


def common_option(positions: Iterable[str | None], options: Sequence[str]) -> str | None:
    """The option that every seat's opening position plainly takes, each naming no other one."""
    found = {_taken_option(without_thinking(said or ""), options) for said in positions}
    return found.pop() if len(found) == 1 else None


def _taken_option(position: str, options: Sequence[str]) -> str | None:
    names = mentioned(position, options)
    if len(names) != 1:
        return None
    alone = folded(position.strip(" \t\n.。!！*_`\"“”'‘’「」")) == folded(names[0])
    plain = len(names[0]) >= _SHORTEST_WORD and _AGAINST.search(position) is None
    return names[0] if alone or plain else None


def band(confidence: int | None) -> Band | None:
    """Low 1–4, middle 5–7, high from 8 on, where convergence begins."""
    if confidence is None:
        return None
    if confidence >= CONVERGED_FROM:
        return "high"
    return "middle" if confidence >= 5 else "low"


def debate_progress(
    before: Mapping[str, Backing],
    now: Mapping[str, Backing],
    concerns_before: Iterable[str] = (),
    concerns_now: Mapping[str, Sequence[str]] | None = None,
) -> Progress:
    """What moved between two rounds: a backed label, a confidence band, a new concern.

    Only seats that replied in both rounds are compared. In round 1 everybody stands behind its
    own proposal: give its own label and no confidence for it.
    """
    reasons: list[str] = []
    for name, backing in now.items():
        last = before.get(name, Backing())
        if last.label and backing.label and last.label != backing.label:
            reasons.append(f"backed_label_changed:{name}")
        bands = {band(last.confidence), band(backing.confidence)}
        if len(bands) == 2 and None not in bands:
            reasons.append(f"confidence_band_changed:{name}")
    known = list(concerns_before)
    for name, concerns in (concerns_now or {}).items():
        new = [concern for concern in concerns if not any(alike(concern, old) for old in known)]
        reasons += [f"concern_named:{name}"] * bool(new)
        known += new
    return Progress(tuple(reasons))


def concerns_in(section: str) -> tuple[str, ...]:
    """The single concerns of a CONCERNS section: one a line, without its bullet."""
    lines = (re.sub(r"^\s*(?:[-*•・]|\d+[.)])\s*", "", line) for line in section.split("\n"))
    return tuple(line.strip() for line in lines if says_something(line))


def says_something(section: str) -> bool:
    """Whether there is more in a section than the word that there is nothing."""
    return folded(section).strip(_EMPHASIS + "-–—・") not in _NOTHING


def alike(one: str, other: str) -> bool:
    """Whether two concerns share half of their letter pairs: different words are no progress."""
    pairs, others = _pairs(one), _pairs(other)
    return 4 * len(pairs & others) >= len(pairs) + len(others)


def _pairs(text: str) -> frozenset[str]:
    letters = "".join(re.findall(r"\w", folded(text)))
    return frozenset(letters[i : i + 2] for i in range(len(letters) - 1)) or frozenset({letters})
