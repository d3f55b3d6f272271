"""The HTTP edge: requests are checked and mapped, answers are shaped; nothing is decided here."""
