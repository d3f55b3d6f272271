"""The formats: each tells the story of one way to hold a meeting, and beside it what it asks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from app.formats.format import Format


def _found() -> dict[str, Format]:
    """Every module here that describes a format, so that a new one is a new file and no more."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    formats = (getattr(module, "FORMAT", None) for module in modules)
    return {format_.name: format_ for format_ in formats if isinstance(format_, Format)}


FORMATS: Mapping[str, Format] = _found()
"""The formats that can be held, by name."""
