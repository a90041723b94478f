"""Devices of one account, each with a thread of its own, at servers that fail meanwhile; and what must be so of
everything that they sent.
"""

import random
import threading
import time
import uuid
from collections import Counter, defaultdict
from dataclasses import dataclass

from ledger import TROUBLE, Ledger
from mcs_client import Identity
from relay_nodes import RelayDevice, RelayWorld
from waiting import wait_until

# The seconds after which a session without a welcome is given up.
WELCOME = 10
# The seconds within which a message is delivered or answered while its sender's session goes on: a server is taken for
# dead after eight of them, and may have stood still before.
ANSWER = 15


@dataclass
class Kept:
    """A queued message, when and in which session it was posted, and when that was confirmed."""

    identifier: uuid.UUID
    target: RelayDevice
    session: int
    posted: float
    confirmed: float

    def is_before(self, other):
        """Whether it has to arrive first. What an older session posted last may be stored after a newer one's."""
        return self.posted < other.posted and (self.session == other.session or self.confirmed < other.posted)


class OneDevice(RelayWorld):
    """The servers as one device's thread uses them."""

    def __init__(self, servers, device):
        self.servers, self.devices = servers, [device]


class Member(RelayDevice):
    """A device with a session where a server accepts it. It sends to its peers, and takes most of what they queue.

    One that moves begins a session elsewhere every few seconds; others only when theirs has ended.
    """

    def __init__(self, servers, identity, account, number, seed):
        super().__init__(OneDevice(servers, self), identity, account, f"device {number}", number % 2 == 1, ())
        self.choose, self.moves = random.Random(seed), number % 3 == 0
        self.peers, self.renews = [], threading.Event()
        # When each session began, and when it was seen to have ended.
        self.began, self.ended = {}, {}
        # (identifier, target, session, time, how many frames had come), and the same without the last.
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
        self.routes.append((self.route(target, len(self.routes)), target, session, now, mark))

    def send_letter(self):
        target, session, now = self.choose.choice(self.peers), self.session, time.monotonic()
        self.letters.append((self.post(target, len(self.letters)), target, session, now))

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
        """What the device posted and was told to be kept, in order."""
        told = self.of_kind("letterKept")
        return [Kept(*each, told[each[0]][0]["at"]) for each in list(self.letters) if each[0] in told]


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
            for each in member.kept():
                key = each.target.id, each.identifier.hex
                if each.confirmed < before and key not in waiting:
                    self.gone.setdefault(key, now)

    # Messages that are not stored

    def ends(self):
        """Each message: a description, when it was sent, and when it was answered, delivered, or its session over."""
        received = {member: member.of_kind("route") for member in self.members}
        for sender in self.members:
            refused, told = sender.of_kind("undelivered"), defaultdict(list)
            for index, frame in enumerate(list(sender.frames)):
                if frame["type"] in ("interrupted", "removed"):
                    told[frame["device"]].append((index, frame["at"]))
            for identifier, target, session, at, mark in list(sender.routes):
                ends = [frame["at"] for frame in received[target][identifier] + refused[identifier]]
                ends += [time for index, time in told[target.id] if index >= mark][:1]
                ends += [sender.ended[session]] if session in sender.ended else []
                yield f"{sender.name} to {target.name}, {identifier}", at, min(ends, default=None)

    def open_routes(self):
        """The messages that were neither delivered nor answered, and whose senders' sessions go on."""
        return [f"{route}: {time.monotonic() - at:.1f} s ago" for route, at, end in self.ends() if end is None]

    def late_routes(self):
        return [f"{route}: after {end - at:.1f} s" for route, at, end in self.ends() if end and end - at > ANSWER]

    def wrong_routes(self):
        wrong = []
        for member in self.members:
            refused = [other.of_kind("undelivered") for other in member.peers]
            for identifier, frames in member.of_kind("route").items():
                if len(frames) > 1:
                    wrong.append(f"{member.name} got {identifier} {len(frames)} times")
                if any(identifier in each for each in refused):
                    wrong.append(f"{member.name} got {identifier}, which its sender was told to be undelivered")
            for sender in member.peers:
                wrong += self.disordered_routes(sender, member)
        return wrong + [f"lost: {each}" for each in self.open_routes()] + self.late_routes()

    def disordered_routes(self, sender, member):
        """What came after later ones of the same session, in the same session."""
        places = {route[0]: (place, route[2]) for place, route in enumerate(sender.routes)}
        last, wrong = {}, []
        for identifier, frames in member.of_kind("route").items():
            if identifier in places:
                place, session = places[identifier]
                before = last.get(sessions := (session, frames[0]["session"]), 0)
                if place < before:
                    told = [frame["at"] for frame in sender.frames
                            if frame["type"] == "interrupted" and frame["device"] == member.id]
                    sent, came = sender.routes[place][3], frames[0]["at"]
                    wrong.append(
                        f"{member.name} got number {place} of {sender.name} after {before}, in {sessions}: sent at "
                        f"{sent:.1f}, received at {came:.1f}, told as interrupted at "
                        f"{[round(at, 1) for at in told if sent < at < came][:3]}")
                last[sessions] = max(place, before)
        return wrong

    # Messages that are stored

    def missing_letters(self):
        got = {member: set(member.of_kind("letter")) for member in self.members}
        return [(sender.name, each.target.name, each.identifier) for sender in self.members for each in sender.kept()
                if each.identifier not in got[each.target]]

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
                kept = {each.identifier: each for each in sender.kept() if each.target is member}
                arrived = [kept[each] for each in member.of_kind("letter") if each in kept]
                wrong += [f"{later} came before {one}" for place, one in enumerate(arrived)
                          for later in arrived[:place] if one.is_before(later)]
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
        wait_until(lambda: not self.open_routes(), "each message is delivered or answered", ANSWER)
        for _ in range(5):
            self.renew()
            try:
                wait_until(lambda: not self.missing_letters() and not self.waiting(), "all are taken", 15)
                break
            except AssertionError as late:
                # A removal that failed is made up for in another session.
                print(late, flush=True)
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
        posted = {each[0] for member in self.members for each in member.letters}
        denied = {each for member in self.members for each in member.of_kind("undelivered")} & posted
        came = {each for member in self.members for each in member.of_kind("letter")}
        longest = max((end - at for _, at, end in self.ends() if end), default=0)
        return (f"{sent[0]} messages and {sent[1]} queued ones sent in {sum(one.session for one in self.members)} "
                f"sessions; frames: {dict(frames)}; undelivered: {dict(reasons)}; {len(self.gone)} seen to be gone; "
                f"{len(denied & came)} of {len(denied)} came though said not to be kept; "
                f"the longest answer after {longest:.1f} s")
