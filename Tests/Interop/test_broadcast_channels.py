"""Broadcast channels as Apple documents them, by a client that speaks HTTP/2 itself (Python's h2)."""

import base64
import json
import time
import uuid

import pytest

from live_activity_app import LiveActivityApp, state
from provider import Provider
from provider_tokens import ProviderKey
from waiting import wait_until

NO_STORAGE = {"message-storage-policy": 0, "push-type": "LiveActivity"}
MOST_RECENT = {"message-storage-policy": 1, "push-type": "LiveActivity"}


class Channels:
    """The interface of one app's channels."""

    def __init__(self, provider, app):
        self.provider, self.app = provider, app

    def headers(self, **changes):
        pairs = self.provider.headers(apns_topic=None, apns_push_type=None)
        return pairs + [(name.replace("_", "-"), str(value)) for name, value in changes.items() if value is not None]

    def manage(self, method, body=None, path="channels", **headers):
        sent = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        return self.provider.request(method, f"/1/apps/{self.app}/{path}", self.headers(**headers), sent)

    def create(self, configuration):
        answer = self.manage("POST", configuration)
        assert (answer.status, answer.body) == (201, b""), answer
        return answer.headers["apns-channel-id"]

    def publish(self, channel, payload, **headers):
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        usual = {"apns_channel_id": channel, "apns_push_type": "liveactivity", "apns_expiration": 0} | headers
        return self.provider.request("POST", f"/4/broadcasts/apps/{self.app}", self.headers(**usual), body)


def update(**content):
    return {"aps": {"timestamp": int(time.time()), "event": "update", "content-state": content}}


@pytest.fixture(scope="module")
def channels(provider, path):
    return Channels(provider, path["topic"])


@pytest.fixture(scope="module")
def app(up):
    made = LiveActivityApp(up, "test_broadcast_channels")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def own(up, provider, app):
    """The channels of the script."""
    return Channels(provider, app.id)


@pytest.mark.parametrize("configuration", [NO_STORAGE, MOST_RECENT])
def test_a_channel_is_created_read_listed_and_deleted(channels, configuration):
    number = str(uuid.uuid4())
    made = channels.manage("POST", configuration, apns_request_id=number)
    assert (made.status, made.headers["apns-request-id"]) == (201, number)
    channel = made.headers["apns-channel-id"]
    assert len(base64.b64decode(channel, validate=True)) == 16
    read = channels.manage("GET", apns_channel_id=channel)
    assert read.status == 200 and json.loads(read.body) == configuration
    assert read.headers["content-type"] == "application/json" and len(read.headers["apns-request-id"]) == 36
    assert channel in json.loads(channels.manage("GET", path="all-channels").body)["channels"]
    deleted = channels.manage("DELETE", apns_channel_id=channel)
    assert (deleted.status, deleted.body) == (204, b"")
    assert channel not in json.loads(channels.manage("GET", path="all-channels").body)["channels"]
    for answer in (channels.manage("GET", apns_channel_id=channel), channels.manage("DELETE", apns_channel_id=channel)):
        assert (answer.status, answer.reason) == (400, "ChannelNotRegistered")
    assert channels.publish(channel, update(n=1)).reason == "ChannelNotRegistered"


@pytest.mark.parametrize("body, reason", [
    (b"", "PayloadEmpty"), (b"[1", "BadRequestPayload"), (b"[]", "BadRequestPayload"),
    ({"push-type": "LiveActivity"}, "MissingChannelQueueSize"), ({"message-storage-policy": 1}, "MissingPushType"),
    (MOST_RECENT | {"push-type": "alert"}, "InvalidPushType"), (MOST_RECENT | {"name": "x"}, "BadRequestParams"),
    (MOST_RECENT | {"message-storage-policy": 2}, "BadRequestParams"),
])
def test_a_wrong_configuration_has_its_reason(channels, body, reason):
    answer = channels.manage("POST", body)
    assert (answer.status, answer.reason) == (400, reason)


def test_the_spelling_of_the_push_type_does_not_matter(channels):
    for spelling in ("LiveActivity", "liveactivity", "Liveactivity"):
        channels.manage("DELETE", apns_channel_id=channels.create(NO_STORAGE | {"push-type": spelling}))


@pytest.mark.parametrize("headers, reason", [
    ({"apns_channel_id": None}, "MissingChannelId"), ({"apns_channel_id": "abc"}, "BadChannelId"),
    ({"apns_channel_id": base64.b64encode(bytes(16)).decode()}, "ChannelNotRegistered"),
    ({"apns_push_type": None}, "MissingPushType"), ({"apns_push_type": "alert"}, "InvalidPushType"),
    ({"apns_priority": "7"}, "BadPriority"), ({"apns_expiration": "soon"}, "BadExpirationDate"),
    ({"apns_expiration": "2000000000"}, "BadExpirationDate"), ({"apns_request_id": "7"}, "BadMessageId"),
])
def test_a_wrong_header_of_a_broadcast_has_its_reason(channels, headers, reason):
    channel = channels.create(NO_STORAGE)
    answer = channels.publish(channel, update(n=1), **headers)
    assert (answer.status, answer.reason) == (400, reason)
    assert channels.publish(channel, update(n=1)).status == 200


@pytest.mark.parametrize("body, expected", [
    (b"", (400, "PayloadEmpty")), (b"{", (400, "BadRequestPayload")),
    (json.dumps({"a": "x" * 5112}).encode(), (413, "PayloadTooLarge")),
    (json.dumps({"a": "x" * 5111}).encode(), (200, None)), (json.dumps({"a": "x" * 40_000}).encode(), (413, "PayloadTooLarge")),
])
def test_a_broadcast_has_a_payload_of_at_most_5120_bytes(channels, body, expected):
    answer = channels.publish(channels.create(NO_STORAGE), body)
    assert (answer.status, answer.reason) == expected


@pytest.mark.parametrize("method, place, allowed", [
    ("PUT", "/1/apps/{}/channels", "DELETE, GET, POST"), ("POST", "/1/apps/{}/all-channels", "GET"),
    ("GET", "/4/broadcasts/apps/{}", "POST"),
])
def test_a_path_has_its_methods(channels, method, place, allowed):
    answer = channels.provider.request(method, place.format(channels.app), channels.headers(), b"")
    assert (answer.status, answer.reason, answer.headers["allow"]) == (405, "MethodNotAllowed", allowed)


@pytest.mark.parametrize("bundle, expected", [
    ("com.example.unknown", (403, "TopicMismatch")), ("%2E%2E", (404, "BadPath")),
    ("com.example.todo.push-type.liveactivity", (400, "TopicDisallowed")),
])
def test_an_app_in_the_path_is_the_team_s(channels, bundle, expected):
    answer = Channels(channels.provider, bundle).manage("POST", NO_STORAGE)
    assert (answer.status, answer.reason) == expected


def test_another_team_neither_sees_nor_uses_the_channels(path, channels, up, tmp_path):
    channel = channels.create(MOST_RECENT)
    key = ProviderKey.made_now("OTHERKEY12", "OTHERTEAM1")
    answer = Channels(Provider(path, key=key, topic=path["topic"]), path["topic"]).publish(channel, update(n=1))
    assert (answer.status, answer.reason) == (403, "InvalidProviderToken")
    without = [pair for pair in channels.headers(apns_channel_id=channel) if pair[0] != "authorization"]
    answer = channels.provider.request("GET", f"/1/apps/{path['topic']}/channels", without, b"")
    assert (answer.status, answer.reason) == (403, "MissingProviderToken")


def until_changed(app, connection, publish, condition):
    """Publishes until the change arrives: the server has the subscription a moment after the activity began."""
    for _ in range(20):
        sent = publish()
        assert sent.status == 200
        try:
            return app.changed(connection, condition, 1), sent
        except TimeoutError:
            continue
    raise AssertionError("nothing has come")


def test_a_message_reaches_the_activities_that_follow_the_channel(app, own, control):
    followed, other = own.create(NO_STORAGE), own.create(NO_STORAGE)
    with app.connect() as connection:
        app.observe(connection)
        first, second = (app.start(connection, {"score": 0}, f"channel:{one}") for one in (followed, other))
        changed, sent = until_changed(
            app, connection, lambda: own.publish(followed, update(score=2)), lambda one: state(one) == {"score": 2})
        assert changed["id"] == first and changed.get("pushToken") is None
        listed = {one["id"]: state(one) for one in app.observe(connection)["activities"]}
        assert listed == {first: {"score": 2}, second: {"score": 0}}
        summary = control.notifications(sent.headers["apns-unique-id"])[0]["broadcast"]
        assert summary["audience"] == f"channel {followed}"
        app.end(connection, first, second)


def test_the_most_recent_message_is_kept_for_a_device_that_is_away(app, own):
    stored, dropped = own.create(MOST_RECENT), own.create(NO_STORAGE)
    with app.connect() as connection:
        app.observe(connection)
        kept, lost = (app.start(connection, {"n": 0}, f"channel:{one}") for one in (stored, dropped))
        for channel in (stored, dropped):
            until_changed(
                app, connection, lambda: own.publish(channel, update(n=1)), lambda one: state(one) == {"n": 1})
    app.end_agent()
    for n in (2, 3, 4):
        assert own.publish(stored, update(n=n), apns_expiration=int(time.time()) + 600).status == 200
        assert own.publish(dropped, update(n=n)).status == 200
    app.agent.start()
    with app.connect() as connection:
        listed = app.observe(connection)["activities"]
        if {one["id"]: state(one) for one in listed}[kept] != {"n": 4}:
            seen = app.changed(connection, lambda one: one["id"] == kept)
            assert state(seen) == {"n": 4}, "the two before it were replaced"
        assert {one["id"]: state(one) for one in app.observe(connection)["activities"]}[lost] == {"n": 1}
        app.end(connection, kept, lost)


def test_an_app_of_an_activity_that_has_ended_follows_the_channel_no_longer(app, own, control):
    left, kept = own.create(MOST_RECENT), own.create(MOST_RECENT)
    numbers = iter(range(3, 1000))
    with app.connect() as connection:
        app.observe(connection)
        ended, other = (app.start(connection, {"n": 0}, f"channel:{one}") for one in (left, kept))
        for n, channel in enumerate((left, kept), 1):
            until_changed(
                app, connection, lambda: own.publish(channel, update(n=n)), lambda one: state(one) == {"n": n})

        def targeted():
            """How many devices a message to the one channel is for, counted once a later one to the other has come."""
            # Copies of a message with an expiration of 0 are not counted.
            n, expiry = next(numbers), int(time.time()) + 600
            sent, _ = [own.publish(one, update(n=n), apns_expiration=expiry) for one in (left, kept)]
            app.changed(connection, lambda one: (one["id"], state(one)) == (other, {"n": n}))
            return control.notifications(sent.headers["apns-unique-id"])[0]["broadcast"]["targeted"]

        assert targeted() == 1
        app.end(connection, ended)
        wait_until(lambda: not targeted(), "the channel has no subscriber")
        app.end(connection, other)
