"""The image for tests (Packaging/container/tests.Dockerfile) without a container engine: its entry point, run with its settings."""

import json
import re
import select
import subprocess

from aldaba_process import BINARY, REPOSITORY, clean_environment
from waiting import TimedOut

FOLDER = REPOSITORY / "Packaging/container"
READY_SECONDS = 60
# The published port of each port of the image, as members of the line of addresses.
PUBLISHED = {443: "sharedPort", 2197: "apnsPort", 8080: "httpPort"}


def instructions(file="tests.Dockerfile"):
    """The instructions of a Dockerfile, in their order: names and arguments, continued lines put together."""
    text = re.sub(r"^#.*\n", "", (FOLDER / file).read_text(), flags=re.M)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines if line.strip()]


def variables():
    """The variables that the image sets."""
    return dict(pair.split("=", 1) for name, arguments in instructions() if name == "ENV" for pair in arguments.split())


class RunningImage:
    """The entry point as a process, and `root` as the container's root.

    It has free ports on loopback; with `has_own_network` the image's own address and ports.
    """

    def __init__(self, root, has_own_network=False):
        self.root = root
        self.trust = root / "trust"
        self.trust.mkdir(parents=True)
        data = root / "data"
        data.mkdir(mode=0o700)
        ports = {name: "0" for name in variables() if name.endswith("_PORT")}
        outside = {} if has_own_network else ports | {"ALDABA_HOST": "127.0.0.1", "ALDABA_METRICS_PORT": "0"}
        folders = {"ALDABA_DATA": str(data), "TRUST_FOLDER": str(self.trust)}
        self.environment = clean_environment(**variables() | outside | folders)
        assert BINARY.name == "aldaba", "the entry point finds the program under its name"
        self.log = root / "stderr.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [str(FOLDER / "serve-tests")], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=log, start_new_session=True)
        try:
            self.addresses = json.loads(self._line())
        except BaseException:
            self.stop()
            raise

    def _line(self):
        if not select.select([self.process.stdout], [], [], READY_SECONDS)[0]:
            raise TimedOut(f"not ready within {READY_SECONDS} s\n{self.log.read_text()}")
        line = self.process.stdout.readline()
        assert line, f"ended before it was ready\n{self.log.read_text()}"
        return line

    def stop(self):
        """SIGTERM; the exit code, when all has ended."""
        self.process.terminate()
        try:
            return self.process.wait(20)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    @property
    def published(self):
        """The published port of each port of the image."""
        return {port: self.addresses[name] for port, name in PUBLISHED.items()}

    @property
    def http(self):
        return f"http://127.0.0.1:{self.addresses['httpPort']}"
