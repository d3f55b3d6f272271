"""Runs the service under uvicorn."""

from __future__ import annotations

import asyncio
import logging
import sys
from types import FrameType

import structlog
import uvicorn
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.store.database import Database
from app.store.file_lock import FileLock

_DRAIN_SECONDS = 2
"""Open streams are told to end at once; this is for whoever does not take it in."""


class _Server(uvicorn.Server):
    """Tells open streams about a shutdown before uvicorn begins to wait for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        services = getattr(self._app.state, "services", None)
        if services is not None:
            asyncio.get_running_loop().call_soon_threadsafe(services.shutdown.set)
        super().handle_exit(sig, frame)

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app


def serve(settings: Settings) -> None:
    """Serve until interrupted. Raises ``DatabaseInUse`` if another process has the file."""
    configure_logging(settings)
    log = structlog.get_logger("yoriai")
    with FileLock(Database(settings.database_url).path):
        for sentence in settings.without_effect():
            log.warning("setting.without_effect", detail=sentence)
        log.info(
            "serving",
            address=f"http://{settings.host}:{settings.port}",
            reach="loopback only, no access keys are configured",
        )
        app = create_app(settings)
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
            ws="none",
        )
        _Server(config, app).run()


def configure_logging(settings: Settings) -> None:
    """One line an event on standard error, as text or JSON; never the values of variables."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    logging.basicConfig(level=max(level, logging.WARNING), format="%(levelname)s %(message)s")
    finish: list[structlog.typing.Processor] = (
        [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
        if settings.log_json
        else [
            structlog.dev.ConsoleRenderer(
                colors=False, exception_formatter=structlog.dev.plain_traceback
            )
        ]
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *finish,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
