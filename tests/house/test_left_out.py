"""A run says which tests it left out and why, on one process and on several."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ORACLE_LEFT_OUT = (
    "1 test left out, oracle: needs requirements-oracle.lock (some 600 MB); run it with "
    "`make oracle`"
)
SLOW_LEFT_OUT = "1 test left out, slow: takes minutes; run it with `pytest -m slow`"

# Our own conftest and settings over a suite of three tests, in a process of its own.
SUITE = """
import pytest

def test_usual(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.oracle
def test_oracle(): pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_it.py").write_text(SUITE, encoding="utf-8")
    for name in ("pyproject.toml", "tests/left_out.py"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tests / "conftest.py").write_text('pytest_plugins = ["tests.left_out"]\n', encoding="utf-8")
    return tmp_path


def closing_words(suite: Path, *options: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--rootdir", str(suite), *options],
        cwd=suite,
        capture_output=True,
        check=False,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [line for line in ran.stdout.splitlines() if " left out, " in line]


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "workers"])
def test_what_is_left_out_is_said_once_with_its_reason(
    suite: Path, options: tuple[str, ...]
) -> None:
    assert closing_words(suite, *options) == [ORACLE_LEFT_OUT, SLOW_LEFT_OUT]


def test_the_callers_own_choice_is_called_that(suite: Path) -> None:
    assert closing_words(suite, "-m", "slow") == [
        "1 test left out, by the options of this run",
        ORACLE_LEFT_OUT,
    ]


def test_nothing_is_said_when_nothing_is_left_out(suite: Path) -> None:
    assert closing_words(suite, "-m", "") == []
