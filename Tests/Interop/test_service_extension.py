"""Rich push: an extension as Xcode's template has it fetches the picture, and the desktop shows it."""

import http.server
import json
import os
import sys
import threading
import urllib.request
import uuid
from pathlib import Path

import pytest

from aldaba_process import ARTEFACTS, BINARY, REPOSITORY, clean_environment, run_aldaba
from pictures import JPEG_COLOUR, SOUNDS_AND_FILMS, jpeg
from own_agent import OwnAgent
from provider import Provider
from screen import Screen
from waiting import kill, wait_for_end, wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent, AgentError  # noqa: E402

APP, TEAM = "com.example.rich", "ALDABADEMO"
EXTENSION = {"id": f"{APP}.Service", "version": "1.0", "executable": str(BINARY.parent / "TodoService")}
PROGRAM = Path(__file__).with_name("extension_program.py")


class Pictures:
    """A web server on loopback; `asked` are the paths that were asked for."""

    def __init__(self):
        self.asked = []
        self.held = threading.Event()
        self.held.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                outer.held.wait(60)
                body = jpeg(11 << 20) if "large" in self.path else jpeg()
                if "page" in self.path:
                    body = b"<html>no picture</html>"
                kind = "image/jpeg"
                if (other := SOUNDS_AND_FILMS.get(self.path[1:])) is not None:
                    # Its bytes alone say what it is.
                    body, kind = other[0], "application/octet-stream"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # The extension was killed meanwhile.

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def url(self, name):
        return f"http://127.0.0.1:{self._server.server_port}/{name}"

    def stop(self):
        self.held.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()


class World:
    """An app with an extension on an agent of its own, before a desktop."""

    def __init__(self, up, control, screen, pictures):
        self.up, self.control, self.pictures = up, control, pictures
        self.agent = OwnAgent(up, "test_service_extension", screen.environment)
        self.notes = self.agent.data.parent / "notes.json"
        self.install()
        run_aldaba("app", "create", APP, "--team", TEAM, "--data", up.data, check=False)
        self.agent.start()
        with Agent(APP, self.secret, self.agent.socket) as app:
            self.token = wait_until(lambda: registered(app), "the app has its token")
        self.provider = Provider(up.ready, topic=APP)

    def install(self, extension=EXTENSION):
        """Installs the app with this extension, or with the scripted one."""
        self.secret = self.agent.install(
            id=APP, name="Rich", team=TEAM, executable=sys.executable, provesBySecret=True, authorization="granted",
            serviceExtension=extension)

    def install_program(self):
        """Installs the app with the scripted extension, and has the agent see it."""
        self.install({
            "id": f"{APP}.Service", "version": "2.0", "executable": sys.executable, "arguments": [str(PROGRAM)],
            "environment": {"EXTENSION_NOTES": str(self.notes)}})
        self.agent.aldaba("agent", "status")

    def noted(self, key):
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [note for note in map(json.loads, lines) if key in note]

    def push(self, title, name=None, mutable=1):
        """Sends an alert as Braze does; returns its apns-id."""
        payload = {"aps": {"alert": {"title": title, "body": "Look."}, "mutable-content": mutable}}
        if name:
            payload["ab"] = {"att": {"url": self.pictures.url(name), "type": "jpg"}}
        answer = self.provider.post(self.token, payload)
        assert (answer.status, answer.reason) == (200, None)
        return answer.apns_id

    def extended(self, reference):
        """What the timeline says of the extension, once it is over: `(outcome, milliseconds, note)`."""
        def line():
            found = self.control.notifications(reference)
            return [entry for entry in (found[0]["timeline"] if found else []) if entry["state"].startswith("extended")]

        (entry,) = wait_until(line, "the timeline says what the extension did", 60)
        outcome, _, duration = entry["state"].removeprefix("extended(").removesuffix(" ms)").partition(", ")
        return outcome, int(duration), entry.get("note")

    def listed(self, title):
        return [item for item in self.agent.listed() if item["content"].get("title") == title]

    def processes(self):
        """How many processes of the extension run, by what the agent's folder holds."""
        folder = self.agent.data / "extensions"
        return len(list(folder.iterdir())) if folder.exists() else 0

    def counts(self):
        status = json.loads(self.agent.aldaba("agent", "status", "--json").stdout)
        (app,) = [app for app in status["apps"] if app["id"] == APP]
        return {version["version"]: version["outcomes"] for version in app["extensions"]}

    def stop(self):
        self.provider.close()
        self.agent.stop()


def registered(app):
    try:
        return app.register()
    except AgentError:
        return None


@pytest.fixture
def pictures():
    made = Pictures()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def screen():
    made = Screen(clean_environment())
    yield made
    made.stop()


@pytest.fixture
def world(up, control, screen, pictures):
    made = World(up, control, screen, pictures)
    yield made
    made.stop()


@pytest.mark.desktop
def test_a_picture_that_the_extension_fetched_is_seen(world, up, screen, pictures):
    reference = world.push("Fresh bread", "bread.jpg")
    outcome, duration, note = world.extended(reference)
    assert (outcome, note) == ("changed", "version 1.0")
    assert 0 < duration < 28_000
    wait_until(lambda: len(list(screen.look().places(JPEG_COLOUR))) > 500, "the picture is seen")
    screen.keep(ARTEFACTS / "rich.png")
    wait_until(lambda: "presented" in world.control.states(reference), "the device said that it is shown")
    assert pictures.asked == ["/bread.jpg"]
    states = world.control.states(reference)
    assert states.index("acked") < [s.startswith("extended") for s in states].index(True) < states.index("presented")
    (item,) = world.listed("Fresh bread")
    (attachment,) = item["content"]["attachments"]
    assert (attachment["identifier"], attachment["type"]) == ("picture", "public.jpeg")
    assert Path(attachment["path"]).read_bytes() == jpeg()
    told = run_aldaba("get", reference, "--timeline", "--data", up.data).stdout
    assert f"extended(changed, {duration} ms)" in told
    metrics = urllib.request.urlopen(f"{up.ready['metrics']}/metrics", timeout=10).read().decode()
    assert 'aldaba_device_extensions_total{outcome="changed"} 1' in metrics


@pytest.mark.desktop
def test_nothing_is_shown_before_the_extension_answers_and_others_pass(world, pictures):
    pictures.held.clear()
    slow = [world.push(f"Slow {number}", f"{number}.jpg") for number in range(4)]
    wait_until(lambda: len(pictures.asked) == 2, "two are fetching")
    plain = world.push("At once", mutable=0)
    wait_until(lambda: "presented" in world.control.states(plain), "what needs no extension passes")
    for reference in slow:
        assert "acked" in world.control.states(reference)
        assert "presented" not in world.control.states(reference)
    assert (len(pictures.asked), world.processes()) == (2, 2)
    pictures.held.set()
    for number, reference in enumerate(slow):
        assert world.extended(reference)[0] == "changed"
        # What the extension did is told as soon as it is over; the list has it once it is shown.
        wait_until(lambda: "presented" in world.control.states(reference), "it is shown")
        assert world.listed(f"Slow {number}")[0]["content"]["attachments"]
    assert world.processes() == 2, "those two served all"


@pytest.mark.desktop
@pytest.mark.parametrize("name, reason", [
    ("page.jpg", "holds no picture"), ("large.jpg", "at most 10485760 are allowed")])
def test_a_file_that_cannot_be_attached_leaves_the_notification_as_it_came(world, name, reason):
    title = f"Refused {name}"
    reference = world.push(title, name)
    outcome, _, note = world.extended(reference)
    assert (outcome, reason in note) == ("attachmentRefused", True), note
    wait_until(lambda: "presented" in world.control.states(reference), "it is shown")
    assert "attachments" not in world.listed(title)[0]["content"]


@pytest.mark.desktop
def test_any_failure_of_an_extension_shows_the_notification_as_it_came(world):
    world.install_program()
    expected = {"crash": ("crashed", "exit code 3"), "eat": ("tooMuchMemory", "KiB"), "empty": ("emptied", "no text"),
                "leave": ("crashed", ""), "steal": ("attachmentRefused", "holds no picture")}
    for title, (outcome, reason) in expected.items():
        reference = world.push(title)
        told = world.extended(reference)
        assert (told[0], reason in told[2]) == (outcome, True), told
        wait_until(lambda: "presented" in world.control.states(reference), "it is shown")
        assert world.listed(title), "as it came"
    reference = world.push("plain")
    assert world.extended(reference)[0] == "changed"
    wait_until(lambda: world.listed("plain, extended"), "the first answer counts")
    assert not world.listed("too late")
    missing = world.agent.data.parent / "extension"
    missing.touch(0o700)
    world.install(EXTENSION | {"executable": str(missing)})
    missing.unlink()
    world.agent.aldaba("agent", "status")
    outcome, _, note = world.extended(world.push("missing"))
    assert (outcome, str(missing) in note) == ("notStarted", True)
    assert world.counts() == {
        "2.0": {"crashed": 2, "tooMuchMemory": 1, "emptied": 1, "attachmentRefused": 1, "changed": 1},
        "1.0": {"notStarted": 1}}


def is_delegated():
    """Whether groups can be made beside one's own, and the kernel bounds memory in them."""
    own = next((line[3:].strip() for line in open("/proc/self/cgroup") if line.startswith("0::")), "/")
    parent = Path("/sys/fs/cgroup") / own.strip("/") / ".."
    try:
        mark = os.getxattr(parent, "user.delegate")
        return mark == b"1" and "memory" in (parent / "cgroup.controllers").read_text().split()
    except OSError:
        return False


@pytest.mark.desktop
@pytest.mark.skipif(not is_delegated(), reason="nobody delegated a control group with the controller of memory")
def test_the_kernel_bounds_what_an_extension_and_its_files_take(world):
    world.install_program()
    outcome, _, note = world.extended(world.push("share"))
    assert (outcome, note.startswith("it took 98304 KiB")) == ("tooMuchMemory", True), note
    assert world.extended(world.push("plain"))[0] == "changed"


@pytest.mark.desktop
def test_an_extension_adds_notifications_in_its_apps_name(world):
    world.install_program()
    assert world.extended(world.push("adds one"))[0] == "changed"
    (answered,) = world.noted("answer")
    assert (answered["answer"]["type"], answered["answer"]["answer"]) == ("centerAnswered", "done")
    (own,) = wait_until(lambda: world.listed("Of the extension's own"), "it is in the list")
    assert world.listed("Of the extension's own") == [own], "it is there once"
    wait_until(lambda: world.listed("adds one, extended"), "what it was asked to change is there too")


@pytest.mark.desktop
def test_the_timeline_names_the_extensions_version(world):
    world.install_program()
    reference = world.push("plain")
    assert world.extended(reference)[2] == "version 2.0"
    told = run_aldaba("get", reference, "--timeline", "--data", world.up.data).stdout
    assert "extended(changed" in told and "version 2.0" in told


@pytest.mark.desktop
def test_the_manifest_may_name_the_principal_class(world):
    for name, outcome in ("TodoService.NotificationService", "changed"), ("TodoService.Nothing", "crashed"):
        world.install(EXTENSION | {"principalClass": name})
        world.agent.aldaba("agent", "status")
        assert world.extended(world.push(name, "bread.jpg"))[0] == outcome
    assert "`TodoService.Nothing`" in (world.agent.data / "log" / f"{APP}.Service.log").read_text()


@pytest.mark.desktop
def test_an_extension_gains_no_rights_and_leaves_nothing(world):
    world.install_program()
    for number in range(3):
        assert world.extended(world.push(f"one {number}"))[0] == "changed"
    (start,) = world.noted("started")
    assert start["privileges"] == "1"
    assert start["variables"] == ["ALDABA_AGENT_SOCKET", "ALDABA_APP_GROUPS", "ALDABA_APP_ID", "ALDABA_ROLE"]
    assert start["session"] == start["process"]
    folder = Path(start["folder"])
    assert folder.parent == world.agent.data / "extensions"
    assert folder.stat().st_mode & 0o777 == 0o700
    kill(start["process"])
    wait_until(lambda: not folder.exists(), "its folder is gone with it")


@pytest.mark.desktop
def test_an_extension_is_told_and_then_killed_with_what_it_started(world):
    world.install_program()
    reference = world.push("hang")
    (hanging,) = wait_until(lambda: world.noted("hangs"), "it hangs")
    outcome, duration, _ = world.extended(reference)
    assert outcome == "timedOut"
    assert 30_000 <= duration < 32_000
    assert len(world.noted("expired")) == 1, "it was told before"
    for process in (hanging["process"], hanging["child"]):
        assert wait_for_end(process, 5), "it was killed"
    wait_until(lambda: "presented" in world.control.states(reference), "it is shown as it came")
    assert world.listed("hang")


@pytest.mark.desktop
@pytest.mark.parametrize("place", [
    f"{step}.{side}" for step in ("storeArrival", "acknowledge", "startExtension", "extend", "storeExtended", "present")
    for side in ("before", "after")])
def test_an_agent_that_dies_on_the_way_shows_it_once_with_its_picture(world, place):
    title = f"killed {place} {uuid.uuid4().hex[:6]}"
    world.agent.arm(place)
    reference = world.push(title, "bread.jpg")
    world.agent.wait_for_death()
    world.agent.start()
    wait_until(lambda: "presented" in world.control.states(reference), "it is shown")
    states = world.control.states(reference)
    assert [state for state in states if state.startswith("extended(changed")], states
    assert [states.count(name) for name in ("acked", "presented")] == [1, 1]
    assert sum(state.startswith("extended") for state in states) == 1
    (item,) = world.listed(title)
    assert item["content"]["attachments"]


@pytest.mark.desktop
def test_an_app_that_is_taken_away_leaves_its_notification_with_the_reason(world, pictures):
    pictures.held.clear()
    reference = world.push("Gone", "gone.jpg")
    wait_until(lambda: pictures.asked, "it is being extended")
    run_aldaba("agent", "app", "remove", APP, "--data", world.agent.data, "--agent-socket", world.agent.socket)
    wait_until(lambda: world.control.states(reference)[-1:] == ["dropped(unregistered)"], "the timeline says why")
