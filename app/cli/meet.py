"""``yoriai meet``: a meeting on one question, watched in a table as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.table import Table

from app.cli.service import follow, own_service
from app.settings import Settings

_COLOURS = {"AGREE": "green", "DISAGREE": "red", "NEUTRAL": "yellow", "UNKNOWN": "dim"}


def hold_meeting(settings: Settings, wish: Mapping[str, Any]) -> int:
    """Hold it and show the record; 0 if it decided something, else 1.

    Raises ``ServiceNotStarted``, when another service has the database for one.
    """
    console = Console()
    environment = {
        "YORIAI_DATABASE_URL": settings.database_url,
        "YORIAI_MINUTES_DIR": str(settings.minutes_dir),
        "YORIAI_LOG_LEVEL": "warning",
    }
    with own_service(environment) as client:
        answer = client.post("/v1/meetings", json=wish)
        if not answer.is_success:
            _show_problem(console, answer.json())
            return 2
        meeting = answer.json()
        stances: dict[str, dict[int, str]] = {seat["name"]: {} for seat in meeting["participants"]}
        rounds = meeting["limits"]["rounds"]
        result = ""
        with Live(_table(stances, rounds, ""), console=console) as live:
            for event in follow(client, meeting["id"]):
                content = event["data"]
                if event["type"] == "reply.received":
                    shown = content.get("stance", content["status"])
                    stances[content["participant"]][content["round"]] = shown
                if event["type"] == "meeting.ended":
                    result = content["result"]
                live.update(_table(stances, rounds, event["type"]))
        accept = {"Accept": "text/markdown"}
        record = client.get(f"/v1/meetings/{meeting['id']}/decision", headers=accept)
        console.print(Markdown(_without_front_matter(record.raise_for_status().text)))
    return 0 if result == "decided" else 1


def _without_front_matter(record: str) -> str:
    """The record for a reader; its front matter is for programs."""
    return record.split("\n---\n", 1)[-1]


def _table(stances: Mapping[str, Mapping[int, str]], rounds: int, latest: str) -> Table:
    table = Table(caption=latest)
    table.add_column("participant")
    for number in range(1, rounds + 1):
        table.add_column(f"round {number}")
    for name, taken in stances.items():
        cells = [taken.get(number, "") for number in range(1, rounds + 1)]
        table.add_row(name, *(_coloured(cell) for cell in cells))
    return table


def _coloured(stance: str) -> str:
    colour = _COLOURS.get(stance, "magenta")
    return f"[{colour}]{stance}[/]" if stance else ""


def _show_problem(console: Console, problem: Mapping[str, Any]) -> None:
    console.print(f"{problem['title']}: {problem.get('detail', '')}", style="red", markup=False)
    for fault in problem.get("errors", ()):
        console.print(f"  {fault['pointer']}: {fault['detail']}", markup=False)
