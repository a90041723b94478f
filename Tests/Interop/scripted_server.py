"""A server of MCS that does what a test says, for the agent to log in to: TLS on a port of its own, one connection at a time."""

import contextlib
import queue
import socket
import ssl
import threading
import time

from mcs_client import LOGIN, LOGIN_RESPONSE, Device, encode



class Accepted(Device):
    """The server's end of one connection; reads and writes as the client's does."""

    def __init__(self, connection):
        self.socket = connection
        self.version = 41
        self.chunk = None
        self.timeout = 20.0
        self.server_version = None
        self.sent_count = 0
        self.received_count = 0
        self._buffer = bytearray()
        self.opened_at = time.monotonic()

    def answer(self, error=None, heartbeat=None):
        """Answers the login that must come first: with an error's code, or taken, with an interval of heartbeats in milliseconds."""
        assert self.receive().tag == LOGIN
        fields = [(1, "1")]
        if error is not None:
            fields.append((3, encode((1, error), (2, "as the test says"))))
        if heartbeat is not None:
            fields.append((7, encode((3, heartbeat))))
        fields += [(6, 1), (8, int(time.time() * 1000))]
        self.send(LOGIN_RESPONSE, encode(*sorted(fields)), prefix=bytes([self.version]))


class ScriptedServer:
    """Listens on loopback with a server's own certificate. `next()` is the next connection, once TLS stands."""

    def __init__(self, certificate, key):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._accepted = queue.Queue()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self):
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            plain.settimeout(10)
            with contextlib.suppress(OSError):
                self._accepted.put(Accepted(self._context.wrap_socket(plain, server_side=True)))

    def next(self, timeout=30):
        return self._accepted.get(timeout=timeout)

    def stop(self):
        # A thread that waits in accept() is woken by the shutdown alone.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)



