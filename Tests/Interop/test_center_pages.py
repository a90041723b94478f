"""`aldaba center`: a person in a browser lists, opens, answers and dismisses notifications, and changes what an app may do."""

import json
import os
import re
import signal
import subprocess
from urllib.parse import urlsplit

import httpx
import pytest

from aldaba_process import BINARY, clean_environment, run_aldaba
from browser import CHROMIUM, Browser
from pages import run_shell
from pictures import png
from test_center import SCRIPT, Run
from waiting import wait_until

HOSTILE = '<img src=x onerror="document.title=1">\u202etxt'
CATEGORY = {
    "identifier": "tea", "intentIdentifiers": [], "options": 1,
    "actions": [
        {"identifier": "more\r\n\"", "title": "Five more", "options": 0},
        {"identifier": "say", "title": "Reply", "options": 0, "textInput": {"buttonTitle": "Say", "placeholder": "When?"}},
    ],
}
TOKEN = re.compile(r"^http://127\.0\.0\.1:\d+/[0-9a-f]{16}/\?token=[0-9a-f]{64}$")


class Center:
    """A running `aldaba center`."""

    def __init__(self, data, *arguments, **environment):
        self.process = subprocess.Popen(
            [str(BINARY), "center", "--data", str(data), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=clean_environment(**environment))
        self.address = self.process.stdout.readline().strip()
        assert TOKEN.match(self.address), self.address + self.process.stderr.read()

    @property
    def page(self):
        return self.address.split("?")[0]

    def client(self, **options):
        """A client that has entered, as a browser without JavaScript does."""
        address = urlsplit(self.address)
        headers = {"origin": f"http://{address.netloc}"} | options.pop("headers", {})
        client = httpx.Client(headers=headers, **options)
        entered = client.get(self.address)
        assert entered.status_code == 200 and f"url={address.path}" in entered.text
        return client

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        errors = self.process.communicate(timeout=20)[1]
        return self.process.returncode, errors


@pytest.fixture(scope="module")
def run(up):
    return Run(up, "ask")


@pytest.fixture
def agent(run):
    run.aldaba("settings", SCRIPT, "allowed=yes", "alerts=on")
    run.aldaba("notifications", "dismiss", "--all")
    with run.agent() as made:
        made.set_categories([CATEGORY])
        yield made


@pytest.fixture
def center(run):
    made = Center(run.up.data, "--no-browser", LANG="C.UTF-8")
    yield made
    made.stop()


def show(run, agent, identifier, **content):
    agent.add(identifier, **content)

    def is_listed():
        try:
            agent.wait_for_notification(0.2)  # An app in the background is handed nothing.
        except TimeoutError:
            pass
        return [each for each in run.listed() if each["notification"]["identifier"] == identifier]

    wait_until(is_listed, "it is in the list")


@pytest.mark.timeout(240)
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_person_in_a_browser(run, agent, center, tmp_path):
    show(run, agent, "tea", title="Tea", body=HOSTILE, categoryIdentifier="tea")
    browser = Browser(tmp_path)
    try:
        browser.open(center.address)
        browser.wait_for_text('<img src=x onerror="document.title=1">⟨U+202E⟩txt')
        assert browser.read("document.querySelectorAll('article img').length") == 0
        assert browser.read("location.href") == center.page, "the token is not in the address any more"
        assert browser.read("document.cookie") == "", "no script can read the cookie"
        browser.press("Five more", near="Tea")
        assert agent.wait_for_response(20)["action"] == 'more\r\n"'
        browser.wait_for_text("No notifications.")

        # What comes while the page is looked at appears by itself.
        show(run, agent, "cake", title="Cake", categoryIdentifier="tea")
        browser.wait_for_text("Cake")
        browser.type("input[name=text]", "At seven, María")
        show(run, agent, "milk", title="Milk", categoryIdentifier="tea")
        browser.press("Say", near="Cake")
        response = agent.wait_for_response(20)
        assert (response["action"], response["userText"]) == ("say", "At seven, María")
        browser.press("Dismiss", near="Milk")
        assert agent.wait_for_response(20)["action"].endswith("UNNotificationDismissActionIdentifier")

        show(run, agent, "open", title="Bread")
        browser.press("Open", near="Bread")
        assert agent.wait_for_response(20)["action"].endswith("UNNotificationDefaultActionIdentifier")

        browser.press("Settings")
        browser.press("Script")
        browser.click("input[name=alerts]")
        browser.press("Save")
        browser.wait_for_text("Saved.")
        assert browser.read("document.querySelector('input[name=alerts]').checked") is False
        settings = run.aldaba("settings", SCRIPT).stdout
        assert "alerts=off" in settings and "sounds=on" in settings and "allowed=yes" in settings
        browser.press("Notifications")
        assert center.stop() == (0, "")
        browser.wait_for_text("aldaba center has ended")
    finally:
        browser.stop()


def test_forms_alone_do_everything(run, agent, center):
    client = center.client(follow_redirects=True, headers={"accept-language": "es-MX, en;q=0.5"})
    base = center.page.rstrip("/")
    empty = client.get(center.page).text
    assert "No hay notificaciones." in empty and '<html lang="es">' in empty
    for number in (1, 2, 3):
        show(run, agent, f"n{number}", title=f"Number {number}")
    page = client.get(center.page).text
    newest = run.listed()[-1]["notification"]["date"]
    assert page.index("Number 3") < page.index("Number 1") and f'value="{newest}"' in page
    assert client.post(base + "/dismiss-all", data={"until": run.listed()[1]["notification"]["date"]}).status_code == 200
    assert [each["content"]["title"] for each in run.listed()] == ["Number 3"], "what came later was not seen, and stays"
    gone = client.post(base + "/notifications/999/open")
    assert gone.status_code == 409 and "no notification 999 is in the list" in gone.text

    run.aldaba("notify", "Later", "--in", "1h")
    page = client.get(center.page).text
    assert "Later" in page and "1 h after it was added" in page
    fields = dict(re.findall(r'name="(app|identifier)" value="([^"]+)"', page))
    assert client.post(base + "/cancel", data=fields).status_code == 200
    assert json.loads(run.aldaba("notifications", "pending", "--json").stdout) == []

    wrong = client.post(base + "/apps/all", data={"before.quiet-hours": "off", "quiet-hours": "late"})
    assert wrong.status_code == 409 and "two times such as 22:00-07:00" in wrong.text
    saved = client.post(base + "/apps/all", data={"before.quiet-hours": "off", "quiet-hours": "22:00-07:00"})
    assert "Guardado." in saved.text and "22:00-07:00" in run.aldaba("settings", "all").stdout
    run.aldaba("settings", "all", "quiet-hours=off")
    long = client.post(base + "/cancel", data={"app": "x" * 9000})
    assert long.status_code == 413 and "8192" in long.text


def test_a_picture_is_shown(run, center, tmp_path):
    (tmp_path / "bread.png").write_bytes(png())
    run.aldaba("notify", "Bread", "--image", tmp_path / "bread.png")
    client = center.client()
    [source] = re.findall(r'<img src="([^"]+)"', client.get(center.page).text)
    shown = client.get(str(httpx.URL(center.page).copy_with(path=source)))
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert shown.content == png() and "default-src 'none'" in shown.headers["content-security-policy"]
    for wrong, status in ((source[:-1] + "7", 404), (re.sub("-?[0-9]+/pictures", "999/pictures", source), 409)):
        assert client.get(str(httpx.URL(center.page).copy_with(path=wrong))).status_code == status


def test_strangers_are_refused(center):
    address = urlsplit(center.address)
    base, origin = center.page.rstrip("/"), f"http://{address.netloc}"
    cookie = center.client().cookies.get("aldaba-center")
    known = {"cookie": f"aldaba-center={cookie}"}
    fields = httpx.get(center.address)
    assert re.fullmatch(
        rf"aldaba-center=[0-9a-f]{{64}}; Path={address.path.rstrip('/')}; HttpOnly; SameSite=Strict", fields.headers["set-cookie"])
    assert "default-src 'none'" in fields.headers["content-security-policy"]
    assert "unsafe" not in fields.headers["content-security-policy"]
    assert (fields.headers["x-content-type-options"], fields.headers["cache-control"]) == ("nosniff", "no-store")
    assert httpx.get(center.page, headers=known).status_code == 200
    for status, method, url, headers in (
        (403, "GET", center.page, {}),
        (403, "GET", center.page + "?token=" + "0" * 64, {}),
        (403, "GET", center.page, {"cookie": "aldaba-center=" + "0" * 64}),
        (403, "GET", base + "/center.css", {}),
        (403, "GET", center.page, known | {"host": f"evil.example:{address.port}"}),
        (403, "POST", base + "/dismiss-all", known),
        (403, "POST", base + "/dismiss-all", known | {"origin": "http://evil.example"}),
        (403, "POST", base + "/dismiss-all", known | {"origin": "null"}),
        (403, "POST", base + "/dismiss-all", {"origin": origin}),
        (400, "POST", base + "/dismiss-all", known | {"origin": origin}),
        (404, "GET", f"{origin}/{'0' * 16}/", known),
    ):
        answer = httpx.request(method, url, headers=headers)
        assert answer.status_code == status, (method, url, headers, answer.text)
        assert not answer.headers.get("set-cookie") and address.path not in answer.text or status == 400


def test_the_browser_gets_the_address_from_a_file_of_the_person_s(run, tmp_path):
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/argument\ncp "${{1#file://}}" {tmp_path}/copy\n'
                      f'stat -c %a "$(dirname "${{1#file://}}")" > {tmp_path}/mode.new\nmv {tmp_path}/mode.new {tmp_path}/mode\n')
    opener.chmod(0o755)
    center = Center(run.up.data, PATH=f"{tmp_path}:{os.environ['PATH']}", TMPDIR=str(tmp_path))
    try:
        wait_until((tmp_path / "mode").exists, "the browser was started", folder=tmp_path)
        argument = (tmp_path / "argument").read_text()
        assert "token" not in argument and argument.startswith(f"file://{tmp_path}/aldaba-center-")
        assert f"url={center.address}" in (tmp_path / "copy").read_text()
        assert (tmp_path / "mode").read_text() == "700\n"
    finally:
        assert center.stop()[0] == 0
    assert not list(tmp_path.glob("aldaba-center-*"))


def test_without_an_agent_it_says_so(tmp_path):
    failed = run_aldaba("center", "--data", tmp_path, check=False)
    assert failed.returncode == 6 and "no agent answers" in failed.stderr


def test_the_page_of_the_guides(path, tmp_path):
    done = run_shell("center.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "It is ready."
    assert (tmp_path / "address").stat().st_mode & 0o777 == 0o600
