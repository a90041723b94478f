"""Examples/WebInbox in Debian's Firefox and Chromium on a desktop: a person subscribes, sees a message, and answers it."""

import json
import shutil
import subprocess
import sys
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
import requests
from py_vapid import Vapid02

from aldaba_process import REPOSITORY, clean_environment, run_aldaba
from screen import Screen
from test_firefox import PREFERENCES
from test_web_push import point, text
from waiting import TimedOut, kill, wait_until

INBOX = REPOSITORY / "Examples/WebInbox/inbox.py"
pytestmark = pytest.mark.desktop


class Inbox:
    """The page's server, and its commands."""

    def __init__(self, folder, push_service):
        self.data = folder / "inbox"
        self.process = subprocess.Popen(
            [sys.executable, INBOX, "serve", "--port", "0", "--data", self.data, "--push-service", push_service],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def run(self, *arguments):
        done = self.attempt(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def attempt(self, *arguments):
        """A command's completed process, which may have failed."""
        return subprocess.run(
            [sys.executable, INBOX, *arguments, "--data", self.data], capture_output=True, text=True, timeout=60)

    def subscriptions(self):
        file = self.data / "subscriptions.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def answers(self):
        return [json.loads(line) for line in self.run("answers").splitlines()]

    def close(self):
        kill(self.process.pid)
        self.process.wait(5)
        self.process.stdout.close()


@pytest.fixture
def screen():
    made = Screen(clean_environment(), server="mock")
    made.begin_window_manager()
    yield made
    made.stop()


@pytest.fixture
def inbox(path, tmp_path):
    made = Inbox(tmp_path, path["http"])
    yield made
    made.close()


def firefox(path, folder, address):
    profile = folder / "profile"
    profile.mkdir()
    settings = PREFERENCES | {
        "dom.push.serverURL": f"ws://{path['mcs'].split('//')[-1]}/", "alerts.useSystemBackend": True,
        "browser.startup.page": 1, "browser.startup.homepage": address}
    values = {name: json.dumps(value) for name, value in settings.items()}
    (profile / "user.js").write_text("".join(f'user_pref("{name}", {value});\n' for name, value in values.items()))
    return ["firefox-esr", "--no-remote", "--profile", str(profile), "--kiosk"]


def chromium(path, folder, address):
    profile = folder / "profile"
    (profile / "Default").mkdir(parents=True)
    (profile / "Default" / "Preferences").write_text(
        json.dumps({"profile": {"default_content_setting_values": {"notifications": 1}}}))
    return [
        "chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--password-store=basic",
        f"--user-data-dir={profile}", f"--gcm-checkin-url={path['http']}/checkin",
        f"--gcm-registration-url={path['http']}/c2dm/register3", f"--gcm-mcs-endpoint=https://{path['mcs'].split('//')[-1]}",
        "--ignore-certificate-errors", "--kiosk", address]


@pytest.fixture(params=[firefox, chromium], ids=["Firefox", "Chromium"])
def browser(request, path, screen, inbox, tmp_path):
    if request.param is chromium:
        # The app whose topic is the page's host.
        run_aldaba("app", "create", "localhost", "--team", path["teamId"], "--data", path["data"], check=False)
    command = request.param(path, tmp_path, inbox.address)
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    home = tmp_path / "home"
    home.mkdir()
    with open(tmp_path / "browser.log", "wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            env=screen.environment | {"HOME": str(home), "MOZ_CRASHREPORTER_DISABLE": "1"})
    yield process
    kill(process.pid)


def press_the_button(screen, inbox, count):
    """Presses the page's button, which stands below its heading; a page that is still loading has none."""

    def pressed():
        screen._xdotool("mousemove", "60", "128", "click", "1")
        with suppress(TimedOut):
            return wait_until(lambda: len(inbox.subscriptions()) == count, "the subscription", 10)

    wait_until(pressed, f"{count} subscriptions", 60)


def shown(screen, title):
    """The newest notification of a title on the bus: its number, and the arguments of `Notify`."""
    wait_until(lambda: screen.numbers(title), f"{title} is on the bus", 60)
    return screen.numbers(title)[-1], [each for each in screen.notified() if each[3] == title][-1]


def choose(screen, number, action):
    """What a desktop says when somebody presses a button of a notification."""
    screen._ask_mock(f"mock.EmitSignal('', 'ActionInvoked', 'us', [dbus.UInt32({number}), {action!r}])")


@pytest.mark.timeout(240)
def test_a_person_receives_messages_answers_them_and_stops(browser, screen, inbox):
    press_the_button(screen, inbox, 1)
    name = inbox.run("send", "Deploy?", "Version 2 is ready", "--action", "yes=Deploy", "--action", "no=Wait").strip()
    number, (_, _, _, _, body, actions, *_) = shown(screen, "Deploy?")
    assert "Version 2 is ready" in body
    labels = dict(zip(actions[1::2], actions[::2]))
    choose(screen, number, labels["Deploy"])
    wait_until(inbox.answers, "the answer is there")
    assert [(each["message"], each["action"]) for each in inbox.answers()] == [(name, "yes")]
    other = inbox.run("send", "Lunch", "--link", "/").strip()
    number, _ = shown(screen, "Lunch")
    choose(screen, number, "default")
    wait_until(lambda: len(inbox.answers()) == 2, "the click is told")
    assert (inbox.answers()[1]["message"], inbox.answers()[1]["action"]) == (other, "open")
    (endpoint,) = inbox.subscriptions()
    press_the_button(screen, inbox, 0)
    wait_until_ended(endpoint)


def wait_until_ended(endpoint):
    """The browser tells its push service that a subscription has ended; senders are told then."""
    wait_until(
        lambda: requests.post(endpoint, data=b"x" * 30, headers={"TTL": "60"}, timeout=10).status_code in (404, 410),
        "the endpoint has ended", 60)


def post(inbox, path, body, **headers):
    return requests.post(inbox.address + path, data=body, headers=headers, timeout=10).status_code


@pytest.mark.parametrize("body, status", [
    (b"x", 400), (b"[]", 400), (b"{}", 400), (json.dumps({"endpoint": "ftp://x", "keys": {"p256dh": "a", "auth": "b"}}), 400),
    (json.dumps({"endpoint": "http://x/1", "keys": {"p256dh": "a"}}), 400), (b"[" * 20_000, 413),
    (json.dumps({"endpoint": "http://x/1", "keys": {"p256dh": "a", "auth": "b"}}), 201),
])
def test_what_is_no_subscription_is_refused(inbox, body, status):
    assert post(inbox, "subscribe", body) == status
    assert len(inbox.subscriptions()) == (status == 201)


def test_pages_of_other_sites_cannot_subscribe_or_answer(inbox):
    for path in ("subscribe", "answer", "unsubscribe"):
        assert post(inbox, path, b"{}", origin="https://evil.example") == 403


def test_the_files_are_their_owner_s_alone(inbox):
    post(inbox, "subscribe", json.dumps({"endpoint": "http://x/1", "keys": {"p256dh": "a", "auth": "b"}}))
    post(inbox, "answer", b'{"message": "m", "action": "a"}')
    modes = {file.name: file.stat().st_mode & 0o777 for file in inbox.data.iterdir()}
    assert set(modes.values()) == {0o600} and {"vapid.pem", "subscriptions.json", "answers.jsonl"} <= set(modes)


def test_an_ended_subscription_is_removed(inbox, path):
    keys = Vapid02()
    keys.generate_keys()
    body = {"endpoint": f"{path['http']}/wp/{'0' * 64}", "keys": {"p256dh": text(point(keys.private_key)), "auth": text(b"0" * 16)}}
    assert post(inbox, "subscribe", json.dumps(body)) == 201
    done = inbox.attempt("send", "to nobody")
    assert inbox.subscriptions() == {}
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "a subscription has ended and was removed\n" + nobody(inbox)


def nobody(inbox):
    """What `send` says where a message reaches nobody."""
    return (
        f"{inbox.data} has no subscription: open the page of `inbox.py serve` in a browser and press its button, "
        "or name its folder with --data\n")


def test_a_message_without_a_subscription_is_an_error_that_says_what_to_do(inbox):
    done = inbox.attempt("send", "to nobody")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", nobody(inbox))


@pytest.mark.parametrize("port, why", [(None, "Address already in use"), ("65536", "bind(): port must be 0-65535.")])
def test_a_port_that_cannot_be_used_is_an_error_of_one_sentence(inbox, port, why):
    port = port or str(urlsplit(inbox.address).port)
    done = inbox.attempt("serve", "--port", port)
    said = f"port {port} cannot be used: {why}; name another one with --port\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
