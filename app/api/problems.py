"""RFC 9457 problem documents; the one place that knows which status belongs to which code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.api.faults import faults_of, fragment
from app.domain.errors import Fault, InvalidRequest, YoriaiError
from app.domain.values import Json

PROBLEM_TYPE = "application/problem+json"
_MOST_TOLD_FAULTS = 3


@dataclass(frozen=True, slots=True)
class Kind:
    status: int
    title: str


KINDS: Mapping[str, Kind] = {
    "malformed-json": Kind(400, "The body is not well-formed JSON"),
    "not-found": Kind(404, "There is nothing at this address"),
    "method-not-allowed": Kind(405, "This address does not answer to this method"),
    "not-acceptable": Kind(406, "There is no representation of the kind asked for"),
    "agent-exists": Kind(409, "There is an agent of this name already"),
    "conflict": Kind(409, "This cannot be done in the present state"),
    "meeting-decided": Kind(409, "The meeting has decided"),
    "meeting-ended": Kind(409, "The meeting has ended"),
    "meeting-not-ended": Kind(409, "The meeting has not ended yet"),
    "no-question-open": Kind(409, "No question is waiting for a ruling"),
    "operation-unknown": Kind(409, "Nobody knows yet what became of an operation"),
    "parent-closed": Kind(409, "The parent meeting has ended or is being cancelled"),
    "request-in-progress": Kind(409, "The first request with this key is still being handled"),
    "version-unknown": Kind(409, "The version of its format is not at hand here"),
    "body-too-large": Kind(413, "The body is too large"),
    "unsupported-media-type": Kind(415, "The body is not of a type that is read here"),
    "idempotency-key-reused": Kind(422, "This idempotency key came with another body before"),
    "invalid-request": Kind(422, "The request cannot be carried out as asked"),
    "out-of-scope": Kind(422, "The ruling is outside what was asked"),
    "not-built-yet": Kind(422, "This version cannot do that yet"),
    "internal-error": Kind(500, "Something went wrong on this side"),
    "log-unavailable": Kind(503, "The store cannot be reached"),
    "not-ready": Kind(503, "The service cannot serve yet"),
}

_INTERNAL = "The fault is ours and has been logged. What was accepted before is kept."
_RETRY = {"Retry-After": "1"}


@dataclass(eq=False)
class Problem(Exception):
    """Something wrong at the edge itself, before or beside the use cases."""

    code: str
    detail: str
    faults: Sequence[Fault] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    more: Mapping[str, Json] = field(default_factory=dict[str, Json])


def document(problem: Problem) -> dict[str, Json]:
    """The problem as a body; 422 always has ``errors``, if only an empty list."""
    kind = KINDS[problem.code]
    body: dict[str, Json] = {
        "type": problem.code,
        "title": kind.title,
        "status": kind.status,
        "detail": problem.detail,
        **problem.more,
    }
    if problem.faults or kind.status == 422:
        body["errors"] = [
            {"pointer": fragment(fault.pointer), "detail": fault.detail} for fault in problem.faults
        ]
    return body


def problem_response(problem: Problem) -> Response:
    return Response(
        # What callers sent may stand in the details, so nothing is taken for valid Unicode.
        orjson.dumps(_encodable(document(problem))),
        status_code=KINDS[problem.code].status,
        headers=dict(problem.headers),
        media_type=PROBLEM_TYPE,
    )


def invalid(*faults: Fault, code: str = "invalid-request") -> Problem:
    """The 422 for these faults; its detail tells the first of them."""
    told = [f"{fragment(fault.pointer)}: {fault.detail}" for fault in faults[:_MOST_TOLD_FAULTS]]
    if len(faults) > len(told):
        told.append("and more, see errors")
    return Problem(code, " ".join(told), faults)


def problem_of(error: YoriaiError) -> Problem:
    """The problem a domain error is shown as; one that has no status here is a bug of ours."""
    if error.code not in KINDS or error.code == "internal-error":
        return Problem("internal-error", _INTERNAL)
    if isinstance(error, InvalidRequest):
        return invalid(*error.faults, code=error.code)
    headers = _RETRY if KINDS[error.code].status == 503 else {}
    return Problem(error.code, error.message, headers=headers)


def internal_error() -> Response:
    """What a caller gets to see of a bug: nothing of it."""
    return problem_response(Problem("internal-error", _INTERNAL))


def answer_problems(app: FastAPI, methods_at: Callable[[str], Collection[str]]) -> None:
    """Make every refusal of the app a problem document.

    ``methods_at`` knows what a path answers to; the router tells only its first match's method.
    """
    app.exception_handler(Problem)(_from_edge)
    app.exception_handler(YoriaiError)(_from_domain)
    app.exception_handler(RequestValidationError)(_from_parameters)
    app.exception_handler(HTTPException)(_from_router(methods_at))
    app.exception_handler(ClientDisconnect)(_to_nobody)


async def _from_edge(request: Request, error: Problem) -> Response:
    del request
    return problem_response(error)


async def _from_domain(request: Request, error: YoriaiError) -> Response:
    del request
    problem = problem_of(error)
    if problem.code == "internal-error":
        # Not answered here: the outermost middleware logs it and answers.
        raise error
    return problem_response(problem)


async def _from_parameters(request: Request, error: RequestValidationError) -> Response:
    """Query, path and header parameters; bodies are read by ``json_body``."""
    if any(each["loc"][0] == "path" for each in error.errors()):
        # What cannot be an id or a name cannot be there.
        return problem_response(Problem("not-found", f"There is nothing at {request.url.path}."))
    # The first step only says where the parameter stood: query, path, header.
    return problem_response(invalid(*faults_of(error.errors(), skip=1)))


def _from_router(
    methods_at: Callable[[str], Collection[str]],
) -> Callable[[Request, HTTPException], Awaitable[Response]]:
    async def answer(request: Request, error: HTTPException) -> Response:
        path = request.url.path
        if error.status_code == 404:
            detail = f"There is nothing at {path}; /docs lists what there is."
            return problem_response(Problem("not-found", detail))
        if error.status_code == 405:
            allowed = ", ".join(sorted(methods_at(path)))
            detail = f"{path} does not answer to {request.method}; it answers to {allowed}."
            return problem_response(
                Problem("method-not-allowed", detail, headers={"Allow": allowed})
            )
        raise error

    return answer


async def _to_nobody(request: Request, error: ClientDisconnect) -> Response:
    """The caller hung up before its request was complete; there is nobody to tell."""
    del request, error
    return Response(status_code=400)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _encodable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    return value
