"""Which addresses may be called on a caller's behalf: those of the public internet, and no others.

``ipaddress.is_global`` is not enough: it lets forms through that carry an IPv4 address inside
(``64:ff9b::/96``, ``2002::/16``), and what it says has changed between versions of Python. So the
blocks are written out here, and of IPv6 only ``2000::/3`` is public at all: nothing else has been
given out as global unicast.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class _Block:
    network: _Network
    what: str


def _blocks(what: str, *networks: str) -> tuple[_Block, ...]:
    return tuple(_Block(ip_network(network), what) for network in networks)


_METADATA = _blocks(
    "a cloud's metadata address",
    "169.254.169.254/32",  # most clouds
    "169.254.170.2/32",  # AWS containers
    "169.254.42.42/32",  # Scaleway
    "100.100.100.200/32",  # Alibaba
    "192.0.0.192/32",  # Oracle
    "168.63.129.16/32",  # Azure, in a public block
    "fd00:ec2::254/128",  # AWS
    "fd20:ce::254/128",  # Google
    "fd00:c1::a9fe:a9fe/128",  # Oracle
    "fd00:42::42/128",  # Scaleway
)

_PRIVATE = (
    *_blocks("a loopback address", "127.0.0.0/8", "::1/128"),
    *_blocks("a private address", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    *_blocks("a shared address behind a carrier's NAT", "100.64.0.0/10"),
    *_blocks("a unique local address", "fc00::/7"),
)
"""What ``allow_private`` opens; the metadata addresses among them stay shut."""

_NEVER = (
    *_blocks("an unspecified address", "0.0.0.0/8", "::/128"),
    *_blocks("a link-local address", "169.254.0.0/16", "fe80::/10"),
    *_blocks("a site-local address", "fec0::/10"),
    *_blocks("a broadcast address", "255.255.255.255/32"),
    *_blocks("a multicast address", "224.0.0.0/4", "ff00::/8"),
    *_blocks(
        "an address kept for documentation",
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "2001:db8::/32",
        "3fff::/20",
    ),
    *_blocks("an address kept for benchmarks", "198.18.0.0/15", "2001:2::/48"),
    *_blocks(
        "an IPv4 address inside an IPv6 one",
        "::/96",  # IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # NAT64 of one's own
        "2002::/16",  # 6to4
        "2001::/32",  # Teredo
    ),
    *_blocks(
        "a reserved address",
        "192.0.0.0/24",
        "192.88.99.0/24",  # the way into 6to4
        "240.0.0.0/4",
        "2001::/23",
        "100::/64",
        "5f00::/16",
    ),
)

_GLOBAL_UNICAST = IPv6Network("2000::/3")


def refusal(address: Address, *, allow_private: bool) -> str | None:
    """What the address is, in words, when it may not be called; None when it may.

    ``allow_private`` lets loopback, private, shared and unique local addresses pass.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return "an address with a zone"
    found = _block_of(address, _METADATA)
    if found is None and allow_private and _block_of(address, _PRIVATE) is not None:
        return None
    found = found or _block_of(address, _PRIVATE) or _block_of(address, _NEVER)
    if found is not None:
        return found
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return "a reserved address"
    # What a newer Python knows, and this table does not yet.
    return None if address.is_global else "an address that is not public"


def _block_of(address: Address, blocks: tuple[_Block, ...]) -> str | None:
    return next((block.what for block in blocks if address in block.network), None)
