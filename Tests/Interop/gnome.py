"""GNOME without a monitor: its shell on a virtual one, drawn by the processor, with a bus of the test's own."""

import os
import shutil
import signal
import struct
import subprocess
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from system_bus import PYTHON, SystemBus
from waiting import TimedOut, wait_until

WIDTH, HEIGHT = 800, 600
BANNERS = (0, 30, WIDTH, 200)  # left, top, width, height: where notifications are shown
# The part of the shell that owns org.freedesktop.Notifications and hands on to it.
NOTIFICATIONS = "/usr/share/gnome-shell/org.gnome.Shell.Notifications"
NEEDED = ("gnome-shell", "gjs", "gdbus", "dbus-daemon")
STARTS = 4  # how often the shell may stop at its start


def pixels(file):
    """The rows of a PNG of eight bits a channel, each a list of (red, green, blue) (W3C PNG, 9 and 11)."""
    data, at, packed = Path(file).read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colours in (2, 6), (depth, colours)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    size, raw = {2: 3, 6: 4}[colours], zlib.decompress(packed)
    above = bytearray(width * size)
    for y in range(height):
        start = y * (width * size + 1)
        row = bytearray(raw[start + 1:start + 1 + width * size])
        unfilter(raw[start], row, above, size)
        yield [tuple(row[x:x + 3]) for x in range(0, len(row), size)]
        above = row


def unfilter(kind, row, above, size):
    """Undoes a row's filter in place."""
    for x in range(len(row)):
        left = row[x - size] if x >= size else 0
        up, corner = above[x], above[x - size] if x >= size else 0
        if kind == 1:
            row[x] = (row[x] + left) & 255
        elif kind == 2:
            row[x] = (row[x] + up) & 255
        elif kind == 3:
            row[x] = (row[x] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
            row[x] = (row[x] + nearest[2]) & 255


class Gnome:
    """The shell, what it needs around it, and its notifications; `environment` is what a program on it needs."""

    def __init__(self, base_environment):
        missing = [name for name in NEEDED if not shutil.which(name)]
        if missing:
            pytest.skip(f"GNOME's shell is not installed here: {', '.join(missing)} not found")
        self._folder = Path(tempfile.mkdtemp(prefix="aldaba-gnome-"))
        self._processes = []
        # One bus is both the session's and the system's; nothing is started by it.
        self._bus = SystemBus()
        address = self._bus.environment["DBUS_SYSTEM_BUS_ADDRESS"]
        self.environment = base_environment | {"DBUS_SESSION_BUS_ADDRESS": address}
        try:
            self._begin(base_environment | {
                "DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": address, "HOME": str(self._folder),
                "XDG_RUNTIME_DIR": str(self._folder), "XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "GNOME",
                "GSETTINGS_BACKEND": "memory", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1"})
        except BaseException:
            self.stop()
            raise

    def _begin(self, environment):
        self._start("logind", [PYTHON, "-m", "dbusmock", "--system", "--template", "logind"], environment)
        self._bus.wait_for_name("org.freedesktop.login1")
        shell = ["gnome-shell", "--headless", "--wayland", "--no-x11", "--unsafe-mode", "--virtual-monitor",
                 f"{WIDTH}x{HEIGHT}"]
        try:
            # The shell runs its own script in a forked child before it starts another program. On a busy machine that
            # child may wait for a lock that nobody releases, and the shell waits for it.
            for left in reversed(range(STARTS)):
                self._start("shell", shell, environment)
                try:
                    wait_until(lambda: "GNOME Shell started" in self.log("shell"), "GNOME's shell has started", 20)
                    break
                except TimedOut:
                    if not left:
                        raise
                    self._end(self._processes.pop())
            self._start("notifications", ["gjs", NOTIFICATIONS], environment)
            self._bus.wait_for_name("org.freedesktop.Notifications")
        except TimedOut as late:
            raise TimedOut(f"{late}\n{self.log('shell')[-4000:]}") from None

    def _start(self, name, command, environment):
        with open(self._folder / f"{name}.log", "wb") as log:
            self._processes.append(
                subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    @staticmethod
    def _end(process):
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        # What it has forked goes with it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)

    def log(self, name):
        return (self._folder / f"{name}.log").read_text(errors="replace")

    def banner_pixels(self, colour):
        """How many pixels have that colour where notifications are shown."""
        file = self._folder / "banner.png"
        self._shoot("ScreenshotArea", *map(str, BANNERS), "false", str(file))
        return sum(row.count(colour) for row in pixels(file))

    def dismiss(self):
        """Takes away what the shell shows of its own, such as its warning to root: a banner stays in front of the next one."""
        done = subprocess.run(
            ["gdbus", "call", "--session", "--dest", "org.gnome.Shell", "--object-path", "/org/gnome/Shell", "--method",
             "org.gnome.Shell.Eval", "Main.messageTray.getSources().forEach(source => source.destroy())"],
            env=self.environment, capture_output=True, text=True, timeout=20)
        assert done.stdout.startswith("(true"), done.stdout + done.stderr

    def keep(self, file):
        """Keeps a picture of the screen."""
        os.makedirs(Path(file).parent, exist_ok=True)
        self._shoot("Screenshot", "false", "false", str(file))

    def _shoot(self, method, *arguments):
        done = subprocess.run(
            ["gdbus", "call", "--session", "--dest", "org.gnome.Shell.Screenshot", "--object-path",
             "/org/gnome/Shell/Screenshot", "--method", f"org.gnome.Shell.Screenshot.{method}", *arguments],
            env=self.environment, capture_output=True, text=True, timeout=20)
        assert done.stdout.startswith("(true"), done.stdout + done.stderr

    def stop(self):
        for process in reversed(self._processes):
            self._end(process)
        self._bus.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
