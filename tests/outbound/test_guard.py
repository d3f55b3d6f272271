"""URLs that callers give, in every spelling of a bad one."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import Fault
from app.outbound.guard import Guard, TargetRefused

STRICT = Guard()
LOOSE = Guard(allow_http=True, allow_private=True)


def wrong(url: str, guard: Guard = STRICT) -> str:
    fault = guard.fault(url, "#/destination/url")
    return "" if fault is None else fault.detail


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com/",
        "HTTPS://Example.COM/a",
        "https://example.com:443/a/b.md?x=1&y=%20",
        "https://example.com:8443/a",
        "https://example.com?x=1",
        "https://a-b.c_d.example.co.uk/",
        "https://xn--nckwd5cta.example/決定.md",
        "https://8.8.8.8/a",
        "https://[2606:4700:4700::1111]/a",
        "https://[2606:4700:4700::1111]:8443/a",
        "https://example.com/@b:c",
        "https://1.example.com/",
    ],
)
def test_good_ones_pass(url: str) -> None:
    assert STRICT.fault(url, "#/x") is None
    STRICT.refuse_url(url)


def test_a_fault_points_at_the_field() -> None:
    assert STRICT.fault("http://example.com", "#/destination/url") == Fault(
        "#/destination/url", "Plain http is not called; use https."
    )


def test_refusing_raises_an_error_of_the_tree() -> None:
    with pytest.raises(TargetRefused, match="loopback") as caught:
        STRICT.refuse_url("https://127.0.0.1/")
    assert caught.value.code == "target-refused"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        # scheme
        ("", "absolute URL"),
        ("example.com/x", "absolute URL"),
        ("//example.com/x", "absolute URL"),
        ("https:example.com", "absolute URL"),
        ("https:/example.com", "absolute URL"),
        ("ftp://example.com/", "Only https"),
        ("file:///etc/passwd", "Only https"),
        ("gopher://example.com/", "Only https"),
        ("unix://example.com/", "Only https"),
        ("http://example.com/", "Plain http"),
        ("https://example.com/#top", "fragment"),
        # names, passwords, hosts that look like others
        ("https://user@example.com/", "name or password"),
        ("https://user:secret@example.com/", "name or password"),
        ("https://example.com@127.0.0.1/", "name or password"),
        ("https://@example.com/", "name or password"),
        ("https://example.com\\@127.0.0.1/", "percent-encoded"),
        ("https://127.0.0.1\\.example.com/", "percent-encoded"),
        ("https://exa mple.com/", "percent-encoded"),
        ("https://example.com/a b", "percent-encoded"),
        (" https://example.com/", "percent-encoded"),
        ("https://example.com/\n", "percent-encoded"),
        ("https://exam\tple.com/", "percent-encoded"),
        ("https://example.com/\r\nHost: x", "percent-encoded"),
        ("https://example.com/\x00", "percent-encoded"),
        ("https://example.com/\ud800", "percent-encoded"),
        ("https://example.com/\u202eab", "percent-encoded"),
        ("https:///path", "no host"),
        ("https://:443/", "no host"),
        # ports
        ("https://example.com:0/", "between 1 and 65535"),
        ("https://example.com:65536/", "between 1 and 65535"),
        ("https://example.com:99999/", "between 1 and 65535"),
        ("https://example.com:123456/", "plain form"),
        ("https://example.com:/", "plain form"),
        ("https://example.com:-1/", "plain form"),
        ("https://example.com:４４３/", "plain form"),
        ("https://example.com:443:80/", "plain form"),
        ("https://example.com:22/", "Below 1024"),
        ("https://example.com:25/", "Below 1024"),
        # IPv4, in every spelling
        ("https://127.0.0.1/", "loopback"),
        ("https://127.1.2.3/", "loopback"),
        ("https://10.0.0.1/", "private"),
        ("https://172.16.0.1/", "private"),
        ("https://192.168.1.1/", "private"),
        ("https://169.254.169.254/latest/", "metadata"),
        ("https://100.100.100.200/", "metadata"),
        ("https://100.64.0.1/", "NAT"),
        ("https://0.0.0.0/", "unspecified"),
        ("https://255.255.255.255/", "broadcast"),
        ("https://224.0.0.1/", "multicast"),
        ("https://240.0.0.1/", "reserved"),
        ("https://192.0.2.1/", "documentation"),
        ("https://198.18.0.1/", "benchmarks"),
        ("https://2130706433/", "four decimal numbers"),
        ("https://0x7f000001/", "four decimal numbers"),
        ("https://0X7F.0.0.1/", "four decimal numbers"),
        ("https://0x/", "four decimal numbers"),
        ("https://017700000001/", "four decimal numbers"),
        ("https://0177.0.0.1/", "four decimal numbers"),
        ("https://127.0.0.01/", "four decimal numbers"),
        ("https://127.1/", "four decimal numbers"),
        ("https://127.0.1/", "four decimal numbers"),
        ("https://0/", "four decimal numbers"),
        ("https://1.1.1.1.1/", "four decimal numbers"),
        ("https://256.1.1.1/", "four decimal numbers"),
        ("https://127.0.0.0x1/", "four decimal numbers"),
        ("https://example.0x7f/", "four decimal numbers"),
        ("https://127.0.0.1./", "plain form"),
        ("https://127。0。0。1/", "ASCII"),
        ("https://１２７.0.0.1/", "ASCII"),
        ("https://①②⑦.0.0.1/", "ASCII"),
        ("https://127%2e0%2e0%2e1/", "plain form"),
        ("https://%31%32%37.0.0.1/", "plain form"),
        # IPv6
        ("https://[::1]/", "loopback"),
        ("https://[::]/", "unspecified"),
        ("https://[0:0:0:0:0:0:0:1]/", "loopback"),
        ("https://[::ffff:127.0.0.1]/", "IPv4 address inside"),
        ("https://[::ffff:7f00:1]/", "IPv4 address inside"),
        ("https://[::127.0.0.1]/", "IPv4 address inside"),
        ("https://[64:ff9b::7f00:1]/", "IPv4 address inside"),
        ("https://[64:ff9b::8.8.8.8]/", "IPv4 address inside"),
        ("https://[64:ff9b:1::1]/", "IPv4 address inside"),
        ("https://[2002:7f00:1::]/", "IPv4 address inside"),
        ("https://[2001:0:7f00:1::]/", "IPv4 address inside"),
        ("https://[fd00:ec2::254]/", "metadata"),
        ("https://[fd00::1]/", "unique local"),
        ("https://[fe80::1]/", "link-local"),
        ("https://[fe80::1%25eth0]/", "zone"),
        ("https://[fe80::1%eth0]/", "zone"),
        ("https://[2606:4700::1%25lo]/", "zone"),
        ("https://[fec0::1]/", "site-local"),
        ("https://[ff02::1]/", "multicast"),
        ("https://[2001:db8::1]/", "documentation"),
        ("https://[::1/", "plain form"),
        ("https://::1/", "plain form"),
        ("https://[]/", "not an IPv6"),
        ("https://[127.0.0.1]/", "not an IPv6"),
        ("https://[v1.x]/", "not an IPv6"),
        ("https://[::1]x/", "plain form"),
        # names
        ("https://localhost/", "local network"),
        ("https://LOCALHOST:8443/", "local network"),
        ("https://a.localhost/", "local network"),
        ("https://printer.local/", "local network"),
        ("https://metadata.google.internal/", "local network"),
        ("https://router.home.arpa/", "local network"),
        ("https://intranet/", "local network"),
        ("https://ip6-loopback/", "local network"),
        ("https://example.com./", "plain form"),
        ("https://localhost./", "plain form"),
        ("https://example..com/", "plain form"),
        ("https://.example.com/", "plain form"),
        ("https://exa%6dple.com/", "plain form"),
        ("https://-a.example.com/", "plain form"),
        ("https://日本語.jp/", "ASCII"),
        ("https://ex\u00admple.com/", "percent-encoded"),
        ("https://ⓔxample.com/", "ASCII"),
        (f"https://{'a' * 64}.com/", "plain form"),
        (f"https://{'a.' * 127}com/", "plain form"),
        (f"https://example.com/{'a' * 2_000}", "longer than"),
    ],
)
def test_bad_ones_do_not(url: str, why: str) -> None:
    assert why in wrong(url)
    with pytest.raises(TargetRefused):
        STRICT.refuse_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "http://127.0.0.1:8080/",
        "https://localhost:22/",
        "https://wiki/page",
        "https://[::1]/",
        "https://10.1.2.3/",
    ],
)
def test_what_the_settings_open(url: str) -> None:
    assert wrong(url) != ""
    assert wrong(url, LOOSE) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://user@127.0.0.1/",
        "http://localhost./",
        "ftp://127.0.0.1/",
    ],
)
def test_what_they_leave_shut(url: str) -> None:
    assert wrong(url, LOOSE) != ""


def test_each_setting_opens_its_own_only() -> None:
    assert "Plain http" in wrong("http://127.0.0.1/", Guard(allow_private=True))
    assert "loopback" in wrong("http://127.0.0.1/", Guard(allow_http=True))


def test_every_address_of_a_name_is_judged() -> None:
    assert STRICT.checked(["8.8.8.8", "2606:4700::1"]) == ["8.8.8.8", "2606:4700::1"]
    for bad in ("127.0.0.1", "::1", "169.254.169.254", "fe80::1%eth0", "nonsense", "127.1", ""):
        for addresses in ([bad], ["8.8.8.8", bad], [bad, "8.8.8.8"]):
            with pytest.raises(TargetRefused):
                STRICT.checked(addresses)
    with pytest.raises(TargetRefused, match="no address"):
        STRICT.checked([])


PIECES = st.sampled_from(
    [
        *("https://", "http://", "example.com", "127.0.0.1", "localhost", "@", ":", "/", "\\", "."),
        *(
            "#",
            "?",
            "[",
            "]",
            "::1",
            "%",
            "0x7f",
            "2130706433",
            "443",
            "。",
            "１",
            "\t",
            " ",
            "xn--",
        ),
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=40).map("https://{}".format))
def test_whoever_parses_what_passes_finds_the_same_host(url: str) -> None:
    """The point of taking one plain spelling only."""
    if STRICT.fault(url, "#/x") is not None:
        return
    authority = url.split("://", 1)[1].split("/", maxsplit=1)[0].split("?", maxsplit=1)[0]
    host = urlsplit(url).hostname
    assert host is not None
    assert authority.lower() in (host, f"{host}:443", f"[{host}]", f"[{host}]:443")
    assert httpx2.URL(url).host == host


@given(st.text(max_size=60))
def test_no_text_is_too_strange(url: str) -> None:
    wrong(url)
    wrong(f"https://{url}/")
