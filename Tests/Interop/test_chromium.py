"""Debian's Chromium, unchanged, with the switches that name its push service: a page subscribes and is woken.

Where Chromium is installed and does not come to the end, the test fails, and says at which step it stopped.
"""

import json
import shutil
import subprocess
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
from py_vapid import Vapid02
from pywebpush import WebPushException, webpush

from aldaba_process import clean_environment, run_aldaba
from page_server import PageServer

CHROMIUM = shutil.which("chromium")


class World(PageServer):
    """A page's server that also stands in front of the enrolment, so that each step of Chromium's is seen."""

    browser = "Chromium"

    def __init__(self, path):
        self.path = path
        self.calls = []
        super().__init__()

    def post(self, path, headers, body):
        kept = {name: headers[name] for name in ("content-type", "authorization") if headers[name]}
        asked = urllib.request.Request(self.path["http"] + path, body, kept, method="POST")
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                status, kind, text = answer.status, answer.headers["content-type"], answer.read()
        except urllib.error.HTTPError as refusal:
            status, kind, text = refusal.code, refusal.headers["content-type"], refusal.read()
        self.calls.append((path, status, text if path != "/checkin" else b""))
        return status, text, kind

    def seen(self):
        return f"; it had called {self.calls}"


@pytest.fixture
def world(path):
    made = World(path)
    yield made
    made.close()


@pytest.fixture
def chromium(path, world, tmp_path):
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    home = tmp_path / "home"
    profile = tmp_path / "profile"
    home.mkdir()
    (profile / "Default").mkdir(parents=True)
    (profile / "Default" / "Preferences").write_text(
        json.dumps({"profile": {"default_content_setting_values": {"notifications": 1}}}))
    front = f"http://127.0.0.1:{world.port}"
    mcs = path["mcs"].split("//")[-1]
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
        f"--user-data-dir={profile}", f"--gcm-checkin-url={front}/checkin",
        f"--gcm-registration-url={front}/c2dm/register3", f"--gcm-mcs-endpoint=https://{mcs}",
        "--ignore-certificate-errors", "--enable-logging=stderr",
        f"http://localhost:{world.port}/",
    ]
    with open(tmp_path / "chromium.log", "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean_environment(HOME=str(home)))
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


@pytest.fixture(scope="module")
def page_app(path):
    """The app whose topic is the page's host."""
    run_aldaba("app", "create", "localhost", "--team", path["teamId"], "--data", path["data"])


@pytest.mark.timeout(180)
def test_a_page_subscribes_and_is_woken(path, world, page_app, chromium, send):
    world.next("page")
    subscription = world.next("subscribed")["subscription"]
    token = subscription["endpoint"].rsplit("/", 1)[-1]
    assert len(token) == 64
    status, _, reason = send(token, {"aps": {"alert": "hidden"}}, apns_topic="localhost")
    assert status == 200, reason
    assert world.next("push")["text"] is None, "without the page's keys there is no content"
    install = json.loads(post(path, "installations", {"appId": "1:2:web:3"}, {}))
    keys = subscription["keys"] | {"endpoint": subscription["endpoint"]}
    post(path, "registrations", {"web": keys}, {"x-goog-firebase-installations-auth": install["authToken"]["token"]})
    status, _, reason = send(token, {"aps": {"alert": "seen"}, "k": "v"}, apns_topic="localhost")
    assert status == 200, reason
    message = json.loads(world.next("push")["text"])
    assert (message["notification"]["body"], message["data"]) == ("seen", {"k": "v"})


@pytest.mark.timeout(180)
@pytest.mark.parametrize("coding", ["aes128gcm", "aesgcm"])
def test_a_page_s_own_server_sends_to_its_subscription(path, world, page_app, chromium, coding):
    """PyPI's pywebpush, unchanged, to the address that Chromium gave the page; nothing in it is changed but the origin."""
    world.next("page")
    subscription = world.next("subscribed")["subscription"]
    # Debian's names jmt17.google.com, Google's own fcm.googleapis.com; it is compiled in.
    assert ".google" in urlsplit(subscription["endpoint"]).hostname
    subscription["endpoint"] = path["http"] + urlsplit(subscription["endpoint"]).path
    claims = {"sub": "mailto:shop@example.org"}
    answer = webpush(
        subscription, "Milk – and bread", vapid_private_key=world.vapid, vapid_claims=dict(claims), ttl=60,
        content_encoding=coding, headers={"urgency": "high"})
    assert answer.status_code == 201
    assert world.next("push")["text"] == "Milk – and bread"
    other = Vapid02()
    other.generate_keys()
    with pytest.raises(WebPushException) as refusal:
        webpush(subscription, "x", vapid_private_key=other, vapid_claims=dict(claims), ttl=60)
    assert refusal.value.response.status_code == 403


def post(path, what, body, headers):
    request = urllib.request.Request(
        f"{path['http']}/v1/projects/{path['teamId'].lower()}/{what}", json.dumps(body).encode(),
        {"content-type": "application/json"} | headers, method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()
