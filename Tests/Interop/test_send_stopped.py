"""Ctrl-C in `aldaba send --recipients`: open requests get their results, nothing new is sent, a later run continues."""

import fcntl
import json
import os
import re
import signal
import subprocess
import termios
import threading
import time
import uuid
from collections import Counter

import httpx
import pytest

from aldaba_process import BINARY, clean_environment
from certificates import make_certificates
from hostile_apns import HostileServer
from waiting import wait_until

COUNT = 300
STREAMS = 5  # that a connection of the slow server has at once


@pytest.fixture(scope="module")
def tokens(control, path):
    """Device tokens of many devices, which are away."""
    return [control.token(control.enrol(), path["topic"], path["teamId"]) for _ in range(COUNT)]


@pytest.fixture
def http(path):
    """The test API; what earlier tests sent and set is forgotten."""
    with httpx.Client(base_url=path["http"], timeout=70) as client:
        client.post("/v1/reset").raise_for_status()
        yield client


class Run:
    """A send to many devices with files of its own, to the server of the data folder unless `options` name another."""

    def __init__(self, folder, up, tokens, *options):
        self.folder, self.tokens, self.results = folder, tokens, folder / "results.jsonl"
        (folder / "to.csv").write_text("\n".join(["token", *tokens]) + "\n")
        self._words = [
            str(BINARY), "send", "--topic", up.ready["topic"], "--recipients", str(folder / "to.csv"), "--title", "Hi",
            "--data", str(up.data)]
        self.options, self.running = options, []

    def begin(self, *options, keeps_results=True, **streams):
        results = ["--results", str(self.results)] if keeps_results else []
        streams = streams or {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.running.append(subprocess.Popen(
            [*self._words, *results, *self.options, *options], text=True, env=clean_environment(), **streams))
        return self.running[-1]

    def lines(self):
        """The results that are whole."""
        text = self.results.read_text() if self.results.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def begin_slowly(self, *options, after=20, **further):
        """A run that sends one after another, once some have their results."""
        process = self.begin("--rate", "40", *options, **further)
        wait_until(lambda: len(self.lines()) >= after, "some are sent", folder=self.folder)
        return process

    def stop(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait(10)
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()


@pytest.fixture
def sent(up, http, tokens, tmp_path):
    made = Run(tmp_path, up, tokens)
    yield made
    made.stop()


def interrupt(process):
    """Ctrl-C; returns when the process has taken it: it is set to be ended by the next one."""
    process.send_signal(signal.SIGINT)

    def is_taken():
        if process.poll() is not None:
            return True
        with open(f"/proc/{process.pid}/status") as status:
            told = dict(line.split(":", 1) for line in status.read().splitlines())
        return not any(int(told[name], 16) >> (signal.SIGINT - 1) & 1 for name in ("ShdPnd", "SigCgt", "SigIgn"))

    wait_until(is_taken, "the signal is taken")


def ended(process, seconds=30):
    output, errors = process.communicate(timeout=seconds)
    return process.returncode, output, errors


def accepted_by(http):
    """How often the server has accepted each token."""
    received = http.get("/v1/received", params={"limit": 1000}).json()["received"]
    return Counter(each["token"] for each in received if each["answer"]["status"] == 200)


def not_sent_to(errors):
    """The number of devices that standard error names."""
    numbers = [int(number) for number in re.findall(r"\b(\d+)\b", errors)]
    assert numbers, errors
    return numbers[0]


def test_the_summary_is_printed_and_says_how_many_are_left(sent):
    process = sent.begin_slowly()
    interrupt(process)
    code, output, errors = ended(process)
    results = sent.lines()
    assert code == 5, errors
    assert {each["outcome"] for each in results} == {"accepted"} and 20 <= len(results) < COUNT
    assert re.match(rf"{len(results)} accepted\b", output), output
    assert not_sent_to(errors) == COUNT - len(results) and "same command" in errors, errors


def test_the_same_command_continues_and_nobody_gets_it_twice(sent, http):
    process = sent.begin_slowly()
    interrupt(process)
    ended(process)
    done = len(sent.lines())
    code, output, errors = ended(sent.begin())
    assert (code, output) == (0, f"{COUNT - done} accepted, {done} left out, since they have an answer\n"), errors
    assert accepted_by(http) == Counter(sent.tokens)


def test_requests_that_are_open_get_their_results(sent, http):
    """Every answer takes a second and a half, so that many are open at any time."""
    http.post("/v1/faults", json={"action": "delay", "delay": 1500, "times": 0}).raise_for_status()
    process = sent.begin_slowly(after=5)
    interrupt(process)
    begun = time.monotonic()
    code, output, errors = ended(process)
    results = sent.lines()
    assert code == 5 and time.monotonic() - begun < 10, errors
    assert len(results) >= 30 and {each["outcome"] for each in results} == {"accepted"}
    assert accepted_by(http) == Counter(each["token"] for each in results)
    assert not_sent_to(errors) == COUNT - len(results)


def test_without_a_file_of_results_no_continuation_is_promised(sent, http):
    process = sent.begin("--rate", "40", keeps_results=False)
    http.get("/v1/received", params={"count": 10, "timeout": 20}).raise_for_status()
    interrupt(process)
    code, output, errors = ended(process)
    assert code == 5 and re.match(r"\d+ accepted\b", output), output
    assert not_sent_to(errors) == COUNT - int(output.split()[0])
    assert "same command" not in errors or "--results" in errors


def test_the_numbers_are_one_object(sent):
    process = sent.begin_slowly("--json")
    interrupt(process)
    code, output, errors = ended(process)
    told = json.loads(output)
    assert code == 5 and told["accepted"] == len(sent.lines()) and told["refused"] == told["dead"] == 0
    assert not_sent_to(errors) == COUNT - told["accepted"]


def test_a_signal_while_a_slow_rate_waits_ends_the_run_at_once(sent):
    process = sent.begin("--rate", "1")
    wait_until(lambda: len(sent.lines()) >= 1, "one is sent", folder=sent.folder)
    begun = time.monotonic()
    interrupt(process)
    assert ended(process)[0] == 5 and time.monotonic() - begun < 5


def test_refused_devices_are_in_the_summary_too(sent, http):
    http.post("/v1/faults", json={"reason": "Unregistered", "token": sent.tokens[3]}).raise_for_status()
    process = sent.begin_slowly()
    interrupt(process)
    code, output, _ = ended(process)
    assert code == 5 and "1 with a dead token" in output


def test_a_terminal_shows_the_summary_on_a_line_of_its_own(sent):
    ours, terminal = os.openpty()
    # The window is as wide as a usual one.
    process = sent.begin(
        "--rate", "40", stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(terminal)
    shown = bytearray()
    reader = threading.Thread(target=read_all, args=(ours, shown))
    reader.start()
    try:
        wait_until(lambda: len(sent.lines()) >= 20, "some are sent", folder=sent.folder)
        os.write(ours, b"\x03")
        assert process.wait(30) == 5
    finally:
        process.kill()
        reader.join(10)
        os.close(ours)
    rows = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in shown.decode().split("\n")]
    assert any(re.match(rf"{len(sent.lines())} accepted\b", row) for row in rows), rows[-5:]


def read_all(descriptor, into):
    """Reads a terminal until nobody has its other end."""
    try:
        while piece := os.read(descriptor, 65536):
            into += piece
    except OSError:
        pass


# --- a server that holds its answers ------------------------------------------------------------------------------


def accept(connection, request):
    """The answer to a request that may have no id of its own."""
    connection.h2.send_headers(request.stream, [(":status", "200"), ("apns-id", str(uuid.uuid4()))], end_stream=True)
    connection.open.pop(request.stream, None)


class SlowServer:
    """Accepts the first request of a connection, and holds the answers to later ones until `released` is set."""

    def __init__(self, folder):
        self.released = threading.Event()
        certificates = make_certificates(folder / "tls")
        self.server = HostileServer(certificates, self._handle, MAX_CONCURRENT_STREAMS=STREAMS)
        self.ca, self.port, self._proven = certificates.ca, self.server.port, set()

    def _handle(self, connection, request):
        if connection.number not in self._proven:
            self._proven.add(connection.number)
            return accept(connection, request)
        held = [one for one in connection.open.values() if one.ended]
        if len(held) < STREAMS and not self.released.is_set():
            return None
        self.released.wait(30)
        for one in held:
            accept(connection, one)
        return None

    def is_full(self):
        return any(
            sum(one.ended for one in list(connection.open.values())) == STREAMS
            for connection in self.server.connections)

    def asked(self):
        return [request.fields[":path"].rpartition("/")[2] for request in self.server.requests]


@pytest.fixture
def slow(tmp_path):
    made = SlowServer(tmp_path)
    yield made
    made.released.set()
    made.server.close()


@pytest.fixture
def held(up, slow, tokens, tmp_path):
    """A run most of whose notifications wait for a stream."""
    made = Run(tmp_path, up, tokens, "--server", f"localhost:{slow.port}", "--ca", str(slow.ca))
    yield made
    made.stop()


def test_what_waits_for_a_stream_is_not_sent(slow, held):
    process = held.begin()
    wait_until(slow.is_full, "a connection has no stream left")
    interrupt(process)
    before = len(slow.asked())
    slow.released.set()
    code, output, errors = ended(process)
    asked = slow.asked()
    assert code == 5, errors
    # What was being written when the signal came may still have come.
    assert len(asked) - before <= 8 * STREAMS < COUNT / 2 and len(set(asked)) == len(asked)
    assert {each["token"] for each in held.lines() if each["outcome"] == "accepted"} == set(asked)
    assert not_sent_to(errors) == COUNT - len(asked)


def test_a_second_signal_ends_it_at_once(slow, held):
    process = held.begin()
    wait_until(slow.is_full, "a connection has no stream left")
    interrupt(process)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) != 0 and time.monotonic() - begun < 2
    assert all(each["outcome"] == "accepted" for each in held.lines())


def test_after_a_second_signal_the_results_are_continued(slow, held, http):
    process = held.begin()
    wait_until(slow.is_full, "a connection has no stream left")
    for _ in range(2):
        interrupt(process)
    process.wait(10)
    done = {each["token"] for each in held.lines()}
    held.options = ()
    code, output, errors = ended(held.begin())
    assert (code, output) == (
        0, f"{COUNT - len(done)} accepted, {len(done)} left out, since they have an answer\n"), errors
    assert set(accepted_by(http)) == set(held.tokens) - done
