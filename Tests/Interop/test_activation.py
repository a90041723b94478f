"""A tap on a notification of an app that does not run: the session bus starts the app."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aldaba_process import HERE, REPOSITORY, AldabaUp, clean_environment, run_aldaba
from screen import Screen
from waiting import wait_for_lines, wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import OPEN, Agent  # noqa: E402

pytestmark = pytest.mark.desktop
APP = "com.example.activated"
NAME = "com.example.Activated-App"
TOKEN = "a token"


@pytest.fixture
def screen():
    made = Screen(clean_environment(), server="mock")
    yield made
    made.stop()


@pytest.fixture
def up(request, screen):
    running = AldabaUp.ephemeral(name=request.node.name.split("[")[0], environment=screen.environment)
    yield running
    running.stop()


def install(up, **members):
    manifest = up.data / "activated.json"
    manifest.write_text(json.dumps({
        "id": APP, "name": "Activated", "team": "ALDABADEMO", "executable": "/usr/bin/python3", "provesBySecret": True,
        "authorization": "granted", "desktopEntry": NAME, "dbusActivatable": True, **members}))
    return run_aldaba("agent", "app", "install", manifest, "--data", up.data).stdout.split()[1]


def command(up, secret, log):
    """What a service file or a manifest says to start the app; the log is where it notes what happens to it."""
    return ["/usr/bin/python3", str(HERE / "activated_app.py"), NAME, APP, secret, str(up.data / "agent.sock"), str(log)]


def tap(screen, up, secret):
    """The app shows a notification and ends; then somebody opens it."""
    with Agent(APP, Path(secret).read_text(), str(up.data / "agent.sock")) as agent:
        agent.add("tea", title="Tea")
        agent.wait_for_notification(20)
        wait_until(screen.notified, "the notification is on the bus")
    screen.open(1, TOKEN)


def test_a_tap_has_the_bus_start_the_app_which_gets_the_token_and_the_answer(screen, up):
    log = up.data / "activated.log"
    secret = install(up)
    screen.add_service(NAME, " ".join(command(up, secret, log)))
    tap(screen, up, secret)
    lines = wait_for_lines(log, lambda lines: len(lines) >= 3, "the app has heard of the tap")
    assert [json.loads(line) for line in lines] == [
        {"started": True},
        {"activated": {"activation-token": TOKEN, "desktop-startup-id": TOKEN}},
        {"action": OPEN, "title": "Tea"},
    ]


def test_an_app_that_the_bus_cannot_start_is_started_by_its_program(screen, up):
    log = up.data / "started.log"
    program = up.data / "program"
    program.write_text(f"#!/bin/sh\necho \"$ALDABA_APP_ID $XDG_ACTIVATION_TOKEN\" >> {log}\n")
    program.chmod(0o700)
    secret = install(up, executable=str(program))
    tap(screen, up, secret)
    assert wait_for_lines(log, len, "the program was started")[0] == f"{APP} {TOKEN}"


def test_a_name_that_no_bus_has_is_refused_with_the_key(up):
    manifest = up.data / "wrong.json"
    manifest.write_text(json.dumps({
        "id": APP, "team": "ALDABADEMO", "executable": "/bin/true", "desktopEntry": "wrong", "dbusActivatable": True}))
    done = run_aldaba("agent", "app", "install", manifest, "--data", up.data, check=False)
    assert done.returncode != 0 and "desktopEntry" in done.stderr and "bus name" in done.stderr


REMINDER = """
import sys
sys.path.insert(0, sys.argv[1])
from aldaba_notifications import Agent
with Agent(sys.argv[2], open(sys.argv[3]).read(), sys.argv[4]) as agent:
    agent.add("tea", title="Tea")
    agent.wait_for_notification(20)
"""


def test_a_tap_soon_after_an_app_has_ended_starts_it_at_once(screen, up):
    log = up.data / "started.log"
    program = up.data / "program"
    program.write_text(f"#!/bin/sh\necho \"$ALDABA_APP_ID\" >> {log}\n")
    program.chmod(0o700)
    secret = install(up, executable=str(program), dbusActivatable=False)
    subprocess.run(
        [sys.executable, "-c", REMINDER, str(REPOSITORY / "Examples/PythonClient"), APP, secret,
         str(up.data / "agent.sock")], check=True, timeout=30)
    ended = time.monotonic()
    wait_until(screen.notified, "the notification is on the bus")
    screen.open(1, TOKEN)
    assert wait_for_lines(log, len, "the program was started")[0] == APP
    assert time.monotonic() - ended < 3, "the agent waits five seconds only for an app whose process runs"
