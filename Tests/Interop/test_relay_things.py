"""Files, pairing, presence and what an agent itself offers, between devices of one person that are agents of the test's own.

Foreign programs: xclip, mpv with mpv-mpris, playerctl, qrencode and zbarimg.
"""

import contextlib
import hashlib
import http.server
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
import wave

import pytest

from aldaba_process import BINARY, REPOSITORY, AldabaUp, clean_environment
from own_agent import OwnAgent
from pictures import png
from screen import Screen
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import Relay  # noqa: E402


class Device(OwnAgent):
    """A device that joins its person's account before it starts; it can be ended as if the power failed."""

    def __init__(self, up, name, account=None, environment=None):
        super().__init__(up, f"test_relay_things_{name}", environment)
        self.name = name
        self.data.mkdir(parents=True, mode=0o700)
        settings = {"name": name, "kind": "desktop", "schemes": [], "grants": []}
        if account:
            settings["account"] = account
        (self.data / "relay.json").write_text(json.dumps(settings))

    def relay(self, *arguments, **options):
        return self.aldaba("relay", *arguments, **options)

    @property
    def id(self):
        return json.loads(self.relay("status", "--json").stdout)["device"]

    def others(self):
        """Presence by name."""
        done = self.relay("devices", "--json", check=False)
        return {device["name"]: device["presence"] for device in json.loads(done.stdout)} if done.returncode == 0 else {}

    def sees(self, name, presence="online", seconds=20):
        wait_until(lambda: self.others().get(name) == presence, f"{self.name} sees that {name} is {presence}", seconds)

    def kill(self):
        self._process.kill()
        self._process.wait(10)

    @property
    def received(self):
        return self.data / "received"

    def start_relay(self, *arguments, **options):
        """A command that goes on, with its output as a pipe."""
        return subprocess.Popen(
            [str(BINARY), "relay", *map(str, arguments), "--agent-socket", self.socket], env=clean_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # A shell's background ignores the signal, and a program inherits that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options)


@pytest.fixture(scope="module")
def up():
    running = AldabaUp.ephemeral("--no-app", name="test_relay_things")
    yield running
    assert running.stop() == 0


@pytest.fixture
def devices(up):
    """`devices(name, …)` starts devices of one person that see each other."""
    started = []
    account = f"aldaba-account-{os.urandom(32).hex()}"

    def start(*names, environment=None):
        made = [Device(up, name, account, environment) for name in names]
        for device in made:
            started.append(device)
            device.start()
        for device in made:
            for other in made:
                if other is not device:
                    device.sees(other.name)
        return made if len(made) > 1 else made[0]

    yield start
    for device in started:
        device.stop()


# Presence


def test_a_device_that_is_away_is_known_after_the_server_began_again(up, devices):
    here, away = devices("here", "away")
    away.kill()
    here.sees("away", "offline")
    old = up.pids()["serve"]
    os.kill(old, signal.SIGKILL)
    up.wait_for_new_pid("serve", old)
    here.sees("away", "offline")
    away.start()
    here.sees("away", "online")


def test_an_absence_shorter_than_the_grace_is_not_told(devices):
    here, other = devices("here", "other")
    watch = here.start_relay("watch", "--json")
    try:
        told = [json.loads(watch.stdout.readline())["event"] for _ in range(2)]
        assert told == ["added", "enumerationCompleted"]
        other.kill()
        other.start()
        # The next thing that is told is what is done afterwards.
        other.relay("rename", "another")
        event = json.loads(watch.stdout.readline())
        assert (event["event"], event["device"]["name"], event["device"]["presence"]) == ("updated", "another", "online")
    finally:
        watch.kill()
        watch.communicate()


def test_a_call_waits_for_a_device_that_is_away(devices):
    here, away = devices("here", "away")
    away.kill()
    here.sees("away", "offline")
    assert here.relay("call", "ping", "--on", "away", check=False).returncode == 6
    command = str(uuid.uuid4())
    waiting = here.start_relay("call", "ping", "--on", "away", "--wait", "--id", command, "--within", "60")
    wait_until(lambda: "sent" in here.relay("life", command, check=False).stdout, "the call is on its way")
    away.start()
    told, complaint = waiting.communicate(timeout=30)
    assert waiting.returncode == 0, complaint
    assert "pong" in told
    assert here.relay("life", command).stdout.startswith("completed")


def test_a_call_that_waits_is_taken_back_with_its_caller(devices):
    here, away = devices("here", "away")
    away.kill()
    here.sees("away", "offline")
    commands = [str(uuid.uuid4()) for _ in range(2)]
    first, second = (
        here.start_relay("call", "ping", "--on", "away", "--wait", "--id", command, "--within", "60") for command in commands)
    for command in commands:
        wait_until(lambda: "sent" in here.relay("life", command, check=False).stdout, "the call is on its way")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=20)
    wait_until(lambda: here.relay("life", commands[0]).stdout.startswith("cancelled"), "it is taken back")
    away.start()
    told, complaint = second.communicate(timeout=30)
    assert second.returncode == 0, complaint
    noted = [json.loads(line).get("id") for line in away.relay("log").stdout.splitlines()]
    assert commands[1] in noted and commands[0] not in noted


def test_a_call_that_the_server_keeps_ends_with_it(up, devices):
    here, away = devices("here", "away")
    away.kill()
    here.sees("away", "offline")
    command = str(uuid.uuid4())
    waiting = here.start_relay("call", "ping", "--on", "away", "--wait", "--id", command, "--within", "120")
    wait_until(lambda: "sent" in here.relay("life", command, check=False).stdout, "the call is on its way")
    old = up.pids()["serve"]
    os.kill(old, signal.SIGKILL)
    _, complaint = waiting.communicate(timeout=30)
    assert waiting.returncode == 7, complaint
    assert here.relay("life", command).stdout == "failed: nobody knows what came of it: the way to the server was lost\n"
    up.wait_for_new_pid("serve", old)
    away.start()
    here.sees("away")
    assert "pong" in here.relay("call", "ping", "--on", "away").stdout
    assert command not in away.relay("log").stdout


def test_an_app_that_does_not_run_is_started_by_an_address(devices, tmp_path):
    here, other = devices("here", "other")
    script, opened = tmp_path / "opener", tmp_path / "opened"
    script.write_text(
        f"#!{sys.executable}\nimport os, sys\nsys.path.insert(0, {str(REPOSITORY / 'Examples/PythonRelay')!r})\n"
        "from aldaba_relay import Relay\n"
        f"with Relay('com.example.opener', open({str(tmp_path / 'secret')!r}).read(), os.environ['ALDABA_AGENT_SOCKET']) as relay:\n"
        "    relay.publish({}, schemes=['todo'])\n"
        "    launch = relay.next_notice()\n"
        f"    open({str(opened)!r}, 'w').write(launch['uri'])\n"
        "    relay.settle_launch(launch)\n")
    script.chmod(0o755)
    secret = other.install(
        id="com.example.opener", name="Opener", team="ALDABADEMO", executable=str(script), provesBySecret=True)
    (tmp_path / "secret").write_text(secret)
    with Relay("com.example.opener", secret, other.socket) as relay:
        relay.publish({}, schemes=["todo"])

    def listed():
        device = json.loads(here.relay("devices", "--json").stdout)[0]
        return {app["id"]: app["presence"] for app in device["apps"]}.get("com.example.opener")

    wait_until(lambda: listed() == "wakeable", "the app is listed as one that can be started")
    here.relay("open", "todo:buy-milk", "--on", "other")
    assert opened.read_text() == "todo:buy-milk"


def test_an_app_that_does_not_run_is_started_by_a_call(devices, tmp_path):
    here, other = devices("here", "other")
    script = tmp_path / "service"
    script.write_text(
        f"#!{sys.executable}\nimport os, sys\nsys.path.insert(0, {str(REPOSITORY / 'Examples/PythonRelay')!r})\n"
        "from aldaba_relay import Relay\n"
        f"with Relay('com.example.woken', open({str(tmp_path / 'secret')!r}).read(), os.environ['ALDABA_AGENT_SOCKET']) as relay:\n"
        "    relay.publish({'echo': 'sameUser'})\n"
        "    relay.serve(lambda question: question.message, 1)\n")
    script.chmod(0o755)
    secret = other.install(
        id="com.example.woken", name="Woken", team="ALDABADEMO", executable=str(script), provesBySecret=True)
    (tmp_path / "secret").write_text(secret)
    with Relay("com.example.woken", secret, other.socket) as relay:
        relay.publish({"echo": "sameUser"})

    def listed():
        device = json.loads(here.relay("devices", "--json").stdout)[0]
        return {app["id"]: app["presence"] for app in device["apps"]}.get("com.example.woken")

    wait_until(lambda: listed() == "wakeable", "the app is listed as one that can be started")
    done = here.relay("call", "com.example.woken/echo", "--on", "other", "--message", '{"a": 1}', "--json")
    assert json.loads(done.stdout)["message"] == {"a": 1}


# Files


def a_file(path, size, seed=1):
    path.write_bytes(random.Random(seed).randbytes(size))
    return path


@pytest.mark.parametrize("size", [0, 1, 65536, 65537, 9_000_001])
def test_a_file_arrives_as_it_was(devices, tmp_path, size):
    here, other = devices("here", "other")
    file = a_file(tmp_path / "picture of añ.jpg", size)
    told = json.loads(here.relay("send", file, "--on", "other", "--json").stdout)
    assert (told["name"], told["size"]) == (file.name, size)
    assert (other.received / file.name).read_bytes() == file.read_bytes()
    if size == 1:
        assert "picture of añ (1).jpg" in here.relay("send", file, "--on", "other").stdout
        assert "file picture" in other.relay("log").stdout
        assert [entry for entry in os.listdir(other.received) if entry.endswith(".part")] == []
        link = tmp_path / "folder"
        link.symlink_to(tmp_path)
        os.mkfifo(tmp_path / "pipe")
        cases = [
            (link, "is a folder"), (tmp_path / "pipe", "is no plain file"), ("/dev/null", "is no plain file"),
            (tmp_path / "none", "there is no file"), (f"{file}/x", "cannot be read"),
        ]
        for path, complaint in cases:
            done = here.relay("send", path, "--on", "other", check=False)
            assert done.returncode == 3 and complaint in done.stderr, done.stderr


def test_files_go_into_the_folder_that_was_named_last(devices, tmp_path):
    here, other = devices("here", "other")
    file = a_file(tmp_path / "a.txt", 1000)
    folder = tmp_path / "named"
    folder.mkdir()
    other.relay("share", "files", folder)
    here.relay("send", file, "--on", "other")
    assert (folder / "a.txt").read_bytes() == file.read_bytes() and not other.received.exists()
    shutil.rmtree(folder)
    done = here.relay("send", file, "--on", "other", check=False)
    assert done.returncode == 1 and "is missing" in done.stderr and str(folder) not in done.stderr
    assert not folder.exists(), "its disk may only be away"


def test_a_person_who_watches_is_told_that_all_devices_are_listed(devices):
    here = devices("here")
    watch = here.start_relay("watch")
    try:
        assert watch.stderr.readline() == "all of your devices are listed; watching\n"
    finally:
        watch.kill()
        assert watch.communicate()[0] == "", "there is no other device"


@pytest.mark.parametrize("victim", ["taker", "giver", "server"])
def test_a_file_goes_on_where_it_was_after_a_sudden_end(up, devices, tmp_path, victim):
    here, other = devices("here", "other")
    size = 48 << 20
    file = a_file(tmp_path / "film.mp4", size)

    def parts():
        return list(other.received.glob(".aldaba-*.part")) if other.received.exists() else []

    def pieces():
        text = urllib.request.urlopen(up.ready["metrics"] + "/metrics").read().decode()
        found = re.search(r'^aldaba_relay_forwarded_total\{kind="piece"\} (\d+)', text, re.M)
        return int(found.group(1)) if found else 0

    before = pieces()
    sending = here.start_relay("send", file, "--on", "other", "--json")
    wait_until(lambda: parts() and parts()[0].stat().st_size > size // 4, "a part is there", 60)
    if victim == "taker":
        other.kill()
        had = parts()[0].stat().st_size
        other.start()
    elif victim == "giver":
        here.kill()
        had = parts()[0].stat().st_size
        assert sending.wait(20) != 0
        here.start()
        here.sees("other")
        sending = here.start_relay("send", file, "--on", "other", "--json")
    else:
        old = up.pids()["serve"]
        os.kill(old, signal.SIGKILL)
        had = parts()[0].stat().st_size
        before = 0
        up.wait_for_new_pid("serve", old)
    assert 0 < had < size
    told, complaint = sending.communicate(timeout=120)
    assert sending.returncode == 0, complaint
    assert (other.received / "film.mp4").read_bytes() == file.read_bytes()
    # Pieces have 64 KiB. What was under way comes again: 1 MiB of the file at most, and 1 MiB that the server held.
    rest = size - had if victim == "server" else size
    assert pieces() - before <= rest / 65536 + 40


def test_calls_go_on_while_a_file_is_sent(devices, tmp_path):
    here, other = devices("here", "other")
    file = a_file(tmp_path / "film.mp4", 32 << 20)
    sending = here.start_relay("send", file, "--on", "other", "--json")
    count = 0
    while sending.poll() is None:
        assert json.loads(here.relay("call", "ping", "--on", "other", "--json").stdout)["message"]["Type"] == "pong"
        count += 1
    assert sending.wait() == 0 and count > 1
    sending.communicate()


def test_a_taker_that_stands_still_costs_the_server_little_and_others_nothing(up, devices, tmp_path):
    here, still, third = devices("here", "still", "third")

    def memory():
        status = open(f"/proc/{up.pids()['serve']}/status").read()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) >> 10

    file = a_file(tmp_path / "film.mp4", 96 << 20)
    sending = here.start_relay("send", file, "--on", "still", "--json")
    wait_until(lambda: list(still.received.glob(".aldaba-*.part")) if still.received.exists() else False, "it has begun")
    before = memory()
    os.kill(still.process, signal.SIGSTOP)
    try:
        for _ in range(5):
            assert "pong" in here.relay("call", "ping", "--on", "third").stdout
        assert memory() - before <= 16
        assert sending.poll() is None
    finally:
        os.kill(still.process, signal.SIGCONT)
    told, complaint = sending.communicate(timeout=120)
    assert sending.returncode == 0, complaint
    assert hashlib.sha256((still.received / "film.mp4").read_bytes()).digest() == hashlib.sha256(file.read_bytes()).digest()


def test_whoever_watches_is_told_of_files(devices, tmp_path):
    here, other = devices("here", "other")
    watch = other.start_relay("watch", "--json")
    try:
        assert [json.loads(watch.stdout.readline())["event"] for _ in range(2)] == ["added", "enumerationCompleted"]
        here.relay("send", a_file(tmp_path / "a.jpg", 10), "--on", "other")
        told = json.loads(watch.stdout.readline())
        assert told == {"event": "received", "id": here.id, "path": str(other.received / "a.jpg")}
    finally:
        watch.kill()
        watch.communicate()


def test_a_file_that_changes_on_its_way_is_not_called_sent(devices, tmp_path):
    here, other = devices("here", "other")
    file = a_file(tmp_path / "log.txt", 64 << 20)
    sending = here.start_relay("send", file, "--on", "other", "--json")
    wait_until(lambda: list(other.received.glob(".aldaba-*.part")) if other.received.exists() else False, "it has begun")
    with open(file, "ab") as more:
        more.write(b"more")
    _, complaint = sending.communicate(timeout=60)
    assert sending.returncode == 1 and "changed after it was offered" in complaint
    assert not (other.received / "log.txt").exists()


# Trust


def pair(giver, taker, say="y", taker_says=None):
    giving = giver.start_relay("pair")
    word = re.search(r"relay pair (\w+)", giving.stdout.readline()).group(1)
    taking = taker.start_relay("pair", word)
    digits = [re.search(r"digits: (\d{6})$", process.stdout.readline()).group(1) for process in (giving, taking)]
    assert digits[0] == digits[1]
    taking.stdin.write(f"{taker_says or say}\n")
    taking.stdin.flush()
    giving.stdin.write(f"{say}\n")
    giving.stdin.flush()
    ends = [process.communicate(timeout=30)[1] for process in (giving, taking)]
    return digits[0], (giving.returncode, taking.returncode), ends


def test_two_devices_are_paired_by_digits_on_both_screens(up):
    old, new = Device(up, "old"), Device(up, "new")
    try:
        old.start()
        new.start()
        seen = set()
        for answer, taker in (("n", "y"), ("y", "n")):
            digits, codes, _ = pair(old, new, answer, taker)
            seen.add(digits)
            assert 0 not in codes
            assert "no account" in new.relay("devices", check=False).stderr
        digits, codes, ends = pair(old, new)
        assert codes == (0, 0), ends
        assert len(seen | {digits}) > 1, "digits are drawn anew each time"
        old.sees("new")
        new.sees("old")
        assert "pong" in new.relay("call", "ping", "--on", "old").stdout
    finally:
        old.stop()
        new.stop()


def test_of_two_devices_of_one_name_a_command_is_for_the_one_that_is_there(devices):
    here, twin, away = devices("here", "twin", "away")
    ids = sorted([twin.id, away.id])
    away.relay("rename", "twin")
    wait_until(lambda: "away" not in here.others(), "it has its new name")
    done = here.relay("call", "ping", "--on", "twin", check=False)
    assert done.returncode == 3
    assert all(f"{device} (online)" in done.stderr for device in ids), done.stderr
    away.stop()
    wait_until(
        lambda: "offline" in [device["presence"] for device in json.loads(here.relay("devices", "--json").stdout)],
        "it is away", 20)
    assert "pong" in here.relay("call", "ping", "--on", "twin").stdout
    done = here.relay("dismiss", "twin", check=False)
    assert done.returncode == 3 and "(offline)" in done.stderr, "what is taken out is named for certain"


def test_a_device_that_is_taken_out_neither_sees_nor_reaches_the_others(devices):
    here, other, lost = devices("here", "other", "lost")
    old_key = here.relay("account", "show").stdout
    here.relay("dismiss", "lost")
    here.sees("other")
    other.sees("here")
    wait_until(lambda: set(here.others()) == {"other"} and set(other.others()) == {"here"}, "it is gone")
    assert here.relay("account", "show").stdout not in (old_key, "")
    assert here.relay("account", "show").stdout == other.relay("account", "show").stdout
    assert lost.relay("call", "ping", "--on", "here", check=False).returncode != 0
    # It still has the old key: it comes back to an account in which nobody else is.
    lost.kill()
    lost.start()
    wait_until(lambda: json.loads(lost.relay("status", "--json").stdout)["isConnected"], "it has joined")
    assert lost.others() == {}


def test_a_device_that_was_away_when_another_was_taken_out_says_what_to_do(devices):
    here, away, _ = devices("here", "away", "lost")
    wait_until(lambda: json.loads(away.relay("status", "--json").stdout)["missing"] == 0, "all are known")
    away.kill()
    here.sees("away", "offline")
    assert "away" in (done := here.relay("dismiss", "lost")).stdout + done.stderr
    away.start()
    wait_until(lambda: json.loads(away.relay("status", "--json").stdout)["isConnected"], "it has joined")
    told = away.relay("devices").stderr
    assert "2 devices of the account are not found under its key" in told and "pair this one again" in told, told
    assert "pair this one again" in away.relay("status").stdout


def test_the_key_can_be_read_from_a_drawn_code(devices, tmp_path):
    here = devices("here")
    drawn = here.relay("account", "show", "--qr").stdout.rstrip("\n").split("\n")
    # Two rows of the code a line; a full block is light, as terminals are dark.
    rows = []
    for line in drawn:
        cells = {" ": (0, 0), "█": (1, 1), "▀": (1, 0), "▄": (0, 1)}
        rows += [[cells[cell][half] for cell in line] for half in (0, 1)]
    scale = 6
    body = bytes(255 * cell for row in rows for _ in range(scale) for cell in row for _ in range(scale))
    picture = tmp_path / "code.pgm"
    picture.write_bytes(f"P5 {len(rows[0]) * scale} {len(rows) * scale} 255\n".encode() + body)
    read = subprocess.run(["zbarimg", "-q", "--raw", str(picture)], capture_output=True, text=True, timeout=30)
    assert read.stdout == here.relay("account", "show").stdout


@pytest.fixture
def desktop():
    made = Screen(clean_environment(), server="mock")
    yield made
    made.stop()


def test_first_use_asks_the_person_at_the_target(devices, desktop, tmp_path):
    here = devices("here")
    other = devices("other", environment=desktop.environment)
    here.sees("other")
    other.relay("share", "program", "hello", "/bin/echo", "hello", "there")
    title = "Let “here” use “run”?"

    def ask(answer):
        asked = len(desktop.numbers(title))
        running = here.start_relay("run", "hello", "--on", "other")
        wait_until(lambda: len(desktop.numbers(title)) > asked, "the person is asked")
        desktop.press(desktop.numbers(title)[-1], answer)
        return running.communicate(timeout=30)[0], running.returncode

    assert ask("once") == ("hello there\n", 0)
    assert ask("always") == ("hello there\n", 0)
    assert here.relay("run", "hello", "--on", "other").stdout == "hello there\n"
    other.relay("revoke", here.id, "aldaba.relay", "run")
    assert ask("deny") == ("", 4)
    before = len(desktop.numbers(title))
    assert here.relay("run", "hello", "--on", "other", check=False).returncode == 4
    assert len(desktop.numbers(title)) == before, "a denial is remembered"
    log = [json.loads(line) for line in other.relay("log").stdout.splitlines()]
    assert [(line["what"], line["status"]) for line in log][-2:] == [("call aldaba.relay/run", "notAuthorized")] * 2


# What the agent itself offers


def test_only_programs_that_the_owner_listed_are_run(devices):
    here, other = devices("here", "other")
    assert here.relay("run", "hello", "--on", "other", check=False).returncode == 1, "nothing is offered"
    other.relay("share", "program", "hello", "/bin/echo", "$HOME", "; true")
    assert here.relay("run", "hello", "--on", "other", check=False).returncode == 4, "it is not granted"
    other.relay("grant", here.id, "aldaba.relay", "run")
    assert here.relay("run", "hello", "--on", "other").stdout == "$HOME ; true\n"
    done = here.relay("run", "other", "--on", "other", check=False)
    assert done.returncode == 1 and "there are: hello" in done.stderr


@pytest.mark.parametrize("way", ["cancel", "interrupt", "deadline"])
def test_a_program_is_ended_when_its_command_is_not_wanted_any_more(devices, tmp_path, way):
    here, other = devices("here", "other")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = tmp_path / "slow"
    program.write_text(f"#!/bin/sh\nexec 3>'{pipe}'; sleep 300 & echo begun >&3; wait\n")
    program.chmod(0o700)
    other.relay("share", "program", "slow", program)
    other.relay("grant", here.id, "aldaba.relay", "run")
    words = ["run", "slow"]
    if way == "deadline":
        words = ["call", "aldaba.relay/run", "--message", '{"name": "slow"}', "--within", "5"]
    running = here.start_relay(*words, "--on", "other")
    with open(pipe) as held:
        assert held.readline() == "begun\n"
        begun = time.monotonic()
        if way == "interrupt":
            running.send_signal(signal.SIGINT)
        elif way == "cancel":
            listed = [json.loads(line) for line in here.relay("life", "--json").stdout.splitlines()]
            here.relay("cancel", next(each["id"] for each in listed if "aldaba.relay/run" in each["what"]))
        # The shell and what it has started hold the other end of the pipe.
        assert held.read() == ""
    assert time.monotonic() - begun < 20, "not only by the program's own limit"
    running.communicate(timeout=20)


def test_the_clipboard_of_another_device(devices, desktop):
    here = devices("here")
    other = devices("other", environment=desktop.environment)
    here.sees("other")
    other.relay("grant", here.id, "aldaba.relay", "clipboard")
    here.relay("clipboard", "--set", "añ from here", "--on", "other")
    read = subprocess.run(
        ["xclip", "-selection", "clipboard", "-o"], env=desktop.environment, capture_output=True, text=True, timeout=10)
    assert read.stdout == "añ from here"
    assert here.relay("clipboard", "--on", "other").stdout.strip() == "añ from here"


def test_photos_of_another_device(devices, tmp_path):
    here, other = devices("here", "other")
    folder = tmp_path / "photos"
    folder.mkdir()
    photo = a_file(folder / "sea.jpg", 300_000)
    (folder / ".hidden.jpg").write_bytes(b"no")
    (folder / "notes.txt").write_bytes(b"no")
    (folder / "link.jpg").symlink_to("/etc/passwd")
    other.relay("share", "photos", folder)
    other.relay("grant", "*", "aldaba.relay", "photos")
    told = json.loads(here.relay("photos", "--on", "other").stdout)
    assert [photo["name"] for photo in told["photos"]] == ["sea.jpg"]
    here.relay("photos", "--fetch", "sea.jpg", "--on", "other")
    wait_until(lambda: (here.received / "sea.jpg").exists(), "the photo is here")
    assert (here.received / "sea.jpg").read_bytes() == photo.read_bytes()
    for name in ("link.jpg", ".hidden.jpg", "../photos/sea.jpg", "notes.txt", "/etc/passwd"):
        assert here.relay("photos", "--fetch", name, "--on", "other", check=False).returncode == 1, name
    shutil.rmtree(folder)
    for words in ((), ("--fetch", "sea.jpg")):
        done = here.relay("photos", *words, "--on", "other", check=False)
        assert done.returncode == 1 and "cannot be read there" in done.stderr and str(folder) not in done.stderr


@pytest.mark.desktop
def test_a_grant_counts_while_the_screen_is_unlocked(devices, desktop, tmp_path):
    here, other = devices("here"), devices("other", environment=desktop.environment)
    here.sees("other")
    folder = tmp_path / "photos"
    folder.mkdir()
    a_file(folder / "sea.jpg", 3_000)
    other.relay("share", "photos", folder)
    other.relay("grant", "--unlocked", "*", "aldaba.relay", "photos")
    assert other.relay("grants").stdout.strip().endswith("while the screen is unlocked")

    def asked():
        return here.relay("photos", "--on", "other", check=False)

    wait_until(lambda: asked().returncode == 0, "the desktop has said that the screen is unlocked")
    with desktop.locked():
        wait_until(lambda: "while the screen there is unlocked" in asked().stderr, "it is refused")
    # The screen saver is gone from the bus, and nobody else says that the screen is locked.
    wait_until(lambda: asked().returncode == 0, "it is allowed again")


@pytest.mark.skipif(not shutil.which("gdk-pixbuf-thumbnailer"), reason="Debian's libgdk-pixbuf2.0-bin is needed")
def test_a_small_picture_of_a_photo(devices, tmp_path):
    here, other = devices("here", "other")
    folder = tmp_path / "photos"
    folder.mkdir()
    # Noise is what no format makes small.
    (folder / "noise.png").write_bytes(png(640, noise=random.Random(1).randbytes(640 * 480 * 3)))
    (folder / "sea.png").write_bytes(png(640, 480))
    (folder / "broken.jpg").write_bytes(b"no picture")
    other.relay("share", "photos", folder)
    other.relay("grant", "*", "aldaba.relay", "photos")
    for name, width in (("noise.png", 96), ("sea.png", 160)):
        small = tmp_path / "small.png"
        here.relay("photos", "--thumb", name, "--output", small, "--on", "other")
        made = small.read_bytes()
        assert made.startswith(b"\x89PNG") and len(made) <= 16 << 10
        assert struct.unpack(">II", made[16:24]) == (width, width * 3 // 4), name
    for name in ("broken.jpg", "../photos/sea.jpg", "none.jpg"):
        done = here.relay("photos", "--thumb", name, "--output", tmp_path / "none.png", "--on", "other", check=False)
        assert done.returncode == 1 and not (tmp_path / "none.png").exists(), name


class Player:
    """mpv with mpv-mpris on a session bus; playerctl looks at it."""

    def __init__(self, environment, *arguments):
        self.environment = environment
        self.process = subprocess.Popen(
            ["mpv", "--vo=null", "--ao=null", "--idle", "--really-quiet", *arguments],
            env=environment, stdin=subprocess.DEVNULL)
        wait_until(lambda: self.ctl("status", check=False).returncode == 0, "the player is on the bus")

    def ctl(self, *arguments, check=True):
        return subprocess.run(
            ["playerctl", "-p", "mpv", *arguments], env=self.environment, capture_output=True, text=True, timeout=10,
            check=check)

    @property
    def status(self):
        return self.ctl("status", check=False).stdout.strip()

    @property
    def position(self):
        # playerctl tells none of a player that says it has stopped, as mpv's goes on to say of what it opened while idle.
        told = subprocess.run(
            ["dbus-send", "--session", "--print-reply=literal", "--dest=org.mpris.MediaPlayer2.mpv",
             "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties.Get",
             "string:org.mpris.MediaPlayer2.Player", "string:Position"],
            env=self.environment, capture_output=True, text=True, timeout=10, check=False)
        return int(told.stdout.split()[-1]) / 1e6 if told.returncode == 0 else 0

    def end(self):
        self.process.kill()
        self.process.wait(10)


class Film(str):
    """An address, whose site answers while `gate` is set."""

    gate: threading.Event


@pytest.fixture
def film(tmp_path):
    """The address of two minutes of silence, by HTTP with ranges."""
    gate = threading.Event()
    gate.set()
    folder = tmp_path / "site"
    folder.mkdir()
    with wave.open(str(folder / "film.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(b"\x80" * 8000 * 120)
    data = (folder / "film.wav").read_bytes()

    class Site(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            gate.wait(60)
            start = int(re.match(r"bytes=(\d+)-", self.headers.get("Range", "bytes=0-")).group(1))
            self.send_response(206 if "Range" in self.headers else 200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Type", "audio/wav")
            self.send_header("Content-Length", str(len(data) - start))
            if "Range" in self.headers:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(data[start:])

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = Film(f"http://127.0.0.1:{server.server_port}/film.wav")
    address.gate = gate
    yield address
    gate.set()
    server.shutdown()
    server.server_close()


def test_what_plays_here_goes_on_there_at_the_same_second(devices, desktop, film):
    here = devices("here")
    other = devices("other", environment=desktop.environment)
    here.sees("other")
    other.relay("grant", here.id, "aldaba.relay", "media")
    second = Screen(clean_environment(), server="mock")
    players = []
    try:
        mine = Player(second.environment, film)
        players.append(mine)
        wait_until(lambda: mine.status == "Playing", "it plays here")
        # It may not be able to go anywhere yet.
        wait_until(
            lambda: mine.ctl("position", "30", check=False) and mine.position >= 30, "it plays from there")

        def move(*arguments):
            return subprocess.run(
                [str(BINARY), "relay", "move", "--on", "other", "--agent-socket", here.socket, *arguments],
                env=clean_environment() | {"DBUS_SESSION_BUS_ADDRESS": second.environment["DBUS_SESSION_BUS_ADDRESS"]},
                capture_output=True, text=True, timeout=40)

        done = move()
        assert done.returncode == 1 and "no player runs there" in done.stderr
        assert mine.status == "Playing", "nothing plays there, so it goes on here"
        theirs = Player(desktop.environment)
        players.append(theirs)
        for words in (("--player", "nosuch"), ("--into", "nosuch")):
            done = move(*words)
            assert done.returncode != 0 and "there is no player nosuch; there are: mpv" in done.stderr
        assert mine.status == "Playing"
        done = move()
        assert done.returncode == 0, done.stderr
        here_now = mine.position
        assert mine.status == "Paused"
        # mpv tells its own place a moment after it went there.
        wait_until(lambda: abs(theirs.position - here_now) < 5, "it plays there from the same second", 10)
        there = theirs.position
        wait_until(lambda: theirs.position > there, "it plays there")
        listed = json.loads(here.relay("media", "--on", "other").stdout)["players"]
        assert [(player["player"], player["uri"]) for player in listed] == [("mpv", film)]
        # What is printed is the player as the order left it.
        for order, status in (("pause", "Paused"), ("play", "Playing")) * 3:
            told = json.loads(here.relay("media", "--do", order, "--player", "mpv", "--on", "other").stdout)
            assert told["status"] == status
        here.relay("media", "--do", "pause", "--player", "mpv", "--on", "other")
        done = here.relay("media", "--do", "play", "--player", "nosuch", "--on", "other", check=False)
        assert "there is no player nosuch; there are: mpv" in done.stderr and "freedesktop" not in done.stderr
        # What the player there cannot open: it is stopped there within ten seconds, and goes on here.
        mine.ctl("play")
        wait_until(lambda: mine.status == "Playing", "it plays here again")
        os.kill(theirs.process.pid, signal.SIGSTOP)
        done = move()
        os.kill(theirs.process.pid, signal.SIGCONT)
        assert done.returncode != 0
        assert mine.status == "Playing"
    finally:
        for player in players:
            player.end()
        second.stop()


def test_devices_tell_each_other_who_has_left(devices):
    here, other, third = devices("here", "other", "third")

    def listed(device):
        kept = json.loads((device.data / "relay.json").read_text()).get("list", {"counter": 0, "entries": []})
        return kept["counter"], {entry["id"]: entry["isRemoved"] for entry in kept["entries"]}

    def agree():
        lists = [listed(device) for device in (here, other, third)]
        return lists[0] if lists[0] == lists[1] == lists[2] else None

    ids = {device.name: device.id for device in (here, other, third)}
    before, there = wait_until(lambda: (all_in := agree()) and len(all_in[1]) == 3 and all_in, "all keep one list")
    assert there == {number: False for number in ids.values()}
    account = third.relay("account", "show").stdout.strip()
    third.relay("account", "leave")
    wait_until(lambda: listed(here)[1][ids["third"]] and listed(other)[1][ids["third"]], "both have heard of it")
    assert listed(here)[0] > before
    assert "third" not in here.others()
    # It is one of them again when it joins again.
    third.relay("account", "join", account)
    wait_until(lambda: (all_in := agree()) and len(all_in[1]) == 3 and not any(all_in[1].values()) and all_in, "all keep one list again")
    here.sees("third")
    assert "pong" in here.relay("call", "ping", "--on", "third").stdout


def test_a_move_that_does_not_come_about_in_ten_seconds_is_undone(devices, desktop, film):
    here = devices("here")
    other = devices("other", environment=desktop.environment)
    here.sees("other")
    other.relay("grant", here.id, "aldaba.relay", "media")
    second = Screen(clean_environment(), server="mock")
    players = []
    try:
        mine = Player(second.environment, film)
        players.append(mine)
        wait_until(lambda: mine.status == "Playing", "it plays here")
        theirs = Player(desktop.environment)
        players.append(theirs)

        def move():
            start = time.monotonic()
            done = subprocess.run(
                [str(BINARY), "relay", "move", "--on", "other", "--agent-socket", here.socket],
                env=clean_environment() | {"DBUS_SESSION_BUS_ADDRESS": second.environment["DBUS_SESSION_BUS_ADDRESS"]},
                capture_output=True, text=True, timeout=40)
            return done, time.monotonic() - start

        def assert_undone():
            """Nothing plays there, and here it plays on."""
            assert theirs.ctl("metadata", "xesam:url", check=False).stdout.strip() == ""
            assert theirs.status != "Playing"
            assert mine.status == "Playing"
            before = mine.position
            wait_until(lambda: mine.position > before, "it goes on here")

        # The site does not answer the player there.
        film.gate.clear()
        done, seconds = move()
        assert done.returncode != 0 and done.stderr, "a person is told that it did not come about"
        assert seconds < 12
        wait_until(lambda: theirs.ctl("metadata", "xesam:url", check=False).stdout.strip() == "", "it is stopped there", 10)
        film.gate.set()
        assert_undone()
        # The player there does not answer at all: what it was told is taken back by the time it does.
        os.kill(theirs.process.pid, signal.SIGSTOP)
        done, seconds = move()
        assert done.returncode != 0 and done.stderr
        assert seconds < 12
        os.kill(theirs.process.pid, signal.SIGCONT)
        wait_until(lambda: theirs.ctl("status", check=False).returncode == 0, "the player there answers again")
        assert_undone()
        # And it can be tried again at once.
        done, _ = move()
        assert done.returncode == 0, done.stderr
        assert mine.status == "Paused"
        assert theirs.ctl("metadata", "xesam:url").stdout.strip() == film
    finally:
        for player in players:
            player.end()
        second.stop()


PORTAL = """#!/usr/bin/python3
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()
class Request(dbus.service.Object):
    @dbus.service.signal('org.freedesktop.portal.Request', signature='ua{{sv}}')
    def Response(self, code, results): pass
class Portal(dbus.service.Object):
    @dbus.service.method('org.freedesktop.portal.OpenURI', in_signature='ssa{{sv}}', out_signature='o')
    def OpenURI(self, parent, uri, options):
        open({file!r}, 'a').write(uri + '\\n')
        code = 1 if 'private' in uri else 2 if 'nobody' in uri else 0
        GLib.idle_add(request.Response, dbus.UInt32(code), dbus.Dictionary({{}}, signature='sv'))
        return '/org/freedesktop/portal/desktop/request/1'
name = dbus.service.BusName('org.freedesktop.portal.Desktop', dbus.SessionBus())
request = Request(dbus.SessionBus(), '/org/freedesktop/portal/desktop/request/1')
portal = Portal(name, '/org/freedesktop/portal/desktop')
GLib.timeout_add_seconds(20, loop.quit)
loop.run()
"""


def test_in_a_sandbox_the_desktop_portal_opens_addresses(devices, desktop, tmp_path):
    here = devices("here")
    script = tmp_path / "portal"
    script.write_text(PORTAL.format(file=str(tmp_path / "asked")))
    script.chmod(0o755)
    desktop.add_service("org.freedesktop.portal.Desktop", script)
    other = devices("other", environment=desktop.environment | {"FLATPAK_ID": "com.example.Sandboxed"})
    here.sees("other")
    here.relay("open", "https://example.org/portal", "--on", "other")
    assert (tmp_path / "asked").read_text() == "https://example.org/portal\n"
    said_no = here.relay("open", "https://example.org/private", "--on", "other", check=False)
    assert said_no.returncode == 4 and "said no" in said_no.stderr
    assert here.relay("open", "https://example.org/nobody", "--on", "other", check=False).returncode == 1
    assert other.relay("log").stdout.count("open https") == 3


def test_an_address_goes_to_an_app_that_the_session_bus_starts(devices, desktop, tmp_path):
    here = devices("here")
    data = tmp_path / "share"
    (data / "applications").mkdir(parents=True)
    (data / "applications/com.example.Reader.desktop").write_text(
        "[Desktop Entry]\nName=Reader\nType=Application\nDBusActivatable=true\nMimeType=x-scheme-handler/https;\n")
    script = tmp_path / "reader"
    script.write_text(
        "#!/usr/bin/python3\nimport dbus, dbus.service\nfrom dbus.mainloop.glib import DBusGMainLoop\nfrom gi.repository import GLib\n"
        "DBusGMainLoop(set_as_default=True)\nloop = GLib.MainLoop()\n"
        "class Reader(dbus.service.Object):\n"
        "    @dbus.service.method('org.freedesktop.Application', in_signature='asa{sv}')\n"
        "    def Open(self, uris, data):\n"
        f"        open({str(tmp_path / 'read')!r}, 'w').write(uris[0])\n"
        "        GLib.timeout_add(100, loop.quit)\n"
        "name = dbus.service.BusName('com.example.Reader', dbus.SessionBus())\n"
        "reader = Reader(name, '/com/example/Reader')\nloop.run()\n")
    script.chmod(0o755)
    desktop.add_service("com.example.Reader", script)
    other = devices("other", environment=desktop.environment | {"XDG_DATA_HOME": str(data)})
    here.sees("other")
    here.relay("open", "https://example.org/read", "--on", "other", "--app", "com.example.Reader")
    assert (tmp_path / "read").read_text() == "https://example.org/read"
    assert here.relay("open", "https://example.org/", "--on", "other", "--app", "com.example.Absent", check=False).returncode == 1
    other.relay("allow", "mailto")
    assert here.relay("open", "mailto:a@b.c", "--on", "other", "--app", "com.example.Reader", check=False).returncode == 1
