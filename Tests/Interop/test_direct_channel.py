"""PyPI's firebase-admin sends data messages, which an app gets by FirebaseMessaging's direct channel."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from firebase_admin import messaging

from aldaba_process import BINARY, REPOSITORY, clean_environment, run_aldaba
from fcm_library import firebase_app
from own_agent import OwnAgent
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402

TODO, SCRIPT, TEAM = "com.example.todo", "com.example.script", "ALDABADEMO"

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")


@pytest.fixture
def app(path, monkeypatch):
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"], name="channel") as made:
        yield made


def states(path, name):
    [found] = json.loads(run_aldaba("get", name, "--json", "--data", path["data"]).stdout)
    return [line["state"] for line in found["timeline"]]


def items(path):
    """What the demo app has taken into its list, in order."""
    file = Path(path["data"]) / "todo.json"
    return [json.loads(line)["title"] for line in file.read_text().splitlines()] if file.exists() else []


def test_data_messages_reach_the_app_in_order_each_once(app, path):
    wanted = [f"thing {number}" for number in range(150)]
    names = [
        messaging.send(messaging.Message(data={"todo": title}, token=path["registrationToken"]), app=app)
        for title in wanted]
    wait_until(lambda: len(items(path)) >= len(wanted), f"the app has them: {len(items(path))}")
    assert items(path) == wanted
    wait_until(lambda: states(path, names[-1])[-1] == "handed", f"it is reported: {states(path, names[-1])}")
    for name in (names[0], names[70], names[-1]):
        assert states(path, name)[-2:] == ["acked", "handed"]


def test_a_message_with_both_is_shown_and_its_data_comes_once(app, path):
    before = len(items(path))
    name = messaging.send(
        messaging.Message(
            notification=messaging.Notification(title="Tea", body="Green"), data={"todo": "Tea"},
            token=path["registrationToken"]), app=app)
    wait_until(lambda: "handed" in states(path, name), f"the app had {name}: {states(path, name)}")
    assert "presented" in states(path, name)
    log = Path(path["appLog"]).read_text().splitlines()
    assert len(log) == len(set(log)), "nothing is told twice"
    assert items(path)[before:].count("Tea") >= 1


def test_a_topic_and_a_condition_reach_the_app_by_its_channel(app, path):
    token = path["registrationToken"]
    joined = messaging.subscribe_to_topic([token], "news", app=app)
    assert (joined.success_count, joined.failure_count) == (1, 0)
    for title, target in (("of a topic", {"topic": "news"}), ("of a condition", {"condition": "'news' in topics"})):
        name = messaging.send(messaging.Message(data={"todo": title}, **target), app=app)
        wait_until(lambda: title in items(path), f"the app has what came {title}")
        assert "a broadcast" in run_aldaba("get", name, "--data", path["data"]).stdout
    left = messaging.unsubscribe_from_topic([token], "news", app=app)
    assert left.success_count == 1
    messaging.send(messaging.Message(data={"todo": "too late"}, topic="news"), app=app)
    messaging.send(messaging.Message(data={"todo": "the last one"}, token=token), app=app)
    wait_until(lambda: "the last one" in items(path), "the app has the last one")
    assert "too late" not in items(path) and items(path).count("of a topic") == 1


class World:
    """The demo app on an agent of its own, which is killed."""

    def __init__(self, up):
        self.agent = OwnAgent(up, "test_direct_channel")
        folder = self.agent.data.parent
        self.log, self.output = folder / "app.log", folder / "app.out"
        variables = {"TODOLIST_APP_LOG": str(self.log)}
        self.agent.install(
            id=TODO, name="Todo", team=TEAM, executable=str(BINARY.parent / "TodoList"), authorization="granted",
            lifecycle="always", environment=variables)
        self.secret = self.agent.install(
            id=SCRIPT, name="Script", team=TEAM, executable=sys.executable, authorization="granted",
            provesBySecret=True)
        run_aldaba("app", "create", SCRIPT, "--team", TEAM, "--data", up.data)
        self.agent.start()
        with open(self.output, "ab") as output:
            self.app = subprocess.Popen(
                [str(BINARY.parent / "TodoList")], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=clean_environment(ALDABA_APP_ID=TODO, ALDABA_AGENT_SOCKET=self.agent.socket, **variables))
        lines = wait_until(
            lambda: [line for line in self.output.read_text().splitlines() if line.startswith("token: ")],
            "the demo app has its token")
        self.token = lines[0].split()[1]

    def again(self):
        """The agent has died where it was told to, and lives again."""
        self.agent.wait_for_death()
        self.agent.start()

    def had(self, number):
        return self.log.read_text().split().count(number) if self.log.exists() else 0

    def stop(self):
        self.app.kill()
        self.app.wait(10)
        self.agent.stop()


@pytest.fixture(scope="module")
def world(up):
    made = World(up)
    yield made
    made.stop()


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(
    "step",
    ["storeArrival", "acknowledge", "storeAcknowledged", "handOver", "storeHandled", "confirmHandled", "report",
     "storeReceiptsConfirmed"])
def test_a_data_message_outlives_the_agent_and_comes_once(world, app, path, step, side):
    world.agent.arm(f"{step}.{side}")
    name = messaging.send(messaging.Message(data={"todo": f"{step} {side}"}, token=world.token), app=app)
    world.again()
    wait_until(lambda: "handed" in states(path, name), f"the app had it: {states(path, name)}")
    # What was cut off is sent again: the marker comes after it.
    marker = messaging.send(messaging.Message(data={"todo": "marker"}, token=world.token), app=app)
    wait_until(lambda: "handed" in states(path, marker), "the next one is handed too")
    assert world.had(name.rsplit("/", 1)[1]) == 1
    found = states(path, name)
    assert [found.count(state) for state in ("accepted", "acked", "handed")] == [1, 1, 1]


def test_a_message_to_the_provider_ends_once_the_app_knows(world):
    def channel(script, event):
        return script.wait(lambda got: got["type"] == "channel" and got["event"] == event, 20)

    with Agent(SCRIPT, world.secret, world.agent.socket) as script:
        draft = {"id": "order-1", "to": "42@gcm.googleapis.com", "data": {"item": "milk"}, "timeToLive": 600}
        script.send({"type": "channel", "command": "send", "request": 900, "draft": draft})
        assert channel(script, "accepted")["request"] == 900
        # With a receiver for apps' messages the server has it, else it refuses it; both end it.
        ended = channel(script, "ended")
        assert ended["id"] == "order-1"
    with Agent(SCRIPT, world.secret, world.agent.socket) as script:
        assert channel(script, "ended") == ended, "the app did not say that it knows"
        script.send({"type": "channel", "command": "endTaken", "upstream": ended["upstream"]})
        script.send({"type": "channel", "command": "send", "request": 901, "draft": draft | {"id": "order-2"}})
        assert channel(script, "ended")["id"] == "order-2"
