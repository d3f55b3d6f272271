"""Problem documents: one shape for everything that goes wrong."""

import httpx
import orjson
import pytest
from structlog.typing import EventDict

from app.api.faults import fragment, pointer
from app.api.problems import KINDS, Problem, document, internal_error, problem_of, problem_response
from app.domain import errors
from app.domain.errors import Fault, InvalidRequest, YoriaiError
from tests.api.parts import Parts


def every_error(root: type[YoriaiError] = YoriaiError) -> list[type[YoriaiError]]:
    """The errors of the rooms that a request passes through; the store has some for its start."""
    found = [root, *(each for child in root.__subclasses__() for each in every_error(child))]
    return [each for each in found if each.__module__.startswith(("app.domain", "app.coordinator"))]


UNSEEN = {
    "internal-error",
    "log-conflict",
    "no-room",
    "cancelled-above",
    "superseded",
    "replay-diverged",
    "unreplayable",
}
"""Errors between rooms of ours; one that reaches a caller is a bug."""


@pytest.mark.parametrize("error", every_error())
def test_every_domain_error_has_a_status_or_is_ours(error: type[YoriaiError]) -> None:
    ours = error.code in UNSEEN or issubclass(error, errors.AgentFailure)
    assert (error.code in KINDS and error.code != "internal-error") is not ours


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidRequest(Fault("/x", "y")), 422),
        (errors.NotBuiltYet(Fault("/x", "y")), 422),
        (errors.NotFound("gone"), 404),
        (errors.MeetingEnded("over"), 409),
        (errors.MeetingNotEnded("not over"), 409),
        (errors.AgentExists("there"), 409),
        (errors.RequestInProgress("later"), 409),
        (errors.IdempotencyKeyReused(Fault("/Idempotency-Key", "new key")), 422),
        (errors.LogUnavailable("disk"), 503),
        (errors.ReplayDiverged("secret detail"), 500),
        (errors.AgentRejected("secret detail"), 500),
    ],
)
def test_statuses(error: YoriaiError, status: int) -> None:
    shown = document(problem_of(error))
    assert shown["status"] == status
    assert shown["type"] == (error.code if status != 500 else "internal-error")
    assert "secret" not in shown["detail"]
    assert ("errors" in shown) is (status == 422)


def test_faults_are_told_by_fragment_pointers() -> None:
    problem = problem_of(InvalidRequest(Fault("#/limits/rounds", "no"), Fault("/a b/é", "nor")))
    assert document(problem)["errors"] == [
        {"pointer": "#/limits/rounds", "detail": "no"},
        {"pointer": "#/a%20b/%C3%A9", "detail": "nor"},
    ]
    assert problem.detail == "#/limits/rounds: no #/a%20b/%C3%A9: nor"


def test_pointers_are_escaped_and_cut() -> None:
    assert pointer(("a/b", 3, "~")) == "/a~1b/3/~0"
    assert pointer(("x" * 1000,)) == "/" + "x" * 64
    assert fragment("/\ud800") == "#/%3F"


def test_half_a_character_in_a_detail_is_no_error_of_ours() -> None:
    response = problem_response(Problem("invalid-request", "\ud800", [Fault("/\udfff", "\ud800")]))
    assert orjson.loads(response.body)["detail"] == "?"


def test_internal_error_says_nothing() -> None:
    shown = orjson.loads(internal_error().body)
    assert (shown["type"], shown["status"]) == ("internal-error", 500)


async def test_404_of_the_router(client: httpx.AsyncClient) -> None:
    response = await client.get("/v1/nowhere")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"] == "not-found"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/agents", "GET, POST"),
        ("PATCH", "/v1/meetings/mtg_1", "GET"),
        ("POST", "/v1/agents/x", "DELETE, GET, PUT"),
        ("HEAD", "/healthz", "GET"),
    ],
)
async def test_405_of_the_router(
    client: httpx.AsyncClient, method: str, path: str, allowed: str
) -> None:
    response = await client.request(method, path)
    assert response.status_code == 405
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["allow"] == allowed


async def test_a_bug_is_logged_and_not_told(
    client: httpx.AsyncClient, parts: Parts, logged: list[EventDict]
) -> None:
    with parts.broken_prompts(ZeroDivisionError("a secret")):
        response = await client.post("/v1/meetings", json={"topic": "x"})
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"] == "internal-error"
    assert "secret" not in response.text
    (entry,) = logged
    assert (entry["event"], entry["path"]) == ("request_failed", "/v1/meetings")


async def test_an_error_between_rooms_is_not_told_either(
    client: httpx.AsyncClient, parts: Parts, logged: list[EventDict]
) -> None:
    with parts.broken_prompts(errors.ReplayDiverged("a secret")):
        response = await client.post("/v1/meetings", json={"topic": "x"})
    assert response.status_code == 500
    assert "secret" not in response.text
    assert len(logged) == 1


async def test_store_out_of_reach(client: httpx.AsyncClient, parts: Parts) -> None:
    await parts.log.close()
    response = await client.post("/v1/meetings", json={"topic": "x"})
    assert response.status_code == 503
    assert response.json()["type"] == "log-unavailable"
    assert response.headers["retry-after"] == "1"
