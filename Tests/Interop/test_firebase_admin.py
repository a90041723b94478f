"""PyPI's firebase-admin sends to the demo app."""

import asyncio
import json
import re
import stat
from pathlib import Path

import pytest
from firebase_admin import exceptions, messaging

from aldaba_process import run_aldaba
from fcm_library import firebase_app
from waiting import wait_until

UNKNOWN = "ab" * 32
pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")


@pytest.fixture
def app(path, monkeypatch):
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"]) as made:
        yield made


def timeline(path, name):
    """What `aldaba get` says of a message."""
    done = run_aldaba("get", name, "--json", "--data", path["data"])
    [found] = json.loads(done.stdout)
    return found


def states(path, name):
    return [line["state"] for line in timeline(path, name)["timeline"]]


def test_the_file_is_a_service_account_of_ours(path):
    file = Path(path["serviceAccount"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    told = json.loads(file.read_text())
    assert told["type"] == "service_account"
    assert told["project_id"] == path["teamId"].lower()
    assert told["token_uri"] == path["fcm"] + "/token"
    assert path["registrationToken"] == path["deviceToken"]


def test_a_notification_message_reaches_the_app(app, path):
    name = messaging.send(
        messaging.Message(
            notification=messaging.Notification(title="Buy milk", body="Two litres"), data={"list": "shop"},
            token=path["registrationToken"]), app=app)
    assert re.fullmatch(rf"projects/{path['teamId'].lower()}/messages/\d+", name)
    wait_until(lambda: "handed" in states(path, name), f"the app had {name}: {states(path, name)}")
    found = timeline(path, name)
    assert found["topic"] == path["topic"]
    assert [line["state"] for line in found["timeline"]][:4] == ["accepted", "stored", "sent", "acked"]


def test_a_data_message_reaches_the_device(app, path):
    name = messaging.send(
        messaging.Message(data={"list": "shop", "count": "3"}, token=path["registrationToken"]), app=app)
    wait_until(lambda: "acked" in states(path, name), f"the device has {name}: {states(path, name)}")


def test_what_is_for_a_live_activity_is_taken_and_shown_as_nothing_else(app, path):
    message = messaging.Message(
        notification=messaging.Notification(title="Order", body="On its way"), token=path["registrationToken"],
        apns=messaging.APNSConfig(live_activity_token="a1b2"))
    name = messaging.send(message, app=app)
    assert re.fullmatch(rf"projects/{path['teamId'].lower()}/messages/\d+", name)
    [line] = timeline(path, name)["timeline"]
    assert line["state"] == "failed(noReceiver)" and "live_activity_token" in line["note"]
    assert messaging.send(message, dry_run=True, app=app).endswith("/fake_message_id")
    message.topic, message.token = "news", None
    with pytest.raises(exceptions.InvalidArgumentError):
        messaging.send(message, app=app)


def test_a_message_that_is_only_checked_is_not_sent(app, path):
    name = messaging.send(messaging.Message(data={"a": "b"}, token=path["registrationToken"]), dry_run=True, app=app)
    assert name == f"projects/{path['teamId'].lower()}/messages/fake_message_id"
    with pytest.raises(messaging.UnregisteredError):
        messaging.send(messaging.Message(token=UNKNOWN), dry_run=True, app=app)


def test_many_are_sent_one_by_one(app, path):
    messages = [
        messaging.Message(data={"number": str(number)}, token=path["registrationToken"] if number % 10 else UNKNOWN)
        for number in range(500)]
    answer = messaging.send_each(messages, app=app)
    assert (answer.success_count, answer.failure_count) == (450, 50)
    assert [each.success for each in answer.responses] == [number % 10 != 0 for number in range(500)]
    assert isinstance(answer.responses[0].exception, messaging.UnregisteredError)
    assert len({each.message_id for each in answer.responses if each.success}) == 450


def test_a_multicast_tells_each_token_apart(app, path):
    message = messaging.MulticastMessage(
        tokens=[path["registrationToken"], UNKNOWN, "nonsense"], notification=messaging.Notification(title="All"))
    answer = messaging.send_each_for_multicast(message, app=app)
    assert [each.success for each in answer.responses] == [True, False, False]
    assert [type(each.exception) for each in answer.responses[1:]] == [
        messaging.UnregisteredError, exceptions.InvalidArgumentError]


def test_the_asynchronous_forms(app, path):
    async def send():
        one = await messaging.send_each_async(
            [messaging.Message(data={"a": "b"}, token=path["registrationToken"])], app=app)
        many = await messaging.send_each_for_multicast_async(
            messaging.MulticastMessage(tokens=[path["registrationToken"], UNKNOWN], data={"a": "b"}), app=app)
        # The library closes these connections on another loop, which cannot.
        await messaging._get_messaging_service(app)._async_client.aclose()
        return one, many

    one, many = asyncio.run(send())
    assert one.success_count == 1
    assert [each.success for each in many.responses] == [True, False]
    assert isinstance(many.responses[1].exception, messaging.UnregisteredError)
