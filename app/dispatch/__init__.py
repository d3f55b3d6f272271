"""Decides who advances a meeting, and when."""
