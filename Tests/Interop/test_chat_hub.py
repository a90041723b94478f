"""Chat servers' pushes to phones by a notification hub: another server as Apple's, a small service as Google's."""

import json

import pytest
import requests

from aldaba_process import run_aldaba
from push_service import PushService
from test_chat_gateways import APP, UNKNOWN, mattermost, notification, rocket_chat
from test_hub_senders import apple, apple_token, credential, key_file, remove, service_account  # noqa: F401
from waiting import wait_until


def make_key(path, name, rights):
    return run_aldaba(
        "hub", "key", "create", path["hubName"], name, "--api", "--rights", rights, "--data", path["data"]).stdout.strip()


@pytest.fixture(scope="module")
def key(path):
    return f"{path['hubName']}.{make_key(path, 'chat', 'Send')}"


@pytest.fixture
def google(path, tmp_path):
    """A Google that accepts everything, and the messages that it got."""
    def answer(asked):
        return 200, {}, b'{"access_token":"t","expires_in":3600}' if asked.path == "/token" else b"{}"

    with PushService(answer) as service:
        file, _ = service_account(tmp_path, service.url)
        made = credential(path, "fcm", "--key", file, "--address", service.url)
        yield service
        remove(path, made["number"])


def messages(google):
    return [json.loads(each.body)["message"] for each in google.asked if each.path.endswith("messages:send")]


def test_a_message_of_mattermost_reaches_an_android_phone(path, key, google):
    push = mattermost("fcm:phone", platform="android_rn-v2")
    answer = requests.post(f"{path['http']}/gateway/{key}/api/v1/send_push", json=push, timeout=10)
    assert (answer.status_code, answer.json()) == (200, {"status": "OK"})
    [message] = wait_until(lambda: messages(google), "Google has the message")
    assert message["token"] == "fcm:phone" and message["android"]["priority"] == "HIGH"
    data = message["data"]
    assert (data["title"], data["message"], data["channel_id"]) == ("Town Square", "ada: Milk?", "channel1")
    assert (data["badge"], data["type"], data["ack_id"]) == ("4", "message", "xk1ack")
    assert "notification" not in message


def test_a_request_of_a_homeserver_that_is_repeated_is_sent_once(path, key, google):
    body = notification("fcm:matrix")
    for unread in (2, 3):
        body["notification"]["counts"]["unread"] = unread
        answer = requests.post(f"{path['http']}/_matrix/push/v1/notify?key={key}", json=body, timeout=10)
        assert (answer.status_code, answer.json()) == (200, {"rejected": []})
    other = notification("fcm:matrix", event_id="$another:example.com")
    requests.post(f"{path['http']}/_matrix/push/v1/notify?key={key}", json=other, timeout=10)

    def events():
        return [each["data"]["event_id"] for each in messages(google)]

    wait_until(lambda: "$another:example.com" in events(), "Google has the other event")
    assert sorted(events()) == ["$3957tyerfgewrf384", "$another:example.com"]


def test_a_message_of_rocket_chat_reaches_an_iphone(path, key, apple):  # noqa: F811
    made = credential(
        path, "apns", "--key", key_file(apple), "--address", apple.ready["apns"], "--authority", apple.ready["ca"])
    control, device, token = apple_token(apple, path)
    address = f"{path['http']}/gateway/{key}/push/apn/send"
    assert requests.post(address, json=rocket_chat(token), timeout=10).status_code == 200

    def arrived():
        status, body = control.request("GET", f"/v1/notifications?device={device[0]}")
        return status == 200 and json.loads(body).get("notifications")

    wait_until(arrived, "the phone's server has the push")
    remove(path, made["number"])


def test_a_phone_whose_token_has_ended_is_to_be_forgotten(path, key, tmp_path):
    def answer(asked):
        if asked.path == "/token":
            return 200, {}, b'{"access_token":"t","expires_in":3600}'
        details = [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED"}]
        return 404, {}, json.dumps({"error": {"status": "UNREGISTERED", "details": details}}).encode()

    address = f"{path['http']}/gateway/{key}/push/gcm/send"
    with PushService(answer) as service:
        file, _ = service_account(tmp_path, service.url)
        made = credential(path, "fcm", "--key", file, "--address", service.url)
        assert requests.post(address, json=rocket_chat("fcm:gone"), timeout=10).status_code == 200
        wait_until(lambda: [each for each in service.asked if each.path != "/token"], "Google has refused the token")
        again = rocket_chat("fcm:gone")

        def forgotten():
            again["options"]["payload"]["messageId"] += "x"
            return requests.post(address, json=again, timeout=10).status_code == 406

        wait_until(forgotten, "the workspace is told")
        remove(path, made["number"])
    # It is tried again: the phone may have the same token once more.
    assert requests.post(address, json=rocket_chat("fcm:gone"), timeout=10).status_code == 200


@pytest.mark.parametrize("rights", ["Listen", "Report"])
def test_a_key_without_the_right_to_send_is_refused(path, rights):
    key = f"{path['hubName']}.{make_key(path, f'chat-{rights}', rights)}"
    answer = requests.post(f"{path['http']}/gateway/{key}/push/gcm/send", json=rocket_chat(UNKNOWN), timeout=10)
    assert answer.status_code == 401 and "right Send" in answer.text


@pytest.mark.parametrize("change", [lambda key: key[:-1], lambda key: "other" + key, lambda key: key.split(".", 1)[1]])
def test_a_wrong_key_of_a_hub_is_refused(path, key, change):
    answer = requests.post(
        f"{path['http']}/gateway/{change(key)}/push/gcm/send", json=rocket_chat(UNKNOWN), timeout=10)
    assert answer.status_code == 401


def test_the_app_of_a_homeserver_is_no_condition(path, key, google):
    """Any app of the homeserver's may use the address; the token says which phone it is."""
    body = notification("fcm:one", "fcm:two", event_id="$both:example.com")
    assert {each["app_id"] for each in body["notification"]["devices"]} == {APP}
    requests.post(f"{path['http']}/_matrix/push/v1/notify?key={key}", json=body, timeout=10)
    wait_until(lambda: {each["token"] for each in messages(google)} >= {"fcm:one", "fcm:two"}, "both phones have it")
