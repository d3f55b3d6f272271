"""Records as HTML: a page of its own, with no script in it and none that could get in.

The Markdown is ours with hostile words contained in it; raw HTML is off in the parser, and what
comes out is sanitised once more, so that a hole in one of the three does not reach a browser.

The parser and what sanitises are imported with the first page: they are a good part of a start,
and a service that was killed should be back before anybody notices.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from app.domain.meeting.meeting import Language
from app.records.containment import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_TEMPLATES = Path(__file__).parent / "templates"
_TAGS = {
    *("h1", "h2", "h3", "p", "ul", "ol", "li", "blockquote", "strong", "em", "code", "pre", "br"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


@cache
def _style() -> str:
    return (_TEMPLATES / "page.css").read_text(encoding="utf-8").strip()


@cache
def content_security_policy() -> str:
    """The header under which a page still looks as it should: nothing but its own style."""
    digest = b64encode(sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


@cache
def _page() -> Template:
    folder = FileSystemLoader(_TEMPLATES)
    environment = Environment(loader=folder, autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html.j2")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - see the module's docstring

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    # A record links to nothing; an address in a reply is text.
    return parser.disable(["autolink", "link", "image", "reference"])


def html_page(title: str, markdown: str, language: Language) -> str:
    """A complete page. ``markdown`` has no front matter; ``title`` may be anything."""
    import nh3  # noqa: PLC0415 - the same

    cleaner = nh3.clean(_parser().render(markdown), tags=_TAGS, attributes={})
    body = Markup(cleaner)  # noqa: S704 - sanitised in the line above
    flat = " ".join(visible(title).split())
    style = Markup(_style())  # noqa: S704 - a file of ours
    return _page().render(title=flat, body=body, style=style, language=language)
