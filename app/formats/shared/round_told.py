"""What a round came to, as minutes tell it below the table of its replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import RoundHeld
from app.formats.shared.page import Cell, Page, Paragraph, Theirs, either, joined, said


def counts(found: Mapping[str, int], seats: int, code: str = "round.counts") -> Page:
    """How many took each position, out of all seats; nothing where nobody was counted."""
    if found:
        each = (said("round.count", stance=Theirs(kind), part=n) for kind, n in found.items())
        yield Paragraph(said(code, counts=joined(each), seats=seats))


def consensus(past: History, round_: RoundHeld) -> Page:
    """How many replies could be used, and what they came to."""
    closed = round_.closed or {}
    if closed.get("consensus"):
        yield Paragraph(
            said(
                "round.effective",
                usable=closed["effective_participants"],
                seats=len(past.meeting.seats),
                consensus=closed["consensus"],
            )
        )


def progress(past: History, round_: RoundHeld) -> Page:
    """What moved in the round (PROTOCOLS 11); nothing while it is open."""
    made = (round_.closed or {}).get("progress")
    if made is not None:
        yield Paragraph(_moved(past.meeting.format, made["reasons"]))


def _moved(format_: str, reasons: Sequence[str]) -> Cell:
    if not reasons:
        return said("round.no_progress")
    return said("round.progress", reasons=joined(_reason(format_, each) for each in reasons))


def _reason(format_: str, reason: str) -> Cell:
    """In the format's own words, where it has some for it."""
    kind, _, name = reason.partition(":")
    shared = either(f"progress.{kind}", Theirs(reason), name=Theirs(name))
    return either(f"{format_}.progress_{kind}", shared, name=Theirs(name))
