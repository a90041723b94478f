"""What FCM's messages are on the device's wire, read by a client that shares nothing with the server."""

import datetime
import json

import pytest
from firebase_admin import messaging
from google.auth.transport.requests import AuthorizedSession

from fcm_library import firebase_app, internal_id
from mcs_client import Device, checkin, register3

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")


@pytest.fixture
def app(path, monkeypatch):
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"]) as made:
        yield made


class World:
    """A device that is enrolled and has the demo app."""

    def __init__(self, path):
        self.path = path
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])

    def login(self):
        device = Device(self.path["mcs"], self.path["ca"])
        device.login(self.identity)
        return device


@pytest.fixture
def world(path):
    return World(path)


def test_a_notification_message_is_what_apns_has(app, path, world):
    number = str(int(path["teamId"], 36))
    with world.login() as device:
        name = messaging.send(
            messaging.Message(
                notification=messaging.Notification(title="T", body="B", image="https://media.example/p.png"),
                data={"k": "v"}, token=world.token,
                android=messaging.AndroidConfig(
                    collapse_key="c", ttl=60,
                    notification=messaging.AndroidNotification(click_action="OPEN", sound="default")),
                apns=messaging.APNSConfig(payload=messaging.APNSPayload(messaging.Aps(badge=3), mine={"a": [1]})),
                fcm_options=messaging.FCMOptions(analytics_label="spring")), app=app)
        came = device.notification()
        assert json.loads(came.payload) == {
            "gcm.message_id": internal_id(name),
            "aps": {
                "alert": {"title": "T", "body": "B"}, "sound": "default", "category": "OPEN", "badge": 3,
                "mutable-content": 1},
            "mine": {"a": [1]}, "k": "v", "fcm_options": {"image": "https://media.example/p.png"},
            "google.c.sender.id": number, "from": number, "google.c.a.e": "1", "google.c.a.m_l": "spring",
            "gcm.ttl": "60", "collapse_key": "c"}


def every_field(token):
    """A message with all that the library can say."""
    android = messaging.AndroidNotification(
        title="A", body="a", icon="i", color="#112233", sound="s", tag="g", click_action="OPEN", body_loc_key="b",
        body_loc_args=["1"], title_loc_key="t", title_loc_args=["2"], channel_id="c", image="https://media.example/a",
        ticker="t", sticky=True, event_timestamp=datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
        local_only=True, priority="max", vibrate_timings_millis=[100, 200], default_vibrate_timings=False,
        default_sound=False, default_light_settings=False, visibility="secret", notification_count=2, proxy="deny",
        light_settings=messaging.LightSettings(
            color="#11223344", light_on_duration_millis=10, light_off_duration_millis=20))
    return messaging.Message(
        token=token, data={"k": "v"}, notification=messaging.Notification("T", "B", "https://media.example/n"),
        fcm_options=messaging.FCMOptions(analytics_label="one"),
        android=messaging.AndroidConfig(
            collapse_key="c", priority="high", ttl=datetime.timedelta(hours=1, milliseconds=5), data={"x": "y"},
            notification=android, fcm_options=messaging.AndroidFCMOptions(analytics_label="two"), direct_boot_ok=True,
            bandwidth_constrained_ok=True, restricted_satellite_ok=True),
        webpush=messaging.WebpushConfig(
            headers={"TTL": "5"}, data={"w": "x"},
            notification=messaging.WebpushNotification(
                title="W", actions=[messaging.WebpushNotificationAction("a", "b")], vibrate=[1], custom_data={"c": 1}),
            fcm_options=messaging.WebpushFCMOptions(link="https://web.example/")),
        apns=messaging.APNSConfig(
            headers={"apns-priority": "5", "apns-collapse-id": "d", "apns-push-type": "alert"},
            fcm_options=messaging.APNSFCMOptions(analytics_label="three", image="https://media.example/p"),
            payload=messaging.APNSPayload(
                messaging.Aps(
                    alert=messaging.ApsAlert(title="P", subtitle="S", loc_key="l", loc_args=["3"]), badge=1,
                    sound=messaging.CriticalSound("alarm", critical=True, volume=0.5), content_available=True,
                    mutable_content=True, category="CAT", thread_id="h", custom_data={"interruption-level": "active"}),
                mine=1.5)))


def test_every_field_that_the_library_has_is_taken(app, world):
    messaging.send(every_field(world.token), app=app)
    with world.login() as device:
        content = json.loads(device.notification().payload)
    assert content["aps"] == {
        "alert": {
            "title": "P", "subtitle": "S", "body": "B", "title-loc-key": "t", "title-loc-args": ["2"], "loc-key": "l",
            "loc-args": ["3"]},
        "badge": 1, "sound": {"name": "alarm", "critical": 1, "volume": 0.5}, "content-available": 1,
        "mutable-content": 1, "category": "CAT", "thread-id": "h", "interruption-level": "active"}
    assert (content["k"], content["mine"], content["collapse_key"]) == ("v", 1.5, "d")
    assert (content["fcm_options"], content["google.c.a.m_l"]) == ({"image": "https://media.example/p"}, "three")
    assert "x" not in content and "w" not in content


def test_a_data_message_waits_and_has_no_aps(app, path, world):
    name = messaging.send(messaging.Message(data={"k": "v"}, token=world.token), app=app)
    with world.login() as device:
        content = json.loads(device.notification().payload)
    assert "aps" not in content
    assert (content["k"], content["gcm.message_id"], content["gcm.ttl"]) == ("v", internal_id(name), "2419200")


def test_now_or_never(app, control, world):
    now = messaging.Message(data={"k": "v"}, token=world.token, android=messaging.AndroidConfig(ttl=0))
    missed = messaging.send(now, app=app)
    control.wait_for_last_state(internal_id(missed), "dropped(offline)")
    with world.login() as device:
        name = messaging.send(now, app=app)
        content = json.loads(device.notification().payload)
        assert (content["gcm.message_id"], content["gcm.ttl"]) == (internal_id(name), "0")


def test_a_device_group_is_addressed_as_one(app, path, world, control):
    other = World(path)
    session = AuthorizedSession(app.credential.get_credential())
    address = path["fcm"] + "/fcm/notification"
    headers = {"access_token_auth": "true", "project_id": str(int(path["teamId"], 36))}

    def change(operation, **members):
        return session.post(address, json={"operation": operation, **members}, headers=headers)

    made = change("create", notification_key_name="home", registration_ids=[world.token])
    assert made.status_code == 200, made.text
    key = made.json()["notification_key"]
    assert change("add", notification_key=key, registration_ids=[other.token]).json() == {"notification_key": key}
    found = session.get(address, params={"notification_key_name": "home"}, headers=headers)
    assert found.json() == {"notification_key": key}
    messaging.send(messaging.Message(data={"k": "all"}, token=key), app=app)
    for member in (world, other):
        with member.login() as device:
            assert json.loads(device.notification().payload)["k"] == "all"
    for token in (world.token, other.token):
        assert change("remove", notification_key=key, registration_ids=[token]).status_code == 200
    with pytest.raises(messaging.UnregisteredError):
        messaging.send(messaging.Message(data={"k": "all"}, token=key), app=app)
    assert change("add", notification_key=key, registration_ids=[world.token]).json() == {
        "error": "notification_key not found"}
