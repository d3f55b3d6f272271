"""The rules and the adapter together, against a destination that misbehaves (PROTOCOLS 13)."""

from __future__ import annotations

import pytest

from app.domain.operation.terms import OperationStatus, Sent
from app.outbound.connections import OutboundConnections
from app.outbound.destination import HttpDestination
from app.outbound.guard import Guard
from tests.destination import Destination, Get, Put, digest_header, etag_of
from tests.outbound.names import Names
from tests.outbound.saving import Saving
from tests.provider import Gate

CONTENT = b"# Decision\n\nOne repository.\n"
OTHER = b"# Something else\n"


@pytest.fixture
def saving(destination: Destination, connections: OutboundConnections) -> Saving:
    return Saving(HttpDestination(connections.client), destination.url, CONTENT)


async def test_saved_and_read_back(destination: Destination, saving: Saving) -> None:
    state = await saving.run()
    assert (state.status, state.version) == (OperationStatus.CONFIRMED, etag_of(CONTENT))
    assert destination.methods == ["PUT", "GET"]


async def test_a_lost_answer_to_a_write_that_was_stored(
    destination: Destination, saving: Saving
) -> None:
    destination.on_put(Put.lost(stores=True))
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET"]


async def test_a_lost_answer_to_a_write_that_was_not(
    destination: Destination, saving: Saving
) -> None:
    destination.on_put(Put.lost(stores=False), Put())
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET", "GET", "PUT", "GET"]
    first, second = [asked for asked in destination.requests if asked.method == "PUT"]
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
    assert second.headers["If-None-Match"] == "*"


async def test_a_lost_write_that_lands_before_the_second_one(
    destination: Destination, saving: Saving
) -> None:
    """The second finds something there, and it is ours."""
    destination.on_put(Put.lost(stores=False), Put.status(412))
    destination.on_get(Get.status(404), Get.status(404), Get(instead=CONTENT))
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET", "GET", "PUT", "GET"]


async def test_a_write_that_lands_only_after_the_hand_over(
    destination: Destination, saving: Saving
) -> None:
    gate = Gate()
    destination.on_put(Put.lost(stores=True, late=gate), Put.lost(stores=False))
    state = await saving.run()
    assert (state.status, state.operation.owner) == (OperationStatus.HANDED_OVER, "ann")
    assert state.next_check is not None
    writes = destination.methods.count("PUT")
    gate.open()
    await destination.comes_to_hold(CONTENT)
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods.count("PUT") == writes


async def test_already_there_and_equal(destination: Destination, saving: Saving) -> None:
    destination.holds(CONTENT)
    destination.on_put(Put.status(409))
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET"]


@pytest.mark.parametrize("status", [409, 412])
async def test_there_but_different(destination: Destination, saving: Saving, status: int) -> None:
    destination.holds(OTHER)
    destination.on_put(Put.status(status))
    state = await saving.run()
    assert state.status is OperationStatus.FAILED
    assert "Something else is there." in state.reason
    assert destination.methods == ["PUT", "GET"]


async def test_there_but_different_after_a_lost_answer(
    destination: Destination, saving: Saving
) -> None:
    """Ours may still land, so it is unknown and handed over; nothing is overwritten meanwhile."""
    destination.holds(OTHER)
    destination.on_put(Put.lost(stores=False))
    assert (await saving.run()).status is OperationStatus.HANDED_OVER
    assert destination.methods.count("PUT") == 1
    assert destination.stored() == OTHER
    assert (await saving.run()).status is OperationStatus.FAILED


async def test_what_is_stored_is_not_what_was_sent(
    destination: Destination, saving: Saving
) -> None:
    destination.on_put(Put(instead=OTHER))
    destination.on_get(Get(digest=digest_header(CONTENT)))
    state = await saving.run()
    assert state.status is OperationStatus.FAILED
    assert "Content-Digest" in state.reason


async def test_refused_for_good(destination: Destination, saving: Saving) -> None:
    destination.on_put(Put.status(403))
    state = await saving.run()
    assert (state.status, state.reason) == (OperationStatus.FAILED, "The destination answered 403.")
    assert destination.methods == ["PUT"]


async def test_a_redirect(destination: Destination, saving: Saving) -> None:
    destination.on_put(Put.status(307, location="http://169.254.169.254/"))
    state = await saving.run()
    assert state.status is OperationStatus.FAILED
    assert "redirects are not followed" in state.reason
    assert destination.methods == ["PUT"]


async def test_a_redirect_to_what_came_of_it_is_looked_into_and_not_followed(
    destination: Destination, saving: Saving
) -> None:
    destination.on_put(Put(303, headers={"Location": "http://169.254.169.254/"}))
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET"]


@pytest.mark.parametrize("there", [None, OTHER])
async def test_one_look_tells_that_it_came_to_nothing(
    destination: Destination, saving: Saving, there: bytes | None
) -> None:
    destination.holds(there)
    destination.on_put(Put.status(303, location="/elsewhere"))
    state = await saving.run()
    assert state.status is OperationStatus.FAILED
    assert "redirects are not followed" in state.reason
    assert destination.methods == ["PUT", "GET"]


async def test_what_is_read_at_first_may_be_what_was_there_before(
    destination: Destination, saving: Saving
) -> None:
    destination.on_get(Get(instead=OTHER), Get(instead=OTHER), Get())
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET", "GET", "GET"]


async def test_what_never_left_is_no_write() -> None:
    connections = OutboundConnections(Guard(), Names())
    try:
        adapter = HttpDestination(connections.client)
        state = await Saving(adapter, "https://wiki.example/a.md", CONTENT).run()
    finally:
        await connections.close()
    assert (state.status, state.record()["writes"]) == (OperationStatus.FAILED, 0)
    assert state.reason == "The destination's name has no address."


async def test_busy_for_a_while(destination: Destination, saving: Saving) -> None:
    destination.on_put(Put.status(429, retry_after="12"), Put())
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    first, second = [happening for happening in saving.log if isinstance(happening, Sent)]
    assert (second.at - first.at).total_seconds() == 12
    assert destination.methods == ["PUT", "PUT", "GET"]


async def test_busy_past_the_deadline(destination: Destination, saving: Saving) -> None:
    destination.on_put(Put.status(429, retry_after="60"))
    state = await saving.run()
    assert (state.status, state.reason) == (OperationStatus.FAILED, "The destination answered 429.")
    assert destination.methods == ["PUT"]


async def test_an_error_of_the_far_side_is_looked_into_before_a_second_write(
    destination: Destination, saving: Saving
) -> None:
    destination.on_put(Put(500))
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET"]


async def test_stored_in_its_own_time(destination: Destination, saving: Saving) -> None:
    destination.on_put(Put(202))
    destination.on_get(Get.status(404), Get.status(404), Get())
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["PUT", "GET", "GET", "GET"]


async def test_a_place_that_cannot_be_read(destination: Destination, saving: Saving) -> None:
    destination.on_get(Get.status(401))
    state = await saving.run()
    assert (state.status, state.reason) == (
        OperationStatus.HANDED_OVER,
        "The destination answered 401.",
    )
    assert destination.methods.count("PUT") == 1


async def test_a_crash_between_the_write_and_its_answer(
    destination: Destination, saving: Saving
) -> None:
    """The log knows that it was sent, and nothing else."""
    destination.holds(CONTENT)
    saving.log.append(Sent(saving.clock.now()))
    assert (await saving.run()).status is OperationStatus.CONFIRMED
    assert destination.methods == ["GET"]


async def test_a_name_that_leads_inside_fails_for_good(destination: Destination) -> None:
    connections = OutboundConnections(Guard(allow_http=True), Names(["127.0.0.1"]))
    try:
        url = f"http://wiki.example:{destination.port}/a.md"
        state = await Saving(HttpDestination(connections.client), url, CONTENT).run()
    finally:
        await connections.close()
    assert (state.status, state.reason) == (
        OperationStatus.FAILED,
        "The host is a loopback address, which is not called.",
    )
    assert destination.requests == []
