"""A person at a terminal has an app show its own settings, whether it runs or not."""

import json
import sys
from pathlib import Path

import pytest

from aldaba_process import REPOSITORY, AldabaUp, run_aldaba
from waiting import wait_for_lines

CLIENT = REPOSITORY / "Examples/PythonClient"
sys.path.insert(0, str(CLIENT))
from aldaba_notifications import Agent  # noqa: E402

APP = "com.example.owner"
PROVIDES_SETTINGS = 32
PROGRAM = """#!{python}
import os, sys
sys.path.insert(0, {client!r})
from aldaba_notifications import Agent
with Agent(os.environ["ALDABA_APP_ID"], open({secret!r}).read()) as agent:
    with open({log!r}, "a") as log:
        log.write(agent.welcome["state"] + " " + agent.wait(lambda got: got["type"] == "openSettings", 20)["type"] + "\\n")
"""


@pytest.fixture
def up(request):
    running = AldabaUp.ephemeral(name=request.node.name)
    yield running
    running.stop()


def test_the_app_is_told_and_started_where_it_does_not_run(up):
    program, log, manifest = up.data / "owner", up.data / "owner.log", up.data / "owner.json"
    program.touch(0o700)
    manifest.write_text(json.dumps({
        "id": APP, "name": "Owner", "team": "ALDABADEMO", "executable": str(program), "provesBySecret": True,
        "authorization": "granted"}))
    secret = run_aldaba("agent", "app", "install", manifest, "--data", up.data).stdout.split()[1]
    program.write_text(PROGRAM.format(python=sys.executable, client=str(CLIENT), secret=secret, log=str(log)))
    program.chmod(0o700)
    with Agent(APP, Path(secret).read_text(), str(up.data / "agent.sock")) as agent:
        refused = run_aldaba("settings", APP, "--open", "--data", up.data, check=False)
        assert refused.returncode == 3 and "settings of its own" in refused.stderr
        agent.request_authorization(7 | PROVIDES_SETTINGS)
        assert agent.ask({"type": "getSettings"}, "settings")["providesAppNotificationSettings"]
        run_aldaba("settings", APP, "--open", "--data", up.data)
        agent.wait(lambda message: message["type"] == "openSettings", 20)
    run_aldaba("settings", APP, "--open", "--data", up.data)
    assert wait_for_lines(log, len, "the started app has heard of it") == ["active openSettings"]


def test_a_wish_for_all_apps_or_beside_changes_is_no_command():
    for arguments in (["--open"], [APP, "--open", "sounds=off"]):
        done = run_aldaba("settings", *arguments, check=False)
        assert done.returncode == 2 and "APP --open" in done.stderr, done.stderr
