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

import json
import os
import re
import socket
import struct
import time
import traceback
import uuid
from collections import deque

from relay_values import (
    DEFAULT_LIMIT, FRAME_DEPTH, FRAME_LIMIT, FRAME_VALUES, LARGEST_LIMIT, FarDate, MessageFault, decode, encode)

LONGEST_FRAME = 1 << 20
LONGEST_DETAIL = 4096
# The content of a document.
DOCUMENT_LIMIT = 8 << 10
# They name what is on a machine, or carry a program; the agent knows them, too.
NEVER_OPENED = {"file", "data", "javascript", "vbscript", "blob", "about", "view-source", "jar"}
# Seconds beyond which a deadline is no date of this epoch.
LONGEST_WAIT = 10**10

__all__ = ["Relay", "Question", "RelayError", "AgentError", "MessageFault", "FarDate"]


class AgentError(Exception):
    """The agent refused the connection; the text says why and what would be right."""


class RelayError(Exception):
    """A command did not succeed. `status` is how it ended: `notDelivered` and `outcomeUnknown` are different ends."""

    def __init__(self, status, detail=None, revision=None):
        super().__init__(f"{status}: {detail}" if detail else status)
        self.status = status
        self.detail = detail
        # Of a `conflict`: the document's present revision, 0 where there is none.
        self.revision = revision


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
        # Nobody waits for the answer: it says that the message was taken, and may be empty.
        self.one_way = notice.get("oneWay", False)


class Relay:
    """One connection of an app to the agent of its device."""

    def __init__(self, app, secret=None, path=None, role="relayService"):
        self._requests = 0
        self._notices = deque()
        self._begun = set()
        self._ended = {}
        self._received = bytearray()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = path or self.default_path()
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise AgentError(f"no agent answers at {path}: {error.strerror}; ALDABA_AGENT_SOCKET names another") from error
        hello = {"type": "hello", "version": 1, "app": app, "role": role}
        if secret is not None:
            hello["secret"] = secret.strip()
        self._say(hello)
        welcome = self._hear(None)
        if welcome["type"] == "refused":
            raise AgentError(welcome["message"])

    @staticmethod
    def default_path():
        named, folder = os.environ.get("ALDABA_AGENT_SOCKET"), os.environ.get("XDG_RUNTIME_DIR")
        if not named and not folder:
            raise AgentError("neither ALDABA_AGENT_SOCKET nor XDG_RUNTIME_DIR says where the agent's socket is")
        return named or os.path.join(folder, "aldaba", "agent.sock")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self._socket.close()

    # What this device offers

    def publish(self, services=None, schemes=(), attributes=None):
        """Offers services (`{name: access}`, access one of `off`, `sameUser`, `granted`, `anyone`) and schemes of addresses.

        At most 32 services with names of at most 255 bytes, 64 schemes, and attributes of 4,096 bytes in all; more is a MessageFault, and so
        are an empty name and what is no scheme that is ever opened (`*` stands for all).
        """
        _check_count("services", services or {}, 32)
        for name in services or {}:
            if not _check_text("the name of a service", name, 255):
                raise MessageFault("a service has no name")
        _check_count("schemes", schemes, 64)
        for scheme in schemes:
            _check_scheme(_check_text("a scheme", scheme, 1024))
        _check_text("attributes, taken together,", "".join(
            name + value for name, value in (attributes or {}).items()), 4096)
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
        end = _end(seconds)
        while not self._notices:
            self._keep(self._relay_notice(_left(end)))
        return self._notices.popleft()

    def serve(self, answer, count=None):
        """Answers questions by `answer(question)`, which returns a dict; `count` of them, or for ever.

        What was told (`question.one_way`) is taken once `answer` has returned, whatever that is. An exception of `answer` is written to
        standard error and answered as a failure, with its class alone; the next question comes all the same.
        """
        while count is None or count > 0:
            notice = self.next_notice()
            if notice["type"] == "asked":
                question = Question(notice)
                self._serve(question, answer)
                if count is not None:
                    count -= 1

    def _serve(self, question, answer):
        try:
            answered = answer(question)
        except Exception as error:
            # Also where it is a connection of the function's own that is lost: the agent's is another.
            traceback.print_exc()
            return self.fail(question, f"the service could not answer: {type(error).__name__}")
        try:
            self.answer(question, {} if question.one_way else answered)
        except MessageFault as fault:
            self.fail(question, str(fault))

    def answer(self, question, message, limit=DEFAULT_LIMIT):
        encode(message, min(limit, LARGEST_LIMIT))
        self._request({"type": "answer", "call": question.call, "outcome": {"status": "success", "message": message}})

    def fail(self, question, detail):
        """Answers with a failure; of the detail the first 4,096 bytes are told."""
        self._request({
            "type": "answer", "call": question.call, "outcome": {"status": "failed", "detail": _cut(detail, LONGEST_DETAIL)}})

    def settle_launch(self, notice, opened=True):
        """Answers a notice of the type `launch`."""
        self._request({
            "type": "answer", "call": notice["call"], "outcome": {"status": "success" if opened else "failed"}})

    # Other devices

    def devices(self, seconds=10, filters=()):
        """The person's other devices; raises RelayError where they cannot be found now.

        With filters, 16 at most, only those that pass one: all that it names of `kinds`, `platforms` (lists of texts), `available` (True:
        there, or can be woken) and `direct` (True or False: reached without the server, or not).
        """
        self._command({"type": "watch", "filters": [dict(filter) for filter in filters]})
        found = []
        try:
            while True:
                notice = self._relay_notice(seconds)
                if notice["type"] == "added":
                    found.append(notice["device"])
                elif notice["type"] == "watchFailed":
                    raise RelayError("networkUnavailable", notice["reason"])
                elif notice["type"] == "enumerationCompleted":
                    return found
                else:
                    self._keep(notice)
        finally:
            self._command({"type": "unwatch"})

    def find(self, device, seconds=10):
        """A device by its id: the person's own, or another person's that offers something to anyone. It can be asked from now on."""
        number = self._number()
        self._request({"type": "find", "request": number, "device": _check_text("the device's id", device, 64)})
        notice = self._wait(lambda notice: notice["type"] in ("found", "answered") and notice["request"] == number, seconds)
        if notice["type"] == "answered":
            raise RelayError(notice["outcome"]["status"], notice["outcome"].get("detail"))
        return notice["device"]

    def call(self, device, app, service, message, seconds=30, command=None, limit=DEFAULT_LIMIT, wait=False):
        """Asks a service, and returns its answer. `command`, a UUID, makes a repetition known there.

        With `wait` the server keeps it for a device that is away, for five minutes at most.
        """
        order = self._call(app, service, message, limit)
        return self._order(order, device, seconds, command, wait).get("message", {})

    def begin_call(self, device, app, service, message, seconds=30, command=None, limit=DEFAULT_LIMIT, wait=False):
        """Asks a service without waiting, and returns the command's id, for `result`, `life` and `cancel`."""
        command = _command_id(command or uuid.uuid4())
        request = self._ordering(self._call(app, service, message, limit), device, seconds, command, wait)
        self._request({**request, "request": self._number()})
        self._begun.add(command)
        return command

    def result(self, command, seconds=None):
        """The answer to what `begin_call` began, once. What else comes meanwhile is kept for `next_notice`."""
        command = _command_id(command)
        if command not in self._begun and command not in self._ended:
            raise ValueError(f"no call of the id {command} was begun here, or its result was taken")
        end = _end(seconds)
        try:
            while command not in self._ended:
                self._keep(self._relay_notice(_left(end)))
        except (AgentError, ConnectionError) as error:
            self._begun.discard(command)
            raise RelayError("outcomeUnknown", str(error)) from error
        return _success(self._ended.pop(command)).get("message", {})

    def tell(self, device, app, service, message, ttl=86_400, command=None, limit=DEFAULT_LIMIT):
        """Sends a message that wants no answer, and returns the command's id once the server keeps it, for `life` and `cancel`.

        It is kept for a device that is away for `ttl` seconds, 28 days at most. Sent again under its id it is given to the app once.
        """
        command = _command_id(command or uuid.uuid4())
        encode(message, limit)
        order = {
            "type": "tell", "app": _check_text("the app", app, 1024), "service": _check_text("the service", service, 1024),
            "message": message}
        self._order(order, device, ttl, command, patience=35)
        return command

    def cancel(self, command):
        """Takes back what `begin_call` began, here and there; its result is the RelayError `cancelled`. False where it is not under way.

        What `tell` sent is taken back while it waits for its device.
        """
        try:
            self._command({"type": "cancel", "id": _command_id(command)})
        except RelayError:
            return False
        return True

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

    def launch(self, device, uri, app=None, fallback=None, seconds=30, command=None, input=None):
        """Opens an address on a device. `command`, a UUID, makes a repetition known there.

        An app that opens it finds `input`, a dict, in its notice; a program of the system's does not.
        """
        order = {"type": "launch", "uri": _check_text("the address", uri, 8192)}
        if app is not None:
            order["app"] = _check_text("the app", app, 1024)
        if fallback is not None:
            order["fallback"] = _check_text("the fallback", fallback, 8192)
        if input:
            encode(input, DEFAULT_LIMIT)
            order["input"] = input
        self._order(order, device, seconds, command)

    def life(self, command):
        """Where a command of the last day stands, and how it ended."""
        number = self._number()
        self._request({"type": "life", "request": number, "id": _command_id(command)})
        notice = self._wait(lambda notice: notice["type"] == "life" and notice["request"] == number, 10)
        return notice.get("life"), notice.get("status")

    # Documents that the person's devices share

    def put_document(self, name, content, revision=None, seconds=35):
        """Keeps a content under a name, and returns its revision. With `revision` only where that is the present one, 0 for none there."""
        order = {"what": "put", "name": _check_text("the name", name, 128), "content": content}
        encode(content, DOCUMENT_LIMIT, whole="the document's content")
        return self._document(order, revision, seconds)["revision"]

    def document(self, name, seconds=35):
        """A document's content and revision; a RelayError `notFound` where there is none."""
        answer = self._document({"what": "get", "name": _check_text("the name", name, 128)}, None, seconds)
        return answer["content"], answer["revision"]

    def documents(self, seconds=35):
        """The app's documents, each with `name`, `revision` and `bytes`."""
        found, place = [], 0
        while place is not None:
            answer = self._document({"what": "list", "after": place}, None, seconds)
            found += answer["documents"]
            place = answer.get("next")
        return found

    def remove_document(self, name, revision=None, seconds=35):
        """Removes a document, and returns the revision that this is."""
        return self._document({"what": "remove", "name": _check_text("the name", name, 128)}, revision, seconds)["revision"]

    def watch_documents(self, seconds=35):
        """Has changes told from now on, by `next_document_change`."""
        self._document({"what": "watch"}, None, seconds)

    def next_document_change(self, seconds=None):
        """The next change: `name`, `revision`, and `content` or that it is `removed`."""
        end = _end(seconds)
        while True:
            notice = next((notice for notice in self._notices if notice["type"] == "told"), None)
            if notice is not None:
                self._notices.remove(notice)
                return notice["news"]
            self._keep(self._relay_notice(_left(end)))

    def _document(self, order, revision, seconds):
        if revision is not None:
            order["revision"] = revision
        return self._command({"type": "document", **order}, seconds).get("message", {})

    # Inside

    @staticmethod
    def _call(app, service, message, limit):
        encode(message, limit)
        return {
            "type": "call", "app": _check_text("the app", app, 1024), "service": _check_text("the service", service, 1024),
            "message": message}

    @staticmethod
    def _ordering(order, device, seconds, command, wait=False):
        request = {
            "type": "command", "device": _check_text("the device's id", device, 64), "order": order, "id": command,
            "deadline": int((time.time() + _check_seconds(seconds)) * 1000),
        }
        if wait:
            request["waits"] = True
        return request

    def _order(self, order, device, seconds, command, wait=False, patience=None):
        """What came of a command; whatever ends the waiting for it, such as Ctrl-C, takes it back."""
        command = _command_id(command or uuid.uuid4())
        request = self._ordering(order, device, seconds, command, wait)
        number = self._number()
        self._request({**request, "request": number})
        try:
            return self._outcome(number, patience or seconds + 5)
        except RelayError:
            raise
        except AgentError as error:
            raise RelayError("failed", f"the agent refused it: {error}") from error
        except ConnectionError as error:
            raise RelayError("outcomeUnknown", str(error)) from error
        except BaseException:
            self._request({"type": "cancel", "request": self._number(), "id": command})
            raise

    def _number(self):
        self._requests += 1
        return self._requests

    def _command(self, request, seconds=10):
        number = self._number()
        self._request({**request, "request": number})
        return self._outcome(number, seconds)

    def _outcome(self, number, seconds):
        answer = self._wait(lambda notice: notice["type"] == "answered" and notice["request"] == number, seconds)
        return _success(answer["outcome"])

    def _wait(self, is_wanted, seconds):
        end = _end(seconds)
        while True:
            notice = self._relay_notice(_left(end))
            if is_wanted(notice):
                return notice
            self._keep(notice)

    def _keep(self, notice):
        """Puts a notice where it is looked for: the ends of begun calls, or what the agent tells unasked."""
        if notice["type"] not in ("answered", "life", "managed", "found"):
            self._notices.append(notice)
        elif notice.get("id") in self._begun:
            self._begun.discard(notice["id"])
            self._ended[notice["id"]] = notice["outcome"]

    def _request(self, request):
        frame = encode(request, FRAME_LIMIT, depth=FRAME_DEPTH, values=FRAME_VALUES)
        self._send(b"\0" + frame)

    def _relay_notice(self, seconds):
        while True:
            message = self._hear(seconds)
            if message["type"] == "relay":
                return decode(message["frame"])
            if message["type"] == "refused":
                raise AgentError(message["message"])

    def _say(self, message):
        self._send(json.dumps(message).encode())

    def _send(self, body):
        self._socket.settimeout(None)
        self._socket.sendall(struct.pack(">I", len(body)) + body)

    def _hear(self, seconds):
        """The next message; what came of one before the time was over is kept for the next try."""
        end = _end(seconds)
        self._receive(4, end)
        (length,) = struct.unpack(">I", self._received[:4])
        if length > LONGEST_FRAME:
            raise AgentError(f"a frame of {length} bytes; at most {LONGEST_FRAME} are allowed")
        self._receive(4 + length, end)
        body = bytes(self._received[4:4 + length])
        del self._received[:4 + length]
        # What is about relaying is no JSON: a zero byte, and the bytes.
        return {"type": "relay", "frame": body[1:]} if body[:1] == b"\0" else json.loads(body)

    def _receive(self, count, end):
        while len(self._received) < count:
            self._socket.settimeout(_left(end))
            piece = self._socket.recv(max(count - len(self._received), 1 << 16))
            if not piece:
                raise ConnectionError("the agent has ended the connection")
            self._received += piece


def _end(seconds):
    return None if seconds is None else time.monotonic() + seconds


def _left(end):
    # At 0 a socket does not wait at all, which is another error.
    return None if end is None else max(end - time.monotonic(), 0.001)


def _success(outcome):
    if outcome["status"] != "success":
        raise RelayError(outcome["status"], outcome.get("detail"), outcome.get("message", {}).get("revision"))
    return outcome


def _check_count(name, values, most):
    if len(values) > most:
        raise MessageFault(f"{len(values)} {name}; at most {most} are allowed")


def _check_text(name, text, most):
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, not {type(text).__name__}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise MessageFault(f"{name} is no Unicode: {error}") from error
    if size > most:
        raise MessageFault(f"{name} has {size} bytes; at most {most} are allowed")
    return text


def _check_scheme(scheme):
    if scheme != "*" and not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        raise MessageFault(f"{scheme!r} is no scheme: a letter, then letters, digits, +, - and ., without the colon")
    if scheme.lower() in NEVER_OPENED:
        raise MessageFault(f"addresses of the scheme {scheme} are never opened")


def _check_seconds(seconds):
    if not -LONGEST_WAIT <= seconds <= LONGEST_WAIT:
        raise ValueError(f"the seconds must be a number up to {LONGEST_WAIT}, not {seconds}")
    return seconds


def _command_id(command):
    """A command's id: a UUID, or a text of one."""
    if isinstance(command, uuid.UUID):
        return command
    try:
        return uuid.UUID(command)
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"a command's id is a UUID, not {command!r}") from error


def _cut(text, most):
    """The text, or its beginning in so many bytes."""
    data = text.encode()
    return text if len(data) <= most else data[:most - 3].decode(errors="ignore") + "…"
