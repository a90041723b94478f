"""The console against those who do not own it: what providers and devices write is text in every page, and no other site
reaches the pages."""

import json
import re
import subprocess
import sys
import uuid
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import httpx
import pytest

from console_browser import chromium, pages  # noqa: F401
from console_world import UNKNOWN_TOKEN, make_world, notifications
from waiting import wait_until

# Each would make an element, an attribute, a script or a template of the page if it were not text there.
HOSTILE = [
    '<img src=x onerror=alert(1) class=injected>',
    '"><script class=injected>alert(2)</script>',
    "'><svg/onload=alert(3) class=injected>",
    '" autofocus onfocus=alert(4) class="injected',
    '</title></textarea></script><b class=injected>x',
    '{{#rows}}{{{t.layout.product}}}{{/rows}}',
    'javascript:alert(5)',
    '</pre><iframe srcdoc="<script>parent.alert(6)</script>" class=injected></iframe>',
    '\u202e<a href="//evil.example" class=injected>gnp.exe</a>\u2066',
    '<!--<base href="//evil.example/" class=injected>-->',
]
# One that ends an attribute and an element, and one that is an address.
SHORT = ['"><img src=x onerror=alert(1) class=injected>', "javascript:alert(1)"]
SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'")


def writable(text):
    """The text as a header field can hold it."""
    return text.encode("ascii", "ignore").decode()


@pytest.fixture(scope="module")
def written(path, provider, control):
    """Hostile texts in whatever a provider, a device or a person can write; the world with them."""
    world = make_world(path, provider)
    ids = []
    for text in HOSTILE:
        payload = {
            "aps": {
                "alert": {"title": text, "subtitle": text, "body": text, "loc-key": text, "launch-image": text},
                "category": text, "thread-id": text, "sound": text},
            text: text, "link": text}
        made = provider.post(path["deviceToken"], payload, apns_collapse_id=writable(text)[:64], aldaba_namespace=writable(text))
        assert made.status == 200
        ids.append(made.apns_id)
        refusals = [
            provider.post(path["deviceToken"], payload, apns_topic=writable(text)),
            provider.post(path["deviceToken"], payload, apns_id=writable(text)),
            provider.post(path["deviceToken"], payload, apns_push_type=writable(text)),
            provider.post(path["deviceToken"], payload, apns_priority=writable(text)),
            provider.post(path["deviceToken"], payload, apns_expiration=writable(text)),
            provider.post(quote(text, safe=""), payload),
            provider.post(path["deviceToken"], payload, authorization=f"bearer {writable(text)}"),
            provider.post(path["deviceToken"], text.encode()),
        ]
        assert all(each.status >= 400 for each in refusals)
        write_by_others(path, control, text)
    wait_until(lambda: len(notifications(path["http"], text="injected")) >= 8, "the hostile texts are in the list")
    world.members["shown"] = notifications(path["http"], text="injected")[0]["id"]
    world.hostile = [
        item["id"] for item in notifications(path["http"], limit=1000)
        if item["apnsId"] in ids or item["state"] == "refused"]
    return world


def write_by_others(path, control, text):
    """What an FCM client, a device and a hub's back end can write; each may be refused."""
    headers = {"content-type": "application/json", "authorization": "Bearer owner"}
    message = {
        "notification": {"title": text, "body": text}, "data": {"text": text}, "topic": text,
        "fcm_options": {"analytics_label": text}, "android": {"collapse_key": text, "notification": {"tag": text}}}
    for project in (path["teamId"], text):
        httpx.post(
            f"{path['fcm']}/v1/projects/{quote(project, safe='')}/messages:send", headers=headers,
            json={"message": message}, verify=path["ca"] if path["fcm"].startswith("https") else True)
    device = control.enrol()
    form = {"app": text, "sender": text, "device": device[0], "X-environment": text, "X-appid": text, "X-scope": text}
    control.request(
        "POST", "/c2dm/register3", urlencode(form),
        {"content-type": "application/x-www-form-urlencoded", "authorization": f"AidLogin {device[0]}:{device[1]}"})
    if path.get("hubName"):
        control.request(
            "PUT", f"/v1/hubs/{path['hubName']}/installations/{uuid.uuid4()}",
            json.dumps({"installationId": text, "platform": "apns", "pushChannel": UNKNOWN_TOKEN, "tags": [text], "userId": text}),
            {"content-type": "application/json"})


def injected(page):
    """What hostile texts have made of the page."""
    found = list(page.faults)
    page.faults.clear()
    count = page.locator(".injected, base, iframe, [onerror], [onload], [onfocus]").count()
    if count:
        found.append(f"{count} elements were injected")
    for link in page.evaluate("[...document.links].map(link => link.href)"):
        if link.startswith("javascript:") or "evil.example" in urlsplit(link).netloc:
            found.append(f"a link goes to {link}")
    return found


@pytest.mark.parametrize("text", SHORT)
def test_what_an_address_has_is_text(pages, written, text):
    page, found = pages(), []
    more = ["after", "language", "limit", "back", "sent", "cursor", "hub"]
    for address in written.pages().values():
        names = re.findall(r'name="([^"]+)"', httpx.get(written.address + address).text)
        page.goto(f"{address.split('?')[0]}?{urlencode({name: text for name in [*names[:40], *more]})}")
        found += [f"{address}: {fault}" for fault in injected(page)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_path_has_is_text(pages, written, text):
    page, found = pages(), []
    for place in ("", "notifications/", "devices/", "campaigns/"):
        page.goto(f"/console/{place}{quote(text, safe='')}")
        found += [f"{place}: {fault}" for fault in injected(page)]
    assert not found, "\n".join(found)


FILL = """([number, text]) => {
    const form = [...document.querySelectorAll("main form[method=post]")][number];
    if (!form) return false;
    for (const field of form.elements) {
        if (!field.name || field.type === "hidden") continue;
        if (field.matches("textarea, input:not([type=file], [type=checkbox], [type=radio])")) {
            if (field.localName === "input") field.type = "text";
            field.value = text;
        } else if (field.localName === "select") field.append(new Option(text, text, true, true));
    }
    setTimeout(() => form.submit());
    return true;
}"""


@pytest.mark.parametrize("text", SHORT)
def test_what_a_form_sends_is_text(pages, written, text):
    """Each form with a field, filled with a hostile text; what it leaves behind is on the pages of the tests after this."""
    page, found = pages(), []
    for address in written.pages().values():
        page.goto(address)
        forms = page.locator("main form[method=post]")
        for number in range(forms.count()):
            if not forms.nth(number).locator("textarea, input:not([type=hidden]), select").count():
                continue
            with page.expect_navigation():
                assert page.evaluate(FILL, [number, text])
            found += [f"{address}: {fault}" for fault in injected(page)]
            page.goto(address)
            found += [f"{address}: {fault}" for fault in injected(page)]
    assert not found, "\n".join(found)


def test_what_others_write_is_text(pages, written):
    page, found = pages(), []
    paths = [*written.pages().values(), *(f"/console/notifications/{each}" for each in written.hostile[:40])]
    for address in paths:
        page.goto(address)
        found += [f"{address}: {fault}" for fault in injected(page)]
    assert not found, "\n".join(found)


def test_what_others_write_is_text_in_the_live_list(path, pages, provider, written):
    page = pages()
    with page.expect_response(lambda response: "/console/inbox/events" in response.url):
        page.goto("/console/")
    before = page.locator("tbody tr").first.get_attribute("data-id")
    for text in HOSTILE:
        provider.post(path["deviceToken"], {"aps": {"alert": {"title": text, "body": text}}})
        provider.post(path["deviceToken"], {"aps": {}}, apns_topic=writable(text))
    page.locator("tbody bdi", has_text="evil.example").first.wait_for()
    page.wait_for_timeout(1000)
    assert page.locator("tbody tr").first.get_attribute("data-id") != before
    assert injected(page) == []


def test_every_answer_keeps_other_sites_out(written):
    files = ["/console/style.css", "/console/live.js", "/console/icon.svg", "/console/language?to=xx"]
    with httpx.Client(base_url=written.address) as client:
        for address in [*written.pages().values(), *files]:
            headers = client.get(address).headers
            assert headers["content-security-policy"] == POLICY, address
            assert headers["x-content-type-options"] == "nosniff", address
            assert headers["referrer-policy"] == "same-origin", address
            assert headers["cross-origin-opener-policy"] == "same-origin", address
            assert "access-control-allow-origin" not in headers, address
        page = client.get("/console/")
        assert page.headers["cache-control"] == "no-store"


def test_no_other_site_frames_a_page(pages, written):
    page = pages()
    page.route("http://evil.example/", lambda route: route.fulfill(
        content_type="text/html", body=f"<iframe src='{written.address}/console/'></iframe>"))
    page.goto("http://evil.example/")
    wait_until(lambda: page.frames[1].url.startswith("chrome-error:"), "the frame shows an error")


FOREIGN = [
    {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "origin": "https://evil.example"}, {"origin": "https://evil.example"},
    {"origin": "null"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_form_of_another_site_is_refused(path, written, headers):
    address = f"{written.address}/console/notifications/{written.members['shown']}/withdraw"
    answer = httpx.post(address, headers=headers)
    assert answer.status_code == 403
    assert httpx.post(f"{written.address}/console/", headers=headers).status_code in (403, 404, 405)


def test_a_form_of_the_console_is_accepted(written):
    address = f"{written.address}/console/notifications/{written.members['shown']}/withdraw"
    answer = httpx.post(address, headers={"sec-fetch-site": "same-origin", "origin": written.address})
    assert answer.status_code in (200, 303)


@pytest.mark.parametrize("back", [
    "//evil.example", "https://evil.example/", "/\\evil.example", "\\\\evil.example", "/console/../../evil", "/console//evil.example",
    "javascript:alert(1)", "/console/\r\nset-cookie: a=b", "/console/%0d%0aset-cookie:%20a=b", "/%2f/evil.example", ""])
def test_the_language_leads_nowhere_else(written, back):
    answer = httpx.get(f"{written.address}/console/language", params={"to": "es", "back": back}, follow_redirects=False)
    assert answer.status_code == 303
    there = httpx.URL(written.address + "/").join(answer.headers["location"])
    assert str(there).startswith(f"{written.address}/"), answer.headers["location"]
    assert "a" not in answer.cookies and answer.cookies["language"] == "es"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "169.254.1.1", "localhost.evil.example", "127.0.0.1.nip.io"])
def test_another_name_of_this_machine_is_refused(written, host):
    for address in ("/console/", "/console/style.css", f"/console/notifications/{written.members['shown']}"):
        answer = httpx.get(written.address + address, headers={"host": host})
        assert answer.status_code in (403, 421), address
        assert "<html" not in answer.text


def test_a_cookie_of_nonsense_is_ignored(written):
    for value in ("xx", "en;es", "x" * 3000, "..%2f", "%00"):
        answer = httpx.get(f"{written.address}/console/", headers={"cookie": f"language={value}; zone={value}"})
        assert answer.status_code == 200
        assert "Times are in UTC" in answer.text


@pytest.mark.skipif(not SCHEMATHESIS.exists(), reason="Schemathesis is not installed")
def test_the_lists_keep_to_their_description(written, tmp_path):
    """What Schemathesis makes of the description: requests that it allows, and others."""
    done = subprocess.run(
        [SCHEMATHESIS, "run", f"{written.address}/v1/openapi.json", "--include-path-regex", "^/v1/(notifications|devices)$",
         "--phases", "examples,coverage,fuzzing", "--max-examples", "60", "--max-time", "20", "--seed", "1",
         "--suppress-health-check", "all", "--checks",
         "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"],
        capture_output=True, text=True, timeout=150, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
