"""Whether what agents are sent stays the same size however long a meeting talks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from benchmarks.figures import Figure
from benchmarks.meetings import SEATS, hold
from benchmarks.provider import Asked, running_provider
from benchmarks.script import SECRETARY, debate, keep_debaters, reply
from benchmarks.service import running_service

_SETTLED = 3
"""From here on a prompt holds all that it ever will: a full summary and a last stance."""


@dataclass(frozen=True, slots=True)
class Sizes:
    rounds: tuple[int, ...] = (3, 6, 12, 20)
    """A meeting may have 20 at the most."""


class _Listener:
    """Counts the characters of every request by round: the seats', and the secretary's beside."""

    def __init__(self) -> None:
        self._seats: list[int] = []
        self.summaries: list[int] = []

    async def answer(self, asked: Asked) -> str:
        to = self.summaries if asked.model == SECRETARY else self._seats
        to.append(asked.characters)
        return reply(asked)

    def rounds(self) -> list[int]:
        """What all seats together were sent, by round; nobody is asked before all have replied."""
        by_round: defaultdict[int, int] = defaultdict(int)
        for place, characters in enumerate(self._seats):
            by_round[place // len(SEATS)] += characters
        return list(by_round.values())


async def measure(sizes: Sizes) -> list[Figure]:
    return [figure for rounds in sizes.rounds for figure in await _measured(rounds)]


async def _measured(rounds: int) -> list[Figure]:
    listener = _Listener()
    async with (
        running_provider(listener.answer) as base_url,
        running_service() as service,
        service.connected() as connection,
    ):
        await keep_debaters(connection, base_url)
        await hold(connection, debate(rounds), rounds)
    sent = listener.rounds()
    last = sent[-1]
    # The last request to the secretary is for the synthesis, which comes once.
    compressing = max(listener.summaries[:-1], default=0)
    how = (
        f"all three seats in the last round, as an HTTP provider counts them "
        f"(round 1: {sent[0]:,}; the secretary at most {compressing:,})"
    )
    figures = [Figure(f"prompts, round {rounds}", last, "characters", how)]
    if rounds > _SETTLED:
        growth = (last / sent[_SETTLED - 1] - 1) * 100
        against = f"against round {_SETTLED} of the same meeting"
        figures.append(Figure(f"growth by round {rounds}", growth, "%", against, "< 1"))
    return figures
