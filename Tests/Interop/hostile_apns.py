"""A server of APNs' provider API with PyPI's `h2` that does what a test wants, for the client that is tested."""

import json
import socket
import ssl
import threading
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings


@dataclass
class Request:
    """One request: the number of its connection, its stream, its fields and its body, and whether it is whole."""

    connection: int
    stream: int
    fields: dict
    body: bytes = b""
    ended: bool = False


@dataclass
class Connection:
    """The server's end of one connection. `h2` is the state machine; `flush` writes what it has queued."""

    number: int
    socket: ssl.SSLSocket
    h2: h2.connection.H2Connection
    open: dict = field(default_factory=dict)
    most_open: int = 0

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def accept(self, request):
        self.h2.send_headers(
            request.stream, [(":status", "200"), ("apns-id", request.fields["apns-id"])], end_stream=True)
        self.open.pop(request.stream, None)

    def refuse(self, request, status, reason, pieces=1, **members):
        body = json.dumps({"reason": reason, **members}).encode()
        self.h2.send_headers(request.stream, [(":status", str(status)), ("apns-id", request.fields["apns-id"])])
        size = -(-len(body) // pieces)
        for start in range(0, len(body), size):
            self.h2.send_data(request.stream, body[start:start + size], pad_length=3)
        self.h2.end_stream(request.stream)
        self.open.pop(request.stream, None)

    def reset(self, request, code):
        self.h2.reset_stream(request.stream, code)
        self.open.pop(request.stream, None)

    def set(self, **settings):
        self.h2.update_settings({getattr(h2.settings.SettingCodes, name): value for name, value in settings.items()})


class HostileServer:
    """Listens on a free port of loopback. `handle(connection, request)` is called for each whole request.

    It runs on the thread of the connection; what it queues is written after it. `settings` are those of the first
    SETTINGS frame.
    """

    def __init__(self, certificates, handle, protocols=("h2",), **settings):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates.server, certificates.key)
        self._context.set_alpn_protocols(list(protocols))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._settings = settings
        self.handle = handle
        self.requests = []
        self.connections = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self):
        return self._listener.getsockname()[1]

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain):
        try:
            with self._context.wrap_socket(plain, server_side=True) as secured:
                self._run(secured)
        except (OSError, h2.exceptions.ProtocolError):
            # The client has ended the connection, or the test has.
            pass

    def _run(self, secured):
        machine = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        with self._lock:
            connection = Connection(len(self.connections) + 1, secured, machine)
            self.connections.append(connection)
        machine.initiate_connection()
        if self._settings:
            connection.set(**self._settings)
        connection.flush()
        while data := secured.recv(65536):
            for event in machine.receive_data(data):
                self._on(event, connection)
            connection.flush()

    def _on(self, event, connection):
        match event:
            case h2.events.RequestReceived():
                connection.open[event.stream_id] = Request(
                    connection.number, event.stream_id, dict(event.headers))
                connection.most_open = max(connection.most_open, len(connection.open))
            case h2.events.DataReceived():
                connection.open[event.stream_id].body += event.data
                connection.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                request = connection.open[event.stream_id]
                request.ended = True
                with self._lock:
                    self.requests.append(request)
                self.handle(connection, request)
            case h2.events.StreamReset():
                connection.open.pop(event.stream_id, None)
