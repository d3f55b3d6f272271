"""What stands against what in a meeting: candidates, sides, words at stake (PROTOCOLS 11, handoff).

It is taken from the events, so it can be told while a question is open as well as after the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.events import COMPLETION_CLOSED
from app.domain.meeting.history import History
from app.domain.meeting.resumption import version_in
from app.domain.meeting.rounds_held import ReplyGiven, RoundHeld
from app.domain.replies.text import clean, one_line, without_thinking
from app.domain.rounds.summary import first_sentence
from app.domain.values import Json
from app.records.decided import last_motion
from app.records.rulings import Question

_MOST_EXCERPT_CHARACTERS = 4_000
_MOST_ARGUMENT_CHARACTERS = 600

_SYNTHESIS = "synthesis"
_DRAFT = "draft"
_ARGUED_IN = ("disagreements", "reasoning", "position")
"""The sections of a debate's reply that say why, the most telling first."""


def candidates(past: History, question: Question | None) -> list[dict[str, Json]]:
    """What there is to choose from, ``{id, text}`` each; of a draft the whole of it."""
    meeting, decided = past.meeting, past.decision or {}
    offered = {} if question is None else {c.id: c.text for c in question.choices}
    if meeting.options:
        return _listed({option: option for option in meeting.options})
    if meeting.format == "review":
        draft = last_draft(past)
        return [] if draft is None else _listed({_DRAFT: draft})
    if meeting.format == "council":
        drafted = past.drafted or {}
        sentence = drafted.get("decision") or drafted.get("recommendation")
        return _listed({_SYNTHESIS: sentence}) if sentence else []
    if meeting.format == "debate":
        return _listed((decided.get("debate") or {}).get("proposals") or offered)
    if meeting.format == "poll":
        groups = (decided.get("poll") or {}).get("groups") or ()
        return _listed({str(n): group["title"] for n, group in enumerate(groups, 1)})
    motion = last_motion(past)
    return _listed({"motion": motion}) if motion else []


def _listed(texts: Mapping[str, str]) -> list[dict[str, Json]]:
    return [{"id": id_, "text": text} for id_, text in texts.items()]


def last_draft(past: History) -> str | None:
    drafts = (r.read.get("draft") for held in reversed(past.rounds) for r in held.final_replies)
    return next((draft for draft in drafts if draft), None)


# --- the sides ----------------------------------------------------------------------------------


def sides(past: History) -> list[dict[str, Json]]:
    """Who stands where, each with its arguments and what it asks for if it loses."""
    if past.meeting.format == "review":
        return _critics(past)
    if past.meeting.format == "council":
        return _members(past)
    held = last_with_positions(past)
    found: dict[str, list[dict[str, Json]]] = {}
    for reply in () if held is None else held.final_replies:
        position = _position(past, reply)
        if position is not None:
            found.setdefault(position, []).append(_argument(reply))
    return [
        {
            "position": position,
            "participants": [argument["participant"] for argument in arguments],
            "arguments": arguments,
        }
        for position, arguments in found.items()
    ]


def last_with_positions(past: History) -> RoundHeld | None:
    return next(
        (
            held
            for held in reversed(past.rounds)
            if any(_position(past, reply) for reply in held.final_replies)
        ),
        None,
    )


def _position(past: History, reply: ReplyGiven) -> str | None:
    """What a reply stands for; None where it takes no position."""
    if not reply.usable:
        return None
    if "stance" in reply.read:
        return reply.read["stance"]
    if past.meeting.format == "debate":
        return reply.read.get("backs") or past.meeting.label(reply.participant)
    ballot: Mapping[str, Json] = reply.read.get("ballot") or {}
    ranking: Sequence[str] = ballot.get("ranking") or ()
    return ballot.get("vote") or ballot.get("answer") or next(iter(ranking), None)


def _argument(reply: ReplyGiven) -> dict[str, Json]:
    asks_for: str | None = reply.read.get("mitigation") or None
    return {"participant": reply.participant, "text": _reason(reply), "asks_for": asks_for}


def _reason(reply: ReplyGiven) -> str:
    ballot: Mapping[str, Json] = reply.read.get("ballot") or {}
    if ballot:
        reasons: Sequence[str] = ballot.get("reasons") or ()
        return reply.read.get("rationale") or "; ".join(reasons)
    sections: Mapping[str, str] = reply.read.get("sections") or {}
    said = next((sections[name] for name in _ARGUED_IN if sections.get(name)), None)
    if said is not None:
        return one_line(said, _MOST_ARGUMENT_CHARACTERS)
    return first_sentence(reply.text, _MOST_ARGUMENT_CHARACTERS)


def _critics(past: History) -> list[dict[str, Json]]:
    author = next(seat.name for seat in past.meeting.seats if seat.role == "author")
    changes = [
        {"participant": author, "text": change["change"], "asks_for": None}
        for held in past.rounds[-1:]
        for reply in held.final_replies
        for change in reply.read.get("changes") or ()
    ]
    against = [_objection(objection) for objection in open_objections(past)]
    found = [{"position": "author", "participants": [author], "arguments": changes}]
    if against:
        who = list(dict.fromkeys(argument["participant"] for argument in against))
        found.append({"position": "critics", "participants": who, "arguments": against})
    return found


def _objection(objection: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "participant": objection["critic"],
        "text": objection["point"],
        "asks_for": objection["resolves_when"] or None,
        "objection": objection["id"],
        "severity": objection["severity"],
        "support": objection["support"],
    }


def open_objections(past: History) -> list[Mapping[str, Json]]:
    return [each for each in _objections(past) if each["state"] == "open"]


def resolved_objections(past: History) -> list[Mapping[str, Json]]:
    return [each for each in _objections(past) if each["state"] != "open"]


def _objections(past: History) -> list[Mapping[str, Json]]:
    """Every objection as it stands now."""
    return list({event.data["id"]: event.data for event in past.objections}.values())


def _members(past: History) -> list[dict[str, Json]]:
    told = past.of_this_leg(past.completions)
    closed = [each.data for each in told if each.type == COMPLETION_CLOSED]
    if not closed:
        return []
    wanting: Mapping[str, str] = closed[-1]["reasons"]
    content: Sequence[str] = closed[-1]["completed_by"]
    positions = (
        ("complete", dict.fromkeys(content, "")),
        ("needs_revision", wanting),
    )
    return [
        {
            "position": position,
            "participants": list(said),
            "arguments": [
                {"participant": name, "text": text, "asks_for": None}
                for name, text in said.items()
                if text
            ],
        }
        for position, said in positions
        if said
    ]


# --- the words at stake -------------------------------------------------------------------------


def excerpts(past: History) -> list[dict[str, Json]]:
    """What a reader has to see in the original: the quotes that objections rest on, else what
    the participants last said. A ballot's words stand whole with its side."""
    if past.meeting.format == "review":
        return [
            {
                "source": each["material"],
                "version": version_in(past.meeting, each["material"], each["round"]),
                "round": each["round"],
                "objection": each["id"],
                "text": each["quote"],
            }
            for each in open_objections(past)
            if each["support"] == "supported"
        ]
    return list(_said(past))


def _said(past: History) -> Iterator[dict[str, Json]]:
    council = past.meeting.format == "council"
    held = _answers(past) if council else last_with_positions(past)
    for reply in () if held is None else held.final_replies:
        text = clean(without_thinking(reply.text).strip(), _MOST_EXCERPT_CHARACTERS)
        if reply.usable and not reply.read.get("ballot") and text:
            yield {"source": reply.participant, "round": reply.round, "text": text}


def _answers(past: History) -> RoundHeld | None:
    """What a council's synthesis is made of: the answers that were ranked last."""
    rounds = past.rounds
    ranked = [number for number, held in enumerate(rounds) if held.letters and number]
    return rounds[ranked[-1] - 1] if ranked else next(iter(rounds), None)


# --- the criteria -------------------------------------------------------------------------------


def criteria(past: History) -> dict[str, list[dict[str, Json]]]:
    """The criteria that pass and those that do not, as the last closed round left them."""
    results: Mapping[str, str] = {}
    for held in past.rounds:
        results = (held.closed or {}).get("criteria") or results
    found: dict[str, list[dict[str, Json]]] = {"passed": [], "open": []}
    for criterion in past.meeting.criteria if past.meeting.format == "review" else ():
        result = results.get(criterion.id, "open")
        shown = {
            "id": criterion.id,
            "text": criterion.text,
            "required": criterion.required,
            "result": result,
        }
        found["passed" if result == "pass" else "open"].append(shown)
    return found


def settled(past: History) -> list[dict[str, Json]]:
    """What nobody has to decide any more: agreed points, and objections that were met."""
    draft = past.drafted or {}
    found = [{"kind": "agreed", "text": text} for text in draft.get("agreed", ())]
    return found + [
        {"kind": "resolved", "id": each["id"], "text": each["point"]}
        for each in resolved_objections(past)
    ]
