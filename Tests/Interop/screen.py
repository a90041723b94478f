"""A screen without a monitor: Xvfb, a session bus of the test's own, a notification server, pixels and a pointer."""

import contextlib
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

from waiting import TimedOut, wait_until

WIDTH, HEIGHT = 800, 600
POPUP = (0x20, 0x40, 0xC0)  # dunst's background below: a colour that nothing else has
INK = (0xFF, 0xFF, 0xFF)
NEEDED = ("Xvfb", "dbus-daemon", "dbus-send", "dunst", "xdotool")
XFCE = "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd"
MATE = "/usr/lib/mate-notification-daemon/mate-notification-daemon"
MARGIN, BUTTON_ABOVE_BOTTOM = 14, 31  # of a popup of xfce4-notifyd's, in its plain theme

BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<servicedir>{services}</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>
"""

DUNST_CONFIGURATION = """[global]
origin = top-right
offset = 40x40
width = 320
height = 200
font = DejaVu Sans 14
frame_width = 0
corner_radius = 0
gap_size = 40
notification_limit = 3
show_indicators = no
idle_threshold = 0
mouse_left_click = do_action, close_current
[urgency_low]
background = "#2040c0"
foreground = "#ffffff"
timeout = 0
[urgency_normal]
background = "#2040c0"
foreground = "#ffffff"
timeout = 0
[urgency_critical]
background = "#2040c0"
foreground = "#ffffff"
timeout = 0
"""


class Picture:
    """One look at the screen: pixels of 32 bits, blue first, as Xvfb keeps them (XWD, ZPixmap)."""

    def __init__(self, xwd):
        header = struct.unpack(">25I", xwd[:100])
        head_size, version, _, depth, self.width, self.height = header[:6]
        bits_per_pixel, self._row, colours = header[11], header[12], header[19]
        assert (version, depth, bits_per_pixel) == (7, 24, 32), (version, depth, bits_per_pixel)
        self._pixels = xwd[head_size + 12 * colours:]

    def row(self, y):
        return self._pixels[y * self._row:y * self._row + 4 * self.width]

    def places(self, colour):
        """The (x, y) of every pixel of that colour."""
        wanted = bytes(reversed(colour))
        for y in range(self.height):
            row = self.row(y)
            at = row.find(wanted)
            while at >= 0:
                if at % 4 == 0:
                    yield at // 4, y
                    at += 4
                else:
                    at += 1
                at = row.find(wanted, at)

    def box(self, colour):
        """The smallest rectangle (left, top, right, bottom) around a colour, `None` if it is nowhere."""
        places = list(self.places(colour))
        if not places:
            return None
        columns, rows = [x for x, _ in places], [y for _, y in places]
        return min(columns), min(rows), max(columns), max(rows)

    def lit(self):
        """How many pixels are not black, as the empty screen is."""
        return sum(bool(any(row[at:at + 3])) for y in range(self.height) for row in [self.row(y)]
                   for at in range(0, len(row), 4))

    def count(self, colour, box):
        """How many pixels of a colour lie within a rectangle."""
        left, top, right, bottom = box
        return sum(left <= x <= right and top <= y <= bottom for x, y in self.places(colour))

    def save_png(self, file):
        """Writes an RGB PNG (W3C PNG, 11: one IHDR, one IDAT, one IEND)."""
        rows = bytearray()
        for y in range(self.height):
            row, rgb = self.row(y), bytearray(3 * self.width)
            rgb[0::3], rgb[1::3], rgb[2::3] = row[2::4], row[1::4], row[0::4]
            rows += b"\0" + rgb

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        file = Path(file)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows)))
            + chunk(b"IEND", b"")
        )


class Screen:
    """Xvfb, bus and server (dunst or xfce4-notifyd) as one thing; `environment` is what a program on it needs."""

    def __init__(self, base_environment, server="dunst"):
        missing = [name for name in NEEDED if not shutil.which(name)]
        assert not missing, f"Debian packages xvfb, dbus, dunst and xdotool are needed; not found: {missing}"
        self._folder = Path(tempfile.mkdtemp(prefix="aldaba-screen-"))
        self._processes = []
        self._base = base_environment
        try:
            self.environment = base_environment | {"DISPLAY": self._start_display()}
            self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.start_bus("bus")
            if server is None:
                return
            self._server_command = {
                "dunst": self._dunst, "dunst as it comes": self._stock_dunst, "xfce4-notifyd": lambda: [XFCE],
                "mate-notification-daemon": lambda: [MATE], "lxqt-notificationd": lambda: ["lxqt-notificationd"],
                "mock": self._mock,
            }[server]()
            self.begin_notification_server()
        except BaseException:
            self.stop()
            raise

    def add_service(self, name, command):
        """Has the session bus start a program when somebody calls a name."""
        (self._folder / "bus.services" / f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={command}\n")

    def look(self):
        """The frame buffer as it is now."""
        return Picture((self._folder / "Xvfb_screen0").read_bytes())

    def wait_for_popup(self, seconds=20):
        """Waits until a popup with writing in it is on the screen; returns (picture, rectangle)."""

        def popup():
            picture = self.look()
            box = picture.box(POPUP)
            return box and picture.count(INK, box) > 50 and (picture, box)

        return wait_until(popup, "a popup is on the screen", seconds)

    def wait_for_empty(self, seconds=20):
        """Waits until no popup is on the screen."""
        wait_until(lambda: self.look().box(POPUP) is None, "the popup has gone", seconds)

    def click(self, box):
        """Presses the pointer's left button in the middle of a rectangle."""
        left, top, right, bottom = box
        where = str((left + right) // 2), str((top + bottom) // 2)
        subprocess.run(["xdotool", "mousemove", *where, "click", "1"], env=self.environment, check=True, timeout=10)

    def wait_for_window(self, name, seconds=20):
        """Waits for a window by a part of its name; returns (number, left, top, width, height)."""

        def window():
            for number in self.windows(name):
                geometry = dict(
                    line.split("=") for line in self._xdotool("getwindowgeometry", "--shell", number).split())
                left, top, width, height = (int(geometry.get(key, 0)) for key in ("X", "Y", "WIDTH", "HEIGHT"))
                if height > 20:
                    return number, left, top, width, height
            return None

        return wait_until(window, f"a window {name} is on the screen", seconds)

    def windows(self, name):
        """The numbers of the windows that can be seen and have a part of this name."""
        return self._xdotool("search", "--onlyvisible", "--name", name).split()

    def press_button(self, place, count, opens=True):
        """Presses one of the `count` buttons of xfce4-notifyd's popup; the one that opens it stands before them.

        They share its width. A question cannot be opened.
        """
        _, left, top, width, height = self.wait_for_window("xfce4-notifyd")
        x = left + MARGIN + int((place + 0.5 + opens) * (width - 2 * MARGIN) / (count + opens))
        self._xdotool("mousemove", str(x), str(top + height - BUTTON_ABOVE_BOTTOM), "click", "1")

    def begin_window_manager(self):
        """Windows get a manager from now on, which says which of them is active."""
        self._start(["openbox"], self.environment | {"HOME": str(self._folder)})

        def manages():
            done = subprocess.run(["xdotool", "get_desktop"], env=self.environment, capture_output=True, timeout=10)
            return done.returncode == 0

        wait_until(manages, "the window manager manages the screen")

    def activate(self, window):
        """Has the window manager give a window the focus."""
        self._xdotool("windowactivate", "--sync", window)

    def end_display(self):
        """The X server dies, and with it everything that shows something."""
        process = self._processes.pop(0)
        process.kill()
        process.wait(5)

    def type(self, text, window):
        """Types into a window and presses Return."""
        self._xdotool("windowfocus", "--sync", window, "type", "--delay", "20", text)
        self._xdotool("key", "--window", window, "Return")

    def keep(self, file):
        """Keeps a picture of the screen."""
        self.look().save_png(file)

    def _xdotool(self, *arguments):
        done = subprocess.run(
            ["xdotool", *arguments], env=self.environment, capture_output=True, text=True, timeout=10)
        return done.stdout

    def stop(self):
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, command, environment, **options):
        log = open(self._folder / f"{Path(command[0]).name}.log", "wb")
        with log:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)
        self._processes.append(process)
        return process

    def _start_display(self):
        """Starts Xvfb on a free display that it chooses itself and tells when it is ready."""
        reader, writer = os.pipe()
        self._start(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(self._folder),
             "-nolisten", "tcp"],
            self._base, pass_fds=[writer])
        os.close(writer)
        with os.fdopen(reader) as told:
            number = told.readline().strip()
        assert number, (self._folder / "Xvfb.log").read_text()
        return f":{number}"

    def start_bus(self, name):
        """Starts a bus and returns its address; it starts what the folder `NAME.services` names."""
        socket, configuration, services = (self._folder / f"{name}{end}" for end in ("", ".conf", ".services"))
        services.mkdir()
        configuration.write_text(BUS_CONFIGURATION.format(socket=socket, services=services))
        self._start(["dbus-daemon", f"--config-file={configuration}", "--nofork"], self._base)
        wait_until(socket.exists, f"the {name} listens", folder=self._folder)
        return f"unix:path={socket}"

    def _dunst(self):
        configuration = self._folder / "dunstrc"
        configuration.write_text(DUNST_CONFIGURATION)
        return ["dunst", "-config", str(configuration)]

    def _stock_dunst(self):
        """With its own settings, but for the program that asks which button is meant: see `will_choose`."""
        configuration, menu = self._folder / "dunstrc", self._folder / "menu"
        menu.write_text(f'#!/bin/sh\ncat > {menu}.asked; grep -F "$(cat {menu}.choice)" {menu}.asked\n')
        menu.chmod(0o700)
        stock = Path("/etc/xdg/dunst/dunstrc").read_text()
        configuration.write_text(re.sub(r"(?m)^( *dmenu = ).*", rf"\1{menu}", stock))
        return ["dunst", "-config", str(configuration)]

    def will_choose(self, label):
        """What a person will choose when dunst's menu comes."""
        (self._folder / "menu.choice").write_text(label)

    def middle_click(self):
        """Presses the pointer's middle button on dunst's popup, at its place by its own settings."""
        self._xdotool("mousemove", str(WIDTH - 160), "80", "click", "2")

    def server_log(self):
        """What the notification server has said."""
        return (self._folder / f"{Path(self._server_command[0]).name}.log").read_text(errors="replace")

    @staticmethod
    def _mock():
        """A desktop that can ask for text on the notification itself; Debian's own Python has the mock."""
        parameters = '{"capabilities": "actions body inline-reply"}'
        return ["/usr/bin/python3", "-m", "dbusmock", "--template", "notification_daemon", "--parameters", parameters]

    def notified(self):
        """What the mock was asked to show: the arguments of every `Notify`."""
        return json.loads(self._ask_mock("print(json.dumps([call[1] for call in mock.GetMethodCalls('Notify')]))"))

    def closed(self):
        """The numbers that the mock was asked to take off the screen."""
        return json.loads(
            self._ask_mock("print(json.dumps([int(call[1][0]) for call in mock.GetMethodCalls('CloseNotification')]))"))

    def reply(self, number, text):
        """What a desktop with inline replies says when somebody has typed into a notification."""
        self._ask_mock(
            f"mock.EmitSignal('', 'NotificationReplied', 'us', [dbus.UInt32({number}), {text!r}])")

    def numbers(self, title):
        """The mock's numbers of the notifications whose title this was, in the order in which they were shown."""
        last, found = 0, []
        for _, replaces, _, summary, *_ in self.notified():
            last = last if replaces else last + 1
            if summary == title:
                found.append(replaces or last)
        return found

    def press(self, number, button):
        """What a desktop says when somebody has pressed a button."""
        self._ask_mock(
            f"mock.EmitSignal('', 'ActionInvoked', 'us', [dbus.UInt32({number}), 'button:' + {button!r}])")

    def close(self, number, reason):
        """What a desktop says when a notification has left the screen: 1 by itself, 2 put away by the person."""
        self._ask_mock(
            f"mock.EmitSignal('', 'NotificationClosed', 'uu', [dbus.UInt32({number}), dbus.UInt32({reason})])")

    def open(self, number, token=None):
        """What a desktop says when somebody has clicked on a notification."""
        given = f"mock.EmitSignal('', 'ActivationToken', 'us', [dbus.UInt32({number}), {token!r}]); " if token else ""
        self._ask_mock(given + f"mock.EmitSignal('', 'ActionInvoked', 'us', [dbus.UInt32({number}), 'default'])")

    @contextlib.contextmanager
    def locked(self):
        """A screen saver that says that it is active, and goes on doing so until the end."""
        script = (
            "import sys, dbus, dbus.service; from dbus.mainloop.glib import DBusGMainLoop; "
            "from gi.repository import GLib; DBusGMainLoop(set_as_default=True); "
            "name = dbus.service.BusName('org.freedesktop.ScreenSaver', dbus.SessionBus())\n"
            "class Saver(dbus.service.Object):\n"
            "    @dbus.service.signal('org.freedesktop.ScreenSaver', signature='b')\n"
            "    def ActiveChanged(self, active): pass\n"
            "saver = Saver(name, '/ScreenSaver')\n"
            "GLib.timeout_add(100, lambda: saver.ActiveChanged(True) or True)\n"
            "GLib.MainLoop().run()")
        process = subprocess.Popen(["/usr/bin/python3", "-c", script], env=self.environment)
        try:
            yield
        finally:
            process.terminate()
            process.wait(5)

    def _ask_mock(self, line):
        """Runs a line with the mock's own interface as `mock`, in Debian's Python, which has the bus's bindings."""
        script = ("import dbus, json; mock = dbus.Interface(dbus.SessionBus().get_object("
                  "'org.freedesktop.Notifications', '/org/freedesktop/Notifications'), 'org.freedesktop.DBus.Mock'); ")
        done = subprocess.run(["/usr/bin/python3", "-c", script + line], env=self.environment, capture_output=True,
                              text=True, timeout=20)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def end_notification_server(self):
        """The notification server dies, and its popups go."""
        self._processes.remove(self._server)
        self._server.kill()
        self._server.wait(5)

    def begin_notification_server(self):
        """Starts the notification server; returns when it owns its name."""
        own = {name: str(self._folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME")}
        self._server = self._start(self._server_command, self.environment | own)
        name = Path(self._server_command[0]).name
        ask = ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
               "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.Notifications"]

        def owned():
            done = subprocess.run(ask, env=self.environment, capture_output=True, text=True, timeout=10)
            return "boolean true" in done.stdout

        try:
            wait_until(owned, f"{name} owns org.freedesktop.Notifications")
        except TimedOut as late:
            raise TimedOut(f"{late}\n{(self._folder / f'{name}.log').read_text()}") from None
