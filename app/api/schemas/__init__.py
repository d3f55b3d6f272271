"""The shapes on the wire: what requests may hold, and what answers hold."""
