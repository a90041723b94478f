"""What kills its app in a handler is handed over once more, and then not again; the timeline has each attempt."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from firebase_admin import messaging

from aldaba_process import REPOSITORY, clean_environment, run_aldaba
from fcm_library import firebase_app
from script_app import TEAM, ScriptApp
from waiting import wait_until

PROGRAM = Path(__file__).parent / "dying_app.py"
CLIENT = REPOSITORY / "Examples/PythonClient"


class DyingApp(ScriptApp):
    """An app whose handlers kill it."""

    def __init__(self, up, folder):
        self.folder = folder
        super().__init__(up, "test_deaths")
        (folder / "secret").write_text(self._secret)
        self.agent.install(
            id=self.id, name="Dying", team=TEAM, executable=sys.executable, arguments=[str(PROGRAM), str(folder)],
            environment={"ALDABA_CLIENT": str(CLIENT)}, authorization="granted", provesBySecret=True)
        (folder / "secret").write_text((self.agent.data / "apps" / f"{self.id}.secret").read_text())

    def begin(self):
        return subprocess.Popen(
            [sys.executable, PROGRAM, self.folder], stdin=subprocess.DEVNULL, env=clean_environment(
                ALDABA_CLIENT=str(CLIENT), ALDABA_APP_ID=self.id, ALDABA_AGENT_SOCKET=self.agent.socket))

    def run(self):
        """Runs once; returns whether it died."""
        return self.begin().wait(20) != 0

    def log(self):
        file = self.folder / "log"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def app(up, tmp_path):
    made = DyingApp(up, tmp_path)
    yield made
    made.stop()


def states(path, name):
    [found] = json.loads(run_aldaba("get", name, "--json", "--data", path["data"]).stdout)
    return [line["state"] for line in found["timeline"]]


def attempts(states):
    return [state for state in states if state in ("unanswered", "failed(appCrashed)", "handed")]


def test_a_silent_push_gets_two_attempts(app, send, control):
    _, reference, _ = send(
        app.token, {"aps": {"content-available": 1}}, apns_topic=app.id, apns_push_type="background",
        apns_priority="5")
    wait_until(lambda: "acked" in control.states(reference), "the device has it")
    assert [app.run() for _ in range(4)] == [True, True, False, False]
    wait_until(lambda: "failed(appCrashed)" in control.states(reference), "the timeline says why it ended")
    assert attempts(control.states(reference)) == ["unanswered", "failed(appCrashed)"]


def test_a_presentation_gets_two_attempts_also_over_a_restart_of_the_agent(app, send, control):
    (app.folder / "wait").touch()
    running = app.begin()
    wait_until(lambda: app.log(), "it is connected")
    _, reference, _ = send(app.token, {"aps": {"alert": "Milk"}}, apns_topic=app.id)
    assert running.wait(20) != 0
    (app.folder / "wait").unlink()
    wait_until(lambda: "unanswered" in control.states(reference), "the first attempt is in the timeline", 20)
    app.agent.stop_process()
    app.agent.start()
    assert [app.run() for _ in range(3)] == [True, False, False]
    wait_until(lambda: "failed(appCrashed)" in control.states(reference), "the timeline says why it ended")
    assert attempts(control.states(reference)) == ["unanswered", "failed(appCrashed)"]
    # It is seen all the same.
    assert [json.loads(one["notification"]["payload"]) for one in app.agent.listed()] == [{"aps": {"alert": "Milk"}}]


def test_a_tap_starts_its_app_twice(app, send, control):
    _, reference, _ = send(app.token, {"aps": {"alert": "Milk"}}, apns_topic=app.id)
    [shown] = wait_until(app.agent.listed, "it is in the list")
    app.agent.aldaba("notifications", "open", shown["notification"]["id"])
    wait_until(lambda: "failed(appCrashed)" in control.states(reference), "the timeline says why it ended", 30)
    assert attempts(control.states(reference)) == ["unanswered", "failed(appCrashed)"]
    assert app.log() == ["start launched", "respond"] * 2
    # A person starts it: it is free.
    assert not app.run()
    assert app.log()[-2:] == ["start ", "nothing"]


@pytest.mark.parametrize("freeing", ["dismissed", "reinstalled"])
def test_a_person_frees_an_app_whose_tap_kills_it(app, send, freeing):
    send(app.token, {"aps": {"alert": "Milk"}}, apns_topic=app.id)
    [shown] = wait_until(app.agent.listed, "it is in the list")
    manifest = (app.agent.data / "apps" / f"{app.id}.json").read_text()
    app.agent.aldaba("notifications", "open", shown["notification"]["id"])
    wait_until(lambda: "respond" in app.log(), "it dies of the tap")
    if freeing == "dismissed":
        app.agent.aldaba("notifications", "dismiss", "--all")
    else:
        run_aldaba("agent", "app", "remove", app.id, "--data", app.agent.data)
        (app.folder / "secret").write_text(app.agent.install(**json.loads(manifest)))
    # Whatever was under way then has ended: runs by hand live, and are given nothing.
    wait_until(lambda: not app.run(), "it lives", 30)
    assert not app.run()
    assert app.log()[-2:] == ["start ", "nothing"]
    assert app.log().count("respond") <= 2


def test_others_survive_what_kills_the_app(app, send, control):
    references = [
        send(app.token, {"aps": {"content-available": 1}, "number": number}, apns_topic=app.id,
             apns_push_type="background", apns_priority="5")[1] for number in range(3)]
    wait_until(lambda: all("acked" in control.states(one) for one in references), "the device has them")
    assert app.run()
    assert app.run()
    # The first two deaths are the first one's: the others come to a handler that lives.
    with app.connect() as agent:
        ids = [agent.wait_for_notification(10)["apnsID"] for _ in range(2)]
    assert [one.lower() for one in ids] == [one.lower() for one in references[1:]]
    wait_until(lambda: "handed" in control.states(references[2]), "the last is handed")
    assert attempts(control.states(references[0])) == ["unanswered", "failed(appCrashed)"]
    assert attempts(control.states(references[1])) == ["unanswered", "handed"]


@pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")
def test_a_data_message_gets_five_attempts(app, path, monkeypatch, control):
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"], name="deaths") as firebase:
        name = messaging.send(messaging.Message(data={"todo": "Milk"}, token=app.token), app=firebase)
    wait_until(lambda: "acked" in states(path, name), "the device has it")
    assert [app.run() for _ in range(7)] == [True] * 5 + [False] * 2
    wait_until(lambda: "failed(appCrashed)" in states(path, name), "the timeline says why it ended")
    assert attempts(states(path, name)) == ["unanswered"] * 4 + ["failed(appCrashed)"]
