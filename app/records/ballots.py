"""Ballots in words, and the tables of a vote's count (PROTOCOLS 7 and 15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from app.domain.values import Json
from app.records.catalogue import Words
from app.records.containment import inline, table
from app.records.degradation import bullets
from app.records.figures import ballot_text

_THEN = " > "


def is_vote(numbers: Mapping[str, Json]) -> bool:
    return "protocol" in numbers


def ballot_cell(words: Words, ballot: Json) -> str:
    """A ballot in one cell of a table, without its keys where it can be told without them."""
    if not isinstance(ballot, Mapping):
        return ballot_text(words, ballot)
    fields = cast("Mapping[str, Json]", ballot)
    if "vote" in fields:
        return inline(fields["vote"])
    if "answer" in fields:
        return inline(fields["answer"])
    if "ranking" in fields:
        return _THEN.join(inline(option) for option in fields["ranking"])
    if "recommendations" in fields:
        return "; ".join(
            words("poll.recommended", title=inline(each["title"]), confidence=each["confidence"])
            for each in fields["recommendations"]
        )
    if "scores" in fields:
        return "; ".join(
            words("poll.scored", option=inline(option), scores=_scores(words, given))
            for option, given in fields["scores"].items()
        )
    return ballot_text(words, fields)


def _scores(words: Words, given: Json) -> str:
    if not isinstance(given, Mapping):
        return ballot_text(words, given)
    scores = cast("Mapping[str, Json]", given)
    return words.joined(f"{inline(name)} {score}" for name, score in scores.items())


def vote_tables(words: Words, tally: Mapping[str, Json]) -> Iterator[str]:
    """How the ballots were counted, the count itself, and what it came to."""
    protocol: str = tally["protocol"]
    percent = f"{tally['threshold']['percent']:g}"
    yield words(f"vote.{protocol}", threshold=percent)
    if protocol == "weighted":
        yield words(f"vote.by_{tally['normalize']}")
    yield words("vote.quorum", **tally["quorum"])
    if tally["abstained"]:
        names = words.joined(inline(name) for name in tally["abstained"])
        yield words("vote.abstained", names=names)
    yield _shares(words, tally)
    if tally["run_off"]:
        yield from _run_off(words, tally)
    yield vote_result(words, tally)


def _shares(words: Words, tally: Mapping[str, Json]) -> str:
    """Each share with what it is of, so that it can be worked out again."""
    ranked = tally["protocol"] == "ranked"
    counted = ("vote.first_places", "vote.last_count") if ranked else ("vote.votes", "vote.part")
    headings = ("vote.option", *counted)
    rows = [
        [inline(option), str(votes), _share(words, tally, option)]
        for option, votes in tally["votes"].items()
    ]
    return table([words(heading) for heading in headings], rows)


def _share(words: Words, tally: Mapping[str, Json], option: str) -> str:
    of = {"part": _short(tally["sums"][option]), "whole": _short(tally["total"])}
    return words("vote.share", **of, percent=f"{tally['shares'][option]['percent']:g}")


def _short(number: float) -> str:
    return f"{number:.6g}"


def vote_result(words: Words, tally: Mapping[str, Json]) -> str:
    """What a count came to, in a sentence."""
    reason: str = tally["reason"]
    if reason == "passed":
        return words("vote.passed", option=inline(tally["passed"]))
    if reason == "tie":
        return words("vote.tie", options=words.joined(inline(option) for option in tally["tied"]))
    key = "vote.below_quorum" if reason == "quorum" else f"vote.{reason}"
    return words.either(key, inline(reason))


def _run_off(words: Words, tally: Mapping[str, Json]) -> Iterator[str]:
    counts: Sequence[Mapping[str, Json]] = tally["run_off"]
    missing = words("measure.missing")
    yield f"**{words('vote.run_off')}**"
    numbers = [words("vote.count", number=number) for number, _ in enumerate(counts, 1)]
    rows = [
        [inline(option), *(str(count["counts"].get(option, missing)) for count in counts)]
        for option in tally["votes"]
    ]
    rows.append([words("vote.exhausted"), *(str(count["exhausted"]) for count in counts)])
    yield table([words("vote.option"), *numbers], rows)
    dropped = [
        words(
            f"vote.dropped_{count['by']}",
            number=number,
            options=words.joined(inline(option) for option in count["dropped"]),
        )
        for number, count in enumerate(counts, 1)
        if count["by"]
    ]
    if dropped:
        yield bullets(dropped)
    winner = tally["condorcet"]
    key = "vote.no_condorcet" if winner is None else "vote.condorcet"
    yield words(key, option=inline(winner or ""))


def ladder_steps(words: Words, steps: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """What was done after a ballot that passed nothing, in order."""
    if not steps:
        return
    yield f"**{words('vote.ladder')}**"
    yield bullets([_ladder_step(words, step) for step in steps])


def _ladder_step(words: Words, step: Mapping[str, Json]) -> str:
    experts: Sequence[str] = step.get("experts") or ()
    key = f"vote.step_{step['step']}" + ("_applied" if experts else "")
    if "to" in step:
        return words(f"{key}_to", round=step["round"], name=inline(step["to"]))
    names = words.joined(inline(name) for name in experts)
    return words(key, round=step["round"], names=names)


def options_argued(words: Words, options: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Every option with what speaks for it and against it, for whoever has to decide."""
    arguments = {
        argument["participant"]: argument for option in options for argument in option["pros"]
    }
    for option in options:
        yield f"**{inline(option['option'])}**"
        lines = [_for(words, argument) for argument in option["pros"]]
        lines += [_against(words, arguments[name]) for name in option["cons"]]
        yield bullets(lines) if lines else words("vote.nobody_argued")


def _for(words: Words, argument: Mapping[str, Json]) -> str:
    rationale = inline(argument["rationale"]) or words("measure.missing")
    return words("vote.for", name=inline(argument["participant"]), text=rationale)


def _against(words: Words, argument: Mapping[str, Json]) -> str:
    named = {"name": inline(argument["participant"]), "option": inline(argument["option"])}
    if not argument["mitigation"]:
        return words("vote.against", **named)
    return words("vote.against_unless", **named, text=inline(argument["mitigation"]))
