"""The rules of a meeting, pure: no I/O, no clock, no chance."""
