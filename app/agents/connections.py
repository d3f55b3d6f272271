"""The one HTTP client that all models share, for the life of the process.

httpx's own connection pool collapses under concurrency, so this is httpx over aiohttp. What the
model SDKs are made for is httpx2, httpx's successor; hence the import. Both are slow to import
and nothing needs them before a model is first asked, so only the type is named up here.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

MOST_BODY_BYTES = 4 * 1024 * 1024


class Connections:
    """Opens the client when it is first needed; from then on everybody gets the same one."""

    def __init__(self, most_body_bytes: int = MOST_BODY_BYTES) -> None:
        self._most_body_bytes = most_body_bytes
        self._opening = threading.Lock()
        self._client: httpx2.AsyncClient | None = None

    def client(self) -> httpx2.AsyncClient:
        """The shared client; may be called from any thread, and blocks while it is made."""
        with self._opening:
            if self._client is None:
                from app.agents.transport import open_client

                self._client = open_client(self._most_body_bytes)
            return self._client

    async def close(self) -> None:
        """Close every connection; requests under way fail."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
