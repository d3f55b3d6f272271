"""Digests as headers carry them (RFC 9530): ``Content-Digest: sha-256=:…:``."""

from __future__ import annotations

import base64
import re

_SHA256 = re.compile(r"(?:^|,)[ \t]*sha-256=:([A-Za-z0-9+/]{43}=):")
_MOST_HEADER_CHARACTERS = 1_000


def content_digest(sha256: str) -> str:
    """The header's value for content of this SHA-256, given in hexadecimal."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"


def claimed_sha256(header: str | None) -> str | None:
    """The SHA-256 that a ``Content-Digest`` header names, in hexadecimal; None without a plain one.

    A header that names two is none: it cannot be told which of them is meant.
    """
    if header is None or len(header) > _MOST_HEADER_CHARACTERS:
        return None
    found = _SHA256.findall(header)
    return base64.b64decode(found[0]).hex() if len(found) == 1 else None
