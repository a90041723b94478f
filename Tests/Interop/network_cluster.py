"""Hosts of a test's own in network namespaces behind one switch, and a cluster's servers and NATS on them.

Root alone can make them. What a host runs ends with the network.
"""

import contextlib
import os
import signal
import subprocess

import pytest

from aldaba_process import BINARY, clean_environment
from certificates import Certificates
from mcs_client import Closed, Device, Identity
from nats_server import PROGRAM as NATS
from own_server import TEAM, TOPIC, OwnServer
from provider import Provider
from secured_control import SecuredControl
from time_machine import FAKETIME
from waiting import kill, wait_for_end

# An address of a network card that no host has: what is sent there arrives nowhere, and nobody is told.
NOWHERE = "02:00:00:00:00:fe"
# Ends what a network has, once nobody holds its input: also when the test was killed.
END = """cat
for host in $(ip netns list | sed -n "s/^\\($1-[a-z0-9]*\\).*/\\1/p"); do
    while pids=$(ip netns pids "$host") && [ -n "$pids" ]; do kill -9 $pids; sleep 0.05; done
    ip netns del "$host"
done"""


def run(*command, seconds=30):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds, check=True).stdout


class Host:
    """A network namespace with one network card, which is plugged into the switch."""

    def __init__(self, network, name, number):
        self.network, self.name = network, name
        self.namespace = f"{network.prefix}-{name}"
        self.address = network.address(number)
        self.port = f"p{number}"
        self.prefix = ["ip", "netns", "exec", self.namespace]
        self.processes = []

    def start(self, command, log, **options):
        """Starts a program on the host; `ip` and what else comes before it gives way to it."""
        with open(log, "ab") as output:
            options = {"stdout": output, "stderr": output, "stdin": subprocess.DEVNULL} | options
            self.processes.append(subprocess.Popen([*self.prefix, *map(str, command)], **options))
        return self.processes[-1]

    def pids(self):
        return [int(pid) for pid in run("ip", "netns", "pids", self.namespace).split()]

    def signal(self, number):
        """Sends a signal to all processes of the host, until those that begin meanwhile have it too."""
        told = set()
        while left := set(self.pids()) - told:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
                told.add(pid)

    def kill(self):
        """Ends all processes of the host, as the loss of its power does."""
        while pids := self.pids():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in self.processes:
                process.poll()
            for pid in pids:
                assert wait_for_end(pid), f"process {pid} outlived SIGKILL"
        self.reap()

    def reap(self):
        """Forgets the processes, which have ended."""
        for process in self.processes:
            process.wait(10)
            if process.stdout:
                process.stdout.close()
        self.processes = []


class Network:
    """A switch, the hosts at it, and a network card of the test's own, by which this process reaches them."""

    def __init__(self):
        self.prefix = f"aldaba{os.getpid()}"
        self._switch, self._card = f"{self.prefix}-switch", f"ald{os.getpid()}"
        self.hosts = []
        self._cuts = set()
        # Docker and the like take other ranges.
        taken = run("ip", "-4", "route", "show")
        self._net = next(
            net for net in (f"10.213.{(os.getpid() + step) % 256}" for step in range(256)) if f"{net}." not in taken)
        try:
            run("ip", "netns", "add", self._switch)
        except subprocess.CalledProcessError as refused:
            pytest.skip(f"network namespaces cannot be made here: {refused.stderr.strip()}")
        self._end = subprocess.Popen(
            ["sh", "-c", END, "sh", self.prefix], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self._in_switch("ip", "link", "add", "switch", "type", "bridge")
            self._in_switch("ip", "link", "set", "switch", "up")
            run("ip", "link", "add", self._card, "type", "veth", "peer", "name", "test", "netns", self._switch)
            self._in_switch("ip", "link", "set", "test", "master", "switch", "up")
            run("ip", "address", "add", f"{self.address(1)}/24", "dev", self._card)
            run("ip", "link", "set", self._card, "up")
        except BaseException:
            self.end()
            raise

    def address(self, number):
        return f"{self._net}.{number}"

    @property
    def range(self):
        return f"{self._net}.0/24"

    def add(self, name):
        host = Host(self, name, len(self.hosts) + 2)
        run("ip", "netns", "add", host.namespace)
        self.hosts.append(host)
        self._in_switch("ip", "link", "add", host.port, "type", "veth", "peer", "name", "eth0", "netns", host.namespace)
        self._in_switch("ip", "link", "set", host.port, "master", "switch", "up")
        run(*host.prefix, "ip", "link", "set", "lo", "up")
        run(*host.prefix, "ip", "address", "add", f"{host.address}/24", "dev", "eth0")
        run(*host.prefix, "ip", "link", "set", "eth0", "up")
        return host

    def plug(self, host, is_in):
        """Pulls a host's cable out, or plugs it in again."""
        self._in_switch("ip", "link", "set", host.port, "up" if is_in else "down")

    def cut(self, sender, receiver):
        """Loses what the one sends to the other, on connections that exist as well; what comes back arrives.

        A route that goes nowhere would tell the sender, which no network does.
        """
        run(*sender.prefix, "ip", "neigh", "replace", receiver.address, "lladdr", NOWHERE, "nud", "permanent",
            "dev", "eth0")
        self._cuts.add((sender, receiver))

    def cut_both(self, one, other):
        self.cut(one, other)
        self.cut(other, one)

    def heal(self):
        for sender, receiver in self._cuts:
            run(*sender.prefix, "ip", "neigh", "del", receiver.address, "dev", "eth0")
        self._cuts = set()

    def end(self):
        """Ends everything. The card goes with the switch."""
        self._end.stdin.close()
        self._end.wait(60)
        for host in self.hosts:
            host.reap()

    def _in_switch(self, *command):
        run("ip", "netns", "exec", self._switch, *command)


def make_certificate(folder, addresses):
    """A certificate for addresses, which is its own authority."""
    folder.mkdir(mode=0o700, parents=True)
    made = Certificates(folder / "server.pem", folder / "server.pem", folder / "server-key.pem")
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=cluster", "-keyout", made.key, "-out", made.server,
        "-addext", f"subjectAltName={','.join(f'IP:{address}' for address in addresses)}",
        "-addext", "keyUsage=critical,digitalSignature,keyCertSign", "-addext", "extendedKeyUsage=serverAuth")
    made.key.chmod(0o600)
    return made


class HostedServer(OwnServer):
    """A server on a host, with the ports of production, and with a clock that can be set."""

    def __init__(self, host, folder, name, certificates, *flags):
        super().__init__(folder, name, *flags)
        self.host, self.certificates = host, certificates
        self._clock = folder / "clock"
        self.set_clock(0)

    def set_clock(self, seconds):
        """Sets the clock to so many seconds after this machine's; what counts since the system's start goes on."""
        draft = self._clock.with_suffix(".new")
        draft.write_text(f"{seconds:+d}\n")
        draft.rename(self._clock)

    def start(self):
        environment = clean_environment(
            ALDABA_ENROLMENT_KEY=self.enrolment_key, LD_PRELOAD=FAKETIME, FAKETIME_CACHE_DURATION="1",
            FAKETIME_DISABLE_SHM="1", FAKETIME_DONT_FAKE_MONOTONIC="1", FAKETIME_TIMESTAMP_FILE=str(self._clock))
        # `env` is the first program that has libfaketime, which moves the environment of that one.
        self.process = self.host.start(
            ["/usr/bin/env", BINARY, "serve", "--report-ready", "--data", self.data, "--log-level", self._log_level,
             "--certificate", self.certificates.server, "--certificate-key", self.certificates.key,
             "--host", self.host.address, "--metrics-host", self.host.address, *self._flags],
            self.log, env=environment, stdout=subprocess.PIPE, start_new_session=True)
        self._read_addresses()
        self.ready["metrics"] = f"http://{self.host.address}:{self.addresses['metricsPort']}"
        return self


class HostedNATS:
    """A NATS server on a host."""

    def __init__(self, host, folder):
        self.host, self._log = host, folder / "nats.log"
        self.url = f"nats://{host.address}:4222"

    def start(self):
        self.process = self.host.start([NATS, "-a", self.host.address, "-p", 4222], self._log)
        return self

    def kill(self):
        kill(self.process.pid)
        self.process.wait(10)


class Cluster:
    """Three servers on hosts of their own, a database of several hosts, and NATS; the first has the app and the key."""

    def __init__(self, folder, name, network, database, seconds=3):
        self.network, self.database, self.seconds = network, database, seconds
        self.nats = HostedNATS(network.add("nats"), folder).start()
        hosts = [network.add(f"server{number}") for number in range(3)]
        certificates = make_certificate(folder / "certificates", [host.address for host in hosts])
        self.servers = [
            HostedServer(host, folder / host.name, f"{name}_{number}", certificates,
                         "--postgres", database.url, "--nats", self.nats.url)
            for number, host in enumerate(hosts)]
        for server in self.servers:
            server.start()
        self.servers[0].add_app()
        self.key = self.servers[0].key()

    def revive(self):
        """Starts the servers that have ended by themselves; returns what became of them."""
        ended = [server for server in self.servers if server.process.poll() is not None]
        told = [f"{server.host.name} ended with {server.process.returncode}" for server in ended]
        for server in ended:
            server.start()
        return told

    def provider(self, node):
        return Provider(self.servers[node].ready, self.key, TOPIC)

    def enrol(self, node):
        ready = self.servers[node].ready
        control = SecuredControl(
            ready["control"], ready["ca"], enrolment_key=self.servers[node].enrolment_key, provider_key=self.key)
        device = control.enrol()
        return device, control.token(device, TOPIC, TEAM, "production")

    def connected(self, node, device, received=()):
        ready = self.servers[node].ready
        channel = Device(ready["mcs"], ready["ca"], timeout=self.seconds)
        try:
            channel.login(Identity(*device), received)
        except AssertionError as refused:
            channel.cut()
            raise Closed(str(refused)) from None
        return channel
