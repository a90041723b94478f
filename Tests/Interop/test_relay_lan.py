"""Devices of one person in one network connect directly, and fall back to the server's way.

Each device stands in a network namespace of its own with Debian's avahi-daemon; a pair of virtual interfaces joins them. The server
is reached by forwarders of this process. Foreign programs: avahi-daemon, avahi-browse, avahi-publish, dbus-daemon, ip.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from aldaba_process import REPOSITORY, AldabaUp, clean_environment
from own_agent import OwnAgent
from system_bus import SystemBus
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import Relay  # noqa: E402

NEEDED = ("avahi-daemon", "avahi-browse", "avahi-publish", "dbus-daemon", "ip")
TYPE = "_aldaba-relay._tcp"
APP = "com.example.relay"
CLONE_NEWNET = 0x40000000

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or any(not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") for name in NEEDED),
    reason="root and Debian's avahi-daemon, avahi-utils and iproute2 are needed")


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


class Namespace:
    """A network namespace with an Avahi of its own, from which the server's ports are reached on loopback."""

    def __init__(self, name, up, address):
        self.name, self.address = name, address
        ip("netns", "add", name)
        self.prefix = ["ip", "netns", "exec", name]
        ip("-n", name, "link", "set", "lo", "up")
        self.bus = SystemBus()
        self._listeners = []
        self.ports = [json.loads((up.data / "serve.json").read_text())[name] for name in ("devicePort", "controlPort")]
        self._ends = set()
        self.reach_server()

    def reach_server(self):
        for port in self.ports:
            self._forward(port)

    def lose_server(self):
        """The server cannot be reached any more, and what reached it breaks."""
        for listener in self._listeners:
            # Who waits in accept is not woken by a close alone.
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self._listeners = []
        for end in list(self._ends):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _forward(self, port):
        listeners = []

        def enter():
            libc = ctypes.CDLL(None, use_errno=True)
            with open(f"/run/netns/{self.name}") as space:
                assert libc.setns(space.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
            listeners.append(socket.create_server(("127.0.0.1", port)))

        # Only a thread of its own enters the namespace; its socket stays there.
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        listener = listeners[0]
        self._listeners.append(listener)

        def accept():
            while True:
                try:
                    here, _ = listener.accept()
                except OSError:
                    return
                there = socket.create_connection(("127.0.0.1", port))
                self._ends |= {here, there}
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=pump, args=(one, other), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()

    def begin_avahi(self, version):
        configuration = self.bus._folder / "avahi.conf"
        other = {4: 6, 6: 4}[version]
        configuration.write_text(
            f"[server]\nhost-name=machine-{self.name}\nallow-interfaces=lan\nuse-ipv{version}=yes\nuse-ipv{other}=no\n[publish]\n"
            "publish-workstation=no\npublish-hinfo=no\n[rlimits]\n")
        self.bus.start(
            *self.prefix, "unshare", "-m", "sh", "-c",
            f"mkdir -p /run/avahi-daemon && mount -t tmpfs none /run/avahi-daemon && exec {shutil.which('avahi-daemon')} "
            f"--no-drop-root --no-chroot --no-rlimits -f {configuration}",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.bus.wait_for_name("org.freedesktop.Avahi")

    def browse(self, must_end=False):
        """What is announced; nothing where avahi-browse waits for an announcement that was taken back meanwhile."""
        try:
            done = subprocess.run(
                ["avahi-browse", "-rtp", TYPE], env={"PATH": os.environ["PATH"], **self.bus.environment},
                capture_output=True, text=True, timeout=30 if must_end else 8)
        except subprocess.TimeoutExpired:
            assert not must_end, "avahi-browse did not end"
            return []
        return [line.split(";") for line in done.stdout.splitlines() if line.startswith("=")]

    def both(self):
        """What is announced, once it is one announcement of each of two devices; one that was replaced stays for two seconds."""
        lines = self.browse()
        return len(lines) == len({tuple(line[7:9]) for line in lines}) == 2 and lines

    def stop(self):
        for listener in self._listeners:
            listener.close()
        self.bus.stop()
        ip("netns", "del", self.name)


def pump(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
    except OSError:
        pass
    for end in (one, other):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Device(OwnAgent):
    """A device in a namespace."""

    def __init__(self, up, name, account, space, lan="true"):
        environment = clean_environment() | space.bus.environment | {"ALDABA_RELAY_LAN": lan}
        super().__init__(up, f"test_relay_lan_{name}", environment)
        self._command = [*space.prefix, *self._command]
        self.name = name
        self.data.mkdir(parents=True, mode=0o700)
        (self.data / "relay.json").write_text(
            json.dumps({"name": name, "kind": "desktop", "schemes": [], "grants": [], "account": account}))

    def relay(self, *arguments, **options):
        return self.aldaba("relay", *arguments, **options)

    @property
    def id(self):
        return json.loads(self.relay("status", "--json").stdout)["device"]

    def reach(self):
        done = self.relay("devices", "--json", check=False)
        devices = json.loads(done.stdout) if done.returncode == 0 else []
        return devices[0].get("reach") if devices else None

    def reaches(self, way, seconds=30):
        wait_until(lambda: self.reach() == way, f"{self.name} reaches the other by {way}", seconds)

    def app(self):
        secret = self.install(
            id=APP, name="Relay", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
        return Relay(APP, secret, self.socket)


@pytest.fixture(scope="module")
def up():
    running = AldabaUp.ephemeral("--no-app", name="test_relay_lan")
    yield running
    assert running.stop() == 0


@contextlib.contextmanager
def network(up, version):
    """Two namespaces with a link between them: in a private network of version 4, or with what version 6 has by itself."""
    names = [f"aldaba{os.getpid()}{letter}" for letter in "ab"]
    made = []
    try:
        for number, name in enumerate(names):
            made.append(Namespace(name, up, f"10.77.1.{number + 1}"))
        ip("link", "add", "lan", "netns", names[0], "type", "veth", "peer", "name", "lan", "netns", names[1])
        for space in made:
            if version == 4:
                ip("-n", space.name, "address", "add", f"{space.address}/24", "dev", "lan")
            ip("-n", space.name, "link", "set", "lan", "multicast", "on", "up")
            if version == 4:
                ip("-n", space.name, "route", "add", "224.0.0.0/4", "dev", "lan")
        for space in made:
            space.begin_avahi(version)
        yield made
    finally:
        for space in made:
            space.stop()


@pytest.fixture
def spaces(up):
    with network(up, 4) as made:
        yield made


@contextlib.contextmanager
def pair(up, spaces):
    account = f"aldaba-account-{os.urandom(32).hex()}"
    made = [Device(up, name, account, space) for name, space in zip(("marta-laptop", "marta-desktop"), spaces)]
    try:
        for device in made:
            device.start()
        yield made
    finally:
        for device in made:
            device.stop()


@pytest.fixture
def devices(up, spaces):
    with pair(up, spaces) as made:
        yield made


def forwarded(up):
    text = urllib.request.urlopen(up.ready["metrics"] + "/metrics").read().decode()
    return sum(int(count) for count in re.findall(r"^aldaba_relay_forwarded_total(?:\{.*\})? (\d+)", text, re.M))


def cut(space):
    ip("-n", space.name, "link", "set", "lan", "down")


def mend(space):
    ip("-n", space.name, "link", "set", "lan", "up")
    ip("-n", space.name, "route", "replace", "224.0.0.0/4", "dev", "lan")


def test_devices_in_one_network_talk_without_the_server(up, spaces, devices, tmp_path):
    one, other = devices
    one.reaches("direct")
    other.reaches("direct")
    before = forwarded(up)
    for _ in range(5):
        assert "pong" in one.relay("call", "ping", "--on", other.name).stdout
    file = tmp_path / "film.mp4"
    file.write_bytes(random.Random(1).randbytes(9_000_001))
    other.relay("send", file, "--on", one.name)
    assert (one.data / "received/film.mp4").read_bytes() == file.read_bytes()
    assert forwarded(up) == before
    assert "online, directly" in one.relay("devices").stdout


def test_devices_talk_where_there_is_nothing_but_version_6(up, tmp_path):
    with network(up, 6) as spaces, pair(up, spaces) as (one, other):
        one.reaches("direct")
        other.reaches("direct")
        before = forwarded(up)
        assert "pong" in one.relay("call", "ping", "--on", other.name).stdout
        file = tmp_path / "film.mp4"
        file.write_bytes(random.Random(3).randbytes(3_000_001))
        other.relay("send", file, "--on", one.name)
        assert (one.data / "received/film.mp4").read_bytes() == file.read_bytes()
        assert forwarded(up) == before
        found = wait_until(spaces[0].both, "both are announced", 40)
        assert all(line[7].startswith("fe80:") for line in found)


def is_connected(device):
    return json.loads(device.relay("status", "--json").stdout)["isConnected"]


def test_devices_that_know_each_other_talk_while_the_server_is_away(up, spaces, devices, tmp_path):
    one, other = devices
    one.reaches("direct")
    other.reaches("direct")
    service, caller = other.app(), one.app()
    service.publish({"echo": "sameUser"})
    wait_until(lambda: "echo" in one.relay("devices").stdout, "the service is listed")
    ending = threading.Event()

    def serve():
        while not ending.is_set():
            try:
                service.serve(lambda question: question.message, 1)
            except Exception:
                return

    threading.Thread(target=serve, daemon=True).start()
    target = other.id
    losing = threading.Timer(0.1, lambda: [space.lose_server() for space in spaces])
    losing.start()
    number = 0
    while losing.is_alive() or is_connected(one) or is_connected(other):
        for _ in range(50):
            assert caller.call(target, APP, "echo", {"n": number}) == {"n": number}
            number += 1
    assert caller.call(target, APP, "echo", {"n": -1}) == {"n": -1}
    assert "online, directly" in one.relay("devices").stdout
    ending.set()
    caller.end()
    service.end()
    # What is new on a device is told all the same.
    wait_until(lambda: f"{APP}" in one.relay("devices", "--json").stdout, "the app is listed")
    # They find each other without it, too.
    for device in devices:
        device.stop_process()
    for device in devices:
        device.start()
    one.reaches("direct")
    other.reaches("direct")
    assert not is_connected(one) and not is_connected(other)
    assert "pong" in one.relay("call", "ping", "--on", other.name).stdout
    file = tmp_path / "film.mp4"
    file.write_bytes(random.Random(4).randbytes(3_000_001))
    other.relay("send", file, "--on", one.name)
    assert (one.data / "received/film.mp4").read_bytes() == file.read_bytes()
    # And the way by the server comes back beside it.
    for space in spaces:
        space.reach_server()
    wait_until(lambda: is_connected(one) and is_connected(other), "both are connected", 60)
    assert one.reach() == other.reach() == "direct"
    cut(spaces[0])
    assert "pong" in one.relay("call", "ping", "--on", other.name).stdout
    assert one.reach() == "relay"


def test_an_announcement_tells_nothing_of_person_account_and_machine(spaces, devices):
    one, other = devices
    one.reaches("direct")
    addresses = [space.address for space in spaces]

    def announced():
        """Where avahi tells an address of the link first, it is asked again."""
        lines = spaces[0].both() or []
        return all(line[7] in addresses for line in lines) and lines

    found = wait_until(announced, "both are announced", 40)
    for line in found:
        host, address, port, text = line[6:10]
        assert re.fullmatch(r"[0-9a-f]{16}", line[3]) and host == f"{line[3]}.local"
        assert address in addresses and int(port) > 1024
        assert re.fullmatch(r'"t=[0-9a-f]{32}" "s=[0-9a-f]{32}" "v=1"|"v=1" "s=[0-9a-f]{32}" "t=[0-9a-f]{32}"', text)
        whole = ";".join(line)
        for word in (one.name, other.name, one.id, other.id, "marta", socket.gethostname(), "machine-"):
            assert word not in whole
    # The next announcement of the same device has nothing in common with this one. The other may announce anew meanwhile.
    address = spaces[1].address
    before = next(line for line in found if line[7] == address)
    other.stop_process()
    other.start()
    one.reaches("direct")
    after = wait_until(
        lambda: next((line for line in announced() or [] if line[7] == address and line[3] != before[3]), None),
        "it is announced again", 40)
    assert not set(before[9].split()) & set(after[9].split()) - {'"v=1"'}


def test_when_the_network_breaks_the_server_takes_over_within_a_second(up, spaces, devices, tmp_path):
    one, other = devices
    one.reaches("direct")
    other.reaches("direct")
    service, caller = other.app(), one.app()
    service.publish({"echo": "sameUser"})
    wait_until(lambda: "echo" in one.relay("devices").stdout, "the service is listed")
    seen, answered, longest = [], [], [0.0]
    ending = threading.Event()

    def serve():
        while not ending.is_set():
            try:
                service.serve(lambda question: seen.append(question.message["n"]) or question.message, 1)
            except Exception:
                return

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    target = other.id

    def ask(count):
        for _ in range(count):
            number = len(answered)
            start = time.monotonic()
            assert caller.call(target, APP, "echo", {"n": number}) == {"n": number}
            longest[0] = max(longest[0], time.monotonic() - start)
            answered.append(number)

    ask(200)
    before = forwarded(up)
    ask(50)
    assert forwarded(up) == before
    longest[0] = 0
    cutting = threading.Timer(0.05, cut, [spaces[0]])
    cutting.start()
    while cutting.is_alive() or forwarded(up) == before:
        ask(20)
    ask(50)
    print(f"longest answer over the break: {longest[0] * 1000:.0f} ms")
    assert longest[0] < 1
    assert seen == answered
    assert one.reach() == "relay"
    # It comes back, also in the middle of a file.
    mend(spaces[0])
    one.reaches("direct", 90)
    file = tmp_path / "film.mp4"
    file.write_bytes(random.Random(2).randbytes(64 << 20))
    sending = threading.Thread(target=lambda: one.relay("send", file, "--on", other.name, seconds=120))
    sending.start()
    received = other.data / "received"
    wait_until(lambda: any(part.stat().st_size > 4 << 20 for part in received.glob(".aldaba-*.part")), "a part is there")
    cut(spaces[1])
    sending.join(120)
    taken = (received / "film.mp4").read_bytes()
    assert hashlib.sha256(taken).digest() == hashlib.sha256(file.read_bytes()).digest()
    ending.set()
    caller.end()
    service.end()


def test_who_repeats_an_announcement_gets_nothing(spaces, devices):
    one, other = devices
    one.reaches("direct")
    lines = wait_until(spaces[0].both, "both are announced", 40)
    # A stranger in the second device's place announces with the texts of both, and listens.
    strangers = []

    def enter():
        with open(f"/run/netns/{spaces[1].name}") as space:
            assert ctypes.CDLL(None).setns(space.fileno(), CLONE_NEWNET) == 0
        strangers.append(socket.create_server((spaces[1].address, 0)))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    stranger = strangers[0]
    heard = []

    def listen():
        while True:
            try:
                connection, _ = stranger.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(4096))
                connection.sendall(b"\0\0\0\x30" + bytes(48))

    threading.Thread(target=listen, daemon=True).start()
    for number, line in enumerate(lines):
        spaces[1].bus.start(
            "avahi-publish", "-s", f"stranger{number}", TYPE, str(stranger.getsockname()[1]),
            *re.findall(r'"([^"]*)"', line[9]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    spaces[1].bus.start(
        "avahi-publish", "-s", "junk", TYPE, "9", "v=1", "s=zz", "t=", "x" * 200, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    wait_until(lambda: len(spaces[0].browse()) == 5, "the strangers are announced", 40)
    dialler = min(devices, key=lambda device: device.id)
    listener = max(devices, key=lambda device: device.id)
    listener.stop_process()
    wait_until(lambda: heard, "the stranger is dialled", 60)
    assert all(dialler.id.encode() not in first and b"marta" not in first for first in heard)
    listener.start()
    wait_until(
        lambda: "pong" in dialler.relay("call", "ping", "--on", listener.name, check=False).stdout, "the two talk")
    stranger.close()


def test_without_the_setting_nothing_listens_and_nothing_is_announced(up, spaces):
    account = f"aldaba-account-{os.urandom(32).hex()}"
    devices = [Device(up, name, account, space, lan="false") for name, space in zip(("a", "b"), spaces)]
    try:
        for device in devices:
            device.start()
        devices[0].reaches("relay")
        assert "pong" in devices[0].relay("call", "ping", "--on", "b").stdout
        assert spaces[0].browse(must_end=True) == []
        listening = subprocess.run(
            [*spaces[0].prefix, "cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True, check=True).stdout
        # 0A is LISTEN; the forwarders listen on 127.0.0.1 only.
        assert [line for line in listening.splitlines() if " 0A " in line and "0100007F" not in line] == []
    finally:
        for device in devices:
            device.stop()
