"""Room for thousands of connections."""

from __future__ import annotations

import resource


class TooFewDescriptors(Exception):
    """The machine allows fewer open files than a benchmark needs."""


def allow_descriptors(wanted: int) -> None:
    """Raise the limit on open files for this process and those that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            raise TooFewDescriptors(f"{wanted} open files are needed; the hard limit is {hard}.")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
