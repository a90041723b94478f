"""Messages that want no answer, told to a device that may be away: they come once and in order, over sudden ends, or end with their reason.

The apps are scripts that speak the agents' sockets in Python (Examples/PythonRelay).
"""

import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
import uuid

import pytest

from aldaba_process import REPOSITORY, AldabaUp, clean_environment
from own_agent import OwnAgent
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import MessageFault, Question, Relay, RelayError  # noqa: E402

APP = "com.example.told"


@pytest.fixture(scope="module")
def up():
    running = AldabaUp.ephemeral("--no-app", name="test_relay_tell")
    yield running
    assert running.stop() == 0


class Device(OwnAgent):
    def __init__(self, up, name, account):
        super().__init__(up, f"test_relay_tell_{name}", clean_environment())
        self.name = name
        self.secret = self.install(
            id=APP, name="Told", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
        (self.data / "relay.json").write_text(
            json.dumps({"name": name, "kind": "desktop", "schemes": [], "grants": [], "account": account}))

    def relay(self, *arguments, **options):
        return self.aldaba("relay", *arguments, **options)

    def app(self):
        return Relay(APP, self.secret, self.socket)

    def seen(self):
        done = self.relay("devices", "--json", check=False)
        told = json.loads(done.stdout) if done.returncode == 0 else []
        return told[0]["presence"] if told else None

    def kill(self):
        os.kill(self.process, signal.SIGKILL)
        self._process.wait(10)


@pytest.fixture
def pair(up):
    account = f"aldaba-account-{os.urandom(32).hex()}"
    made = [Device(up, name, account) for name in ("desk", "lamp")]
    with contextlib.ExitStack() as stack:
        for device in made:
            stack.callback(device.stop)
            device.start()
        for device in made:
            wait_until(lambda: device.seen() == "online", f"{device.name} sees the other")
        yield made


@pytest.fixture
def lamp_id(pair):
    return json.loads(pair[1].relay("status", "--json").stdout)["device"]


def offer(device, access="sameUser"):
    relay = device.app()
    relay.publish({"light": access})
    return relay


def told(relay, seconds=20):
    """The next that the app is told, which has not been taken yet."""
    while True:
        notice = relay.next_notice(seconds)
        if notice["type"] == "asked":
            return Question(notice)


def take(relay, seconds=20):
    question = told(relay, seconds)
    assert question.one_way
    relay.answer(question, {})
    return question


def life(relay, command, expected):
    wait_until(lambda: relay.life(command) == expected, f"the life of {command} is {expected}", 20)


def asleep(desk, lamp):
    lamp.stop_process()
    wait_until(lambda: desk.seen() != "online", "the lamp is known to be away", 20)


def kill_server(up, *devices):
    old = up.pids()["serve"]
    os.kill(old, signal.SIGKILL)
    up.wait_for_new_pid("serve", old)


def test_what_is_told_to_a_stopped_device_arrives_once_and_in_order_over_a_sudden_end_of_the_server(up, pair, lamp_id):
    desk, lamp = pair
    offer(lamp).end()
    asleep(desk, lamp)
    with desk.app() as sender:
        commands = [sender.tell(lamp_id, APP, "light", {"n": number}) for number in range(20)]
        assert sender.life(commands[0]) == ("sent", None)
        # The same under the same id is the same message.
        assert sender.tell(lamp_id, APP, "light", {"n": 3}, command=commands[3]) == commands[3]
        kill_server(up)
        lamp.start()
        with offer(lamp) as receiver:
            got = [take(receiver) for _ in commands]
            assert [question.message["n"] for question in got] == list(range(20))
            assert [question.id for question in got] == commands
            for command in commands:
                life(sender, command, ("completed", "success"))
            # Told again after it was taken, it is not given again.
            wait_until(lambda: desk.seen() == "online", "the desk sees the lamp")
            sender.tell(lamp_id, APP, "light", {"n": 3}, command=commands[3])
            life(sender, commands[3], ("completed", "success"))
            with pytest.raises(TimeoutError):
                told(receiver, 1)
        # Nothing waits any more: an agent that begins anew is given nothing.
        lamp.kill()
        lamp.start()
        with offer(lamp) as receiver, pytest.raises(TimeoutError):
            told(receiver, 1)


def test_what_an_app_has_not_confirmed_before_a_sudden_end_of_its_agent_comes_again_under_its_id(pair, lamp_id):
    desk, lamp = pair
    with desk.app() as sender:
        with offer(lamp) as receiver:
            commands = [sender.tell(lamp_id, APP, "light", {"n": number}) for number in range(2)]
            assert told(receiver).id == commands[0]
            lamp.kill()
        lamp.start()
        with offer(lamp) as receiver:
            assert take(receiver).id == commands[0]
            second = told(receiver)
            assert second.id == commands[1]
            receiver.answer(second, {})
            for command in commands:
                life(sender, command, ("completed", "success"))
        # The file says what was taken, and no word of it.
        lines = [line.split() for line in (lamp.data / "relay-letters").read_text().splitlines()]
        assert [line[2].lower() for line in lines if line[3] == "success"] == [str(command) for command in commands]
        assert {line[3] for line in lines} == {"success", "attempt"}
        assert (lamp.data / "relay-letters").stat().st_mode & 0o777 == 0o600


def test_a_message_with_which_the_agent_ends_three_times_is_not_given_a_fourth_time(pair, lamp_id):
    desk, lamp = pair
    with desk.app() as sender:
        with offer(lamp):
            pass
        command = sender.tell(lamp_id, APP, "light", {"n": 1})
        for tries in range(1, 4):
            with offer(lamp) as receiver:
                assert told(receiver).id == command
                file = lamp.data / "relay-letters"
                wait_until(lambda: file.exists() and file.read_text().count(" attempt ") == tries, "the attempt is written")
                lamp.kill()
            lamp.start()
        life(sender, command, ("failed", "outcomeUnknown"))
        # The next one comes as before.
        following = sender.tell(lamp_id, APP, "light", {"n": 2})
        with offer(lamp) as receiver:
            assert take(receiver).id == following


def test_what_is_told_and_taken_while_the_server_ends_suddenly_arrives_once_and_in_order(up, pair, lamp_id):
    desk, lamp = pair
    count = 120
    # So many may be told before they are taken: some are to be told after each end.
    ahead = threading.Semaphore(20)
    with desk.app() as sender, offer(lamp) as receiver:
        def telling():
            for number in range(count):
                ahead.acquire()
                command = uuid.uuid4()
                while True:
                    try:
                        sender.tell(lamp_id, APP, "light", {"n": number}, command=command)
                        break
                    except RelayError as end:
                        # It may be kept or not: under its id it may be told again.
                        assert end.status in ("outcomeUnknown", "networkUnavailable", "notDelivered", "unknownDevice"), end
                        time.sleep(0.05)

        thread = threading.Thread(target=telling)
        thread.start()
        got = []
        for number in range(count):
            if number in (30, 60):
                # The app has it, and the server does not hear of that before it ends.
                question = told(receiver, 60)
                kill_server(up)
                receiver.answer(question, {})
            else:
                question = take(receiver, 60)
            got.append(question.message["n"])
            ahead.release()
        thread.join(60)
        assert got == list(range(count))
        wait_until(lambda: desk.seen() == "online", "the desk sees the lamp")
        last = sender.tell(lamp_id, APP, "light", {"n": -1})
        assert take(receiver).id == last


def test_a_message_of_any_size_that_may_be_arrives(pair, lamp_id):
    desk, lamp = pair
    with desk.app() as sender, offer(lamp) as receiver:
        large = os.urandom(250 << 10)
        sender.tell(lamp_id, APP, "light", {"data": large}, limit=256 << 10)
        assert take(receiver).message == {"data": large}
        with pytest.raises(MessageFault):
            sender.tell(lamp_id, APP, "light", {"data": large})
        with pytest.raises(RelayError) as refused:
            sender.tell(lamp_id, APP, "light", {"data": os.urandom(257 << 10)}, limit=300 << 10)
        assert refused.value.status == "tooLarge"


def test_what_comes_too_late_is_denied_or_finds_no_app_ends_with_its_reason(pair, lamp_id):
    desk, lamp = pair
    with desk.app() as sender:
        with offer(lamp, "granted"):
            command = sender.tell(lamp_id, APP, "light", {})
            life(sender, command, ("failed", "notAuthorized"))
        command = sender.tell(lamp_id, "com.example.nobody", "light", {})
        life(sender, command, ("failed", "appNotInstalled"))
        command = sender.tell(lamp_id, "aldaba.relay", "ping", {"Type": "ping"})
        life(sender, command, ("completed", "success"))
        asleep(desk, lamp)
        command = sender.tell(lamp_id, APP, "light", {}, ttl=2)
        assert sender.life(command) == ("sent", None)
        life(sender, command, ("expired", "expired"))
        with pytest.raises(RelayError) as refused:
            sender.tell(lamp_id, APP, "light", {}, ttl=29 * 86_400)
        assert refused.value.status == "failed"
        with pytest.raises(RelayError) as unknown:
            sender.tell("12345", APP, "light", {})
        assert unknown.value.status == "unknownDevice"
        lamp.start()


def test_no_more_waits_for_one_device_than_may_and_what_is_taken_back_makes_room(up, pair, lamp_id):
    desk, lamp = pair
    # Its agent remembers what the app offers, and waits for it.
    offer(lamp).end()
    asleep(desk, lamp)
    with desk.app() as sender:
        commands = [sender.tell(lamp_id, APP, "light", {"n": number}) for number in range(1000)]
        with pytest.raises(RelayError) as full:
            sender.tell(lamp_id, APP, "light", {})
        assert full.value.status == "resourceLimits"
        assert sender.cancel(commands[-1]) is True
        assert sender.life(commands[-1]) == ("cancelled", "cancelled")
        assert sender.cancel(commands[-1]) is False
        sender.tell(lamp_id, APP, "light", {"n": 999})
        assert {path.stat().st_mode & 0o777 for path in up.data.glob("relay.sqlite*")} <= {0o600}
        lamp.start()
        with offer(lamp) as receiver:
            assert [take(receiver).message["n"] for _ in range(1000)] == list(range(1000))


def test_a_person_tells_at_a_terminal_and_takes_it_back(pair, lamp_id):
    desk, lamp = pair
    with offer(lamp) as receiver:
        wait_until(lambda: APP in desk.relay("devices", "--json").stdout, "the service is listed")
        done = json.loads(desk.relay("tell", "light", "on=yes", "to=a=b", "--on", "lamp", "--json").stdout)
        assert done["life"] == "sent"
        question = take(receiver)
        assert (question.message, str(question.id)) == ({"on": "yes", "to": "a=b"}, done["id"])
        wait_until(lambda: desk.relay("life", done["id"]).stdout.startswith("completed"), "it is known to be taken")
    asleep(desk, lamp)
    command = str(uuid.uuid4())
    sent = desk.relay(
        "tell", "light", "--message", '{"n": 7}', "--on", "lamp", "--ttl", "7d", "--id", command).stdout
    assert re.fullmatch(rf"sent to lamp  {command}\n", sent)
    assert desk.relay("life", command).stdout.startswith("sent")
    desk.relay("cancel", command)
    assert desk.relay("life", command).stdout.startswith("cancelled")
    assert desk.relay("cancel", command, check=False).returncode == 3
    for wrong in (["--ttl", "29d"], ["--ttl", "soon"], ["word"], ["a=1", "a=2"], ["a=1", "--message", "{}"]):
        assert desk.relay("tell", "light", *wrong, "--on", "lamp", check=False).returncode != 0
    log = [json.loads(line) for line in desk.relay("log").stdout.splitlines()]
    assert {"cancelled", "success"} <= {line["status"] for line in log if line["what"] == f"tell {APP}/light"}
    lamp.start()


def test_the_server_keeps_nothing_that_it_can_read(up, pair, lamp_id):
    desk, lamp = pair
    asleep(desk, lamp)
    with desk.app() as sender:
        word = os.urandom(12).hex()
        sender.tell(lamp_id, APP, "light", {"word": word})
        kept = up.stored("relay")
        assert str(lamp_id).encode() in kept
        assert word.encode() not in kept
    lamp.start()
