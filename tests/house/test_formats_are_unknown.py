"""Only a format's own folder knows its name; everybody else asks the registry.

What is looked at is code: names, and texts that code works with. Prose in docstrings, comments and
sentences may speak of a vote or a review. A text without spaces that holds a format's name
(``roundtable/ask``, ``council.``) is how a branch on a format would begin.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.formats import FORMATS

APP = Path(__file__).parents[2] / "app"
_NAMES = "|".join(sorted(FORMATS))
_IN_TEXT = re.compile(rf"(?:.*[^a-z])?(?:{_NAMES})(?:[^a-z].*)?")
_IN_NAME = re.compile(rf"(?:.*_)?(?:{_NAMES})s?(?:_.*)?", re.IGNORECASE)
_BRANCHES = re.compile(r"\.format\s*(?:==|!=|in\b|not in\b)|numbers_name")

_SCENES = "the rehearsal agent has a scene for each template, and so is a second home of formats"
_BALLOT = "the field of a ballot that a voter fills in (PROTOCOLS 16), and no format"
ALLOWED = {
    "agents/rehearsal_ballots.py": _SCENES,
    "agents/rehearsal_script.py": _SCENES,
    "agents/rehearsal_talk.py": _SCENES,
    "api/openapi.py": "an example of a request, for callers to read",
    "cli/service.py": "poll() of a process",
    "domain/meeting/outcome.py": "who decided: kinds of the contract (PROTOCOLS 11), and what the "
    "numbers are called in decision.recorded",
    "domain/replies/ballot.py": _BALLOT,
    "domain/replies/messages.py": "what is wrong with a ballot's field of that name",
    "domain/meeting/events/ends.py": "reads decisions whose parts lay side by side",
    "domain/meeting/history.py": "lays a decision's parts side by side",
    "store/archive.py": "compares a column with the format that a caller filters by",
    "store/closed_queries.py": "the same",
}


def modules() -> list[Path]:
    every = sorted(APP.rglob("*.py"))
    return [path for path in every if path.relative_to(APP).parts[0] != "formats"]


def found_in(source: str) -> list[str]:
    """Where a format is named, or a branch on formats is taken."""
    tree = ast.parse(source)
    prose = set(_prose(tree))
    told = [what for node in ast.walk(tree) if node not in prose for what in _named(node)]
    told += [
        f"line {number}: {line.strip()}"
        for number, line in enumerate(source.splitlines(), 1)
        if _BRANCHES.search(line)
    ]
    return told


def _prose(tree: ast.AST) -> Iterator[ast.AST]:
    """Texts that stand by themselves: docstrings, of whatever."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _named(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if " " not in text and _IN_TEXT.fullmatch(text):
            yield repr(text)
        case (
            ast.Name(id=name)
            | ast.Attribute(attr=name)
            | ast.arg(arg=name)
            | ast.keyword(arg=str(name))
        ) if _IN_NAME.fullmatch(name):
            yield name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if _IN_NAME.fullmatch(name):
            yield name
        case _:
            pass


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(APP)))
def test_no_format_is_named_outside_its_folder(path: Path) -> None:
    name = path.relative_to(APP).as_posix()
    found = found_in(path.read_text(encoding="utf-8"))
    if name in ALLOWED:
        assert found, f"app/{name} needs no leave any more"
    else:
        assert found == [], "\n" + "\n".join(f"app/{name}:{each}" for each in found)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_shared_words_have_no_section_of_a_format(language: str) -> None:
    path = APP / "records" / "templates" / f"{language}.toml"
    assert not tomllib.loads(path.read_text(encoding="utf-8")).keys() & FORMATS.keys()


@pytest.mark.parametrize(
    "source",
    [
        'if meeting.format == "debate": pass',
        'x = decided["debate"]',
        'y = "council" in decided',
        "def is_vote(numbers): ...",
        "for name in poll_tables(): ...",
        'key = f"review.{result}"',
        'ask("roundtable/ask")',
        "if decided.format in known: ...",
        'name = decided["numbers_name"]',
        "class Review: ...",
    ],
)
def test_a_branch_is_found(source: str) -> None:
    assert found_in(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A review is held like a vote."""',
        'raise ValueError("The vote is over.")',
        "devote = previewed = 1",
        "# a debate\nx = 1",
        'key = f"{meeting.format}.no_dissents"',
    ],
)
def test_prose_is_left_alone(source: str) -> None:
    assert not found_in(source)
