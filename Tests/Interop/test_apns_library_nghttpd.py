"""Debian's `nghttpd` as the server of the library `AldabaAPNs`: a server whose code is not ours, and which dies."""

import shutil
import signal
import socket
import subprocess
from collections import Counter

import pytest

from certificates import make_certificates
from frame_world import LOST, Program
from waiting import wait_until

PROGRAM = shutil.which("nghttpd", path="/usr/sbin:/usr/bin:/usr/local/bin")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="nghttpd is not installed")
MISSING = "dropped"


class Nghttpd:
    """A server of files on a port of loopback that stays the same; `start` after `kill` begins it again."""

    def __init__(self, folder):
        self.certificates = make_certificates(folder / "tls")
        self.files = folder / "files"
        (self.files / "3/device").mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._log = open(folder / "nghttpd.log", "w+")
        self._process = None

    def accept(self, tokens):
        """Creates the file of each token, so that it is answered with 200."""
        for token in tokens:
            (self.files / f"3/device/{token:04x}").write_text("{}")

    def start(self, *options):
        self._process = subprocess.Popen(
            [PROGRAM, "--address=127.0.0.1", f"--htdocs={self.files}", *options, str(self.port),
             str(self.certificates.key), str(self.certificates.server)],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT)
        wait_until(self._is_listening, "nghttpd listens", seconds=10)

    def _is_listening(self):
        assert self._process.poll() is None, self._log.name
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except ConnectionRefusedError:
            return False
        return True

    def kill(self):
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def close(self):
        self.kill()
        self._log.close()


@pytest.fixture
def nghttpd(tmp_path):
    made = Nghttpd(tmp_path)
    yield made
    made.close()


@pytest.fixture
def start(nghttpd, tmp_path):
    """Starts the program with options."""
    programs = []

    def begin(*options):
        programs.append(Program(tmp_path, nghttpd.certificates, nghttpd.port, *options))
        return programs[0]

    yield begin
    for program in programs:
        program.kill()


@pytest.mark.parametrize("options", [
    pytest.param((), id="as it is"),
    pytest.param(("--max-concurrent-streams=1",), id="one stream"),
    pytest.param(("--max-concurrent-streams=10", "--header-table-size=0"), id="ten streams and no table"),
    pytest.param(("--window-bits=10", "--connection-window-bits=16"), id="small windows"),
    pytest.param(("--padding=64",), id="padding"),
    pytest.param(("--trailer=x-sum: 1",), id="trailers"),
    pytest.param(("--early-response",), id="responses before the requests end"),
    pytest.param(("--echo-upload",), id="the request as the response"),
])
def test_200_notifications_are_answered(nghttpd, start, options):
    nghttpd.accept(range(0, 200, 2))
    nghttpd.start(*options)
    program = start()
    program.send(200, {"aps": {"alert": "x" * 2000}})
    expected = {"accepted": 200} if "--echo-upload" in options else {"accepted": 100, MISSING: 100}
    assert Counter(map(str, program.close().values())) == expected


def test_a_response_that_is_not_from_apns_is_told_by_its_status(nghttpd, start):
    nghttpd.start()
    program = start()
    program.send(1)
    program.close()
    told, = program.told.values()
    assert told == {"result": "dropped", "reason": "HTTP 404"}


def test_a_server_that_is_killed_between_two_sends_is_found_again(nghttpd, start):
    nghttpd.accept(range(150))
    nghttpd.start()
    program = start()
    for number in range(3):
        program.send(50)
        program.until(50 * (number + 1))
        nghttpd.kill()
        nghttpd.start()
    assert Counter(map(str, program.close().values())) == {"accepted": 150}


@pytest.mark.parametrize("resends", [False, True], ids=["without sending again", "with sending again"])
def test_a_server_that_is_killed_during_a_send_is_found_again(nghttpd, start, resends):
    nghttpd.accept(range(2000))
    nghttpd.start()
    program = start("--deadline", "15", "--resend", "yes" if resends else "no")
    for number in range(4):
        program.send(500)
        program.until(500 * number + 50)
        nghttpd.kill()
        nghttpd.start()
    told = Counter(map(str, program.close().values()))
    assert told.pop("accepted") >= 200
    assert set(told) <= (set() if resends else {str(LOST)})


def test_notifications_wait_for_a_server_that_is_not_there_yet(nghttpd, start):
    nghttpd.accept(range(20))
    program = start()
    program.send(20)
    nghttpd.start()
    assert Counter(map(str, program.close().values())) == {"accepted": 20}
