"""A real popup on a real (if unseen) screen: seen, clicked, and the app's didReceive runs."""

import pytest

from aldaba_process import ARTEFACTS, AldabaUp, clean_environment, run_aldaba
from control_client import ControlClient
from pictures import JPEG_COLOUR, jpeg
from provider import Provider
from screen import POPUP, Screen
from waiting import wait_for_lines, wait_until

pytestmark = pytest.mark.desktop
APP = "com.example.todo"


@pytest.fixture
def screen():
    made = Screen(clean_environment())
    yield made
    made.stop()


@pytest.fixture
def run(request, screen):
    """`run(*flags)` starts `aldaba up` on the screen's desktop."""
    started = []

    def start(*flags):
        running = AldabaUp.ephemeral(*flags, name=request.node.name, environment=screen.environment)
        started.append(running)
        return running

    yield start
    for running in started:
        running.keep_logs()
        running.stop()  # asserts that nothing is left, the app that a click started included


def seen_and_clicked(screen, name):
    """Waits for the popup, keeps the picture, clicks in the popup's middle."""
    picture, box = screen.wait_for_popup()
    picture.save_png(ARTEFACTS / f"{name}.png")
    left, top, right, bottom = box
    assert picture.count(POPUP, box) > 0.5 * (right - left) * (bottom - top), "a filled rectangle"
    screen.click(box)


def notify(ready, title):
    """Sends one alert; returns its apns-id."""
    provider = Provider(ready)
    answer = provider.post(ready["deviceToken"], {"aps": {"alert": {"title": title, "body": "Knock, knock."}}})
    provider.close()
    assert (answer.status, answer.reason) == (200, None)
    return answer.apns_id


def did_receive(lines):
    return any(line.startswith("didReceive") for line in lines)


def test_a_notification_is_seen_clicked_and_received_by_the_running_app(screen, run):
    running = run()
    apns_id = notify(running.ready, "Buy milk")
    seen_and_clicked(screen, "popup-app-running")
    wait_for_lines(running.data / "log/app.log", did_receive, "the app's didReceive ran")
    screen.wait_for_empty()
    control = ControlClient(running.ready["http"])
    wait_until(lambda: "opened" in control.states(apns_id), "the timeline says opened")
    assert {"accepted", "acked", "presented", "handed"} <= set(control.states(apns_id))
    control.close()
    assert open(running.ready["appLog"]).read().split() == [apns_id], "handed once, tapped or not"


def test_a_click_starts_the_app_that_was_not_running(screen, run):
    running = run("--no-app")
    assert running.ready["pids"]["app"] is None
    apns_id = notify(running.ready, "Water the plants")
    seen_and_clicked(screen, "popup-app-not-running")
    wait_for_lines(running.data / f"log/{APP}.log", did_receive, "the started app's didReceive ran")
    assert len(running.apps()) == 1, "the one that the agent started"
    screen.wait_for_empty()
    wait_for_lines(running.ready["appLog"], lambda lines: apns_id in lines, "the app was handed it")
    assert open(running.ready["appLog"]).read().split() == [apns_id]
    control = ControlClient(running.ready["http"])
    wait_until(
        lambda: {"opened", "handed"} <= set(control.states(apns_id)), "the timeline says opened and handed")
    control.close()


def test_a_picture_that_is_sent_from_a_file_is_seen_with_nothing_else_set(screen, run, tmp_path):
    running = run("--json")
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(jpeg())
    run_aldaba(
        "send", "--data", running.data, "--app", APP, "--image", photo)
    wait_until(lambda: len(list(screen.look().places(JPEG_COLOUR))) > 300, "the picture is seen")
    screen.keep(ARTEFACTS / "send_image.png")
