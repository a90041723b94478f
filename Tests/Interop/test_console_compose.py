"""The console's form: by httpx as a browser without scripts sends it, and in Chromium with its live preview."""

import re
import struct
import uuid
import zlib

import httpx
import pytest

from console_browser import chromium, pages  # noqa: F401
from waiting import wait_until

COMPOSE = "/console/compose"
PICTURE = "image/png"


@pytest.fixture(scope="module")
def http(path):
    with httpx.Client(base_url=path["http"], timeout=30) as client:
        yield client


def fields(values):
    """The parts of a form of the type multipart/form-data."""
    return [(name, (None, value)) for name, value in {"key": uuid.uuid4().hex, **values}.items()]


def post(http, action, values, file=None):
    parts = fields(values)
    if file:
        parts.append(("file", file))
    return http.post(f"{COMPOSE}/{action}", files=parts)


def bytes_of(html, service):
    """The bytes that the page says for a push service, and the sentence beside the bar."""
    row = re.search(rf'data-service="{service}"><meter[^>]* value="(\d+)"[^>]*></meter> <span>(.*?)</span>', html)
    return int(row[1]), row[2]


def red_square():
    """A picture of one pixel."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) \
        + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


def timeline(http, id):
    answer = http.get(f"/v1/notifications/{id}").json()
    return answer[0], [entry["state"] for entry in answer[0]["timeline"]]


def test_a_notification_to_a_token_arrives(http, path):
    name = f"Milk {uuid.uuid4().hex[:8]}"
    answer = post(http, "send", {"title": name, "body": "Two bottles", "to": "token", "token": path["deviceToken"], "do": "send"})
    assert answer.status_code == 303, answer.text
    id = answer.headers["location"].rsplit("/", 1)[1]
    wait_until(lambda: any(state.startswith(("presented", "handed")) for state in timeline(http, id)[1]), "it is shown", 15)
    item, _ = timeline(http, id)
    assert item["content"]["payload"]["aps"]["alert"] == {"title": name, "body": "Two bottles"}
    assert name in http.get(answer.headers["location"]).text


def test_the_route_has_the_reasons_of_apns(http, path):
    good = {"token": path["deviceToken"], "payload": {"aps": {"alert": "Hello"}}}
    answer = http.post("/v1/notifications", json=good)
    assert answer.status_code == 200 and set(answer.json()) == {"id", "apnsId"}
    for change, status, reason in [
        ({"token": "ab" * 32}, 400, "BadDeviceToken"),
        ({"headers": {"apns-priority": "7"}}, 400, "BadPriority"),
        ({"headers": {"apns-topic": "com.example.unknown"}}, 400, "TopicDisallowed"),
        ({"payload": {"aps": {"alert": "a" * 5000}}}, 413, "PayloadTooLarge"),
    ]:
        sent = {**good, "team": path["teamId"], **change}
        if "token" in change:
            sent["headers"] = {"apns-topic": path["topic"]}
        answer = http.post("/v1/notifications", json=sent)
        assert (answer.status_code, answer.json()["reason"]) == (status, reason), answer.text


def test_a_device_is_named_by_its_number(http, path):
    device = http.get("/v1/devices").json()["devices"][0]["device"]
    answer = http.post(
        "/v1/notifications",
        json={"device": device, "headers": {"apns-topic": path["topic"]}, "payload": {"aps": {"alert": "By number"}}})
    assert answer.status_code == 200, answer.text
    assert http.post("/v1/notifications", json={"device": device, "payload": {"aps": {}}}).status_code == 400


def test_a_refusal_is_shown_at_the_field(http):
    answer = post(http, "send", {"title": "Hello", "to": "token", "token": "ab" * 32, "do": "send"})
    assert answer.status_code == 422
    assert re.search(r'name="token"[^>]*aria-invalid="true"', answer.text)
    assert 'value="Hello"' in answer.text, "what was typed is kept"


@pytest.mark.parametrize("values, field", [
    ({"title": " "}, "title"), ({"body": "B", "badge": "many"}, "badge"), ({"body": "B", "link": "nowhere"}, "link"),
    ({"body": "B", "media": "http://a/b.png"}, "media"), ({"body": "B", "data": "no pair"}, "data"),
    ({"body": "B", "level": "loud"}, "level"), ({"body": "B", "language": "de", "title.de": " ", "body.de": " "}, "title.de"),
    ({"body": "B", "to": "expression", "expression": "a &&", "hub": "todo"}, "expression"),
])
def test_the_servers_own_validator_speaks_at_the_field(http, values, field):
    answer = post(http, "preview", values)
    assert re.search(rf'data-field="{re.escape(field)}"', answer.text), answer.text[:20000]
    assert re.search(rf'name="{re.escape(field)}"[^>]*aria-invalid="true"', answer.text)


def test_the_servers_validator_speaks_spanish_to_a_spanish_reader(http):
    parts = fields({"body": "B", "link": "nowhere"})
    html = http.post(f"{COMPOSE}/preview", files=parts, headers={"accept-language": "es"}).text
    assert "un enlace es una dirección completa" in html


def test_the_sizes_are_those_of_the_payloads(http):
    answer = post(http, "preview", {"title": "Hello", "body": "World", "language": "de", "body.de": "Welt" * 10})
    content = {"title": "Hello", "body": "World", "locales": {"de": {"body": "Welt" * 10}}}
    checked = http.post("/v1/payloads/check", json={"content": content}).json()
    for service, platform in [("apns", "apns"), ("voip", "apns"), ("fcmV1", "fcmV1"), ("browser", "browser")]:
        most = max(each["bytes"] for each in checked["renderings"] if each["platform"] == platform)
        shown, sentence = bytes_of(answer.text, service)
        assert shown == most and "it fits" in sentence and " in de" in sentence
    assert checked["limits"] == {"apns": 4096, "fcmV1": 4096, "browser": 3993, "voip": 5120}
    large = post(http, "preview", {"title": "Hello", "body": "x" * 4500})
    assert "too large" in bytes_of(large.text, "apns")[1] and "it fits" in bytes_of(large.text, "voip")[1]
    assert 'data-field="body"' in large.text


def test_each_view_has_the_notification(http, path):
    html = post(http, "preview", {
        "title": "Hello", "body": "it's <b>", "link": "https://example.com/a", "ttl": "60", "app": path["topic"]}).text
    for view, text in [
        ("apns", "apns-push-type: alert"), ("fcm", "&quot;notification&quot;"), ("declarative", "8030"),
        ("azure", "$(title)"), ("curl", "curl --http2"), ("command", "aldaba send"),
    ]:
        part = re.search(rf'<details id="view-{view}">(.*?)</details>', html, re.DOTALL)[1]
        assert text in part and "<b>" not in part


def test_a_file_becomes_an_address(http):
    answer = post(http, "preview", {"title": "Hello"}, file=("red.png", red_square(), PICTURE))
    address = re.search(r'name="media"[^>]* value="(https://[^"]+)"', answer.text)
    assert address, answer.text[:6000]
    assert 'name="mediaBytes" value="' + str(len(red_square())) in answer.text
    refused = post(http, "preview", {"title": "Hello"}, file=("a.txt", b"no picture", "text/plain"))
    assert refused.status_code == 422 and 'data-field="media"' in refused.text


@pytest.mark.parametrize("payload, values", [
    ('{"Simulator Target Bundle":"com.x","aps":{"alert":{"title":"T","body":"B"},"badge":3}}', {"title": "T", "badge": "3", "app": "com.x"}),
    ('{"message":{"topic":"news","notification":{"title":"T"},"data":{"a":"1"}}}', {"title": "T", "topic": "news"}),
])
def test_a_payload_fills_the_form(http, payload, values):
    html = post(http, "import", {"payload": payload}).text
    for name, value in values.items():
        assert re.search(rf'name="{name}"[^>]* value="{value}"', html), name


def test_a_broken_payload_is_told_with_its_place(http):
    answer = post(http, "import", {"payload": '{"aps":{"alert":"x",}}'})
    assert answer.status_code == 422 and "1:20" in answer.text, re.findall(r'role="alert">.*', answer.text)


def test_an_expression_has_its_estimate_and_a_campaign_begins(http, path):
    hub = path["hubName"]
    html = post(http, "preview", {"title": "Hello", "to": "everybody", "hub": hub}).text
    assert "data-audience" in html, re.findall(r'data-field.*', html)
    answer = post(http, "send", {"title": "Hello", "to": "everybody", "hub": hub, "do": "send"})
    assert answer.status_code == 303 and answer.headers["location"].startswith("/console/campaigns/"), answer.text
    assert http.get(answer.headers["location"]).status_code == 200


def test_a_topic_gets_a_broadcast(http):
    answer = post(http, "send", {"title": "Hello", "to": "topic", "topic": "news", "do": "send"})
    assert answer.status_code == 303 and answer.headers["location"].startswith("/console/notifications/"), answer.text


def test_too_large_forms_and_other_types_are_refused(http):
    assert post(http, "preview", {"title": "x" * 70_000}).status_code == 413
    assert http.post(f"{COMPOSE}/preview", data={"title": "x"}).status_code == 415
    assert http.post(f"{COMPOSE}/preview", content=b"--x", headers={"content-type": "multipart/form-data; boundary=x"}).status_code == 400
    crossed = http.post(f"{COMPOSE}/send", files=fields({"title": "x"}), headers={"sec-fetch-site": "cross-site"})
    assert crossed.status_code == 403


def test_the_preview_follows_the_keys(pages):
    page = pages()
    page.goto(COMPOSE)
    page.evaluate("window.isSamePage = true")
    page.get_by_label("Title", exact=True).fill("Bread and butter")
    page.get_by_label("Body", exact=True).fill("b" * 200)
    phone = page.locator('[data-screen="iphone"]')
    phone.get_by_text("Bread and butter").wait_for()
    assert phone.inner_text().endswith("…")
    page.get_by_label("Badge", exact=True).fill("many")
    page.locator('[data-error="badge"]', has_text="whole number").wait_for()
    assert page.get_by_label("Badge", exact=True).get_attribute("aria-invalid") == "true"
    page.get_by_label("Badge", exact=True).fill("2")
    page.locator('[data-service="apns"]').wait_for()
    assert page.get_by_label("Badge", exact=True).get_attribute("aria-invalid") is None
    assert page.evaluate("window.isSamePage === true"), "the page was loaded again"
    assert not page.faults, page.faults


def test_a_notification_is_sent_in_the_browser(pages, path, http):
    page = pages()
    page.goto(COMPOSE)
    page.get_by_label("Title", exact=True).fill("From the form")
    page.get_by_label("Device token", exact=True).fill(path["deviceToken"])
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url(re.compile("/console/notifications/"))
    page.get_by_role("heading", name="From the form").wait_for()
    assert not page.faults, page.faults


def test_many_recipients_are_confirmed_with_their_number(http, path):
    hub = path["hubName"]
    for number in range(1001):
        http.put(
            f"/v1/hubs/{hub}/installations/crowd-{number}",
            json={"platform": "apns", "pushChannel": f"{number:064x}", "tags": ["crowd"]}).raise_for_status()
    values = {"title": "Hello", "to": "expression", "expression": "crowd", "hub": hub, "do": "send", "media": "https://a.example/b.png"}
    asked = post(http, "send", values)
    assert 'name="confirm"' in asked.text and "1,001 devices" in asked.text
    # A picture for so many is offered a spread.
    assert "1.0 GB" in asked.text and '<button name="rate" value="10">' in asked.text
    wrong = post(http, "send", {**values, "confirm": "1000"})
    assert wrong.status_code == 422 and 'name="confirm"' in wrong.text
    begun = http.get(f"/v1/hubs/{hub}/campaigns").json()["campaigns"]
    assert not [each for each in begun if each.get("audience") == "crowd"]
    sent = post(http, "send", {**values, "confirm": "1001", "when": "at", "at": "2030-01-01T09:00"})
    assert sent.status_code == 303, re.findall(r'class="invalid".*', sent.text)
    campaign = http.get(f"/v1/hubs/{hub}/campaigns").json()["campaigns"][0]
    assert (campaign["audience"], campaign["dueAt"]) == ("crowd", "2030-01-01T09:00:00Z")


def test_a_form_that_is_sent_twice_begins_one_campaign(http, path):
    values = {
        "title": "Once", "to": "expression", "expression": "nobody-has-this", "hub": path["hubName"], "do": "send",
        "key": uuid.uuid4().hex}
    first, second = (post(http, "send", values).headers["location"] for _ in range(2))
    assert first == second


def test_a_trial_goes_to_the_test_devices(http, path):
    hub = path["hubName"]
    http.put(
        f"/v1/hubs/{hub}/installations/trial",
        json={"platform": "aldaba", "pushChannel": path["deviceToken"]}).raise_for_status()
    answer = post(http, "send", {"title": "Trial", "hub": hub, "testDevices": "trial", "do": "test"})
    assert answer.status_code == 200 and "trial: " in answer.text, re.findall(r'role="alert">.*', answer.text)
