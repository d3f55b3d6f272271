"""Which addresses may be called on a caller's behalf, block by block."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.outbound.addresses import refusal

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:81b::200e",
]

OPENED = [  # by allow_private
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "::1",
    "fc00::1",
    "fd12:3456:789a::1",
]

SHUT = [
    "0.0.0.0",  # noqa: S104
    "0.1.2.3",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.0.8",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd20:ce::254",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "198.18.0.1",
    "198.19.255.255",
    "192.88.99.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::7f00:1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a00:1",
    "64:ff9b:1:ffff::10.0.0.1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2002:808:808::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "5f00::1",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%1",
    "fec0::1",
    "ff02::1",
    "4000::1",
    "8000::1",
    "e000::1",
]


@pytest.mark.parametrize("address", PUBLIC)
@pytest.mark.parametrize("allow_private", [False, True])
def test_public_ones_may_be_called(address: str, allow_private: bool) -> None:
    assert refusal(ip_address(address), allow_private=allow_private) is None


@pytest.mark.parametrize("address", OPENED)
def test_private_ones_only_where_they_are_allowed(address: str) -> None:
    assert refusal(ip_address(address), allow_private=False) is not None
    assert refusal(ip_address(address), allow_private=True) is None


@pytest.mark.parametrize("address", SHUT)
@pytest.mark.parametrize("allow_private", [False, True])
def test_the_others_never(address: str, allow_private: bool) -> None:
    assert refusal(ip_address(address), allow_private=allow_private) is not None


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("127.0.0.1", "a loopback address"),
        ("169.254.169.254", "a cloud's metadata address"),
        ("169.254.1.1", "a link-local address"),
        ("255.255.255.255", "a broadcast address"),
        ("2002:808:808::1", "an IPv4 address inside an IPv6 one"),
        ("fd00:ec2::254", "a cloud's metadata address"),
    ],
)
def test_it_says_what_it_is(address: str, what: str) -> None:
    assert refusal(ip_address(address), allow_private=False) == what


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_nothing_passes_that_python_knows_not_to_be_global(
    address: IPv4Address | IPv6Address,
) -> None:
    if refusal(address, allow_private=False) is None:
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_called_by_way_of_ipv6(inner: IPv4Address) -> None:
    number = int(inner)
    for outer in (
        IPv6Address(number),
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(0xFFFF << 48 | number),
        IPv6Address(0x64FF9B << 96 | number),
        IPv6Address(0x2002 << 112 | number << 80),
        IPv6Address(0x2001_0000 << 96 | number << 64),
    ):
        assert refusal(outer, allow_private=False) is not None
