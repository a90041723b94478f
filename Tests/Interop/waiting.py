"""Waiting for files, processes and conditions: always with a deadline and a reason, never blindly."""

import ctypes
import os
import select
import signal
import time
from pathlib import Path

IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO, IN_CREATE = 0x2, 0x8, 0x80, 0x100
LONGEST_NAP = 0.1  # seconds between two looks at something that no file event announces


class TimedOut(AssertionError):
    """What was waited for did not happen before the deadline."""


class FolderWatch:
    """Linux inotify on one folder: `nap` ends as soon as a file in it was written, made or moved in."""

    def __init__(self, folder):
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        events = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE
        if self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), events) < 0:
            number = ctypes.get_errno()
            os.close(self._descriptor)
            raise OSError(number, os.strerror(number), str(folder))

    def nap(self, seconds):
        readable, _, _ = select.select([self._descriptor], [], [], seconds)
        if readable:
            os.read(self._descriptor, 65536)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._descriptor)


class _Timer:
    def nap(self, seconds):
        time.sleep(min(seconds, LONGEST_NAP))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def wait_until(condition, reason, seconds=20.0, folder=None):
    """Returns the first true value of `condition()`; raises TimedOut, naming the last value, at the deadline.

    With `folder`, writes into that folder wake the wait at once; a slow look every second remains.
    """
    deadline = time.monotonic() + seconds
    with FolderWatch(folder) if folder else _Timer() as pause:
        while True:
            value = condition()
            if value:
                return value
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimedOut(f"not within {seconds:g} s: {reason} (last seen: {value!r})")
            pause.nap(min(left, 1.0))


def wait_for_lines(file, condition, reason, seconds=20.0):
    """Waits until `condition(lines)` is true of the complete lines of a growing file; returns the lines."""
    file = Path(file)

    def complete_lines():
        text = file.read_text(errors="replace") if file.exists() else ""
        lines = text.split("\n")[:-1]
        return (lines,) if condition(lines) else ()

    try:
        return wait_until(complete_lines, reason, seconds, folder=file.parent)[0]
    except TimedOut as late:
        count = len(file.read_text(errors="replace").splitlines()) if file.exists() else "no"
        raise TimedOut(f"{late}; {file.name} has {count} lines") from None


def wait_for_end(pid, seconds=10.0):
    """Waits for a process that need not be a child to end; returns whether it did."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        readable, _, _ = select.select([descriptor], [], [], seconds)
        return bool(readable)
    finally:
        os.close(descriptor)


def kill(pid):
    """SIGKILL, and wait until the process is gone."""
    os.kill(pid, signal.SIGKILL)
    if not wait_for_end(pid):
        raise TimedOut(f"process {pid} outlived SIGKILL")
