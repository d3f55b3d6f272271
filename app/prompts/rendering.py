"""Makes prompts from the templates in this folder.

A template lies under ``{language}/{format}/{step}.j2`` and has two blocks, ``system`` and
``user``. A variable that it names and is not given is an error; so is a template that is missing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from app.domain.meeting import Json, Language
from app.domain.reply_text import sanitised

_FOLDER = Path(__file__).parent

TAGS = ("topic", "context", "options", "motion", "summary", "reply", "material", "draft")
"""What encloses other people's words in a prompt."""

_TAG = re.compile(rf"[<＜](?=\s*[/／]?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)

_MOST_REMEMBERED = 4_000
"""Characters of a text that is made safe once and kept; longer ones would take much memory."""


class RenderedPrompt(NamedTuple):
    """``system`` is empty where a template adds to a prompt that already has one."""

    system: str
    user: str


def render(template: str, language: Language, variables: Mapping[str, Json]) -> RenderedPrompt:
    """The prompt made from ``template`` (``roundtable/ask``, ``again``).

    Raises ``jinja2.TemplateNotFound`` or ``jinja2.UndefinedError``.
    """
    found = _template(template, language)
    context = found.new_context(dict(variables))
    system, user = (
        "".join(found.blocks[block](context)).strip() if block in found.blocks else ""
        for block in ("system", "user")
    )
    return RenderedPrompt(_once(system), _once(user))


def _once(text: str) -> str:
    """The same text, which many seats have before them at once, but only once in memory."""
    return _kept(text) if len(text) <= _MOST_REMEMBERED else text


@lru_cache(maxsize=256)
def _kept(text: str) -> str:
    return text


def perspective(format_: str, language: Language, key: str) -> tuple[str, str]:
    """The name and the role of a seat that a caller left open. Raises ``KeyError``."""
    texts = _perspectives(format_, language)[key]
    return texts["name"], texts["role"]


@cache
def _template(name: str, language: Language) -> Template:
    return _ENVIRONMENT.get_template(f"{language}/{name}.j2")


@cache
def _perspectives(format_: str, language: Language) -> Mapping[str, Mapping[str, str]]:
    path = _FOLDER / language / format_ / "perspectives.toml"
    return cast("Mapping[str, Mapping[str, str]]", tomllib.loads(path.read_text("utf-8")))


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


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
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


_ENVIRONMENT = _environment()
