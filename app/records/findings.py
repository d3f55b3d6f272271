"""What the record shows beside the result (PROTOCOLS 15): how it came about, and what it lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.domain.meeting.history import History
from app.domain.meeting.rounds_held import RoundHeld
from app.domain.values import Json
from app.records.ballots import is_vote, vote_result
from app.records.catalogue import Words
from app.records.containment import inline, quoted, table
from app.records.degradation import Safe, bullets
from app.records.operations import open_saves
from app.records.reviews import rounds_compared
from app.records.stalls import stall_sentence
from app.records.verdict import counts_ballots, numbers_of

_UNCONFIRMED = "unconfirmed"
_WITHOUT_POSITIONS = frozenset({"poll", "council", "review"})
"""Formats in which nobody takes a position that could change from one round to the next."""


def comparison(words: Words, past: History, level: int = 2) -> Iterator[str]:
    """The first, independent tally beside the last one, so a reader sees what talking changed."""
    if past.meeting.format == "poll":
        return  # There is one pass, so there are no two rounds to compare.
    if past.meeting.format == "council":
        return  # Its rounds ask different things, so nobody can have moved between them.
    if past.meeting.format == "review":
        yield f"{'#' * level} {words('review.rounds_compared')}"
        yield from rounds_compared(words, past)
        return
    yield f"{'#' * level} {words('heading.baseline')}"
    baseline, final = views(past)
    if baseline is None or final is None:
        yield words("findings.no_rounds")
        return
    yield _views_table(words, past, baseline, final)
    if baseline["round"] == final["round"]:
        yield words("findings.one_round")
    elif final.get("motion"):
        same = baseline.get("motion") == final.get("motion")
        yield words("findings.same_motion" if same else "findings.other_motion")


def stances_by_round(words: Words, past: History) -> Iterator[str]:
    """Where each participant stood in each round, in one table."""
    if past.decision is not None and "debate" in past.decision:
        return  # its outcome shows the same with the confidences
    rounds = [round_ for round_ in past.rounds if round_.stances]
    if len(rounds) <= 1:
        return
    missing = words("measure.missing")
    yield f"## {words('heading.stances')}"
    yield table(
        [words("label.participant"), *(words("heading.round", round=r.number) for r in rounds)],
        [
            [inline(seat.name), *(inline(r.stances.get(seat.name, missing)) for r in rounds)]
            for seat in past.meeting.seats
        ],
    )


def views(past: History) -> tuple[Mapping[str, Json] | None, Mapping[str, Json] | None]:
    """The first round and the last closed one: number, motion, counts, consensus."""
    if past.decision is not None:
        return past.decision.get("baseline"), past.decision.get("final")
    closed = [_view(round_) for round_ in past.rounds if round_.closed is not None]
    return (closed[0], closed[-1]) if closed else (None, None)


def _view(round_: RoundHeld) -> Mapping[str, Json]:
    closed = round_.closed or {}
    return {
        "round": round_.number,
        "motion": round_.motion,
        "counts": closed.get("counts", {}),
        "consensus": closed.get("consensus"),
    }


def _views_table(
    words: Words, past: History, baseline: Mapping[str, Json], final: Mapping[str, Json]
) -> str:
    kinds = list(baseline.get("counts") or {})
    seats = len(past.meeting.seats)
    shown = [("baseline", baseline)]
    if final["round"] != baseline["round"]:
        shown.append(("final", final))
    rows = [
        [
            words(f"findings.{key}", round=view["round"]),
            *(words("measure.of", part=view["counts"][kind], whole=seats) for kind in kinds),
            _came_to(words, view),
        ]
        for key, view in shown
    ]
    last = words("label.result" if is_vote(baseline) else "label.consensus")
    return table([words("label.round"), *(inline(kind) for kind in kinds), last], rows)


def _came_to(words: Words, view: Mapping[str, Json]) -> str:
    if is_vote(view):
        return vote_result(words, view)
    return inline(view.get("consensus") or words("measure.missing"))


def flips(words: Words, decided: Mapping[str, Json]) -> Iterator[str]:
    if numbers_of(decided)[0] in _WITHOUT_POSITIONS:
        return
    yield f"### {words('heading.flips')}"
    changes: Sequence[Mapping[str, Json]] = decided.get("flips") or ()
    if not changes:
        yield words("findings.no_flips")
        return
    keys = ("round", "participant", "from", "to", "direction", "reason")
    yield table(
        [words(f"label.{key}") for key in keys],
        [_flip_row(words, change) for change in changes],
    )
    count = decided["unexplained_flips"]
    yield words("findings.unexplained", count=count, total=len(changes))


def _flip_row(words: Words, change: Mapping[str, Json]) -> list[str]:
    return [
        str(change["round"]),
        inline(change["participant"]),
        inline(change["from"]),
        inline(change["to"]),
        words.either(f"findings.{change['direction']}", inline(change["direction"])),
        inline(change["reason"] or "") or words("findings.no_reason"),
    ]


def dissents(words: Words, decided: Mapping[str, Json], level: int = 3) -> Iterator[str]:
    """Every view that lost, with its reasons; then those who neither agreed nor opposed."""
    yield f"{'#' * level} {words('heading.dissents')}"
    if not decided["dissents"]:
        undecided = counts_ballots(decided) and decided["decision"] is None
        nobody = "findings.nothing_lost" if undecided else "findings.no_dissents"
        yield words.either(f"{numbers_of(decided)[0]}.no_dissents", words(nobody))
    group = next((name for name in ("debate", "review") if name in decided), "findings")
    for dissent in decided["dissents"]:
        yield from _view_kept(words, dissent, group)
    reservations = decided.get("reservations") or ()
    if reservations:
        yield f"{'#' * level} {words('heading.reservations')}"
    for reservation in reservations:
        yield from _view_kept(words, reservation, group)


def _view_kept(words: Words, view: Mapping[str, Json], group: str) -> Iterator[str]:
    position = words.either(f"position.{view['position']}", inline(view["position"]))
    stands = words(f"{group}.position", position=position)
    named = {"name": inline(view["participant"]), "position": stands}
    if view.get("round"):
        yield f"**{words('findings.dissent', **named, round=view['round'])}**"
    else:
        yield f"**{words('findings.dissent_plain', **named)}**"
    yield quoted(view["rationale"] or words("measure.missing"))
    if view.get("mitigation"):
        yield words(f"{group}.mitigation")
        yield quoted(view["mitigation"])


def open_points(words: Words, past: History, safe: Safe = inline) -> list[str]:
    """What nobody settled and what nobody could confirm, a sentence each."""
    points = [*stall_sentence(words, past, safe), *_disputed(words, past, safe)]
    for item in (past.cancellation or {}).get("items", ()):
        if item["state"] == _UNCONFIRMED:
            named = {key: safe(item[key]) for key in ("kind", "ref", "state")}
            points.append(words("open.unconfirmed", **named))
    left = (past.decision or {}).get("open_below", ())
    points += [words("open.below", ref=safe(id_)) for id_ in left]
    points += open_saves(words, past, safe)
    for exhausted in past.exhausted:
        step = safe(exhausted.data.get("step") or "")
        points.append(words("open.exhausted", step=step))
    return points


def _disputed(words: Words, past: History, safe: Safe) -> Iterator[str]:
    decided = past.decision
    if decided is None:
        return
    if counts_ballots(decided):
        yield from _after_a_count(words, past, decided, safe)
        return
    undecided = decided["decision"] is None
    if undecided and past.rounds and past.rounds[-1].motion:
        yield words("open.undecided", text=safe(past.rounds[-1].motion))
    draft = decided["synthesis"]
    if draft is not None:
        yield from (words("open.differ", text=safe(text)) for text in draft.get("differ", ()))
        yield from (words("open.concern", text=safe(text)) for text in draft.get("concerns", ()))
        return
    for concern in (decided.get("debate") or {}).get("unresolved_concerns", ()):
        yield words("open.concern", text=safe(concern["text"]))
    for dissent in decided["dissents"]:
        # Under a ruling, who lost may be those who were for the motion.
        if dissent.get("round") and not decided.get("ruling"):
            name = safe(dissent["participant"])
            yield words("open.opposed", name=name, round=dissent["round"])
    if past.rounds:
        yield words("open.no_synthesis")


def _after_a_count(
    words: Words, past: History, decided: Mapping[str, Json], safe: Safe
) -> Iterator[str]:
    """What a count leaves open: the question, or what the losing side asks for."""
    if decided["decision"] is None:
        yield words("open.question", text=safe(past.meeting.motion or past.meeting.topic))
    for dissent in decided["dissents"]:
        if dissent.get("mitigation"):
            named = {"name": safe(dissent["participant"]), "text": safe(dissent["mitigation"])}
            yield words("open.mitigation", **named)


def still_open(words: Words, past: History) -> Iterator[str]:
    yield f"## {words('heading.open')}"
    points = open_points(words, past)
    yield bullets(points) if points else words("open.none")
