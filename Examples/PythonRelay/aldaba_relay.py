"""Serve and call app services on a person's other devices, through Aldaba's agent. Needs Python 3.9 or later and nothing else.

    from aldaba_relay import Relay

    with Relay("com.example.script", secret=open("com.example.script.secret").read()) as relay:
        relay.publish({"greet": "sameUser"})
        relay.serve(lambda question: {"Greeting": f"hello {question.message['Name']}"})

and on another device:

    with Relay("com.example.script", secret=...) as relay:
        phone = next(device for device in relay.devices() if device["name"] == "phone")
        print(relay.call(phone["id"], "com.example.script", "greet", {"Name": "Ada"}))
"""

import base64
import json
import os
import socket
import struct
import time
import uuid
from collections import deque

from relay_values import DEFAULT_LIMIT, FRAME_LIMIT, MessageFault, decode, encode

LONGEST_FRAME = 1 << 20

__all__ = ["Relay", "Question", "RelayError", "AgentError", "MessageFault"]


class AgentError(Exception):
    """The agent refused the connection; the text says why and what would be right."""


class RelayError(Exception):
    """A command did not succeed. `status` is how it ended: `notDelivered` and `outcomeUnknown` are different ends."""

    def __init__(self, status, detail=None):
        super().__init__(f"{status}: {detail}" if detail else status)
        self.status = status
        self.detail = detail


class Question:
    """What another device asks; answered by `Relay.answer`, or by what `Relay.serve` is given."""

    def __init__(self, notice):
        self.call = notice["call"]
        self.id = notice["id"]
        self.device = notice["device"]
        self.service = notice["service"]
        self.caller = notice["caller"]
        self.connection = notice.get("connection")
        self.message = notice["message"]


class Relay:
    """One connection of an app to the agent of its device."""

    def __init__(self, app, secret=None, path=None, role="relayService"):
        self._requests = 0
        self._notices = deque()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path or self.default_path())
        hello = {"type": "hello", "version": 1, "app": app, "role": role}
        if secret is not None:
            hello["secret"] = secret.strip()
        self._say(hello)
        welcome = self._hear(None)
        if welcome["type"] == "refused":
            raise AgentError(welcome["message"])

    @staticmethod
    def default_path():
        named = os.environ.get("ALDABA_AGENT_SOCKET")
        return named or os.path.join(os.environ["XDG_RUNTIME_DIR"], "aldaba", "agent.sock")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self._socket.close()

    # What this device offers

    def publish(self, services=None, schemes=(), attributes=None):
        """Offers services (`{name: access}`, access one of `off`, `sameUser`, `granted`, `anyone`) and schemes of addresses."""
        request = {
            "type": "publish",
            "services": [{"name": name, "access": access} for name, access in (services or {}).items()],
        }
        if schemes:
            request["schemes"] = list(schemes)
        if attributes:
            request["attributes"] = dict(attributes)
        self._command(request)

    def next_notice(self, seconds=None):
        """The next that the agent tells unasked: `asked`, `opened`, `closed`, `launch`, `added`, and others."""
        if self._notices:
            return self._notices.popleft()
        return self._relay_notice(seconds)

    def serve(self, answer, count=None):
        """Answers questions by `answer(question)`, which returns a dict; `count` of them, or for ever."""
        while count is None or count > 0:
            notice = self.next_notice()
            if notice["type"] == "asked":
                question = Question(notice)
                try:
                    self.answer(question, answer(question))
                except MessageFault as fault:
                    self.fail(question, str(fault))
                if count is not None:
                    count -= 1

    def answer(self, question, message, limit=DEFAULT_LIMIT):
        encode(message, limit)
        self._request({"type": "answer", "call": question.call, "outcome": {"status": "success", "message": message}})

    def fail(self, question, detail):
        self._request({"type": "answer", "call": question.call, "outcome": {"status": "failed", "detail": detail}})

    def settle_launch(self, notice, opened=True):
        """Answers a notice of the type `launch`."""
        self._request({
            "type": "answer", "call": notice["call"], "outcome": {"status": "success" if opened else "failed"}})

    # Other devices

    def devices(self, seconds=10):
        """The person's other devices; raises RelayError where they cannot be found now."""
        self._command({"type": "watch"})
        found = []
        while True:
            notice = self._relay_notice(seconds)
            if notice["type"] == "added":
                found.append(notice["device"])
            elif notice["type"] == "watchFailed":
                raise RelayError("networkUnavailable", notice["reason"])
            elif notice["type"] == "enumerationCompleted":
                self._command({"type": "unwatch"})
                return found
            else:
                self._notices.append(notice)

    def find(self, device, seconds=10):
        """A device of another person's that offers something to anyone, by its id; it can be asked from now on."""
        number = self._number()
        self._request({"type": "find", "request": number, "device": device})
        notice = self._wait(lambda notice: notice["type"] in ("found", "answered") and notice["request"] == number, seconds)
        if notice["type"] == "answered":
            raise RelayError(notice["outcome"]["status"], notice["outcome"].get("detail"))
        return notice["device"]

    def call(self, device, app, service, message, seconds=30, command=None, limit=DEFAULT_LIMIT, wait=False):
        """Asks a service, and returns its answer. `command`, a UUID, makes a repetition known there.

        With `wait` the server keeps it for a device that is away, for five minutes at most.
        """
        encode(message, limit)
        order = {"type": "call", "app": app, "service": service, "message": message}
        return self._order(order, device, seconds, command, wait).get("message", {})

    def open_connection(self, device, app, service, seconds=10):
        """Opens a connection, and returns its id."""
        command = uuid.uuid4()
        self._order({"type": "open", "app": app, "service": service}, device, seconds, command)
        return command

    def send(self, connection, message, seconds=30, limit=DEFAULT_LIMIT):
        """Asks over a connection, from either end, and returns the answer."""
        encode(message, limit)
        order = {"type": "send", "connection": connection, "message": message}
        return self._order(order, "", seconds, None).get("message", {})

    def close(self, connection):
        self._command({"type": "close", "connection": connection, "reason": "completed"})

    def launch(self, device, uri, app=None, fallback=None, seconds=30):
        """Opens an address on a device."""
        order = {"type": "launch", "uri": uri}
        if app is not None:
            order["app"] = app
        if fallback is not None:
            order["fallback"] = fallback
        self._order(order, device, seconds, None)

    def life(self, command):
        """Where a command of the last day stands, and how it ended."""
        number = self._number()
        self._request({"type": "life", "request": number, "id": command})
        notice = self._wait(lambda notice: notice["type"] == "life" and notice["request"] == number, 10)
        return notice.get("life"), notice.get("status")

    # Inside

    def _order(self, order, device, seconds, command, wait=False):
        request = {
            "type": "command", "device": device, "order": order, "id": command or uuid.uuid4(),
            "deadline": int((time.time() + seconds) * 1000),
        }
        if wait:
            request["waits"] = True
        return self._command(request, seconds + 5)

    def _number(self):
        self._requests += 1
        return self._requests

    def _command(self, request, seconds=10):
        number = self._number()
        self._request({**request, "request": number})
        answer = self._wait(lambda notice: notice["type"] == "answered" and notice["request"] == number, seconds)
        outcome = answer["outcome"]
        if outcome["status"] != "success":
            raise RelayError(outcome["status"], outcome.get("detail"))
        return outcome

    def _wait(self, is_wanted, seconds):
        while True:
            notice = self._relay_notice(seconds)
            if is_wanted(notice):
                return notice
            self._notices.append(notice)

    def _request(self, request):
        frame = encode(request, FRAME_LIMIT, depth=20, entries=8192)
        self._say({"type": "relay", "frame": base64.b64encode(frame).decode()})

    def _relay_notice(self, seconds):
        while True:
            message = self._hear(seconds)
            if message["type"] == "relay":
                return decode(base64.b64decode(message["frame"]))
            if message["type"] == "refused":
                raise AgentError(message["message"])

    def _say(self, message):
        body = json.dumps(message).encode()
        self._socket.sendall(struct.pack(">I", len(body)) + body)

    def _hear(self, seconds):
        self._socket.settimeout(seconds)
        (length,) = struct.unpack(">I", self._exactly(4))
        if length > LONGEST_FRAME:
            raise AgentError(f"a frame of {length} bytes; at most {LONGEST_FRAME} are allowed")
        return json.loads(self._exactly(length))

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the agent has ended the connection")
            data += piece
        return data
