"""The checker behind test_purity: reads a file's syntax tree and says what the core may not do."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

# Domain and formats are values in, values out. A module that is not here may well be harmless:
# add it when it neither reads the world (clock, files, chance, environment) nor changes it.
PURE_STDLIB = frozenset({
    "__future__", "abc", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal",
    "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math",
    "msgspec", "operator", "re", "statistics", "string", "textwrap", "types", "typing",
    "unicodedata",
})  # fmt: skip

# The coordinator may wait and run things side by side; the clock, ids and chance reach it through
# its ports all the same.
IMPURE = frozenset({
    "builtins", "calendar", "fcntl", "ftplib", "getpass", "glob", "http", "importlib", "io",
    "locale", "logging", "mmap", "multiprocessing", "os", "pathlib", "platform", "pickle",
    "random", "secrets", "select", "selectors", "shelve", "shutil", "signal", "smtplib", "socket",
    "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid",
    "zoneinfo",
})  # fmt: skip

# hash() answers differently in two processes for the same text, so a replay would diverge on it.
IMPURE_CALLS = frozenset({
    "__import__", "breakpoint", "eval", "exec", "hash", "input", "open", "print",
})  # fmt: skip
CLOCK_METHODS = frozenset({"now", "utcnow", "today", "astimezone", "fromtimestamp"})
DATETIME_CLASSES = frozenset({"datetime", "date"})


@dataclass(frozen=True)
class Breach:
    line: int
    what: str


def breaches(source: str, *, pure: bool) -> list[Breach]:
    """What in `source` breaks the core's rules; `pure` asks for the stricter rules of domain."""
    tree = ast.parse(source)
    found = [breach for node in ast.walk(tree) for breach in _in_node(node, pure=pure)]
    return sorted(found, key=lambda breach: breach.line)


def _in_node(node: ast.AST, *, pure: bool) -> Iterator[Breach]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield from _in_import(node, alias.name, pure=pure)
        case ast.ImportFrom(module=str(module), level=0):
            yield from _in_import(node, module, pure=pure)
        case ast.Name(id=name, ctx=ast.Load()) if name in IMPURE_CALLS:
            # The bare name too, or `read = open` would slip through.
            yield Breach(node.lineno, f"uses {name}")
        case ast.Attribute(attr=method, value=owner) if method in CLOCK_METHODS:
            if _last_name(owner) in DATETIME_CLASSES:
                yield Breach(node.lineno, f"reads the clock or its zone: {ast.unparse(node)}")
        case ast.Await() | ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() if pure:
            yield Breach(node.lineno, "is asynchronous")
        case _:
            pass


def _in_import(node: ast.stmt, module: str, *, pure: bool) -> Iterator[Breach]:
    top = module.partition(".")[0]
    if top == "app":
        return
    if top in IMPURE or (pure and top not in PURE_STDLIB):
        yield Breach(node.lineno, f"imports {module}")


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
