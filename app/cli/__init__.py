"""The command ``yoriai``."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Annotated

import typer

from app import __version__
from app.domain.errors import YoriaiError

_commands = typer.Typer(
    help="Holds meetings between agents and brings back decisions that can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; a fault of the caller's is one readable line and exit code 2."""
    try:
        _commands()
    except YoriaiError as error:
        print(f"yoriai: {error.message}", file=sys.stderr)
        sys.exit(2)


@_commands.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to answer on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to answer on.")] = None,
) -> None:
    """Answer requests and run meetings until interrupted."""
    # Imports make much and no garbage, and looking for some is a sixth of the start.
    gc.disable()
    from app.cli.server import serve as run
    from app.settings import load_settings

    run(load_settings(host=host, port=port))


@_commands.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""
    from app.settings import load_settings
    from app.store.database import Database
    from app.store.file_lock import FileLock
    from app.store.migrating import upgrade

    database = Database(load_settings().database_url)
    with FileLock(database.path):
        upgrade(database.writer)
    print(f"{database.url.render_as_string()} is up to date")


@_commands.command()
def demo() -> None:
    """Hold one sample meeting over HTTP, show it, and end."""
    from app.cli.demo import hold_demo

    hold_demo(Path("data/demo"))


@_commands.command()
def meet(
    question: Annotated[str, typer.Argument(help="What the meeting is about.")],
    participants: Annotated[int, typer.Option(help="How many sit at the table.")] = 3,
    rounds: Annotated[int, typer.Option(help="Rounds at the most.")] = 3,
    language: Annotated[str, typer.Option(help="en or ja.")] = "en",
) -> None:
    """Hold a meeting on a question and watch it round by round."""
    from app.cli.meet import hold_meeting
    from app.settings import load_settings

    wish = {
        "topic": question,
        "count": participants,
        "limits": {"rounds": rounds},
        "language": language,
    }
    sys.exit(hold_meeting(load_settings(), wish))


@_commands.command()
def openapi() -> None:
    """Print the OpenAPI document."""
    from app.main import openapi_document

    sys.stdout.write(openapi_document())


@_commands.command()
def version() -> None:
    """Print the version."""
    print(__version__)
