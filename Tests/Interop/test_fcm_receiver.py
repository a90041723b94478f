"""PyPI's fcm-receiver, a second implementation of the device channel, unchanged but for its addresses.

It never acknowledges while it is connected: what it has, it says at the next login.
"""

import functools
import queue
from urllib.parse import urlsplit

import pytest
from fcm_receiver import FCMClient, fcm_client, http_client

SECONDS = 30


@pytest.fixture
def addresses(path, monkeypatch):
    """The module's constants name our server, and its TLS trusts our authority."""
    monkeypatch.setattr(http_client, "CHECKIN_URL", f"{path['http']}/checkin")
    monkeypatch.setattr(http_client, "REGISTER_URL", f"{path['http']}/c2dm/register3")
    monkeypatch.setattr(http_client, "FIREBASE_INSTALLATION", f"{path['http']}/v1/")
    monkeypatch.setattr(http_client, "FIREBASE_REGISTRATION", f"{path['http']}/v1/")
    mcs = urlsplit(f"//{path['mcs']}" if "//" not in path["mcs"] else path["mcs"])
    monkeypatch.setattr(fcm_client, "dial_fcm", functools.partial(fcm_client.dial_fcm, mcs.hostname, mcs.port))
    monkeypatch.setenv("SSL_CERT_FILE", path["ca"])
    return path


class Receiver:
    """A client with what it was called back with."""

    def __init__(self, path):
        self.messages, self.states = queue.Queue(), queue.Queue()
        self.client = FCMClient()
        # It registers its app id as the subtype, so that this names the app.
        self.client.api_key, self.client.app_id = "none", path["topic"]
        self.client.project_id = path["teamId"].lower()
        self.client.on_notification_message = lambda message, _: self.messages.put(message["payload"])
        self.client.on_connection_status = lambda state, _: self.states.put(state)
        self.client.create_new_keys()

    def register(self):
        self.token = self.client.register()[0]
        return self.token

    def listen(self):
        self.client.start_listening()
        while self.states.get(timeout=SECONDS) != "connected":
            pass

    def next(self):
        return self.messages.get(timeout=SECONDS)


def test_it_registers_and_gets_what_waits_and_what_comes(addresses, send, control):
    receiver = Receiver(addresses)
    token = receiver.register()
    names = []
    for number in range(3):
        status, name, reason = send(token, {"aps": {"alert": f"number {number}"}}, apns_expiration=2_000_000_000)
        assert status == 200, reason
        names.append(name)
    receiver.listen()
    try:
        bodies = [receiver.next()["notification"]["body"] for _ in range(3)]
        assert bodies == ["number 0", "number 1", "number 2"]
        status, _, reason = send(token, {"aps": {"alert": {"title": "live"}}, "k": "v"})
        assert status == 200, reason
        message = receiver.next()
        assert (message["notification"], message["data"]) == ({"title": "live"}, {"k": "v"})
    finally:
        receiver.client.close()
    # It names at most its last two, so that the first two come again, which its own list of ids drops.
    again = Receiver(addresses)
    for name in ("private_key", "public_key", "auth_secret", "android_id", "security_token", "persistent_ids"):
        setattr(again.client, name, getattr(receiver.client, name))
    again.listen()
    try:
        control.wait_for_last_state(names[2], "acked")
        status, _, reason = send(token, {"aps": {"alert": "after the second login"}})
        assert status == 200, reason
        assert again.next()["notification"]["body"] == "after the second login"
    finally:
        again.client.close()
