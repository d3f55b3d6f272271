"""A stand-in for a model provider: Chat Completions on loopback, answered by a function."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from benchmarks.service import HOST


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: which model, and the texts of its messages."""

    model: str
    texts: tuple[str, ...]

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))


Script = Callable[[Asked], Awaitable[str]]


@asynccontextmanager
async def running_provider(script: Script) -> AsyncIterator[str]:
    """The ``base_url`` of a provider whose models say what ``script`` returns."""

    async def answer(request: web.Request) -> web.Response:
        content: dict[str, Any] = await request.json()
        texts = tuple(str(message["content"]) for message in content["messages"])
        text = await script(Asked(content["model"], texts))
        return web.Response(body=_completion(content["model"], text), headers=_JSON)

    application = web.Application(client_max_size=4 * 2**20)
    application.router.add_post("/v1/chat/completions", answer)
    # A script may wait for ever; it is ended when the service hangs up.
    runner = web.AppRunner(
        application, access_log=None, handler_cancellation=True, shutdown_timeout=1
    )
    await runner.setup()
    site = web.TCPSite(runner, HOST, 0, backlog=4096)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield f"http://{HOST}:{port}/v1"
    finally:
        await runner.cleanup()


_JSON = {"Content-Type": "application/json"}


def _completion(model: str, text: str) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(completion).encode()
