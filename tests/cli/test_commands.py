"""The commands as an operator runs them: processes of their own, exit codes, plain lines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.process.service import Service, command, environment


def run(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**settings),
        capture_output=True,
        text=True,
        check=False,
    )


def refused(folder: Path, *arguments: str, **settings: str) -> str:
    """The one line on standard error of a command that ends with 2."""
    done = run(folder, *arguments, **settings)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("yoriai: ")
    return line.removeprefix("yoriai: ")


def test_the_demo_shows_the_decision_and_where_the_minutes_lie(tmp_path: Path) -> None:
    done = run(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert "POST /v1/meetings  ->  201  mtg_" in done.stdout
    assert "decided, stopped by" in done.stdout
    told = done.stdout.splitlines()[-1]
    path = told.removeprefix("The minutes lie in ").removesuffix(".")
    minutes = (tmp_path / path).read_text()
    decision = next(line for line in done.stdout.splitlines() if "decision.recorded" in line)
    sentence = decision.partition("decided: ")[2].rstrip("…")
    assert sentence
    assert sentence in minutes
    assert "## Decision Outcome" in done.stdout or "Decision" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_openapi_document_is_printed(tmp_path: Path) -> None:
    done = run(tmp_path, "openapi")
    assert (done.returncode, done.stderr) == (0, "")
    document: dict[str, Any] = json.loads(done.stdout)
    assert "/v1/meetings" in document["paths"]
    assert list(tmp_path.iterdir()) == []


def test_migrate_makes_the_database_and_may_be_run_again(tmp_path: Path) -> None:
    for _ in range(2):
        done = run(tmp_path, "migrate")
        assert (done.returncode, done.stderr) == (0, "")
        assert "up to date" in done.stdout
    assert (tmp_path / "data" / "yoriai.db").is_file()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"bogus": "1"}, "YORIAI_BOGUS"),
        ({"databse_url": "sqlite+aiosqlite:///x.db"}, "YORIAI_DATABSE_URL"),
        ({"port": "http"}, "YORIAI_PORT"),
        ({"port": "70000"}, "YORIAI_PORT"),
        ({"port": "-1"}, "YORIAI_PORT"),
        ({"host": "0.0.0.0"}, "YORIAI_HOST"),  # noqa: S104 - that is what is refused
        ({"host": "::"}, "YORIAI_HOST"),
        ({"host": "example.org"}, "YORIAI_HOST"),
        ({"log_level": "loud"}, "YORIAI_LOG_LEVEL"),
        ({"log_json": "perhaps"}, "YORIAI_LOG_JSON"),
        ({"database_url": "postgresql+psycopg://localhost/x"}, "YORIAI_DATABASE_URL"),
        ({"database_url": "mysql://localhost/x"}, "YORIAI_DATABASE_URL"),
        ({"database_url": "not a url"}, "YORIAI_DATABASE_URL"),
        ({"database_url": "sqlite+aiosqlite:///"}, "YORIAI_DATABASE_URL"),
        ({"database_url": "sqlite+aiosqlite:////proc/none/x.db"}, "/proc/none/x.db"),
        ({"database_url": "sqlite+aiosqlite:////etc"}, "/etc"),
    ],
)
def test_a_setting_that_cannot_be_is_one_line(
    tmp_path: Path, settings: dict[str, str], named: str
) -> None:
    assert named in refused(tmp_path, "serve", **settings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [("--port", "70000"), ("--host", "0.0.0.0")])  # noqa: S104
def test_so_is_an_option(tmp_path: Path, option: tuple[str, str]) -> None:
    assert option[0].strip("-").upper() in refused(tmp_path, "serve", *option)


def test_a_name_in_the_env_file_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("YORIAI_PORTT=8001\n")
    assert "YORIAI_PORTT" in refused(tmp_path, "serve")


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "yoriai.db").write_text("This is no database. " * 1000)
    assert "yoriai.db" in refused(tmp_path, "serve")
    assert "yoriai.db" in refused(tmp_path, "migrate")


async def test_a_file_that_is_served_already(tmp_path: Path) -> None:
    service = Service(tmp_path)
    await service.start()
    try:
        for arguments in (("serve", "--port", "0"), ("migrate",)):
            line = refused(tmp_path, *arguments)
            assert "Another Yoriai is running on data/yoriai.db" in line
        # The first one has not noticed.
        assert (await service.get("/readyz")).status_code == 200
        await service.kill()
        assert run(tmp_path, "migrate").returncode == 0
    finally:
        await service.close()
