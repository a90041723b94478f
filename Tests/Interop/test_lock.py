"""A locked screen as the login manager tells of it: a mock of login1 on a system bus of the test's own."""

import os
import subprocess

import pytest

from aldaba_process import AldabaUp, clean_environment, run_aldaba
from screen import Screen
from waiting import wait_until

pytestmark = pytest.mark.desktop
SESSION = "c1"


class Logins:
    """A system bus, and on it a login manager that says what the test wants."""

    def __init__(self, screen):
        self._screen = screen
        self.environment = screen.environment | {
            "DBUS_SYSTEM_BUS_ADDRESS": screen.start_bus("system-bus"), "XDG_SESSION_ID": SESSION}
        self._process = None

    def begin(self, locked):
        """Starts the login manager; once it has the session, it says so."""
        self._process = subprocess.Popen(
            ["/usr/bin/python3", "-m", "dbusmock", "--template", "logind"], env=self.environment)
        wait_until(lambda: self._run("login.Ping(dbus_interface='org.freedesktop.DBus.Peer')", check=False),
                   "the login manager answers")
        self._run(
            f"login.AddSession('{SESSION}', 'seat0', dbus.UInt32({os.getuid()}), 'somebody', True, dbus_interface=mock)")
        self.hint(locked)
        self._run(
            f"login.EmitSignal('org.freedesktop.login1.Manager', 'SessionNew', 'so', "
            f"['{SESSION}', dbus.ObjectPath('/org/freedesktop/login1/session/{SESSION}')], dbus_interface=mock)")

    def hint(self, locked):
        """What a screen locker tells the login manager."""
        self._run(f"session.SetLockedHint({locked}, dbus_interface='org.freedesktop.login1.Session')")

    def end(self):
        if self._process:
            self._process.terminate()
            self._process.wait(5)
            self._process = None

    def _run(self, line, check=True):
        script = (
            "import dbus; bus = dbus.SystemBus(); mock = 'org.freedesktop.DBus.Mock'; "
            "login, session = (bus.get_object('org.freedesktop.login1', '/org/freedesktop/login1' + end, "
            f"introspect=False) for end in ('', '/session/{SESSION}')); {line}")
        done = subprocess.run(
            ["/usr/bin/python3", "-c", script], env=self.environment, capture_output=True, text=True, timeout=20)
        assert done.returncode == 0 or not check, done.stderr
        return done.returncode == 0


@pytest.fixture
def screen():
    made = Screen(clean_environment(), server="mock")
    yield made
    made.stop()


@pytest.fixture
def logins(screen):
    made = Logins(screen)
    yield made
    made.end()


@pytest.fixture
def notify(request, screen, logins):
    """`notify(number)` starts `aldaba up` at the first call; it returns the text that came to the screen."""
    running = []

    def send(word):
        if not running:
            running.append(AldabaUp.ephemeral(name=request.node.name, environment=logins.environment))
            run_aldaba("settings", "aldaba.notify", "previews=whenUnlocked", "--data", running[0].data)
        count = len(screen.notified())
        run_aldaba("notify", "Secret", word, "--data", running[0].data)
        return wait_until(lambda: screen.notified()[count:], "the notification is on the bus")[0][4]

    yield send
    for up in running:
        up.stop()


def test_a_screen_that_is_locked_at_the_start_hides_the_text_until_it_is_unlocked(logins, notify):
    logins.begin(locked=True)
    assert notify("first") == "Notification"
    logins.hint(False)
    wait_until(lambda: notify("unlocked") == "unlocked", "the agent has heard that the screen is unlocked")
    logins.hint(True)
    wait_until(lambda: notify("again") == "Notification", "the agent has heard that the screen is locked again")


def test_a_login_manager_that_comes_later_is_asked_then_and_after_its_end_once_more(logins, notify):
    assert notify("before") == "before"
    logins.begin(locked=True)
    wait_until(lambda: notify("while") == "Notification", "the agent has heard of the login manager")
    logins.end()
    assert notify("meanwhile") == "Notification", "its end unlocks nothing"
    logins.begin(locked=False)
    wait_until(lambda: notify("after") == "after", "the agent has heard of the next one")
