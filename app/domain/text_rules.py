"""What may stand in a text that a caller gives.

Each rule gives the text as it is kept, or raises ``ValueError`` with what the text does wrong.
"""

from __future__ import annotations

import re
import unicodedata

AGENT_NAME = r"^[A-Za-z0-9._-]{1,64}$"
"""The names that an agent can have: they stand in addresses and in records."""

# Tabs and line ends are text; what reverses or hides text is not.
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]"
)
_LINE = re.compile("[\t\n\r\u2028\u2029]")
_UNSEEN = "ZC"
"""Separators and others: blanks, and what shows nothing at all, such as a zero-width space."""


def without_controls(text: str) -> str:
    """Text of any number of lines."""
    found = _CONTROL.search(text)
    if found:
        raise ValueError(f"holds the control character U+{ord(found.group()):04X}")
    return text


def says_something(text: str) -> str:
    """Text of any number of lines that is not blank."""
    if all(unicodedata.category(each)[0] in _UNSEEN for each in text):
        raise ValueError("must not be blank")
    return without_controls(text)


def on_one_line(text: str) -> str:
    """One line that is not blank, taken without the blanks around it."""
    if _LINE.search(text.strip()):
        raise ValueError("must be on one line, without tabs")
    return says_something(text).strip()
