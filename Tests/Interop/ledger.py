"""A ledger of what providers were answered with 200 against what devices have shown, and who writes it."""

import json
import random
import threading
import time
import uuid

from h2.exceptions import ProtocolError

from h2_client import ConnectionEnded, StreamReset
from mcs_client import Closed

# What a client sees of a server that dies, stands still or cannot be reached.
TROUBLE = (OSError, ProtocolError, Closed, ConnectionEnded, StreamReset)


def longest_gap(times, begin, end):
    """The longest time between two of some times, from one time on, and until the first of them after another."""
    after = min((at for at in times if at >= end), default=end)
    within = sorted([begin, *(at for at in times if begin < at < after), after])
    return max(later - earlier for earlier, later in zip(within, within[1:]))


class Ledger:
    """What providers were told, and what devices have shown."""

    def __init__(self, devices):
        self.accepted = {}
        # The sender of each push, and its number among that one's pushes.
        self.senders = {}
        # When a server has answered 200 for a device: (time, server, device).
        self.answers = []
        self.refused = []
        self.shown = [[] for _ in range(devices)]
        self.faults = []
        self.stop = threading.Event()
        self.settling = threading.Event()

    def accept(self, name, device, node=None):
        self.answers.append((time.monotonic(), node, device))
        self.accepted[name] = device

    def is_done(self):
        """Whether everything that was accepted is shown, once no more is sent."""
        if not self.settling.is_set():
            return False
        shown = [set(names) for names in self.shown]
        return all(name in shown[device] for name, device in list(self.accepted.items()))

    def times(self, node=None, device=None):
        """When it was answered 200: by a server, for a device, or at all."""
        return [
            at for at, answered, of in list(self.answers)
            if (node is None or answered == node) and (device is None or of == device)]

    def settle(self, threads, deadline):
        """Ends the senders, gives the devices a minute to show what is left, and checks everything."""
        self.settling.set()
        self.stop.set()
        deadline[0] = time.monotonic() + 60
        for thread in threads:
            thread.join(90)
        self.check()

    def check(self):
        """Nothing is lost, nothing is shown twice, and each app has what one provider sent it in that order."""
        wrong = list(self.faults)
        for device, shown in enumerate(self.shown):
            if len(shown) != len(set(shown)):
                wrong.append(f"{len(shown) - len(set(shown))} were shown twice at device {device}")
            if lost := {name for name, owner in self.accepted.items() if owner == device} - set(shown):
                senders = sorted(self.senders[name] for name in lost if name in self.senders)
                wrong.append(f"{len(lost)} of {len(self.accepted)} are lost, by sender and number: {senders[:5]}")
            last = {}
            for name in shown:
                # What was not answered with 200 may come at any time.
                if name in self.accepted and name in self.senders:
                    sender, number = self.senders[name]
                    if number < last.get(sender, 0):
                        wrong.append(f"number {number} of sender {sender} is shown after its number {last[sender]}")
                    last[sender] = number
        if unknown := {(status, reason) for _, status, reason in self.refused if status not in (503, 403)}:
            wrong.append(f"refused with {unknown}")
        assert not wrong, "\n".join(wrong[:20])

    def thread(self, work, *arguments):
        """A thread whose unforeseen end is a fault."""

        def run():
            try:
                work(*arguments)
            except Exception as error:  # noqa: BLE001
                self.faults.append(f"{work.__name__}: {error!r}")

        made = threading.Thread(target=run, daemon=True)
        made.start()
        return made


def send(nodes, node, tokens, ledger, seed, stays=False):
    """A provider at a server, which repeats what was not answered with 200, under the same apns-id, at any server.

    One that `stays` does so at its own server, which tells when that one accepts again.
    """
    choose = random.Random(seed)
    sender, number = None, 0
    while not ledger.stop.is_set():
        name, device = str(uuid.UUID(int=choose.getrandbits(128))), choose.randrange(len(tokens))
        number += 1
        ledger.senders[name] = seed, number
        while True:
            try:
                sender = sender or nodes.provider(node)
                answer = sender.post(tokens[device], {"aps": {"alert": name}}, **{"apns-id": name})
                if answer.status == 200:
                    ledger.accept(name, device, node)
                    break
                ledger.refused.append((time.monotonic(), answer.status, answer.reason))
                if answer.status == 403:
                    # The provider token is too old by the server's clock, or its key is not known there yet.
                    sender.close()
                    sender = None
            except TROUBLE:
                if sender:
                    sender.close()
                sender, node = None, node if stays else choose.randrange(len(nodes.servers))
            if ledger.settling.is_set():
                break
            # No event tells that a server accepts again: a provider asks, until all is over.
            ledger.settling.wait(0.1)
        ledger.stop.wait(0.03)
    if sender:
        sender.close()


def receive(nodes, number, device, ledger, done):
    """A device: it moves between servers, and shows what it has not shown before, by its id."""
    choose = random.Random(number)
    seen, unconfirmed, last = set(), [], 0
    while not done():
        try:
            with nodes.connected(choose.randrange(len(nodes.servers)), device, received=unconfirmed[-200:]) as channel:
                unconfirmed = []
                until = time.monotonic() + (60 if ledger.settling.is_set() else choose.uniform(0.2, 4))
                while time.monotonic() < until and not done():
                    try:
                        one = channel.notification(timeout=0.3)
                    except TimeoutError:
                        continue
                    if one.persistent_id not in seen:
                        if int(one.persistent_id) < last:
                            ledger.faults.append(f"{one.persistent_id} is shown after {last}")
                        last = int(one.persistent_id)
                        seen.add(one.persistent_id)
                        ledger.shown[number].append(json.loads(one.payload)["aps"]["alert"])
                    unconfirmed.append(one.persistent_id)
                    if choose.random() < 0.9:
                        channel.acknowledge_selectively(unconfirmed)
                        # Without an answer it is named again at the next login, as devices do.
                        unconfirmed = unconfirmed[-50:]
        except TROUBLE:
            # No event tells that a server is there again: a device tries after a pause.
            time.sleep(0.1)
