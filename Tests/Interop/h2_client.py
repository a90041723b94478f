"""A small HTTP/2 client over Python's h2: verified TLS, many streams, headers sent exactly as given."""

import json
import select
import socket
import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h2.config
import h2.connection
import h2.errors
import h2.events

TIMEOUT = 15.0


@dataclass
class Answer:
    """One response."""

    status: int = 0
    headers: dict = field(default_factory=dict)
    body: bytes = b""

    @property
    def apns_id(self):
        return self.headers.get("apns-id")

    @property
    def error(self):
        """The JSON object of an error's body; empty for a success."""
        return json.loads(self.body) if self.body else {}

    @property
    def reason(self):
        return self.error.get("reason")


@dataclass
class TLSSession:
    """A TLS session, with the context to which it belongs."""

    context: ssl.SSLContext
    session: ssl.SSLSession


class StreamReset(Exception):
    """The server reset the stream instead of answering."""


class ConnectionEnded(Exception):
    """The connection is gone; `goaway` is the GOAWAY's error code if one came."""

    def __init__(self, goaway=None):
        super().__init__(f"connection ended, GOAWAY {goaway}")
        self.goaway = goaway


def verified_context(ca):
    """TLS that trusts only `ca`, checks the name, and applies OpenSSL's strict certificate rules."""
    context = ssl.create_default_context(cafile=ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def open_tls(address, ca, protocols=("h2",), timeout=TIMEOUT, certificate=None, session=None):
    """A verified TLS connection to `https://HOST:PORT`; `certificate` is a .pem with a client's certificate and key."""
    parts = urlsplit(address)
    context = session.context if session else verified_context(ca)
    if certificate and not session:
        context.load_cert_chain(certificate)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    plain = socket.create_connection((parts.hostname, parts.port), timeout)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        return context.wrap_socket(
            plain, server_hostname=parts.hostname, session=session.session if session else None)
    except BaseException:
        plain.close()
        raise


class H2Client:
    """One connection. `start` opens streams, `receive` collects answers, `request` does both for one."""

    def __init__(self, address, ca, certificate=None, session=None):
        self.authority = urlsplit(address).netloc
        self._socket = open_tls(address, ca, certificate=certificate, session=session)
        assert self._socket.selected_alpn_protocol() == "h2"
        self._h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(
                header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False
            )
        )
        self._answers = {}
        self._finished = {}
        self._goaway = None
        self._h2.initiate_connection()
        self._flush()

    @property
    def tls_session(self):
        """What a later connection needs to resume this one's TLS session."""
        return TLSSession(self._socket.context, self._socket.session)

    @property
    def is_resumed(self):
        """Whether the TLS handshake resumed an earlier session."""
        return self._socket.session_reused

    @property
    def streams_allowed(self):
        """How many streams the server lets us have open at once."""
        return self._h2.remote_settings.max_concurrent_streams

    def start(self, method, path, headers, body=b""):
        """Opens a stream with a request; returns its id. `headers` is a list of pairs, order kept."""
        stream = self._h2.get_next_available_stream_id()
        self._answers[stream] = Answer()
        pseudo = [(":method", method), (":scheme", "https"), (":authority", self.authority), (":path", path)]
        self._h2.send_headers(stream, pseudo + list(headers), end_stream=not body)
        while body and stream not in self._finished:
            room = min(self._h2.local_flow_control_window(stream), self._h2.max_outbound_frame_size, len(body))
            if room <= 0:
                self._read(TIMEOUT)
                continue
            part, body = body[:room], body[room:]
            self._h2.send_data(stream, part, end_stream=not body)
        self._flush()
        return stream

    def receive(self, timeout=TIMEOUT):
        """Returns {stream: Answer or StreamReset} of what has finished, waiting for at least one."""
        while not self._finished:
            if not self._read(timeout):
                break
        finished, self._finished = self._finished, {}
        return finished

    def request(self, method, path, headers, body=b""):
        """Sends one request and returns its answer; raises StreamReset or ConnectionEnded."""
        stream = self.start(method, path, headers, body)
        while stream not in self._finished:
            if not self._read(TIMEOUT):
                raise TimeoutError(f"no answer to {method} {path} within {TIMEOUT} s")
        answer = self._finished.pop(stream)
        if isinstance(answer, StreamReset):
            raise answer
        return answer

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _flush(self):
        try:
            self._socket.sendall(self._h2.data_to_send())
        except OSError as broken:
            raise ConnectionEnded(self._goaway) from broken

    def _read(self, timeout):
        """Reads once; `False` when nothing came in time."""
        self._flush()
        if not self._socket.pending() and not select.select([self._socket], [], [], timeout)[0]:
            return False
        try:
            data = self._socket.recv(65536)
        except OSError as broken:
            raise ConnectionEnded(self._goaway) from broken
        if not data:
            raise ConnectionEnded(self._goaway)
        for event in self._h2.receive_data(data):
            self._handle(event)
        self._flush()
        return True

    def _handle(self, event):
        match event:
            case h2.events.ResponseReceived():
                headers = dict(event.headers)
                self._answers[event.stream_id].status = int(headers.pop(":status"))
                self._answers[event.stream_id].headers = headers
            case h2.events.DataReceived():
                self._answers[event.stream_id].body += event.data
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                self._finished[event.stream_id] = self._answers.pop(event.stream_id)
            case h2.events.StreamReset() if event.stream_id in self._answers:
                del self._answers[event.stream_id]
                self._finished[event.stream_id] = StreamReset(h2.errors.ErrorCodes(event.error_code).name)
            case h2.events.ConnectionTerminated():
                self._goaway = event.error_code
