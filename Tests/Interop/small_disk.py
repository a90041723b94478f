"""A small disk of a test's own: a tmpfs that nobody else sees, and that ends with the process that holds it."""

import shutil
import subprocess
from pathlib import Path

import pytest

SIZE = 48 << 20
MOUNT = 'mount -t tmpfs -o size="$1",mode=700 tmpfs "$2" && echo mounted && exec cat'


class SmallDisk:
    """It is mounted at `folder` for programs that are started by `prefix`; others reach it by `outside`."""

    def __init__(self, folder):
        self.folder = folder
        self._holder, isolation = self._hold()
        # The user first: who is another has no right to the mounts.
        users = ["--user", "--preserve-credentials"] if "--map-root-user" in isolation else []
        self.prefix = ["nsenter", f"--target={self._holder.pid}", *users, "--mount"]
        self._filler = Path(self.outside(folder / "filler"))

    def _hold(self):
        for isolation in (["--mount"], ["--map-root-user", "--mount"]):
            if not shutil.which("unshare"):
                break
            holder = subprocess.Popen(
                ["unshare", *isolation, "sh", "-c", MOUNT, "sh", str(SIZE), str(self.folder)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if holder.stdout.readline():
                return holder, isolation
            holder.communicate()
        pytest.skip("mount namespaces are not allowed here")

    def outside(self, path):
        """The path by which a program of this user reaches a file of the disk without being inside."""
        return f"/proc/{self._holder.pid}/root{path}"

    def fill(self):
        """Leaves not one block free."""
        with open(self._filler, "ab", buffering=0) as filler:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        filler.write(bytes(size))
                except OSError:
                    pass

    def free(self):
        self._filler.unlink()

    def end(self):
        """The holder ends with its input, and the disk with it once nothing uses it any more."""
        self._holder.communicate()
