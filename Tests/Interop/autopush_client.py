"""A browser as Mozilla's push protocol has it, on PyPI's websockets; its subscriptions, to which pywebpush sends."""

import base64
import contextlib
import json
import os
import socket
import uuid
from collections import deque

import http_ece
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02
from pywebpush import WebPushException, webpush
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect

from h2_client import verified_context
from waiting import wait_until

SECONDS = 20
CLAIMS = {"sub": "mailto:shop@example.org"}
WINDOW = 100  # The server sends as many messages before some are acknowledged.


def text(data):
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def data(encoded):
    """The bytes of base64url without padding."""
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))


def point(private):
    """The public key of a private one, an uncompressed point."""
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def new_vapid():
    """A new key of an application server."""
    made = Vapid02()
    made.generate_keys()
    return made


def new_channel():
    return str(uuid.uuid4())


def number_of(answer):
    """The number of a notification whose push was answered 201."""
    assert answer.status_code == 201, answer.text
    return answer.headers["location"].rsplit("/", 1)[-1]


def address_of(path, secured=False, query=""):
    """The address of the WebSocket."""
    return f"{'wss' if secured else 'ws'}://{path['mcs'].split('//')[-1]}/{query}"


class Browser:
    """A connection, which says hello unless it is told not to. `uaid` is the client's id."""

    def __init__(self, path, uaid=None, secured=False, query="", hello=True):
        self.path = path
        self._pending = deque()
        self._stack = contextlib.ExitStack()
        more = {"ssl": verified_context(path["ca"])} if secured else {}
        self.socket = self._stack.enter_context(
            connect(address_of(path, secured, query), ping_interval=None, proxy=None, **more))
        self.uaid = None
        if hello:
            answer = self.hello(uaid)
            assert answer["status"] == 200, answer
            self.uaid = answer["uaid"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    # Messages

    def send(self, **members):
        self.socket.send(json.dumps(members))

    def receive(self, kind):
        """The next message of a kind; notifications that come before it are kept, anything else is a failure."""
        if kind == "notification" and self._pending:
            return self._pending.popleft()
        while True:
            message = json.loads(self.socket.recv(SECONDS))
            if message.get("messageType") == kind:
                return message
            assert message.get("messageType") == "notification", (kind, message)
            self._pending.append(message)

    def ask(self, kind, **members):
        self.send(messageType=kind, **members)
        return self.receive(kind)

    def hello(self, uaid=None, **members):
        named = {} if uaid is None else {"uaid": uaid}
        return self.ask("hello", use_webpush=True, **(named | members))

    def register(self, channel=None, key=None):
        """The answer to a registration. The key is a text, or an application server's."""
        channel = new_channel() if channel is None else channel
        if isinstance(key, Vapid02):
            key = text(point(key.private_key))
        return self.ask("register", channelID=channel, **({} if key is None else {"key": key}))

    def subscribe(self, vapid=None, channel=None):
        """A new subscription."""
        answer = self.register(channel, vapid)
        assert answer["status"] == 200, answer
        return Subscription(self.path, answer["channelID"], answer["pushEndpoint"], vapid)

    def unregister(self, channel):
        return self.ask("unregister", channelID=channel, code=200)

    def notification(self):
        return self.receive("notification")

    def ack(self, *messages, code=100):
        self.send(messageType="ack", updates=[
            {"channelID": each["channelID"], "version": each["version"], "code": code} for each in messages])

    def ping(self):
        """`{}` and its answer: all that was sent before has come then."""
        self.socket.send("{}")
        self.receive(None)

    def kept(self):
        """The notifications that came before something else."""
        found, self._pending = list(self._pending), deque()
        return found

    def texts(self, subscription, number):
        """What the next notifications say, each of which is acknowledged."""
        found = []
        for _ in range(number):
            message = self.notification()
            found.append(subscription.opened(message))
            self.ack(message)
        return found

    # The end

    def end(self):
        """Closes the connection."""
        self._stack.close()

    def closed(self):
        """The code and the reason with which the server closes; no code without a close frame."""
        try:
            while True:
                message = json.loads(self.socket.recv(SECONDS))
                if message.get("messageType") == "notification":
                    self._pending.append(message)
        except ConnectionClosed as end:
            return (end.rcvd.code, end.rcvd.reason) if end.rcvd else (None, "")


class Subscription:
    """A page's subscription with its keys, to which its application server sends."""

    def __init__(self, path, channel, endpoint, vapid=None):
        self.path, self.channel, self.endpoint, self.vapid = path, channel, endpoint, vapid
        self.component = endpoint.rsplit("/", 1)[-1]
        self.private, self.secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.session = requests.Session()
        self.session.verify, self.session.trust_env = path["ca"], False

    def push(self, content=b"Milk", vapid=None, ttl=600, **options):
        """The answer to a push that is taken."""
        keys = {"p256dh": text(point(self.private)), "auth": text(self.secret)}
        vapid = vapid or self.vapid
        proof = {} if vapid is None else {"vapid_private_key": vapid, "vapid_claims": dict(CLAIMS)}
        return webpush(
            {"endpoint": self.endpoint, "keys": keys}, content, ttl=ttl, requests_session=self.session,
            timeout=SECONDS, **(proof | options))

    def pushed(self, content=b"Milk", **options):
        """The number of a new notification."""
        return number_of(self.push(content, **options))

    def refused(self, **options):
        """The status of a push that is refused; 201 for one that is taken."""
        try:
            return self.push(**options).status_code
        except WebPushException as refusal:
            return refusal.response.status_code

    def post(self, body=b"", endpoint=None, **headers):
        """A push whose body is sent as it stands."""
        coding = {"content-encoding": "aes128gcm"} if body else {}
        return self.session.post(
            endpoint or self.endpoint, body, headers={"ttl": "600"} | coding | headers, timeout=SECONDS)

    def opened(self, message):
        """What a notification says; `None` where it says nothing."""
        assert message["channelID"] == self.channel
        if "data" not in message:
            return None
        body, headers = data(message["data"]), message["headers"]
        if headers["encoding"] == "aes128gcm":
            return http_ece.decrypt(body, private_key=self.private, auth_secret=self.secret).decode()
        fields = {
            name: value for each in f"{headers['encryption']};{headers['crypto_key']}".replace(",", ";").split(";")
            for name, _, value in [each.strip().partition("=")]}
        return http_ece.decrypt(
            body, salt=data(fields["salt"]), private_key=self.private, auth_secret=self.secret, dh=data(fields["dh"]),
            version="aesgcm").decode()


class RawSocket:
    """A WebSocket whose frames are the test's own."""

    REQUEST = (
        "GET / HTTP/1.1\r\nhost: {}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n")

    def __init__(self, path, more=b""):
        """With `more`, the request comes byte by byte, and this together with its last byte."""
        address = path["mcs"].split("//")[-1]
        host, _, port = address.rpartition(":")
        self.connection = socket.create_connection((host, int(port)), SECONDS)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.connection.makefile("rb")
        request = self.REQUEST.format(address).encode()
        for byte in request[:-1] if more else b"":
            self.connection.sendall(bytes([byte]))
        self.connection.sendall((request[-1:] if more else request) + more)
        assert b" 101 " in self.stream.readline()
        while self.stream.readline().strip():
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.connection.close()

    @staticmethod
    def frame(message, opcode=Opcode.TEXT, masked=True, last=True):
        return Frame(opcode, message, last).serialize(mask=masked)

    def send(self, message, opcode=Opcode.TEXT, **more):
        self.connection.sendall(self.frame(message, opcode, **more))

    def receive(self):
        """The next frame's opcode and content; the server's are short and not masked. `None` at the end."""
        head = self.stream.read(2)
        if len(head) < 2:
            return None
        length = head[1]
        if length == 126:
            length = int.from_bytes(self.stream.read(2))
        return head[0] & 15, self.stream.read(length)

    def closed(self):
        """The code with which the server closes; `None` without a close frame."""
        while frame := self.receive():
            if frame[0] == Opcode.CLOSE:
                return int.from_bytes(frame[1][:2])
        return None


def wait_until_sent(control, number):
    wait_until(lambda: "sent" in control.states(number), f"{number} is sent")


def absent(path):
    """The id and a subscription of a client that has gone."""
    with Browser(path) as made:
        return made.uaid, made.subscribe()
