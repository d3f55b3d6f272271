"""The composition root: the only place that knows which store, dispatcher and agents there are."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import structlog
from fastapi import FastAPI
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.agents.connections import Connections
from app.agents.directory import AgentDirectory, ModelDefaults, default_settings
from app.api.application import create_api
from app.api.services import Services
from app.coordinator.drafting import Drafting
from app.coordinator.ports import Outlets, Prompt
from app.coordinator.reconciling import Reconciliation
from app.coordinator.runner import Runner
from app.coordinator.service import MeetingService
from app.dispatch.embedded import EmbeddedDispatch
from app.domain.meeting.entries import Event
from app.domain.meeting.meeting import Language
from app.domain.values import Json
from app.formats import FORMATS
from app.outbound.destinations import GuardedDestinations
from app.outbound.guard import Guard
from app.outbound.minutes_folder import MinutesFolder
from app.prompts.rendering import Templates
from app.prompts.wording import sentence
from app.records.decision import decision_markdown
from app.records.minutes import minutes_markdown
from app.settings import Settings
from app.store.agent_settings import SqlAgentStore
from app.store.archive import SqlArchive
from app.store.database import Database
from app.store.log import SqlEventLog
from app.store.migrating import ensure_newest
from app.system import SortableIds, SystemClock

_log = structlog.get_logger(__name__)


def create_app(settings: Settings) -> FastAPI:
    """The service, ready for a server; its parts are made when the server starts it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(settings) as services:
            app.state.services = services
            yield

    return create_api(lifespan=lifespan)


def openapi_document() -> str:
    """The OpenAPI document as it is kept in ``openapi/openapi.json``."""
    return json.dumps(create_api().openapi(), indent=2, ensure_ascii=False) + "\n"


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Services]:
    """All parts of the service, at work; unfinished meetings go on by themselves."""
    clock = SystemClock()
    database = Database(settings.database_url)
    ensure_newest(database.writer)
    log = SqlEventLog(database)
    agent_store = SqlAgentStore(database, clock)
    directory = AgentDirectory(
        agent_store.get,
        _defaults(settings),
        now=clock.now,
        monotonic=time.monotonic,
        connections=Connections(),
    )
    minutes = MinutesFolder(settings.minutes_dir, minutes_markdown)
    templates = Templates(FORMATS.packages)

    def prompts(template: str, language: Language, variables: Mapping[str, Json]) -> Prompt:
        return Prompt(*templates.render(template, language, variables))

    def wake(meeting_id: str) -> None:
        dispatch.wake(meeting_id)

    guard = Guard(settings.allow_http_targets, settings.allow_private_targets)
    destinations = GuardedDestinations(guard)
    outlets = Outlets(minutes, _decision_text, destinations)
    runner = Runner(
        log,
        clock,
        directory,
        prompts,
        sentence,
        outlets,
        wake,
        settings.cancel_confirm_seconds,
    )
    reconciliation = Reconciliation(log, clock, destinations, wake)
    dispatch = EmbeddedDispatch(clock, runner.advance, runner.hear)
    drafting = Drafting(
        log, clock, directory, prompts, templates.perspective, SortableIds(), guard.fault
    )
    service = MeetingService(log, clock, drafting, dispatch, log)

    async def check(name: str) -> Mapping[str, Json]:
        return (await directory.check(await directory.find(name))).record()

    services = Services(
        meetings=service,
        archive=SqlArchive(database),
        tail=log,
        agents=agent_store,
        agent_check=check,
        reconcile=reconciliation.look,
        clock=clock,
        ready=partial(readiness, database, log),
        shutdown=asyncio.Event(),
    )
    try:
        for meeting_id in await log.unfinished():
            dispatch.wake(meeting_id)
        yield services
    finally:
        await dispatch.close()
        await log.close()
        await directory.close()
        await destinations.close()
        minutes.close()
        await database.close()


def check_models(settings: Settings) -> None:
    """Raises ``InvalidRequest`` if the settings name a model that cannot be the default."""
    default_settings(_defaults(settings))


async def _decision_text(events: Sequence[Event]) -> str:
    return await asyncio.to_thread(decision_markdown, events)


def _defaults(settings: Settings) -> ModelDefaults:
    return ModelDefaults(
        default_model=settings.default_model,
        default_base_url=settings.default_base_url,
        default_api_key=settings.default_api_key,
        standard=settings.model_standard,
        anthropic_api_key=settings.anthropic_api_key,
        openai_api_key=settings.openai_api_key,
    )


async def readiness(database: Database, log: SqlEventLog) -> Mapping[str, bool]:
    """What has to be well for a request to be served, each under the name that callers read."""
    return {"database": await _answers(database), "engine": log.writing}


async def _answers(database: Database) -> bool:
    try:
        async with database.reader.connect() as connection:
            await connection.execute(text("SELECT 1"))
    except SQLAlchemyError as failure:
        _log.error("readyz.database", reason=str(failure))
        return False
    return True
