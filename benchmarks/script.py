"""What the stand-in provider's models say, so that a table talks through every round it may."""

from __future__ import annotations

import json
import re

from benchmarks.meetings import SEATS, keep_agent, round_table
from benchmarks.provider import Asked
from benchmarks.wire import Connection

SECRETARY = "secretary"

_STANCES = ("AGREE", "DISAGREE", "NEUTRAL")
_TALK = "The build of 25 minutes is what hurts, and one repository alone does not make it shorter. "
_REPLY_CHARACTERS = 2_000
_ROUND = re.compile(r"\bround (\d+) of at most")


class PromptNotUnderstood(Exception):
    """A prompt's wording has changed, and the script looks for what is no longer there."""


def reply(asked: Asked) -> str:
    """What a seat's model, or the secretary's, answers.

    No two seats ever agree, and each changes its mind every round, so that the meeting neither
    reaches a consensus nor stalls.
    """
    if asked.model == SECRETARY:
        return _secretary(asked)
    turn = _round(asked) + SEATS.index(asked.model)
    talk = (_TALK * 30)[:_REPLY_CHARACTERS]
    return f"{talk}\n\n[STANCE: {_STANCES[turn % len(_STANCES)]}]"


def _round(asked: Asked) -> int:
    found = _ROUND.search(asked.texts[-1])
    if found is None:
        raise PromptNotUnderstood("The prompt of a seat no longer says which round it is.")
    return int(found.group(1))


def _secretary(asked: Asked) -> str:
    """Writes down much more than it was told: what keeps prompts small has to be the service."""
    if not any("SUMMARY" in text for text in asked.texts):
        return json.dumps({"decision": _TALK, "recommendation": _TALK, "agreed": [_TALK]})
    heard = asked.texts[-1].replace("\n", " ")
    return f"SUMMARY: {_TALK * 50} {heard}\nMOTION: {_TALK}"


async def keep_debaters(connection: Connection, base_url: str) -> None:
    """Store an ``llm`` agent for each seat, and one for the secretary."""
    for name in (*SEATS, SECRETARY):
        await keep_agent(
            connection, name, kind="llm", model=f"openai:{name}", base_url=base_url, api_key="none"
        )


def debate(rounds: int) -> dict[str, object]:
    """The request for a meeting of the debaters."""
    return round_table(SEATS, SECRETARY, rounds)
