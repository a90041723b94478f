"""SIGKILL of the server and of the agent in turn, while data messages go by FCM's API: a ledger compares what got a 200 with what
the app saw. `ALDABA_KILLS` says how many deaths there are; without it a sample.
"""

import json
import os
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
import requests
from google.auth.transport.requests import Request
from google.oauth2 import service_account

from waiting import kill, wait_until

KILLS = int(os.environ.get("ALDABA_KILLS", "12"))
APART = 2.6  # seconds between two deaths of one child: `up` gives up after five in ten seconds
PAUSE = 0.04  # seconds between two messages: fewer than FCM's hundred may wait while an agent is started again


class Sender(threading.Thread):
    """Sends one message after the other, each with its number, and notes what became of each."""

    def __init__(self, path):
        super().__init__(daemon=True)
        account = json.loads(Path(path["serviceAccount"]).read_text())
        self.credentials = service_account.Credentials.from_service_account_info(
            account, scopes=["https://www.googleapis.com/auth/firebase.messaging"])
        self.url = f"{path['fcm']}/v1/projects/{account['project_id']}/messages:send"
        self.token = path["registrationToken"]
        self.accepted, self.unknown, self.refused = [], [], []
        self.isEnded = False
        self.failure = None

    def run(self):
        session, number = requests.Session(), 0
        try:
            while not self.isEnded:
                number += 1
                self._send(session, number)
                time.sleep(PAUSE)
        except BaseException as failure:
            self.failure = failure

    def _send(self, session, number):
        try:
            if not self.credentials.valid:
                self.credentials.refresh(Request())
            answer = session.post(
                self.url, json={"message": {"token": self.token, "data": {"todo": f"ledger {number}"}}},
                headers={"authorization": f"Bearer {self.credentials.token}"}, timeout=10)
        except Exception:
            # Not known: the server died before its answer. It may come, once.
            return self.unknown.append(number)
        if answer.status_code == 200:
            self.accepted.append(number)
        else:
            assert answer.status_code == 503, answer.text
            self.refused.append(number)


def seen(path):
    """The numbers that the app has taken, in its order."""
    lines = (Path(path["data"]) / "todo.json").read_text().splitlines()
    titles = [json.loads(line)["title"] for line in lines]
    return [int(title.split()[1]) for title in titles if title.startswith("ledger ")]


@pytest.mark.timeout(120 + 8 * KILLS)
def test_the_ledger_is_right_through_every_kill(up, path):
    app = up.pids()["app"]
    sender = Sender(path)
    sender.start()
    last = {"serve": 0.0, "agent": 0.0}
    try:
        for number in range(KILLS):
            child = ("serve", "agent")[number % 2]
            time.sleep(max(0.0, last[child] + APART - time.monotonic()))
            before = len(sender.accepted)
            wait_until(lambda: len(sender.accepted) > before or sender.failure, "messages are accepted", 60)
            assert sender.failure is None, sender.failure
            old = up.pids()[child]
            kill(old)
            last[child] = time.monotonic()
            up.wait_for_new_pid(child, old)
    finally:
        sender.isEnded = True
        sender.join(30)
    assert sender.failure is None, sender.failure
    wanted = set(sender.accepted)
    wait_until(lambda: wanted <= set(seen(path)), "the app has all that was accepted", 60)
    came = seen(path)
    print(f"{KILLS} kills: {len(wanted)} accepted, {len(sender.unknown)} unknown, {len(sender.refused)} refused, "
          f"{len(came)} seen")
    assert {number: count for number, count in Counter(came).items() if count > 1} == {}, "none twice"
    assert set(came) <= wanted | set(sender.unknown), "and nothing that was refused"
    assert came == sorted(came), "in the order in which they were sent"
    assert up.pids()["app"] == app, "the app lived on"
