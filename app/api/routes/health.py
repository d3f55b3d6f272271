"""Whether the process is alive, and whether it can serve."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.api.json_answer import json_answer
from app.api.parameters import StrictRoute, problems
from app.api.problems import Problem
from app.api.schemas import answers
from app.api.services import Given

router = APIRouter(tags=["health"], route_class=StrictRoute)


@router.get(
    "/healthz",
    operation_id="get_health",
    summary="Alive",
    response_model=answers.Health,
    responses=problems(),
)
async def get_health() -> Response:
    return json_answer({"status": "ok"})


@router.get(
    "/readyz",
    operation_id="get_readiness",
    summary="Able to serve: the database and the engine",
    response_model=answers.Readiness,
    responses=problems("not-ready"),
)
async def get_readiness(services: Given) -> Response:
    checks = dict(await services.ready())
    if services.shutdown.is_set():
        checks["running"] = False
    failed = [name for name, good in checks.items() if not good]
    if failed:
        detail = f"Not ready: {', '.join(failed)}."
        raise Problem("not-ready", detail, headers={"Retry-After": "1"}, more={"checks": checks})
    return json_answer({"status": "ready", "checks": checks})
