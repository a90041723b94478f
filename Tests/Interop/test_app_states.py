"""A `declared` app is put into the background and to the front by a command, is told why nobody was asked, and ends by Ctrl-C."""

import json
import signal
import subprocess

import pytest

from aldaba_process import BINARY, clean_environment
from alone_agent import Alone
from waiting import wait_until

APP = "com.example.todo"
PROGRAM = BINARY.parent / "TodoList"


@pytest.fixture
def alone(tmp_path):
    running = Alone(tmp_path, "--presenter", "headless", name="test_app_states")
    yield running
    running.stop()


class TodoApp:
    """The to-do list of the examples, as a person starts it in a terminal; it says what its delegate hears."""

    def __init__(self, alone, tmp_path, **manifest):
        draft, self.output = tmp_path / "todo.json", tmp_path / "todo.log"
        draft.write_text(json.dumps(
            {"id": APP, "name": "Todo", "team": "ALDABADEMO", "executable": str(PROGRAM.resolve()), **manifest}))
        alone.aldaba("agent", "app", "install", draft)
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [PROGRAM.resolve()], env=clean_environment(ALDABA_APP_ID=APP, ALDABA_AGENT_SOCKET=alone.socket),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def wait(self, line):
        wait_until(lambda: line in self.output.read_text(), f"the app says: {line}")

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)


@pytest.fixture
def todo(request, alone, tmp_path):
    mark = request.node.get_closest_marker("manifest")
    app = TodoApp(alone, tmp_path, **(mark.kwargs if mark else {"authorization": "granted"}))
    yield app
    app.stop()


def test_a_command_puts_the_app_into_the_background_and_to_the_front(alone, todo):
    todo.wait("authorization: true")
    alone.aldaba("agent", "app", "enter", APP, "background")
    todo.wait("in the background")
    alone.aldaba("agent", "app", "enter", APP, "foreground")
    todo.wait("in front again")
    wrong = alone.aldaba("agent", "app", "enter", APP, "nowhere", check=False)
    assert wrong.returncode != 0 and "foreground" in wrong.stderr, wrong.stderr


def test_ctrl_c_lets_the_app_end_by_itself(todo):
    todo.wait("authorization: true")
    todo.process.send_signal(signal.SIGINT)
    assert todo.process.wait(20) == 0
    assert "ends" in todo.output.read_text().splitlines()


@pytest.mark.manifest(authorization="ask")
def test_an_app_that_nobody_could_be_asked_about_says_so_itself(alone, todo):
    todo.wait("authorization: false")
    todo.wait("aldaba: this app may not send notifications: nobody could be asked, since there is no screen")
    todo.wait(f"aldaba settings {APP} allowed=yes")
    todo.process.send_signal(signal.SIGINT)
    todo.process.wait(20)
    wrong = alone.aldaba("agent", "app", "enter", APP, "background", check=False)
    assert wrong.returncode == 3 and "does not run" in wrong.stderr, wrong.stderr
