"""`aldaba app new` writes packages that build and run as they are."""

import json
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from firebase_admin import messaging

from aldaba_process import REPOSITORY, clean_environment, run_aldaba
from fcm_library import firebase_app
from own_agent import OwnAgent
from provider import Provider
from test_relay import opened, pair  # noqa: F401
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PushDemo"))
import host  # noqa: E402

TEAM = "ALDABADEMO"
# One folder for all, which stays: the modules of Aldaba are built once.
SCRATCH = REPOSITORY / ".build" / "new-apps"
pytestmark = [
    pytest.mark.timeout(900), pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")]


def new(folder, name, *words, **options):
    return run_aldaba("app", "new", name, *words, cwd=folder, **options)


def build(package):
    """Builds the package; returns what the compiler told."""
    built = subprocess.run(
        ["swift", "build", "--package-path", package, "--scratch-path", SCRATCH], capture_output=True, text=True,
        timeout=800, env=clean_environment())
    told = built.stdout + built.stderr
    assert built.returncode == 0, told
    # As if it were built in the package's folder, which its manifest names.
    if not (package / ".build").exists():
        (package / ".build").symlink_to(SCRATCH)
    return told


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Makes and builds the package of one kind."""
    folder = tmp_path_factory.mktemp("new")

    def made(name, *words):
        new(folder, name, *words)
        own = str(folder / name)
        assert not [line for line in build(folder / name).splitlines() if "warning:" in line and own in line]
        return folder / name

    return made


class Program:
    """The program of a package, and the lines that it prints."""

    def __init__(self, package, app, socket, **variables):
        self.lines = []
        self._process = subprocess.Popen(
            [package / ".build/debug" / package.name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env=clean_environment(ALDABA_APP_ID=app, ALDABA_AGENT_SOCKET=str(socket), **variables))
        self._reader = threading.Thread(target=lambda: self.lines.extend(iter(self._process.stdout.readline, "")))
        self._reader.start()

    def told(self, beginning):
        """The rest of the first line that begins so."""
        return wait_until(
            lambda: next((line[len(beginning):].strip() for line in self.lines if line.startswith(beginning)), None),
            f"the app prints {beginning}")

    def stop(self):
        self._process.terminate()
        self._process.wait(20)
        self._reader.join(20)


@contextmanager
def running(up, package, **variables):
    """The package's app, installed by its own manifest, with its agent."""
    manifest = json.loads((package / "manifest.json").read_text())
    run_aldaba("app", "create", manifest["id"], "--team", manifest["team"], "--data", up.data)
    agent = OwnAgent(up, package.name)
    # Nobody is there to be asked.
    agent.install(**manifest, authorization="granted")
    agent.start()
    program = Program(package, manifest["id"], agent.socket, **variables)
    provider = Provider(up.ready, topic=manifest["id"])
    try:
        token = program.told("token: ")

        def send(payload):
            answer = provider.post(token, payload)
            assert answer.status == 200, answer

        yield agent, program, send
    finally:
        provider.close()
        program.stop()
        agent.stop()


def shown(agent, title):
    return wait_until(
        lambda: [each for each in agent.listed() if each["content"].get("title") == title],
        f"{title} is shown")


def test_an_app_of_notifications_builds_and_shows_them(up, package):
    made = package("Harbour")
    assert json.loads((made / "manifest.json").read_text())["executable"] == str(made / ".build/debug/Harbour")
    with running(up, made) as (agent, program, send):
        send({"aps": {"alert": {"title": "Hello"}}})
        [listed] = shown(agent, "Hello")
        agent.aldaba("notifications", "open", str(listed["notification"]["id"]))
        assert program.told("opened: ") == "Hello"


def test_an_app_with_an_extension_builds_and_its_extension_is_asked(up, package):
    made = package("Bakery", "--extension")
    with running(up, made) as (agent, _, send):
        send({"aps": {"alert": {"title": "Bread"}, "mutable-content": 1}})
        shown(agent, "Bread")
        assert "unchanged" in agent.aldaba("agent", "status").stdout


def test_an_app_with_firebase_builds_and_gets_data(up, path, package, monkeypatch):
    made = package("Shop", "--firebase")
    with running(up, made) as (_, program, _), firebase_app(monkeypatch, path["fcm"], path["serviceAccount"]) as sender:
        messaging.send(messaging.Message(data={"item": "milk"}, token=program.told("token: ")), app=sender)
        assert "milk" in program.told("data: ")


def test_a_flutter_app_builds_and_triggers_actions(up, package, tmp_path):
    made = package("PushDemo", "--flutter")
    path = tmp_path / "channels.sock"
    with running(up, made, ALDABA_FLUTTER_SOCKET=str(path)) as (_, _, send):
        other, triggered = host.Host(path), []
        try:
            other.on("com.example.pushdemo/notificationaction", "triggerAction", triggered.append)
            assert other.call("com.example.pushdemo/deviceinstallation", "getDevicePlatform") == "apns"
            send({"aps": {"alert": "Hello"}, "action": "action_a"})
            wait_until(lambda: triggered == ["action_a"], "the action")
        finally:
            other.close()


def test_a_flutter_app_takes_services_that_do_not_import_flutter(package):
    made = package("Tutorial", "--flutter")
    own = REPOSITORY / "Examples/PushDemoServices"
    for service in ("DeviceInstallationService", "NotificationRegistrationService", "NotificationActionService"):
        assert "import Flutter" not in (own / f"{service}.swift").read_text()
        shutil.copy(own / f"{service}.swift", made / "Sources/Tutorial")
    delegate = (own / "AppDelegate.swift").read_text()
    (made / "Sources/Tutorial/AppDelegate.swift").write_text(delegate)
    # The delegate has names of iOS 9, of which the compiler warns.
    build(made)


def test_a_relay_app_builds_and_answers(pair, package):  # noqa: F811
    made = package("Lamp", "--relay")
    _, first, second = pair
    run_aldaba("agent", "app", "install", made / "manifest.json", "--data", second.data)
    program = Program(made, "com.example.lamp", second.socket)
    try:
        assert program.told("published: ") == "success"
        answer = first.aldaba("call", "com.example.lamp/echo", "--message", '{"text": "Hello"}', "--on", second.name)
        assert json.loads(answer.stdout.splitlines()[0]) == {"text": "Hello"}
    finally:
        program.stop()


@pytest.mark.parametrize("words, code, complaint", [
    (("9lives",), 3, '"9lives" cannot name a program in Swift'),
    (("UIKit",), 3, "is the name of a module"),
    (("There",), 3, "There is there already"),
    (("New", "--id", "aldaba.x"), 3, "--id"),
    (("New", "--team", "x"), 3, "--team"),
    (("New", "--source", "/"), 3, "--source"),
    (("New", "--flutter", "--relay"), 2, "--relay"),
])
def test_what_is_wrong_is_said_and_nothing_written(tmp_path, words, code, complaint):
    (tmp_path / "There").mkdir()
    done = new(tmp_path, *words, check=False)
    assert done.returncode == code and complaint in done.stderr, done
    assert [each.name for each in tmp_path.iterdir()] == ["There"]
