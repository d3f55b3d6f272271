"""What surrounds every request, as plain ASGI: a limit on bodies, and a last resort.

Starlette's own ``BaseHTTPMiddleware`` costs more than our handlers do, and its body limit answers
in plain text.
"""

from __future__ import annotations

import asyncio

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import Problem, internal_error, problem_response

MOST_BODY_BYTES = 1024 * 1024

_LINGER_SECONDS = 2.0
_MOST_LINGER_BYTES = 16 * 1024 * 1024

_log = structlog.get_logger(__name__)


class _TooLarge(Exception):
    """Ends whatever was reading the body."""


class BodyLimit:
    """Refuses bodies over the limit, by their announced length or as soon as they pass it."""

    def __init__(self, app: ASGIApp, most_bytes: int = MOST_BODY_BYTES) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _CountedBody(receive, self._most)
        if _announced_length(scope) > self._most:
            await self._refuse(body, scope, send)
            return
        try:
            await self._app(scope, body.receive, send)
        except _TooLarge:
            # Handlers read the whole body before they answer, so nothing has been sent yet.
            await self._refuse(body, scope, send)

    async def _refuse(self, body: _CountedBody, scope: Scope, send: Send) -> None:
        """Answer, and go on reading for a little while before the connection is closed.

        Closing on a client that still sends would reset the connection, and the client would
        see a broken pipe instead of the answer.
        """
        detail = f"A body may have at most {self._most} bytes."
        response = problem_response(
            Problem("body-too-large", detail, headers={"Connection": "close"})
        )
        start = {"type": "http.response.start", "status": 413, "headers": response.raw_headers}
        await send(start)
        content = b"" if scope["method"] == "HEAD" else bytes(response.body)
        await send({"type": "http.response.body", "body": content, "more_body": True})
        await body.discard_rest()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class _CountedBody:
    def __init__(self, receive: Receive, most_bytes: int) -> None:
        self._receive = receive
        self._most = most_bytes
        self._read = 0
        self._complete = False

    async def receive(self) -> Message:
        message = await self._next()
        if self._read > self._most:
            raise _TooLarge
        return message

    async def discard_rest(self) -> None:
        most = self._read + _MOST_LINGER_BYTES
        try:
            async with asyncio.timeout(_LINGER_SECONDS):
                while not self._complete and self._read < most:
                    await self._next()
        except TimeoutError:
            pass

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
        else:
            self._complete = True
        return message


def _announced_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


class LastResort:
    """Logs what no handler foresaw, and answers without a word of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def noticing(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        except Exception:
            _log.exception("request_failed", method=scope["method"], path=scope["path"])
            if started:
                # Too late for an answer: the server cuts the connection, and the client knows.
                raise
            await internal_error()(scope, receive, send)
