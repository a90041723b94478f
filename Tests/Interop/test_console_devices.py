"""The console's pages of devices, of the server's condition and of the relay, as a browser and a person use them."""

import json
import re

import httpx
import pytest

from aldaba_process import AldabaUp, run_aldaba
from console_browser import Pages, chromium  # noqa: F401
from provider import Provider
from waiting import wait_until


@pytest.fixture(scope="module")
def own(request):
    """A server of this module's own: its device is blocked, unblocked and revoked."""
    running = AldabaUp.ephemeral(name="console_devices")
    yield running
    running.stop()
    running.drop_logs()


@pytest.fixture(scope="module")
def address(own):
    return own.ready["http"]


@pytest.fixture(scope="module")
def device(address):
    """The id of the demo app's device, once it is connected."""
    def connected():
        for item in httpx.get(f"{address}/v1/devices").json()["devices"]:
            if "connection" in httpx.get(f"{address}/v1/devices/{item['device']}").json():
                return item["device"]
        return None
    return wait_until(connected, "a device is connected")


@pytest.fixture
def browse(chromium, address):  # noqa: F811
    made = Pages(chromium, address)
    yield made
    made.close()


def state_by_command(own, device):
    listed = json.loads(run_aldaba("device", "list", "--json", "--data", own.data).stdout)
    return next(item["state"] for item in listed if item["device"] == device)


def states(address, notification):
    return [entry["state"] for entry in httpx.get(f"{address}/v1/notifications/{notification}").json()[0]["timeline"]]


def test_a_device_is_told_with_its_connection_and_tokens(address, device):
    answer = httpx.get(f"{address}/v1/devices/{device}").json()
    assert answer["state"] == "active" and answer["connection"]["since"]
    app = answer["apps"][0]
    assert len(app["token"]) == 64 and app["waiting"] == 0 and app["missed"] == []
    assert httpx.get(f"{address}/v1/devices/1").status_code == 404
    assert "decimal number" in httpx.get(f"{address}/v1/devices/one").json()["detail"]


def test_the_list_leads_to_the_device_and_shows_the_same_request(browse, address, device):
    page = browse()
    page.goto("/console/devices")
    page.get_by_role("link", name=device).click()
    page.wait_for_url(f"**/console/devices/{device}")
    assert page.get_by_role("heading", level=1).inner_text() == f"Device {device}"
    text = page.get_by_role("main").inner_text()
    assert "connected since" in text and "Permission" in text
    token = httpx.get(f"{address}/v1/devices/{device}").json()["apps"][0]["token"]
    full = page.get_by_text(token, exact=True)
    assert not full.is_visible()
    page.get_by_text("show the whole token").first.click()
    assert full.is_visible()
    filtered = httpx.get(f"{address}/console/devices", params={"state": "blocked"}).text
    assert "matches the filter" in filtered and "device list --state" in filtered
    assert page.faults == []


def test_a_test_is_sent_and_followed_to_the_screen(browse, address, device):
    page = browse()
    page.goto(f"/console/devices/{device}")
    page.get_by_label("Title").fill("From the page")
    page.get_by_label("Text").fill("Seen on the screen")
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/console/notifications/*")
    notification = page.url.rsplit("/", 1)[1]
    # The page gets what comes later without being loaded again.
    page.evaluate("document.body.dataset.first = 'yes'")
    page.get_by_role("cell", name=re.compile("^presented")).wait_for()
    assert page.evaluate("document.body.dataset.first") == "yes"
    assert "presented" in states(address, notification)
    content = httpx.get(f"{address}/v1/notifications/{notification}").json()[0]["content"]
    assert content["payload"]["aps"]["alert"] == {"title": "From the page", "body": "Seen on the screen"}
    page.goto(f"/console/devices/{device}")
    assert page.get_by_role("link", name="From the page").is_visible()
    assert "The person allows notifications" in page.get_by_role("main").inner_text()
    assert page.faults == []


def test_a_test_that_is_refused_keeps_what_was_written(address, device):
    form = {"token": "ab" * 32, "title": "Kept", "body": "Kept too"}
    answer = httpx.post(f"{address}/console/devices/{device}/test", data=form)
    assert answer.status_code == 422 and 'value="Kept too"' in answer.text
    assert 'aria-invalid="true" aria-describedby="test-fault"' in answer.text and "no app has this token" in answer.text


def test_the_condition_has_figures_after_pushes(browse, own, address, device):
    provider = Provider(own.ready)
    assert provider.post("cd" * 32, {"aps": {"alert": "refused"}}).status == 400
    provider.close()
    def counted():
        samples = httpx.get(f"{address}/v1/metrics/history").json()["samples"]
        return sum(item["accepted"] for item in samples) and sum(item["shown"] for item in samples) or None
    wait_until(counted, "what was sent is in the history")
    status = httpx.get(f"{address}/v1/status").json()
    assert status["status"] == "ok" and status["isReady"] and status["connected"] >= 1
    assert status["certificates"][0]["kind"] == "server" and status["certificates"][0]["daysLeft"] > 0
    assert status["disk"]["state"] in ("ok", "low") and status["disk"]["free"] < status["disk"]["total"]
    page = browse()
    page.goto("/console/health")
    text = page.get_by_role("main").inner_text()
    assert "The server stores what it is sent." in text and "BadDeviceToken" in text
    assert page.get_by_role("img").count() == 2
    assert page.faults == []


def test_a_history_takes_two_spans(address):
    assert httpx.get(f"{address}/v1/metrics/history", params={"span": "day"}).json()["step"] == 900
    refused = httpx.get(f"{address}/v1/metrics/history", params={"span": "week"})
    assert refused.status_code == 400 and "hour or day" in refused.json()["detail"]


def test_the_relay_shows_no_names(address, browse):
    page = browse(language="es")
    page.goto("/console/relay")
    assert page.get_by_role("heading", level=1).inner_text() == "Relé"
    for account in httpx.get(f"{address}/v1/relay/accounts").json()["accounts"]:
        assert set(account) == {"account", "devices", "documents", "documentBytes"}
        for each in account["devices"]:
            assert "name" not in each and isinstance(each["apps"], int)
    assert httpx.get(f"{address}/v1/relay/accounts", params={"after": "x"}).status_code == 400
    assert page.faults == []


def test_a_device_is_blocked_and_unblocked(browse, own, address, device):
    page = browse()
    page.goto(f"/console/devices/{device}")
    page.get_by_role("button", name="Block", exact=True).click()
    page.get_by_text("The device is blocked since").wait_for()
    assert state_by_command(own, device) == "blocked"
    wait_until(
        lambda: "connection" not in httpx.get(f"{address}/v1/devices/{device}").json(), "the device's session has ended")
    page.get_by_role("button", name="Unblock").click()
    page.get_by_text("The device may log in.").wait_for()
    assert state_by_command(own, device) == "active"
    assert page.faults == []


def test_revoking_needs_a_tick_and_is_for_good(own, address, device):
    refused = httpx.post(f"{address}/console/devices/{device}/revoke")
    assert refused.status_code == 422 and 'aria-describedby="revoke-fault"' in refused.text
    assert state_by_command(own, device) == "active"
    foreign = httpx.post(
        f"{address}/console/devices/{device}/revoke", data={"confirm": "yes"}, headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403 and state_by_command(own, device) == "active"
    done = httpx.post(f"{address}/console/devices/{device}/revoke", data={"confirm": "yes"}, follow_redirects=True)
    assert done.status_code == 200 and "The device was revoked" in done.text
    assert state_by_command(own, device) == "revoked"
    assert "cannot be blocked" in httpx.post(f"{address}/v1/devices/{device}/block").json()["detail"]
