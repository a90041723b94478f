"""An agent of a test's own beside a running `aldaba up`: it can be ended and started anew at once."""

import json
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from aldaba_process import ARTEFACTS, BINARY, clean_environment, environment_of, processes, run_aldaba
from waiting import wait_until


class OwnAgent:
    """A process `aldaba agent` with a data folder of its own, against the server of an `aldaba up`.

    With `disk` (a SmallDisk) its data are there, all but the socket. With `device_port` its device channel goes to that
    port instead of the server's.
    """

    def __init__(self, up, name, environment=None, disk=None, device_port=None):
        self._folder = tempfile.TemporaryDirectory(prefix="aldaba-agent-")
        self._prefix = disk.prefix if disk else []
        self._outside = disk.outside if disk else str
        self.data = (disk.folder if disk else Path(self._folder.name)) / "data"
        self.socket = str((Path(self._folder.name) if disk else self.data) / "agent.sock")
        self.fault = Path(self._folder.name) / "fault"
        self.log = ARTEFACTS / f"{name}.agent.log"
        self._log = open(self.log, "wb")
        server = json.loads((up.data / "serve.json").read_text())
        self._command = [
            *self._prefix, str(BINARY), "agent", "--data", str(self.data), "--agent-socket", self.socket,
            "--agent-server", f"{server['host']}:{device_port or server['devicePort']}",
            "--agent-control", f"https://{server['host']}:{server['controlPort']}",
            "--agent-ca", up.ready["ca"], "--environment", server["environment"], "--reconnect-after", "50",
        ]
        self._environment = (environment or clean_environment()) | {"ALDABA_FAULT_FILE": str(self.fault)}
        self._process = None

    @property
    def process(self):
        """The id of the process that runs."""
        assert self._process.poll() is None, f"the agent ended with {self._process.poll()}"
        return self._process.pid

    def install(self, **manifest):
        """Installs an app; returns its secret where it proves itself by one."""
        Path(self._outside(str(self.data))).mkdir(mode=0o700, exist_ok=True)
        draft = Path(self._folder.name) / "manifest.json"
        draft.write_text(json.dumps(manifest))
        told = run_aldaba("agent", "app", "install", draft, "--data", self.data, prefix=self._prefix).stdout.split()
        return Path(self._outside(told[1])).read_text() if len(told) > 1 else None

    def start(self):
        self._process = subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            start_new_session=True)
        wait_until(self._answers, "the agent answers")

    def _answers(self):
        assert self._process.poll() is None, f"the agent ended with {self._process.poll()} at its start"
        done = self.aldaba("agent", "status", "--json", check=False)
        return done.returncode == 0 and json.loads(done.stdout)["process"] == self._process.pid

    def arm(self, place):
        """The agent dies at the next `step.before` or `step.after` of this name."""
        draft = self.fault.with_suffix(".new")
        draft.write_text(place)
        draft.rename(self.fault)

    def wait_for_death(self, seconds=20):
        """Waits for the death that was armed, and checks that it was this one."""
        self._process.wait(seconds)
        assert self._process.returncode == -signal.SIGKILL, self._process.returncode
        assert not self.fault.exists(), "it died elsewhere"

    def aldaba(self, *arguments, **options):
        return run_aldaba(*arguments, "--agent-socket", self.socket, **options)

    def listed(self):
        return json.loads(self.aldaba("notifications", "list", "--json").stdout)

    def stop_process(self):
        """Ends the process; `start` begins another with the same data."""
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGTERM)
            self._process.wait(20)

    def stop(self):
        self.stop_process()
        # Apps that the agent started outlive it, and look for another one.
        mark = f"ALDABA_AGENT_SOCKET={self.socket}".encode()
        for app in [pid for pid in processes() if mark in environment_of(pid)]:
            with suppress(ProcessLookupError):
                os.kill(app, signal.SIGKILL)
        self._log.close()
        self._folder.cleanup()
