"""Minutes and decision records: what a reader gets to see of a meeting's events."""
