"""Records as HTML: a page of its own, with no script in it and none that could get in.

The Markdown is ours with hostile words contained in it; raw HTML is off in the parser, and what
comes out is sanitised once more, so that a hole in one of the three does not reach a browser.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import nh3
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from app.domain.meeting import Language
from app.records.containment import visible

_TEMPLATES = Path(__file__).parent / "templates"
_STYLE = (_TEMPLATES / "page.css").read_text(encoding="utf-8").strip()
_STYLE_DIGEST = b64encode(sha256(_STYLE.encode()).digest()).decode()

CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_DIGEST}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""The header under which a page still looks as it should: nothing but its own style."""

_TAGS = {
    *("h1", "h2", "h3", "p", "ul", "ol", "li", "blockquote", "strong", "em", "code", "pre", "br"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
# A record links to nothing; an address in a reply is text.
_PARSER.disable(["autolink", "link", "image", "reference"])
_PAGE = Environment(
    loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined
).get_template("page.html.j2")


def html_page(title: str, markdown: str, language: Language) -> str:
    """A complete page. ``markdown`` has no front matter; ``title`` may be anything."""
    cleaner = nh3.clean(_PARSER.render(markdown), tags=_TAGS, attributes={})
    body = Markup(cleaner)  # noqa: S704 - sanitised in the line above
    flat = " ".join(visible(title).split())
    return _PAGE.render(title=flat, body=body, style=Markup(_STYLE), language=language)  # noqa: S704
