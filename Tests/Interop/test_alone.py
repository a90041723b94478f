"""An agent without a server and without a screen: the apps' own notifications, a terminal, and a program that is told."""

import json
import os
import signal
import subprocess
import sys

import pytest

from aldaba_process import ARTEFACTS, BINARY, REPOSITORY, clean_environment, run_aldaba
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent, AgentError  # noqa: E402

SCRIPT = "com.example.script"


class Alone:
    """A running `aldaba agent` that knows of no server."""

    def __init__(self, folder, *flags):
        self.data, self.socket = folder / "data", str(folder / "data" / "agent.sock")
        with open(ARTEFACTS / "test_alone.agent.log", "wb") as log:
            self._process = subprocess.Popen(
                [str(BINARY), "agent", "--data", str(self.data), *map(str, flags)], env=clean_environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        wait_until(lambda: self.aldaba("agent", "status", check=False).returncode == 0, "the agent answers")

    def aldaba(self, *arguments, **options):
        return run_aldaba(*arguments, "--data", self.data, **options)

    def app(self, **manifest):
        """Installs a script as an app and connects as it."""
        draft = self.data / "draft.json"
        draft.write_text(json.dumps({
            "id": SCRIPT, "name": "Script", "team": "ALDABADEMO", "executable": sys.executable, "provesBySecret": True,
            "authorization": "granted", **manifest}))
        told = self.aldaba("agent", "app", "install", draft, check=False)
        assert told.returncode == 0, told.stderr
        return Agent(SCRIPT, open(told.stdout.split()[1]).read(), self.socket)

    def stop(self):
        os.kill(self._process.pid, signal.SIGTERM)
        assert self._process.wait(20) == 0


@pytest.fixture
def start(tmp_path):
    started = []

    def begin(*flags):
        started.append(Alone(tmp_path, *flags))
        return started[-1]

    yield begin
    for alone in started:
        alone.stop()


def test_without_a_server_there_are_the_apps_own_notifications(start):
    alone = start()
    assert "none: only the apps' own" in alone.aldaba("agent", "status").stdout
    with alone.app() as app:
        with pytest.raises(AgentError, match="no server"):
            app.register()
        for number in range(3):
            app.add(f"{number}", title="Anna", body=f"Message {number}", threadIdentifier="anna")
        app.add("bob", title="Bob", relevanceScore=0.9)
        wait_until(lambda: len(app.delivered()) == 4, "all are in the list")
        bob, anna = alone.aldaba("notifications", "threads").stdout.splitlines()
        assert "Bob" in bob and "Message 2" in anna and anna.endswith("(2 more)")
        number = anna.split()[0]
        assert "Message 2" in alone.aldaba("notifications", "show", number).stdout
        gone = alone.aldaba("notifications", "show", "-99", check=False)
        assert gone.returncode == 3 and "no notification -99" in gone.stderr


def test_a_program_is_told_where_there_is_no_screen(start, tmp_path):
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ncat >> {tmp_path}/told\n")
    hook.chmod(0o700)
    alone = start("--presenter-hook", hook)
    alone.aldaba("notify", "Tea", "It is ready.")
    told = wait_until(lambda: (tmp_path / "told").exists() and (tmp_path / "told").read_text(), "the program was told")
    message = json.loads(told)
    assert (message["title"], message["body"], message["app"]) == ("Tea", "It is ready.", "aldaba.notify")


@pytest.mark.parametrize("change, word", [
    ({"provesBySecret": False}, "provesBySecret"), ({"lifecicle": "always"}, "lifecycle"),
    ({"backgroundModes": ["fetch"]}, "remote-notification"), ({"team": "x"}, "ten characters"),
])
def test_a_manifest_that_is_wrong_is_refused_with_what_would_be_right(start, change, word):
    alone = start()
    with pytest.raises(AssertionError, match=word):
        alone.app(**change)


def test_what_a_manifest_says_counts_at_once(start):
    alone = start()
    with alone.app() as app:
        app.add("one", title="One")
        with alone.app(authorization="denied"):
            pass
    refused = alone.aldaba("settings", SCRIPT, "allowed=yes", check=False)
    assert refused.returncode == 3 and "policy" in refused.stderr
