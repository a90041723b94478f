"""The gateways that chat servers call: Matrix by a Synapse, Mattermost and Rocket.Chat by requests as their servers make them."""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import requests

from aldaba_process import clean_environment, run_aldaba
from control_client import ControlClient
from matrix_homeserver import Homeserver
from own_agent import OwnAgent
from pages import blocks
from script_app import ScriptApp
from test_unified_push import DISTRIBUTOR, App, SessionBus
from waiting import wait_until

APP = "com.example.chat"
UNKNOWN = "ab" * 32


@pytest.fixture(scope="module")
def gateway(up):
    """The addresses of the gateways, at the port that needs no certificate."""
    told = json.loads(run_aldaba(
        "service-account", "gateway", "--json", "--url", up.ready["fcm"], "--data", up.data).stdout)
    plain = up.ready["http"].rstrip("/")
    return {name: told[name].replace(up.ready["fcm"], plain) for name in ("matrix", "mattermost", "rocketChat")}


@pytest.fixture(scope="module")
def script(up):
    made = ScriptApp(up, "chat")
    yield made
    made.stop()


@pytest.fixture
def connection(script):
    with script.connect() as made:
        yield made


def payload(connection, number=20):
    """The payload of the next notification that the app is handed."""
    return json.loads(connection.wait_for_notification(number)["payload"])


# --- Matrix ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def homeserver():
    made = Homeserver()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def people(homeserver):
    return homeserver.person("ada"), homeserver.person("bob")


def test_a_message_of_a_homeserver_reaches_the_app(gateway, people, script, connection):
    ada, bob = people
    room = ada.make_room("Kitchen", bob)
    # Apps of iOS give the token in base64.
    bob.set_pusher(APP, base64.b64encode(bytes.fromhex(script.token)).decode(), gateway["matrix"])
    event = ada.say(room, "Milk – and bread")
    got = payload(connection)
    alert = got["aps"]["alert"]
    assert (alert["title"], alert["subtitle"], alert["body"]) == ("ada", "Kitchen", "Milk – and bread")
    assert (got["event_id"], got["room_id"], got["aps"]["thread-id"], got["aps"]["badge"]) == (event, room, room, 1)
    assert bob.pushers() == [base64.b64encode(bytes.fromhex(script.token)).decode()]


def test_an_app_that_loads_events_itself_gets_their_ids_alone(gateway, people, script, connection):
    ada, bob = people
    room = ada.make_room("Secrets", bob)
    bob.set_pusher(
        APP, script.token, gateway["matrix"], format="event_id_only",
        default_payload={"aps": {"mutable-content": 1, "alert": {"loc-key": "SINGLE_UNREAD"}}})
    event = ada.say(room, "Nobody reads this")
    got = connection.wait(lambda each: each["type"] == "deliver" and event in each["notification"]["payload"], 20)
    assert "Nobody reads this" not in json.dumps(got)
    assert json.loads(got["notification"]["payload"])["aps"]["alert"] == {"loc-key": "SINGLE_UNREAD"}


def test_a_homeserver_forgets_a_device_whose_token_has_ended(up, gateway, people):
    ada, bob = people
    room = ada.make_room("Cellar", bob)
    ended = ScriptApp(up, "chat-ended")
    bob.set_pusher(APP, ended.token, gateway["matrix"])
    assert ended.token in bob.pushers()
    with ended.connect() as connection:
        connection.ask({"type": "unregisterForRemoteNotifications"}, "channel")
    ended.stop()
    ada.say(room, "Is anybody there?")
    wait_until(lambda: ended.token not in bob.pushers(), "the homeserver has removed the pusher")


class BusyAtFirst(BaseHTTPRequestHandler):
    """A proxy before the gateway, which answers the first request with 503."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests += 1
        if self.server.requests == 1:
            self.send_error(503)
            return
        answer = requests.post(self.server.gateway, data=body, timeout=10)
        self.send_response(answer.status_code)
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_):
        pass


def test_a_homeserver_sends_again_what_could_not_be_taken(gateway, people, script, connection):
    ada, bob = people
    room = ada.make_room("Attic", bob)
    with HTTPServer(("127.0.0.1", 0), BusyAtFirst) as proxy:
        proxy.gateway, proxy.requests = gateway["matrix"], 0
        serving = threading.Thread(target=proxy.serve_forever)
        serving.start()
        try:
            bob.set_pusher(
                APP, script.token, f"http://127.0.0.1:{proxy.server_address[1]}/_matrix/push/v1/notify?key=elsewhere")
            event = ada.say(room, "Again")
            connection.wait(lambda each: each["type"] == "deliver" and event in each["notification"]["payload"], 60)
        finally:
            proxy.shutdown()
            serving.join(10)
        assert proxy.requests > 1


@pytest.fixture(scope="module")
def bus():
    made = SessionBus()
    yield made
    made.stop()


@pytest.fixture
def app(up, bus, tmp_path):
    """An app of UnifiedPush that has registered."""
    agent = OwnAgent(up, "chat-unified-push", clean_environment(**bus.environment))
    agent.start()
    bus.wait_for_name(DISTRIBUTOR)
    made = App(bus, tmp_path)
    try:
        yield made.register()
    finally:
        made.stop()
        agent.stop()


def test_an_app_of_unified_push_gets_what_the_homeserver_sends(up, app, people):
    ada, bob = people
    found = requests.get(up.ready["http"] + "/_matrix/push/v1/notify", timeout=10).json()
    assert found == {"unifiedpush": {"gateway": "matrix"}}
    room = ada.make_room("Balcony", bob)
    # The endpoint is the credential: the address has no key.
    bob.set_pusher("org.example.chat", app.endpoint, up.ready["http"] + "/_matrix/push/v1/notify")
    event = ada.say(room, "The sun shines")
    app.wait_for("message")
    told = [json.loads(base64.b64decode(each["message"]))["notification"] for each in app.events("message")]
    assert [each["content"]["body"] for each in told if each.get("event_id") == event] == ["The sun shines"]
    assert [device["pushkey"] for each in told for device in each["devices"]] == [app.endpoint] * len(told)


def notification(*devices, **members):
    """A request as the specification shows it."""
    return {"notification": {
        "event_id": "$3957tyerfgewrf384", "room_id": "!slw48wfj34rtnrf:example.com", "type": "m.room.message",
        "sender": "@exampleuser:matrix.org", "sender_display_name": "Major Tom", "room_name": "Mission Control",
        "prio": "high", "content": {"msgtype": "m.text", "body": "Floating."}, "counts": {"unread": 2, "missed_calls": 1},
        "devices": [{"app_id": APP, "pushkey": each, "pushkey_ts": 12345678, "data": {}, "tweaks": {"sound": "bing"}}
                    for each in devices], **members}}


def test_each_device_of_a_request_has_its_own_outcome(gateway, script, connection):
    answer = requests.post(gateway["matrix"], json=notification(UNKNOWN, script.token, "short"), timeout=10)
    assert (answer.status_code, answer.json()) == (200, {"rejected": [UNKNOWN, "short"]})
    got = payload(connection)
    assert (got["aps"]["badge"], got["aps"]["sound"], got["aps"]["alert"]["title"]) == (3, "bing", "Major Tom")


def test_a_request_that_is_repeated_is_in_the_list_once(gateway, script, connection):
    connection.remove_delivered()
    body = notification(script.token, event_id="$repeated:example.com")
    for _ in range(2):
        assert requests.post(gateway["matrix"], json=body, timeout=10).json() == {"rejected": []}
        payload(connection)
    wait_until(lambda: len(connection.delivered()) == 1, "one notification is in the list")


@pytest.mark.parametrize("body, code, text", [
    ("[]", "M_NOT_JSON", "JSON object"), ("{}", "M_BAD_JSON", "notification"),
    ('{"notification":{"devices":[]}}', "M_BAD_JSON", "notification.devices"),
    ('{"notification":{"devices":[{"app_id":"a"}]}}', "M_BAD_JSON", "notification.devices[0].pushkey"),
    ('{"notification":{"devices":[{"pushkey":"a","data":{"default_payload":{"gcm.message_id":"1"}}}]}}', "M_BAD_JSON",
     "default_payload"),
    ('{"notification":{"counts":{"unread":"many"},"devices":[{"pushkey":"a"}]}}', "M_BAD_JSON", "counts.unread"),
])
def test_a_malformed_request_of_a_homeserver_is_told_its_fault(gateway, body, code, text):
    answer = requests.post(gateway["matrix"], data=body, timeout=10)
    assert (answer.status_code, answer.json()["errcode"]) == (400, code)
    assert text in answer.json()["error"]


# --- Mattermost -----------------------------------------------------------------------------------------------


# No Mattermost server can be run here, so the requests are made by its published description. The names are those of
# `PushNotification` in Mattermost's server/public/model/push_notification.go at commit 00ba58f5, which its server
# encodes; mattermost-push-proxy reads them by its server/push_notification.go, at commit 0c4c9602. The values are those
# that Mattermost's server/channels/app/notification_push.go at commit 000448b3 sets; `sub_type` is that of the plugin
# for calls. The server leaves out members that are marked `omitempty` and are empty, so none of them is empty here.
MATTERMOST = {
    "ack_id", "platform", "server_id", "device_id", "post_id", "category", "sound", "message", "badge", "cont_ava",
    "team_id", "channel_id", "root_id", "channel_name", "type", "sub_type", "sender_id", "sender_name",
    "override_username", "override_icon_url", "from_webhook", "version", "is_crt_enabled", "is_id_loaded", "signature"}


def mattermost(token, **members):
    """What a Mattermost server sends to its push proxy for a message."""
    return {
        "ack_id": "xk1ack", "platform": "apple_rn-v2", "server_id": "7ypftisbyprzbxdcdkm1qh1k4h", "device_id": token,
        "post_id": "post1", "category": "CAN_REPLY", "message": "ada: Milk?", "badge": 4, "team_id": "team1",
        "channel_id": "channel1", "root_id": "root1", "channel_name": "Town Square", "type": "message",
        "sub_type": "calls", "sender_id": "sender1", "sender_name": "ada", "override_username": "Milk bot",
        "override_icon_url": "https://chat.example.org/milk.png", "from_webhook": "true", "version": "v2",
        "is_crt_enabled": True, "is_id_loaded": False, "signature": "a.b.c", **members}


def mattermost_state(token, kind, **members):
    """What it sends when a channel was read (`clear`), or the number of unread messages is another (`update_badge`)."""
    return {
        "ack_id": f"of {kind}", "platform": "apple_rn-v2", "server_id": "7ypftisbyprzbxdcdkm1qh1k4h",
        "device_id": token, "post_id": "", "badge": 3, "cont_ava": 1, "type": kind, "version": "v2",
        "is_crt_enabled": True, "is_id_loaded": False, "signature": "a.b.c", **members}


CLEAR = {"channel_id": "channel1", "root_id": "root1"}
UPDATE_BADGE = {"sound": "none", "is_crt_enabled": False}


def test_the_requests_have_every_member_that_mattermost_publishes():
    assert set(mattermost("")) | set(mattermost_state("", "update_badge", **UPDATE_BADGE)) == MATTERMOST


def test_a_message_of_mattermost_reaches_the_app(gateway, script, connection):
    answer = requests.post(gateway["mattermost"] + "/api/v1/send_push", json=mattermost(script.token), timeout=10)
    assert (answer.status_code, answer.json()) == (200, {"status": "OK"})
    got = payload(connection)
    assert got["aps"] == {
        "alert": {"title": "Town Square", "body": "ada: Milk?"}, "category": "CAN_REPLY", "sound": "default", "badge": 4,
        "thread-id": "channel1"}
    # The app reads the other members by their own names.
    sent = mattermost(script.token)
    others = set(sent) - {"platform", "device_id", "category", "message", "badge", "is_crt_enabled", "is_id_loaded"}
    assert {name: got.get(name) for name in others} == {name: sent[name] for name in others}


@pytest.mark.parametrize("kind, members, thread", [
    ("clear", CLEAR, {"thread-id": "channel1"}), ("update_badge", UPDATE_BADGE, {})])
def test_a_channel_that_was_read_changes_the_badge_alone(gateway, script, connection, kind, members, thread):
    body = mattermost_state(script.token, kind, **members)
    assert requests.post(gateway["mattermost"] + "/api/v1/send_push", json=body, timeout=10).json() == {"status": "OK"}
    got = payload(connection)
    assert got["aps"] == {"content-available": 1, "badge": 3, **thread}
    assert got["type"] == kind


def test_a_badge_of_0_is_left_out_by_mattermost_and_clears_the_badge(gateway, script, connection):
    body = mattermost_state(script.token, "clear", **CLEAR)
    del body["badge"]
    assert requests.post(gateway["mattermost"] + "/api/v1/send_push", json=body, timeout=10).json() == {"status": "OK"}
    assert payload(connection)["aps"] == {"content-available": 1, "badge": 0, "thread-id": "channel1"}


@pytest.mark.parametrize("members, status, answer", [
    ({"device_id": UNKNOWN}, 200, {"status": "REMOVE"}), ({"device_id": "x"}, 200, {"status": "REMOVE"}),
    ({"device_id": ""}, 400, {"status": "FAIL", "error": "device_id: is missing"}),
    ({"badge": "4x"}, 400, {"status": "FAIL", "error": "badge: must be a whole number of 32 bits, not a string"}),
])
def test_mattermost_is_told_what_became_of_a_push(gateway, members, status, answer):
    got = requests.post(gateway["mattermost"] + "/api/v1/send_push", json=mattermost(UNKNOWN, **members), timeout=10)
    assert (got.status_code, got.json()) == (status, answer)


def test_mattermost_finds_the_version_and_the_acknowledgement(gateway):
    version = run_aldaba("--version").stdout.split()[1]
    assert requests.get(gateway["mattermost"] + "/version", timeout=10).json() == {"version": version}
    answer = requests.post(gateway["mattermost"] + "/api/v1/ack", json={"id": "xk1ack", "received_at": 1}, timeout=10)
    assert answer.json() == {"status": "OK"}


# --- Rocket.Chat ----------------------------------------------------------------------------------------------


# No workspace of Rocket.Chat can be run here, so the requests are made by its published description; the files are in
# its apps/meteor/app. The members of `options` are those that push/server/push.ts at commit 04f8eb1f (8.2.0-develop)
# sends to a gateway: `send` picks them, `sendGatewayPush` adds `uniqueId`, and `sendNotificationGateway` adds `topic`
# for Apple's service and takes `priority` away. Their values are those of
# push-notifications/server/lib/PushNotification.ts at commit 1398fc20. The members of `payload` that are not there are
# those of `getPushData` in lib/server/functions/notifications/mobile.js at commit 1ac2768b. `apn.text`, the text for
# iOS, is of earlier versions: push/server/push.js at commit 06312be5 picks it.
ROCKET_CHAT = {
    "createdAt", "createdBy", "sent", "sending", "title", "text", "from", "userId", "payload", "badge", "sound",
    "notId", "apn", "gcm", "uniqueId"}


def rocket_chat(token, service="apn", **options):
    """What a Rocket.Chat workspace sends to its gateway for a message."""
    return {"token": token, "options": {
        "createdAt": "2026-11-30T10:00:00.000Z", "createdBy": "<SERVER>", "sent": False, "sending": 0, "from": "push",
        "title": "#kitchen", "text": "ada: Milk?", "userId": "u1", "badge": 2, "sound": "default", "notId": 7,
        "payload": {
            "host": "https://chat.example.org/", "messageId": "m1", "notificationType": "message", "rid": "room1",
            "sender": {"_id": "u2", "username": "ada", "name": "Ada"}, "senderName": "ada", "type": "c",
            "name": "kitchen", "messageType": "e2e", "tmid": "m0", "msg": "U2FsdGVk"},
        "apn": {"category": "MESSAGE"},
        "gcm": {"style": "inbox", "image": "https://chat.example.org/assets/favicon_192.png"},
        **({"topic": "chat.example.app"} if service == "apn" else {}), "uniqueId": "unique1", **options}}


def test_the_requests_have_every_member_that_rocket_chat_publishes():
    assert set(rocket_chat("", "gcm")["options"]) == ROCKET_CHAT
    assert set(rocket_chat("", "apn")["options"]) == ROCKET_CHAT | {"topic"}


@pytest.mark.parametrize("service", ["apn", "gcm"])
def test_a_message_of_rocket_chat_reaches_the_app(gateway, script, connection, service):
    body = rocket_chat(script.token, service)
    body["options"]["payload"]["messageId"] = f"of {service}"
    answer = requests.post(f"{gateway['rocketChat']}/push/{service}/send", json=body, timeout=10)
    assert (answer.status_code, answer.json()) == (200, {"success": True})
    got = payload(connection)
    assert got["aps"] == {
        "alert": {"title": "#kitchen", "body": "ada: Milk?"}, "badge": 2, "sound": "default", "category": "MESSAGE",
        "thread-id": "room1"}
    assert (json.loads(got["ejson"]), got["messageFrom"]) == (body["options"]["payload"], "push")


def test_a_message_of_an_earlier_rocket_chat_has_a_text_of_its_own_for_ios(gateway, script, connection):
    body = rocket_chat(script.token, text="Milk?", apn={"category": "MESSAGE", "text": "ada:\nMilk?"})
    assert requests.post(f"{gateway['rocketChat']}/push/apn/send", json=body, timeout=10).json() == {"success": True}
    assert payload(connection)["aps"]["alert"] == {"title": "#kitchen", "body": "ada:\nMilk?"}


def test_an_app_that_loads_messages_of_rocket_chat_itself_gets_their_ids_alone(gateway, script, connection):
    """With the setting `Push_request_content_from_server` the payload names no room."""
    facts = {"host": "https://chat.example.org/", "messageId": "m2", "notificationType": "message-id-only"}
    body = rocket_chat(script.token, title="", text="You have a new message", payload=facts)
    assert requests.post(f"{gateway['rocketChat']}/push/apn/send", json=body, timeout=10).json() == {"success": True}
    got = payload(connection)
    assert got["aps"] == {
        "alert": {"body": "You have a new message"}, "badge": 2, "sound": "default", "category": "MESSAGE"}
    assert json.loads(got["ejson"]) == facts


@pytest.mark.parametrize("body, status", [
    (rocket_chat(UNKNOWN), 406), (rocket_chat("x"), 406), ({"options": {}}, 422), ({"token": UNKNOWN}, 422), ([], 422),
    (rocket_chat(UNKNOWN, title=5), 422),
])
def test_rocket_chat_is_told_by_the_status_what_to_do(gateway, body, status):
    got = requests.post(gateway["rocketChat"] + "/push/apn/send", json=body, timeout=10)
    assert (got.status_code, got.json()["success"]) == (status, False)
    assert got.json()["error"]


# --- keys -----------------------------------------------------------------------------------------------------


def test_the_version_is_for_holders_of_a_key(up):
    assert requests.get(up.ready["http"] + "/gateway/a.b/version", timeout=10).status_code == 401


@pytest.mark.parametrize("path", [
    "/_matrix/push/v1/notify", "/_matrix/push/v1/notify?key=", "/_matrix/push/v1/notify?key=a.b",
    "/gateway/a.b/api/v1/send_push", "/gateway/a.b/api/v1/ack", "/gateway/a.b/push/apn/send",
])
def test_an_address_without_a_valid_key_sends_nothing(up, path):
    answer = requests.post(up.ready["http"] + path, json=notification(UNKNOWN), timeout=10)
    assert answer.status_code == 401
    assert "aldaba service-account gateway" in answer.text


def test_a_key_of_the_legacy_interface_is_no_key_of_a_gateway(up):
    key = run_aldaba("service-account", "server-key", "--data", up.data).stdout.strip()
    for text in (key, key.replace(":", ".")):
        answer = requests.post(
            f"{up.ready['http']}/gateway/{text}/push/apn/send", json=rocket_chat(UNKNOWN), timeout=10)
        assert answer.status_code == 401


def test_a_key_ends_with_its_service_account_and_reaches_the_own_team_alone(up, gateway, script):
    run_aldaba("team", "create", "Others", "--id", "OTHER12345", "--data", up.data)
    made = json.loads(run_aldaba(
        "service-account", "create", "--team", "OTHER12345", "--json", "--data", up.data).stdout)
    told = json.loads(run_aldaba(
        "service-account", "gateway", made["keyId"], "--json", "--url", up.ready["http"], "--data", up.data).stdout)
    send = told["rocketChat"] + "/push/apn/send"
    assert requests.post(send, json=rocket_chat(script.token), timeout=10).status_code == 406
    run_aldaba("service-account", "revoke", made["keyId"], "--data", up.data)
    wait_until(
        lambda: requests.post(send, json=rocket_chat(script.token), timeout=10).status_code == 401,
        "the key is refused")


def test_no_log_has_a_key(up, gateway):
    key = gateway["mattermost"].rsplit("/", 1)[1]
    assert len(key) > 40
    assert requests.get(f"{gateway['mattermost']}x/version", timeout=10).status_code == 401
    logs = [file.read_text(errors="replace") for file in up.data.rglob("*.log")] + [up.log_tail()]
    assert any(logs) and not any(key in log for log in logs)
    control = ControlClient(up.ready["http"])
    assert key.encode() not in control.request("GET", "/v1/audit")[1]
    control.close()


def test_the_page_prints_the_addresses_as_the_command_does(up):
    shown = next(text for text in blocks("chat-gateways.md", "text") if "Rocket.Chat:" in text)
    printed = run_aldaba("service-account", "gateway", "--data", up.data).stdout
    assert [line.split()[0] for line in shown.splitlines()] == [line.split()[0] for line in printed.splitlines()]
