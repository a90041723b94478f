"""`aldaba notify --on DEVICE`: a question of one device that is answered on another."""

import json
import subprocess

import pytest

from aldaba_process import BINARY, clean_environment
from screen import Screen
from test_relay_things import devices, up  # noqa: F401
from waiting import wait_until


@pytest.fixture
def desktop():
    made = Screen(clean_environment(), server="mock")
    yield made
    made.stop()


@pytest.fixture
def pair(devices, desktop):  # noqa: F811
    """A device without a screen, and another one whose person lets it notify."""
    server = devices("server")
    laptop = devices("laptop", environment=desktop.environment)
    server.sees("laptop")
    laptop.relay("grant", server.id, "aldaba.relay", "notify")
    return server, laptop


def ask(device, *arguments):
    return subprocess.Popen(
        [str(BINARY), "notify", "--on", "laptop", "--agent-socket", device.socket, *arguments], env=clean_environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def shown(desktop, title):
    return wait_until(lambda: desktop.numbers(title), f"{title} is on the other screen")[-1]


def test_a_button_that_is_pressed_on_another_device_is_the_answer(pair, desktop):
    running = ask(pair[0], "Deploy?", "Version 2", "--button", "yes=Deploy", "--button", "no=Wait", "--wait", "--json")
    number = shown(desktop, "Deploy?")
    desktop.press(number, "yes")
    output, errors = running.communicate(timeout=30)
    assert (running.returncode, errors) == (0, "")
    assert json.loads(output)["action"] == "yes"


def test_a_text_that_is_typed_on_another_device_is_the_answer(pair, desktop):
    running = ask(pair[0], "Which version?", "--reply", "version=Answer", "--wait")
    number = shown(desktop, "Which version?")
    desktop.reply(number, "2.1 – the grüne one")
    output, errors = running.communicate(timeout=30)
    assert (running.returncode, errors) == (0, "")
    assert output.splitlines() == ["version", "2.1 – the grüne one"]


def test_a_notification_without_a_question_is_shown_at_once(pair, desktop):
    running = ask(pair[0], "Backup done", "--", "-- all of it")
    output, errors = running.communicate(timeout=30)
    assert (running.returncode, output, errors) == (0, "", "")
    shown(desktop, "Backup done")


def test_nobody_answers_in_time(pair, desktop):
    running = ask(pair[0], "Anybody?", "--button", "yes=Yes", "--timeout", "1")
    output, errors = running.communicate(timeout=40)
    assert (running.returncode, output) == (7, "")
    assert "nobody has answered on laptop within 1 seconds" in errors


def test_a_device_without_a_screen_says_that_nobody_could_answer(devices):  # noqa: F811
    server, laptop = devices("server", "laptop")
    laptop.relay("grant", server.id, "aldaba.relay", "notify")
    running = ask(server, "Anybody?", "--button", "yes=Yes", "--wait")
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 1 and "nobody could answer: the agent there has no screen" in errors


def test_the_person_is_asked_before_the_first_notification_of_a_device(devices, desktop):  # noqa: F811
    server = devices("server")
    devices("laptop", environment=desktop.environment)
    server.sees("laptop")
    running = ask(server, "Hello")
    title = "Let “server” use “notify”?"
    number = shown(desktop, title)
    assert not desktop.numbers("Hello")
    desktop.press(number, "once")
    assert running.wait(30) == 0
    shown(desktop, "Hello")


@pytest.mark.parametrize("arguments, text", [
    (["--in", "10m"], "--on shows a new notification at once"), (["--id", "x"], "--on shows a new notification at once"),
    (["--image", "/etc/hostname"], "--on shows no picture"),
    (["--button", "a=A", "--timeout", "541"], "--timeout with --on is 1 to 540 seconds"),
])
def test_what_another_device_cannot_show_is_refused(pair, arguments, text):
    running = ask(pair[0], "Hello", *arguments)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 2 and text in errors
