"""Runs the service under uvicorn."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from types import FrameType

import structlog
import uvicorn
from fastapi import FastAPI

from app.main import check_models, create_app
from app.settings import Settings
from app.store.database import Database
from app.store.file_lock import FileLock
from app.store.migrating import ensure_newest

_COLLECTOR_THRESHOLDS = (10_000, 10, 10)
_DRAIN_SECONDS = 1
"""Open streams are told to end at once; this is for whoever does not take it in."""


class _Server(uvicorn.Server):
    """Tells open streams about a shutdown before uvicorn begins to wait for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        services = getattr(self._app.state, "services", None)
        if services is not None:
            asyncio.get_running_loop().call_soon_threadsafe(services.shutdown.set)
        super().handle_exit(sig, frame)
        # uvicorn would raise the signal anew after its clean end, and the process die by it.
        self._captured_signals.clear()

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app


def serve(settings: Settings) -> None:
    """Serve until interrupted.

    Raises ``DatabaseInUse`` if another process has the file, or says why it cannot be used.
    """
    configure_logging(settings)
    log = structlog.get_logger("yoriai")
    check_models(settings)
    database = Database(settings.database_url)
    with FileLock(database.path):
        # Here and not in the application, so that a file that cannot be used is one plain line.
        ensure_newest(database.writer)
        database.writer.dispose()
        for sentence in settings.without_effect():
            log.warning("setting.without_effect", detail=sentence)
        for sentence in settings.loosened():
            log.warning("setting.loosened", detail=sentence)
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
        _spare_the_collector()
        _Server(config, app).run()


def _spare_the_collector() -> None:
    """Have cyclic garbage looked for from here on, but seldom: there is hardly any.

    With Python's defaults a loaded service spends a tenth of its time on it: what start-up made
    is walked through again and again, and never goes.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECTOR_THRESHOLDS)
    gc.enable()


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
