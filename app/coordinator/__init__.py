"""Runs a format over a meeting's log."""
