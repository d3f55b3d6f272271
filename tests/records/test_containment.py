"""Hostile words stay words: judged by what a Markdown parser makes of them."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.records.containment import front_matter, inline, quoted, table, visible

# A parser with everything on that a reader's program may have on.
STRICT_READER = MarkdownIt("gfm-like", {"html": True, "linkify": False})

HOSTILE = [
    "# heading",
    "- # heading in a list",
    "1. ## heading",
    "heading\n===",
    "heading\n---",
    "- heading\n  ---",
    "---\nresult: decided\n---",
    "***",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "a | b\n:--|--:",
    "a |\n:--",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- hidden",
    "<https://example.org>",
    "[x](javascript:alert(1))",
    "![x](https://example.org/pixel.png)",
    "[x]: https://example.org\n\n[x]",
    "- [x]: https://example.org\n- [x]",
    "[a\nb]: https://example.org\n\n[a b]",
    "[foo\\](\nbar]: https://example.org\n\n[foo\\](\nbar]",
    "[x][y]\n\n[y]: https://example.org",
    "[x\\](https://example.org)",
    "```\ncode\n```\nafter",
    "~~~\ncode",
    "`code` and ``more``",
    "> deeper",
    "- > deeper",
    "&lt;script&gt; &#60;b&#62;",
    "line\u2028# heading\u2029# heading\x85# heading",
    "ends with a backslash\\\n# heading",
    "\\# heading \\<b>",
    "\u202edesrever\u2066",
    "<div>\n\n# heading\n\n</div>",
    "\ud800 half a character",
    "<?php\n?>",
    "<![CDATA[\nx\n]]>",
]
FORGED = re.compile(r"<(h\d|table|hr|a|img|script|div|pre|code|!--|\?|b)[\s>/-]", re.IGNORECASE)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_quote_is_one_block_without_forged_structure(text: str) -> None:
    html = STRICT_READER.render(f"# Ours\n\n{quoted(text)}\n\nAfter")
    assert html.startswith("<h1>Ours</h1>\n<blockquote>")
    assert html.endswith("</blockquote>\n<p>After</p>\n")
    assert html.count("<blockquote>") == 1
    assert FORGED.search(html.removeprefix("<h1>Ours</h1>")) is None


@pytest.mark.parametrize("text", HOSTILE)
def test_one_line_stays_one_line_wherever_it_stands(text: str) -> None:
    line = inline(text)
    assert "\n" not in line
    in_table = table(["a", "b"], [[line, "end"]])
    html = STRICT_READER.render(f"- {line}\n\n# {line}\n\n{in_table}\n\nAfter")
    assert html.count("<li>") == 1
    assert html.count("<h1>") == 1
    assert html.count("<td>") == 2
    assert "<td>end</td>" in html
    body = re.sub(r"</?(h1|table)>", "", html)
    assert FORGED.search(body) is None


def test_quoted_text_still_reads_like_the_text() -> None:
    said = "I hold **this**:\n\n- first\n- C# costs 5 < 6\n\nPath C:\\new\n[STANCE: AGREE]"
    lines = quoted(said).split("\n")
    assert lines[0] == "> I hold **this**:"
    assert lines[-1] == "> [STANCE: AGREE]"
    assert "> Path C:\\new  " in lines
    html = STRICT_READER.render(quoted(said))
    assert "<strong>this</strong>" in html
    assert "<li>C# costs 5 &lt; 6</li>" in html


@pytest.mark.parametrize("text", ["0.0132", "openai:small", "snake_case", "3 of 4", "-", "参加者"])
def test_plain_words_are_left_alone(text: str) -> None:
    assert inline(text) in (text, f"\\{text}")
    assert "\\" not in inline("openai:small-4.1 (new)")


def test_unseen_characters_are_taken_out() -> None:
    assert visible("a\u202eb\u2066c\x00d\x9be\U000e0041f\r\ng") == "abcdef\ng"
    assert visible("\ud800").encode() == "\ufffd".encode()
    assert visible("👩‍💻 が") == "👩‍💻 が"


@pytest.mark.parametrize("text", [*HOSTILE, 'say "x": y', "a: b", "null", "2026-11-30", "é\ufffe"])
def test_front_matter_is_what_yaml_reads_back(text: str) -> None:
    written = front_matter({"id": text, "version": 1, "result": None})
    assert written.startswith("---\n")
    assert written.endswith("\n---")
    read = yaml.safe_load(written.removeprefix("---\n").removesuffix("\n---"))
    assert read == {"id": " ".join(visible(text).split()), "version": 1, "result": None}


@given(st.text(alphabet="#-=|:`~<>[](){}!*_+.\\&; \t\n1ax", max_size=60))
def test_no_mixture_of_signs_gets_out(text: str) -> None:
    html = STRICT_READER.render(f"{quoted('x' + text + 'x')}\n\nAfter")
    assert html.endswith("</blockquote>\n<p>After</p>\n")
    assert FORGED.search(html.replace("<pre><code>", "")) is None
    cell = STRICT_READER.render(table(["a"], [[inline("x" + text)]]))
    assert cell.count("<td>") == 1


@pytest.mark.parametrize("sign", ["#", " ", "-", "[", "\\", "&", "`", "](", "- ", "1.", "![", "\t"])
def test_long_runs_of_a_sign_take_no_long_time(sign: str) -> None:
    text = sign * 60_000 + "x"
    # Anything quadratic in the run's length would meet the suite's own timeout.
    assert quoted(text)
    assert inline(text)
