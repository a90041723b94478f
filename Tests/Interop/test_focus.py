"""Apps that are in front while a window of theirs has the focus, with a real window manager and real windows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aldaba_process import REPOSITORY, AldabaUp, clean_environment, run_aldaba
from screen import POPUP, Screen
from waiting import wait_for_end, wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402

pytestmark = pytest.mark.desktop
APP = "com.example.focused"


@pytest.fixture
def screen():
    made = Screen(clean_environment())
    made.begin_window_manager()
    yield made
    made.stop()


@pytest.fixture
def up(request, screen):
    running = AldabaUp.ephemeral(name=request.node.name, environment=screen.environment)
    yield running
    running.stop()


@pytest.fixture
def agent(up):
    """This very process as an app, which says "into the list only" to whatever it is asked about."""
    manifest = up.data / "focused.json"
    manifest.write_text(json.dumps({
        "id": APP, "name": "Focused", "team": "ALDABADEMO", "executable": sys.executable, "provesBySecret": True,
        "authorization": "granted", "lifecycle": "focus"}))
    secret = run_aldaba("agent", "app", "install", manifest, "--data", up.data).stdout.split()[1]
    with Agent(APP, Path(secret).read_text(), str(up.data / "agent.sock"), presents=8) as connected:
        yield connected


@pytest.fixture
def window(screen):
    """`window(title, is_ours)` opens one; those that are not ours belong to a process that is no child of this one."""
    pids = []

    def open_window(title, is_ours):
        command = ["zenity", "--info", "--text", "Here", "--title", title]
        if is_ours:
            pids.append(subprocess.Popen(command, env=screen.environment, stderr=subprocess.DEVNULL).pid)
        else:
            script = '"$@" >/dev/null 2>&1 & echo $!'
            done = subprocess.run(
                ["sh", "-c", script, "sh", *command], env=screen.environment, capture_output=True, check=True)
            pids.append(int(done.stdout))
        number, *_ = screen.wait_for_window(title)
        screen.activate(str(number))
        return str(number)

    yield open_window
    for pid in pids:
        subprocess.run(["kill", str(pid)], capture_output=True)
        assert wait_for_end(pid)


def entered(agent):
    """Where the agent says that the app stands next."""
    return agent.wait(lambda message: message["type"] == "enter", 20)["state"]


def test_with_the_focus_the_app_is_asked_and_without_it_the_popup_appears(screen, up, agent, window):
    assert agent.welcome["state"] == "background"
    ours = window("Ours", True)
    assert entered(agent) == "active"
    agent.add("asked", title="Asked")
    assert agent.wait_for_notification(20)["identifier"] == "asked"
    wait_until(lambda: [item["identifier"] for item in agent.delivered()] == ["asked"], "it is in the list")
    assert screen.look().box(POPUP) is None, "the app said: into the list only"
    window("Another", False)
    assert entered(agent) == "background"
    agent.add("seen", title="Seen")
    screen.wait_for_popup()
    screen.activate(ours)
    assert entered(agent) == "active"


def test_the_end_of_the_only_window_takes_the_focus_from_the_app(screen, up, agent):
    for number in range(3):
        passing = pass_by(screen, number)
        assert entered(agent) == "active"
        passing.kill()
        passing.wait(10)
        assert entered(agent) == "background", "openbox goes on calling it active"


def test_windows_that_vanish_while_they_are_looked_at_are_no_windows(screen, up, agent):
    old = up.pids()["agent"]
    for number in range(8):
        passing = pass_by(screen, number)
        passing.kill()
        passing.wait(10)

    def shown():
        agent.add("seen", title="Seen")
        return screen.look().box(POPUP)

    wait_until(shown, "the popup appears, since no window has the focus")
    assert up.pids()["agent"] == old


def pass_by(screen, number):
    passing = subprocess.Popen(
        ["zenity", "--info", "--title", f"Passing {number}"], env=screen.environment, stderr=subprocess.DEVNULL)
    screen.wait_for_window(f"Passing {number}")
    return passing


def test_when_the_screen_goes_the_app_is_where_it_says(screen, up, agent, window):
    window("Ours", True)
    assert entered(agent) == "active"
    screen.end_display()
    assert entered(agent) == "background"
    agent.send({"type": "stateChanged", "state": "active"})
    agent.add("asked", title="Asked")
    assert agent.wait_for_notification(20)["identifier"] == "asked"
    log = up.log.read_text() + "".join(file.read_text() for file in (up.data / "log").glob("*.log"))
    assert log.count("Nobody tells which window has the focus") == 1
