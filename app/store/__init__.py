"""Keeps the log and what follows from it, in SQLite or Postgres."""
