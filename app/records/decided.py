"""What a finished meeting leaves to say: its title, its consequences, who answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.domain.errors import MeetingNotEnded
from app.domain.meeting.entries import Event
from app.domain.meeting.history import History, history
from app.domain.values import Json
from app.records.asked import delivers
from app.records.catalogue import Words, words_of

_MOST_TITLE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Case:
    """A meeting whose decision is recorded."""

    past: History
    words: Words
    decided: Mapping[str, Json]

    @property
    def settled(self) -> bool:
        return self.decided["decision"] is not None


def case_of(log: Iterable[Event]) -> Case:
    """Raises ``MeetingNotEnded`` before ``decision.recorded``."""
    past = history(log)
    if past.decision is None:
        raise MeetingNotEnded(
            f"Meeting {past.meeting.id} has not ended, so it decided nothing yet."
        )
    return Case(past, words_of(past.meeting), past.decision)


def date_of(past: History) -> str:
    return (past.ended_at or past.created_at).date().isoformat()


def title_of(case: Case) -> str:
    """The decision where there is one; otherwise the topic, and that it was not decided."""
    topic = case.past.meeting.topic
    decision: str | None = case.decided["decision"]
    if decision is not None and delivers(case.past.meeting):
        text = topic  # A whole deliverable is no title.
    elif decision is None:
        key = f"decision.{case.decided['result']}_title"
        text = case.words(key, topic=topic) if case.words.has(key) else topic
    else:
        text = decision
    flat = " ".join(text.split())
    if len(flat) > _MOST_TITLE_CHARACTERS:
        return flat[: _MOST_TITLE_CHARACTERS - 1].rstrip() + "…"
    return flat


def consequences(case: Case) -> list[dict[str, Json]]:
    """What follows from a decision: agreed points, risks, the next step. None without one."""
    draft = case.decided["synthesis"]
    if draft is None or not case.settled:
        return []
    found = [{"kind": "gain", "text": text} for text in draft.get("agreed", ())]
    found += [{"kind": "risk", "text": text} for text in draft.get("concerns", ())]
    if draft.get("recommendation"):
        found.append({"kind": "follow_up", "text": draft["recommendation"]})
    return found


def lineage(past: History) -> dict[str, Json]:
    """Which models answered for participants, and whether all of them were one."""
    seats = [past.models_of(seat.name, seat.agent) for seat in past.meeting.seats]
    models = list(dict.fromkeys(model for answered in seats for model in answered))
    single = len(models) == 1 and all(seats) and len(seats) > 1
    return {"models": models, "single_model": single}


def warnings_of(past: History) -> list[str]:
    """The warnings of the meeting, and those that only its replies could show."""
    shown = ["single_model"] if lineage(past)["single_model"] else []
    found = list(dict.fromkeys([*past.warnings, *shown]))
    completion: Mapping[str, Json] = (past.decision or {}).get("completion") or {}
    warning = completion.get("warning")
    return found if warning is None else [*found, warning]
