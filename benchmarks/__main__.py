"""``python -m benchmarks``: run them, or those that are named, and print the table."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import uvloop

from benchmarks.catalogue import BENCHMARKS, Benchmark, UnknownSize
from benchmarks.figures import Figure, machine, print_table, write_json


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    names: list[str] = given.names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there is: {', '.join(BENCHMARKS)}")
    try:
        chosen = _sized(names, given.size)
    except (UnknownSize, ValueError) as error:
        parser.error(str(error))
    on = machine()
    print(", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in on.items()))
    figures: list[Figure] = []
    for name, benchmark in chosen.items():
        print(f"{name}: {benchmark.title}", file=sys.stderr)
        figures += uvloop.run(_measured(benchmark))
    print_table(figures)
    if given.json is not None:
        write_json(given.json, on, figures)
    return 0


async def _measured(benchmark: Benchmark) -> list[Figure]:
    return await benchmark.measure(benchmark.sizes)


def _sized(names: Sequence[str], sizes: Sequence[str]) -> dict[str, Benchmark]:
    changes: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for text in sizes:
        place, _, value = text.partition("=")
        name, _, size = place.partition(".")
        if name not in names:
            raise UnknownSize(f"{text}: {name} is not among the benchmarks to run")
        changes[name][size] = value
    return {name: BENCHMARKS[name].sized(changes[name]) for name in names}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there too")
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="NAME.SIZE=VALUE",
        help="change a size, such as throughput.seconds=3 or prompt_size.rounds=3,6",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
