"""A PostgreSQL server of a test's own: Debian's, on a socket in a folder, as the user `nobody` where the test is root."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from waiting import wait_until

# The newest of Debian's versions.
PROGRAMS = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)


class PostgresServer:
    """A database cluster, and the process that serves it."""

    def __init__(self, *settings):
        # nobody must be able to enter the folder, and a socket's path is short.
        self.folder = Path(tempfile.mkdtemp(prefix="aldaba-pg-"))
        self.as_nobody = os.getuid() == 0
        if self.as_nobody:
            shutil.chown(self.folder, "nobody", "nogroup")
        self.settings = settings
        self.process = None
        self._run("initdb", "-D", self.folder / "data", "-U", "postgres", "--auth=trust", "-N", "--locale=C", "-E", "UTF8")

    @property
    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def _command(self, program, *arguments):
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if self.as_nobody else []
        return [*user, str(PROGRAMS / program), *map(str, arguments)]

    def _run(self, program, *arguments):
        subprocess.run(self._command(program, *arguments), cwd=self.folder, check=True, capture_output=True, timeout=60)

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                self._command(
                    "postgres", "-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses=",
                    *(word for setting in self.settings for word in ("-c", setting))),
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: self.query("SELECT 1", check=False) == "1", "PostgreSQL answers")
        return self

    def query(self, sql, check=True):
        """What psql prints."""
        done = subprocess.run(
            [str(PROGRAMS / "psql"), "-XAtq", "-c", sql, self.url], capture_output=True, text=True, timeout=30, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def end(self, number):
        """Ends the server by a signal: SIGINT for a fast shutdown, SIGQUIT for what a crash leaves."""
        self.process.send_signal(number)
        self.process.wait(30)

    def remove(self):
        if self.process and self.process.poll() is None:
            self.end(signal.SIGINT)
        shutil.rmtree(self.folder)
