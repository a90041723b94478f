"""GeoClue for tests: the real one, fed by NMEA over a socket, with an agent of ours; and a mock of its four objects."""

import shutil
import socket
import subprocess
import threading
import time

from system_bus import PYTHON

REAL = "/usr/libexec/geoclue"
NAME = "org.freedesktop.GeoClue2"
ROOT = "/org/freedesktop/GeoClue2"

AGENT = """
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
class Agent(dbus.service.Object):
    @dbus.service.method('org.freedesktop.GeoClue2.Agent', in_signature='su', out_signature='bu')
    def AuthorizeApp(self, app, level): return True, level
    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
    def Get(self, interface, name): return dbus.UInt32(8)
    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='s', out_signature='a{sv}')
    def GetAll(self, interface): return {'MaxAccuracyLevel': dbus.UInt32(8)}
agent = Agent(bus, '/org/freedesktop/GeoClue2/Agent')
manager = bus.get_object('org.freedesktop.GeoClue2', '/org/freedesktop/GeoClue2/Manager', introspect=False)
# It asks the agent something before it answers.
manager.AddAgent('geoclue-demo-agent', dbus_interface='org.freedesktop.GeoClue2.Manager',
                 reply_handler=lambda: print('added', flush=True), error_handler=lambda error: loop.quit())
loop = GLib.MainLoop()
loop.run()
"""


def without_network():
    """What a command begins with that is to reach nobody beyond this machine's files."""
    alone = ["unshare", "--map-current-user", "--net"]
    if shutil.which("unshare") and subprocess.run([*alone, "true"], capture_output=True).returncode == 0:
        return alone
    return ["env", "http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9"]


class Receiver:
    """A GPS receiver that writes a fix a second to whom listens on its socket."""

    def __init__(self, path, place):
        self.place = place
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(4)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._ended.is_set():
            try:
                listener, _ = self._listener.accept()
            except OSError:
                return
            with listener:
                while not self._ended.is_set():
                    try:
                        listener.sendall(self._sentence())
                    except OSError:
                        break
                    self._ended.wait(1)

    def _sentence(self):
        """NMEA 0183, GGA: a fix of eight satellites, with the exclusive or of its characters at the end."""
        latitude, longitude = (f"{int(number):0{width}d}{(number - int(number)) * 60:07.4f}"
                               for number, width in zip(self.place, (2, 3)))
        body = f"GPGGA,{time.strftime('%H%M%S', time.gmtime())}.00,{latitude},N,{longitude},E,1,08,0.9,34.0,M,46.9,M,,"
        check = 0
        for character in body:
            check ^= ord(character)
        return f"${body}*{check:02X}\r\n".encode()

    def stop(self):
        self._ended.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


def start_real(bus, receiver_socket, log):
    """Debian's GeoClue on the bus, without an agent: it answers nobody before there is one."""
    command = [*without_network(), REAL, "--timeout=0", f"--nmea-socket={receiver_socket}"]
    with open(log, "wb") as file:
        bus.start(*command, stdout=file, stderr=file)
    bus.wait_for_name(NAME)


def start_agent(bus):
    """What a desktop has to ask the person; this one allows everything."""
    agent = bus.start(PYTHON, "-c", AGENT, stdout=subprocess.PIPE)
    assert agent.stdout.readline() == b"added\n"


class Mock:
    """Manager, client and locations of GeoClue's interfaces by python-dbusmock."""

    def __init__(self, bus, start="pass"):
        self._bus = bus
        self._locations = 0
        self._process = bus.mock(NAME, f"{ROOT}/Manager", f"{NAME}.Manager")
        client = f"{ROOT}/Client/1"
        self._on("Manager", f"AddMethod('{NAME}.Manager', 'GetClient', '', 'o', 'ret = dbus.ObjectPath(\"{client}\")', "
                            "dbus_interface=mock)")
        properties = ("dbus.Dictionary({'DesktopId': '', 'RequestedAccuracyLevel': dbus.UInt32(0), 'DistanceThreshold': "
                      "dbus.UInt32(9), 'TimeThreshold': dbus.UInt32(9)}, signature='sv')")
        methods = f"[('Start', '', '', {start!r}), ('Stop', '', '', '')]"
        self._on("Manager", f"AddObject('{client}', '{NAME}.Client', {properties}, {methods}, dbus_interface=mock)")

    def _on(self, name, line):
        return self._bus.run(f"print(bus.get_object('{NAME}', '{ROOT}/{name}', introspect=False).{line})")

    def calls(self):
        """The names of the client's methods that were called."""
        told = self._bus.run(
            f"calls = bus.get_object('{NAME}', '{ROOT}/Client/1', introspect=False).GetCalls(dbus_interface=mock); "
            "print(*[str(call[1]) for call in calls])")
        return told.split()

    def wishes(self):
        """What the client was told of: its id, its accuracy level, its thresholds."""
        return self._bus.run(
            f"client = bus.get_object('{NAME}', '{ROOT}/Client/1', introspect=False); print(*[client.Get('{NAME}.Client', "
            "name, dbus_interface='org.freedesktop.DBus.Properties') for name in ('DesktopId', "
            "'RequestedAccuracyLevel', 'DistanceThreshold', 'TimeThreshold')])").split()

    def move(self, latitude, longitude, accuracy=5.0):
        """Tells of a new location."""
        path = self.add_location(latitude, longitude, accuracy)
        self._on("Client/1", f"EmitSignal('{NAME}.Client', 'LocationUpdated', 'oo', [dbus.ObjectPath('/'), "
                             f"dbus.ObjectPath('{path}')], dbus_interface=mock)")

    def add_location(self, latitude, longitude, accuracy=5.0):
        """Makes a location that nobody is told of yet; returns its path."""
        self._locations += 1
        path = f"{ROOT}/Location/{self._locations}"
        properties = (f"dbus.Dictionary({{'Latitude': {latitude}, 'Longitude': {longitude}, 'Accuracy': {accuracy}}}, "
                      "signature='sv')")
        self._on("Manager", f"AddObject('{path}', '{NAME}.Location', {properties}, dbus.Array([], signature='(ssss)'), "
                            "dbus_interface=mock)")
        return path

    def end(self):
        self._process.kill()
        self._process.wait(5)
