"""Loads, and the process in which each runs.

A load is a function with the decorator `load`, in `without_credential.py` or `of_tenants.py`. The first line of its documentation
is shown by `--list`. It prepares what it needs and returns how many workers there are, and a worker: a generator function of the
worker's number that yields an answer (a status, or a text), or an answer and a count, for each thing that it has done. A worker
whose connection ends begins anew.
"""

import functools
import json
import os
import socket
import ssl
import sys
import threading
import time
from collections import Counter

from mcs_client import Closed
from target import Connection, Target

ADDRESS = "127.0.0.9"  # the loads' own, so that bounds of an address do not hold for the bystander
NICENESS = 10  # so that neither server nor bystander waits for the load's own work
MOST_ANSWERS = 500_000_000
LOADS = {}


class Load:
    """A load; `probes` are measured beside those of every load."""

    def __init__(self, function, probes, arguments=()):
        self.name = "-".join([function.__name__, *map(str, arguments)]).replace("_", "-")
        self.line = function.__doc__.strip().split("\n")[0]
        self.probes = probes
        self.prepare = lambda run: function(run, *arguments)


def load(probes=(), variants=()):
    """Makes a function a load, or one load for each of its variants, which is its second argument."""
    def add(function):
        for made in [Load(function, probes, [each]) for each in variants] or [Load(function, probes)]:
            LOADS[made.name] = made
        return function

    return add


class Run:
    """One run of a load: its target, its end, and its answers by their count."""

    def __init__(self, target, seconds):
        self.target, self.seconds = target, seconds
        self.answers = Counter()
        self._end = None
        self._lock = threading.Lock()

    def connection(self, timeout=30):
        """A new connection to the control port."""
        return Connection(self.target, timeout)

    def note(self, answer, count=1):
        with self._lock:
            self.answers[str(answer)] += count

    def is_over(self):
        return time.monotonic() >= self._end or self.answers.total() >= MOST_ANSWERS

    def go(self, count, worker):
        """Runs the workers until the time is over; who waits for an answer then is not waited for."""
        self._end = time.monotonic() + self.seconds
        for number in range(count):
            threading.Thread(target=self._work, args=(worker, number), daemon=True).start()
        while not self.is_over():
            time.sleep(0.05)
        with self._lock:
            return dict(self.answers)

    def _work(self, worker, number):
        while not self.is_over():
            try:
                for answer in worker(number):
                    self.note(*(answer if isinstance(answer, tuple) else (answer,)))
                    if self.is_over():
                        return
                return
            except Exception as fault:  # Counted as an answer, so that it is seen in the table.
                is_closed = isinstance(fault, (ConnectionError, Closed, ssl.SSLError)) and not isinstance(fault, TimeoutError)
                self.note("closed" if is_closed else type(fault).__name__)
                time.sleep(0.02)


def run_load(name):
    """The process of a load: reads the target, says `ready`, waits for a line, runs, prints its answers, and ends."""
    os.nice(NICENESS)
    socket.create_connection = functools.partial(socket.create_connection, source_address=(ADDRESS, 0))
    told = json.loads(sys.stdin.readline())
    run = Run(Target(told["target"]), told["seconds"])
    count, worker = LOADS[name].prepare(run)
    print("ready", flush=True)
    if sys.stdin.readline():
        print(json.dumps(run.go(count, worker)), flush=True)
    # Threads that wait for the server are not waited for, and their connections end here.
    os._exit(0)
