"""The core takes time, ids and chance as arguments; this reads its syntax trees to make sure."""

from pathlib import Path

import pytest

from tests.house.core_rules import Breach, breaches

APP = Path(__file__).parents[2] / "app"
STRICT = ("domain", "formats", "records")
CORE = (*STRICT, "coordinator")

# The formats' own __init__ finds them by their files, so that adding one is adding one file. That
# happens once, at import, and gives the same answer every time.
# rapidfuzz compares two texts and does nothing else: no I/O, no clock, no chance.
# Records are values in, texts out. Their own words and the page's style they read when they are
# first needed, and what renders HTML and makes it safe is other people's code.
ALLOWED = {
    "formats/__init__.py": {"imports importlib", "imports pkgutil"},
    "formats/poll/similarity.py": {"imports rapidfuzz"},
    "records/catalogue.py": {"imports importlib.resources", "imports tomllib"},
    "records/html.py": {
        *("imports base64", "imports jinja2", "imports markdown_it", "imports markupsafe"),
        *("imports nh3", "imports pathlib"),
    },
}


def core_files() -> list[Path]:
    return [path for room in CORE for path in sorted((APP / room).rglob("*.py"))]


@pytest.mark.parametrize("path", core_files(), ids=lambda path: str(path.relative_to(APP)))
def test_core_file_is_pure(path: Path) -> None:
    name = path.relative_to(APP)
    every = breaches(path.read_text(encoding="utf-8"), pure=name.parts[0] in STRICT)
    found = [breach for breach in every if breach.what not in ALLOWED.get(name.as_posix(), ())]
    assert found == [], "\n" + "\n".join(
        f"app/{name}:{breach.line}: {breach.what}" for breach in found
    )


def test_every_core_room_is_looked_at() -> None:
    assert {path.relative_to(APP).parts[0] for path in core_files()} == set(CORE)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import time", "imports time"),
        ("import time as t", "imports time"),
        ("from time import monotonic", "imports time"),
        ("import os.path", "imports os.path"),
        ("from pathlib import Path", "imports pathlib"),
        ("import random", "imports random"),
        ("from secrets import token_hex", "imports secrets"),
        ("import uuid", "imports uuid"),
        ("import json, uuid", "imports uuid"),
        ("def f():\n    import random", "imports random"),
        ("if True:\n    from uuid import uuid4", "imports uuid"),
        ("import builtins", "imports builtins"),
        ("import importlib", "imports importlib"),
        ("open('x')", "uses open"),
        ("read = open", "uses open"),
        ("print('x')", "uses print"),
        ("__import__('time')", "uses __import__"),
        ("hash('text')", "uses hash"),
        (
            "from datetime import datetime\ndatetime.now()",
            "reads the clock or its zone: datetime.now",
        ),
        (
            "from datetime import UTC, datetime\ndatetime.now(UTC)",
            "reads the clock or its zone: datetime.now",
        ),
        ("import datetime\ndatetime.datetime.now()", "reads the clock or its zone: "),
        ("from datetime import datetime\ndatetime.utcnow()", "reads the clock or its zone: "),
        ("from datetime import date\ndate.today()", "reads the clock or its zone: date.today"),
        ("import datetime\ndatetime.date.today()", "reads the clock or its zone: "),
        (
            "from datetime import datetime\nclock = datetime.now",
            "reads the clock or its zone: datetime.now",
        ),
    ],
)
@pytest.mark.parametrize("pure", [True, False], ids=["domain", "coordinator"])
def test_bad_code_is_caught_in_every_core_room(source: str, what: str, pure: bool) -> None:
    found = breaches(source, pure=pure)
    assert len(found) == 1
    assert found[0].what.startswith(what)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import asyncio", "imports asyncio"),
        ("import httpx", "imports httpx"),
        ("import sqlmodel", "imports sqlmodel"),
        ("import contextvars", "imports contextvars"),
        ("async def f() -> None: ...", "is asynchronous"),
    ],
)
def test_domain_is_held_to_more_than_the_coordinator(source: str, what: str) -> None:
    assert breaches(source, pure=True) == [Breach(1, what)]


@pytest.mark.parametrize(
    "source",
    [
        "from app.domain.meeting import Meeting",
        "from dataclasses import dataclass",
        "from collections.abc import Generator",
        "from datetime import UTC, datetime, timedelta\ndatetime(2026, 1, 1, tzinfo=UTC)",
        "def f(now, at):\n    return now - at",
        "class Clock:\n    def now(self): ...",
        "def f(clock):\n    return clock.now()",
        "def f(log):\n    return log.open",
        "time = 3\nprint_it = time",
    ],
)
@pytest.mark.parametrize("pure", [True, False], ids=["domain", "coordinator"])
def test_good_code_passes(source: str, pure: bool) -> None:
    assert breaches(source, pure=pure) == []


def test_coordinator_may_wait_for_several_things_at_once() -> None:
    assert breaches("import asyncio\nasync def f() -> None: ...", pure=False) == []
