"""The console's pages of campaigns, audiences, installations, people, templates and reports, as a browser asks for them."""

import csv
import io
import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

import httpx
import pytest

from console_browser import chromium, pages  # noqa: F401
from hub_clients import OwnHub
from test_hub import handed, shown
from waiting import wait_until

LONG = 15_000


class Forms(HTMLParser):
    """The forms of a page with the values that a browser would send."""

    def __init__(self, text):
        super().__init__()
        self.forms, self._area, self._select = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append({"action": attributes.get("action"), "method": attributes.get("method"), "fields": {}})
        elif not self.forms:
            return
        fields, name = self.forms[-1]["fields"], attributes.get("name")
        if tag == "input" and name and (attributes.get("type") != "checkbox" or "checked" in attributes):
            fields[name] = attributes.get("value", "")
        elif tag == "textarea":
            self._area, fields[name] = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in attributes or self._select not in fields):
            fields[self._select] = attributes.get("value", "")

    def handle_data(self, data):
        if self._area:
            self.forms[-1]["fields"][self._area] += data

    def handle_endtag(self, tag):
        if tag == "textarea" and self._area:
            fields = self.forms[-1]["fields"]
            fields[self._area] = fields[self._area].removeprefix("\n")
            self._area = None
        elif tag == "select":
            self._select = None


class Console:
    """The pages without scripts."""

    def __init__(self, address):
        self.client = httpx.Client(base_url=address, timeout=20, headers={"accept-language": "en"})

    def get(self, path, status=200, **query):
        answer = self.client.get(path + ("?" + urlencode(query) if query else ""))
        assert answer.status_code == status, (path, answer.status_code, answer.text)
        return answer.text

    def form(self, text, end):
        """The form whose action ends so."""
        return next(form for form in Forms(text).forms if urlsplit(form["action"]).path.endswith(end))

    def send(self, form, status=303, **values):
        answer = self.client.request(
            form["method"].upper(), form["action"], data=form["fields"] | values,
            headers={"sec-fetch-site": "same-origin"})
        assert answer.status_code == status, (form["action"], answer.status_code, answer.text)
        return answer


@pytest.fixture(scope="module")
def console(path):
    made = Console(path["http"])
    yield made
    made.client.close()


@pytest.fixture(scope="module")
def own(path, control):
    hub = OwnHub(path, control)
    status, told = hub.ask("PUT", "/installations/demo", {
        "platform": "aldaba", "pushChannel": path["deviceToken"], "tags": ["weather", "test-device"], "userId": "anna",
        "locale": "es", "templates": {"storm": {"body": json.dumps({"aps": {"alert": "{'Storm at ' + $(place)}"}})}}})
    assert status in (200, 201), told
    return hub


def campaign_id(location):
    return urlsplit(location).path.split("/")[3]


def rows(text):
    """The cells of each row of the page's tables, as text."""
    return [
        [" ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split()) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.S)]


def step(text, name):
    return next(row for row in rows(text) if row[0] == name)


def test_a_campaign_from_its_plan_to_its_withdrawal(console, own, path):
    before = handed(path)
    plan = console.form(console.get("/console/campaigns/new"), "/new")
    values = {"title": "Rain <b>", "body": "At five", "name": "Rain & wind", "audience": "weather && !muted"}
    seen = console.send(plan, 200, do="preview", **values).text
    assert "The campaign would go to 1 installation." in seen and "For the installation demo" in seen
    assert "Rain &lt;b&gt;" in seen and "Rain <b>" not in seen
    assert handed(path) == before, "a preview sent something"
    again = console.form(seen, "/new")
    assert again["fields"]["key"] == plan["fields"]["key"] and again["fields"]["name"] == values["name"]

    begun = console.send(again, do="begin").headers["location"]
    # A form that is sent twice begins one campaign.
    assert campaign_id(console.send(again, do="begin").headers["location"]) == campaign_id(begun)
    campaign = campaign_id(begun)
    own.wait_for_campaign(campaign, "Completed")
    shown(path, before + 1)

    def page():
        return console.get(f"/console/campaigns/{campaign}", hub=path["hubName"])

    text = wait_until(lambda: (text := page()) and step(text, "Shown")[1] == "1" and text, "the funnel has the presentation")
    assert "Rain &amp; wind" in text and "Completed" in text
    assert step(text, "Targeted")[1:] == ["1", "100 %", "the hub"]
    assert step(text, "Accepted by the push service")[3] == "the push service"
    assert step(text, "Shown")[3] == "the device's agent"
    listed = console.get("/console/campaigns")
    assert any("Rain & wind" in row[0] and "Completed" in row[1] for row in rows(listed))

    recipients = rows(console.get(f"/console/campaigns/{campaign}/recipients"))
    assert recipients[1][0] == "demo" and "Shown" in recipients[1][2] and "It was shown." in recipients[1][3]
    export = console.get(f"/console/campaigns/{campaign}/export", format="csv")
    assert next(csv.DictReader(io.StringIO(export)))["installationId"] == "demo"

    withdrawn = console.send(console.form(text, "/withdraw"))
    after = console.get(withdrawn.headers["location"])
    assert "1 notification was withdrawn." in after
    assert wait_until(lambda: step(page(), "Ended")[1] == "1", "the recipient has ended")


def test_a_campaign_is_paused_goes_on_and_is_cancelled(console, own):
    plan = console.form(console.get("/console/campaigns/new"), "/new")
    begun = console.send(
        plan, do="begin", title="Later", when="at", at="2199-01-01T09:00", rate="5").headers["location"]
    text = console.get(begun)
    assert "Waits for its time" in text and '2199-01-01T09:00:00' in text
    for verb, state, notice in (
            ("pause", "Paused", "The campaign is paused."), ("resume", "Scheduled", "The campaign goes on."),
            ("cancel", "Canceled", "The campaign was cancelled.")):
        text = console.get(console.send(console.form(text, f"/{verb}")).headers["location"])
        assert notice in text
        assert own.ask("GET", f"/campaigns/{campaign_id(begun)}")[1]["state"] == state
    assert "/pause?" not in text and "/cancel?" not in text


@pytest.mark.parametrize("values, field, message", [
    ({"title": ""}, "title", ""), ({"title": "x", "audience": "a b"}, "audience", "character 3"),
    ({"title": "x", "rate": "x"}, "rate", "whole number"), ({"title": "x", "rate": "0"}, "rate", "1 to 100000"),
    ({"title": "x", "when": "at", "at": ""}, "at", "date and time"), ({"title": "x", "more": "{"}, "more", "JSON"),
    ({"title": "x", "more": '{"content":{"data":3}}'}, "more", "/content/data"),
    ({"title": "x", "quietFrom": "22:00"}, "quietTo", "time of day"),
])
def test_a_wrong_plan_says_where(console, own, values, field, message):
    plan = console.form(console.get("/console/campaigns/new"), "/new")
    text = console.send(plan, 400, do="begin", **values).text
    fault = re.search(rf'<span class="invalid" id="{field}-fault">(.*?)</span>', text)
    assert fault and message in unescape(fault[1]), text
    assert re.search(rf'name="{field}"[^>]*aria-invalid="true"[^>]*aria-describedby="[^"]*{field}-fault', text)


def test_a_plan_is_tried_on_test_devices(console, own, path):
    before = handed(path)
    plan = console.form(console.get("/console/campaigns/new"), "/new")
    assert "Success" in console.send(plan, 200, do="test", title="Try").text
    shown(path, before + 1)


def test_the_funnel_grows_by_itself(console, own, path, pages):
    before = handed(path)
    plan = console.form(console.get("/console/campaigns/new"), "/new")
    begun = console.send(plan, do="begin", title="Live", when="at", at="2199-01-01T09:00").headers["location"]
    page = pages()
    with page.expect_response(lambda response: "/live" in response.url):
        page.goto(begun)
    page.evaluate("window.isSamePage = true")
    assert "Waits" in page.locator("#state").inner_text()
    own.ask("POST", f"/campaigns/{campaign_id(begun)}/cancel")
    page.locator("#state", has_text="Cancelled").wait_for(timeout=LONG)
    assert page.evaluate("window.isSamePage") and page.faults == [] and handed(path) == before


def test_an_audience_and_the_fault_in_an_expression(console, own):
    text = console.get("/console/audiences", expression="weather && !muted")
    assert "The expression means 1 installation." in text and ">demo</a>" in text
    assert "everybody" in console.get("/console/audiences")
    text = console.get("/console/audiences", status=400, expression="weather <b>")
    assert "<code>weather <mark>&lt;</mark>b&gt;</code>" in text and "character 9" in text


def test_an_installation_is_found_and_changed(console, own):
    assert ">demo</bdi>" in console.get("/console/installations", user="anna")
    found = console.client.get("/console/installations?id=demo")
    assert found.status_code == 303
    assert "No installation has this id." in console.get("/console/installations", id="nobody")
    assert "<mark>" in console.get("/console/installations", status=400, expression="a b")
    page = console.get(found.headers["location"])
    assert "/console/users/anna" in page and "Everything about this person" in page
    saved = console.send(console.form(page, "/tags"), tags="weather test-device <b>", status=400)
    assert "tags-fault" in saved.text and "weather test-device &lt;b&gt;" in saved.text
    form = console.form(page, "/tags")
    assert "was saved" in console.get(console.send(form, tags="weather, test-device  news").headers["location"])
    assert own.ask("GET", "/installations/demo")[1]["tags"] == ["weather", "test-device", "news"]
    # The first page shows a version that is no more.
    stale = console.send(form, tags="mine", status=412).text
    assert "Somebody changed the installation" in stale and ">mine</textarea>" in re.sub(r"\n\s*mine", "mine", stale)
    page = console.get(found.headers["location"])
    form = console.form(page, "/document")
    document = json.loads(form["fields"]["document"])
    console.send(form, document=json.dumps(document | {"country": "AT"}))
    assert own.ask("GET", "/installations/demo")[1]["country"] == "AT"
    wrong = console.send(console.form(console.get(found.headers["location"]), "/document"), document="{", status=400)
    assert "document-fault" in wrong.text


def test_templates_are_previewed_by_a_real_installation(console, own):
    text = console.get("/console/templates", installation="demo", properties='{"place": "<harbour>"}')
    assert "Storm at &lt;harbour&gt;" in text
    assert "properties-fault" in console.get("/console/templates", status=400, installation="demo", properties="{")
    assert "does not exist" in console.get("/console/templates", status=404, installation="nobody")


def test_a_person_is_exported_and_erased(console, own, path):
    for name in ("one", "two"):
        own.ask("PUT", f"/installations/{name}", {"platform": "aldaba", "pushChannel": name, "userId": "José Ñ"})
    assert "/console/users/Jos%C3%A9%20%C3%91" in console.get("/console/installations", user="José Ñ")
    page = console.get("/console/users/Jos%C3%A9%20%C3%91")
    assert ">one</bdi>" in page and ">two</bdi>" in page
    link = unescape(re.search(r'href="([^"]*/export[^"]*)"', page)[1])
    answer = console.client.get(link)
    assert "attachment" in answer.headers["content-disposition"]
    assert sorted(each["installationId"] for each in answer.json()["installations"]) == ["one", "two"]
    form = console.form(page, "/erase")
    assert "Type José Ñ to confirm" in console.send(form, status=400, user="José").text
    assert own.ask("GET", "/installations/one")[0] == 200
    erased = console.send(form, status=200, user="José Ñ").text
    assert "was erased, with 2 installations" in erased and own.ask("GET", "/installations/one")[0] == 404
    anna = own.ask("GET", "/users/anna/export")[1]
    assert [each["installationId"] for each in anna["installations"]] == ["demo"]
    assert any(entry["state"] == "presented" for each in anna["notifications"] for entry in each["timeline"])


def test_reports_have_figures_a_chart_and_downloads(console, own, path, provider):
    assert provider.post(path["deviceToken"], {"aps": {"alert": "Counted"}}).status == 200
    total = wait_until(
        lambda: (total := console.client.get("/v1/reports").json()["total"])["presented"] > 0 and total, "it is counted")
    text = console.get("/console/reports")
    assert "From providers&apos; requests" in text or "From providers' requests" in unescape(text)
    assert f'<span class="figure">{total["accepted"]}</span>' in text
    svg = ElementTree.fromstring(re.search(r'<svg role="img".*?</svg>', text, re.S)[0])
    assert svg.find("title").text.startswith("Notifications by day") and svg.find("desc").text
    assert len(svg.findall("rect")) == 7 * 4
    lines = console.get("/console/reports/rows", format="jsonl").splitlines()
    assert sum(json.loads(line)["counts"]["accepted"] for line in lines) == total["accepted"]
    table = list(csv.DictReader(io.StringIO(console.get("/console/reports/rows", format="csv"))))
    assert sum(int(row["accepted"]) for row in table) == total["accepted"]
    assert console.get("/console/reports/events", format="jsonl").count("\n") > 0
    for by in ("app", "label", "lane"):
        assert console.get("/console/reports", by=by)
    assert "such as 2026" in console.get("/console/reports", status=400, **{"from": "yesterday"})
    newest = console.client.get("/v1/notifications?limit=1").json()["notifications"][0]["id"]
    assert '<span class="figure">1</span>' in console.get("/console/reports/sends", id=newest)
    assert "No notification has this id" in console.get("/console/reports/sends", id="123")


def test_the_pages_are_spanish_too(console, own):
    for page in ("campaigns", "campaigns/new", "audiences", "installations", "installations/demo", "users/anna", "templates",
                 "reports", "reports/sends"):
        text = console.get(f"/console/{page}", language="es")
        assert 'lang="es"' in text
        assert not re.search(r">\s*(campaigns?|reports?|audiences|installations?|person|templates|hub)\.[a-z]", text), page
