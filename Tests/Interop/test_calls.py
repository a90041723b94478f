"""A call: a push of the type `voip` starts an app that takes calls, and ends where the app takes none."""

import sys

import pytest

from aldaba_process import REPOSITORY
from script_app import TEAM, ScriptApp
from waiting import wait_for_lines

CLIENT = REPOSITORY / "Examples/PythonClient"
PROGRAM = """
import os, sys
sys.path.insert(0, os.environ["ALDABA_CLIENT"])
from aldaba_notifications import Agent
folder = sys.argv[1]
secret = open(folder + "/secret").read()
with Agent(os.environ["ALDABA_APP_ID"], secret, os.environ["ALDABA_AGENT_SOCKET"]) as agent:
    message = agent.wait(lambda message: message["type"] == "deliver", 20)
    with open(folder + "/log", "a") as log:
        print(message["kind"], message["notification"]["payload"], file=log)
    agent.wait(lambda message: message["type"] == "handledConfirmed", 20)
"""


class PhoneApp(ScriptApp):
    """An app that is started by the agent, and writes down what it is handed."""

    def __init__(self, up, folder):
        self.folder = folder
        super().__init__(up, "test_calls")

    def install(self, *modes):
        self.agent.install(
            id=self.id, name="Phone", team=TEAM, executable=sys.executable,
            arguments=["-c", PROGRAM, str(self.folder)], environment={"ALDABA_CLIENT": str(CLIENT)},
            authorization="granted", provesBySecret=True, backgroundModes=list(modes))
        (self.folder / "secret").write_text((self.agent.data / "apps" / f"{self.id}.secret").read_text())
        self.agent.aldaba("agent", "status")


@pytest.fixture
def app(up, tmp_path):
    made = PhoneApp(up, tmp_path)
    yield made
    made.stop()


def call(app, send):
    status, reference, _ = send(app.token, {"caller": "Ana"}, apns_topic=f"{app.id}.voip", apns_push_type="voip")
    assert status == 200
    return reference


def test_a_call_starts_an_app_that_takes_calls(app, send, control):
    app.install("voip")
    reference = call(app, send)
    [line] = wait_for_lines(app.folder / "log", len, "the app has the call")
    assert line == 'call {"caller": "Ana"}' or line == 'call {"caller":"Ana"}'
    control.wait_for_last_state(reference, "handed")


def test_a_call_to_an_app_that_takes_none_ends_as_that(app, send, control):
    app.install("remote-notification")
    control.wait_for_last_state(call(app, send), "failed(noReceiver)")
    assert not (app.folder / "log").exists()
