"""Shuts a Python program in: it connects to this machine alone. What it tries beyond that fails and is noted in `$OUTBOUND_LOG`."""

import ipaddress
import os
import socket

_connect, _connect_ex, _getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def _check(host):
    name = host.decode() if isinstance(host, bytes) else str(host)
    try:
        is_here = ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        is_here = name == "localhost" or name.endswith(".localhost")
    if not is_here:
        with open(os.environ["OUTBOUND_LOG"], "a") as log:
            log.write(name + "\n")
        raise OSError(f"no connection to {name}: outbound connections are shut")


def _checked(connect):
    def check_and_connect(self, address):
        if self.family != socket.AF_UNIX:
            _check(address[0])
        return connect(self, address)
    return check_and_connect


def _find(host, *arguments, **options):
    if host:
        _check(host)
    return _getaddrinfo(host, *arguments, **options)


if "OUTBOUND_LOG" in os.environ:
    socket.socket.connect, socket.socket.connect_ex = _checked(_connect), _checked(_connect_ex)
    socket.getaddrinfo = _find
