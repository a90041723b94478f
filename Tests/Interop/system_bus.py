"""A system bus of a test's own, on which python-dbusmock stands in for services."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from waiting import wait_until

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<servicedir>{services}</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>
"""
PYTHON = "/usr/bin/python3"  # Debian's, which has the bus's bindings and python-dbusmock


class SystemBus:
    """A dbus-daemon; `environment` has what makes a program take it for the system's."""

    def __init__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="aldaba-bus-"))
        self._services = self._folder / "services"
        self._services.mkdir()
        self._configuration = self._folder / "bus.conf"
        self._configuration.write_text(
            CONFIGURATION.format(socket=self._folder / "bus", services=self._services))
        self.environment = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self._folder}/bus"}
        self._processes = []
        self._daemon = None
        self.begin()

    def begin(self):
        """Starts the bus; returns when it listens."""
        self._daemon = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self._configuration}", "--nofork", "--nopidfile", "--print-address=1"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._daemon.stdout.readline(), "the bus did not start"

    def end(self):
        """Ends the bus; what is on it goes too."""
        self._daemon.kill()
        self._daemon.wait(5)
        self._daemon.stdout.close()

    def stop(self):
        self.end()
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait(5)
        shutil.rmtree(self._folder)

    def start(self, *command, **options):
        """Runs a program on this bus until the test ends."""
        process = subprocess.Popen(
            [*map(str, command)], env={"PATH": "/usr/bin:/bin", "HOME": str(self._folder), **self.environment},
            stdin=subprocess.DEVNULL, **options)
        self._processes.append(process)
        return process

    def mock(self, name, path, interface):
        """Puts a mock on the bus; returns when it is there."""
        process = self.start(PYTHON, "-m", "dbusmock", "--system", name, path, interface)
        self.wait_for_name(name)
        return process

    def wait_for_name(self, name):
        wait_until(lambda: "boolean true" in self._ask("NameHasOwner", f"string:{name}"), f"{name} is on the bus")

    def wait_for_rule(self, word):
        """Waits until somebody listens for a signal whose rule contains the word."""
        wait_until(lambda: word in self._ask("Debug.Stats.GetAllMatchRules"), f"somebody listens for {word}")

    def _ask(self, method, *arguments):
        done = subprocess.run(
            ["dbus-send", f"--bus={self.environment['DBUS_SYSTEM_BUS_ADDRESS']}", "--print-reply",
             "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus", f"org.freedesktop.DBus.{method}", *arguments],
            capture_output=True, text=True, timeout=10)
        return done.stdout

    def emit(self, name, path, interface, signal, signature, arguments):
        """Has a mock say something."""
        self.run(f"bus.get_object('{name}', '{path}', introspect=False)"
                 f".EmitSignal('{interface}', '{signal}', '{signature}', {arguments!r}, dbus_interface=mock)")

    def run(self, line):
        """Runs a line of Python with this bus as `bus`, and the mocks' own interface as `mock`; returns its output."""
        script = f"import dbus; bus = dbus.SystemBus(); mock = 'org.freedesktop.DBus.Mock'; {line}"
        done = subprocess.run(
            [PYTHON, "-c", script], env={"PATH": "/usr/bin:/bin", **self.environment}, capture_output=True, text=True,
            timeout=20)
        assert done.returncode == 0, done.stderr
        return done.stdout
