"""What is taken back counts at the next request of a connection that was open before, and what is added at once too."""

import json
import time
import uuid

import pytest

from h2_client import H2Client
from mcs_client import CLOSE, Device, Identity, Message
from own_server import TEAM, OwnServer
from provider_tokens import ProviderKey

BODY = b'{"aps":{"alert":"hello"}}'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = OwnServer(tmp_path_factory.mktemp("revocation"), "test_revocation")
    made.add_app()
    made.key()
    with made as running:
        yield running


class Path:
    """A key, an app and a device of a test's own, and an open connection of each end."""

    def __init__(self, server):
        self.server = server
        self.topic = server.add_app(f"com.example.t{uuid.uuid4().hex[:8]}")
        self.key = server.add_key()
        self.control = server.control(self.key)
        self.identity = Identity(*self.control.enrol())
        self.token = self.token_of(self.topic)
        self.client = H2Client(server.ready["apns"], server.ready["ca"])

    def token_of(self, topic):
        return self.control.token((self.identity.device, self.identity.secret), topic, TEAM, "production")

    def headers(self, key=None, topic=None):
        return [
            ("authorization", f"bearer {(key or self.key).token()}"), ("apns-topic", topic or self.topic),
            ("apns-push-type", "alert")]

    def post(self, key=None, topic=None, token=None, headers=None):
        """The answer on the one connection: its status, and the reason of a refusal."""
        answer = self.client.request(
            "POST", f"/3/device/{token or self.token}", headers or self.headers(key, topic), BODY)
        return answer.status, answer.reason

    def connect(self):
        return Device(self.server.ready["mcs"], self.server.ready["ca"])

    def command(self, *words):
        """A command of the server's; returns its JSON."""
        return json.loads(self.server.aldaba(*words, "--json").stdout)


@pytest.fixture
def path(server):
    made = Path(server)
    yield made
    made.client.close()


# --- what is taken back ---------------------------------------------------------------------------------------


def test_a_revoked_key_signs_for_nobody_from_the_next_request_on(path):
    other, same = path.server.add_key(), path.headers()
    assert path.post(headers=same) == (200, None)
    assert path.post(key=other) == (200, None)
    path.command("key", "revoke", path.key.key_id)
    assert path.post(headers=same) == (403, "InvalidProviderToken"), "the very token that was good a moment ago"
    assert path.post() == (403, "InvalidProviderToken"), "a token made now"
    assert path.post(key=other) == (200, None), "another key of the team"
    with H2Client(path.server.ready["apns"], path.server.ready["ca"]) as later:
        answer = later.request("POST", f"/3/device/{path.token}", same, BODY)
        assert (answer.status, answer.reason) == (403, "InvalidProviderToken")
    status, body = path.control.request("GET", f"/v1/notifications/{uuid.uuid4()}")
    assert status == 401, body


def test_a_revoked_key_stays_so_when_the_server_is_started_anew(path):
    path.command("key", "revoke", path.key.key_id)
    listed = {each["keyId"] for each in path.command("key", "list")}
    assert path.key.key_id not in listed
    path.server.stop()
    path.server.start()
    with H2Client(path.server.ready["apns"], path.server.ready["ca"]) as later:
        answer = later.request("POST", f"/3/device/{path.token}", path.headers(), BODY)
        assert (answer.status, answer.reason) == (403, "InvalidProviderToken")


def test_an_app_that_was_removed_takes_no_more(path):
    other = path.server.add_app(f"{path.topic}.other")
    other_token = path.token_of(other)
    assert path.post() == (200, None)
    path.command("app", "remove", path.topic)
    assert path.post() == (400, "TopicDisallowed")
    assert path.post(topic=other, token=other_token) == (200, None), "another app of the team"
    assert path.topic not in {each["topic"] for each in path.command("app", "list")}
    form = path.control.request(
        "POST", "/c2dm/register3", f"app={path.topic}&sender={TEAM}&device={path.identity.device}", {
            "content-type": "application/x-www-form-urlencoded",
            "authorization": f"AidLogin {path.identity.device}:{path.identity.secret}"})
    assert form[0] == 400 and b"Error=" in form[1], form


def test_a_removed_app_s_waiting_notifications_reach_nobody(path):
    assert path.post() == (200, None)
    path.command("app", "remove", path.topic)
    with path.connect() as device:
        assert device.login(path.identity).message.get(3) is None
        assert device.nothing_more() == []


@pytest.mark.parametrize("word", ["revoke", "block"])
def test_a_device_is_cut_off_at_once(path, word):
    """What ends the session is the change itself, not the server's look at the register once a second."""
    taken = []
    for _ in range(16):
        identity = Identity(*path.control.enrol())
        with path.connect() as device:
            assert device.login(identity).message.get(3) is None
            path.command("device", word, identity.device)
            begun = time.monotonic()
            device.closed_by_server()
            taken.append(time.monotonic() - begun)
    # By the second's look half of them would take longer than half a second. A busy machine may hold some up, not most.
    assert sorted(taken)[len(taken) // 2] < 0.5, taken
    assert max(taken) < 5, taken


def test_a_revoked_device_is_sent_away_and_its_tokens_are_over(path):
    other = Identity(*path.control.enrol())
    other_token = path.control.token((other.device, other.secret), path.topic, TEAM, "production")
    with path.connect() as device, path.connect() as bystander:
        assert device.login(path.identity).message.get(3) is None
        assert bystander.login(other).message.get(3) is None
        assert path.post() == (200, None)
        device.notification()
        path.command("device", "revoke", path.identity.device)
        assert path.post() == (410, "Unregistered")
        assert path.post(token=other_token) == (200, None), "another device"
        assert all(packet.tag == CLOSE for packet in device.closed_by_server()), "its session was ended"
        bystander.notification()
    with path.connect() as again:
        response = again.login(path.identity)
        assert Message(response.message.get(3)).get(1) == 401, "its login is refused"
    known = {"android_id": path.identity.device, "security_token": path.identity.secret}
    status, body = path.control.request("POST", "/checkin", json.dumps(known), {"content-type": "application/json"})
    assert status == 401, body
    assert path.post() == (410, "Unregistered")


@pytest.mark.parametrize("words, right", [
    (("key", "revoke", "NOSUCHKEY0"), "aldaba key list"), (("app", "remove", "com.example.nobody"), "aldaba app list"),
    (("device", "revoke", "12345"), ""), (("device", "revoke", "nobody"), ""),
])
def test_what_is_not_there_cannot_be_taken_back(server, words, right):
    done = server.aldaba(*words, check=False)
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert words[-1] in done.stderr and right in done.stderr and done.stdout == ""


# --- what is added --------------------------------------------------------------------------------------------


def test_a_new_key_counts_directly_after_an_unknown_one_was_asked_for(path):
    for _ in range(3):
        stranger = ProviderKey.made_now("UNKNOWNKEY", TEAM)
        assert path.post(key=stranger) == (403, "InvalidProviderToken")
        added = path.server.add_key()
        assert path.post(key=added) == (200, None)


def test_a_new_app_counts_directly_after_an_unknown_one_was_asked_for(path):
    for number in range(3):
        topic = f"{path.topic}.{number}"
        assert path.post(topic=topic) == (400, "TopicDisallowed")
        path.server.add_app(topic)
        assert path.post(topic=topic) == (400, "DeviceTokenNotForTopic"), "it is known now"
        assert path.post(topic=topic, token=path.token_of(topic)) == (200, None)


def test_a_removed_app_that_is_added_again_is_another(path):
    path.command("app", "remove", path.topic)
    assert path.post() == (400, "TopicDisallowed")
    path.server.add_app(path.topic)
    status, reason = path.post()
    assert (status, reason) in ((400, "DeviceTokenNotForTopic"), (400, "BadDeviceToken"), (410, "Unregistered")), (
        "the token of the app that was")
    assert path.post(token=path.token_of(path.topic)) == (200, None)
