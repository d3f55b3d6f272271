"""What is set aside for a request before it is sent, and what is booked where no answer settles it.

Each sending has room of its own. One that gets no answer is booked at the most that it can have
cost before its question may be put again: neither a restart nor a retry is a way past a limit
(PROTOCOLS 11).
"""

from __future__ import annotations

from app.coordinator.journal import Journal
from app.coordinator.ports import AgentProfile, Clock, Request
from app.coordinator.request_counter import most_cost
from app.domain.errors import NoRoom
from app.domain.meeting.entries import Entry
from app.domain.meeting.events import RequestReserved, RequestUnanswered
from app.domain.money import Cost

REQUEST = "/request"
"""Ends the key under which a request is recorded as reserved."""


def book_unanswered(journal: Journal, clock: Clock) -> bool:
    """Add an entry for each request that is still reserved and that nobody waits for any more;
    whether there was any."""
    left = list(journal.state.reserved.values())
    journal.add(*(Entry(_unanswered(request), clock.now()) for request in left))
    return bool(left)


def _unanswered(request: RequestReserved, usage: Cost | None = None) -> RequestUnanswered:
    return RequestUnanswered(
        step=request.step,
        request_id=request.request_id,
        who=request.who,
        agent=request.agent,
        usage=usage,
        booked=request.reserved if usage is None else None,
    )


class Reservation:
    """The room for one question, under the key ``step``.

    ``held`` is the most that the latest sending can cost; None while nothing may be sent.
    """

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        step: str,
        request: Request,
        profile: AgentProfile,
        *,
        closing: bool,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._request = RequestReserved(
            step=step,
            request_id=request.request_id,
            who=request.who,
            agent=profile.name,
            turn=request.turn,
            reserved=most_cost(profile, request.system, request.prompt),
            closing=closing,
        )
        self.held: Cost | None = None

    async def make(self) -> None:
        """Make it durable. Raises ``NoRoom``, and as ``Journal.flush`` does."""
        step = self._request.step
        entry = Entry(self._request, self._clock.now(), step + REQUEST)
        if not await self._journal.reserve(step, entry):
            raise NoRoom(self._journal.meeting_id, frozenset({step}))
        self.held = self._request.reserved

    async def renew(self, usage: Cost | None) -> None:
        """Book the sending that gave no answer, at its ``usage`` where that was counted, and make
        room for another one. Raises as ``make`` does; what was booked stays booked."""
        # If time runs out before there is room, nothing more has been sent.
        self.held = None
        self._journal.add(Entry(_unanswered(self._request, usage), self._clock.now()))
        await self.make()
