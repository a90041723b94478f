"""A fresh Debian of a test's own: made by mmdebstrap, booted by systemd-nspawn with a network that is loopback alone."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from waiting import TimedOut, wait_for_end, wait_until

# What a Debian with systemd has, and nothing that Aldaba needs: its package must bring that along.
INCLUDED = ("systemd-sysv", "dbus", "libpam-systemd", "curl")
TOOLS = ("mmdebstrap", "systemd-nspawn", "nsenter")


def hindrance():
    """Why no such system can be made here; `None` where one can."""
    if os.geteuid() != 0:
        return "a fresh Debian needs root: mounts, and another system's users"
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    return f"a fresh Debian needs {', '.join(missing)}: Scripts/install-packages test" if missing else None


def suite():
    """The Debian that the programs were built on."""
    lines = Path("/etc/os-release").read_text().splitlines()
    [name] = [line.partition("=")[2].strip('"') for line in lines if line.startswith("VERSION_CODENAME=")]
    return name


class FreshDebian:
    """A folder with a Debian in it, and the system that runs from it between `boot` and `stop`."""

    def __init__(self, folder):
        self.root = Path(folder) / "debian"
        self.log = Path(folder) / "debian.log"
        self._making = None
        self._shared = None
        self._host = None
        self._leader = None

    def begin(self):
        """Starts to make it; `finish` waits for that."""
        command = [
            "mmdebstrap", "--variant=apt", "--mode=root", "--dpkgopt=force-unsafe-io", "--skip=cleanup/apt",
            f"--include={','.join(INCLUDED)}", suite(), str(self.root)]
        with open(self.log, "wb") as log:
            self._making = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def finish(self):
        """Skips the test where no Debian could be made: without mirrors, or where nothing may be mounted."""
        if self._making.wait(150) != 0:
            pytest.skip(f"no fresh Debian: {self.log.read_text(errors='replace')[-400:]}")

    def share(self, folder):
        """Shows a folder of the test's to the system, as /shared, which it cannot write to."""
        self._shared = folder

    def install(self, *packages):
        """Installs files of the shared folder as a person does, with what they depend on from Debian's mirrors."""
        return self._completed(
            [*self._nspawn(), "--pipe", "--quiet", "--setenv=DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "--yes",
             "--no-install-recommends", *(f"/shared/{package}" for package in packages)], True, 120)

    def _nspawn(self):
        # The time zone is the system's own: its package could not set it otherwise.
        return ["systemd-nspawn", "--directory", str(self.root), "--register=no", "--keep-unit", "--timezone=off",
                f"--bind-ro={self._shared}:/shared"]

    def boot(self):
        """Boots it; skips the test where no systemd begins in it. One that begins and does not come up is a failure."""
        command = [*self._nspawn(), "--private-network", "--boot", "--console=pipe"]
        with open(self.log, "wb") as log:
            self._host = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_until(self._is_up, "the fresh Debian is up", 60)
        except TimedOut as late:
            self.stop()
            fault = pytest.skip if self._leader is None else pytest.fail
            fault(f"the fresh Debian does not boot here: {late}; {self.log.read_text(errors='replace')[-400:]}")

    def _is_up(self):
        if self._host.poll() is not None:
            raise TimedOut(f"systemd-nspawn ended with {self._host.returncode}")
        children = Path(f"/proc/{self._host.pid}/task/{self._host.pid}/children").read_text().split()
        # Until the last moment the child is nspawn itself, in the namespaces of the test.
        if not children or Path(f"/proc/{children[0]}/comm").read_text().strip() != "systemd":
            return False
        self._leader = children[0]
        state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def run(self, *command, user=None, check=True, seconds=60, environment=None):
        """Runs a command in the booted system; its completed process."""
        words = [f"{name}={value}" for name, value in (environment or {}).items()]
        prefix = ["runuser", "-u", user, "--"] if user else []
        return self._completed(
            ["nsenter", "--target", self._leader, "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup",
             "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *words, *prefix, *map(str, command)], check, seconds)

    @staticmethod
    def _completed(command, check, seconds):
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
        if check:
            assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def journal(self, unit):
        return self.run("journalctl", "--unit", unit, "--no-pager", "--output=cat", check=False).stdout

    def stop(self):
        """Ends the system, which shuts down, and whatever hangs there."""
        if self._making is not None and self._making.poll() is None:
            self._making.terminate()
            self._making.wait(60)
        if self._host is None or self._host.poll() is not None:
            return
        self._host.terminate()
        if not wait_for_end(self._host.pid, 20):
            self._host.kill()
        self._host.wait(10)
