"""A cross-platform app: its native half in Swift, started by the agent, and its other half, which is this test.

The codec's fixture is compared with what Flutter's own engine writes.
"""

import json
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

import flutter_engine
from aldaba_process import BINARY, REPOSITORY, clean_environment, run_aldaba
from control_client import ControlClient
from hub_clients import backend
from own_agent import OwnAgent
from pages import blocks
from provider import Provider
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PushDemo"))
import host  # noqa: E402

TEAM = "ALDABADEMO"
PREFIX = "com.example.pushdemo"
ACTIONS = f"{PREFIX}/notificationaction"
PROGRAM = BINARY.parent / "PushDemo"


class CrossPlatformApp:
    """The example app on an agent of its own, and the other half's end of its channels."""

    def __init__(self, up, name, program=PROGRAM):
        self.up, self.program = up, program
        self.id = f"{PREFIX}-{uuid.uuid4().hex[:8]}"
        run_aldaba("app", "create", self.id, "--team", TEAM, "--data", up.data)
        self.agent = OwnAgent(up, name)
        self.path = self.agent.data.parent / "channels.sock"
        self.agent.install(
            id=self.id, name="Push Demo", team=TEAM, executable=str(program), authorization="granted",
            environment={"ALDABA_FLUTTER_SOCKET": str(self.path)}, backgroundModes=["remote-notification"])
        self.agent.start()
        self.triggered = []
        self.begin()
        self.host = self.connect()

    def begin(self):
        """Starts the program."""
        self.process = subprocess.Popen(
            [self.program], env=clean_environment(
                ALDABA_APP_ID=self.id, ALDABA_AGENT_SOCKET=self.agent.socket, ALDABA_FLUTTER_SOCKET=str(self.path)),
            stdin=subprocess.DEVNULL)

    def connect(self):
        """Another half, once the app listens."""

        def connected():
            try:
                return host.Host(self.path)
            except OSError:
                return None

        other = wait_until(connected, "the app listens")
        other.on(ACTIONS, "triggerAction", self.triggered.append)
        return other

    def token(self):
        def told():
            try:
                return self.host.call(f"{PREFIX}/deviceinstallation", "getDeviceToken")
            except host.MethodError as error:
                assert error.code == "UNAVAILABLE"
                assert "not registered" in str(error) or self.program != PROGRAM
                return None

        self.known = wait_until(told, "the app has its token")
        return self.known

    def send(self, payload, **headers):
        self.send_to(self.token(), payload, **headers)

    def send_to(self, token, payload, **headers):
        provider = Provider(self.up.ready, topic=self.id)
        try:
            answer = provider.post(token, payload, **headers)
            assert answer.status == 200, answer
        finally:
            provider.close()

    def stop(self):
        self.host.close()
        self.end_process()
        self.agent.stop()

    def end_process(self):
        """The program that this test started ends; one that the agent started ends with the agent."""
        self.process.terminate()
        self.process.wait(20)

    def open(self):
        """A person opens the one notification that is listed."""
        (shown,) = wait_until(self.agent.listed, "a notification is listed")
        self.agent.aldaba("notifications", "open", str(shown["notification"]["id"]))


@pytest.fixture
def app(up, request):
    made = CrossPlatformApp(up, request.node.name)
    yield made
    made.stop()


def test_the_installation_is_told_over_the_method_channel(app):
    channel = f"{PREFIX}/deviceinstallation"
    token = app.token()
    assert len(bytes.fromhex(token)) == 32
    assert uuid.UUID(app.host.call(channel, "getDeviceId"))
    assert app.host.call(channel, "getDevicePlatform") == "apns"
    assert app.host.call(channel, "getBattery") is host.NOT_IMPLEMENTED
    assert app.host.call(f"{PREFIX}/nothing", "x") is host.NOT_IMPLEMENTED


def test_an_action_is_triggered_by_what_is_shown_and_by_what_is_silent(app):
    app.send({"aps": {"content-available": 1}, "action": "action_b"}, apns_push_type="background", apns_priority=5)
    wait_until(lambda: app.triggered == ["action_b"], "the silent one's action")
    app.send({"aps": {"alert": "Hello"}, "action": "action_a"})
    app.open()
    wait_until(lambda: app.triggered[-1] == "action_a", "its action when it is opened")
    assert app.host.call(ACTIONS, "getLaunchAction") is None, "no notification started the app"


def test_a_refresh_that_nobody_heard_is_asked_for_by_the_next_run(app):
    app.token()
    app.host.close()
    app.end_process()
    app.path.unlink()
    app.begin()
    app.host = app.connect()
    asked = []
    app.host.on(f"{PREFIX}/notificationregistration", "refreshRegistration", asked.append)
    wait_until(lambda: asked, "the other half is asked to compare its token")
    assert app.host.call(f"{PREFIX}/deviceinstallation", "getDeviceToken") == app.known


def test_the_action_that_started_the_app_is_told_once(app):
    app.token()
    app.host.close()
    app.end_process()
    app.path.unlink()
    app.send_to(app.known, {"aps": {"alert": "Hello"}, "action": "action_a"})
    app.open()
    app.host = app.connect()
    assert wait_until(lambda: app.host.call(ACTIONS, "getLaunchAction"), "the action is told") == "action_a"
    assert app.host.call(ACTIONS, "getLaunchAction") is None
    told_next_alone(app)


def told_next_alone(app):
    """The action of the launch is not triggered as well: the first one that is triggered is that of the next notification."""
    app.send_to(app.known, {"aps": {"content-available": 1}, "action": "next"}, apns_push_type="background", apns_priority=5)
    wait_until(lambda: app.triggered, "an action is triggered")
    assert app.triggered == ["next"]


class Backend:
    """The tutorial's backend over a hub of the app's own."""

    def __init__(self, up, app):
        self.app, hub = app, f"hub-{uuid.uuid4().hex[:8]}"
        run_aldaba("hub", "create", hub, "--app", app.id, "--data", up.data)
        self.key = run_aldaba("hub", "key", "create", hub, "phones", "--backend", "--data", up.data).stdout.strip()
        self.control = ControlClient(up.ready["http"])

    def register(self):
        """Puts what the app tells over its method channel."""
        told = {
            name: self.app.host.call(f"{PREFIX}/deviceinstallation", name)
            for name in ("getDeviceId", "getDevicePlatform")}
        installation = {
            "installationId": told["getDeviceId"], "platform": told["getDevicePlatform"],
            "pushChannel": self.app.token(), "tags": ["example"]}
        assert backend(self.control, self.key, "PUT", "installations", installation) == (200, b"")

    def request(self, action, silent):
        request = {"text": "Hello", "action": action, "silent": silent, "tags": ["example"]}
        assert backend(self.control, self.key, "POST", "requests", request) == (200, b"")


@pytest.fixture
def server_half(up, request):
    made = []

    def of(app):
        made.append(Backend(up, app))
        made[-1].register()
        return made[-1]

    yield of
    for each in made:
        each.control.close()


def test_it_registers_at_the_backend_and_a_request_triggers_its_action(app, server_half):
    """The whole way of a course: over the method channel to the backend, and from the backend to the app's action."""
    half = server_half(app)
    half.request("action_b", silent=True)
    wait_until(lambda: app.triggered == ["action_b"], "the silent request's action")
    half.request("action_a", silent=False)
    app.open()
    wait_until(lambda: app.triggered[-1] == "action_a", "the shown request's action, when it is opened")


@pytest.fixture
def own_services(up, request):
    """An app with services of its own, written as for iOS."""
    made = CrossPlatformApp(up, request.node.name, BINARY.parent / "PushDemoServices")
    yield made
    made.stop()


def test_services_of_an_apps_own_serve_the_channels_as_on_ios(own_services):
    app, channel = own_services, f"{PREFIX}/deviceinstallation"
    token = app.token()
    assert len(bytes.fromhex(token)) == 32 and token == token.upper()
    assert uuid.UUID(app.host.call(channel, "getDeviceId"))
    assert app.host.call(channel, "getDevicePlatform") == "apns"
    assert app.host.call(channel, "getBattery") is host.NOT_IMPLEMENTED
    assert app.host.call(ACTIONS, "getLaunchAction") is None
    app.send({"aps": {"content-available": 1}, "action": "action_b"}, apns_push_type="background", apns_priority=5)
    wait_until(lambda: app.triggered == ["action_b"], "the silent one's action")
    # It is in front, and nobody is the notification centre's delegate: nothing is shown, and the app's delegate is told.
    app.send({"aps": {"alert": "Hello"}, "action": "action_a"})
    wait_until(lambda: app.triggered[-1] == "action_a", "its action")
    assert app.agent.listed() == []


def test_an_app_with_services_of_its_own_registers_at_the_backend_and_a_request_triggers_its_action(
        own_services, server_half):
    half = server_half(own_services)
    half.request("action_b", silent=True)
    wait_until(lambda: own_services.triggered == ["action_b"], "the silent request's action")
    half.request("action_a", silent=False)
    wait_until(lambda: own_services.triggered[-1] == "action_a", "the shown request's action")


def test_an_apps_own_service_tells_the_action_that_started_the_app(own_services):
    app = own_services
    app.token()
    app.host.close()
    app.end_process()
    app.path.unlink()
    app.send_to(app.known, {"aps": {"alert": "Hello"}, "action": "action_a"})
    app.open()
    app.host = app.connect()
    assert wait_until(lambda: app.host.call(ACTIONS, "getLaunchAction"), "the action is told") == "action_a"
    told_next_alone(app)


def test_an_other_half_that_is_there_before_the_launch_is_over_is_answered_after_it(own_services):
    app = own_services
    app.token()
    app.host.close()
    app.end_process()
    app.path.unlink()
    app.agent.stop_process()
    app.begin()
    app.host = app.connect()
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(app.host.call, f"{PREFIX}/deviceinstallation", "getDevicePlatform", None, 60)
        app.agent.start()
        assert asked.result(60) == "apns"


def test_the_newest_other_half_counts(app):
    token = app.token()
    second = app.connect()
    try:
        assert second.call(f"{PREFIX}/deviceinstallation", "getDeviceToken") == token
    finally:
        second.close()


def test_the_pages_other_half_reads_the_token(app, capsys):
    token = app.token()
    (lines,) = blocks("cross-platform-app.md", "python")
    exec(compile(lines.replace("/run/user/1000/pushdemo.sock", str(app.path)), "cross-platform-app.md", "exec"), {})
    assert capsys.readouterr().out.strip() == token


def test_the_fixture_is_what_flutters_engine_writes(tmp_path):
    try:
        engine = flutter_engine.Engine.fetched(tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"the engine's wheel cannot be had: {error.stderr.strip().splitlines()[-1:]}")
    except OSError as error:
        pytest.skip(f"the engine cannot be loaded: {error}")
    written = engine.fixture()
    assert json.loads(flutter_engine.FIXTURE.read_text()) == written
    for line in written:
        kind, value = line["value"]
        if kind in ("null", "bool", "int", "float", "string"):
            assert host.encode(value).hex() == line["message"]
            assert host.encode(value, 1).hex() == line["success"][2:]
