"""The prompts of every format that can be held, as the service makes them."""

from __future__ import annotations

from app.formats import FORMATS
from app.prompts.rendering import Templates

TEMPLATES = Templates(FORMATS.packages)

render = TEMPLATES.render
perspective = TEMPLATES.perspective
