"""``python -m app`` is the command ``yoriai``."""

from app.cli import main

main()
