"""Rehearsed replies of the formats that talk: round table, debate and council, and the office."""

from __future__ import annotations

from collections.abc import Mapping

from app.agents.rehearsal_part import AGAINST, IN_FAVOUR, UNDECIDED, Part, as_json, excerpt
from app.domain.replies.sections import read_sections
from app.domain.rounds.summary import MOST_SUMMARY_CHARACTERS, first_sentence
from app.domain.values import Json

_HEADINGS = (
    *("POSITION", "REASONING", "PROPOSAL", "CONCERNS"),
    *("AGREEMENTS", "DISAGREEMENTS", "REFINED PROPOSAL", "BACKS", "CONFIDENCE", "CHANGED BECAUSE"),
)
"""What a debater writes under (PROTOCOLS 16)."""

_FIRST_STANCES = {IN_FAVOUR: "AGREE", AGAINST: "DISAGREE", UNDECIDED: "NEUTRAL"}


def roundtable_ask(part: Part) -> str:
    lines, mine = part.lines, part.temperament
    motion = part.quoted("motion") or part.topic
    stance = "AGREE" if part.persuaded else _FIRST_STANCES[mine]
    if part.request.round == 1:
        said = lines.opening[mine]
    elif stance == "AGREE":
        said = lines.convinced[mine]
    else:
        said = lines.still_against
    paragraphs = [said.format(role=part.role, motion=motion)]
    last = part.text("last_stance")
    if last and last != stance:
        paragraphs.append(f"CHANGED BECAUSE: {lines.changed[mine]}")
    return "\n\n".join([*paragraphs, f"[STANCE: {stance}]"])


def roundtable_compress(part: Part) -> str:
    lines = part.lines
    replies = part.records("replies")
    share = MOST_SUMMARY_CHARACTERS // max(1, len(replies)) - 40
    said: list[str] = []
    for reply in replies:
        text = str(reply.get("text") or "")
        sentence = excerpt(first_sentence(_main_point(text), max(20, share)))
        said.append(f"{reply.get('label', '')}{_side(part, reply)}: {sentence or lines.silent}")
    head = lines.summary_head.format(round=part.request.round)
    summary = "\n".join([head, *(said or [lines.nothing_said])])
    return f"SUMMARY: {summary}\nMOTION: {_motion(part)}"


def _side(part: Part, reply: Mapping[str, Json]) -> str:
    """Its stance in brackets; of a debate's reply nothing, since its notes count nobody."""
    if "backs" in reply:
        return ""
    stances = part.lines.stances
    return f" ({stances.get(str(reply.get('stance')), stances['UNKNOWN'])})"


def _main_point(text: str) -> str:
    """A debater's proposal; of any other reply all that it says."""
    sections = read_sections(text, _HEADINGS)
    return sections["refined proposal"] or sections["proposal"] or text


def _motion(part: Part) -> str:
    """The one proposal that this play comes to; restated once, then kept."""
    motion = part.text("motion")
    if motion and motion != part.text("topic"):
        return " ".join(motion.split())
    options = part.texts("options")
    if options:
        return part.lines.option_motion.format(option=excerpt(options[0]))
    return part.lines.topic_motion.format(topic=part.topic)


def synthesis(part: Part) -> str:
    lines = part.lines
    against = [
        excerpt(first_sentence(str(reply.get("text") or "")))
        for reply in part.records("replies")
        if reply.get("stance") in ("DISAGREE", "NEUTRAL")
    ]
    return as_json(
        decision=_decided(part),
        agreed=[lines.agreed],
        differ=[said for said in against if said] or [lines.differ_none],
        concerns=[lines.concern],
        recommendation=lines.recommendation,
    )


def _decided(part: Part) -> str:
    """The sentence for what was decided; a debate says itself what that was, if anything."""
    return part.text("proposal") if "proposal" in part.variables else _motion(part)


def debate_open(part: Part) -> str:
    lines, mine = part.lines, part.temperament
    # Everybody is shown them in another order, and all shall not be for the same one.
    options = sorted(part.texts("options"))
    position = lines.position[mine]
    if options:
        position = lines.option_position.format(option=options[part.seat % len(options)])
    reasons = "\n".join(f"- {reason}" for reason in lines.reasoning)
    return (
        f"POSITION: {position}\nREASONING:\n{reasons}\n"
        f"PROPOSAL: {lines.proposal[mine]}\nCONCERNS: {lines.concerns[mine]}"
    )


def debate_answer(part: Part) -> str:
    """Everybody backs their own proposal at first, and the first one's in the end."""
    lines, mine = part.lines, part.temperament
    labels = part.texts("labels") or [f"{lines.participant} A"]
    own = part.text("label") or labels[part.seat % len(labels)]
    backed = labels[0] if part.persuaded else own
    confidence = 8 + part.seat % 2 if part.persuaded or mine == IN_FAVOUR else 6
    text = (
        f"AGREEMENTS: {lines.agreements}\n"
        f"DISAGREEMENTS: {lines.disagreements[part.persuaded]}\n"
        f"REFINED PROPOSAL: {lines.refined.format(proposal=lines.proposal[mine])}\n"
        f"BACKS: {backed}\nCONFIDENCE: {confidence}"
    )
    before = part.text("last_backs") or part.text("backs") or own
    return text if backed == before else f"{text}\nCHANGED BECAUSE: {lines.backing_changed}"


def council_answer(part: Part) -> str:
    return f"{part.lines.member_answer[part.temperament]} {part.lines.why}"


def gate_confirm(part: Part) -> str:
    return as_json(completion="complete", reason=part.lines.complete)


def anything(part: Part) -> str:
    """For a question of a kind that this script does not know."""
    return part.lines.anything.format(role=part.role)
