"""Connections that go to a checked address and to no other, each with a deadline. Knows sockets, not HTTP.

The address is checked where the connection is made, after the name was resolved and on every redirect, so that a name
cannot mean one thing to the check and another to the connection.
"""

import contextvars
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], list[str]]
SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052
_deadline: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline", default=None)


class Refused(httpcore2.ConnectError):
    """The name leads to addresses that may not be contacted."""


def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of ``host``, in the system's order. Raises ``OSError``."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


def is_public(text: str) -> bool:
    """Whether an IP address belongs to the public internet.

    Not public are private, loopback, link-local, carrier-grade NAT, multicast, reserved and unspecified ones, and
    IPv6 addresses that carry such an IPv4 address (mapped, NAT64, 6to4, Teredo).
    """
    address: Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(str(address.ipv4_mapped))
        if address in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))
        carried = [*(address.teredo or ()), *([address.sixtofour] if address.sixtofour else [])]
        if address.is_site_local or not all(is_public(str(inner)) for inner in carried):
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """All reads, writes and connections of this module within the block end ``seconds`` from now at the latest."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def remaining(timeout: float | None) -> float | None:
    """``timeout`` in seconds, cut to what is left until the deadline; at least a millisecond."""
    end = _deadline.get()
    if end is None:
        return timeout
    left = max(end - time.monotonic(), 0.001)
    return left if timeout is None else min(timeout, left)


def expired() -> bool:
    """Whether the deadline has passed."""
    end = _deadline.get()
    return end is not None and time.monotonic() >= end


class CheckedBackend(httpcore2.NetworkBackend):
    """Resolves, checks and connects, in that order, to one and the same address."""

    def __init__(self, resolve: Resolve, allow_private: bool) -> None:
        self._resolve, self._allow_private = resolve, allow_private
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.NetworkStream:
        """A stream to the first allowed address of ``host`` that answers. Raises ``Refused``, ``ConnectError``."""
        try:
            addresses = self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"the name {host} cannot be resolved") from error
        allowed = [a for a in addresses if self._allow_private or is_public(a)]
        if not allowed:
            raise Refused(f"{host} is at {', '.join(addresses) or 'no address'}, which is not on the public internet")
        for address in allowed[:-1]:
            try:
                return self._connect(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return self._connect(allowed[-1], port, timeout, local_address, socket_options)

    def _connect(self, address: str, port: int, timeout: float | None, *rest: Any) -> httpcore2.NetworkStream:
        if expired():
            raise httpcore2.ConnectTimeout("out of time")
        return _TimedStream(self._sockets.connect_tcp(address, port, remaining(timeout), *rest))


class _TimedStream(httpcore2.NetworkStream):
    """A stream that a slow peer cannot hold open beyond the deadline, a byte at a time."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """At most ``max_bytes``."""
        if expired():
            raise httpcore2.ReadTimeout("out of time")
        return self._stream.read(max_bytes, remaining(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """All of ``buffer``."""
        if expired():
            raise httpcore2.WriteTimeout("out of time")
        self._stream.write(buffer, remaining(timeout))

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        """The same stream, encrypted, the certificate checked against ``server_hostname``."""
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, remaining(timeout)))

    def get_extra_info(self, info: str) -> Any:
        """What the stream below knows."""
        return self._stream.get_extra_info(info)
