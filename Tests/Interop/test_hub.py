"""Clients of Azure Notification Hubs, unchanged but for the connection string, against the hub."""

import json
import sqlite3
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

import httpx
import pytest
from azure_notification_hub.auth import create_sas_token
from azure_notification_hub.client import AzureNHError, create_browser_installation
from azure_notification_hub.notifications import (
    create_apple_body, create_apple_notification, create_browser_notification, create_template_notification,
)

from aldaba_process import AldabaUp, run_aldaba
from control_client import ControlClient
from hub_clients import Hub, OwnHub, RawAzure, apple, backend
from waiting import kill, wait_for_lines, wait_until


@pytest.fixture
def hub(path, monkeypatch):
    made = Hub(path, monkeypatch)
    yield made
    made.close()


def installation(path, **more):
    return {"installationId": "demo", "platform": "apns", "pushChannel": path["deviceToken"]} | more


def shown(path, count):
    """Waits until the demo app was handed so many notifications."""
    return wait_for_lines(path["appLog"], lambda lines: len(lines) >= count, "the app is handed it")


def handed(path):
    try:
        with open(path["appLog"]) as log:
            return len(log.read().split())
    except FileNotFoundError:
        return 0


def test_one_client_puts_an_installation_and_sends_to_an_expression(path, hub):
    before = handed(path)
    assert hub.full.create_or_update_installation(installation(path, tags=["de", "beta"])) == {}
    kept = hub.full.get_installation("demo")
    assert (kept["tags"], kept["pushChannelExpired"]) == (["de", "beta"], False)
    sent = hub.full.send_notification(
        create_apple_notification(create_apple_body(alert="Milk")), tag_expression="(de || fr) && !gone")
    told = hub.wait_for_state(sent["notificationId"], "Completed")
    assert "<ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>1</Count>" in told
    assert "<TargetPlatforms>apple</TargetPlatforms>" in told
    shown(path, before + 1)
    nobody = hub.full.send_notification(create_apple_notification(apple("Bread")), tag_expression="fr && beta")
    hub.wait_for_state(nobody["notificationId"], "NoTargetFound")


def test_the_other_client_sends(path, hub):
    hub.full.create_or_update_installation(installation(path, tags=["de"]))
    before = handed(path)
    assert hub.sender.send_apple_notification(False, {"aps": {"alert": "Milk"}}, tags={"de", "at"})[0] == 201
    shown(path, before + 1)
    status, _ = hub.sender.send_apple_notification(
        True, {"aps": {"alert": "Bread"}}, device_handle=path["deviceToken"])
    assert status == 201
    shown(path, before + 2)


def test_a_template_is_filled_in_on_the_server(path, hub):
    body = '{"aps":{"alert":{"title":"$(title)","body":"{\'Buy \' + $(what)}"}},"todo":"$(what)"}'
    hub.full.create_or_update_installation(
        installation(path, templates={"buy": {"body": body}}, pushVariables={"title": "Shopping"}))
    before = handed(path)
    sent = hub.full.send_notification(
        create_template_notification({"what": 'a "quoted" thing', "title": "x"}), tag_expression="buy")
    assert "<Count>1</Count>" in hub.wait_for_state(sent["notificationId"], "Completed")
    shown(path, before + 1)


def test_a_wrong_key_is_refused_with_azures_words(path, monkeypatch):
    wrong = path["hub"].rsplit("=", 2)[0] + "=bm90IHRoZSBrZXk="
    other = Hub(path, monkeypatch, connection=wrong)
    with pytest.raises(AzureNHError) as refusal:
        other.full.get_installation("demo")
    assert refusal.value.status_code == 401
    assert "<Code>401</Code><Detail>InvalidSignature" in refusal.value.body
    other.close()


def test_telemetry_of_a_dead_channel_and_of_a_test_send(path, hub, control):
    device = control.enrol()
    token = control.token(device, path["topic"], path["teamId"])
    hub.full.create_or_update_installation(
        {"installationId": "gone", "platform": "apns", "pushChannel": token, "tags": ["gone"]})
    control.register(device, path["topic"], path["teamId"], delete=True)
    told = hub.full.send_notification(create_apple_notification(apple("x")), tag_expression="gone", test_send=True)
    assert "<Success>0</Success><Failure>1</Failure>" in told["_raw_xml"]
    assert "<RegistrationId>gone</RegistrationId><Outcome>ExpiredChannel</Outcome>" in told["_raw_xml"]
    assert hub.full.get_installation("gone")["pushChannelExpired"] is True
    _, listed = OwnHub(path, control).ask("GET", "/installations?state=dead")
    assert [each["installationId"] for each in listed["installations"]] == ["gone"]
    assert listed["installations"][0]["fault"]["word"] == "ExpiredChannel"
    hub.full.delete_installation("gone")
    with pytest.raises(AzureNHError) as missing:
        hub.full.get_installation("gone")
    assert missing.value.status_code == 404


def test_a_patch_changes_tags(path, hub):
    hub.full.create_or_update_installation(installation(path, tags=["a"]))
    hub.full.update_installation("demo", [
        {"op": "add", "path": "/tags", "value": "b"}, {"op": "remove", "path": "/tags/a"},
        {"op": "add", "path": "/userId", "value": "anna"}])
    kept = hub.full.get_installation("demo")
    assert (kept["tags"], kept["userId"]) == (["b"], "anna")


def test_both_clients_schedule_and_one_cancels(path, hub):
    hub.full.create_or_update_installation(installation(path, tags=["later"]))
    before = handed(path)
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    sent = hub.full.schedule_notification(later, create_apple_notification(apple("x")), tag_expression="later")
    assert sent["state"] == "Scheduled"
    assert "<State>Scheduled</State>" in hub.details(sent["notificationId"])
    hub.full.cancel_scheduled_notification(sent["notificationId"])
    assert "<State>Canceled</State>" in hub.details(sent["notificationId"])
    status, _ = hub.sender.send_apple_notification(
        False, {"aps": {"alert": "Now"}}, tags="later", scheduled_time=datetime.now(timezone.utc))
    assert status == 201, "an instant with quotation marks round its T is read"
    shown(path, before + 1)


@pytest.fixture
def own_up(request):
    """A run of the test's own, whose server it may kill."""
    running = AldabaUp.ephemeral(name=request.node.name)
    yield running
    if running.process.poll() is None:
        running.stop()
    running.drop_logs()


def test_a_scheduled_send_survives_a_kill_and_comes_once(own_up):
    up = own_up
    with pytest.MonkeyPatch.context() as patch:
        hub = Hub(up.ready, patch)
        hub.full.create_or_update_installation(installation(up.ready))
        sent = hub.full.schedule_notification(
            datetime.now(timezone.utc) + timedelta(seconds=2), create_apple_notification(apple("Milk")))
        pid = up.pids()["serve"]
        kill(pid)
        up.wait_for_new_pid("serve", pid)
        wait_until(lambda: answered(hub, sent["notificationId"]), "the server is back")
        hub.wait_for_state(sent["notificationId"], "Completed")
        shown(up.ready, 1)
        assert handed(up.ready) == 1
        hub.close()


def answered(hub, notification):
    try:
        return hub.details(notification)
    except httpx.TransportError:
        return None


def test_the_tutorials_backend(path, control):
    key = run_aldaba("hub", "key", "create", path["hubName"], "phones", "--backend", "--data", path["data"]).stdout.strip()
    document = installation(path, tags=["action_a"])
    assert backend(control, key, "PUT", "installations", document) == (200, b"")
    before = handed(path)
    tags = [f"t{number}" for number in range(25)] + ["action_a"]
    request = {"text": 'Say "hello"', "action": "action_a", "tags": tags}
    assert backend(control, key, "POST", "requests", request) == (200, b"")
    shown(path, before + 1)
    assert backend(control, key, "POST", "requests", {"text": "Text alone"}) == (200, b"")
    shown(path, before + 2)
    assert backend(control, key, "POST", "requests", {"action": "action_b", "silent": True}) == (200, b"")
    shown(path, before + 3)
    refused = [
        ("wrong", "POST", "requests", {"text": "x"}, 401), (key, "POST", "requests", {"text": " "}, 400),
        (key, "POST", "requests", {"text": "x", "silent": True}, 400),
        (key, "POST", "requests", {"text": "x", "tags": ["a b"]}, 422),
        (key, "PUT", "installations", {"installationId": "x"}, 400),
        (key, "PUT", "installations", document | {"platform": "moon"}, 422),
    ]
    for key_of_caller, method, rest, sent, status in refused:
        assert backend(control, key_of_caller, method, rest, sent)[0] == status, sent
    assert backend(control, key, "DELETE", "installations/demo") == (200, b"")
    run_aldaba("hub", "key", "revoke", path["hubName"], "phones", "--data", path["data"])
    assert backend(control, key, "DELETE", "installations/demo")[0] == 401


def test_the_backends_key_may_stand_in_the_address(path, control):
    key = run_aldaba("hub", "key", "create", path["hubName"], "query", "--backend", "--data", path["data"]).stdout.strip()

    def put(query):
        return control.request(
            "PUT", f"/api/notifications/installations{query}", json.dumps(installation(path)),
            {"content-type": "application/json"})[0]

    assert put(f"?apikey={key}") == put(f"?apikey={quote(key, safe='')}") == 200
    assert [put(query) for query in ("", "?apikey=", "?apikey=wrong", f"?other={key}")] == [401] * 4
    run_aldaba("hub", "key", "revoke", path["hubName"], "query", "--data", path["data"])
    assert put(f"?apikey={key}") == 401


def test_the_address_of_feedback_is_told_as_each_client_reads_it(path, hub, control):
    rest = f"/v1/hubs/{path['hubName']}/installations?state=dead"
    secured = path["hub"].split("Endpoint=sb:")[1].split("/;")[0]
    assert hub.full.get_feedback_container_url() == f"https:{secured}{rest}"
    assert RawAzure(path).ask("GET", "feedbackcontainer").text == path["http"] + rest


def test_a_campaign_in_the_recipients_language_and_its_report(path, control):
    own = OwnHub(path, control)
    status, made = own.ask("PUT", "/installations/demo", {
        "platform": "aldaba", "pushChannel": path["deviceToken"], "locale": "de-AT", "appVersion": "2.1"})
    assert status in (200, 201) and made["state"] == "live"
    before = handed(path)
    campaign = {
        "name": "spring", "audience": "$Locale:{de} && $AppVersion:{>=2}",
        "content": {"title": "Hello", "body": "x", "locales": {"de": {"title": "Servus"}}}}
    named = {"Idempotency-Key": "spring-1"}
    status, begun = own.ask("POST", "/campaigns", campaign, named)
    assert status == 201
    assert own.ask("POST", "/campaigns", campaign, named)[1]["id"] == begun["id"]
    assert own.ask("POST", "/campaigns", campaign | {"audience": "other"}, named)[0] == 409
    told = own.wait_for_campaign(begun["id"], "Completed")
    assert told["outcomes"] == [{"platform": "aldaba", "outcome": "Success", "count": 1}]
    shown(path, before + 1)

    def presented():
        report = own.ask("GET", f"/campaigns/{begun['id']}/report")[1]
        return report["ends"].get("presented") == 1 and report

    report = wait_until(presented, "the report says that it was presented")
    assert {each["step"]: each["count"] for each in report["funnel"]} == {
        "targeted": 1, "eligible": 1, "attempted": 1, "accepted": 1, "delivered": 1, "presented": 1, "opened": 0,
        "action": 0, "dismissed": 0, "expired": 0}
    assert sum(report["ends"].values()) == 1
    assert own.ask("POST", f"/campaigns/{begun['id']}/withdraw")[1] == {"withdrawn": 1}


def test_refusals_of_the_own_api_say_where(path, control):
    own = OwnHub(path, control)
    status, problem = own.ask("POST", "/campaigns", {"content": {"title": 7}})
    assert (status, problem["pointer"]) == (400, "/content/title")
    status, problem = own.ask("GET", "/installations?expression=a%20b")
    assert (status, problem["code"]) == (400, "invalidExpression")
    assert "character 3" in problem["detail"]
    assert own.ask("GET", "/installations/nobody")[0] == 404
    made = {"platform": "apns", "pushChannel": "ab"}
    status, problem = own.ask("PUT", "/installations/etag", made | {"expirationTime": "2020-01-01T00:00:00Z"})
    assert (status, problem["pointer"]) == (400, "/expirationTime")
    assert own.ask("GET", "/installations/etag")[0] == 404
    assert own.ask("PUT", "/installations/etag", made, {"If-None-Match": "*"})[0] == 201
    assert own.ask("PUT", "/installations/etag", made, {"If-None-Match": "*"})[0] == 412
    assert own.ask("DELETE", "/installations/etag", headers={"If-Match": '"7"'})[0] == 412
    assert own.ask("DELETE", "/installations/etag", headers={"If-Match": '"1"'})[0] == 204
    for member, value in (("ttl", -1), ("priority", 7), ("collapseId", "x" * 65)):
        assert own.ask("POST", "/campaigns", {"content": {"body": "x"}, member: value})[1]["pointer"] == f"/{member}"
    silent = {"silent": True, "data": {"k": "v"}}
    for content, pointer in (
            ({"silent": "true", "title": "Hello"}, "/content/silent"), (silent | {"title": "Hello"}, "/content/title"),
            (silent | {"sound": "ping"}, "/content/sound"), ({"body": "x", "locales": ["de"]}, "/content/locales")):
        status, problem = own.ask("POST", "/campaigns", {"content": content})
        assert (status, problem["pointer"]) == (400, pointer)
    shares = [{"name": "a", "share": 50, "content": silent}, {"name": "b", "share": 50, "content": silent | {"badge": 1}}]
    _, problem = own.ask("POST", "/campaigns", {"experiment": {"holdOut": 0, "variants": shares}})
    assert problem["pointer"] == "/experiment/variants/1/content/badge"
    shares[1]["content"] = silent
    _, problem = own.ask("POST", "/campaigns", {
        "content": {"body": "x"}, "experiment": {"holdOut": 0, "variants": shares}})
    assert problem["pointer"] == "/content"
    for rest in ("/installations?usr=anna", "/campaigns?audience=de", "/sends?status=Scheduled"):
        status, problem = own.ask("GET", rest)
        assert status == 400 and "there is no such parameter" in problem["detail"], rest
    too_large = {"content": {"body": "x" * 5000}}
    assert "at most are taken" in own.ask("POST", "/campaigns", too_large)[1]["detail"]


def test_a_hub_of_ones_own(path, monkeypatch, control):
    made = json.loads(run_aldaba("hub", "create", "second", "--json", "--data", path["data"]).stdout)
    hub = Hub(path, monkeypatch, connection=made["full"], name="second")
    hub.full.create_or_update_installation(installation(path, tags=["x"]))
    listen = Hub(path, monkeypatch, connection=made["listen"], name="second")
    assert listen.full.get_installation("demo")["tags"] == ["x"]
    with pytest.raises(AzureNHError) as refusal:
        listen.full.send_notification(create_apple_notification(apple("x")))
    assert (refusal.value.status_code, refusal.value.body) == (403, "")
    listed = run_aldaba("hub", "installation", "list", "second", "--data", path["data"]).stdout
    assert listed == "demo  apns  live  x\n"
    assert "already" in run_aldaba("hub", "create", "second", "--data", path["data"], check=False).stderr
    assert "address" in run_aldaba("hub", "create", "v1", "--data", path["data"], check=False).stderr
    hub.close()
    listen.close()


def test_registrations_in_atom(path, hub, control):
    def ask(*words):
        return raw(path, control, *words)

    for each in hub.full.list_registrations():
        hub.full.delete_registration(each["RegistrationId"])
    entry = ENTRY.format(token=path["deviceToken"])
    status, made = ask("POST", "registrations?api-version=2020-06", entry)
    assert status == 200
    other = entry.replace("AppleRegistration", "AppleTemplateRegistration").replace(
        "</DeviceToken>", "</DeviceToken><BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(what)\"}}]]></BodyTemplate>"
        "<TemplateName>short</TemplateName>")
    assert ask("PUT", "registrations/template-1", other)[0] == 200
    listed = hub.full.list_registrations()
    assert [each["Tags"] for each in listed] == [["red", "blue"], ["red", "blue"]]
    first = listed[0]["RegistrationId"]
    assert hub.full.get_registration(first)["DeviceToken"] == path["deviceToken"]
    assert hub.full.get_registration("template-1")["TemplateName"] == "short"
    status, found = ask("GET", f"registrations?$filter=ChannelUri+eq+'{path['deviceToken']}'")
    assert (status, found.count(b"<entry")) == (200, 2)
    assert ask("GET", "tags/blue/registrations?$top=1")[1].count(b"<entry") == 1
    before = handed(path)
    native = hub.full.send_notification(create_apple_notification(apple("x")), tag_expression="red")
    assert "<Count>1</Count>" in hub.wait_for_state(native["notificationId"], "Completed")
    template = hub.full.send_notification(create_template_notification({"what": "y"}), tag_expression="short && red")
    assert "<Count>1</Count>" in hub.wait_for_state(template["notificationId"], "Completed")
    shown(path, before + 2)
    assert ask("PUT", "registrations/template-1", other, {"If-Match": 'W/"9"'})[0] == 412
    assert ask("PUT", "registrations/template-1", other, {"If-Match": '"1"'})[0] == 200
    assert ask("DELETE", "registrations/template-1", None, {"If-Match": 'W/"1"'})[0] == 412
    assert ask("DELETE", "registrations/template-1", None, {"If-Match": 'W/"2"'})[0] == 200
    assert ask("PUT", "registrations/template-1", other)[0] == 200
    for registration in (first, "template-1"):
        hub.full.delete_registration(registration)
    with pytest.raises(AzureNHError):
        hub.full.get_registration(first)
    assert ask("POST", "registrationids?api-version=2020-06")[0] == 201
    assert ask("POST", "registrations", "<!DOCTYPE x><entry/>")[0] == 400


def raw(path, control, method, rest, body=None, headers=None):
    """One request as a client of one's own would sign it; returns (status, body)."""
    token = create_sas_token(FULL, path["hub"].split("SharedAccessKey=")[1], path["http"] + "/")
    return control.request(method, f"/{path['hubName']}/{rest}", body, {"authorization": token} | (headers or {}))


FULL = "DefaultFullSharedAccessSignature"
ENTRY = """<?xml version="1.0" encoding="utf-8"?>
<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
<AppleRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance"
 xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">
<Tags>red, blue</Tags><DeviceToken>{token}</DeviceToken></AppleRegistrationDescription></content></entry>"""


def test_a_send_that_a_kill_cuts_in_two_reaches_everyone_once(own_up, tmp_path):
    count, up = 1500, own_up
    tokens = tmp_path / "tokens"
    run_aldaba("device", "simulate", count, "--offline", "--tokens", tokens, "--data", up.data, seconds=60)
    control = ControlClient(up.ready["http"])
    own = OwnHub(up.ready, control)
    for number, token in enumerate(tokens.read_text().split()):
        document = {"platform": "aldaba", "pushChannel": token, "tags": ["all"]}
        assert own.ask("PUT", f"/installations/i{number}", document)[0] == 201
    # At a rate it goes in slices.
    paced = {"audience": "all", "content": {"body": "x"}, "rate": 100_000}
    begun = own.ask("POST", "/campaigns", paced)[1]
    pid = up.pids()["serve"]
    wait_until(lambda: own.ask("GET", f"/campaigns/{begun['id']}")[1]["outcomes"], "the first slice is handed over")
    kill(pid)
    up.wait_for_new_pid("serve", pid)
    wait_until(lambda: alive(control), "the server is back")
    told = own.wait_for_campaign(begun["id"], "Completed")
    assert told["outcomes"] == [{"platform": "aldaba", "outcome": "Success", "count": count}]
    report = own.ask("GET", f"/campaigns/{begun['id']}/report")[1]
    assert report["ends"] == {"waiting": count}
    control.close()
    if not (up.data / "server.sqlite").exists():
        return  # The notifications of this run are in PostgreSQL.
    with sqlite3.connect(f"file:{up.data}/server.sqlite?mode=ro", uri=True) as database:
        [accepted, devices] = database.execute("SELECT COUNT(*), COUNT(DISTINCT device) FROM message").fetchone()
    assert (accepted, devices) == (count, count), "each device has it once"


def alive(control):
    try:
        return control.request("GET", "/health")[0] == 200
    except OSError:
        return False


def test_a_batch_of_channels_and_its_telemetry_as_json(path, hub, control):
    before = handed(path)
    body = (
        "--nh-boundary\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n"
        + apple("Batch") + "\r\n--nh-boundary\r\nContent-Disposition: inline; name=devices\r\n\r\n"
        + json.dumps([path["deviceToken"], "no token"]) + "\r\n--nh-boundary--")
    status, answer = raw(path, control, "POST", "messages/$batch?direct&api-version=2020-06", body, {
        "content-type": 'multipart/mixed; boundary = "nh-boundary"', "ServiceBusNotification-Format": "apple"})
    assert status == 201, answer
    sent = json.loads(answer)["notificationId"]
    hub.wait_for_state(sent, "Completed")
    status, answer = raw(path, control, "GET", f"messages/{sent}", None, {"accept": "application/json"})
    assert (status, json.loads(answer)["apnsOutcomeCounts"]) == (200, {"Success": 1, "BadChannel": 1})
    shown(path, before + 1)


# The keys of a subscription (RFC 8291, section 5).
POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"


def test_a_browser_is_kept_and_told_that_nobody_sends_to_it(path, hub):
    browser = create_browser_installation(
        "my-browser", {"endpoint": "https://push.example/1", "p256dh": POINT, "auth": AUTH}, tags=["web"])
    hub.full.create_or_update_installation(browser)
    assert hub.full.get_installation("my-browser")["pushChannel"] == browser["pushChannel"]
    sent = hub.full.send_notification(create_browser_notification({"title": "x"}), tag_expression="web")
    told = hub.wait_for_state(sent["notificationId"], "Completed")
    assert "<BrowserOutcomeCounts><Outcome><Name>InvalidCredentials</Name><Count>1</Count>" in told
    hub.full.delete_installation("my-browser")


@pytest.mark.parametrize("headers, body, word", [
    ({}, "{}", "ServiceBusNotification-Format is missing"),
    ({"ServiceBusNotification-Format": "moon"}, "{}", 'there is no "moon"'),
    ({"ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "a b"}, "{}", "character 3"),
    ({"ServiceBusNotification-Format": "apple", "apns-priority": "7"}, "{}", "is not 10, 5 or 1"),
    ({"ServiceBusNotification-Format": "template"}, '{"a":1}', "a property is a string"),
    ({"ServiceBusNotification-Format": "template"}, "[", "the body is no JSON"),
])
def test_a_wrong_send_is_told_what_would_be_right(path, control, headers, body, word):
    status, answer = raw(path, control, "POST", "messages/?api-version=2015-04", body, headers)
    assert status == 400 and b"<Code>400</Code>" in answer and b"TrackingId:" in answer
    assert word in answer.decode().replace("&quot;", '"')


def test_a_body_that_is_too_large_is_413(path, control):
    status, answer = raw(path, control, "POST", "messages", "x" * 70_000, {"ServiceBusNotification-Format": "apple"})
    assert status == 413 and b"<Code>413</Code>" in answer
