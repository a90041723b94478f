"""A provider that does not give up: what is not answered is sent again with the same apns-id."""

import json
import threading
import time
from collections import deque

from h2_client import ConnectionEnded, H2Client, StreamReset
from waiting import FolderWatch

IN_FLIGHT = 50  # requests without an answer at any time


class PersistentSender(threading.Thread):
    """Sends `apns_ids` at a steady pace on a thread of its own.

    `accepted` grows with every 200. `changed` is notified at each, and when the sender ends. An answer that
    is neither 200 nor 5xx ends it with `failure`.
    """

    def __init__(self, provider, ready, apns_ids, per_second):
        super().__init__(name="sender", daemon=True)
        self._provider, self._address, self._ca = provider, ready["apns"], ready["ca"]
        self._where = f"/3/device/{ready['deviceToken']}"
        self._data = ready["data"]
        self._todo = deque(apns_ids)
        self._count = len(apns_ids)
        self._interval = 1 / per_second
        self._pending = {}
        self._client = None
        self.accepted = []
        self.again = 0
        self.failure = None
        self.changed = threading.Condition()

    def run(self):
        try:
            self._send_all()
        except BaseException as failure:
            self.failure = failure
        finally:
            self._disconnect()
            with self.changed:
                self.changed.notify_all()

    def wait_for(self, condition, reason, seconds=60):
        """Waits, woken by each answer, until `condition()`; fails when the sender has failed or is late."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not condition():
                if self.failure:
                    raise AssertionError(f"the sender failed: {self.failure!r}") from self.failure
                assert time.monotonic() < deadline, f"not within {seconds} s: {reason} ({len(self.accepted)} accepted)"
                self.changed.wait(0.2)

    def _send_all(self):
        due = time.monotonic()
        while len(self.accepted) < self._count:
            try:
                if self._client is None:
                    self._connect()
                while self._todo and len(self._pending) < IN_FLIGHT and time.monotonic() >= due:
                    self._start(self._todo[0])
                    self._todo.popleft()
                    due += self._interval
                self._take(self._client.receive(max(0.001, min(0.05, due - time.monotonic()))))
            except (ConnectionEnded, OSError):
                self._disconnect()
                due = max(due, time.monotonic())

    def _connect(self, patience=30):
        """Connects, trying again while the server is being started anew."""
        deadline = time.monotonic() + patience
        # A server that listens writes its addresses into its folder.
        with FolderWatch(self._data) as watch:
            while True:
                try:
                    self._client = H2Client(self._address, self._ca)
                    return
                except (OSError, ConnectionEnded):
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise AssertionError(f"the server was not back within {patience} s") from None
                    watch.nap(min(left, 1))

    def _start(self, apns_id):
        body = json.dumps({"aps": {"alert": f"number {apns_id[-6:]}"}}).encode()
        stream = self._client.start("POST", self._where, self._provider.headers(apns_id=apns_id), body)
        self._pending[stream] = apns_id

    def _take(self, finished):
        for stream, answer in finished.items():
            apns_id = self._pending.pop(stream)
            if isinstance(answer, StreamReset) or answer.status >= 500:
                self._todo.appendleft(apns_id)
                self.again += 1
            elif answer.status == 200:
                with self.changed:
                    self.accepted.append(apns_id)
                    self.changed.notify_all()
            else:
                raise AssertionError(f"{answer.status} {answer.reason} for {apns_id}")

    def _disconnect(self):
        """Forgets the connection; what had no answer goes first on the next one, in its order."""
        if self._client is not None:
            self._client.close()
            self._client = None
        self._todo.extendleft(reversed(self._pending.values()))
        self.again += len(self._pending)
        self._pending.clear()
