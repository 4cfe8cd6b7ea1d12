"""Where blocks go to and come from."""

from __future__ import annotations

import socket

Address = tuple[str, int]


def address_of(text: str) -> Address:
    """Split `HOST:PORT`, or `PORT` on this machine; raises ValueError."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise ValueError(f"{text!r} is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def family_of(address: Address) -> socket.AddressFamily:
    """Return whether an address is of IPv6 or, as names are taken to be, of IPv4."""
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET
