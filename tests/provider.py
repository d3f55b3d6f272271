"""A stand-in for a model provider: a real HTTP server on loopback, in a thread of its own.

It speaks OpenAI's Chat Completions and Anthropic's Messages well enough for their SDKs, and
misbehaves on request. Each request takes the next ``Reply`` that was scripted; the last one stays.

    with Provider() as provider:
        provider.will(Reply.text("first"), Reply.status(429, retry_after="2"), Reply.text("then"))
        ... point an agent's base_url at provider.openai_url or provider.anthropic_url ...
        assert provider.requests[0].headers["Idempotency-Key"] == "..."

Everything public may be used from any thread.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

_PATIENCE_SECONDS = 20.0  # for what must happen, before the test fails


class Gate:
    """Something that a reply waits for, until a test opens it; never a fixed sleep."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._opened = False

    def open(self) -> None:
        with self._lock:
            self._opened = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._event.set)

    async def passed(self) -> None:
        with self._lock:
            self._loop = asyncio.get_running_loop()
            if self._opened:
                return
        await self._event.wait()


@dataclass(frozen=True)
class Reply:
    """What the provider does with one request; made by the class methods below.

    ``body`` is sent as it stands. Without one, the answer is made in the shape of the API that
    was called, from ``text``, ``finish`` (``stop``, ``length``, ``content_filter``, ``refusal``)
    and ``tokens`` (in, out; None leaves the usage out).
    """

    text_: str = ""
    finish: str = "stop"
    tokens: tuple[int, int] | None = (12, 5)
    model: str | None = None
    status_: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"
    gate: Gate | None = None  # waited for before anything is sent
    dribble: Gate | None = None  # waited for between two halves of the body
    cut: bool = False  # the connection is cut after half of the body
    compressed: bool = False  # sent as gzip, asked for or not
    chunked: bool = False  # sent without a length

    @classmethod
    def text(cls, text: str, **more: Any) -> Reply:
        return cls(text, **more)

    @classmethod
    def refusal(cls, text: str = "I will not help with that.") -> Reply:
        return cls(text, finish="refusal")

    @classmethod
    def status(cls, status: int, message: str = "no", *, code: str = "", **headers: str) -> Reply:
        """An error answer; headers by name with underscores (``retry_after="2"``)."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        error = {"message": message, "type": code or "error", "code": code or None}
        body = json.dumps({"type": "error", "error": error}).encode()
        return cls(status_=status, headers=named, body=body)

    @classmethod
    def raw(
        cls, body: bytes | str, content_type: str = "application/json", status: int = 200
    ) -> Reply:
        """These very bytes: HTML, broken JSON, JSON of another shape."""
        content = body.encode() if isinstance(body, str) else body
        return cls(body=content, content_type=content_type, status_=status)

    @classmethod
    def large(cls, size: int) -> Reply:
        """A proper answer whose text has so many characters."""
        return cls("x" * size)

    @classmethod
    def gzip_bomb(cls, size: int) -> Reply:
        """So many zeros, compressed to a thousandth without having been asked."""
        return cls(body=b"0" * size, compressed=True)


@dataclass(frozen=True)
class Asked:
    """One request as it arrived. ``hung_up`` is set when the caller left before the answer."""

    path: str
    headers: Mapping[str, str]
    body: Any
    hung_up: threading.Event = field(default_factory=threading.Event)

    @property
    def api(self) -> str:
        return "anthropic" if self.path.endswith("/messages") else "openai"


Answering = Callable[[Asked], Reply]


class Provider:
    """The running stand-in; a context manager."""

    def __init__(self) -> None:
        self._replies: deque[Reply] = deque()
        self._answering: Answering | None = None
        self._asked: list[Asked] = []
        self._changed = threading.Condition()
        self._started = threading.Event()
        self._stopping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.url = ""

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        return self.url

    def will(self, *replies: Reply | str) -> None:
        """From now on give these in turn (a string is a text), and the last one ever after."""
        with self._changed:
            self._answering = None
            self._replies = deque(
                Reply.text(reply) if isinstance(reply, str) else reply for reply in replies
            )

    def will_answer(self, answering: Answering) -> None:
        """From now on make each reply out of the request."""
        with self._changed:
            self._answering = answering

    @property
    def requests(self) -> list[Asked]:
        with self._changed:
            return list(self._asked)

    def wait_for_requests(self, count: int) -> list[Asked]:
        """Block until so many requests have arrived; not to be called on a loop's thread."""
        with self._changed:
            arrived = self._changed.wait_for(
                lambda: len(self._asked) >= count, timeout=_PATIENCE_SECONDS
            )
            assert arrived, f"{len(self._asked)} of {count} requests arrived"
            return list(self._asked)

    async def requests_arrived(self, count: int) -> list[Asked]:
        return await asyncio.to_thread(self.wait_for_requests, count)

    async def caller_hung_up(self, asked: Asked) -> bool:
        return await asyncio.to_thread(asked.hung_up.wait, _PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(_PATIENCE_SECONDS), "the provider did not start"
        return self

    def __exit__(self, *error: object) -> None:
        assert self._loop is not None
        assert self._stopping is not None
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(_PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the provider did not stop"

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.router.add_post("/{path:.*}", self._handle)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        self._started.set()
        await self._stopping.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        asked = Asked(request.path, request.headers.copy(), json.loads(content))
        with self._changed:
            self._asked.append(asked)
            self._changed.notify_all()
        try:
            return await self._send(request, asked, self._next(asked))
        except (asyncio.CancelledError, ConnectionError):
            asked.hung_up.set()
            raise

    def _next(self, asked: Asked) -> Reply:
        with self._changed:
            answering = self._answering
            if answering is None:
                if not self._replies:
                    return Reply.status(500, "nothing was scripted")
                return self._replies.popleft() if len(self._replies) > 1 else self._replies[0]
        return answering(asked)

    async def _send(self, request: web.Request, asked: Asked, reply: Reply) -> web.StreamResponse:
        if reply.gate is not None:
            await reply.gate.passed()
        body = reply.body if reply.body is not None else _SHAPES[asked.api](asked, reply)
        headers = {"Content-Type": reply.content_type, **reply.headers}
        if reply.compressed:
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        response = web.StreamResponse(status=reply.status_, headers=headers)
        if not reply.chunked:
            response.content_length = len(body)
        await response.prepare(request)
        half = len(body) // 2
        await response.write(body[:half])
        if reply.cut and request.transport is not None:
            request.transport.abort()
            return response
        if reply.dribble is not None:
            await reply.dribble.passed()
        await response.write(body[half:])
        return response


def _openai_body(asked: Asked, reply: Reply) -> bytes:
    refused = reply.finish == "refusal"
    message = {
        "role": "assistant",
        "content": None if refused else reply.text_,
        "refusal": reply.text_ if refused else None,
    }
    finish = "stop" if refused else reply.finish
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": reply.model or asked.body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if reply.tokens is not None:
        into, out = reply.tokens
        usage = {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}
        completion["usage"] = usage
    return json.dumps(completion).encode()


_ANTHROPIC_STOPS = {"stop": "end_turn", "length": "max_tokens"}


def _anthropic_body(asked: Asked, reply: Reply) -> bytes:
    into, out = reply.tokens or (0, 0)
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": reply.model or asked.body.get("model"),
        "content": [{"type": "text", "text": reply.text_}] if reply.text_ else [],
        "stop_reason": _ANTHROPIC_STOPS.get(reply.finish, "refusal"),
        "stop_sequence": None,
        "usage": {"input_tokens": into, "output_tokens": out},
    }
    return json.dumps(message).encode()


_SHAPES = {"openai": _openai_body, "anthropic": _anthropic_body}
