"""Live Activities on GNOME's own shell: each is one notification, replaced in place, which leaves as its end says."""

import json
import shutil
import subprocess
import time

import pytest

from aldaba_process import ARTEFACTS, clean_environment
from gnome import Gnome
from live_activity_app import LiveActivityApp, state
from waiting import wait_until

pytestmark = [
    pytest.mark.desktop, pytest.mark.skipif(shutil.which("busctl") is None, reason="busctl is not installed")]
TEXTS = {
    "title": "Order {order}", "body": "{state.driver} arrives in {state.minutes} min", "progress": "state.progress"}
# What the shell has of an app. The first object of each title is kept; another one with that title is not it.
SHOWN = """Main.messageTray.getSources().flatMap(source => source.notifications).map(each => {
  global.firstOf ??= new Map();
  if (!global.firstOf.has(each.title)) global.firstOf.set(each.title, each);
  return {title: each.title, body: each.bannerBodyText, first: global.firstOf.get(each.title) === each};
}).filter(each => each.title === TITLE)"""
# What the button does that closes a notification.
CLOSE = """Main.messageTray.getSources().flatMap(source => source.notifications).find(each => each.title === TITLE)
  .destroy(imports.ui.messageTray.NotificationDestroyedReason.DISMISSED)"""
# What a click on a notification does.
CLICK = """Main.messageTray.getSources().flatMap(source => source.notifications).find(each => each.title === TITLE)
  .activate()"""


@pytest.fixture(scope="module")
def gnome():
    desktop = Gnome(clean_environment())
    yield desktop
    desktop.stop()


@pytest.fixture(scope="module")
def app(up, gnome):
    made = LiveActivityApp(
        up, "test_gnome_activities", environment=gnome.environment, liveActivities={"Delivery": TEXTS})
    yield made
    made.stop()


@pytest.fixture
def connection(app):
    with app.connect() as opened:
        app.observe(opened)
        yield opened


def busctl(gnome, *arguments, **options):
    address = gnome.environment["DBUS_SESSION_BUS_ADDRESS"]
    return subprocess.Popen(
        ["busctl", f"--address={address}", "--json=short", *arguments], env=gnome.environment, text=True, **options)


class Order:
    """One activity, started by a push and updated by pushes; what the shell shows of it."""

    def __init__(self, app, connection, gnome, provider, control, name):
        self.app, self.title = app, f"Order {name}"
        self._connection, self._gnome, self._provider, self._control = connection, gnome, provider, control
        # Each push is a second younger than the one before, and none is of the future.
        self._time = int(time.time()) - 60
        self._token = app.observe(connection)["startToken"]
        self.push("start", 30, **{
            "attributes-type": "Delivery", "attributes": {"order": name}, "input-push-token": 1,
            "alert": {"title": self.title, "body": ""}})
        began = app.changed(connection, lambda one: json.loads(one["attributes"]) == {"order": name})
        self.id, self._token = began["id"], began["pushToken"]

    def push(self, event, minutes, **members):
        self._time += 1
        content = {"driver": "Ada", "minutes": minutes, "progress": 1 - minutes / 30}
        answer = self._provider.post(
            self._token, {"aps": {"timestamp": self._time, "event": event, "content-state": content, **members}},
            apns_topic=f"{self.app.id}.push-type.liveactivity", apns_push_type="liveactivity")
        assert answer.status == 200, answer
        self._control.wait_for_last_state(answer.apns_id, "presented")

    def evaluate(self, script):
        """What a script in the shell returns, as JSON."""
        done = busctl(
            self._gnome, "call", "org.gnome.Shell", "/org/gnome/Shell", "org.gnome.Shell", "Eval", "s",
            script.replace("TITLE", json.dumps(self.title)), stdout=subprocess.PIPE)
        told, _ = done.communicate(timeout=20)
        succeeded, value = json.loads(told)["data"]
        assert succeeded, value
        return value

    def shown(self):
        """The shell's notifications of this activity: texts, and whether each is the one that was first seen."""
        return [(each["body"].strip(), each["first"]) for each in json.loads(self.evaluate(SHOWN))]

    def wait_for(self, *shown):
        wait_until(lambda: self.shown() == list(shown), f"the shell has {shown} of {self.title}: {self.shown()}")

    def wait_for_state(self, name):
        return self.app.changed(self._connection, lambda one: (one["id"], one["state"]) == (self.id, name))


def arrives(minutes):
    """The only notification, which is the first one."""
    return f"Ada arrives in {minutes} min", True


@pytest.fixture
def order(request, app, connection, gnome, provider, control):
    """An activity of this test's, which is on the screen."""
    gnome.dismiss()
    made = Order(app, connection, gnome, provider, control, request.node.name)
    made.wait_for(arrives(30))
    yield made
    gnome.keep(ARTEFACTS / "gnome_activities.png")
    if made.id in [one["id"] for one in app.observe(connection)["activities"]]:
        app.end(connection, made.id)


def test_an_activity_is_one_notification_that_is_replaced_in_place(order):
    for minutes in (20, 10, 5):
        order.push("update", minutes)
        order.wait_for(arrives(minutes))


@pytest.fixture
def notified(gnome, tmp_path):
    """`notified(title)`: the arguments of each `Notify` so far that the agent has called with a title."""
    file = tmp_path / "calls"
    with open(file, "wb") as output:
        monitor = busctl(
            gnome, "monitor", "--match=interface='org.freedesktop.Notifications',member='Notify'", stdout=output,
            stderr=output)
    wait_until(lambda: file.read_text().startswith("Monitoring"), "the bus is heard")

    def calls(title):
        # The shell's part that owns the name hands each call on.
        heard = [json.loads(line) for line in file.read_text().split("\n")[1:-1]]
        return [
            each["payload"]["data"] for each in heard
            if each["destination"] == "org.freedesktop.Notifications" and each["payload"]["data"][3] == title]

    yield calls
    monitor.terminate()
    monitor.wait(10)


def test_each_update_has_the_progress_and_the_number_of_the_first(notified, order):
    for minutes in (15, 6, 0):
        order.push("update", minutes)
        order.wait_for(arrives(minutes))
    calls = wait_until(lambda: (made := notified(order.title))[3:] and made, "all four calls were heard")
    assert [each[6]["value"]["data"] for each in calls] == [0, 50, 80, 100]
    (first, *others) = [each[1] for each in calls]
    assert first == 0 and len(set(others)) == 1 and others[0] > 0


def test_an_end_whose_date_has_passed_takes_it_off_the_screen(order):
    order.push("end", 0, **{"dismissal-date": 1})
    order.wait_for()


def test_an_end_with_a_date_leaves_the_last_content_until_then(order):
    date = int(time.time()) + 4
    order.push("end", 0, **{"dismissal-date": date})
    assert state(order.wait_for_state("ended"))["minutes"] == 0
    order.wait_for(arrives(0))
    assert time.time() < date
    order.wait_for()
    assert time.time() >= date


def test_an_end_without_a_date_leaves_the_last_content_to_the_person(order):
    order.push("end", 0)
    order.wait_for_state("ended")
    order.wait_for(arrives(0))
    order.evaluate(CLOSE)
    order.wait_for_state("dismissed")
    order.wait_for()


def test_who_closes_the_notification_dismisses_the_activity(order):
    order.evaluate(CLOSE)
    order.wait_for_state("dismissed")
    order.wait_for()


def test_after_a_click_the_app_is_told_and_the_activity_is_still_one_notification(order, connection):
    order.evaluate(CLICK)
    assert connection.wait_for_response(20)["action"] == "com.apple.UNNotificationDefaultActionIdentifier"
    order.push("update", 1)
    wait_until(lambda: [body for body, _ in order.shown()] == [arrives(1)[0]], "it is on the screen")
