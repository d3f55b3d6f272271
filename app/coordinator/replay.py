"""Finding a step's result in the log, by its key and never by its position."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import cast

import orjson

from app.domain.errors import ReplayDiverged
from app.domain.meeting.entries import Event
from app.domain.meeting.events import Replied
from app.domain.replies.reading import Reply
from app.domain.steps import Ask, Note, Save
from app.domain.values import Json

AGAIN = "/again"
"""Ends the key under which a second asking is recorded."""


def fingerprint(step: Ask | Note | Save) -> str:
    """Changes whenever the step does: what is asked of whom, what is told or saved.

    A prompt's wording is not part of it, so that a template can be improved between versions.
    """
    if isinstance(step, Ask):
        return _digest(["ask", step.office, step.who, step.template, step.variables])
    if isinstance(step, Save):
        return _digest(["save", step.content])
    return _digest(["note", step.content.type, step.content.record()])


def _digest(parts: list[Json]) -> str:
    try:
        content = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # It is fast, but takes no halves of characters and no numbers of more than 64 bits.
        content = json.dumps(parts, sort_keys=True).encode()
    return blake2b(content, digest_size=8).hexdigest()


def check_fingerprint(recorded: Event, step: Ask | Note | Save) -> None:
    """Raises ``ReplayDiverged`` if the log holds another step under this key."""
    if recorded.fingerprint != fingerprint(step):
        raise ReplayDiverged(
            f"Step {step.key} of {recorded.meeting_id} is not the one that was recorded "
            f"(entry {recorded.seq}). Its log was written by other code than this."
        )


def recorded_reply(event: Event) -> Reply:
    """The reply that this event tells of, as its format once got it."""
    told = replied(event)
    return Reply(
        who=told.participant,
        round=told.round,
        status=told.status,
        text=told.text,
        values=told.read,
        reason=told.reason,
        asked_twice=told.attempt > 1,
        out_of_time=told.out_of_time,
    )


def replied(event: Event) -> Replied:
    """What an entry under a question's key holds; nothing else is recorded under one."""
    return cast("Replied", event.content)
