"""No container engine is at hand where these run, so the files are linted and read instead."""

import ast
import os
import shlex
import subprocess
import sys
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
DOCKERFILE = ROOT / "Dockerfile"
COMPOSE_FILE = ROOT / "docker-compose.yml"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, arguments), continued lines joined, comments dropped."""
    lines = (
        line
        for line in DOCKERFILE.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    )
    joined = "\n".join(lines).replace("\\\n", "")
    pairs = (line.partition(" ") for line in joined.splitlines())
    return [(word.upper(), " ".join(rest.split())) for word, _, rest in pairs]


def arguments_of(instruction: str) -> list[str]:
    return [arguments for word, arguments in instructions() if word == instruction]


def final_stage() -> list[tuple[str, str]]:
    every = instructions()
    last_from = max(number for number, (word, _) in enumerate(every) if word == "FROM")
    return every[last_from:]


def compose() -> dict[str, Any]:
    return cast(dict[str, Any], yaml.safe_load(COMPOSE_FILE.read_text(encoding="utf-8")))


def test_hadolint_has_nothing_to_say() -> None:
    found = run(BIN / "hadolint", DOCKERFILE)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_linter_is_awake(tmp_path: Path) -> None:
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM python\nRUN cd /tmp && pip install x\n", encoding="utf-8")
    assert "DL3006" in run(BIN / "hadolint", bad).stdout


def test_dockerfile_has_two_stages_and_the_last_is_not_root() -> None:
    assert len(arguments_of("FROM")) == 2
    users = [arguments for word, arguments in final_stage() if word == "USER"]
    assert users
    assert users[-1].partition(":")[0] not in {"root", "0"}


def test_base_images_are_pinned_to_a_supported_python() -> None:
    for image in arguments_of("FROM"):
        version = image.split()[0].removeprefix("python:").removesuffix("-slim")
        assert tuple(map(int, version.split("."))) >= (3, 11)


def test_image_installs_from_the_lock_and_checks_its_hashes() -> None:
    installs = [arguments for arguments in arguments_of("RUN") if "pip install" in arguments]
    from_network = [arguments for arguments in installs if "--no-index" not in arguments]
    assert from_network == [".venv/bin/pip install --require-hashes -r requirements.lock"]


def test_everything_copied_in_passes_the_dockerignore() -> None:
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line.removeprefix("!") for line in ignore if line.startswith("!")}
    assert "*" in ignore
    copied = {
        source.removeprefix("./")
        for arguments in arguments_of("COPY")
        if not arguments.startswith("--from")
        for source in shlex.split(arguments)[:-1]
    }
    assert copied == let_in


def healthcheck_code() -> str:
    _, _, command = arguments_of("HEALTHCHECK")[0].partition("CMD ")
    python, flag, code = ast.literal_eval(command)
    assert (python, flag) == ("python", "-c")
    return cast(str, code)


@pytest.mark.parametrize(("status", "exit_code"), [(200, 0), (503, 1)])
def test_healthcheck_tells_well_from_ill(status: int, exit_code: int) -> None:
    asked: list[str] = []

    class Service(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        checked = subprocess.run(
            [sys.executable, "-c", healthcheck_code()],
            env={**os.environ, "YORIAI_PORT": str(server.server_port)},
            capture_output=True,
            check=False,
        )
        server.shutdown()
    assert checked.returncode == exit_code
    assert asked == ["/healthz"]


def test_compose_lint_finds_only_what_we_do_on_purpose() -> None:
    found = run(
        *(BIN / "compose-lint", "check", "--no-env", "--strict-config", "--fail-on", "low"),
        *("--config", ROOT / "tests/house/compose-lint.yml", COMPOSE_FILE),
    )
    assert found.returncode == 0, found.stdout + found.stderr


# The Compose specification refuses keys it does not know, and no engine is here to say so. A key
# new to our file is added here once it has been looked up there.
SERVICE_KEYS = frozenset({
    "build", "cap_drop", "command", "cpus", "depends_on", "environment", "healthcheck", "image",
    "init", "mem_limit", "network_mode", "networks", "pids_limit", "ports", "profiles",
    "read_only", "restart", "security_opt", "stop_grace_period", "tmpfs", "user", "volumes",
})  # fmt: skip
TOP_LEVEL_KEYS = frozenset({"name", "services", "volumes", "networks", "secrets", "configs"})


def test_compose_uses_only_keys_of_the_specification() -> None:
    document = compose()
    assert set(document) <= TOP_LEVEL_KEYS
    for service in document["services"].values():
        assert set(service) <= SERVICE_KEYS


def test_every_named_volume_is_declared_and_used() -> None:
    document = compose()
    used = {
        mount.partition(":")[0]
        for service in document["services"].values()
        for mount in service.get("volumes", [])
        if not mount.startswith((".", "/"))
    }
    assert used == set(document.get("volumes", {}))


def test_compose_keeps_the_data_where_the_image_writes_it() -> None:
    kept = {mount.split(":")[1] for mount in compose()["services"]["yoriai"]["volumes"]}
    assert set(ast.literal_eval(arguments_of("VOLUME")[0])) <= kept


def test_image_tag_is_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert compose()["services"]["yoriai"]["image"] == f"yoriai:{project['version']}"
