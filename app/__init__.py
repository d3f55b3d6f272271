"""Yoriai: a service that holds meetings between agents and brings back decisions to trust."""

__version__ = "0.1.0"
