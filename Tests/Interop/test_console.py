"""The console in a browser: a push that another program sends appears by itself, and its page says what became of it."""

import json
import re
import shlex
import shutil
import subprocess
import uuid

import httpx
import pytest

from aldaba_process import BINARY
from console_browser import chromium, pages  # noqa: F401
from console_firefox import Firefox
from console_world import UNKNOWN_TOKEN, refuse, wait_for_notification
from waiting import wait_until

SECONDS = 15_000


def title():
    return f"Bread {uuid.uuid4().hex[:12]}"


def by_curl(path, token, name):
    """Sends with the line that `aldaba up` prints; the status."""
    signed = " ".join(map(shlex.quote, (str(BINARY), "key", "token", "--data", path["data"], "--key-id", path["keyId"])))
    body = json.dumps({"aps": {"alert": {"title": name, "body": "Sent by curl"}}, "todo": name})
    done = subprocess.run(
        ["sh", "-c", f"""curl --http2 --silent --show-error --output /dev/null --write-out '%{{http_code}}' \
            --cacert {shlex.quote(path["ca"])} -H "authorization: bearer $({signed})" -H 'apns-topic: {path["topic"]}' \
            -H 'apns-push-type: alert' -d {shlex.quote(body)} {path["apns"]}/3/device/{token}"""],
        capture_output=True, text=True, timeout=30)
    assert not done.stderr, done.stderr
    return int(done.stdout)


def open_inbox(page, query=""):
    """The inbox once it follows the server, with a mark that a new load would remove."""
    with page.expect_response(lambda response: "/console/inbox/events" in response.url):
        page.goto(f"/console/{query}")
    page.evaluate("window.isSamePage = true")
    return page


def is_same_page(page):
    return page.evaluate("window.isSamePage === true")


def test_a_push_by_curl_comes_into_an_open_inbox(path, pages):
    page, name = open_inbox(pages()), title()
    assert by_curl(path, path["deviceToken"], name) == 200
    row = page.locator("tr", has=page.get_by_role("link", name=name))
    row.wait_for(timeout=SECONDS)
    assert is_same_page(page), "the page was loaded again"
    # The row changes with the notification.
    wait_for_text(row, re.compile("presented|handed"))
    page.get_by_role("link", name=name).click()
    page.get_by_role("heading", name=name).wait_for()
    assert page.locator(".verdict").inner_text().strip().endswith(".")
    states = page.locator("table code").all_inner_texts()
    assert states[0] == "accepted" and "acked" in states
    assert "Sent by curl" in page.locator("pre").first.inner_text()
    assert page.faults == []


def wait_for_text(locator, text):
    locator.filter(has_text=text).wait_for(timeout=SECONDS)


def test_a_refused_push_says_why(path, pages):
    page = open_inbox(pages())
    assert by_curl(path, UNKNOWN_TOKEN, title()) == 400
    row = page.locator("tr", has_text="failed(BadDeviceToken)").first
    row.wait_for(timeout=SECONDS)
    assert is_same_page(page)
    row.get_by_role("link").first.click()
    page.get_by_text("this server has no such device token").wait_for()
    page.get_by_text("aldaba environment list").first.wait_for()
    assert page.faults == []


def test_the_explanation_is_in_the_readers_language(path, pages, provider):
    refused = refuse(path, provider)
    page = pages("es")
    page.goto(f"/console/notifications/{refused}")
    page.get_by_text("este servidor no tiene ese token").wait_for()
    page.get_by_role("link", name="English").click()
    page.get_by_text("this server has no such device token").wait_for()
    assert page.locator("html").get_attribute("lang") == "en"
    page.goto("/console/")
    assert page.locator("html").get_attribute("lang") == "en", "the choice is kept"


def test_filters_are_in_the_address(path, pages, provider):
    refuse(path, provider)
    shown = title()
    assert provider.post(path["deviceToken"], {"aps": {"alert": {"title": shown, "body": "b"}}}).status == 200
    wait_for_notification(path["http"], shown)
    page = pages()
    page.goto("/console/")
    page.get_by_label("State").select_option("refused")
    page.get_by_label("Reason").fill("BadDeviceToken")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url(re.compile(r"state=refused&reason=BadDeviceToken"))
    assert page.get_by_role("link", name=shown).count() == 0
    rows = page.locator("tbody tr").all_inner_texts()
    assert rows and all("BadDeviceToken" in row for row in rows)
    page.reload()
    assert page.get_by_label("State").input_value() == "refused"
    assert page.get_by_label("Reason").input_value() == "BadDeviceToken"
    assert page.locator("tbody tr").count() == len(rows)
    page.get_by_role("link", name="Clear").click()
    page.get_by_role("link", name=shown).wait_for()
    assert page.faults == []


def test_a_filtered_inbox_gets_what_fits(path, pages, provider):
    wanted, other = title(), title()
    page = open_inbox(pages(), f"?text={wanted.replace(' ', '+')}")
    for name in (other, wanted):
        assert provider.post(path["deviceToken"], {"aps": {"alert": {"title": name, "body": "b"}}}).status == 200
    page.get_by_role("link", name=wanted).wait_for(timeout=SECONDS)
    assert page.get_by_role("link", name=other).count() == 0


def test_older_notifications_are_on_further_pages(path, pages, provider):
    mark = uuid.uuid4().hex[:8]
    for number in range(130):
        body = {"aps": {"alert": {"title": f"{mark} {number:03}", "body": "b"}}}
        assert provider.post(path["deviceToken"], body).status == 200
    wait_for_notification(path["http"], f"{mark} 129")
    page, seen = pages(), []
    page.goto(f"/console/?text={mark}")
    seen += page.locator("tbody a bdi").all_inner_texts()
    assert len(seen) == 100
    page.get_by_role("link", name="Older").click()
    page.wait_for_url(re.compile("after="))
    seen += page.locator("tbody a bdi").all_inner_texts()
    assert seen == [f"{mark} {number:03}" for number in reversed(range(130))]
    page.get_by_role("link", name="Newest").click()
    page.wait_for_url(lambda url: "after=" not in url)
    assert page.locator("tbody tr").count() == 100
    assert page.faults == []


def test_it_works_without_script(path, pages):
    page, name = pages(java_script_enabled=False), title()
    page.goto("/console/")
    assert by_curl(path, path["deviceToken"], name) == 200
    wait_for_notification(path["http"], name)
    page.reload()
    page.get_by_role("link", name=name).click()
    page.get_by_role("heading", name=name).wait_for()
    page.get_by_role("button", name="Withdraw").click()
    page.locator(".notice").wait_for()
    page.goto("/console/")
    page.get_by_label("Text").fill(name)
    page.get_by_role("button", name="Filter").click()
    assert page.locator("tbody tr").count() == 1


def test_it_works_over_a_slow_network(path, pages):
    page, name = pages(), title()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 25_000})
    open_inbox(page)
    assert by_curl(path, path["deviceToken"], name) == 200
    page.get_by_role("link", name=name).wait_for(timeout=SECONDS)
    page.get_by_role("link", name=name).click()
    page.get_by_role("heading", name=name).wait_for(timeout=SECONDS)


def test_a_row_stays_while_it_has_the_focus(path, pages, provider):
    page, name = open_inbox(pages()), title()
    assert provider.post(path["deviceToken"], {"aps": {"alert": {"title": name, "body": "b"}}}).status == 200
    link = page.get_by_role("link", name=name)
    link.wait_for(timeout=SECONDS)
    link.focus()
    other = title()
    assert provider.post(path["deviceToken"], {"aps": {"alert": {"title": other, "body": "b"}}}).status == 200
    page.get_by_role("link", name=other).wait_for(timeout=SECONDS)
    assert link.evaluate("link => link === document.activeElement")


@pytest.mark.skipif(not shutil.which("firefox-esr"), reason="Firefox is not installed")
def test_firefox_shows_the_same(path, tmp_path):
    name = title()
    with Firefox(tmp_path) as firefox:
        firefox.go(f"{path['http']}/console/")
        firefox.run("window.isSamePage = true")
        wait_until(lambda: firefox.run(
            "return performance.getEntriesByType('resource').length > 0"), "the page has loaded its files")
        assert by_curl(path, path["deviceToken"], name) == 200
        find = f"[...document.querySelectorAll('tbody a')].find(link => link.textContent === {json.dumps(name)})"
        wait_until(lambda: firefox.run(f"return Boolean({find})"), "the row came by itself")
        assert firefox.run("return window.isSamePage === true")
        firefox.run(f"{find}.click()")
        wait_until(lambda: name in firefox.run("return document.querySelector('h2')?.textContent ?? ''"), "its page")
        assert "accepted" in firefox.run("return document.querySelector('table').textContent")
