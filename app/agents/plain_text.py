"""Text from outside made fit to be stored and shown."""

from __future__ import annotations

MOST_MESSAGE_CHARACTERS = 300


def storable(text: str) -> str:
    """The text without what databases and encoders refuse: NUL and halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def one_printable_line(text: str, most_characters: int, *, without: str = "") -> str:
    """The text on one bounded line of printable characters.

    ``without`` is a secret that is struck out. That comes after the control characters are gone,
    which could have split it, and before the cut, which could leave half of it.
    """
    head = text[: 64 * most_characters]
    visible = "".join(ch for ch in " ".join(head.split()) if ch.isprintable())
    if without:
        visible = visible.replace(without, "[secret]")
        if len(head) < len(text):
            visible = visible[: -len(without)]
    line = " ".join(visible.split())
    if len(line) <= most_characters:
        return line
    return line[: most_characters - 1].rstrip() + "…"
