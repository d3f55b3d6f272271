"""Closing words of a test run: which tests it left out, and why."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

_LEFT_OUT = pytest.StashKey[dict[str, list[str]]]()
# Under xdist every worker leaves out tests on its own and only the controller prints a summary,
# so the workers send theirs over under this name.
_WIRE_NAME = "yoriai_left_out"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LEFT_OUT] = {}


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        markers = sorted({mark.name for mark in item.iter_markers()})
        item.config.stash[_LEFT_OUT][item.nodeid] = markers


def pytest_sessionfinish(session: pytest.Session) -> None:
    sent = getattr(session.config, "workeroutput", None)
    if sent is not None:
        sent[_WIRE_NAME] = session.config.stash[_LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Collect what one xdist worker left out; they all leave out the same."""
    # A worker that crashed has sent nothing.
    sent: dict[str, list[str]] = getattr(node, "workeroutput", {}).get(_WIRE_NAME, {})
    node.config.stash[_LEFT_OUT].update(sent)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left_out = config.stash[_LEFT_OUT]
    if not left_out:
        return
    terminalreporter.section("left out")
    for line in describe_left_out(left_out, marker_reasons(config.getini("markers"))):
        terminalreporter.write_line(line)


def marker_reasons(declared: Sequence[str]) -> dict[str, str]:
    """The part after the colon of every marker that pyproject.toml declares."""
    pairs = (line.partition(":") for line in declared)
    return {name.partition("(")[0].strip(): reason.strip() for name, _, reason in pairs}


# Only these are left out by default; any other marker on a test explains nothing.
_OPT_IN = ("slow", "oracle", "real_model")


def describe_left_out(left_out: dict[str, list[str]], reasons: dict[str, str]) -> list[str]:
    """One line for every reason, with how many tests it left out."""
    counts: defaultdict[str, int] = defaultdict(int)
    for markers in left_out.values():
        opt_in = next((name for name in _OPT_IN if name in markers), None)
        reason = f"{opt_in}: {reasons[opt_in]}" if opt_in else "by the options of this run"
        counts[reason] += 1
    return [
        f"{count} {'test' if count == 1 else 'tests'} left out, {reason}"
        for reason, count in sorted(counts.items())
    ]
