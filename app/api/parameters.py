"""What the operations share: parameters, their problems, and what queries may hold."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from fastapi import Header, Path, Query, Request, Response
from fastapi.routing import APIRoute

from app.api.problems import KINDS, PROBLEM_TYPE, invalid
from app.domain.errors import Fault
from app.formats import FORMATS

MOST_PAGE = 200
METADATA_PREFIX = "metadata."
NO_CONTROLS = r"^[^\x00-\x1f\x7f]*$"

if TYPE_CHECKING:
    _FormatName: TypeAlias = str
else:
    # The formats are found at import, and the document is to list them.
    _FormatName = Literal[tuple(FORMATS)]

MeetingId = Annotated[
    str, Path(max_length=100, pattern=r"^[A-Za-z0-9_-]+$", examples=["mtg_01JD0Z3K7W"])
]
AgentInPath = Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9._-]+$", examples=["critic"])]
Limit = Annotated[int, Query(ge=1, le=MOST_PAGE, description="How many items at the most.")]
Cursor = Annotated[
    str | None,
    Query(min_length=1, max_length=500, pattern=r"^[!-~]+$", description="From the page before."),
]
Search = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        pattern=NO_CONTROLS,
        description="Full text; Japanese words are found too.",
    ),
]
FormatWanted = Annotated[_FormatName | None, Query(alias="format")]
Accept = Annotated[str | None, Header(include_in_schema=False)]

_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_ANYWHERE = ("invalid-request", "internal-error")


def problems(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The problem documents that an operation may answer with, for its OpenAPI entry."""
    by_status: dict[int | str, list[str]] = {}
    for code in (*codes, *_ANYWHERE):
        if code not in by_status.setdefault(KINDS[code].status, []):
            by_status[KINDS[code].status].append(code)
    return {
        status: {
            "description": " · ".join(f"`{code}`: {KINDS[code].title}" for code in listed),
            "content": {PROBLEM_TYPE: {"schema": _PROBLEM, "examples": _examples(listed)}},
        }
        for status, listed in by_status.items()
    }


def _examples(codes: Iterable[str]) -> dict[str, Any]:
    return {code: {"value": _example(code)} for code in codes}


def _example(code: str) -> dict[str, Any]:
    kind = KINDS[code]
    example: dict[str, Any] = {
        "type": code,
        "title": kind.title,
        "status": kind.status,
        "detail": f"{kind.title}.",
    }
    if kind.status == 422:
        example["errors"] = [{"pointer": "#/limits/rounds", "detail": "This should be at least 1."}]
    return example


_OPEN_ENDED = {"list_meetings": METADATA_PREFIX}


class StrictRoute(APIRoute):
    """A misspelt filter would be one that silently does nothing, so it is refused.

    A dependency would do too, but FastAPI would solve it anew for every request.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = frozenset(parameter.alias for parameter in self.dependant.query_params)
        prefix = _OPEN_ENDED.get(self.operation_id or "")

        async def handle_strictly(request: Request) -> Response:
            if request.scope["query_string"]:
                faults = tuple(_parameter_faults(request, known, prefix))
                if faults:
                    raise invalid(*faults[:10])
            return await handle(request)

        return handle_strictly


def _parameter_faults(
    request: Request, known: frozenset[str], prefix: str | None
) -> Iterable[Fault]:
    seen: set[str] = set()
    for key, _ in request.query_params.multi_items():
        shown = f"/{key[:64]}"
        if key not in known and not (prefix and key.startswith(prefix)):
            takes = ", ".join(sorted(known)) or "none"
            yield Fault(shown, f"There is no such query parameter; this call takes: {takes}.")
        elif key in seen:
            yield Fault(shown, "This query parameter may be given once.")
        seen.add(key)
