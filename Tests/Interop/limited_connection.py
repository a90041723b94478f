"""Connections of a provider that record the limits a server sets: numbers of streams, and why it ends a connection."""

import json

import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import pytest
from hyperframe.frame import GoAwayFrame, HeadersFrame

from h2_client import ConnectionEnded, H2Client
from raw_http2 import DATA, END_HEADERS, END_STREAM, HEADERS, RawConnection, block, frame
from waiting import wait_until

STREAMS = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
MANY = 1000  # more streams than any test opens
BODY = b'{"aps":{"alert":"Hello"}}'


class FrameSocket:
    """A socket from which frames are read one at a time: h2 forgets a GOAWAY that comes together with a later frame."""

    def __init__(self, secured):
        self._secured = secured

    def __getattr__(self, name):
        return getattr(self._secured, name)

    def recv(self, _):
        head = self._exactly(9)
        return head + self._exactly(int.from_bytes(head[:3], "big"))

    def _exactly(self, count):
        data = b""
        while len(data) < count and (piece := self._secured.recv(count - len(data))):
            data += piece
        return data


class Connection(H2Client):
    """One connection of a provider. `limits` are the numbers of streams that SETTINGS named, in their order."""

    def __init__(self, ready, authorization, topic, **options):
        self.limits, self.debug, self._holds, self._pongs = [], None, False, 0
        self.token, self._fields = ready.get("deviceToken"), {
            "authorization": authorization, "apns-topic": topic, "apns-push-type": "alert"}
        super().__init__(ready["apns"], ready["ca"], **options)
        self._socket = FrameSocket(self._socket)

    def _handle(self, event):
        match event:
            case h2.events.RemoteSettingsChanged() if STREAMS in event.changed_settings:
                self.limits.append(event.changed_settings[STREAMS].new_value)
            case h2.events.ConnectionTerminated():
                self.debug = event.additional_data
            case h2.events.PingAckReceived():
                self._pongs += 1
        super()._handle(event)

    def _read(self, timeout):
        try:
            return super()._read(timeout)
        except h2.exceptions.ProtocolError as error:
            # h2 takes nothing after GOAWAY.
            if self.debug is None:
                raise
            raise ConnectionEnded(self._goaway) from error

    def _flush(self):
        if not self._holds:
            super()._flush()

    def _message(self, token=None, body=BODY, method="POST", **headers):
        fields = self._fields | {name.replace("_", "-"): value for name, value in headers.items()}
        fields = [(name, str(value)) for name, value in fields.items() if value is not None]
        return method, f"/3/device/{token or self.token}", fields, body

    def post(self, *arguments, **headers):
        """The answer to one request: `200`, or status and reason."""
        answer = self.request(*self._message(*arguments, **headers))
        return f"{answer.status} {answer.reason}" if answer.body else str(answer.status)

    def at_once(self, *messages):
        """Writes requests in one piece, as a client does that has read no SETTINGS; the outcome of each."""
        self._h2.remote_settings[STREAMS] = MANY
        self._h2.remote_settings.acknowledge()
        self._holds = True
        streams = [self.start(*self._message(**each)) for each in messages]
        self._holds = False
        found = {}
        while len(found) < len(streams):
            found |= self.receive()
        return [found[stream] for stream in streams]

    def wait_for_limit(self, *limits):
        """Waits until SETTINGS have named these numbers, one after the other."""
        wait_until(lambda: self.receive(0.01) or len(self.limits) >= len(limits), f"SETTINGS have named {limits}")
        assert tuple(self.limits) == limits

    def settle(self):
        """A PING and its answer: what the server had sent before is read."""
        awaited = self._pongs + 1
        self._h2.ping(b"settled!")
        while self._pongs < awaited:
            assert self._read(10)

    def wait_for_end(self):
        """The server ends the connection; what its GOAWAY says."""
        with pytest.raises(ConnectionEnded):
            while self._read(10):
                pass
            raise TimeoutError("the connection goes on")
        assert self._goaway == h2.errors.ErrorCodes.NO_ERROR
        return json.loads(self.debug)


class FrameByFrame(RawConnection):
    """A connection whose frames are told in their order."""

    def __init__(self, path, provider):
        super().__init__(path["apns"], path["ca"])
        self._fields, self._token, self._next = provider.headers(), path["deviceToken"], 1

    def post(self, token=None, **fields):
        """Writes a request; returns its stream."""
        stream, self._next = self._next, self._next + 2
        path = f"/3/device/{token or self._token}"
        head = [(":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
        fields = block([*head, *self._fields, *((name.replace("_", "-"), value) for name, value in fields.items())])
        self.write(frame(HEADERS, END_HEADERS, stream, fields) + frame(DATA, END_STREAM, stream, BODY))
        return stream

    def heard(self):
        """What comes until the connection ends: statuses with their streams, and GOAWAY."""
        found = []
        for each in self._frames(20):
            if isinstance(each, GoAwayFrame):
                found.append("goaway")
            elif isinstance(each, HeadersFrame):
                found.append((dict(self._decoder.decode(each.data))[":status"], each.stream_id))
        return [*found, "closed"]
