"""A TCP proxy on loopback that behaves like a bad network: it splits, delays, stalls and cuts."""

import random
import socket
import struct
import threading
import time


class Fault:
    """What happens to one connection.

    `piece` is the most bytes that go on at once, `delay` the seconds before each piece; after `stall_after` bytes nothing
    goes on for `stall` seconds, and after `cut_after` bytes the connection is cut, by a reset where `resets`.
    """

    def __init__(self, piece=65536, delay=0.0, stall_after=None, stall=0.0, cut_after=None, resets=False):
        self.piece, self.delay, self.stall_after, self.stall = piece, delay, stall_after, stall
        self.cut_after, self.resets = cut_after, resets


class FaultyProxy:
    """Forwards to a port of 127.0.0.1. `choose` gives the fault of each connection by its number, from 0 on."""

    def __init__(self, port, choose):
        self._target, self._choose = port, choose
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = 0
        self._newest = Fault(), [0]
        self._open = set()
        self._lock = threading.Lock()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def stop(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(10)
        self.cut()

    def told(self):
        """What the newest connection carried, and its fault."""
        fault, counter = self._newest
        return f"connection {self.connections - 1} carried {counter[0]} bytes under {vars(fault)}"

    def cut(self):
        """Cuts every open connection."""
        with self._lock:
            pairs = list(self._open)
        for pair in pairs:
            self._end(pair, resets=True)

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            fault = self._choose(self.connections)
            self.connections += 1
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            pair = (near, far)
            with self._lock:
                self._open.add(pair)
            counter = [0]
            self._newest = fault, counter
            for source, sink in (pair, pair[::-1]):
                threading.Thread(target=self._forward, args=(source, sink, pair, fault, counter), daemon=True).start()

    def _forward(self, source, sink, pair, fault, counter):
        try:
            while data := source.recv(65536):
                for start in range(0, len(data), fault.piece):
                    piece = data[start:start + fault.piece]
                    before, counter[0] = counter[0], counter[0] + len(piece)
                    if fault.delay:
                        time.sleep(fault.delay)
                    if fault.stall_after is not None and before < fault.stall_after <= counter[0]:
                        time.sleep(fault.stall)
                    if fault.cut_after is not None and counter[0] >= fault.cut_after:
                        sink.sendall(piece[:max(0, fault.cut_after - before)])
                        return self._end(pair, fault.resets)
                    sink.sendall(piece)
        except OSError:
            pass
        self._end(pair)

    def _end(self, pair, resets=False):
        with self._lock:
            if pair not in self._open:
                return
            self._open.remove(pair)
        for end in pair:
            if resets:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for finish in (lambda each: each.shutdown(socket.SHUT_RDWR), lambda each: each.close()):
                try:
                    finish(end)
                except OSError:
                    pass


def seeded(seed, longest=60_000):
    """A fault for each connection: small pieces, delays, stalls, and a cut sooner or later."""

    def choose(number):
        chance = random.Random(seed * 1_000_003 + number)
        return Fault(
            piece=chance.choice([1, 7, 1460, 65536]), delay=chance.choice([0, 0, 0.0005]),
            stall_after=chance.randrange(longest), stall=chance.choice([0, 0, 0.3]),
            cut_after=chance.randrange(1, longest), resets=chance.random() < 0.5)

    return choose
