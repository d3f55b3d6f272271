"""What a benchmark found, and how it is printed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table.

    ``target`` holds a comparison as it is shown (``< 20``, ``>= 200``) in the figure's own unit;
    a figure without one is there to be read beside another.
    """

    name: str
    value: float
    unit: str
    how: str
    target: str | None = None

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        sign, bound = self.target.split()
        return self.value < float(bound) if sign == "<" else self.value >= float(bound)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so large a share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.1f} GiB",
        "python": platform.python_version(),
        "load_before": f"{os.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown")


def print_table(figures: Sequence[Figure]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("name")
    table.add_column("figure", justify="right", no_wrap=True)
    table.add_column("target", no_wrap=True)
    table.add_column("how measured")
    for figure in figures:
        shown = f"{rounded(figure.value)} {figure.unit}"
        table.add_row(figure.name, shown, _verdict(figure), figure.how)
    # Kept wide where the output is no terminal, so that no figure is broken into two lines.
    console = Console()
    (console if console.is_terminal else Console(width=160)).print(table)


def _verdict(figure: Figure) -> str:
    if figure.target is None:
        return "-"
    return f"{figure.target} {'met' if figure.met else 'MISSED'}"


def rounded(value: float) -> str:
    """Three digits that count; whole numbers from 100 up."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write_json(path: Path, on: dict[str, str], figures: Sequence[Figure]) -> None:
    rows = [{**asdict(figure), "met": figure.met} for figure in figures]
    content = {"machine": on, "figures": rows}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
