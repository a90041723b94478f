"""The exercises of a course on notifications, done with the demo app on a real desktop by its buttons."""

import json
import os
import re
from datetime import datetime, timedelta

import pytest

from aldaba_process import ARTEFACTS, AldabaUp, clean_environment, run_aldaba
from provider import Provider
from screen import Screen
from waiting import kill, wait_for_lines, wait_until

pytestmark = pytest.mark.desktop
APP = "com.example.todo"
PINK = (0xE0, 0x40, 0xA0)  # of the picture that the app draws


class Exercise:
    """The demo app with its menu on a screen with buttons."""

    def __init__(self, name):
        self.screen = Screen(clean_environment(), server="xfce4-notifyd")
        try:
            self.up = AldabaUp.ephemeral(name=name, environment=self.screen.environment | {"TODOLIST_MENU": "1"})
        except BaseException:
            self.screen.stop()
            raise
        run_aldaba("settings", APP, "style=alert", "--data", self.up.data)

    def stop(self):
        try:
            self.up.keep_logs()
            self.up.stop()
        finally:
            self.screen.stop()

    def told(self, beginning, count=1):
        """Waits for so many of the app's lines that begin so; the last one."""
        lines = wait_for_lines(
            self.up.data / "log/app.log", lambda lines: sum(line.startswith(beginning) for line in lines) >= count,
            f"the app says {beginning!r} {count} times")
        return [line for line in lines if line.startswith(beginning)][-1]

    def listed(self):
        """Titles and texts of what is in the list."""
        shown = json.loads(run_aldaba("notifications", "list", "--json", "--data", self.up.data).stdout)
        return [(item["content"]["title"], item["content"]["body"]) for item in shown]

    def menu(self, sentence=""):
        """Waits until the menu is on the screen, with a sentence."""
        wait_until(
            lambda: any(title == "To-do list" and sentence in body for title, body in self.listed()),
            f"the menu says {sentence!r}: {self.listed()}")
        self.screen.wait_for_window("xfce4-notifyd")

    def write(self, text):
        """Types into the window of a reply."""
        self.screen.type(text, self.screen.wait_for_window("Reply to")[0])

    def items(self):
        file = self.up.data / "todo.json"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def exercise(request):
    made = Exercise(request.node.name)
    yield made
    made.stop()


def test_a_picture_buttons_and_a_reply_and_the_answer_is_told_at_the_next_start(exercise):
    exercise.menu()
    exercise.screen.press_button(0, 2)  # Ask me
    wait_until(lambda: ("Is it done?", "Write a list") in exercise.listed(), "the app asks")
    wait_until(lambda: len(list(exercise.screen.look().places(PINK))) > 100, "the drawn picture is seen")
    exercise.screen.keep(ARTEFACTS / "exercise-question.png")
    exercise.screen.press_button(0, 3)  # Done
    assert exercise.told("answer: ") == "answer: done, for Write a list"
    exercise.menu("Answer: done")
    exercise.screen.press_button(0, 2)
    wait_until(lambda: ("Is it done?", "Write a list") in exercise.listed(), "the app asks again")
    exercise.screen.press_button(2, 3)  # Note
    exercise.write("on Sunday")
    assert exercise.told("answer: ", 2) == "answer: note (on Sunday), for Write a list"
    exercise.menu("Answer: note (on Sunday)")
    exercise.screen.press_button(0, 2)  # the agent has stored the answer before what comes of this: it is not handed again
    wait_until(lambda: ("Is it done?", "Write a list") in exercise.listed(), "the app asks a third time")
    old = exercise.up.pids()["app"]
    kill(old)
    exercise.up.wait_for_new_pid("app", old)
    assert exercise.told("last answer: ") == "last answer: note (on Sunday), for Write a list"
    exercise.menu("Last answer: note (on Sunday), for Write a list")
    assert exercise.items() == [], "what the list itself shows is no item of it"


def test_a_reminder_comes_at_the_minute_that_the_person_picks(exercise):
    exercise.menu()
    exercise.screen.press_button(1, 2)  # Remind me
    exercise.write("25:99")
    exercise.menu("“25:99” is no time of day; write it as in 18:30")
    now = datetime.now()
    due = now.replace(second=0, microsecond=0) + timedelta(minutes=1 if now.second < 45 else 2)
    exercise.screen.press_button(1, 2)
    exercise.write(f"{due:%H:%M}")
    assert re.search(rf"{due.astimezone(tz=None):%M}:00", exercise.told("reminder at "))
    exercise.menu(f"You will be reminded at {due:%H:%M}")
    (waiting,) = json.loads(run_aldaba("notifications", "pending", "--json", "--data", exercise.up.data).stdout)
    assert waiting["times"][0] == due.timestamp() * 1000
    wait_until(
        lambda: ("Time for your list", f"You wanted to be reminded at {due:%H:%M}.") in exercise.listed(),
        "the reminder has come", 135)
    assert datetime.now() >= due
    assert exercise.items() == []


def test_an_item_comes_by_an_alert_and_one_by_a_silent_notification_each_once(exercise):
    exercise.menu()
    ready = exercise.up.ready
    provider = Provider(ready)
    alert = provider.post(ready["deviceToken"], {"aps": {"alert": {"title": "Shopping"}}, "todo": "Buy milk"})
    exercise.told(f"willPresent {alert.apns_id}")
    silent = provider.post(
        ready["deviceToken"], {"aps": {"content-available": 1}, "todo": "Buy bread"}, apns_push_type="background",
        apns_priority=5)
    assert (alert.status, silent.status) == (200, 200)
    provider.close()
    exercise.told(f"background {silent.apns_id}")
    items = [("Buy milk", alert.apns_id), ("Buy bread", silent.apns_id)]
    wait_until(lambda: [(item["title"], item["name"]) for item in exercise.items()] == items, "both are on the list")
    shown = json.loads(run_aldaba("notifications", "list", "--json", "--data", exercise.up.data).stdout)
    (number,) = [item["notification"]["id"] for item in shown if item["content"]["title"] == "Shopping"]
    run_aldaba("notifications", "open", number, "--data", exercise.up.data)
    exercise.told(f"didReceive com.apple.UNNotificationDefaultActionIdentifier {alert.apns_id}")
    assert len(exercise.items()) == 2, "a tap adds nothing again"
    assert not any(title == "Buy bread" for title, _ in exercise.listed()), "nobody sees a silent one"
