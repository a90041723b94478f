"""The notification centre on a real desktop, from a shell and from another language than Swift's."""

import json
import shlex
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aldaba_process import ARTEFACTS, BINARY, REPOSITORY, AldabaUp, clean_environment, run_aldaba
from provider import Provider
from screen import Screen
from waiting import kill, wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import DISMISS, Agent, AgentError  # noqa: E402

SCRIPT = "com.example.script"
CATEGORY = {
    "identifier": "tea", "intentIdentifiers": [], "options": 1,
    "actions": [{"identifier": "more", "title": "Five more", "options": 0}],
}


class Run:
    """A running `aldaba up` with one script installed as an app."""

    def __init__(self, up, authorization):
        self.up = up
        manifest = up.data / "script.json"
        manifest.write_text(json.dumps({
            "id": SCRIPT, "name": "Script", "team": "ALDABADEMO", "executable": sys.executable,
            "provesBySecret": True, "authorization": authorization,
        }))
        _, secret = run_aldaba("agent", "app", "install", manifest, "--data", up.data).stdout.split()
        self.secret = Path(secret).read_text()

    @property
    def socket(self):
        return str(self.up.data / "agent.sock")

    def agent(self, **options):
        return Agent(SCRIPT, self.secret, self.socket, **options)

    def aldaba(self, *arguments, **options):
        return run_aldaba(*arguments, "--data", self.up.data, **options)

    def start(self, *arguments):
        return subprocess.Popen(
            [str(BINARY), *arguments, "--data", str(self.up.data)], stdout=subprocess.PIPE, text=True,
            env=clean_environment())

    def listed(self):
        return json.loads(self.aldaba("notifications", "list", "--json").stdout)


@pytest.fixture
def screen(request):
    made = Screen(clean_environment(), server=getattr(request, "param", "xfce4-notifyd"))
    yield made
    made.stop()


@pytest.fixture
def on_screen(request, screen):
    up = AldabaUp.ephemeral(name=request.node.name.split("[")[0], environment=screen.environment)
    yield Run(up, "ask")
    up.stop()


@pytest.fixture
def headless(request):
    up = AldabaUp.ephemeral(name=request.node.name)
    yield Run(up, "granted")
    up.stop()


@pytest.mark.desktop
def test_a_button_pressed_by_the_pointer_is_the_command_s_answer(screen, on_screen):
    asking = on_screen.start("notify", "Tea", "It is ready.", "--button", "more=Five more", "--button", "stop=Stop", "--wait")
    screen.wait_for_window("xfce4-notifyd")
    screen.keep(ARTEFACTS / "buttons.png")
    screen.press_button(1, 2)
    assert asking.communicate(timeout=20)[0] == "stop\n"
    assert asking.returncode == 0
    assert on_screen.listed() == []


def process_arguments():
    """What every process that can be seen was started with."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            pass  # It has ended.


@pytest.mark.desktop
def test_a_reply_is_typed_into_a_window(screen, on_screen):
    asking = on_screen.start("notify", "Dinner?", "Tonight", "--reply", "say=Answer", "--wait")
    screen.press_button(0, 1)
    window = screen.wait_for_window("Reply to")
    screen.keep(ARTEFACTS / "reply.png")
    # What a program is started with can be read by every user of the machine.
    assert not [line for line in process_arguments() if "Tonight" in line and "--reply" not in line]
    screen.type("At seven", window[0])
    assert asking.communicate(timeout=20)[0] == "say\nAt seven\n"


@pytest.mark.desktop
@pytest.mark.parametrize("screen", ["mock"], indirect=True)
def test_a_desktop_with_inline_replies_is_asked_for_the_text_itself(screen, on_screen):
    asking = on_screen.start(
        "notify", "Dinner?", "Tonight", "--button", "no=No", "--reply", "say=Answer", "--placeholder", "When?", "--wait")
    (call,) = wait_until(screen.notified, "the notification is on the bus")
    actions, hints = call[5], call[6]
    assert actions == ["default", "Open", "button:no", "No", "inline-reply", "Answer"]
    assert hints["x-kde-reply-placeholder-text"] == "When?"
    screen.reply(1, "At seven")
    assert asking.communicate(timeout=20)[0] == "say\nAt seven\n"


@pytest.mark.desktop
@pytest.mark.parametrize("screen", ["mock"], indirect=True)
def test_without_a_window_the_screen_names_the_command_with_which_a_terminal_replies(request, screen):
    environment = {name: value for name, value in screen.environment.items() if name != "DISPLAY"}
    up = AldabaUp.ephemeral(name=request.node.name.split("[")[0], environment=environment)
    try:
        run = Run(up, "ask")
        # The desktop has one field for replies: the second is a button.
        asking = run.start("notify", "Dinner?", "--reply", "say=Answer", "--reply", "more=More", "--wait")
        wait_until(screen.notified, "the notification is on the bus")
        screen.press(1, "more")
        hint = wait_until(lambda: screen.notified()[1:], "the command is on the screen")[0]
        command, reason = hint[4].splitlines()
        assert hint[3] == "Reply in a terminal" and "DISPLAY" in reason
        program, *arguments, text = shlex.split(command)
        assert (program, text) == ("aldaba", "TEXT")
        run.aldaba(*arguments, "At seven")
        assert asking.communicate(timeout=20)[0] == "more\nAt seven\n"
    finally:
        up.stop()


@pytest.mark.desktop
@pytest.mark.parametrize("place, granted, alerts", [(0, True, "on"), (1, True, "off"), (2, False, "on")])
def test_a_person_allows_or_forbids_an_app_once(screen, on_screen, place, granted, alerts):
    with on_screen.agent() as agent:
        with pytest.raises(AgentError, match="requestAuthorization"):
            agent.add("tea", title="Tea")
        answers = []
        asking = threading.Thread(target=lambda: answers.append(agent.request_authorization()))
        asking.start()
        screen.wait_for_window("xfce4-notifyd")
        screen.keep(ARTEFACTS / "prompt.png")
        screen.press_button(place, 3, opens=False)
        asking.join(20)
        assert answers == [granted]
        assert agent.request_authorization() == granted, "asked once, and remembered"
    kill(on_screen.up.pids()["agent"])
    word = "yes" if granted else "no"
    wait_until(
        lambda: f"allowed={word} " in on_screen.aldaba("settings", SCRIPT, check=False).stdout,
        "a new agent knows the answer")
    assert f"alerts={alerts} " in on_screen.aldaba("settings", SCRIPT).stdout


@pytest.mark.desktop
def test_a_category_s_button_reaches_the_app_and_expiry_and_removal_the_screen(screen, on_screen):
    on_screen.aldaba("settings", SCRIPT, "allowed=yes", "style=alert")
    with on_screen.agent() as agent:
        agent.set_categories([CATEGORY])
        agent.add("tea", title="Tea", body="It is ready.", categoryIdentifier="tea")
        agent.wait_for_notification(20)
        screen.press_button(0, 1)
        response = agent.wait_for_response(20)
        assert response["action"] == "more"
        assert response["notification"]["identifier"] == "tea" and response["notification"]["id"] < 0
        agent.add("cake", title="Cake")
        agent.wait_for_notification(20)
        screen.wait_for_window("xfce4-notifyd")
        agent.remove_delivered(["cake"])
        wait_until(
            lambda: not screen.windows("xfce4-notifyd"), "the popup has gone")
        assert agent.delivered() == []


@pytest.mark.desktop
@pytest.mark.parametrize("screen", ["mock"], indirect=True)
def test_a_locked_screen_hides_the_text(screen, on_screen):
    on_screen.aldaba("settings", "aldaba.notify", "previews=whenUnlocked")
    on_screen.aldaba("notify", "Secret", "before")
    with screen.locked():
        def hidden():
            on_screen.aldaba("notify", "Secret", "while")
            return [call[3:5] for call in screen.notified() if call[4] == "Notification"]

        assert wait_until(hidden, "the agent has heard that the screen is locked")[0][0] == "aldaba"
    assert [call[3:5] for call in screen.notified()][0] == ["Secret", "before"]


def test_the_list_outlives_the_agent_and_a_terminal_can_answer_for_the_person(headless):
    with headless.agent() as agent:
        agent.set_categories([CATEGORY])
        agent.add("tea", title="Tea", categoryIdentifier="tea")
        agent.wait_for_notification(20)
        wait_until(lambda: len(headless.listed()) == 1, "it is in the list")
        old = headless.up.pids()["agent"]
        kill(old)
    headless.up.wait_for_new_pid("agent", old)
    with wait_until(lambda: connected(headless), "the new agent answers") as agent:
        (listed,) = headless.listed()
        assert listed["content"]["title"] == "Tea" and listed["appName"] == "Script"
        number = listed["notification"]["id"]
        wrong = headless.aldaba("notifications", "act", number, "--action", "less", check=False)
        assert wrong.returncode == 3 and "more" in wrong.stderr
        headless.aldaba("notifications", "act", number, "--action", "more")
        assert agent.wait_for_response(20)["action"] == "more"
        agent.add("cake", title="Cake", categoryIdentifier="tea")
        agent.wait_for_notification(20)
        wait_until(lambda: len(headless.listed()) == 1, "it is in the list")
        headless.aldaba("notifications", "dismiss", headless.listed()[0]["notification"]["id"])
        assert agent.wait_for_response(20)["action"] == DISMISS, "its category asks to be told"
        assert agent.delivered() == []


def test_what_notifications_say_does_not_steer_the_terminal(headless):
    title, body = "\x1b]0;title\x07\x9b31mTea", "one\r\ntwo\x1b[2J"
    with headless.agent() as agent:
        agent.set_categories([{**CATEGORY, "actions": [{"identifier": "more", "title": "\x1b[31mMore", "options": 0}]}])
        agent.add("tea", title=title, body=body, categoryIdentifier="tea")
        agent.wait_for_notification(20)
        wait_until(headless.listed, "it is in the list")
    (item,) = headless.listed()
    number = item["notification"]["id"]
    assert (item["content"]["title"], item["content"]["body"]) == (title, body), "JSON is exact"
    (line,) = headless.aldaba("notifications").stdout.splitlines()
    assert line.endswith("\ufffd]0;title\ufffd\ufffd31mTea - one two\ufffd[2J")
    shown = headless.aldaba("notifications", "show", number).stdout
    assert "\none\ntwo\ufffd[2J\naction  more  \ufffd[31mMore\n" in shown
    wrong = headless.aldaba("notifications", "act", number, "--action", "\x1b[31mless", check=False)
    for said in (shown, headless.aldaba("notifications", "threads").stdout, wrong.stderr):
        assert "ufffd" in ascii(said) and not any(character in said for character in "\x1b\x07\x9b")


def test_what_was_answered_outlives_a_kill_at_any_moment(headless):
    answered, round_ = set(), 0
    while round_ < 4:  # a fifth death within ten seconds would be the last
        with wait_until(lambda: connected(headless), "the agent answers") as agent:
            for number in range(6):
                identifier = f"{round_}.{number}"
                agent.send({"type": "center", "request": 100 + number, "command": "add", "notification": {
                    "identifier": identifier, "content": {"title": "Tea"},
                    "trigger": {"type": "timeInterval", "seconds": 86400, "repeats": False}}})
            agent.wait(lambda got: got["type"] == "centerAnswered" and got["request"] == 100 + round_ % 6, 20)
            answered |= {f"{round_}.{number}" for number in range(round_ % 6 + 1)}
            old = headless.up.pids()["agent"]
            kill(old)
        headless.up.wait_for_new_pid("agent", old)
        round_ += 1
    with wait_until(lambda: connected(headless), "the last agent answers") as agent:
        pending = {request["identifier"] for request in agent.center("pending")["requests"]}
    assert answered <= pending, answered - pending


def connected(run):
    try:
        return run.agent()
    except OSError:
        return None


def test_a_push_reaches_a_script_and_its_button_the_timeline(headless):
    with headless.agent() as agent:
        with pytest.raises(AgentError, match=f"aldaba app create {SCRIPT} --team ALDABADEMO"):
            agent.register()
        run_aldaba("app", "create", SCRIPT, "--team", "ALDABADEMO", "--data", headless.up.data)
        # It is not asked for again: the agent goes on asking.
        token = agent.wait(lambda message: message["type"] == "registered", 60)["token"]
        provider = Provider(headless.up.ready)
        answer = provider.post(token, {"aps": {"alert": {
            "title": "Tea", "actions": [{"id": "more", "title": "Five more"}]}}}, apns_topic=SCRIPT)
        provider.close()
        assert (answer.status, answer.reason) == (200, None)
        assert agent.wait_for_notification(20)["apnsID"] == answer.apns_id
        wait_until(lambda: len(headless.listed()) == 1, "it is in the list")
        headless.aldaba("notifications", "act", headless.listed()[0]["notification"]["id"], "--action", "more")
        assert agent.wait_for_response(20)["action"] == "more"
    wait_until(
        lambda: "action(more)" in headless.aldaba("get", answer.apns_id, "--timeline").stdout, "the timeline says so")
    told = headless.aldaba("get", answer.apns_id, "--timeline").stdout
    assert "in the list only: there is no screen" in told and "by a person at a terminal" in told, told
    assert "desktop" not in told, told


def test_an_app_cannot_be_another_nor_a_person_nor_bring_the_agent_down(headless):
    with pytest.raises(AgentError, match="secret"):
        Agent(SCRIPT, "0" * 64, headless.socket)
    with pytest.raises(AgentError, match="it runs"):
        Agent("com.example.todo", None, headless.socket)
    with pytest.raises(AgentError, match="installed"):
        Agent("com.example.nobody", headless.secret, headless.socket)
    with headless.agent() as agent:
        agent.send({"type": "manage", "request": 1, "command": "set", "app": SCRIPT, "values": {"allowed": "no"}})
        agent.add("still", title="here")
        agent._socket.sendall(struct.pack(">I", 100 << 20))
        with pytest.raises((ConnectionError, OSError)):
            while agent.receive(20)["type"] != "refused":
                pass
            raise ConnectionError("refused, with the reason")
    with headless.agent() as agent:
        def flood():
            for number in range(3000):
                agent.send({"type": "center", "request": 10_000 + number, "command": "add", "notification": {
                    "identifier": f"flood {number % 100}", "content": {"title": "x" * 500}}})

        threading.Thread(target=flood, daemon=True).start()
        agent.wait(lambda got: got["type"] == "centerAnswered" and got["request"] == 12_999, 60)
        assert {item["identifier"] for item in agent.delivered()} <= {"still", *(f"flood {number}" for number in range(100))}
    assert headless.aldaba("notify", "Still", "alive").returncode == 0


def test_a_wait_that_nobody_ends_is_over_in_time(headless):
    done = headless.aldaba("notify", "Anyone?", "--timeout", "0.3", check=False)
    assert done.returncode == 7 and "nobody answered" in done.stderr
    done = run_aldaba("notify", "Anyone?", "--agent-socket", "/tmp/no-such-socket", check=False)
    assert done.returncode == 6 and "aldaba agent" in done.stderr
