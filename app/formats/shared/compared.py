"""The first, independent round beside the last one (PROTOCOLS 15, baseline)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import RoundHeld
from app.domain.values import Json
from app.formats.shared.page import Cell, Heading, Page, Paragraph, Table, Theirs, said, table

View: TypeAlias = Mapping[str, Json]
"""A round as it is compared: its number, motion and counts, and what its format adds."""


def views(past: History) -> tuple[View | None, View | None]:
    """The first round and the last closed one."""
    if past.ended:
        return past.findings.get("baseline"), past.findings.get("final")
    closed = [_view(round_) for round_ in past.rounds if round_.closed is not None]
    return (closed[0], closed[-1]) if closed else (None, None)


def compared(past: History, level: int, heading: Cell, came_to: Callable[[View], Cell]) -> Page:
    """Both rounds in a table, with what each ``came_to`` in a last column under ``heading``."""
    yield Heading(said("heading.baseline"), level)
    baseline, final = views(past)
    if baseline is None or final is None:
        yield Paragraph(said("findings.no_rounds"))
        return
    one_round = baseline["round"] == final["round"]
    shown = {"baseline": baseline} | ({} if one_round else {"final": final})
    yield _rows(len(past.meeting.seats), shown, heading, came_to)
    if one_round:
        yield Paragraph(said("findings.one_round"))
    elif final.get("motion"):
        same = baseline.get("motion") == final.get("motion")
        yield Paragraph(said("findings.same_motion" if same else "findings.other_motion"))


def consensus_of(view: View) -> Cell:
    """What a round came to, where that is a consensus or none."""
    consensus: str | None = view.get("consensus")
    return Theirs(consensus) if consensus else said("measure.missing")


def _rows(
    seats: int, shown: Mapping[str, View], heading: Cell, came_to: Callable[[View], Cell]
) -> Table:
    counted = [kind for view in list(shown.values())[:1] for kind in view.get("counts") or ()]
    rows = [
        [
            said(f"findings.{key}", round=view["round"]),
            *(said("measure.of", part=view["counts"][kind], whole=seats) for kind in counted),
            came_to(view),
        ]
        for key, view in shown.items()
    ]
    return table([said("label.round"), *(Theirs(kind) for kind in counted), heading], rows)


def _view(round_: RoundHeld) -> View:
    closed = round_.closed or {}
    return {
        "round": round_.number,
        "motion": round_.motion,
        "counts": closed.get("counts", {}),
        "consensus": closed.get("consensus"),
    }
