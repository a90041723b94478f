"""The package for Node in Packaging/node: its own tests, and an app in Node on a real agent."""

import itertools
import json
import os
import re
import shutil
import subprocess
import threading
import time
import uuid

import pytest

from aldaba_process import ARTEFACTS, HERE, REPOSITORY, clean_environment, run_aldaba
from own_agent import OwnAgent
from pages import BLOCK, blocks
from waiting import kill, wait_for_lines, wait_until

NODE = shutil.which("node")
PACKAGE = REPOSITORY / "Packaging/node"
ELECTRON = REPOSITORY / "Examples/ElectronInbox"
TEAM = "ALDABADEMO"
DISMISS = "com.apple.UNNotificationDismissActionIdentifier"

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")


class App:
    """A process of clients/notifies.mjs: its lines, and calls of its client."""

    def __init__(self, name, socket, secret):
        self.lines = []
        self._numbers = itertools.count(1)
        self._log = open(ARTEFACTS / "test_node_client.node.log", "ab")
        self.process = subprocess.Popen(
            [NODE, HERE / "clients/notifies.mjs", PACKAGE / "index.js", name, socket], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._log, text=True, env=clean_environment(APP_SECRET=secret))
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def write(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def begin(self, call, *arguments):
        """Begins a call of the client; returns its number."""
        number = next(self._numbers)
        self.write(number=number, call=call, arguments=arguments)
        return number

    def answer(self, number):
        """The line that answers a call."""
        return self.line(f"the answer to call {number}", number=number)

    def call(self, call, *arguments):
        answer = self.answer(self.begin(call, *arguments))
        assert "result" in answer, answer
        return answer["result"]

    def found(self, **members):
        return [line for line in list(self.lines) if members.items() <= line.items()]

    def line(self, reason, **members):
        return wait_until(lambda: self.found(**members), reason, 30)[0]

    def close(self):
        """Ends the input, at which the app closes its client and ends."""
        self.process.stdin.close()
        try:
            code = self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait(10)
            self._reader.join(10)
            self.process.stdout.close()
            self._log.close()
        return code


class World:
    """An agent of the test's own with one app, whose program is Node."""

    def __init__(self, up, send):
        self.up, self.send, self.apps = up, send, []
        self.id = f"com.example.node-{uuid.uuid4().hex[:8]}"
        run_aldaba("app", "create", self.id, "--team", TEAM, "--data", up.data)
        self.agent = OwnAgent(up, "test_node_client")
        self.secret = self.agent.install(
            id=self.id, name="Node", team=TEAM, executable=os.path.realpath(NODE), authorization="granted",
            provesBySecret=True)
        self.agent.start()

    def app(self, secret=None):
        made = App(self.id, self.agent.socket, self.secret if secret is None else secret)
        self.apps.append(made)
        return made

    def push(self, token, title, **members):
        payload = {"aps": {"alert": {"title": title}}, **members}
        status, reference, reason = self.send(token, payload, apns_topic=self.id)
        assert (status, reason) == (200, None)
        return reference

    def listed(self, title):
        """The number in the list of the notification with a title."""
        def numbers():
            return [item["notification"]["id"] for item in self.agent.listed() if self.title(item) == title]

        return wait_until(numbers, f"{title} is in the list")[0]

    @staticmethod
    def title(item):
        alert = json.loads(item["notification"]["payload"]).get("aps", {}).get("alert", {})
        return item["content"].get("title") or alert.get("title")

    def stop(self):
        for app in self.apps:
            if app.process.poll() is None:
                app.close()
        self.agent.stop()


@pytest.fixture(scope="module")
def world(up, send):
    made = World(up, send)
    yield made
    made.stop()


@pytest.fixture
def app(world):
    made = world.app()
    made.line("it is connected", event="connected")
    yield made
    assert made.close() == 0, "it ends by itself once its client is closed"


@pytest.fixture
def token(app):
    number = app.begin("register")
    answer = app.answer(number)
    # A first question may come before the agent is logged in: the token follows then.
    return answer.get("result") or app.line("the token", event="token")["value"]


def run_tests(folder):
    done = subprocess.run(
        [NODE, "--test"], cwd=folder, capture_output=True, text=True, timeout=200, env=clean_environment())
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr
    return {name: int(count) for name, count in re.findall(r"^\S (pass|fail) (\d+)$", done.stdout, re.MULTILINE)}


def test_the_package_s_own_tests_pass():
    counts = run_tests(PACKAGE)
    vectors = len(list((REPOSITORY / "Packaging/vectors").glob("*.json")))
    assert counts["fail"] == 0 and counts["pass"] > vectors + 80, counts


def test_the_electron_app_s_own_tests_pass():
    counts = run_tests(ELECTRON)
    assert counts["fail"] == 0 and counts["pass"] >= 8, counts


def test_modules_of_both_kinds_import_the_same_names():
    script = "import * as names from 'aldaba'; import { createRequire } from 'node:module';" \
             "console.log(JSON.stringify([Object.keys(names), Object.keys(createRequire(import.meta.url)('aldaba'))]))"
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", script], cwd=PACKAGE, capture_output=True, text=True, timeout=30,
        check=True, env=clean_environment())
    imported, required = json.loads(done.stdout)
    assert set(imported) - {"default", "module.exports"} == set(required)
    assert "NotificationClient" in required


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_package_has_its_files_alone():
    done = subprocess.run(
        ["npm", "pack", "--dry-run", "--json", "--offline"], cwd=PACKAGE, capture_output=True, text=True, timeout=60,
        check=True, env=clean_environment())
    [package] = json.loads(done.stdout)
    assert sorted(file["path"] for file in package["files"]) == ["README.md", "index.d.ts", "index.js", "package.json"]
    assert json.loads((PACKAGE / "package.json").read_text()).get("dependencies", {}) == {}


def examples():
    readme = (PACKAGE / "README.md").read_text()
    [script, *_] = [text for kind, text in BLOCK.findall(readme) if kind == "js"]
    [module, _] = blocks("node.md", "js")
    return {"tea.cjs": script, "tea.mjs": module}


def start_example(world, folder, name, text):
    """Starts an example of the pages as it is written, but for the app's id."""
    (folder / "node_modules").mkdir()
    (folder / "node_modules/aldaba").symlink_to(PACKAGE)
    (folder / "secret").write_text(world.secret)
    (folder / name).write_text(text.replace("com.example.tea", world.id))
    return subprocess.Popen(
        [NODE, name], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=clean_environment(ALDABA_AGENT_SOCKET=world.agent.socket, TEA_SECRET=str(folder / "secret")))


@pytest.mark.parametrize("name", examples())
def test_the_first_example_of_a_page_prints_the_answer(world, tmp_path, name):
    running = start_example(world, tmp_path, name, examples()[name])
    try:
        world.agent.aldaba("notifications", "act", world.listed("Tea?"), "--action", "reply", "--text", "at six")
        assert running.communicate(timeout=20)[0] == "reply at six\n"
        assert running.returncode == 0
    finally:
        running.kill()


def test_the_page_s_receiver_prints_the_token_and_a_push(world, tmp_path):
    running = start_example(world, tmp_path, "receiver.mjs", blocks("node.md", "js")[1])
    try:
        label, token = running.stdout.readline().split()
        assert label == "token"
        world.push(token, "Milk for tea", todo=7)
        assert running.stdout.readline() == "Milk for tea 7\n"
        world.agent.aldaba("notifications", "open", world.listed("Milk for tea"))
        assert running.stdout.readline().endswith("DefaultActionIdentifier Milk for tea\n")
    finally:
        running.kill()
        running.communicate(timeout=10)


def test_a_push_reaches_the_handler_and_its_answer_the_screen_s_list(world, app, token, control):
    reference = world.push(token, "Milk", todo=7)
    told = app.line("the push", handler="notification", title="Milk")
    assert told["isRemote"] and told["kind"] == "foreground" and told["userInfo"]["todo"] == 7
    number = world.listed("Milk")
    assert told["id"] == str(number)
    world.agent.aldaba("notifications", "open", number)
    response = app.line("the person's answer", handler="response", id=str(number))
    assert response["action"] == "com.apple.UNNotificationDefaultActionIdentifier"
    wait_until(lambda: "opened" in control.states(reference), "the timeline says so")


def test_an_app_in_the_background_is_not_handed_a_push_that_is_shown(world, app, token):
    app.call("setState", "background")
    world.push(token, "Behind")
    world.listed("Behind")
    app.call("setState", "active")
    world.push(token, "Front")
    app.line("the next push", handler="notification", title="Front")
    assert app.found(handler="notification", title="Behind") == []


def test_a_handler_that_fails_has_the_push_handled_and_not_shown(world, app, token, control):
    reference = world.push(token, "Fails", fails=True)
    assert app.line("the error", event="error")["message"] == "it fails on purpose"
    wait_until(lambda: "handed" in control.states(reference), "it is handled")
    wait_until(lambda: app.call("unconfirmed") == [], "the agent has confirmed it")
    assert "Fails" not in [world.title(item) for item in world.agent.listed()]


@pytest.mark.parametrize("arguments, answer", [
    (["act", "--action", "yes"], {"action": "yes"}),
    (["act", "--action", "reply", "--text", "at six"], {"action": "reply", "userText": "at six"}),
    (["dismiss"], {"action": DISMISS}),
])
def test_a_question_resolves_with_the_answer(world, app, arguments, answer):
    title = f"Tea {' '.join(arguments)}?"
    asked = app.begin("ask", {"title": title, "actions": {"yes": "Yes", "no": "No"}, "reply": True})
    number = world.listed(title)
    command, *options = arguments
    world.agent.aldaba("notifications", command, number, *options)
    assert app.answer(asked)["result"] == answer
    wait_until(lambda: app.call("unconfirmed") == [], "the agent has confirmed the response")


def test_the_notification_centre_answers(app):
    assert app.call("settings")["authorizationStatus"] == 2
    assert app.call("requestAuthorization") == {"granted": True}
    trigger = {"type": "timeInterval", "seconds": 86400, "repeats": False}
    app.call("add", {"identifier": "later", "title": "Later", "userInfo": {"a": [1]}, "trigger": trigger})
    [pending] = app.call("pending")
    assert (pending["identifier"], pending["trigger"]) == ("later", trigger)
    assert json.loads(pending["content"]["userInfo"]) == {"a": [1]}
    app.call("removePending", ["later"])
    assert app.call("pending") == []
    app.call("setCategories", [{"identifier": "tea", "actions": {"more": "More"}, "options": ["customDismissAction"]}])
    assert "tea" in [each["identifier"] for each in app.call("categories")]
    app.call("setCategories", [])
    assert app.call("categories") == []
    app.call("setBadge", 3)
    assert app.call("badge") == 3
    assert app.call("openURL", "file:///etc/passwd")["outcome"] == "refused"
    refused = app.answer(app.begin("add", {"title": "Soon", "trigger": {"type": "timeInterval", "seconds": -1}}))
    assert refused["code"] == "invalid", "the client itself refuses what the agent would end the connection for"


STARTED = """
import { appendFileSync, readFileSync } from 'node:fs';
import { NotificationClient } from 'aldaba';
const log = (text) => appendFileSync(process.env.STARTED_LOG, `${text}\\n`);
const client = new NotificationClient({
  secret: readFileSync(process.env.TEA_SECRET),
  onNotification(notification, kind) { log(`${kind} ${notification.userInfo.todo}`); return 'noData'; },
});
client.on('token', (token) => log(`token ${token}`));
await client.connect();
client.register().then((token) => log(`token ${token}`), () => {});
"""


def test_the_agent_starts_a_script_for_a_push_in_the_background(world, send, tmp_path, control):
    app, log, secret = f"{world.id}-started", tmp_path / "log", tmp_path / "secret"
    run_aldaba("app", "create", app, "--team", TEAM, "--data", world.up.data)
    variables = {"STARTED_LOG": str(log), "TEA_SECRET": str(secret)}
    secret.write_text(world.agent.install(
        id=app, name="Started", team=TEAM, executable=os.path.realpath(NODE), arguments=[str(tmp_path / "tea.mjs")],
        environment=variables, backgroundModes=["remote-notification"], authorization="granted", provesBySecret=True))
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/aldaba").symlink_to(PACKAGE)
    (tmp_path / "tea.mjs").write_text(STARTED)
    running = subprocess.Popen([NODE, tmp_path / "tea.mjs"], env=clean_environment(
        ALDABA_APP_ID=app, ALDABA_AGENT_SOCKET=world.agent.socket, **variables))
    try:
        token = wait_for_lines(log, len, "the script has its token")[0].split()[1]
    finally:
        running.kill()
        running.wait(10)
    status, reference, reason = send(
        token, {"aps": {"content-available": 1}, "todo": 7}, apns_topic=app, apns_push_type="background",
        apns_priority="5")
    assert (status, reason) == (200, None)
    wait_for_lines(log, lambda lines: "background 7" in lines, "the agent has started the script")
    wait_until(lambda: "handed" in control.states(reference), "it is handled")


def test_an_activity_begins_is_updated_by_the_app_and_by_a_push_and_ends(world, app, token):
    activity = app.call("startActivity", {
        "attributesType": "Brew", "attributes": {"tea": "Assam"}, "content": {"state": {"minutes": 4}}, "pushes": "token"})
    assert app.line("the token for starts is told", event="startToken")["value"] == token + "0" * 32
    known = wait_until(lambda: [line for line in app.found(event="activity", id=activity) if "pushToken" in line], "its token")
    assert (known[0]["state"], known[0]["content"]) == ("active", {"minutes": 4})
    app.call("updateActivity", activity, {"state": {"minutes": 3}}, {"alert": {"title": "Soon", "sound": True}})
    app.line("it is updated", event="activity", id=activity, content={"minutes": 3})
    payload = {"aps": {"timestamp": int(time.time()), "event": "update", "content-state": {"minutes": 1}}}
    assert world.send(
        known[0]["pushToken"], payload, apns_topic=f"{world.id}.push-type.liveactivity", apns_push_type="liveactivity")[0] == 200
    app.line("the push is told", event="activity", id=activity, content={"minutes": 1})
    app.call("endActivity", activity, {"content": {"state": {"minutes": 0}}, "dismissal": "immediate"})
    app.line("it is dismissed", event="activity", id=activity, state="dismissed", content={"minutes": 0})
    assert app.answer(app.begin("endActivity", activity))["code"] == "noActivity"
    assert app.answer(app.begin("startActivity", {
        "id": "x", "attributesType": "Brew", "attributes": {}, "content": {"state": {}}}))["code"] == "invalid"


def test_a_wrong_secret_is_refused_with_a_reason(world):
    app = world.app(secret="0" * 64)
    refused = app.line("the refusal", event="refused")
    assert "secret" in refused["message"] and refused["code"]
    assert app.close() == 1


def test_a_second_process_takes_the_app_s_place(world):
    first = world.app()
    first.line("it is connected", event="connected")
    second = world.app()
    second.line("it is connected", event="connected")
    assert first.line("it is superseded", event="closed")["value"] == "superseded"
    assert first.answer(first.begin("badge"))["code"] == "notConnected"
    assert [first.close(), second.close()] == [0, 0]


def test_an_agent_that_is_killed_while_the_handler_runs_gets_its_answer_and_the_handler_one_call(world, app, token):
    world.push(token, "Slow", waits=True)
    number = app.line("the push", handler="notification", title="Slow")["id"]
    kill(world.agent.process)
    app.line("the connection has ended", event="disconnected")
    world.agent.start()
    wait_until(lambda: len(app.found(event="connected")) == 2, "it is connected again")
    app.write(release=True)
    assert world.listed("Slow") == int(number)
    wait_until(lambda: app.call("unconfirmed") == [], "the new agent has confirmed it")
    world.push(token, "After")
    app.line("the next push", handler="notification", title="After")
    assert len(app.found(handler="notification", title="Slow")) == 1


@pytest.mark.parametrize(
    "place", ["handOver.after", "storeHandled.before", "storeHandled.after", "confirmHandled.before"])
def test_a_handler_runs_once_though_the_agent_dies_before_it_confirms(world, app, token, place):
    world.agent.arm(place)
    world.push(token, place)
    world.agent.wait_for_death()
    world.agent.start()
    world.listed(place)
    wait_until(lambda: len(app.found(event="connected")) == 2, "it is connected again")
    wait_until(lambda: app.call("unconfirmed") == [], "the new agent has confirmed it")
    assert len(app.found(handler="notification", title=place)) == 1
