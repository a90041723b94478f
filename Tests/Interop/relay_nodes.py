"""Devices of the relay in plain Python, over the device channel, and the servers that they are connected to."""

import random
import select
import ssl
import sys
import time
import uuid

from aldaba_process import REPOSITORY
from mcs_client import DATA, PING, PONG, Closed, Device, Identity
from mcs_client import encode as fields
from test_nodes import Nodes
from waiting import TimedOut

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from relay_values import FRAME_LIMIT, decode, encode  # noqa: E402

CATEGORY = "aldaba.relay"
# The seconds within which a server that runs tells of what it has learnt.
SOON = 3


class RelayDevice:
    """A device, over all its sessions; `frames` has everything that it received, with the session's number."""

    def __init__(self, world, identity, account, name, follows, apps):
        self.world, self.identity, self.account, self.name = world, identity, account, name
        self.apps = apps
        # Whether it says which state it knows, and is sent changes.
        self.follows = follows
        self.id = str(identity.device)
        self.server = self.channel = None
        self.older = []
        self.session = 0
        self.frames, self.view, self.known = [], {}, None
        self.takes = True

    def connect(self, server, cut=True, joins=True, waits=True):
        """Begins a session with a server; an older one is dropped, or left to the server."""
        if cut:
            self.cut()
        elif self.channel:
            self.older.append((self.channel, self.session))
        ready = self.world.servers[server].ready
        channel = Device(ready["mcs"], ready["ca"])
        answer = channel.login(self.identity)
        assert answer.message.get(3) is None, answer
        self.server, self.channel = server, channel
        self.session += 1
        self.joined = False
        if joins:
            self.hello()
            if waits:
                self.world.until(lambda: self.joined or not self.channel, f"{self.name} is welcomed at {server}")
                assert self.channel, f"{server} ended the session of {self.name} before it was welcomed"
        return self

    def hello(self, name=None):
        self.name = name or self.name
        known = {"known": self.known or {"epoch": 0, "revision": 0}} if self.follows else {}
        device = {"id": self.id, "name": self.name, "kind": "desktop", "platform": "linux", "presence": "online"}
        if self.apps:
            device["apps"] = self.apps
        self.say("hello", token=self.account, device=device, **known)

    def say(self, kind, **members):
        data = encode({"type": kind, **members}, limit=FRAME_LIMIT, depth=20)
        self.channel.socket.settimeout(10)
        self.channel.send(DATA, fields((3, "aldaba"), (4, "aldaba"), (5, CATEGORY), (21, data)))

    def route(self, peer, body, seconds=None, waits=False):
        identifier = uuid.uuid4()
        members = {} if seconds is None else {"deadline": milliseconds(seconds)}
        if waits:
            members["waits"] = True
        self.say("route", peer=peer.id, id=identifier, body=text(body), **members)
        return identifier

    def post(self, peer, body, seconds=600):
        identifier = uuid.uuid4()
        self.say("letter", peer=peer.id, id=identifier, body=text(body), deadline=milliseconds(seconds))
        return identifier

    def ask(self, what, **members):
        """Asks about documents; returns the answer."""
        identifier = self.begin_ask(what, **members)
        return self.world.until(lambda: self.got("documentAnswer", id=identifier), f"an answer to {what}")[0]

    def begin_ask(self, what, **members):
        identifier = uuid.uuid4()
        self.say("documentAsk", id=identifier, what=what, **members)
        return identifier

    def cut(self):
        """Ends the session as a lost network does."""
        if self.channel:
            self.channel.cut()
        self.channel = self.server = None

    # Reading

    def poll(self):
        for channel, session in list(self.older):
            if not self._poll(channel, session):
                channel.cut()
                self.older.remove((channel, session))
        if self.channel and not self._poll(self.channel, self.session):
            self.cut()

    def _poll(self, channel, session):
        """Reads what is there; returns whether the connection is open."""
        isOpen = True
        try:
            while True:
                channel.socket.settimeout(0)
                data = channel.socket.recv(65536)
                if not data:
                    raise Closed("end of stream")
                channel._buffer += data
        except (ssl.SSLWantReadError, BlockingIOError):
            pass
        except (OSError, Closed):
            isOpen = False
        while (packet := channel._take()) is not None:
            if packet.tag == PING:
                channel.socket.settimeout(10)
                channel.send(PONG)
            elif packet.tag == DATA and packet.message.text(5) == CATEGORY:
                self._receive(decode(packet.message.get(21)), channel, session)
        return isOpen

    def _receive(self, frame, channel, session):
        self.frames.append(frame | {"session": session, "at": time.monotonic()})
        if channel is not self.channel:
            return
        match frame["type"]:
            case "welcome":
                self.joined, self.view = True, {each["id"]: each for each in frame["devices"]}
            case "changes":
                self.joined = True
                if "since" in frame:
                    assert self.known and self.known["epoch"] == frame["epoch"] and self.known["revision"] >= frame["since"], (
                        f"{self.name} knows {self.known}, and is sent what follows another state: {frame}")
                else:
                    self.view = {}
                self.view |= {each["id"]: each for each in frame.get("devices", [])}
                for gone in frame.get("removed", []):
                    self.view.pop(gone, None)
                self.known = {"epoch": frame["epoch"], "revision": frame["revision"]}
            case "changed":
                self.view[frame["device"]["id"]] = frame["device"]
            case "removed":
                self.view.pop(frame["device"], None)
            case "letter" if self.takes:
                self.take(frame)

    def take(self, letter):
        self.say("letterTaken", device=letter["peer"], id=letter["id"])

    def got(self, kind, after=0, **members):
        return [frame for frame in self.frames[after:] if frame["type"] == kind
                and all(frame.get(key) == value for key, value in members.items())]

    @property
    def mark(self):
        return len(self.frames)

    def bodies(self, kind, peer, after=0):
        return [frame["body"].decode() for frame in self.got(kind, after, peer=peer.id)]

    def told_of(self, other, after=0):
        """What the device was told of another, in order: interruptions, ends, and states."""
        told = []
        for frame in self.frames[after:]:
            if frame["type"] in ("interrupted", "removed") and frame["device"] == other.id:
                told.append(frame["type"])
            devices = frame.get("devices", []) if frame["type"] in ("changes", "welcome") else []
            devices = [frame["device"]] if frame["type"] == "changed" else devices
            told += [each["presence"] for each in devices if each["id"] == other.id]
            if frame["type"] == "changes" and other.id in frame.get("removed", []):
                told.append("removed")
        return told

    def sees(self, other, presence="online"):
        seen = self.view.get(other.id)
        return seen is not None and (seen["name"], seen["presence"]) == (other.name, presence)

    def __repr__(self):
        return f"{self.name} ({self.id}) at {self.server}"


def text(body):
    return body if isinstance(body, bytes) else str(body).encode()


def milliseconds(seconds):
    return int((time.time() + seconds) * 1000)


class RelayWorld:
    """Devices whose sessions are read together; `servers` and `devices` belong to the subclass."""

    def read(self):
        for device in self.devices:
            device.poll()

    def until(self, condition, reason, seconds=10.0):
        """Reads what all devices receive until a condition holds; returns its value."""
        deadline = time.monotonic() + seconds
        while True:
            self.read()
            if value := condition():
                return value
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimedOut(f"not within {seconds:g} s: {reason} (last seen: {value!r})")
            self.rest(left)

    def rest(self, seconds):
        """Waits until a device receives something, for a moment at most."""
        channels = [channel for device in self.devices for channel, _ in device.older]
        channels += [device.channel for device in self.devices if device.channel]
        select.select([channel.socket for channel in channels], [], [], min(seconds, 0.1))

    def read_for(self, seconds):
        """Reads for a time in which something must not come."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.read()
            self.rest(left)


class RelayNodes(RelayWorld, Nodes):
    """The servers, and the devices that a test has made."""

    def __init__(self, folder, name, count):
        super().__init__(folder, name, count)
        self.devices = []

    def account(self):
        return random.SystemRandom().randbytes(32)

    def device(self, account, name, server=None, follows=False, apps=()):
        identity = Identity(*self.servers[0].control(self.key).enrol())
        made = RelayDevice(self, identity, account, name, follows, list(apps))
        self.devices.append(made)
        return made if server is None else made.connect(server)

    def lose(self, device):
        """Ends a device's session, and waits until the others of its account are told."""
        others = [(other, other.mark) for other in self.devices
                  if other is not device and other.channel and other.account == device.account]
        device.cut()
        self.until(lambda: all("interrupted" in other.told_of(device, mark) for other, mark in others),
                   f"the others are told that {device.name} was interrupted", SOON)

    def see_each_other(self, *devices):
        self.until(lambda: all(one.sees(other) for one in devices for other in devices if one is not other),
                   f"they see each other: {devices}")

    def forget(self):
        for device in self.devices:
            device.cut()
            for channel, _ in device.older:
                channel.cut()
        self.devices = []
