"""The agent as a distributor of UnifiedPush: apps in Debian's Python register on a session bus, pywebpush sends to them."""

import base64
import json
import os
import signal
import subprocess
import time
import uuid

import http_ece
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02
from pywebpush import WebPusher

from aldaba_process import HERE, clean_environment, run_aldaba
from own_agent import OwnAgent
from system_bus import PYTHON, SystemBus
from test_web_push import point, text
from waiting import wait_for_lines, wait_until

DISTRIBUTOR = "org.unifiedpush.Distributor.aldaba"
PATH = "/org/unifiedpush/Distributor"


class SessionBus(SystemBus):
    """A session bus; apps that it can start are added as files of services."""

    def __init__(self):
        super().__init__()
        self.environment = {"DBUS_SESSION_BUS_ADDRESS": self.environment["DBUS_SYSTEM_BUS_ADDRESS"]}

    def add_service(self, name, command):
        (self._services / f"{name}.service").write_text(
            f"[D-BUS Service]\nName={name}\nExec={' '.join(map(str, command))}\n")
        self._ask("ReloadConfig")

    def call(self, path, method, *arguments):
        """A call by `gdbus`; what it prints, or the error."""
        done = subprocess.run(
            ["gdbus", "call", "--session", "--dest", DISTRIBUTOR, "--object-path", path, "--method", method, *arguments],
            env={"PATH": "/usr/bin:/bin", **self.environment}, capture_output=True, text=True, timeout=30)
        return done.stdout + done.stderr

    def _ask(self, method, *arguments):
        done = subprocess.run(
            ["dbus-send", f"--bus={self.environment['DBUS_SESSION_BUS_ADDRESS']}", "--print-reply",
             "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus", f"org.freedesktop.DBus.{method}", *arguments],
            capture_output=True, text=True, timeout=10)
        return done.stdout


@pytest.fixture(scope="module")
def bus():
    made = SessionBus()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def agent(up, bus):
    made = OwnAgent(up, "unified-push", clean_environment(**bus.environment))
    made.start()
    bus.wait_for_name(DISTRIBUTOR)
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def authority(path, monkeypatch):
    """Endpoints are at the address by which the agent has its server, with the certificate of `aldaba up`."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", path["ca"])


class App:
    """An app with keys of its own, which runs when it is started."""

    def __init__(self, bus, folder, version=2, vapid=None):
        self.bus, self.version, self.vapid = bus, version, vapid
        self.service = f"com.example.App{uuid.uuid4().hex}"
        self.token = str(uuid.uuid4())
        self.log = folder / f"{self.service}.log"
        self.private, self.secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.process = None
        self.endpoint = None

    def command(self, *arguments):
        return [PYTHON, HERE / "unified_push_app.py", self.service, self.log, "--version", str(self.version), *arguments]

    def start(self, *arguments):
        self.process = self.bus.start(*self.command(*arguments))
        self.bus.wait_for_name(self.service)
        return self

    def stop(self):
        self.process.kill()
        self.process.wait(5)

    def register(self, *arguments):
        """Registers, and returns the endpoint; the app goes on running."""
        count = len(self.events("endpoint"))
        key = ["--vapid", text(point(self.vapid.private_key))] if self.vapid else []
        self.start("--register", self.token, *key, *arguments)
        self.endpoint = self.wait_for("endpoint", count + 1)[-1]["endpoint"]
        return self

    def events(self, name=None):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [event for event in map(json.loads, lines) if name in (None, event["event"])]

    def wait_for(self, name, count=1, seconds=30):
        wait_until(lambda: len(self.events(name)) >= count, f"{count} times {name}: {self.events()}", seconds)
        return self.events(name)

    def push(self, words, ttl=60, vapid=None, **headers):
        """Sends by pywebpush; the answer."""
        info = {"endpoint": self.endpoint, "keys": {"p256dh": text(point(self.private)), "auth": text(self.secret)}}
        if vapid or self.vapid:
            origin = "/".join(self.endpoint.split("/")[:3])
            headers |= (vapid or self.vapid).sign(
                {"aud": origin, "sub": "mailto:a@example.org", "exp": int(time.time()) + 60})
        return WebPusher(info).send(words, headers, ttl=ttl, content_encoding="aes128gcm")

    def pushed(self, words, **options):
        """Sends, and returns the notification's id."""
        answer = self.push(words, **options)
        assert answer.status_code == 201, (answer.status_code, answer.text)
        return answer.headers["location"].rsplit("/", 1)[1]

    def texts(self):
        """What the app has received, decrypted."""
        return [
            http_ece.decrypt(base64.b64decode(event["message"]), private_key=self.private, auth_secret=self.secret).decode()
            for event in self.events("message")]


@pytest.fixture
def app(bus, agent, tmp_path):
    made = App(bus, tmp_path)
    yield made
    if made.process and made.process.poll() is None:
        made.stop()


# --- registration ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 1])
def test_a_message_reaches_the_app_as_it_was_encrypted(bus, agent, tmp_path, control, version):
    app = App(bus, tmp_path, version).register()
    answer = app.events("Register")[0]["answer"]
    succeeded = {"success": "REGISTRATION_SUCCEEDED"}
    assert answer == ([succeeded] if version == 2 else ["REGISTRATION_SUCCEEDED", ""])
    number = app.pushed("Milk – and bread")
    event = app.wait_for("message")[0]
    assert (app.texts(), event["token"]) == (["Milk – and bread"], app.token)
    control.wait_for_last_state(number, "handed")
    assert control.states(number) == ["accepted", "stored", "sent", "acked", "handed"]
    # The id is the same for the app and in the timeline.
    assert event["id"] == number
    app.stop()


def test_a_monitor_sees_the_calls_as_the_specification_has_them(bus, app, tmp_path):
    seen = tmp_path / "monitor.log"
    with open(seen, "wb") as log:
        monitor = subprocess.Popen(
            ["dbus-monitor", "--address", bus.environment["DBUS_SESSION_BUS_ADDRESS"],
             "type='method_call',interface='org.unifiedpush.Connector2'"], stdout=log, stderr=log)
    try:
        wait_until(lambda: seen.read_text(), "the monitor listens")
        app.register().pushed("seen")
        app.wait_for("message")
        wait_for_lines(seen, lambda lines: any("member=Message" in line for line in lines), "the monitor saw the message")
    finally:
        monitor.kill()
        monitor.wait(5)
    words = seen.read_text()
    for member in ("NewEndpoint", "Message"):
        assert f"path=/org/unifiedpush/Connector; interface=org.unifiedpush.Connector2; member={member}" in words
    assert "variant             array of bytes" in words


def test_the_distributor_describes_itself(bus, agent):
    found = bus.call(PATH, "org.freedesktop.DBus.Introspectable.Introspect")
    assert "org.unifiedpush.Distributor2" in found and "org.unifiedpush.Distributor1" in found
    assert bus.call(PATH, "org.freedesktop.DBus.Peer.Ping") == "()\n"
    assert "UnknownMethod" in bus.call(PATH, "org.unifiedpush.Distributor2.Subscribe")


@pytest.mark.parametrize("arguments, word", [
    ("{}", "service"),
    ("{'service': <'noDots'>, 'token': <'t'>}", "service"),
    ("{'service': <'com.example.A'>}", "token"),
    ("{'service': <'com.example.A'>, 'token': <''>}", "token"),
    ("{'service': <'com.example.A'>, 'token': <'" + "x" * 101 + "'>}", "token"),
    ("{'service': <'com.example.A'>, 'token': <5>}", "token"),
    ("{'service': <'com.example.A'>, 'token': <'t'>, 'vapid': <'key'>}", "vapid"),
    ("{'service': <'com.example.A'>, 'token': <'t'>, 'vapid': <5>}", "vapid"),
    ("{'service': <'com.example.A'>, 'token': <'t'>, 'description': <5>}", "description"),
])
def test_wrong_arguments_are_named(bus, agent, arguments, word):
    answer = bus.call(PATH, "org.unifiedpush.Distributor2.Register", arguments)
    assert "InvalidArgs" in answer and f"{word} must be" in answer


def test_the_same_token_has_the_same_endpoint_and_belongs_to_its_app(bus, app):
    app.register()
    first = app.endpoint
    app.stop()
    assert app.register().endpoint == first
    answer = bus.call(
        PATH, "org.unifiedpush.Distributor2.Register", f"{{'service': <'com.example.Thief'>, 'token': <'{app.token}'>}}")
    assert "REGISTRATION_FAILED" in answer and "UNAUTHORIZED" in answer
    app.pushed("still mine")
    app.wait_for("message")


def test_only_the_application_server_of_the_key_may_send(bus, agent, tmp_path):
    vapid, other = Vapid02(), Vapid02()
    vapid.generate_keys()
    other.generate_keys()
    app = App(bus, tmp_path, vapid=vapid).register()
    assert app.push("forged", vapid=other).status_code == 403
    assert requests.post(app.endpoint, data=b"x", headers={"TTL": "60", "Content-Encoding": "aes128gcm"}).status_code == 401
    app.pushed("mine")
    app.wait_for("message")
    # Another key is another subscription: the old endpoint has ended.
    old, app.vapid = app.endpoint, other
    app.stop()
    assert app.register().endpoint != old
    wait_until(lambda: requests.post(old, data=b"x", headers={"TTL": "60"}).status_code == 410, "the old endpoint is gone")
    app.pushed("with another key")
    app.wait_for("message", 2)
    assert app.texts() == ["mine", "with another key"]
    app.stop()


@pytest.mark.parametrize("version", [2, 1])
def test_an_app_that_unregisters_is_told_and_its_endpoint_ends(bus, agent, tmp_path, control, version):
    app = App(bus, tmp_path, version).register()
    app.stop()
    waiting = app.pushed("too late")
    control.wait_for_last_state(waiting, "acked")
    app.start("--unregister", app.token, "--answer", "never")
    assert app.wait_for("unregistered")[0]["token"] == (app.token if version == 2 else "")
    wait_until(lambda: app.push("gone").status_code == 410, "the endpoint is gone")
    assert app.token not in agent.aldaba("agent", "apps").stdout
    assert control.wait_for_last_state(waiting, "dropped(unregistered)")
    app.stop()


def test_agent_apps_lists_apps_of_unified_push(app, agent):
    app.register("--description", "Chat of alice")
    line = next(line for line in agent.aldaba("agent", "apps").stdout.splitlines() if app.service in line)
    assert line == f"{app.service}  {app.endpoint}  Chat of alice"
    app.stop()
    app.pushed("for later")
    wait_until(lambda: "1 waiting" in agent.aldaba("agent", "apps").stdout, "the message is listed")
    found = json.loads(agent.aldaba("agent", "apps", "--json").stdout)
    assert {"service": app.service, "endpoint": app.endpoint, "description": "Chat of alice", "waiting": 1} in found


def test_a_name_that_another_program_has_cannot_be_registered(bus, app):
    app.start()
    answer = bus.call(
        PATH, "org.unifiedpush.Distributor2.Register", f"{{'service': <'{app.service}'>, 'token': <'{uuid.uuid4()}'>}}")
    assert "REGISTRATION_FAILED" in answer and "UNAUTHORIZED" in answer


def test_an_app_that_registers_anew_right_after_its_end_has_an_endpoint_that_works(app):
    app.register()
    old = app.endpoint
    app.stop()
    app.start("--unregister", app.token, "--register", app.token)
    app.wait_for("Register")
    app.wait_for("endpoint", 2)
    app.endpoint = app.events("endpoint")[-1]["endpoint"]
    assert app.endpoint != old
    app.pushed("again")
    app.wait_for("message")


# --- apps that do not run -------------------------------------------------------------------------------------


def test_the_bus_starts_an_app_that_has_a_service_file(bus, app):
    app.register()
    app.stop()
    bus.add_service(app.service, app.command("--until", "message"))
    app.pushed("wake up")
    app.wait_for("message")
    assert app.texts() == ["wake up"]
    assert app.events("started")[-1]["activated"]


def test_messages_wait_in_order_for_an_app_that_nobody_can_start(app, control):
    app.register()
    app.stop()
    numbers = [app.pushed(str(each)) for each in range(5)]
    once = app.pushed("now or never", ttl=0)
    control.wait_for_last_state(numbers[0], "acked")
    app.start()
    app.wait_for("message", 5)
    for number in numbers:
        control.wait_for_last_state(number, "handed")
    control.wait_for_last_state(once, "dropped(offline)")
    assert app.texts() == [str(each) for each in range(5)]


def test_a_later_message_of_a_topic_replaces_one_that_waits(app, control):
    app.register()
    app.stop()
    first = app.pushed("old", topic="score")
    control.wait_for_last_state(first, "acked")
    app.pushed("new", topic="score")
    control.wait_for_last_state(first, "replaced")
    app.start()
    app.wait_for("message")
    assert app.texts() == ["new"]


def test_what_is_withdrawn_does_not_come(app, control):
    app.register()
    app.stop()
    number = app.pushed("a mistake")
    control.wait_for_last_state(number, "acked")
    # The address of the message is gone: by RFC 8030 it was delivered when the agent had it.
    assert control.request("DELETE", f"/v1/notifications/{number}")[0] == 200
    control.wait_for_last_state(number, "withdrawn")
    app.pushed("meant")
    app.start()
    app.wait_for("message")
    assert app.texts() == ["meant"]


def test_a_message_that_expires_has_its_reason(app, control):
    app.register()
    app.stop()
    number = app.pushed("short", ttl=1)
    control.wait_for_last_state(number, "expired")
    assert control.notifications(number)[0]["timeline"][-1]["source"] == "agent"


def test_an_app_that_answers_with_an_error_gets_the_message_again(app, control):
    app.register("--answer", "once")
    number = app.pushed("twice")
    app.wait_for("message", 2)
    control.wait_for_last_state(number, "handed")


def test_a_message_that_an_app_never_accepts_ends_with_its_error(app, control):
    app.register("--answer", "error")
    number = app.pushed("unwanted")
    control.wait_for_last_state(number, "failed(notTaken)", 30)
    assert len(app.events("message")) == 3
    assert "com.example.Error.NotNow" in control.notifications(number)[0]["timeline"][-1]["note"]


def test_a_message_of_an_older_encoding_is_not_given_to_apps(app, control):
    app.register()
    answer = requests.post(
        app.endpoint, data=b"x" * 30,
        headers={"TTL": "60", "Content-Encoding": "aesgcm", "Encryption": "salt=x", "Crypto-Key": "dh=x"})
    number = answer.headers["location"].rsplit("/", 1)[1]
    control.wait_for_last_state(number, "failed(badEncoding)")


# --- ends -----------------------------------------------------------------------------------------------------


def test_registrations_and_messages_outlive_the_agent(bus, app, agent, control):
    app.register()
    app.stop()
    waiting = app.pushed("before")
    control.wait_for_last_state(waiting, "acked")
    os.kill(agent.process, signal.SIGKILL)
    app.push("while it was away")
    agent.start()
    bus.wait_for_name(DISTRIBUTOR)
    app.push("after")
    app.start()
    app.wait_for("message", 3)
    assert app.texts() == ["before", "while it was away", "after"]


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("step", ["storeArrival", "acknowledge", "handOver", "storeHandled"])
def test_no_message_is_lost_wherever_the_agent_dies(bus, app, agent, control, step, side):
    app.register()
    agent.arm(f"{step}.{side}")
    number = app.pushed("kept")
    agent.wait_for_death()
    agent.start()
    control.wait_for_last_state(number, "handed")
    assert set(app.texts()) == {"kept"}
    # A message is repeated only where the agent could not store that the app has it; its id is the same.
    ids = [event["id"] for event in app.events("message")]
    assert ids == [number] * len(ids) and len(ids) <= (2 if step in ("handOver", "storeHandled") else 1)


def test_a_device_that_enrols_anew_tells_its_apps_their_new_endpoints(app, agent, path, up):
    app.register()
    old = app.endpoint
    device = json.loads(agent.aldaba("agent", "status", "--json").stdout)["device"]
    run_aldaba("device", "revoke", device, "--data", up.data)
    events = app.wait_for("endpoint", 2)
    app.endpoint = events[-1]["endpoint"]
    assert app.endpoint != old
    assert requests.post(old, data=b"x", headers={"TTL": "60"}).status_code in (404, 410)
    app.pushed("by the new one")
    app.wait_for("message")


def test_apps_hear_that_the_server_has_another_address(bus, app, agent, path, tmp_path):
    """The agent has its server by another name after its start: endpoints begin with that."""
    other = App(bus, tmp_path)
    apps = [app.register(), other.register()]
    place = next(place for place, word in enumerate(agent._command) if word.startswith("https://"))
    before = agent._command[place]
    renamed = before.replace("127.0.0.1", "localhost")
    assert renamed != before and all(each.endpoint.startswith(before) for each in apps)
    try:
        for address, count in ((renamed, 2), (before, 3)):
            os.kill(agent.process, signal.SIGKILL)
            agent._command[place] = address
            agent.start()
            for each in apps:
                each.endpoint = each.wait_for("endpoint", count)[-1]["endpoint"]
                assert each.endpoint.startswith(address)
                each.pushed(f"by {address}")
                each.wait_for("message", count - 1)
            bus.wait_for_name(DISTRIBUTOR)
    finally:
        agent._command[place] = before
        other.stop()


def test_an_app_hears_that_the_server_is_away_and_gets_its_endpoint_later(bus, app, up, path):
    server = up.pids()["serve"]
    os.kill(server, signal.SIGSTOP)
    try:
        app.start("--register", app.token)
        assert app.wait_for("Register")[0]["answer"] == [{"success": "REGISTRATION_FAILED", "reason": "NETWORK"}]
    finally:
        os.kill(server, signal.SIGCONT)
    app.endpoint = app.wait_for("endpoint")[0]["endpoint"]
    app.pushed("after all")
    app.wait_for("message")


def test_apps_are_served_again_when_the_bus_has_gone(bus, app, agent):
    app.register()
    app.stop()
    bus.end()
    bus.begin()
    bus.wait_for_name(DISTRIBUTOR)
    app.pushed("on the new bus")
    app.start()
    app.wait_for("message")
