"""Debian's Chromium, whose person takes a site's permission back or removes the profile: what senders are told."""

import json
import shutil
import subprocess
import urllib.request
from urllib.parse import urlsplit

import pytest
import requests
from pywebpush import WebPushException, webpush
from websockets.sync.client import connect

import page_server
from aldaba_process import clean_environment, run_aldaba
from test_chromium import CHROMIUM, World, page_app  # noqa: F401
from waiting import wait_until

pytestmark = [
    pytest.mark.timeout(180), pytest.mark.usefixtures("page_app"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
ALLOWED, BLOCKED = 1, 2
CLAIMS = {"sub": "mailto:shop@example.org"}


class Chromium:
    """A browser with a profile of its own, which can be started again."""

    def __init__(self, path, world, folder):
        self.origin = f"http://localhost:{world.port}"
        self.profile, self.home, self._log = folder / "profile", folder / "home", folder / "chromium.log"
        self._preferences = self.profile / "Default" / "Preferences"
        self._preferences.parent.mkdir(parents=True)
        self.home.mkdir()
        self._preferences.write_text("{}")
        self.permit(ALLOWED)
        front = f"http://127.0.0.1:{world.port}"
        self._command = [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            f"--user-data-dir={self.profile}", f"--gcm-checkin-url={front}/checkin",
            f"--gcm-registration-url={front}/c2dm/register3",
            f"--gcm-mcs-endpoint=https://{path['mcs'].split('//')[-1]}", "--ignore-certificate-errors",
            "--enable-logging=stderr", "--remote-debugging-port=0"]
        self._process = None

    def permit(self, setting):
        """What the profile has of the site's permission to show notifications; `None` is what a reset leaves."""
        preferences = json.loads(self._preferences.read_text())
        settings = preferences.setdefault("profile", {}).setdefault("content_settings", {}).setdefault("exceptions", {})
        sites = settings.setdefault("notifications", {})
        sites.pop(f"{self.origin},*", None)
        if setting:
            sites[f"{self.origin},*"] = {"setting": setting}
        self._preferences.write_text(json.dumps(preferences))

    def start(self, page="about:blank"):
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [*self._command, page], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=clean_environment(HOME=str(self.home)))

    def end(self):
        """Ends it as a person does, so that the profile is written."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        self._process = None

    def kill(self):
        """Ends it at once, so that it writes nothing more."""
        self._process.kill()
        self._process.wait(10)
        self._process = None

    def block_by_settings(self):
        """Chooses "Block" for notifications on the browser's own page of settings about the site."""
        file = self.profile / "DevToolsActivePort"
        port = wait_until(lambda: file.exists() and file.read_text().split("\n")[0], "Chromium has named its port")
        address = f"chrome://settings/content/siteDetails?site={self.origin}"
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/json/new?{address}", method="PUT")
        with urllib.request.urlopen(asked, timeout=20) as answer:
            tab = json.load(answer)["webSocketDebuggerUrl"]
        with connect(tab) as page:
            wait_until(lambda: value(page, BLOCK), "the page has the choice", 30)


# Each choice is in a shadow tree of the page's.
BLOCK = """(() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap(
    (each) => [each, ...(each.shadowRoot ? all(each.shadowRoot) : [])]);
  const row = all(document).find((each) => each.category === "notifications" && each.shadowRoot);
  const choice = row?.shadowRoot.querySelector("select");
  if (choice?.value !== "allow") return false;
  choice.value = "block";
  choice.dispatchEvent(new Event("change", {bubbles: true}));
  return true;
})()"""


def value(page, script):
    """The value of an expression in a tab."""
    parameters = {"expression": script, "returnByValue": True}
    page.send(json.dumps({"id": 1, "method": "Runtime.evaluate", "params": parameters}))
    while (answer := json.loads(page.recv(20))).get("id") != 1:
        pass
    return answer["result"]["result"].get("value")


class Seen(World):
    """The page's server, which counts the subscriptions that the browser ends."""

    ended = 0

    def post(self, path, headers, body):
        answer = super().post(path, headers, body)
        self.ended += b"delete=true" in body and answer[0] == 200
        return answer


@pytest.fixture
def world(path, monkeypatch):
    # Chromium registers three seconds after its start. A page that asks again then has two subscriptions, of which the
    # later one ends the earlier one.
    monkeypatch.setattr(page_server, "PAGE", page_server.PAGE.replace("resolve, 3000", "resolve, 60000"))
    made = Seen(path)
    yield made
    made.close()


@pytest.fixture
def chromium(path, world, tmp_path):
    made = Chromium(path, world, tmp_path)
    yield made
    made.end()


@pytest.fixture
def subscription(path, world, chromium):
    """That of a page in the running browser, with this server's host."""
    chromium.start(chromium.origin + "/")
    made = world.next("subscribed")["subscription"]
    return made | {"endpoint": path["http"] + urlsplit(made["endpoint"]).path}


@pytest.fixture
def push(world, subscription):
    """`push(text)`: the answer to a message to the subscription."""

    def send(text, ttl=600, headers=None):
        try:
            return webpush(
                subscription, text, vapid_private_key=world.vapid, vapid_claims=dict(CLAIMS), ttl=ttl, headers=headers)
        except WebPushException as refusal:
            return refusal.response

    return send


def sent(push, text, **options):
    """The number of a message that the server took."""
    answer = push(text, **options)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"].rsplit("/", 1)[-1]


@pytest.mark.parametrize("setting", [BLOCKED, None], ids=["blocked", "reset"])
def test_a_permission_taken_back_while_chromium_does_not_run_ends_the_subscription_at_the_next_message(
        chromium, world, push, control, setting):
    sent(push, "one")
    world.next("push")
    chromium.end()
    chromium.permit(setting)
    waiting = sent(push, "two")
    chromium.start()
    wait_until(lambda: world.ended, "Chromium has ended the subscription", 60)
    assert push("three").status_code == 410
    # The browser acknowledges the message that it does not show.
    assert control.states(waiting) == ["accepted", "stored", "sent", "acked"]
    assert world.steps.empty(), "the page's worker was not woken"


def test_a_permission_taken_back_in_the_settings_ends_the_subscription_without_a_message(chromium, world, push):
    assert push("one").status_code == 201
    world.next("push")
    chromium.block_by_settings()
    wait_until(lambda: world.ended, "Chromium has ended the subscription", 60)
    assert push("two").status_code == 410


@pytest.fixture
def removed(chromium, world, push):
    """The browser was there, and its profile is removed."""
    sent(push, "one")
    world.next("push")
    chromium.end()
    shutil.rmtree(chromium.profile)


def test_after_a_profile_was_removed_messages_are_stored_until_they_expire(removed, push, control):
    message = sent(push, "two", ttl=1)
    control.wait_for_last_state(message, "expired")
    assert control.states(message) == ["accepted", "stored", "expired"]


def test_after_a_profile_was_removed_a_receipt_says_that_a_message_did_not_arrive(removed, path, world, push):
    answer = push("two", ttl=1, headers={"Prefer": "respond-async"})
    assert answer.status_code == 202, answer.text
    address = path["http"] + answer.headers["location"]
    proof = world.vapid.sign(CLAIMS | {"aud": path["http"]})

    def receipt():
        return requests.get(address, headers=proof, timeout=10)

    wait_until(lambda: receipt().status_code == 410, "the receipt says that it did not arrive")
    assert "expired" in receipt().text, receipt().text


def test_a_device_whose_profile_was_removed_is_ended_by_its_operator(removed, path, push, control):
    """The server cannot know that the profile is gone, so it takes messages until somebody says so."""
    [message] = control.notifications(sent(push, "two"))
    run_aldaba("device", "revoke", message["device"], "--data", path["data"])
    assert push("three").status_code == 410
    control.wait_for_last_state(message["id"], "dropped(unregistered)")
