"""Events as they are streamed: encoded once, however many read them."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from app.domain.meeting.events import MeetingEnded
from app.domain.values import rfc3339


class Frame(Struct, frozen=True):
    """One public event as server-sent bytes. ``last`` marks a ``meeting.ended``."""

    number: int
    position: int
    content: bytes
    last: bool


def encode_frame(
    id_: str, type_: str, meeting_id: str, at: datetime, data: str, extra: str = ""
) -> bytes:
    """The frame of API.md: ``id``, ``event``, and ``data`` on one line. ``id_`` is JSON."""
    name = id_.strip('"')
    return (
        f"id: {name}\nevent: {type_}\n"
        f'data: {{"id":{id_},"type":"{type_}","meeting_id":"{meeting_id}",{extra}'
        f'"at":"{rfc3339(at)}","data":{data}}}\n\n'
    ).encode()


def meeting_frame(
    number: int, position: int, type_: str, meeting_id: str, at: datetime, data: str
) -> Frame:
    content = encode_frame(str(number), type_, meeting_id, at, data)
    return Frame(number, position, content, last=type_ == MeetingEnded.type)
