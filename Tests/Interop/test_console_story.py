"""One story of the console in a browser, from a picture in the composer to a campaign that is withdrawn."""

import json
import re
import uuid

import httpx

from aldaba_process import run_aldaba
from console_browser import chromium, pages  # noqa: F401
from test_console_compose import red_square
from waiting import wait_until


def on_the_screen(path, title):
    """The number of notifications of that title that the device shows."""
    listed = json.loads(run_aldaba("notifications", "list", "--json", "--data", path["data"]).stdout)
    return sum(item["content"]["title"] == title for item in listed)


def test_from_a_picture_to_a_campaign_that_is_withdrawn(pages, path):
    hub, title = path["hubName"], f"Harbour {uuid.uuid4().hex[:6]}"
    httpx.put(
        f"{path['http']}/v1/hubs/{hub}/installations/story",
        json={"platform": "aldaba", "pushChannel": path["deviceToken"], "tags": ["story"]}).raise_for_status()

    # Composing, with a picture; the preview is there without a reload.
    page = pages()
    page.goto("/console/compose")
    page.get_by_label("Title", exact=True).fill(title)
    page.get_by_label("Body", exact=True).fill("The ferry leaves at five")
    for screen in ("iphone", "gnome", "dunst", "android"):
        page.locator(f'[data-screen="{screen}"]', has_text=title).wait_for()
    page.locator("#f-file").set_input_files({"name": "harbour.png", "mimeType": "image/png", "buffer": red_square()})
    page.get_by_role("button", name="Preview").first.click()
    media = page.locator("[name=media]")
    assert media.input_value().startswith("https://"), "the picture has an address"
    page.locator('[data-service="apns"]').wait_for()

    # A test device first.
    page.locator("[name=to]").select_option("expression")
    page.locator("[name=expression]").fill("story")
    page.locator("[name=hub]").fill(hub) if page.locator("input[name=hub]").count() else page.locator("[name=hub]").select_option(hub)
    campaign = page.locator("details", has=page.locator("[name=testDevices]"))
    if campaign.get_attribute("open") is None:
        campaign.locator("summary").first.click()
    page.locator("[name=testDevices]").fill("story")
    page.locator("button[name=do][value=test]").click()
    page.get_by_text("story: ").wait_for()
    wait_until(lambda: on_the_screen(path, title) == 1, "the test device shows it")

    # Everybody in the audience.
    page.locator("button[name=do][value=send]").click()
    page.wait_for_url(re.compile("/console/campaigns/[^/]+$|/console/campaigns/[^/]+\\?"))
    page.evaluate("window.isSamePage = true")
    page.locator("#funnel tr", has_text="Shown").locator("td", has_text=re.compile("^1$")).wait_for(timeout=30_000)
    assert page.evaluate("window.isSamePage === true"), "the funnel grows without a reload"
    identifier = page.url.split("/campaigns/")[1].split("?")[0]
    notification = wait_until(
        lambda: next((
            item for item in httpx.get(f"{path['http']}/v1/notifications", params={"text": title}).json()["notifications"]
            if item["outcome"] == "presented"), None), "the notification was shown")
    content = httpx.get(f"{path['http']}/v1/notifications/{notification['id']}").json()[0]["content"]
    assert "harbour" in json.dumps(content) or "https://" in json.dumps(content), "the picture is in the payload"

    assert on_the_screen(path, title) == 2, "the test and the campaign"

    # Withdrawing it.
    page.goto(f"/console/campaigns/{identifier}?hub={hub}")
    page.locator("summary", has_text="Withdraw").click()
    page.locator("form[action*='/withdraw'] button").click()
    page.get_by_text(re.compile("notification was withdrawn|notifications were withdrawn")).wait_for()
    wait_until(lambda: on_the_screen(path, title) == 1, "the device has removed the campaign's notification")
    recipients = httpx.get(f"{path['http']}/console/campaigns/{identifier}/recipients", params={"hub": hub}).text
    assert "story" in recipients
    assert page.faults == []
