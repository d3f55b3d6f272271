"""Makes prompts from templates: those of the offices in this folder, and each format's in its own.

A template's name is ``roundtable/ask``: its first part picks the folder, and the file in there is
``{language}/ask.j2``. It has two blocks, ``system`` and ``user``. A variable that it names and is
not given is an error; so is a template that is missing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, cast

from jinja2 import Environment, FunctionLoader, StrictUndefined

from app.domain.meeting.meeting import Language
from app.domain.replies.text import sanitised
from app.domain.values import Json

_OFFICES = Path(__file__).parent
_OWN = "prompts"
"""The folder in a format's package that holds its templates."""

TAGS = ("topic", "context", "options", "motion", "summary", "reply", "material", "draft")
"""What encloses other people's words in a prompt."""

_TAG = re.compile(rf"[<＜](?=\s*[/／]?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)

_MOST_REMEMBERED = 4_000
"""Characters of a text that is made safe once and kept; longer ones would take much memory."""


class RenderedPrompt(NamedTuple):
    """``system`` is empty where a template adds to a prompt that already has one."""

    system: str
    user: str


class Templates:
    """Templates, each format's by the first part of their names in a package of its own.

    Whatever stands in none of the ``packages`` is an office's, and in this room.
    """

    def __init__(self, packages: Mapping[str, str]) -> None:
        self._folders = {first: files(name) / _OWN for first, name in packages.items()}
        self._template = cache(_environment(self._source).get_template)
        self._perspectives: dict[tuple[str, Language], Perspectives] = {}

    def render(
        self, template: str, language: Language, variables: Mapping[str, Json]
    ) -> RenderedPrompt:
        """The prompt made from ``template`` (``roundtable/ask``, ``again``).

        Raises ``jinja2.TemplateNotFound`` or ``jinja2.UndefinedError``.
        """
        found = self._template(f"{language}/{template}.j2")
        # Nothing is set at a template's top level here, so that nothing needs to be copied.
        context = found.new_context(cast("dict[str, Json]", variables), shared=True)
        system, user = (
            "".join(found.blocks[block](context)).strip() if block in found.blocks else ""
            for block in ("system", "user")
        )
        return RenderedPrompt(_once(system), _once(user))

    def perspective(self, owner: str, language: Language, key: str) -> tuple[str, str]:
        """The name and the role of a seat that a caller left open. Raises ``KeyError``."""
        known = self._perspectives.get((owner, language))
        if known is None:
            path = self._folders[owner].joinpath(language, "perspectives.toml")
            known = cast("Perspectives", tomllib.loads(path.read_text("utf-8")))
            self._perspectives[owner, language] = known
        texts = known[key]
        return texts["name"], texts["role"]

    def _source(self, name: str) -> str | None:
        """What stands in the file of that name (``en/roundtable/ask.j2``), if there is one."""
        language, first, *rest = name.split("/")
        folder = self._folders.get(first)
        path = _OFFICES / name if folder is None else folder.joinpath(language, *rest)
        return path.read_text("utf-8") if path.is_file() else None


Perspectives = Mapping[str, Mapping[str, str]]
"""The name and the role behind each key."""


def _once(text: str) -> str:
    """The same text, which many seats have before them at once, but only once in memory."""
    return _kept(text) if len(text) <= _MOST_REMEMBERED else text


@lru_cache(maxsize=256)
def _kept(text: str) -> str:
    return text


def _remembered(filter_: Callable[[str], str]) -> Callable[[str], str]:
    """The filter, with what it made of short texts kept: every seat gets the same ones."""
    kept = lru_cache(maxsize=512)(filter_)

    def remembering(text: str) -> str:
        return kept(text) if len(text) <= _MOST_REMEMBERED else filter_(text)

    return remembering


def _enclosed(text: str) -> str:
    """Other people's words, unable to close the tag around them. As long as before."""
    return _TAG.sub("[", sanitised(text))


def _one_line(text: str) -> str:
    return " ".join(_enclosed(text).split())


def _environment(source: Callable[[str], str | None]) -> Environment:
    environment = Environment(
        loader=FunctionLoader(source),
        auto_reload=False,
        autoescape=False,  # noqa: S701 - no HTML; what must not break out goes through ``enclosed``
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # No template here calls Jinja's own functions, and every rendering would copy them.
    environment.globals.clear()
    environment.filters |= {
        "enclosed": _remembered(_enclosed),
        "one_line": _remembered(_one_line),
    }
    return environment
