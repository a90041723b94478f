"""Debian's Firefox, unchanged, whose push service is this server by one preference: a page subscribes and is woken."""

import os
import shutil
import signal
import subprocess

import pytest
from pywebpush import WebPushException, webpush
from py_vapid import Vapid02

from aldaba_process import AldabaUp, clean_environment
from control_client import ControlClient
from page_server import PageServer
from waiting import kill, wait_until

FIREFOX = shutil.which("firefox-esr")
CLAIMS = {"sub": "mailto:shop@example.org"}
PREFERENCES = {
    "dom.push.connection.enabled": True,
    # The address is on this machine and not encrypted, as in a test.
    "dom.push.testing.allowInsecureServerURL": True,
    # The page may show notifications, and nobody is asked.
    "permissions.default.desktop-notification": 1,
    "dom.push.testing.ignorePermission": True,
    "dom.push.retryBaseInterval": 200,
    "dom.push.loglevel": "all",
    # No request of the browser's own leaves the machine.
    "network.proxy.type": 0,
    "app.update.enabled": False,
    "services.settings.server": "http://127.0.0.1:9/",
    "browser.safebrowsing.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "toolkit.startup.max_resumed_crashes": -1,
    "browser.sessionstore.resume_from_crash": False,
    "browser.aboutwelcome.enabled": False,
    "alerts.useSystemBackend": False,
}

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="firefox-esr is not installed")


class Firefox:
    """A browser with a profile of its own, which can be started again."""

    def __init__(self, folder, push_service, page):
        self.profile, self.home, self.page = folder / "profile", folder / "home", page
        self.log = folder / "firefox.log"
        self.profile.mkdir()
        self.home.mkdir()
        settings = PREFERENCES | {"dom.push.serverURL": push_service}
        lines = []
        for name, value in settings.items():
            text = f'"{value}"' if isinstance(value, str) else str(value).lower()
            lines.append(f'user_pref("{name}", {text});')
        (self.profile / "user.js").write_text("\n".join(lines) + "\n")
        self.process = None

    def start(self, page=None):
        command = [FIREFOX, "--headless", "--no-remote", "--profile", str(self.profile), page or self.page]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env=clean_environment(HOME=str(self.home), MOZ_CRASHREPORTER_DISABLE="1"))

    def end(self, number=signal.SIGTERM):
        """Ends the browser with all its processes."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, number)
            self.process.wait(15)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(15)
        self.process = None


@pytest.fixture
def page():
    server = PageServer()
    server.browser = "Firefox"
    yield server
    server.close()


@pytest.fixture
def firefox(path, page, tmp_path):
    browser = Firefox(tmp_path, f"ws://{path['mcs'].split('//')[-1]}/", f"http://localhost:{page.port}/")
    browser.start()
    yield browser
    browser.end()


def push(page, subscription, text, **more):
    answer = webpush(subscription, text, vapid_private_key=page.vapid, vapid_claims=dict(CLAIMS), **{"ttl": 60} | more)
    assert answer.status_code == 201
    return answer.headers["location"].rsplit("/", 1)[-1]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("coding", ["aes128gcm", "aesgcm"])
def test_a_page_subscribes_and_its_worker_shows_what_its_server_sends(path, page, firefox, coding):
    subscription = page.next("subscribed")["subscription"]
    assert subscription["endpoint"].startswith(f"{path['http']}/wpush/v2/")
    number = push(page, subscription, "Milk – and bread", content_encoding=coding)
    assert page.next("push")["text"] == "Milk – and bread"
    control = ControlClient(path["http"])
    control.wait_for_last_state(number, "presented")
    assert control.states(number) == ["accepted", "stored", "sent", "acked", "presented"]
    other = Vapid02()
    other.generate_keys()
    with pytest.raises(WebPushException) as refusal:
        webpush(subscription, "x", vapid_private_key=other, vapid_claims=dict(CLAIMS), ttl=60)
    assert refusal.value.response.status_code == 403
    control.close()


def drain(page):
    """What the worker reported so far, and nothing waits to be reported."""
    came = []
    while not page.steps.empty():
        step = page.steps.get()
        if step["step"] == "push":
            came.append(step["text"])
    return came


@pytest.mark.timeout(300)
def test_a_subscription_outlives_sudden_ends_of_browser_and_server(request, page, tmp_path):
    """Nothing is lost, and nothing comes twice."""
    running = AldabaUp.ephemeral(name=request.node.name)
    path = running.ready
    browser = Firefox(tmp_path, f"ws://{path['mcs'].split('//')[-1]}/", f"http://localhost:{page.port}/")
    try:
        browser.start()
        subscription = page.next("subscribed")["subscription"]
        push(page, subscription, "first")
        assert page.next("push")["text"] == "first"
        control = ControlClient(path["http"])
        # The acknowledgement shows that the browser has written down what came.
        browser.end(signal.SIGKILL)
        waiting = push(page, subscription, "while the browser was away")
        browser.start()
        assert page.next("push")["text"] == "while the browser was away"
        # After a sudden end Firefox opens the page in a container of its own first, which has a subscription for a moment.
        while page.next("subscribed")["subscription"] != subscription:
            pass
        control.wait_for_last_state(waiting, "presented")
        pid = running.pids()["serve"]
        kill(pid)
        running.wait_for_new_pid("serve", pid)
        wait_until(lambda: is_up(control), "the server is back")
        push(page, subscription, "after the server was away")
        assert page.next("push")["text"] == "after the server was away"
        push(page, subscription, "the last")
        assert page.next("push")["text"] == "the last"
        assert drain(page) == []
        control.close()
    finally:
        browser.end()
        running.stop()
        running.drop_logs()


def is_up(control):
    try:
        return control.request("GET", "/health")[0] == 200
    except OSError:
        control.close()
        return False
