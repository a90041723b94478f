"""What notification servers do by themselves: they let popups expire, put one in another's place, and die."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aldaba_process import BINARY, REPOSITORY, AldabaUp, clean_environment, run_aldaba
from screen import Screen
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402

pytestmark = pytest.mark.desktop
APP = "com.example.script"
XFCE = "xfce4-notifyd"
TOLD_OF_DISMISSAL = {"identifier": "told", "intentIdentifiers": [], "options": 1, "actions": []}


@pytest.fixture
def screen(request):
    made = Screen(clean_environment(), server=request.param)
    yield made
    made.stop()


@pytest.fixture
def up(request, screen):
    running = AldabaUp.ephemeral(name=request.node.name.split("[")[0], environment=screen.environment)
    yield running
    running.stop()


@pytest.fixture
def agent(up):
    manifest = up.data / "script.json"
    manifest.write_text(json.dumps({
        "id": APP, "name": "Script", "team": "ALDABADEMO", "executable": sys.executable, "provesBySecret": True,
        "authorization": "granted"}))
    secret = run_aldaba("agent", "app", "install", manifest, "--data", up.data).stdout.split()[1]
    with Agent(APP, Path(secret).read_text(), str(up.data / "agent.sock")) as connected:
        connected.set_categories([TOLD_OF_DISMISSAL])
        yield connected


def show(agent, identifier, **content):
    agent.add(identifier, categoryIdentifier="told", **content)
    agent.wait_for_notification(20)


@pytest.mark.parametrize("screen", [XFCE], indirect=True)
def test_a_popup_that_expires_leaves_the_notification_in_the_list(screen, agent):
    show(agent, "tea", title="Tea")
    screen.wait_for_window(XFCE)
    wait_until(lambda: not screen.windows(XFCE), "the popup has expired", 30)
    show(agent, "cake", title="Cake")
    wait_until(
        lambda: {item["identifier"] for item in agent.delivered()} == {"tea", "cake"}, "both are in the list")
    heard = {message["type"] for message in agent._waiting}
    assert "respond" not in heard, "expiry is no dismissal, which the app would have been told"


@pytest.mark.parametrize("screen", [XFCE], indirect=True)
def test_a_second_notification_of_the_identifier_takes_the_first_one_s_place(screen, up, agent):
    run_aldaba("settings", APP, "style=alert", "--data", up.data)
    show(agent, "tea", title="Tea", body="Soon.")
    height = screen.wait_for_window(XFCE)[4]
    show(agent, "tea", title="Tea", body="It is ready. " * 20)
    wait_until(lambda: screen.wait_for_window(XFCE)[4] > height, "the popup has the longer text")
    assert len(screen.windows(XFCE)) == 1
    assert [item["identifier"] for item in agent.delivered()] == ["tea"]


@pytest.mark.parametrize("screen", ["dunst"], indirect=True)
def test_a_server_that_was_ended_and_started_anew_shows_everything_again(screen, up):
    asking = subprocess.Popen(
        [str(BINARY), "notify", "Tea", "It is ready.", "--wait", "--data", str(up.data)], stdout=subprocess.PIPE,
        text=True, env=clean_environment())
    _, before = screen.wait_for_popup()
    screen.end_notification_server()
    screen.wait_for_empty()
    screen.begin_notification_server()
    _, after = screen.wait_for_popup()
    assert after == before
    screen.click(after)
    assert asking.communicate(timeout=20)[0] == "open\n"
    screen.wait_for_empty()


@pytest.mark.parametrize("screen", ["dunst"], indirect=True)
def test_what_was_taken_back_is_not_shown_by_the_next_server(screen, agent):
    show(agent, "tea", title="Tea")
    show(agent, "cake", title="Cake")
    screen.wait_for_popup()
    screen.end_notification_server()
    agent.remove_delivered(["tea"])
    screen.begin_notification_server()
    screen.wait_for_popup()
    agent.remove_delivered(["cake"])
    screen.wait_for_empty()
