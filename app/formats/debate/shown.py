"""What a debate shows to whom (PROTOCOLS 2 and 5): others under labels, one's own as one's own.

A reply that did not fit is shown to nobody, and neither is anybody's thinking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.replies.reading import Reply
from app.domain.replies.text import clean, without_thinking
from app.domain.values import Json
from app.formats.debate.standing import DebateRound, proposals
from app.formats.shared.shuffling import shuffled


def others_said(
    rounds: Sequence[DebateRound],
    labels: Mapping[str, str],
    reader: str,
    meeting_id: str,
    most_characters: int,
) -> list[Json]:
    """All that the others said, round by round, in an order of this reader's own."""
    order = shuffled((name for name in labels if name != reader), meeting_id, reader)
    shown: list[Json] = []
    for round_ in rounds:
        by_name = {reply.who: _said(reply, most_characters) for reply in round_.replies}
        replies = [{"label": labels[name], "text": by_name[name]} for name in order]
        shown.append({"round": round_.number, "replies": replies})
    return shown


def own_said(rounds: Sequence[DebateRound], reader: str, most_characters: int) -> list[Json]:
    """The reader's own replies, as far as there are any."""
    return [
        {"round": reply.round, "text": _said(reply, most_characters)}
        for reply in _replies_of(rounds, reader)
        if reply.usable
    ]


def quoted(
    round_: DebateRound, labels: Mapping[str, str], most_characters: int
) -> list[dict[str, Json]]:
    """A round for the secretary: each reply with the backing that was read from it."""
    return [
        {
            "label": labels[reply.who],
            "backs": round_.backings[reply.who].label or "",
            "confidence": round_.backings[reply.who].confidence,
            "text": _said(reply, most_characters),
        }
        for reply in round_.replies
    ]


def labels_on_offer(
    rounds: Sequence[DebateRound], labels: Mapping[str, str], reader: str
) -> tuple[str, ...]:
    """Whose proposal may be backed: the reader's own, and those of all who have made one."""
    made = proposals(rounds, labels)
    return tuple(label for name, label in labels.items() if label in made or name == reader)


def last_backed(rounds: Sequence[DebateRound], reader: str) -> str | None:
    """What the reader backed when it was last heard; None if it never was."""
    backed = (round_.backings[reader].label for round_ in reversed(rounds))
    return next((label for label in backed if label is not None), None)


def _replies_of(rounds: Sequence[DebateRound], name: str) -> Iterator[Reply]:
    return (reply for round_ in rounds for reply in round_.replies if reply.who == name)


def _said(reply: Reply, most_characters: int) -> str:
    return clean(without_thinking(reply.text), most_characters) if reply.usable else ""
