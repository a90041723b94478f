"""Debian's NATS server, as a process of a test's own on loopback."""

import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from waiting import kill, wait_until

PROGRAM = shutil.which("nats-server") or (
    "/usr/sbin/nats-server" if Path("/usr/sbin/nats-server").exists() else None)


class NATSServer:
    """A server, which keeps its port over restarts."""

    def __init__(self, *arguments, credentials="", scheme="nats", query=""):
        self.folder = Path(tempfile.mkdtemp(prefix="aldaba-nats-"))
        self.arguments = arguments
        self.process = None
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self.url = f"{scheme}://{credentials}{'localhost' if scheme == 'tls' else '127.0.0.1'}:{self.port}{query}"

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "-a", "127.0.0.1", "-p", str(self.port), *map(str, self.arguments)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._accepts, "NATS accepts connections")
        return self

    def _accepts(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1):
                return True
        except OSError:
            return False

    def kill(self):
        kill(self.process.pid)
        self.process.wait(10)

    def remove(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        shutil.rmtree(self.folder)
