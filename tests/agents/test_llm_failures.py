"""What can go wrong with a model, and which failure of ours it becomes."""

from __future__ import annotations

import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from app.agents.connections import Connections
from app.agents.llm import LlmAgent
from app.domain.errors import (
    AgentFailure,
    AgentNonsense,
    AgentRefused,
    AgentRejected,
    AgentUnavailable,
)
from tests.agents import cast
from tests.provider import Provider, Reply

MEBIBYTE = 1024 * 1024


async def failure(agent: LlmAgent, provider: Provider, reply: Reply) -> AgentFailure:
    """What the agent raises for the reply, having asked exactly once."""
    before = len(provider.requests)
    provider.will(reply, "a second attempt was made")
    with pytest.raises(AgentFailure) as raised:
        await agent.answer(cast.request())
    assert len(provider.requests) == before + 1, "the adapter retried by itself"
    return raised.value


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_for_now(agent: LlmAgent, provider: Provider, status: int) -> None:
    error = await failure(agent, provider, Reply.status(status))
    assert type(error) is AgentUnavailable
    assert error.retry_after is None
    assert str(status) in error.message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422])
async def test_for_good(agent: LlmAgent, provider: Provider, status: int) -> None:
    error = await failure(agent, provider, Reply.status(status, "as the provider put it"))
    assert type(error) is AgentRejected
    assert "as the provider put it" in error.message


@pytest.mark.parametrize(
    ("status", "words"), [(401, "api_key"), (404, "Check model and base_url"), (413, "context")]
)
async def test_says_what_to_do(
    agent: LlmAgent, provider: Provider, status: int, words: str
) -> None:
    assert words in (await failure(agent, provider, Reply.status(status))).message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "9" * 4_000}, None),
        ({"Retry-After": "9" * 200}, 86_400.0),
        ({"retry-after-ms": "nan"}, None),
        ({"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"}, 0.0),
    ],
)
async def test_the_pause_asked_for(
    agent: LlmAgent, provider: Provider, headers: dict[str, str], seconds: float | None
) -> None:
    error = await failure(agent, provider, _status(429, headers))
    assert isinstance(error, AgentUnavailable)
    assert error.retry_after == seconds


async def test_the_pause_as_a_date(agent: LlmAgent, provider: Provider) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=120), usegmt=True)
    error = await failure(agent, provider, _status(503, {"Retry-After": later}))
    assert isinstance(error, AgentUnavailable)
    assert error.retry_after is not None
    assert 60 < error.retry_after <= 120


async def test_an_empty_account_is_for_good_though_it_is_a_429(
    provider: Provider, connections: Connections
) -> None:
    agent = cast.llm("openai", provider, connections)
    error = await failure(agent, provider, Reply.status(429, code="insufficient_quota"))
    assert type(error) is AgentRejected


async def test_a_cut_connection(agent: LlmAgent, provider: Provider) -> None:
    error = await failure(agent, provider, Reply("never arrives whole", cut=True))
    assert type(error) is AgentUnavailable


async def test_whoever_hangs_up_over_an_answer_may_want_to_be_paid(
    agent: LlmAgent, provider: Provider
) -> None:
    error = await failure(agent, provider, Reply("never arrives whole", cut=True))
    assert error.answered
    assert error.usage is None


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_whoever_turns_a_request_away_is_owed_nothing(
    agent: LlmAgent, provider: Provider, status: int
) -> None:
    error = await failure(agent, provider, Reply.status(status))
    assert type(error) is AgentUnavailable
    assert not error.answered


async def test_nobody_listens(
    api: str, provider: Provider, connections: Connections, unused_tcp_port: int
) -> None:
    nowhere = f"http://127.0.0.1:{unused_tcp_port}"
    agent = cast.llm(api, provider, connections, base_url=nowhere)
    with pytest.raises(AgentUnavailable, match="could not be reached") as failure:
        await agent.answer(cast.request())
    assert not failure.value.answered


async def test_a_redirect_is_not_followed(agent: LlmAgent, provider: Provider) -> None:
    away = Reply.raw("", status=307)
    reply = Reply(status_=307, body=away.body, headers={"Location": f"{provider.url}/elsewhere"})
    error = await failure(agent, provider, reply)
    assert type(error) is AgentRejected
    assert "redirect" in error.message


@pytest.mark.parametrize(
    "reply", [Reply.refusal("not that"), Reply.text("", finish="content_filter")]
)
async def test_refusals(agent: LlmAgent, provider: Provider, reply: Reply) -> None:
    assert type(await failure(agent, provider, reply)) is AgentRefused


async def test_a_content_filters_400_is_a_refusal(
    provider: Provider, connections: Connections
) -> None:
    agent = cast.llm("openai", provider, connections)
    error = await failure(agent, provider, Reply.status(400, code="content_filter"))
    assert type(error) is AgentRefused


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("text", ["", " \n\t "])
async def test_an_empty_reply(agent: LlmAgent, provider: Provider, text: str, finish: str) -> None:
    error = await failure(agent, provider, Reply.text(text, finish=finish))
    assert type(error) is AgentNonsense
    assert error.message.startswith("empty reply")
    assert ("output tokens" in error.message) is (finish == "length")


@pytest.mark.parametrize(
    "body",
    [
        '{"choices": [',
        "{}",
        "[]",
        "null",
        '"text"',
        '{"choices": []}',
        '{"choices": null, "content": null}',
        '{"choices": [{}], "content": [{}]}',
        '{"choices": [{"message": null, "finish_reason": "stop"}], "content": 7, "usage": 7}',
        '{"content": [{"type": "text", "text": 7}], "choices": [{"message": {"content": 7}}]}',
        b"\xff\xfe\x00",
        "",
        "[" * 50_000,
    ],
)
async def test_bodies_that_are_no_answers(
    agent: LlmAgent, provider: Provider, body: str | bytes
) -> None:
    assert type(await failure(agent, provider, Reply.raw(body))) is AgentNonsense


async def test_html(agent: LlmAgent, provider: Provider) -> None:
    page = Reply.raw("<html><title>Sign in</title></html>", "text/html")
    assert type(await failure(agent, provider, page)) is AgentNonsense


async def test_html_with_an_error_status_is_not_quoted(agent: LlmAgent, provider: Provider) -> None:
    page = Reply.raw("<html><title>Bad gateway</title></html>", "text/html", status=502)
    error = await failure(agent, provider, page)
    assert type(error) is AgentUnavailable
    assert "<" not in error.message


async def test_a_body_over_the_bound(agent: LlmAgent, provider: Provider) -> None:
    error = await failure(agent, provider, Reply.large(10 * MEBIBYTE))
    assert type(error) is AgentNonsense
    assert "larger than 4 MiB" in error.message


async def test_a_body_of_unknown_length_is_read_to_the_bound_only(
    agent: LlmAgent, provider: Provider
) -> None:
    """No length announced: it is the stream itself that is stopped."""
    reply = Reply(body=b"x" * (10 * MEBIBYTE), chunked=True)
    error = await failure(agent, provider, reply)
    assert type(error) is AgentNonsense
    assert "larger than 4 MiB" in error.message


async def test_a_compressed_answer_is_read_all_the_same(
    agent: LlmAgent, provider: Provider
) -> None:
    provider.will(Reply.text("squeezed", compressed=True))
    assert (await agent.answer(cast.request())).text == "squeezed"


async def test_a_compressed_bomb_is_not_unpacked(agent: LlmAgent, provider: Provider) -> None:
    error = await failure(agent, provider, Reply.gzip_bomb(256 * MEBIBYTE))
    assert type(error) is AgentNonsense
    assert "larger than 4 MiB" in error.message


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "made-up"])
async def test_other_encodings_are_refused(
    agent: LlmAgent, provider: Provider, encoding: str
) -> None:
    reply = Reply(body=b"{}", headers={"Content-Encoding": encoding})
    assert type(await failure(agent, provider, reply)) is AgentNonsense


async def test_broken_compression(agent: LlmAgent, provider: Provider) -> None:
    reply = Reply(body=b"not gzip at all", headers={"Content-Encoding": "gzip"})
    assert type(await failure(agent, provider, reply)) is AgentNonsense


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_messages_hold_no_key_and_are_one_bounded_line(
    agent: LlmAgent, provider: Provider, status: int
) -> None:
    said = f"bad key {cast.KEY}\r\n\x1b[31m{cast.KEY[:4]}\x00{cast.KEY[4:]} " + "x" * 5_000
    message = (await failure(agent, provider, Reply.status(status, said))).message
    assert cast.KEY not in message
    assert "[secret]" in message
    assert message.isprintable()
    assert len(message) <= 300


async def test_the_logged_error_holds_no_key(agent: LlmAgent, provider: Provider) -> None:
    error = await failure(agent, provider, Reply.status(401, f"bad key {cast.KEY}"))
    assert cast.KEY not in "".join(traceback.format_exception(error))


async def test_a_refusals_text_holds_no_key(provider: Provider, connections: Connections) -> None:
    agent = cast.llm("openai", provider, connections)
    error = await failure(agent, provider, Reply.refusal(f"I know {cast.KEY}"))
    assert cast.KEY not in error.message


def _status(status: int, headers: dict[str, str]) -> Reply:
    error: dict[str, Any] = {name.replace("-", "_"): value for name, value in headers.items()}
    return Reply.status(status, **error)
