"""One run of `aldaba up`, from its ready line to the end of its children."""

import atexit
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

from postgres_server import PROGRAMS, PostgresServer
from waiting import TimedOut, wait_for_end, wait_until

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
ARTEFACTS = HERE / "artefacts"
BINARY = Path(os.environ.get("ALDABA_BIN", REPOSITORY / ".build/debug/aldaba"))
READY_SECONDS = 60
# The servers behind each port, in a run of the tests on several.
SERVERS = 3 if os.environ.get("ALDABA_TEST_STORE") == "nodes" else 1
INHERITED_NOT = ("LANG", "LC_", "ALDABA_", "TODOLIST_", "DBUS_", "XDG_")


def clean_environment(**extra):
    """This process's environment without a desktop and without anything that would steer Aldaba."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(INHERITED_NOT) and name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    kept["PATH"] = f"{BINARY.parent}:{kept.get('PATH', '')}"
    return kept | extra


def run_aldaba(*arguments, check=True, seconds=30, prefix=(), **options):
    """Runs a short `aldaba` command and returns its completed process, output as text."""
    options.setdefault("env", clean_environment())
    done = subprocess.run(
        [*prefix, str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=seconds, **options
    )
    if check:
        assert done.returncode == 0, f"aldaba {arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def processes():
    """The ids of all processes that run now."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def environment_of(pid):
    """The variables a process was started with, each `NAME=VALUE` in bytes; none for one that is gone or not ours."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def new_database():
    """The address of a database of its own, on the server of PostgreSQL that all tests of this process share."""
    if not hasattr(new_database, "server"):
        new_database.server = PostgresServer("max_connections=300").start()
        atexit.register(new_database.server.remove)
        new_database.count = 0
    new_database.count += 1
    new_database.server.query(f"CREATE DATABASE test{new_database.count}")
    return new_database.server.url.replace("/postgres?", f"/test{new_database.count}?")


class AldabaUp:
    """A running `aldaba up`. `ready` is the JSON object of its one line of standard output."""

    def __init__(self, *arguments, name, environment=None, prefix=(), json_line=True):
        ARTEFACTS.mkdir(exist_ok=True)
        self.name = name
        self.log = ARTEFACTS / f"{name}.stderr.log"
        self.ready = {}
        self.arguments = arguments
        self._output = b""
        command = [*prefix, str(BINARY), "up", *map(str, arguments)]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                env=environment or clean_environment(), start_new_session=True,
            )
        if json_line:
            try:
                self.ready = json.loads(self.read_output_until(lambda text: "\n" in text).split("\n")[0])
            except BaseException:
                self.abandon()
                raise

    @classmethod
    def ephemeral(cls, *arguments, name, **options):
        """Free ports and a temporary folder; returns when everything is ready.

        A run of the tests by hand has every server on PostgreSQL (`ALDABA_TEST_STORE=postgres`), or several servers
        behind each port (`ALDABA_TEST_STORE=nodes`).
        """
        store = os.environ.get("ALDABA_TEST_STORE")
        # Its logs are not those of the same test on SQLite.
        name = f"{name}.{store}" if store else name
        return cls("--ephemeral", "--json", *cls._store(), *arguments, name=name, **options)

    @classmethod
    def _store(cls):
        match os.environ.get("ALDABA_TEST_STORE"):
            case "postgres":
                return ("--postgres", new_database())
            case "nodes":
                return ("--nodes", "3")
            case _:
                return ()

    @property
    def data(self):
        return Path(self.ready["data"])

    @property
    def output(self):
        """What was read of standard output so far."""
        return self._output.decode(errors="replace")

    def read_output_until(self, condition, seconds=READY_SECONDS):
        """Reads standard output until `condition(text)` is true; fails when the program ends before."""
        deadline = time.monotonic() + seconds
        stream = self.process.stdout.fileno()
        while not condition(self.output):
            left = deadline - time.monotonic()
            readable, _, _ = select.select([stream], [], [], max(0, left))
            if not readable:
                raise TimedOut(f"aldaba up was not ready within {seconds} s\n{self.log_tail()}")
            chunk = os.read(stream, 65536)
            if not chunk:
                code = self.process.wait(10)
                raise AssertionError(f"aldaba up ended with {code} before it was ready\n{self.log_tail()}")
            self._output += chunk
        return self.output

    def log_tail(self, lines=40):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stored(self, system):
        """The bytes that the store has of a system: of its SQLite files, or of its tables in PostgreSQL."""
        address = self.ready.get("postgres") or (
            self.arguments[self.arguments.index("--postgres") + 1] if "--postgres" in self.arguments else None)
        if address is None:
            return b"".join(path.read_bytes() for path in self.data.rglob(f"{system}.sqlite*") if path.is_file())
        rows = subprocess.run(
            [str(PROGRAMS / "pg_dump"), "--data-only", f"--schema={'public' if system == 'server' else system}", address],
            capture_output=True, timeout=60, check=True).stdout
        # Bytes are dumped as \\x and hexadecimal digits.
        return rows + b"".join(bytes.fromhex(digits.decode()) for digits in re.findall(rb"\\\\x([0-9a-f]+)", rows))

    def pids(self, data=None):
        """The children as `pids.json` names them now; `None` for one that does not run."""
        try:
            return json.loads((Path(data or self.data) / "pids.json").read_text())
        except FileNotFoundError:
            return {}

    def wait_for_new_pid(self, child, old, seconds=15):
        """Waits until `pids.json` names a successor for a killed child."""
        return wait_until(
            lambda: (pid := self.pids().get(child)) and pid != old and pid,
            f"pids.json names a new {child} after {old}", seconds, folder=self.data,
        )

    def apps(self):
        """The demo app's processes of this run, whoever started them."""
        mark = f"TODOLIST_APP_LOG={self.ready['appLog']}".encode() if self.ready else None
        return [pid for pid in processes() if mark in environment_of(pid)]

    def stop(self, seconds=20):
        """SIGTERM to `up` by its pid; it, all its children and the apps its agent started must be gone."""
        children = self.pids() if self.ready else {}
        apps = [("app", pid) for pid in self.apps()]
        self.process.send_signal(signal.SIGTERM)
        ended = wait_for_end(self.process.pid, seconds)
        if not ended:
            self.abandon()
        code = self.process.wait(10)
        self._output += self.process.stdout.read()
        self.process.stdout.close()
        assert ended, f"aldaba up did not end within {seconds} s of SIGTERM\n{self.log_tail()}"
        survivors = [(child, pid) for child, pid in [*children.items(), *apps] if pid and not wait_for_end(pid, 5)]
        assert not survivors, f"children outlived aldaba up: {survivors}"
        assert not self.apps(), f"apps outlived aldaba up: {self.apps()}"
        started = [pid for pid in self.started_by_agents() if not wait_for_end(pid, 5)]
        assert not started, f"what its agents started outlived aldaba up: {started}"
        return code

    def started_by_agents(self):
        """The processes that the agents of this run started and supervise, of whatever app."""
        socket = f"ALDABA_AGENT_SOCKET={self.data}/".encode() if self.ready else None
        return [
            pid for pid in processes()
            if socket and b"ALDABA_SUPERVISED=1" in (names := environment_of(pid))
            and any(name.startswith(socket) for name in names)]

    def abandon(self):
        """Ends a run that cannot be ended properly; its children end by their closed standard input."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)

    def keep_logs(self):
        """Copies the data folder's logs beside the standard error log, for reading after a failure."""
        source = self.data / "log"
        if source.is_dir():
            shutil.copytree(source, ARTEFACTS / f"{self.name}.log", dirs_exist_ok=True)

    def drop_logs(self):
        """Removes the kept standard error of a run in which nothing failed."""
        self.log.unlink(missing_ok=True)
