"""SIGKILL of the server while it gives broadcasts to the subscribers of a topic: none is lost, none comes twice."""

import http.client
import json
import threading
import time

import pytest

from mcs_client import DATA, PING, PONG, Closed, Device, Notification, checkin, register3
from waiting import kill, wait_until

DEVICES, KILLS, SENDS = 10, 6, 40
APART = 2.6  # seconds between two deaths of the server: `up` gives up after five in ten seconds


class Listener(threading.Thread):
    """A device that connects again whenever its connection ends, and acknowledges what it has."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])
        self.names = {}
        self.isEnded = False

    def numbers(self):
        return sorted(self.names.values())

    def run(self):
        while not self.isEnded:
            try:
                with Device(self.path["mcs"], self.path["ca"], timeout=2) as device:
                    device.login(self.identity, list(self.names)[-20:])
                    while not self.isEnded:
                        self._read(device)
            except (OSError, Closed, AssertionError):
                time.sleep(0.05)  # The server is being started again.

    def _read(self, device):
        packet = device.receive()
        if packet.tag == PING:
            device.send(PONG)
        elif packet.tag == DATA:
            one = Notification.of(packet)
            self.names[one.persistent_id] = json.loads(one.payload)["number"]
            device.acknowledge_stream(one.stream_id)


@pytest.mark.timeout(180)
def test_every_subscriber_gets_what_was_accepted_once_through_kills(up, path, control):
    listeners = [Listener(path) for _ in range(DEVICES)]
    body = json.dumps({"to": "/topics/kills", "registration_tokens": [each.token for each in listeners]})
    assert control.request("POST", "/iid/v1:batchAdd", body)[0] == 200
    for each in listeners[: DEVICES // 2]:
        each.start()

    def send(number):
        """Whether the broadcast is known to be accepted."""
        wanted = {"team": path["teamId"], "topic": "kills", "payload": {"aps": {}, "number": number}}
        try:
            return control.request("POST", "/v1/broadcasts", json.dumps(wanted))[0] == 202
        except (OSError, http.client.HTTPException):
            control.close()
            return False

    def is_up():
        try:
            return control.request("GET", "/health")[0] == 200
        except (OSError, http.client.HTTPException):
            control.close()
            return False

    accepted, last = set(), time.monotonic()
    for number in range(SENDS * KILLS):
        if send(number):
            accepted.add(number)
        if number % SENDS == SENDS - 1:
            time.sleep(max(0.0, APART - (time.monotonic() - last)))
            # While the last ones go round.
            accepted |= {extra for extra in range(10_000 + number * 10, 10_005 + number * 10) if send(extra)}
            old = up.pids()["serve"]
            kill(old)
            last = time.monotonic()
            up.wait_for_new_pid("serve", old)
            wait_until(is_up, "the server is back")
    for each in listeners[DEVICES // 2:]:
        each.start()
    wait_until(lambda: send(99_999), "the server takes one more")
    accepted.add(99_999)
    assert len(accepted) > SENDS * KILLS * 0.8
    try:
        for each in listeners:
            wait_until(lambda: accepted <= set(each.numbers()) or each.is_alive() is False, "all have come", 30)
            numbers = each.numbers()
            assert accepted <= set(numbers), f"{sorted(accepted - set(numbers))} are lost"
            assert len(numbers) == len(set(numbers)), "one came twice"
    finally:
        for each in listeners:
            each.isEnded = True
        for each in listeners:
            each.join(10)
