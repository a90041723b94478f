"""Uploads of files to servers that fail meanwhile, and what must be so of each that was taken."""

import json
import os
import random
import time
from collections import Counter

import requests

from test_nodes_media import MediaClient, path

# The seconds within which an upload or a download has ended, whatever fails: fifteen, and three for a slow machine.
HANG = 18


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
        while not ledger.settling.wait(0.3):
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
            self.wrong.append(f"{action} at {node}, begun at {began:.1f}, took {took:.1f} s: {told}")
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
        got = [(node, where, self.clients[node].get(where)) for where in list(self.taken) for node in range(3)]
        return [(node, where, answer.status_code) for node, where, answer in got
                if answer.status_code != 200 or answer.content != self.taken[where]]

    def __str__(self):
        return f"{len(self.taken)} files taken, answers: {dict(self.answers)}, the longest after {self.longest:.1f} s"
