"""Devices of one account, each with a thread of its own, and uploads of files, at servers that fail meanwhile; and what
must be so of everything that they sent.
"""

import json
import os
import random
import threading
import time
from collections import Counter, defaultdict

import requests

from ledger import TROUBLE, Ledger
from mcs_client import Identity
from relay_nodes import RelayDevice, RelayWorld
from test_nodes_media import MediaClient, path
from waiting import wait_until

# The seconds after which a session without a welcome is given up.
WELCOME = 10
# The seconds within which a message is delivered or answered while its sender's session goes on: a server is taken for
# dead after eight of them, and may have stood still before.
ANSWER = 25
# The seconds within which an upload or a download has ended, whatever fails.
HANG = 15


class OneDevice(RelayWorld):
    """The servers as one device's thread uses them."""

    def __init__(self, servers, device):
        self.servers, self.devices = servers, [device]


class Member(RelayDevice):
    """A device that has a session where a server accepts it, sends to its peers, and takes most of what is queued for it.

    One that moves begins a session elsewhere every few seconds; others only when theirs has ended.
    """

    def __init__(self, servers, identity, account, number, seed):
        super().__init__(OneDevice(servers, self), identity, account, f"device {number}", number % 2 == 1, ())
        self.choose, self.moves = random.Random(seed), number % 3 == 0
        self.peers, self.renews = [], threading.Event()
        # When each session began, and when it was seen to have ended.
        self.began, self.ended = {}, {}
        # (identifier, target, session, how many frames had come, time), and the same without the last two.
        self.routes, self.letters = [], []
        self.is_settling = False

    def work(self, ledger):
        next_route = next_letter = 0
        while not ledger.stop.is_set():
            self.is_settling = ledger.settling.is_set()
            try:
                self.poll()
                if not self.channel or self.is_to_move():
                    self.begin()
                now = time.monotonic()
                if self.joined and not self.is_settling:
                    if now > next_route:
                        next_route = now + self.choose.uniform(0.05, 0.2)
                        self.send_route()
                    if now > next_letter:
                        next_letter = now + self.choose.uniform(0.2, 0.6)
                        self.send_letter()
                elif not self.joined and now > self.began[self.session] + WELCOME:
                    self.give_up()
                self.world.rest(0.05)
            except TROUBLE:
                self.give_up()
                # No event tells that a server is there again: a device tries after a pause.
                ledger.stop.wait(0.2)
        self.give_up()
        self.poll()

    def is_to_move(self):
        if self.renews.is_set():
            return True
        return self.moves and not self.is_settling and time.monotonic() > self.leaves_at

    def begin(self):
        """Begins a session; the server is left to end an older one, or it ends as with a lost network."""
        self.ended.setdefault(self.session, time.monotonic())
        self.joined = False
        self.leaves_at = time.monotonic() + self.choose.uniform(2, 12)
        self.began[self.session + 1] = time.monotonic()
        try:
            self.connect(self.choose.randrange(len(self.world.servers)), self.choose.random() < 0.6, joins=False)
        except AssertionError as refused:
            raise ConnectionError(f"the login was refused: {refused}") from None
        self.renews.clear()
        self.hello()

    def give_up(self):
        self.ended.setdefault(self.session, time.monotonic())
        self.joined = False
        self.cut()

    def send_route(self):
        target, session, mark, now = self.choose.choice(self.peers), self.session, self.mark, time.monotonic()
        self.routes.append((self.route(target, len(self.routes)), target, session, mark, now))

    def send_letter(self):
        target, session = self.choose.choice(self.peers), self.session
        self.letters.append((self.post(target, len(self.letters)), target, session))

    def take(self, letter):
        """One in ten is not taken, and comes again in another session; in the end all are taken."""
        if self.is_settling or self.choose.random() < 0.9:
            super().take(letter)

    def has_since(self, kind, since):
        return any(frame["type"] == kind and frame["at"] > since for frame in self.frames[-300:])

    def of_kind(self, kind):
        """The frames of a kind, by their ids."""
        found = defaultdict(list)
        for frame in list(self.frames):
            if frame["type"] == kind:
                found[frame["id"]].append(frame)
        return found

    def kept(self):
        """What the device posted and was told to be kept, in order: (identifier, target, time of the confirmation)."""
        told = self.of_kind("letterKept")
        return [(each, target, told[each][0]["at"]) for each, target, _ in list(self.letters) if each in told]


class RelayLedger(Ledger):
    """What devices sent and were told, against what others received."""

    def __init__(self, cluster, count, seed):
        super().__init__(0)
        self.cluster = cluster
        account = random.Random(seed).randbytes(32)
        self.members = [
            Member(cluster.servers, Identity(*cluster.enrol(0)[0]), account, number, seed * 100 + number)
            for number in range(count)]
        for member in self.members:
            member.peers = [other for other in self.members if other is not member]
        # By (device, id) of a queued message: since when the store has it no more.
        self.gone = {}

    def waiting(self):
        """The keys of the queued messages that the store has."""
        rows = self.cluster.database.query("SELECT device, encode(id, 'hex') FROM relay.relay_letter").split()
        return {tuple(row.split("|")) for row in rows}

    def look(self):
        """Records which messages that were kept the store has no more."""
        before = time.monotonic()
        waiting, now = self.waiting(), time.monotonic()
        for member in self.members:
            for identifier, target, at in member.kept():
                if at < before and (target.id, identifier.hex) not in waiting:
                    self.gone.setdefault((target.id, identifier.hex), now)

    # Messages that are not stored

    def open_routes(self):
        """The messages that were neither delivered nor answered, and whose senders' sessions go on; and late answers."""
        opened, late = [], []
        received = {member: member.of_kind("route") for member in self.members}
        for sender in self.members:
            refused = sender.of_kind("undelivered")
            told = defaultdict(list)
            for index, frame in enumerate(list(sender.frames)):
                if frame["type"] in ("interrupted", "removed"):
                    told[frame["device"]].append((index, frame["at"]))
            for identifier, target, session, mark, at in list(sender.routes):
                ends = [frame["at"] for frame in received[target][identifier] + refused[identifier]]
                ends += [time for index, time in told[target.id] if index >= mark][:1]
                ends += [sender.ended[session]] if session in sender.ended else []
                if not ends:
                    opened.append(f"{sender.name} to {target.name}, {time.monotonic() - at:.1f} s ago: {identifier}")
                elif min(ends) - at > ANSWER:
                    late.append(f"{sender.name} to {target.name} after {min(ends) - at:.1f} s: {identifier}")
        return opened, late

    def wrong_routes(self):
        wrong = []
        for member in self.members:
            refused = [other.of_kind("undelivered") for other in member.peers]
            for identifier, frames in member.of_kind("route").items():
                if len(frames) > 1:
                    wrong.append(f"{member.name} got {identifier} {len(frames)} times")
                if any(identifier in each for each in refused):
                    wrong.append(f"{member.name} got {identifier}, which its sender was told to be undelivered")
        return wrong + [f"lost: {each}" for each in self.open_routes()[0]] + self.open_routes()[1]

    # Messages that are stored

    def missing_letters(self):
        got = {member: set(member.of_kind("letter")) for member in self.members}
        return [(sender.name, target.name, each) for sender in self.members for each, target, _ in sender.kept()
                if each not in got[target]]

    def wrong_letters(self):
        wrong = [f"lost: {each}" for each in self.missing_letters()]
        for member in self.members:
            for identifier, frames in member.of_kind("letter").items():
                sessions = [frame["session"] for frame in frames]
                if len(set(sessions)) != len(sessions):
                    wrong.append(f"{member.name} got {identifier} twice in one session")
                gone = self.gone.get((member.id, identifier.hex), float("inf"))
                if late := [frame["at"] - gone for frame in frames if member.began[frame["session"]] > gone]:
                    wrong.append(f"{member.name} got {identifier} {late} s after the store had it no more")
            for sender in member.peers:
                own = [each for each, target, _ in sender.kept() if target is member]
                places = {each: place for place, each in enumerate(own)}
                arrived = [places[each] for each in member.of_kind("letter") if each in places]
                if arrived != sorted(arrived):
                    wrong.append(f"{member.name} got those of {sender.name} in another order: {arrived}")
        return wrong

    # The end

    def renew(self):
        """Has every device begin another session; returns when all are welcomed in it."""
        sessions = {member: member.session for member in self.members}
        for member in self.members:
            member.renews.set()
        wait_until(lambda: all(member.session > sessions[member] and member.joined for member in self.members),
                   "all devices have a session", 60)

    def settle(self):
        """Waits until everything is answered and taken, and looks whether anything comes again."""
        self.settling.set()
        wait_until(lambda: not self.open_routes()[0], "each message is delivered or answered", ANSWER)
        for _ in range(5):
            self.renew()
            try:
                wait_until(lambda: not self.missing_letters() and not self.waiting(), "all are taken", 15)
                break
            except AssertionError as late:
                # A removal that failed is made up for in another session.
                print(late)
        self.look()
        self.renew()
        wait_until(lambda: not self.unseen(), "all see each other", 20)
        self.stop.wait(2)

    def unseen(self):
        return [f"{one.name} does not see {other.name}" for one in self.members for other in one.peers
                if not one.sees(other)]

    def wrong(self):
        left = [f"{len(self.waiting())} queued messages are not taken"] if self.waiting() else []
        return self.faults + left + self.wrong_routes() + self.wrong_letters()

    def __str__(self):
        frames = Counter(frame["type"] for member in self.members for frame in member.frames)
        reasons = Counter(frame["reason"] for member in self.members for frame in member.frames
                          if frame["type"] == "undelivered")
        sent = [sum(len(each) for each in all_) for all_ in zip(*((one.routes, one.letters) for one in self.members))]
        posted = {each for member in self.members for each, _, _ in member.letters}
        denied = {each for member in self.members for each in member.of_kind("undelivered")} & posted
        came = {each for member in self.members for each in member.of_kind("letter")}
        return (f"{sent[0]} messages and {sent[1]} queued ones sent in {sum(one.session for one in self.members)} "
                f"sessions; frames: {dict(frames)}; undelivered: {dict(reasons)}; {len(self.gone)} seen to be gone; "
                f"{len(denied & came)} of {len(denied)} queued ones came though their senders were told that they were not kept")


class Uploads:
    """Files that are uploaded to servers that fail, and what they answered."""

    def __init__(self, cluster):
        self.clients = [MediaClient(server, cluster.key) for server in cluster.servers]
        self.taken, self.answers = {}, Counter()
        # When each server has taken one.
        self.times = [0] * len(self.clients)
        self.wrong, self.longest = [], 0

    def work(self, ledger, seed):
        choose = random.Random(seed)
        while not ledger.settling.wait(0.1):
            node = choose.randrange(len(self.clients))
            data = b"\0\0\1\xba" + os.urandom(choose.randrange(100, 400_000))
            answer = self._ask("upload", node, data)
            if answer is not None and answer.status_code in (200, 201):
                self.taken[path(answer)] = data
                self.times[node] = time.monotonic()
            if self.taken:
                where = choose.choice(list(self.taken))
                answer = self._ask("get", choose.randrange(len(self.clients)), where)
                if answer is not None and answer.status_code == 200 and answer.content != self.taken[where]:
                    self.wrong.append(f"{where} came with other bytes")

    def _ask(self, action, node, what):
        """The answer of a server, or nothing where it ended or cannot be reached."""
        began, answer = time.monotonic(), None
        try:
            answer = getattr(self.clients[node], action)(what)
            told = f"{answer.status_code} {self._code(answer)}".strip()
        except requests.RequestException as error:
            told = type(error).__name__
        took = time.monotonic() - began
        self.longest = max(self.longest, took)
        self.answers[action, told] += 1
        if took > HANG:
            self.wrong.append(f"{action} at {node} took {took:.1f} s: {told}")
        return answer

    def _code(self, answer):
        if answer.status_code < 400:
            return ""
        try:
            told = answer.json()
            return told.get("error", told)["code"]
        except (json.JSONDecodeError, KeyError):
            self.wrong.append(f"an answer has no code: {answer.status_code} {answer.text[:200]}")
            return "?"

    def missing(self):
        """What was taken and is not served by each server."""
        got = [(node, where, client.get(where)) for where in list(self.taken) for node, client in enumerate(self.clients)]
        return [(node, where, answer.status_code) for node, where, answer in got
                if answer.status_code != 200 or answer.content != self.taken[where]]

    def __str__(self):
        return f"{len(self.taken)} files taken, answers: {dict(self.answers)}, the longest after {self.longest:.1f} s"
