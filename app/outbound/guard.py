"""The guard for addresses that callers give: destinations, webhooks, call-backs.

A request for an address of our own network, made on a caller's behalf, would show the caller what
only we may see. Three looks, by one set of rules:

1. ``fault`` reads the URL, when it is given and again whenever it is used. It takes one plain
   spelling of a host and refuses all others: whoever parses the URL later, with whatever leniency,
   then finds the same host that was checked.
2. ``checked`` judges what a name resolves to. One bad address among several refuses all of them.
3. ``refuse_address`` judges the very address that a socket is about to connect to.

A name is resolved once for a connection, between the second look and the third, so DNS that
answers otherwise a moment later is not heard (``connections``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address

from app.domain.errors import Fault, YoriaiError
from app.outbound.addresses import Address, refusal

MOST_URL_CHARACTERS = 2_000
_MOST_HOST_CHARACTERS = 253
_FIRST_FREE_PORT = 1_024

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>/[^#]*|\?[^#]*)?"
)
_UNSAFE = re.compile(r"[\s\\<>\"^`{|}]")
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{1,5}))?")
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_LOOKS_NUMERIC = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_LOCAL_NAME = re.compile(
    r"(?:.*\.)?(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)"
    r"|ip6-(?:localhost|loopback)|[^.]*",
    re.IGNORECASE,
)


class TargetRefused(YoriaiError):
    """An address that may not be called on a caller's behalf; nothing was sent to it."""

    code = "target-refused"


@dataclass(frozen=True, slots=True)
class Guard:
    """``allow_http`` takes plain HTTP too. ``allow_private`` takes loopback and private addresses,
    names and any port: for tests, and for networks where every caller may see everything."""

    allow_http: bool = False
    allow_private: bool = False

    def fault(self, url: str, pointer: str) -> Fault | None:
        """What is wrong with the URL as it is written; nothing is looked up."""
        wrong = self._wrong(url)
        return None if wrong is None else Fault(pointer, wrong)

    def refuse_url(self, url: str) -> None:
        """Raises ``TargetRefused`` for a URL that ``fault`` finds fault with."""
        wrong = self._wrong(url)
        if wrong is not None:
            raise TargetRefused(wrong)

    def refuse_address(self, address: str) -> None:
        """Raises ``TargetRefused`` for anything but an address that may be called."""
        try:
            found = ip_address(address)
        except ValueError:
            raise TargetRefused("The host is not an IP address in its plain form.") from None
        wrong = self._wrong_address(found)
        if wrong is not None:
            raise TargetRefused(wrong)

    def checked(self, addresses: Sequence[str]) -> Sequence[str]:
        """The addresses of one host, if all of them may be called.

        Raises ``TargetRefused`` when one may not: a name that leads inside as well as outside is
        a trap, whichever of the two would be picked. So is a name that leads nowhere.
        """
        if not addresses:
            raise TargetRefused("The host has no address.")
        for address in addresses:
            self.refuse_address(address)
        return addresses

    def _wrong(self, url: str) -> str | None:
        if len(url) > MOST_URL_CHARACTERS:
            return f"The URL is longer than {MOST_URL_CHARACTERS} characters."
        if not url.isprintable() or _UNSAFE.search(url):
            return "The URL holds a character that must be percent-encoded."
        parts = _URL.fullmatch(url)
        if parts is None:
            return "This is not an absolute URL without a fragment, such as https://example.com/x."
        scheme = parts["scheme"].lower()
        if scheme not in ("https", "http"):
            return "Only https is called."
        if scheme == "http" and not self.allow_http:
            return "Plain http is not called; use https."
        return self._wrong_authority(parts["authority"])

    def _wrong_authority(self, authority: str) -> str | None:
        if "@" in authority:
            return "A name or password in a URL is not used; leave it out."
        parts = _AUTHORITY.fullmatch(authority)
        if parts is None:
            return "The host or port is not in its plain form."
        return self._wrong_host(parts["host"]) or self._wrong_port(parts["port"])

    def _wrong_port(self, given: str | None) -> str | None:
        if given is None:
            return None
        port = int(given)
        if not 0 < port < 65_536:
            return "The port must be between 1 and 65535."
        # The other services below 1024 do not speak HTTP, and some do as they are told by it.
        if port < _FIRST_FREE_PORT and port not in (80, 443) and not self.allow_private:
            return "Below 1024 only the ports 80 and 443 are called."
        return None

    def _wrong_host(self, host: str) -> str | None:
        if not host:
            return "The URL has no host."
        if host.startswith("["):
            return self._wrong_ipv6(host[1:-1])
        if not host.isascii():
            return "Write the host in its ASCII form (xn--…)."
        labels = host.split(".")
        if len(host) > _MOST_HOST_CHARACTERS or not all(map(_LABEL.fullmatch, labels)):
            return "The host is neither a name nor an IP address in its plain form."
        # The rule of browsers: what ends in a number is an IPv4 address, however it is spelled.
        if _LOOKS_NUMERIC.fullmatch(labels[-1]):
            return self._wrong_ipv4(host)
        if _LOCAL_NAME.fullmatch(host) and not self.allow_private:
            return "The host is a name of a local network."
        return None

    def _wrong_ipv4(self, host: str) -> str | None:
        try:
            address = IPv4Address(host)
        except AddressValueError:
            return "Write an IPv4 address as four decimal numbers."
        return self._wrong_address(address)

    def _wrong_ipv6(self, host: str) -> str | None:
        try:
            address = IPv6Address(host)
        except AddressValueError:
            return "This is not an IPv6 address."
        return self._wrong_address(address)

    def _wrong_address(self, address: Address) -> str | None:
        what = refusal(address, allow_private=self.allow_private)
        return None if what is None else f"The host is {what}, which is not called."
