"""Answers in JSON, encoded once and by the fastest encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import Response

JSON_TYPE = "application/json"


def encoded(content: Any) -> bytes:
    """The content as JSON; mappings of other kinds than dict are written like one."""
    return orjson.dumps(content, default=_plain)


def json_answer(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return json_bytes(encoded(content), status, headers)


def json_bytes(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    given = None if headers is None else dict(headers)
    return Response(body, status_code=status, headers=given, media_type=JSON_TYPE)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(type(value).__name__)
