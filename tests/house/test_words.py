"""House rules a reader can see from the outside: names that say something, files fit to share."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A module is named after what it holds; these names hold anything, and soon everything.
EMPTY_WORDS = frozenset({
    "base", "common", "crud", "data", "helper", "helpers", "info", "manager", "managers", "misc",
    "model", "models", "util", "utils",
})  # fmt: skip

# Written in pieces, so that this file does not itself break the rule it checks.
NOT_FOR_SHARING = {
    "a package registry's host": re.compile(
        "|".join(
            [
                r"files\.python" + r"hosted\.org",
                r"\bpypi\." + r"(?:org|python\.org)",
                r"registry\.npm" + r"js\.(?:org|com)",
                r"registry\.yarn" + r"pkg\.com",
                r"\bdeb\.deb" + r"ian\.org",
                r"\b(?:index|registry(?:-1)?)\.dock" + r"er\.(?:io|com)",
                r"static\.crates" + r"\.io",
            ]
        ),
    ),
    "a path on somebody's machine": re.compile(
        r"(?<![\w.:/$}-])/(?:" + "|".join(["work", "root", "Users", r"home/[\w.-]+"]) + r")/",
    ),
}


def tracked_files() -> list[Path]:
    """What git tracks, or would once added: the rule has to bite before the commit."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so there is no list of tracked files")
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_module_has_an_empty_name() -> None:
    parts = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "app").rglob("*.py")]
    vague = sorted(str(part) for part in parts if EMPTY_WORDS & set(part.parts))
    assert vague == []


def test_only_the_formats_share_a_folder() -> None:
    # There the name says whose it is; anywhere else it would hold anything.
    folders = [path.relative_to(ROOT) for path in (ROOT / "app").rglob("shared")]
    assert [folder.as_posix() for folder in folders] == ["app/formats/shared"]


@pytest.mark.parametrize("what", NOT_FOR_SHARING)
def test_no_file_names(what: str) -> None:
    pattern = NOT_FOR_SHARING[what]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in tracked_files()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == [], f"{what}:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("what", "line", "caught"),
    [
        ("a package registry's host", "https://py" + "pi.org/simple", True),
        ("a package registry's host", "https://registry.npm" + "js.org/x.tgz", True),
        ("a package registry's host", "https://github.com/example/example", False),
        ("a path on somebody's machine", "see /ro" + "ot/notes.txt", True),
        ("a path on somebody's machine", 'open("/ho' + 'me/ann/x")', True),
        ("a path on somebody's machine", "COPY . ./wo" + "rk/x", False),
        ("a path on somebody's machine", "GET /v1/meetings/wo" + "rk/x", False),
    ],
)
def test_the_patterns_themselves(what: str, line: str, caught: bool) -> None:
    assert bool(NOT_FOR_SHARING[what].search(line)) is caught


LOCKS = sorted(ROOT.glob("requirements*.lock"))
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def requirements_in(lock: Path) -> list[str]:
    """A lock's requirements, each with the lines that continue it."""
    joined = lock.read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def test_the_locks_are_there() -> None:
    assert {"requirements.lock", "requirements-dev.lock"} <= {lock.name for lock in LOCKS}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_requirement_is_pinned_and_hashed(lock: Path) -> None:
    for requirement in requirements_in(lock):
        assert "==" in requirement.split()[0]
        assert HASH.search(requirement), requirement


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_locks_record_no_address(lock: Path) -> None:
    assert "://" not in lock.read_text(encoding="utf-8")


def test_dev_lock_holds_the_runtime_lock() -> None:
    """So that either may be installed first, and tests run on what is shipped."""
    runtime, dev = (
        {line.split("--hash")[0].strip() for line in requirements_in(ROOT / name)}
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert runtime - dev == set()
