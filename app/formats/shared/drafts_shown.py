"""The closing draft in records, marked as one: it decides nothing on its own (PROTOCOLS 11)."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.meeting.history import History
from app.domain.values import Json
from app.formats.shared.page import (
    Heading,
    Page,
    Paragraph,
    Quote,
    Strong,
    Theirs,
    bullets,
    either,
    said,
)

_POINTS = ("agreed", "differ", "concerns")


def draft_of(past: History) -> Mapping[str, Json]:
    """The synthesis that stands: the decision's own, and until then the latest of this leg."""
    return (past.drafted if past.outcome is None else past.outcome.synthesis) or {}


def synthesis_page(past: History) -> Page:
    """It with its points; the format's own words for them where it has some."""
    name, draft = past.meeting.format, draft_of(past)
    yield Heading(said("heading.synthesis"), 3)
    if not draft:
        yield Paragraph(said("outcome.no_synthesis"))
        return
    yield Paragraph(either(f"{name}.synthesis_by", said("outcome.synthesis_by")))
    if past.outcome is None or past.outcome.decision is None:
        yield Paragraph(said("outcome.not_a_decision"))
    if draft.get("decision"):
        yield Quote(draft["decision"])
    for key in _POINTS:
        if draft.get(key):
            yield Strong(either(f"{name}.{key}", said(f"label.{key}")))
            yield bullets(Theirs(point) for point in draft[key])
    if draft.get("recommendation"):
        yield Strong(said("label.recommendation"))
        yield Quote(draft["recommendation"])
