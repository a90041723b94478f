"""SIGKILL of the agent before and after each of its steps: nothing lost, nothing twice, every reason there.

A debug build dies where it is told to (`aldaba agent steps` lists the places). The server, the desktop and the app live
on; the agent is started anew at once.
"""

import json
import subprocess
import sys
import uuid

import pytest

from aldaba_process import BINARY, REPOSITORY, clean_environment, environment_of, processes, run_aldaba
from own_agent import OwnAgent
from screen import Screen
from waiting import kill, wait_for_lines, wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent, AgentError  # noqa: E402

TODO, SCRIPT, TEAM = "com.example.todo", "com.example.script", "ALDABADEMO"

ARRIVING = [
    "storeArrival", "acknowledge", "storeAcknowledged", "handOver", "storeHandled", "confirmHandled", "present",
    "storePresented", "report", "storeReceiptsConfirmed",
]
TAPPED = ["storeTap", "withdraw", "respond", "storeResponseHandled", "confirmResponse"]
ASKED = ["storeBeginning", "storeFired", "answerRequest"]
ORDERED = ["storeScheduled", "storeUnscheduled", "storeUnlisted", "storeStanding", "setBadge", "storePreference"]
PUT_AWAY = ["storeDismissal", "storeLeftScreen"]
RENEWED = ["storeShownAgain"]
BOUNDED = ["storeQuestion", "storeDeferral"]
TIMED = ["storeDue"]
ABSENT = ["storeAppearance", "storeLeftUnhandled", "startApp", "storeRemoval", "storeRelease"]
# A minute after a start that failed: the agent's Swift tests have it, with a clock of their own.
# What is missed, a clock that is set and a circle that is entered take their time too: see test_schedule_agent.
# What an app sends to its provider: see test_upstream.
# With an extension that fetches a picture: see test_service_extension.
EXTENDED = ["startExtension", "extend", "storeExtended"]
ELSEWHERE = ["storeResponsesDropped", "storeMissed", "storeAnchored", "storeCrossed", "storeUnderWay"]


def sides(steps):
    return [f"{step}.{side}" for step in steps for side in ("before", "after")]


class World:
    """The demo app and a script on an agent of their own, before a desktop that notes what it is asked to show."""

    def __init__(self, up, screen):
        self.screen = screen
        self.agent = OwnAgent(up, "test_steps", screen.environment)
        self.log = self.agent.data.parent / "app.log"
        self.output = self.agent.data.parent / "app.out"
        self.environment = {"TODOLIST_APP_LOG": str(self.log)}
        self.agent.install(
            id=TODO, name="Todo", team=TEAM, executable=str(BINARY.parent / "TodoList"), authorization="granted",
            lifecycle="always", environment=self.environment)
        self.secret = self.agent.install(
            id=SCRIPT, name="Script", team=TEAM, executable=sys.executable, authorization="granted",
            provesBySecret=True)
        run_aldaba("app", "create", SCRIPT, "--team", TEAM, "--data", up.data)
        self.agent.start()
        self.app = None
        with self.script() as script:
            self.script_token = wait_until(lambda: registered(script), "the script has its token")
        self.start_app()
        lines = wait_until(
            lambda: [line for line in self.told() if line.startswith("token: ")], "the demo app has its token")
        self.token = lines[0].split()[1]

    def start_app(self):
        with open(self.output, "ab") as output:
            self.app = subprocess.Popen(
                [str(BINARY.parent / "TodoList")], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=clean_environment(ALDABA_APP_ID=TODO, ALDABA_AGENT_SOCKET=self.agent.socket, **self.environment))
        wait_until(lambda: self.is_running(TODO), "the demo app is connected")

    def end_app(self):
        self.app.kill()
        self.app.wait(10)
        wait_until(lambda: not self.is_running(TODO), "the demo app is gone")

    def end_started(self):
        """Ends the demo app that the agent started."""
        mark = f"TODOLIST_APP_LOG={self.log}".encode()
        for pid in processes():
            if mark in environment_of(pid):
                kill(pid)
        wait_until(lambda: not self.is_running(TODO), "the demo app is gone")

    def is_running(self, app):
        done = self.agent.aldaba("agent", "status", check=False)
        return any(app in line and " runs," in line for line in done.stdout.splitlines())

    def told(self):
        return self.output.read_text().splitlines()

    def script(self, **options):
        return Agent(SCRIPT, self.secret, self.agent.socket, **options)

    def again(self):
        """The agent has died where it was told to, and lives again."""
        self.agent.wait_for_death()
        self.agent.start()

    def wait_for_lock(self):
        """Waits until the agent takes the screen for locked: then it hides what the terminal says."""
        def hidden():
            return sum(call[4] == "Notification" for call in self.screen.notified())

        self.agent.aldaba("settings", "aldaba.notify", "previews=whenUnlocked")
        before = hidden()
        wait_until(
            lambda: self.agent.aldaba("notify", "Probe", "secret") and hidden() > before,
            "the agent has heard that the screen is locked")

    def stop(self):
        self.app.kill()
        self.app.wait(10)
        self.agent.stop()


def registered(agent):
    try:
        return agent.register()
    except AgentError:
        return None


@pytest.fixture(scope="module")
def world(up):
    screen = Screen(clean_environment(), server="mock")
    try:
        made = World(up, screen)
        yield made
        made.stop()
    finally:
        screen.stop()


def once(states, *names):
    assert {name: states.count(name) for name in names} == dict.fromkeys(names, 1), states


def test_every_step_is_tried():
    listed = run_aldaba("agent", "steps").stdout.split()
    assert sorted(listed) == sorted(ARRIVING + TAPPED + ASKED + ORDERED + PUT_AWAY + RENEWED + BOUNDED + TIMED + ABSENT
                                    + EXTENDED + ELSEWHERE)


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(ARRIVING))
def test_a_push_is_handed_over_and_shown_once(world, send, control, place):
    title = f"push {place}"
    world.agent.arm(place)
    status, reference, _ = send(world.token, {"aps": {"alert": {"title": title}}})
    assert status == 200
    world.again()
    wait_until(lambda: "handed" in control.states(reference), f"it is handed: {control.states(reference)}")
    wait_for_lines(world.log, lambda lines: reference in lines, "the app has it")
    # Receipts that were cut off are sent again: the marker comes after them.
    _, marker, _ = send(world.token, {"aps": {"alert": "marker"}})
    wait_until(lambda: "handed" in control.states(marker), "the next one is handed too")
    states = control.states(reference)
    assert states[0] == "accepted" and states[-1] == "handed"
    once(states, "accepted", "acked", "presented", "handed")
    assert world.log.read_text().split().count(reference) == 1, "the app was handed it once"
    assert [item["content"].get("title") for item in world.agent.listed()].count(title) == 1
    shown = len(world.screen.numbers(title))
    if shown != 1:
        # Between the call to the desktop and the commit of its answer a second popup is possible, and is said.
        assert shown == 2 and place in ("present.after", "storePresented.before")
        (entry,) = [entry for entry in control.notifications(reference)[0]["timeline"] if entry["state"] == "presented"]
        assert "second popup" in entry["note"]


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(TAPPED))
def test_a_tap_reaches_the_app_once(world, send, control, place):
    title = f"tap {place}"
    _, reference, _ = send(world.token, {"aps": {"alert": {"title": title}}})
    wait_until(lambda: "handed" in control.states(reference), "it is shown")
    world.agent.arm(place)
    world.screen.open(world.screen.numbers(title)[-1])
    world.again()
    if place == "storeTap.before":
        # Nobody else knows of it; but it is still there to be tapped again.
        world.screen.open(world.screen.numbers(title)[-1])
    answer = f"didReceive com.apple.UNNotificationDefaultActionIdentifier {reference}"
    wait_until(lambda: answer in world.told(), "the app has heard of it")
    wait_until(lambda: "opened" in control.states(reference), "the timeline says so")
    _, marker, _ = send(world.token, {"aps": {"alert": "marker"}})
    wait_until(lambda: "handed" in control.states(marker), "the next one is handed too")
    once(control.states(reference), "presented", "handed", "opened")
    assert world.told().count(answer) == 1
    assert title not in [item["content"].get("title") for item in world.agent.listed()]


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(ASKED))
def test_what_an_app_asks_again_is_done_once(world, place):
    title, run = f"own {place}", str(uuid.uuid4())
    request = {"type": "center", "command": "add", "request": 900, "notification": {
        "identifier": title, "content": {"title": title}}}
    world.agent.arm(place)
    try:
        with world.script(run=run) as script:
            script.send(request)
            world.again()
    except ConnectionError:
        world.again()  # it died while it welcomed the app
    with world.script(run=run) as script:
        script.send(request)
        script.wait(lambda got: got["type"] == "centerAnswered" and got["request"] == 900, 20)
        handed = [script.wait_for_notification(20)["identifier"]]
        wait_until(lambda: world.screen.numbers(title), "it is on the screen")
        script.add("last", title="Last")
        handed.append(script.wait_for_notification(20)["identifier"])
        assert handed == [title, "last"], "once, although it was asked twice"
        wait_until(lambda: title in [item["identifier"] for item in script.delivered()], "the desktop has answered")
        assert [item["identifier"] for item in script.delivered()].count(title) == 1
        assert len(world.screen.numbers(title)) == 1


ORDERS = {
    "storeScheduled": (
        {"command": "add", "notification": {"identifier": "later", "content": {"title": "Later"}, "trigger": {
            "type": "timeInterval", "seconds": 86400, "repeats": False}}},
        lambda script: [item["identifier"] for item in script.center("pending")["requests"]] == ["later"]),
    "storeUnscheduled": (
        {"command": "removePending"}, lambda script: script.center("pending")["requests"] == []),
    "storeUnlisted": ({"command": "removeDelivered"}, lambda script: script.delivered() == []),
    "storeStanding": (
        {"command": "setCategories", "categories": [{"identifier": "tea", "actions": [], "intentIdentifiers": [], "options": 0}]},
        lambda script: [item["identifier"] for item in script.center("categories")["categories"]] == ["tea"]),
    "setBadge": ({"command": "setBadge", "badge": 7}, lambda script: script.center("badge")["badge"] == 7),
}


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(ORDERS))
def test_an_order_that_was_cut_off_is_asked_again_and_holds(world, place):
    order, holds = ORDERS[place.split(".")[0]]
    with world.script() as script:
        script.set_badge(0)
        script.set_categories([])
        script.add("listed", title="Listed")
        script.wait_for_notification(20)
        world.agent.arm(place)
        script.send({"type": "center", "request": 900, **order})
        world.again()
    with world.script() as script:
        script.send({"type": "center", "request": 900, **order})
        script.wait(lambda got: got["type"] == "centerAnswered" and got["request"] == 900, 20)
        assert holds(script)
        if order["command"] == "setBadge":
            assert "badge 7" in next(
                line for line in world.agent.aldaba("agent", "status").stdout.splitlines() if SCRIPT in line)
        script.center("removePending")


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storePreference"]))
def test_a_person_s_preference_holds_once_it_was_confirmed(world, place):
    world.agent.arm(place)
    cut_off = world.agent.aldaba("settings", "all", "quiet-hours=01:00-02:00", check=False)
    assert cut_off.returncode != 0, "nobody said that it is done"
    world.again()
    world.agent.aldaba("settings", "all", "quiet-hours=01:00-02:00")
    assert "01:00-02:00" in world.agent.aldaba("settings", "all").stdout
    world.agent.aldaba("settings", "all", "quiet-hours=off")


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(PUT_AWAY))
def test_what_left_the_screen_is_not_brought_back(world, send, control, place):
    title = f"away {place}"
    _, reference, _ = send(world.token, {"aps": {"alert": {"title": title}}})
    wait_until(lambda: "handed" in control.states(reference), "it is shown")
    (number,) = world.screen.numbers(title)
    world.agent.arm(place)
    world.screen.close(number, 2 if place.startswith("storeDismissal") else 1)
    world.again()
    if place.endswith("before"):
        # Nobody else knows that it left; so it counts as there until it leaves again.
        world.screen.close(number, 2 if place.startswith("storeDismissal") else 1)
    _, marker, _ = send(world.token, {"aps": {"alert": "marker"}})
    wait_until(lambda: "handed" in control.states(marker), "the next one is handed")
    assert world.screen.numbers(title) == [number], "it was not shown again"
    listed = [item["content"].get("title") for item in world.agent.listed()].count(title)
    if place.startswith("storeDismissal"):
        wait_until(lambda: control.states(reference).count("dismissed") == 1, "the timeline says so")
        assert listed == 0
    else:
        assert listed == 1 and "dismissed" not in control.states(reference)


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storeAppearance"]))
def test_what_comes_while_an_app_goes_to_the_background_appears_once(world, send, control, place):
    title = f"background {place}"
    with world.script(ready=False) as script:
        _, reference, _ = send(world.script_token, {"aps": {"alert": {"title": title}}}, apns_topic=SCRIPT)
        wait_until(lambda: "acked" in control.states(reference), "it waits for the app")
        world.agent.arm(place)
        script.send({"type": "stateChanged", "state": "background"})
        script.send({"type": "ready"})
        world.again()
    wait_until(lambda: world.screen.numbers(title), "it is on the screen")
    wait_until(lambda: "presented" in control.states(reference), "the timeline says so")
    once(control.states(reference), "accepted", "acked", "presented")
    assert len(world.screen.numbers(title)) == 1


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storeLeftUnhandled"]))
def test_what_an_app_left_behind_appears_once(world, send, control, place):
    title = f"left {place}"
    with world.script(ready=False):
        _, reference, _ = send(world.script_token, {"aps": {"alert": {"title": title}}}, apns_topic=SCRIPT)
        wait_until(lambda: "acked" in control.states(reference), "it waits for the app")
        world.agent.arm(place)
    world.again()
    wait_until(lambda: world.screen.numbers(title), "it is on the screen")
    wait_until(lambda: "presented" in control.states(reference), "the timeline says so")
    once(control.states(reference), "accepted", "acked", "presented")
    assert len(world.screen.numbers(title)) == 1


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["startApp"]))
def test_an_app_that_was_to_be_started_for_a_tap_hears_of_it_once(world, send, control, place):
    title = f"start {place}"
    _, reference, _ = send(world.token, {"aps": {"alert": {"title": title}}})
    wait_until(lambda: "handed" in control.states(reference), "it is shown")
    world.end_app()
    world.agent.arm(place)
    world.screen.open(world.screen.numbers(title)[-1])
    world.again()
    answer = f"didReceive com.apple.UNNotificationDefaultActionIdentifier {reference}"
    log = world.agent.data / "log" / f"{TODO}.log"
    try:
        wait_until(lambda: log.exists() and answer in log.read_text(), "the app was started and has heard of it", 30)
        wait_until(lambda: "opened" in control.states(reference), "the timeline says so")
        assert log.read_text().count(answer) == 1
        once(control.states(reference), "handed", "opened")
    finally:
        world.end_started()
        world.start_app()


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storeRemoval"]))
def test_an_app_that_is_taken_away_leaves_nothing_without_its_reason(world, up, send, control, place):
    app = f"com.example.gone{uuid.uuid4().hex[:8]}"
    secret = world.agent.install(
        id=app, name="Gone", team=TEAM, executable=sys.executable, authorization="granted", provesBySecret=True)
    run_aldaba("app", "create", app, "--team", TEAM, "--data", up.data)
    with Agent(app, secret, world.agent.socket, ready=False) as script:
        token = wait_until(lambda: registered(script), "the app has its token")
        _, reference, _ = send(token, {"aps": {"alert": {"title": "Waiting"}}}, apns_topic=app)
        wait_until(lambda: "acked" in control.states(reference), "it waits for the app")
        world.agent.arm(place)
        run_aldaba("agent", "app", "remove", app, "--data", world.agent.data, "--agent-socket", world.agent.socket)
        world.again()
    wait_until(lambda: control.states(reference)[-1] == "dropped(unregistered)", "the timeline says why")
    once(control.states(reference), "dropped(unregistered)")
    assert app not in run_aldaba("agent", "app", "list", "--data", world.agent.data).stdout
    answers = []
    wait_until(
        lambda: answers.append(send(token, {"aps": {"alert": "too late"}}, apns_topic=app)) or answers[-1][0] == 410,
        "the provider hears that the token is not valid any more")
    assert answers[-1][2] == "Unregistered"


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storeRelease"]))
def test_an_answer_that_waited_for_the_screen_to_be_unlocked_reaches_the_app_once(world, place):
    title = f"bill {place}"
    with world.script() as script:
        script.set_categories([{"identifier": "bill", "intentIdentifiers": [], "options": 0, "actions": [
            {"identifier": "pay", "title": "Pay", "options": 1}]}])
        script.add(title, title=title, categoryIdentifier="bill")
        # What earlier tests left comes first.
        script.wait(lambda got: got["type"] == "deliver" and got["notification"]["identifier"] == title, 20)
        number = wait_until(lambda: world.screen.numbers(title), "it is on the screen")[0]
        with world.screen.locked():
            world.wait_for_lock()
            world.screen.press(number, "pay")
            wait_until(lambda: title not in [item["identifier"] for item in script.delivered()], "it has the answer")
            with pytest.raises(TimeoutError):
                script.wait_for_response(0.5)
            world.agent.arm(place)
        world.again()
    with world.script() as script:
        assert script.wait_for_response(20)["action"] == "pay"
        with pytest.raises(TimeoutError):
            script.wait_for_response(0.5)


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(RENEWED))
def test_what_an_ended_desktop_showed_the_next_one_shows_and_answers_for(world, send, control, place):
    title = f"renewed {place}"
    _, reference, _ = send(world.token, {"aps": {"alert": {"title": title}}})
    wait_until(lambda: "handed" in control.states(reference), "it is shown")
    world.screen.end_notification_server()
    world.agent.arm(place)
    world.screen.begin_notification_server()
    world.again()
    numbers = wait_until(lambda: world.screen.numbers(title), "the new desktop shows it")
    world.screen.open(numbers[-1])
    answer = f"didReceive com.apple.UNNotificationDefaultActionIdentifier {reference}"
    wait_until(lambda: answer in world.told(), "the app has heard of the tap on it")
    once(control.states(reference), "presented", "handed")


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storeQuestion"]))
def test_a_question_that_outlived_the_agent_leaves_the_screen_or_is_asked_again(world, place):
    app, name = f"com.example.asks{uuid.uuid4().hex[:8]}", f"Asks {place}"
    secret = world.agent.install(
        id=app, name=name, team=TEAM, executable=sys.executable, authorization="ask", provesBySecret=True)
    question = f"Allow \u201c{name}\u201d to notify?"
    with Agent(app, secret, world.agent.socket) as script:
        world.agent.arm(place)
        script.send({"type": "requestAuthorization", "request": 900, "options": 7})
        world.again()
    (first,) = world.screen.numbers(question)
    if place.endswith("after"):
        wait_until(lambda: first in world.screen.closed(), "nobody could take its answer: it is gone")
    with Agent(app, secret, world.agent.socket) as script:
        script.send({"type": "requestAuthorization", "request": 900, "options": 7})
        second = wait_until(lambda: world.screen.numbers(question)[1:], "it is asked again")[0]
        world.screen.press(second, "allow")
        assert script.wait(lambda got: got["type"] == "authorizationAnswered", 20)["granted"]


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storeDeferral"]))
def test_what_an_app_is_not_woken_for_any_more_says_so_and_reaches_it(world, up, send, control, place):
    app = f"com.example.sleepy{uuid.uuid4().hex[:8]}"
    starts = world.agent.data.parent / f"{app}.starts"
    program = world.agent.data.parent / f"{app}.py"
    program.write_text(f"#!{sys.executable}\nopen({str(starts)!r}, 'a').write('started\\n')\n")
    program.chmod(0o700)
    secret = world.agent.install(
        id=app, name="Sleepy", team=TEAM, executable=str(program), authorization="granted", provesBySecret=True,
        backgroundModes=["remote-notification"])
    run_aldaba("app", "create", app, "--team", TEAM, "--data", up.data)
    with Agent(app, secret, world.agent.socket) as script:
        token = wait_until(lambda: registered(script), "the app has its token")

    def push():
        return send(token, {"aps": {"content-available": 1}}, apns_topic=app, apns_push_type="background",
                    apns_priority="5")[1]

    for number in range(10):
        push()
        wait_until(lambda: starts.exists() and len(starts.read_text().split()) > number, "it is woken")
    world.agent.arm(place)
    last = push()
    world.again()
    if place.endswith("after"):
        wait_until(lambda: "suppressed(budget)" in control.states(last), "the timeline says why it waits")
    with Agent(app, secret, world.agent.socket) as script:
        handed = [script.wait_for_notification(20) for _ in range(11)]
        assert handed[-1]["apnsID"] == last
    wait_until(lambda: "handed" in control.states(last), "it was handed over")
    once(control.states(last), "acked", "handed")


@pytest.mark.desktop
@pytest.mark.parametrize("place", sides(["storeDue"]))
def test_what_was_due_when_the_agent_died_comes_once(world, place):
    title = f"due {place}"
    world.agent.arm(place)
    world.agent.aldaba("notify", title, "--in", "1")
    world.again()
    wait_until(lambda: world.screen.numbers(title), "it is on the screen")
    world.agent.aldaba("notify", f"after {title}", "--in", "1")
    wait_until(lambda: world.screen.numbers(f"after {title}"), "a later one too")
    assert len(world.screen.numbers(title)) == 1
    assert [item["content"].get("title") for item in world.agent.listed()].count(title) == 1
    assert json.loads(world.agent.aldaba("notifications", "pending", "--json").stdout) == []


@pytest.mark.desktop
def test_a_reminder_comes_when_its_app_does_not_run_and_starts_it_when_it_is_touched(world, send):
    title = "Still to do: Call the dentist"
    # Long enough for the app to be gone, and not much longer.
    _, reference, _ = send(world.token, {"aps": {"alert": {"title": "Call the dentist"}}, "remindIn": 3})
    wait_until(lambda: any(line.startswith("reminder at ") for line in world.told()), "the app has asked for it")
    world.end_app()
    number = wait_until(lambda: world.screen.numbers(title), "it is on the screen")[0]
    world.screen.open(number)
    answer = f"didReceive com.apple.UNNotificationDefaultActionIdentifier reminder {reference}"
    log = world.agent.data / "log" / f"{TODO}.log"
    try:
        wait_until(lambda: log.exists() and answer in log.read_text(), "the app was started and has heard of it", 30)
    finally:
        world.end_started()
        world.start_app()
