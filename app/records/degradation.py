"""What makes a record weaker than it should be, said by name (PROTOCOLS 15, degradation first)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.domain.meeting.gaps import missing_replies, summarised_by_code
from app.domain.meeting.history import History
from app.domain.values import Json
from app.records.asked import record_of
from app.records.catalogue import Words
from app.records.containment import inline
from app.records.operations import degradations_of

Safe = Callable[[str], str]
"""Makes other people's words fit for where the sentence will stand."""


def degradations(past: History) -> Sequence[Mapping[str, Json]]:
    """Degradation records; of a meeting that still runs, what can be told so far. What is saved
    elsewhere counts as it stands now, and not as it did at the end."""
    if past.decision is not None:
        return [*past.decision["degradation"], *degradations_of(past)]
    record = record_of(past)
    counted = ([r for r in held.final_replies if record.is_wanted(r)] for held in past.rounds)
    by_code = [r.number for r in past.rounds if r.summary and r.summary["source"] != "secretary"]
    found = (*missing_replies(counted), *summarised_by_code(by_code))
    return [*(each.record() for each in found), *degradations_of(past)]


def degradation_sentence(words: Words, record: Mapping[str, Json], safe: Safe = inline) -> str:
    kind: str = record["kind"]
    rounds = _rounds_text(words, record["rounds"])
    names = words.joined(safe(name) for name in record["names"])
    of_format, shared = f"{words.format}.degradation_{kind}", f"degradation.{kind}"
    key = of_format if words.has(of_format) else shared
    if words.has(key):
        said = words(key, names=names, rounds=rounds, detail=safe(record["detail"]))
        return said.strip()
    said = [safe(record["detail"]), names, rounds]
    return words("degradation.other", kind=safe(kind), detail=words.joined(filter(None, said)))


def _rounds_text(words: Words, rounds: Sequence[int]) -> str:
    key = "degradation.round" if len(rounds) == 1 else "degradation.rounds"
    return words(key, rounds=words.joined(rounds)) if rounds else ""


def warning_sentence(words: Words, warning: str, safe: Safe = inline) -> str:
    kind, _, name = warning.partition(":")
    key = f"warning.{kind}"
    return (
        words(key, name=safe(name))
        if words.has(key)
        else words("warning.other", code=safe(warning))
    )


def weaknesses(words: Words, past: History) -> str | None:
    """The section that a reader must see first; None when nothing is weak."""
    said = [degradation_sentence(words, record) for record in degradations(past)]
    said += [warning_sentence(words, warning) for warning in past.warnings]
    if not past.ended:
        said.insert(0, words("result.unended"))
    elif past.decision is not None and past.decision["completeness"] == "partial":
        said.insert(0, words("result.partial"))
    if not said:
        return None
    return f"## {words('heading.degradation')}\n\n" + bullets(said)


def bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
