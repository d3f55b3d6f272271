"""Every benchmark runs, at a size that says nothing about speed, and prints its rows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.catalogue import BENCHMARKS, UnknownSize
from benchmarks.figures import Figure, percentile, rounded

ROOT = Path(__file__).parents[2]

TINY = {
    "coordination": (("meetings=2", "warm_up=1"), ("coordination, wall", "coordination, CPU")),
    "throughput": (
        ("at_once=1,2", "seconds=0.1", "warm_up_seconds=0"),
        ("meetings, 1 at once", "meetings, 2 at once"),
    ),
    "waves": (
        ("meetings=1", "delay_seconds=0.01"),
        ("over the floor, 3 waves", "over the floor, 6 waves"),
    ),
    "formats": (
        ("meetings=1", "delay_seconds=0.01", "respondents=3", "members=2"),
        (
            "poll of 3, over the floor",
            "council of 2, over the floor",
            "council of 2, gated, over the floor",
        ),
    ),
    "counting": (
        ("ballots=20", "times=1"),
        (
            "counting, simple_majority",
            "counting, supermajority",
            "counting, unanimous",
            "counting, weighted",
            "counting, ranked",
            "counting, poll, ranking",
            "counting, poll, scoring",
            "counting, poll, binary",
        ),
    ),
    "prompt_size": (
        ("rounds=2,4",),
        ("prompts, round 2", "prompts, round 4", "growth by round 4"),
    ),
    "latency": (
        ("at_once=2", "meetings=2", "rounds=1", "thinking_seconds=0"),
        ("reply to subscriber p50, 2 at once", "reply to subscriber p99, 2 at once"),
    ),
    "fan_out": (
        ("subscribers=5", "seats=5", "apart_seconds=0.3", "crowded_seconds=0.01"),
        (
            "fan-out, events apart",
            "fan-out, events crowded",
            "fan-out, delivery p99",
            "fan-out, memory each",
        ),
    ),
    "memory": (
        ("meetings=3", "settle_seconds=0.1"),
        ("memory, no meeting", "memory, 3 open meetings", "memory, 3 asking models"),
    ),
    "recovery": (
        ("kills=1", "meetings=2", "delay_seconds=0.3"),
        ("kill -9 to first new event", "kill -9 to readyz"),
    ),
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_benchmark_has_a_tiny_size_here() -> None:
    assert set(TINY) == set(BENCHMARKS)


@pytest.mark.parametrize("name", TINY)
def test_prints_its_rows(name: str, tmp_path: Path) -> None:
    sizes, rows = TINY[name]
    written = tmp_path / "figures.json"
    options = [part for size in sizes for part in ("--size", f"{name}.{size}")]
    done = run(name, "--json", str(written), *options)
    assert done.returncode == 0, done.stderr
    content = json.loads(written.read_text(encoding="utf-8"))
    assert [figure["name"] for figure in content["figures"]] == list(rows)
    assert content["machine"]["cores"]
    for row in rows:
        assert row in done.stdout


def test_prompts_stay_flat(tmp_path: Path) -> None:
    """The one figure that no noise can touch."""
    written = tmp_path / "figures.json"
    done = run("prompt_size", "--size", "prompt_size.rounds=8", "--json", str(written))
    assert done.returncode == 0, done.stderr
    figures = json.loads(written.read_text(encoding="utf-8"))["figures"]
    assert {figure["name"]: figure["met"] for figure in figures}["growth by round 8"] is True


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["speed"], "there is no speed; there is: coordination"),
        (["waves", "--size", "waves.colour=2"], "there is no size colour"),
        (["waves", "--size", "memory.meetings=2"], "not among the benchmarks to run"),
        (["waves", "--size", "waves.meetings=many"], "invalid literal"),
    ],
)
def test_says_what_it_cannot_run(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_sizes_are_read_like_their_defaults() -> None:
    sized = BENCHMARKS["throughput"].sized({"at_once": "1,5", "seconds": "3"})
    assert (sized.sizes.at_once, sized.sizes.seconds) == ((1, 5), 3.0)
    with pytest.raises(UnknownSize):
        BENCHMARKS["throughput"].sized({"colour": "2"})


@pytest.mark.parametrize(
    ("value", "target", "met"),
    [(19.9, "< 20", True), (20.0, "< 20", False), (200.0, ">= 200", True), (1.0, None, None)],
)
def test_a_target_is_met_or_missed(value: float, target: str | None, met: bool | None) -> None:
    assert Figure("figure", value, "ms", "how", target).met is met


def test_percentiles_and_rounding() -> None:
    assert percentile([5, 1, 3, 2, 4], 0.5) == 3
    assert percentile([1.0], 0.99) == 1.0
    assert [rounded(value) for value in (0.1234, 12.34, 1234.5)] == ["0.123", "12.3", "1,234"]
