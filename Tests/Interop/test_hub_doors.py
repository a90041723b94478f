"""What the hub refuses when it comes in: values that would reach the wrong people, or fail without a word later."""

import http.client
import json
from datetime import datetime, timedelta, timezone
from urllib.parse import urlsplit

import pytest

from aldaba_process import run_aldaba
from hub_clients import OwnHub, RawAzure, backend
from waiting import wait_until

POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"


@pytest.fixture
def own(path, control, request):
    """A hub of the test's own."""
    name = request.node.originalname.replace("_", "-")[:60]
    run_aldaba("hub", "create", name, "--data", path["data"], check=False)
    return OwnHub(path | {"hubName": name}, control)


def put(own, name, **more):
    status, told = own.ask(
        "PUT", f"/installations/{name}", {"platform": "aldaba", "pushChannel": f"channel of {name}"} | more)
    assert status in (200, 201), told


def refused(own, method, rest, document, pointer, word=""):
    status, problem = own.ask(method, rest, document)
    assert (status, problem.get("pointer")) == (400, pointer), (document, problem)
    assert word in problem["detail"], problem


def instant(**away):
    return (datetime.now(timezone.utc) + timedelta(**away)).isoformat(timespec="seconds")


@pytest.mark.parametrize("document, place", [
    ({"tags": "nobody-has-this"}, "/tags"), ({"tags": 5}, "/tags"), ({"tags": {"a": 1}}, "/tags"),
    ({"tags": [7]}, "/tags/0"), ({"silent": "no"}, "/silent"), ({"action": 5}, "/action"), ({"text": 5}, "/text"),
    ({"text": "x" * 5000}, "/text: the payload would have"), ({"silent": True, "action": "x" * 5000}, "4096 at most")])
def test_the_tutorials_backend_sends_to_nobody_else(path, own, control, document, place):
    hub = own.ask("GET")[1]["name"]
    run_aldaba("hub", "key", "revoke", hub, "phones", "--data", path["data"], check=False)
    key = run_aldaba("hub", "key", "create", hub, "phones", "--backend", "--data", path["data"]).stdout.strip()
    before = own.ask("GET", "/sends")[1]
    status, answer = backend(control, key, "POST", "requests", {"text": "x"} | document)
    assert status == 422 and place in answer.decode(), answer
    assert own.ask("GET", "/sends")[1] == before
    assert backend(control, key, "POST", "requests", {"text": "x", "tags": None, "silent": None}) == (200, b"")


def test_an_audience_is_said(own, path, control):
    put(own, "one", tags=["a"])
    for document, pointer in (
            ({"expr": "a"}, "/expr"), ({"expression": 3}, "/expression"), ({}, "/expression"), ([], None)):
        refused(own, "POST", "/audience", document, pointer)
    assert own.ask("POST", "/audience", {"expression": ""})[1]["count"] == 1
    put(own, "templated", tags=["a"], templates={"storm": {"body": "{\"aps\":{\"alert\":\"$(t)\"}}"}})
    told = own.ask("POST", "/audience", {"expression": "storm"})[1]
    assert (told["count"], told["contents"], told["templates"]) == (0, 0, 1)
    described = json.loads(control.request("GET", "/v1/openapi.json")[1])
    assert described["components"]["schemas"]["Expression"]["required"] == ["expression"]


def test_a_preview_says_why_a_campaign_does_not_come(own):
    put(own, "in", tags=["a"])
    put(own, "out", tags=["b"])
    put(own, "windows", platform="wns", tags=["a"])
    assert own.ask("PUT", "/installations/nowhere", {"platform": "aldaba", "tags": ["a"]})[0] == 201

    def preview(name, **more):
        document = {"installationId": name, "audience": "a", "content": {"title": "x"}} | more
        status, told = own.ask("POST", "/campaigns/preview", document)
        assert status == 200, told
        return "comesAt" in told, told.get("leftOut")

    assert preview("in") == (True, None)
    assert preview("out") == (False, "notInAudience")
    assert preview("windows") == (False, "otherPlatform")
    assert preview("nowhere") == (False, "deadChannel")
    assert preview("in", content=None, properties={}) == (False, "noTemplate")
    cap = {"most": 1, "hours": 24}
    assert preview("in", cap=cap) == (True, None)
    campaign = own.ask("POST", "/campaigns", {"audience": "a", "content": {"title": "x"}, "at": instant(hours=1)})[1]
    own.ask("POST", f"/campaigns/{campaign['id']}/cancel")
    assert preview("in", cap=cap) == (True, None)
    status, problem = own.ask("POST", "/campaigns/preview", {
        "installationId": "in", "audience": "((", "content": {"title": "x"}})
    assert (status, problem["code"]) == (400, "invalidExpression")


def test_a_vapid_key_is_replaced_where_that_is_said(own, path):
    hub = own.ask("GET")[1]["name"]

    def add(*more, subject="mailto:a@example.com"):
        return run_aldaba(
            "hub", "credential", "add", hub, "webpush", "--subject", subject, *more, "--json", "--data", path["data"],
            check=False)

    first = json.loads(add().stdout)
    again = add()
    assert again.returncode == 1
    assert first["name"] in again.stderr and "subscribe again" in again.stderr and "--replace" in again.stderr
    listed = run_aldaba("hub", "credential", "list", hub, "--json", "--data", path["data"]).stdout
    assert [each["name"] for each in json.loads(listed)] == [first["name"]]
    assert json.loads(add("--replace").stdout)["name"] != first["name"]


def test_members_that_nobody_reads_are_refused(own):
    put(own, "one")
    fine = {"platform": "aldaba", "pushChannel": "x"}
    refused(own, "PUT", "/installations/two", fine | {"unknownField": 1}, "/unknownField", "pushVariables")
    refused(own, "PUT", "/installations/two", fine | {"templates": {"t": {"body": "{}", "tag": ["a"]}}},
            "/templates/t/tag", "there are body")
    refused(own, "PATCH", "/installations/one", {"foo": 1}, "/foo", "pushVariables")
    refused(own, "PATCH", "/installations/one", [{"op": "add", "path": "/nope", "value": 1}], "/0/path", "pushVariables")
    refused(own, "PATCH", "/installations/one", [{"op": "add", "path": "/tags", "value": "a", "from": "b"}], "/0/from")
    refused(own, "PATCH", "/installations/one", {"templates": {"t": {"body": "{}", "x": 1}}}, "/templates/t/x")
    refused(own, "PUT", "/webhook", {"url": "https://example.com/a", "foo": 1}, "/foo", "url")
    refused(own, "PUT", "/webhook", {"foo": 1}, "/foo", "url")
    refused(own, "POST", "/preview", {"installationId": "one", "property": {}}, "/property")
    refused(own, "POST", "/preview", {"installationId": "one", "properties": {"city": 1}}, "/properties/city")
    for locales, pointer in (
            ({"de": {"titel": "q"}}, "de/titel"), ({"es": "Hola"}, "es"), ({"zz_!!": {"title": "x"}}, "zz_!!")):
        refused(own, "POST", "/campaigns", {"content": {"title": "x", "locales": locales}}, f"/content/locales/{pointer}")
    # What was answered may be sent back.
    told = own.ask("GET", "/installations/one")[1]
    assert own.ask("PUT", "/installations/one", told)[0] == 200
    assert own.ask("PATCH", "/installations/one", {"tags": ["b"]})[0] == 200


def test_an_instant_that_is_over_is_refused(own, path):
    put(own, "one")
    content = {"content": {"title": "x"}}
    for at in ("2020-01-01T00:00:00Z", instant(minutes=-2)):
        refused(own, "POST", "/campaigns", content | {"at": at}, "/at", "is over")
        refused(own, "POST", "/campaigns/preview", content | {"at": at, "installationId": "one"}, "/at", "is over")
    assert own.ask("GET", "/campaigns")[1]["campaigns"] == []
    assert own.ask("POST", "/campaigns", content | {"at": instant(seconds=-30)})[0] == 201
    answer = RawAzure(path).ask("POST", "schedulednotifications", "{}", **{
        "ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": "2020-01-01T00:00:00"})
    assert answer.status_code == 400 and "is over" in answer.text


@pytest.mark.parametrize("more, pointer", [
    ({"templates": {"t": {"body": "{}", "expiry": "soon"}}}, "/templates/t/expiry"),
    ({"templates": {"t": {"body": "{}", "headers": {"apns-priority": "99"}}}}, "/templates/t/headers/apns-priority"),
    ({"timeZone": "Mars/Phobos"}, "/timeZone"),
    ({"platform": "apns", "pushChannel": "no token"}, "/pushChannel"),
    ({"platform": "browser", "pushChannel": {"endpoint": "ftp://x", "p256dh": POINT, "auth": AUTH}}, "/pushChannel/endpoint"),
    ({"platform": "browser", "pushChannel": {"endpoint": "http://127.0.0.1.example/", "p256dh": POINT, "auth": AUTH}},
     "/pushChannel/endpoint"),
    ({"platform": "browser", "pushChannel": {"endpoint": "https://x/", "p256dh": "BKy", "auth": AUTH}},
     "/pushChannel/p256dh"),
    ({"platform": "browser", "pushChannel": {"endpoint": "https://x/", "p256dh": POINT, "auth": "abc"}},
     "/pushChannel/auth")])
def test_what_would_fail_later_is_refused_when_it_is_put(own, path, more, pointer):
    document = {"platform": "aldaba", "pushChannel": "x"} | more
    refused(own, "PUT", "/installations/bad", document, pointer)
    put(own, "one")
    refused(own, "PATCH", "/installations/one", {"userId": "u"} | document, pointer)
    azure = RawAzure(path)
    answer = azure.ask("PUT", "installations/bad", json.dumps(document | {"installationId": "bad", "unknown": 1}))
    assert answer.status_code == 400 and pointer in answer.text
    hub = own.ask("GET")[1]["name"]
    done = run_aldaba("hub", "import", hub, "-", "--data", path["data"], check=False, input=json.dumps(
        document | {"installationId": "bad"}))
    assert done.returncode != 0 and f"line 1: {pointer}" in done.stderr


def test_what_can_be_sent_is_taken(own):
    put(own, "one", timeZone="Europe/Vienna", templates={"t": {
        "body": "{}", "expiry": "$(until)", "headers": {"apns-priority": "$(priority)", "x-own": "soon"}}})
    put(own, "two", templates={"t": {"body": "{}", "expiry": "2030-01-01T00:00:00Z", "headers": {"apns-priority": "5"}}})
    put(own, "three", platform="browser", pushChannel={"endpoint": "https://push.example/1", "p256dh": POINT, "auth": AUTH})
    put(own, "four", platform="apns", pushChannel="0123ABCD")


@pytest.mark.parametrize("content, pointer", [
    ({"title": "x", "link": "javascript:alert(1)"}, "/content/link"),
    ({"title": "x", "link": "not a link"}, "/content/link"), ({"title": "x", "link": "/relative"}, "/content/link"),
    ({"title": "x", "link": "DATA:text/html,x"}, "/content/link"), ({"title": "x", "link": "https:"}, "/content/link"),
    ({"title": "x", "actions": [{"id": "a", "title": "A", "link": "file:///etc/passwd"}]}, "/content/actions/0/link"),
    ({"title": ""}, "/content/title"), ({"title": " ", "body": ""}, "/content/title"),
    ({"title": "x", "locales": {"de": {"title": ""}}}, "/content/locales/de/title"),
    ({"silent": "yes"}, "/content/silent"), ({"body": "x" * 5000}, "/content")])
def test_a_content_that_cannot_be_shown_is_refused(own, content, pointer):
    refused(own, "POST", "/campaigns", {"content": content}, pointer)
    variants = [{"name": "a", "share": 100, "content": content}]
    refused(own, "POST", "/campaigns", {"experiment": {"holdOut": 0, "variants": variants}},
            "/experiment/variants/0" + pointer)


@pytest.mark.parametrize("link", ["https://example.com/a", "todo://task/7", "mailto:a@example.com"])
def test_links_of_apps_are_taken(own, link):
    content = {"title": "", "body": "x", "link": link, "actions": [{"id": "a", "title": "A", "link": link}],
               "locales": {"pt-BR": {"body": "y"}, "zh_Hant_TW": {"title": "z"}}}
    assert own.ask("POST", "/campaigns", {"content": content})[0] == 201


def test_a_content_that_is_too_large_says_in_which_language(own):
    content = {"title": "x", "locales": {"de": {"title": "x" * 5000}}}
    refused(own, "POST", "/campaigns", {"content": content}, "/content", "the payload in de would have 5")


@pytest.mark.parametrize("body, place", [
    ("not json", "byte 0"), ("", "byte 0"), ('{"aps":{"alert":"x"},"g":1e400}', "byte 25: number out of range")])
def test_a_body_that_is_no_json_is_told_in_words(path, control, body, place):
    own = OwnHub(path, control)
    put(own, "wordless", pushChannel=path["deviceToken"], tags=["wordless"])
    answer = RawAzure(path).ask("POST", "messages", body, **{
        "ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "wordless"})
    assert answer.status_code == 201
    send = answer.json()["notificationId"]
    told = wait_until(
        lambda: (told := own.ask("GET", f"/sends/{send}")[1])["state"] == "Completed" and told, "the send has ended")
    assert told["outcomes"] == [{"platform": "aldaba", "outcome": "InvalidNotificationFormat", "count": 1}]
    assert "the body is no payload for apple" in told["reason"] and place in told["reason"]
    assert own.ask("DELETE", "/installations/wordless")[0] == 204


def test_a_file_may_begin_with_the_mark_of_utf_8(own, path):
    hub = own.ask("GET")[1]["name"]
    good = json.dumps({"installationId": "one", "platform": "aldaba", "pushChannel": "x"})
    done = run_aldaba("hub", "import", hub, "-", "--data", path["data"], check=False, input=f"\ufeff{good}\nnot json\n")
    assert "line 2: this is no JSON: byte 0: expected a value" in done.stderr
    assert "line 1" not in done.stderr
    assert own.ask("GET", "/installations/one")[0] == 200


def test_a_send_that_is_over_says_so_and_is_cancelled_once(own):
    put(own, "one")
    begun = own.ask("POST", "/campaigns", {"content": {"title": "x"}})[1]["id"]
    own.wait_for_campaign(begun, "Completed")
    status, problem = own.ask("POST", f"/campaigns/{begun}/resume")
    assert (status, problem["detail"]) == (409, "the send has ended (Completed): it cannot be resumed any more")
    later = own.ask("POST", "/campaigns", {"content": {"title": "x"}, "at": instant(hours=1)})[1]["id"]
    first = own.ask("POST", f"/campaigns/{later}/cancel")
    assert first[0] == 200 and first[1]["state"] == "Canceled"
    assert own.ask("POST", f"/campaigns/{later}/cancel") == first


def test_an_expression_over_the_limit_points_at_the_first_term_too_many(own):
    text = " || ".join(["tag"] * 1001)
    status, problem = own.ask("POST", "/audience", {"expression": text})
    assert (status, problem["code"]) == (400, "invalidExpression")
    assert problem["detail"].startswith(f"character {len('tag || ') * 1000 + 1}: the expression has 1001 terms")


def answered(path, method, where, headers=None):
    address = urlsplit(path["http"])
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request(method, where, None, headers or {})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read().decode()


@pytest.mark.parametrize("method, rest, allow, form", [
    ("POST", "/v1/hubs/{hub}/installations/one", "DELETE, GET, HEAD, PATCH, PUT", "application/problem+json"),
    ("GET", "/v1/hubs/{hub}/audience", "POST", "application/problem+json"),
    ("DELETE", "/{hub}/messages", "POST", "application/xml"),
    ("GET", "/api/notifications/requests", "POST", "application/json")])
def test_a_method_that_a_path_does_not_take_is_405(path, method, rest, allow, form):
    status, headers, _ = answered(path, method, rest.format(hub=path["hubName"]))
    assert (status, headers["allow"]) == (405, allow)
    assert headers["content-type"].startswith(form)


def test_what_azures_face_does_not_have_is_told_in_its_form(path):
    status, headers, text = answered(path, "GET", f"/{path['hubName']}/jobs?api-version=2020-06")
    assert status == 404 and headers["content-type"].startswith("application/xml")
    assert "<Code>404</Code>" in text and "TrackingId:" in text
    assert answered(path, "GET", "/nobody/jobs")[1]["content-type"].startswith("application/json")
    assert answered(path, "GET", "/v1/nothing")[1]["content-type"] == "application/problem+json"
    wrong = RawAzure(path).ask("GET", "registrations", query="&$top=x")
    assert wrong.status_code == 400 and "$top" in wrong.text
