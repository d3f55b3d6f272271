"""A review's rounds (PROTOCOLS 9 and 11): what one came to, what moved, and how it can stall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.domain.meeting.meeting import Meeting
from app.domain.meeting.resumption import materials_in
from app.domain.replies.reading import Reply
from app.domain.replies.text import folded
from app.domain.rounds.progress import FIRST_ROUND, Progress, StallKind
from app.domain.values import Json
from app.formats.review.criteria import Verdict, is_complete, judge
from app.formats.review.objections import Changes, ObjectionRegister, Severity, folded_quote
from app.formats.review.replies import raised_in

AUTHOR = "author"
CRITIC = "critic"


Said = Mapping[str, Mapping[str, str]]
"""Verdicts by critic and criterion."""


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One pass of author and critics.

    ``draft`` is the author's of this round, None if there was none; then no critic was asked.
    ``returned_to`` is the earlier round whose text the draft has gone back to.
    """

    number: int
    replies: tuple[Reply, ...]
    draft: str | None
    results: Mapping[str, Verdict]
    changes: Mapping[str, Changes]
    register: ObjectionRegister
    progress: Progress
    returned_to: int | None = None
    waiting: tuple[str, ...] = ()
    """Who wait for one another, in the order of the circle."""
    said: Said = field(default_factory=dict[str, Mapping[str, str]])
    """The verdicts that each critic gave when it was last heard, in this round or before."""
    standing: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    """The results by those verdicts. ``results`` go by what was said of this draft alone: where a
    critic has fallen silent they are open, and never taken for passed."""

    @property
    def reopened(self) -> tuple[str, ...]:
        return tuple(id_ for changes in self.changes.values() for id_ in changes.reopened)

    @property
    def circular(self) -> bool:
        return bool(self.reopened) or self.returned_to is not None

    def complete(self, meeting: Meeting) -> bool:
        """Whether this draft passes (PROTOCOLS 9).

        Every critic must have looked at it: silence is not taken for having no objection. What
        passed on materials that have changed since has not passed on those in force now.
        """
        heard = self.draft is not None and all(reply.usable for reply in self.replies)
        passed = heard and is_complete(meeting.criteria, self.results, self.register)
        return passed and _same_materials_since(meeting, self.number)

    def view(self) -> dict[str, Json]:
        """The round as the record sets the first and the last one side by side."""
        return {"round": self.number, **self.counted()}

    def counted(self) -> dict[str, Json]:
        """What a review counts in a round."""
        return {
            "criteria": dict(self.results),
            "open_objections": open_counts(self.register),
        }


def open_counts(register: ObjectionRegister) -> dict[str, int]:
    """How many objections are open, by severity; the unsupported ones apart from the others."""
    counts = {severity.value: 0 for severity in Severity} | {"unsupported": 0}
    for objection in register.objections:
        if objection.open:
            key = objection.raised.severity.value if objection.supported else "unsupported"
            counts[key] += 1
    return counts


def close_round(
    meeting: Meeting, before: Sequence[ReviewRound], author: Reply, critics: Sequence[Reply]
) -> ReviewRound:
    """What a round's replies came to."""
    waiting = wait_circle(_waits(meeting, (author, *critics)))
    if not author.usable:
        return _without_draft(meeting, before, author, waiting)
    last = before[-1] if before else None
    draft, names = author.values["draft"], tuple(reply.who for reply in critics)
    register, changes = _taken(meeting, last.register if last else ObjectionRegister(), critics)
    now = {reply.who: reply.values["criteria"] for reply in critics if reply.usable}
    said = {**last.said, **now} if last else now
    standing = judge(meeting.criteria, draft, names, said)
    returned_to = earlier_round_of(draft, before)
    return ReviewRound(
        number=len(before) + 1,
        replies=(author, *critics),
        draft=draft,
        results=judge(meeting.criteria, draft, names, now),
        changes=changes,
        register=register,
        progress=_progress(last, changes, standing, returned_to),
        returned_to=returned_to,
        waiting=waiting,
        said=said,
        standing=standing,
    )


def _without_draft(
    meeting: Meeting, before: Sequence[ReviewRound], author: Reply, waiting: tuple[str, ...]
) -> ReviewRound:
    """Without a draft there was nothing to judge, and everything stands as it stood."""
    if before:
        return replace(
            before[-1],
            number=len(before) + 1,
            replies=(author,),
            draft=None,
            changes={},
            progress=Progress(()),
            returned_to=None,
            waiting=waiting,
        )
    results = judge(meeting.criteria, "", (), {})
    return ReviewRound(
        number=1,
        replies=(author,),
        draft=None,
        results=results,
        changes={},
        register=ObjectionRegister(),
        progress=FIRST_ROUND,
        waiting=waiting,
        standing=results,
    )


def _taken(
    meeting: Meeting, register: ObjectionRegister, critics: Sequence[Reply]
) -> tuple[ObjectionRegister, dict[str, Changes]]:
    """The register after every critic's reply, in the order of the seats."""
    changes: dict[str, Changes] = {}
    for reply in critics:
        raised, closed = raised_in(reply.values), reply.values["closed"]
        materials = materials_in(meeting, reply.round)
        register, changes[reply.who] = register.after(
            reply.who, reply.round, raised, closed, materials
        )
    return register, changes


def _progress(
    last: ReviewRound | None,
    changes: Mapping[str, Changes],
    standing: Mapping[str, Verdict],
    returned_to: int | None,
) -> Progress:
    """What moved (PROTOCOLS 11). A critic that falls silent, or comes back to what it had said, has
    changed no result."""
    if last is None:
        return FIRST_ROUND
    moved = [reason for each in changes.values() for reason in each.progress.reasons]
    if returned_to is None:
        # A text that was there before has its earlier results again; that is going in circles.
        changed = (id_ for id_, result in standing.items() if last.standing[id_] != result)
        moved += [f"criterion_changed:{id_}" for id_ in changed]
    return Progress(tuple(moved))


def _same_materials_since(meeting: Meeting, round_: int) -> bool:
    """Whether what this round was judged against has stayed as it was through every resuming."""
    later = (each for each in meeting.resumptions if each.after_round >= round_)
    return all(resumption.materials_before == meeting.materials for resumption in later)


def earlier_round_of(draft: str, before: Sequence[ReviewRound]) -> int | None:
    """The round whose text this draft returns to; one that merely stays as it was does not."""
    drafts = [(held.number, folded_quote(held.draft)) for held in before if held.draft is not None]
    text = folded_quote(draft)
    if not drafts or drafts[-1][1] == text:
        return None
    return next((number for number, earlier in drafts if earlier == text), None)


# --- stalling -----------------------------------------------------------------------------------


def stall_kind(idle: Sequence[ReviewRound]) -> StallKind:
    """What rounds without progress have in common (PROTOCOLS 11)."""
    if any(held.circular for held in idle):
        return StallKind.CIRCULAR
    return StallKind.MUTUAL_WAIT if idle[-1].waiting else StallKind.STALEMATE


def _waits(meeting: Meeting, replies: Sequence[Reply]) -> dict[str, str]:
    """Who says that it waits for whom; waiting for an input is waiting for nobody here."""
    known = {folded(seat.name): seat.name for seat in meeting.seats}
    known |= {folded(meeting.label(name)): name for name in list(known.values())}
    said = {reply.who: reply.values["waiting_for"] for reply in replies if reply.usable}
    return {
        who: known[folded(for_)] for who, for_ in said.items() if for_ and folded(for_) in known
    }


def wait_circle(waits: Mapping[str, str]) -> tuple[str, ...]:
    """Participants who wait for one another: a cycle in the wait-for graph, or nobody.

    Waiting for oneself is no waiting for another.
    """
    for start in waits:
        path = [start]
        while (following := waits.get(path[-1])) is not None and following not in path:
            path.append(following)
        if following is not None and (circle := path[path.index(following) :]) and len(circle) > 1:
            return tuple(circle)
    return ()
