"""Rehearsed replies of a review: the author's draft and the critics' objections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.agents.rehearsal_part import UNDECIDED, Part, as_json, excerpt

_MOST_QUOTED = 80


def author(part: Part) -> str:
    draft = [part.lines.draft.format(topic=part.topic)]
    for criterion in part.records("criteria"):
        check = criterion.get("check")
        wanted = check.get("contains") if isinstance(check, Mapping) else None
        text = excerpt(str(criterion.get("text") or criterion.get("id") or ""))
        line = part.lines.draft_criterion.format(text=text)
        draft.append(f"{line} {wanted}" if isinstance(wanted, str) else line)
    changes = [
        {"objection": objection, "change": part.lines.draft_change}
        for objection in part.texts("objections")
    ]
    text = _within(part, "\n".join(draft))
    return as_json(draft=text, changes=changes, open=[], waiting_for=None)


def critic(part: Part) -> str:
    """One objection to the first draft, resting on a material; withdrawn in the next round."""
    raised = part.request.round == 1
    return as_json(
        objections=_objections(part) if raised else [],
        closed=[] if raised else part.texts("own_objections") or part.texts("objections"),
        criteria={
            str(criterion["id"]): "pass"
            for criterion in part.records("criteria")
            if "id" in criterion and not criterion.get("check")
        },
        waiting_for=None,
    )


def _objections(part: Part) -> list[dict[str, Any]]:
    for material in part.records("materials"):
        quote = _quote(material.get("text"))
        if quote:
            return [
                {
                    "severity": "minor" if part.temperament == UNDECIDED else "blocking",
                    "material": str(material.get("id", "")),
                    "quote": quote,
                    "point": part.lines.objection,
                    "resolves_when": part.lines.resolves_when,
                }
            ]
    return []


def _quote(text: object) -> str:
    """The beginning of the first line that says something, word for word."""
    if not isinstance(text, str):
        return ""
    said = (line.strip() for line in text.splitlines())
    return next((line[:_MOST_QUOTED] for line in said if line), "")


def _within(part: Part, draft: str) -> str:
    """The draft, no longer than the strictest criterion allows."""
    checks = (criterion.get("check") for criterion in part.records("criteria"))
    caps = (check.get("max_chars") for check in checks if isinstance(check, Mapping))
    return draft[: min((cap for cap in caps if isinstance(cap, int)), default=len(draft))]
