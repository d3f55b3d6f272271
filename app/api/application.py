"""The application: the routes, what surrounds them, and the document that describes them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from app.api import docs_page
from app.api.middleware import BodyLimit, LastResort
from app.api.openapi import describe
from app.api.problems import answer_problems
from app.api.routes import agents, events, health, meetings, operations, records
from app.api.services import Services

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_PARTS = (meetings, events, records, operations, agents, health, docs_page)


def create_api(services: Services | None = None, lifespan: Lifespan | None = None) -> FastAPI:
    """The HTTP service. Without ``services``, the lifespan has to set ``app.state.services``.

    The OpenAPI document can be had without either.
    """
    app = FastAPI(
        title="Yoriai",
        version=version("yoriai"),
        lifespan=lifespan,
        redirect_slashes=False,
        # FastAPI's own pages load their scripts from a foreign server.
        docs_url=None,
        redoc_url=None,
    )
    app.state.services = services
    for part in _PARTS:
        # Including the routers would have each request looked for in one after the other, twice.
        app.router.routes.extend(part.router.routes)
    answer_problems(app, _methods_at)
    app.add_middleware(BodyLimit)
    app.add_middleware(LastResort)
    _describe_once(app)
    return app


def _methods_at(path: str) -> set[str]:
    routes = (route for part in _PARTS for route in part.router.routes)
    fitting = (
        route for route in routes if isinstance(route, APIRoute) and route.path_regex.match(path)
    )
    return {method for route in fitting for method in route.methods or ()}


def _describe_once(app: FastAPI) -> None:
    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = describe(app)
        return app.openapi_schema

    app.openapi = openapi
