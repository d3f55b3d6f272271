"""A rehearsing agent's built-in script: a believable reply to every question (PROTOCOLS 16).

What it says follows from who is asked, the round and the prompt's variables, so the same meeting
always runs the same way. Every seat has one of three temperaments, by its place at the table: in
favour, against at first, undecided at first. So a table of three disagrees to begin with, and
agrees by the third round (or the last, if that comes sooner) on a motion that was restated.

A question is known by its template's name, or by the last part of it; one that is not known gets
an answer in free text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.agents import rehearsal_ballots as ballots
from app.agents import rehearsal_review as review
from app.agents import rehearsal_talk as talk
from app.agents.rehearsal_part import Part
from app.coordinator.ports import Request

Scene = Callable[[Part], str]

SCENES: Mapping[str, Scene] = {
    "roundtable/ask": talk.roundtable_ask,
    "roundtable/compress": talk.roundtable_compress,
    "debate/open": talk.debate_open,
    "debate/answer": talk.debate_answer,
    "vote/ballot": ballots.vote_ballot,
    "vote/ranking": ballots.ranking,
    "poll/ranking": ballots.ranking,
    "poll/recommendation": ballots.recommendation,
    "poll/binary": ballots.binary,
    "poll/scoring": ballots.scoring,
    "council/answer": talk.council_answer,
    "council/rank": ballots.council_rank,
    "gate/confirm": talk.gate_confirm,
    "review/author": review.author,
    "review/critic": review.critic,
    "secretary/group": ballots.secretary_group,
    "arbiter/rule": ballots.ruling,
}

_BY_LAST_PART: Mapping[str, Scene] = {
    # Debates are summarised like round tables, and other formats may be polled like polls.
    **{name.rpartition("/")[2]: scene for name, scene in SCENES.items() if name != "debate/answer"},
    "synthesis": talk.synthesis,
}


def improvise(request: Request) -> str:
    """The reply that this script has for the question."""
    template = request.template
    scene = SCENES.get(template) or _BY_LAST_PART.get(template.rpartition("/")[2], talk.anything)
    return scene(Part(request))
