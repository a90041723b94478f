"""The process of a server that a test run starts: `aldaba serve` on free ports, with a folder of its own."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from aldaba._program import program as own_program

READY_SECONDS, END_SECONDS = 60, 15
SETTINGS = (
    "--development=true", "--environment=sandbox", "--accept-any-credential=true", "--accept-any-token=true",
    "--apns-port=0", "--device-port=0", "--control-port=0", "--http-port=0", "--metrics-port=0", "--shared-port=0")


class ServerProcess:
    """The process, from its line of addresses to its end."""

    def __init__(self, settings=(), program=None):
        self._folder = Path(tempfile.mkdtemp(prefix="aldaba-"))
        self.data = self._folder / "data"
        self._log = self._folder / "serve.log"
        self._program = program or own_program()
        self._reader = None
        try:
            self._begin(settings)
        except BaseException:
            self._remove()
            raise

    def _begin(self, settings):
        command = [
            self._program, "serve", "--report-ready", f"--data={self.data}", *SETTINGS, *settings]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ALDABA_")}
        # The server ends when its standard input closes, also after SIGKILL of this process.
        environment["ALDABA_SUPERVISED"] = "1"
        with open(self._log, "wb") as log:
            # A session of its own: Ctrl-C ends the tests first, and they end the server.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, cwd=self._folder,
                start_new_session=True)
        try:
            self.addresses = json.loads(self._first_line())
        except BaseException:
            self._end()
            raise
        # The server goes on with a line for each notification, and would wait for a reader.
        self._reader = threading.Thread(target=self._drop_output, daemon=True)
        self._reader.start()

    @property
    def pid(self):
        """The id of the process."""
        return self._process.pid

    def _first_line(self):
        deadline = time.monotonic() + READY_SECONDS
        line = b""
        while b"\n" not in line:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._process.stdout], [], [], left)[0]:
                raise TimeoutError(f"the server was not ready within {READY_SECONDS} s\n{self._log_end()}")
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                raise RuntimeError(f"the server ended with {self._process.wait()} before it was ready\n{self._log_end()}")
            line += piece
        return line.split(b"\n")[0]

    def _drop_output(self):
        while os.read(self._process.stdout.fileno(), 65536):
            pass

    def _log_end(self):
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-10:])

    def stop(self):
        """Ends the process, and removes its folder. A second call does nothing."""
        self._end()
        self._remove()

    def _end(self):
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._reader is not None:
            self._reader.join()
        self._process.stdout.close()
        self._process.stdin.close()

    def _remove(self):
        shutil.rmtree(self._folder, ignore_errors=True)
