"""Several servers on one PostgreSQL database, with NATS between them: any of them takes any push and any device."""

import json
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest
import requests
from h2.exceptions import ProtocolError

from aldaba_process import BINARY, clean_environment
from mcs_client import Closed, Device, Identity
from nats_server import PROGRAM, NATSServer
from own_server import TEAM, TOPIC, OwnServer
from postgres_server import PROGRAMS, PostgresServer
from waiting import kill, wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")


def metric(server, name, **labels):
    """A metric of a server; 0 where it does not tell it yet."""
    with urllib.request.urlopen(f"{server.ready['metrics']}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(
        float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
        if line.startswith((f"{name} ", f"{name}{{")) and all(label in line for label in wanted))


class Nodes:
    """Servers on a database, the first of which has the test's app and key."""

    def __init__(self, folder, name, count, *flags):
        self.database = PostgresServer().start()
        self.nats = NATSServer().start()
        self.servers = []
        for number in range(count):
            server = OwnServer(
                folder / str(number), f"{name}_{number}", "--postgres", self.database.url, "--nats", self.nats.url, *flags)
            self.servers.append(server.start())
        self.servers[0].add_app()
        self.key = self.servers[0].key()
        wait_until(self.know_each_other, "the nodes know each other")

    def know_each_other(self):
        return all(metric(server, "aldaba_nodes") == len(self.servers) for server in self.servers)

    def provider(self, node):
        return self.servers[node].provider(self.key)

    def enrol(self, node):
        control = self.servers[node].control(self.key)
        device = control.enrol()
        return device, control.token(device, TOPIC, TEAM, "production")

    def connected(self, node, device, received=()):
        server = self.servers[node]
        channel = Device(server.ready["mcs"], server.ready["ca"])
        channel.login(Identity(*device), received)
        return channel

    def kill(self, number):
        process = self.servers[number].process
        kill(process.pid)
        process.wait(10)

    def start(self, number):
        self.servers[number].start()
        wait_until(self.know_each_other, "the nodes know each other")

    @contextmanager
    def standing_still(self, number):
        process = self.servers[number].process
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    @contextmanager
    def locked(self, table):
        """Lets nobody write to a table of the database."""
        command = [str(PROGRAMS / "psql"), "-XAtq", self.database.url]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as psql:
            psql.stdin.write(f"BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE;\n\\echo locked\n")
            psql.stdin.flush()
            assert psql.stdout.readline() == "locked\n"
            yield
            psql.stdin.close()

    def end(self):
        for server in self.servers:
            server.stop()
        self.nats.remove()
        self.database.remove()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = Nodes(tmp_path_factory.mktemp("nodes"), "test_nodes", 2)
    yield made
    made.end()


def test_a_push_at_one_server_reaches_a_device_at_the_other(nodes):
    device, token = nodes.enrol(1)
    provider = nodes.provider(0)
    with nodes.connected(1, device) as channel:
        for number in range(5):
            # Of the first, the other server may not know yet that the key was made.
            wait_until(lambda: provider.post(token, {"aps": {"alert": str(number)}}).status == 200, "the push is accepted")
            got = channel.notification()
            channel.acknowledge_selectively([got.persistent_id])
    provider.close()


def accept(provider, token, text, **headers):
    """A push that must be accepted; its id."""
    answer = provider.post(token, {"aps": {"alert": text}}, **headers)
    assert answer.status == 200, answer.reason
    return answer.apns_id


def alert(notification):
    return json.loads(notification.payload)["aps"]["alert"]


@pytest.fixture
def providers(nodes):
    made = [nodes.provider(0), nodes.provider(1)]
    device, token = nodes.enrol(0)
    for provider in made:
        wait_until(lambda: provider.post(token, {"aps": {"alert": "x"}}).status == 200, "both know the key")
    yield made
    for provider in made:
        provider.close()


def test_a_live_view_at_one_server_shows_what_another_accepts(nodes, providers):
    _, token = nodes.enrol(1)
    server = nodes.servers[0]
    told = metric(server, "aldaba_node_messages_total", outcome="received")
    with requests.get(
            server.ready["control"] + "/v1/notifications/events", stream=True, timeout=20, verify=server.ready["ca"],
            headers={"Accept": "text/event-stream", "Authorization": f"bearer {nodes.key.token()}"}) as view:
        assert view.status_code == 200, view.text
        lines = view.iter_lines(chunk_size=1, decode_unicode=True)
        assert next(lines) == "retry: 2000"
        wait_until(lambda: metric(server, "aldaba_node_messages_total", outcome="received") > told,
                   "the other server knows that somebody looks")
        accepted = accept(providers[1], token, "shown live")
        shown = next(line for line in lines if line.startswith("data: "))
        assert json.loads(shown.removeprefix("data: "))["apnsId"] == accepted


def test_any_server_takes_any_push_and_the_order_of_each_device_is_kept(nodes, providers):
    devices = [nodes.enrol(number % 2) for number in range(4)]
    channels = [nodes.connected(1 - number % 2, device) for number, (device, _) in enumerate(devices)]
    for number in range(40):
        accept(providers[number % 2], devices[number % 4][1], str(number))
    for number, channel in enumerate(channels):
        with channel:
            got = channel.notifications(10)
            assert [alert(each) for each in got] == [str(each) for each in range(number, 40, 4)]
            channel.acknowledge_selectively([each.persistent_id for each in got])
            assert channel.nothing_more() == []
    wait_until(lambda: nodes.database.query("SELECT count(*) FROM pending JOIN device ON device.id = pending.device "
                                            f"WHERE device.id IN ({', '.join(str(d[0][0]) for d in devices)})") == "0",
               "nothing is queued")


def test_a_push_that_is_never_stored_reaches_a_device_at_the_other_server(nodes, providers):
    device, token = nodes.enrol(0)
    missed = accept(providers[0], token, "missed", **{"apns-expiration": "0"})
    with nodes.connected(1, device) as channel:
        control = nodes.servers[0].control(nodes.key)
        tried = []

        def arrived():
            """Sends again until the first server knows where the device is."""
            tried.append(accept(providers[0], token, "now", **{"apns-expiration": "0"}))
            wait_until(lambda: len(control.states(tried[-1])) > 1, "the push was sent or dropped")
            return control.states(tried[-1])[1] == "sent"

        wait_until(arrived, "a push is sent to the device")
        sent = tried[-1]
        got = channel.notification()
        assert alert(got) == "now"
        channel.acknowledge_selectively([got.persistent_id])
        wait_until(lambda: control.states(sent) == ["accepted", "sent", "acked"], "the timeline says so")
        wait_until(lambda: control.states(missed) == ["accepted", "dropped(offline)"], "so does that of the other")


def test_the_newest_connection_of_a_device_is_the_one(nodes, providers):
    device, token = nodes.enrol(0)
    with nodes.connected(0, device) as first, nodes.connected(1, device) as second:
        first.closed_by_server()
        accept(providers[0], token, "for the second")
        assert alert(second.notification()) == "for the second"
        with nodes.connected(0, device) as third:
            assert alert(third.notification()) == "for the second", "it was not acknowledged"
            second.closed_by_server()


def test_the_late_end_of_an_older_connection_leaves_the_newest_one(nodes, providers):
    device, token = nodes.enrol(0)
    late = nodes.servers[0]
    connections = metric(late, "aldaba_sessions")
    with nodes.connected(0, device):
        wait_until(lambda: metric(late, "aldaba_sessions") == connections + 1, "the device is connected")
        late.process.send_signal(signal.SIGSTOP)
    try:
        second = nodes.connected(1, device)
    finally:
        late.process.send_signal(signal.SIGCONT)
    with second:
        wait_until(lambda: metric(late, "aldaba_sessions") == connections, "the older connection has ended")
        # The server takes it after the end of the connection.
        accept(providers[0], token, "for the newest")
        assert alert(second.notification()) == "for the newest"


def test_a_revoked_key_and_device_count_at_both_servers(nodes):
    team, topic = "LATERTEAM1", "com.example.later"
    first = nodes.servers[0]
    first.add_app(topic, team)
    key = first.add_key(team)
    sender = nodes.servers[1].provider(key, topic)
    control = first.control(key)
    device = control.enrol()
    token = control.token(device, topic, team, "production")
    wait_until(lambda: sender.post(token, {"aps": {"alert": "x"}}).status == 200, "the other server knows the key")
    with nodes.connected(1, device) as channel:
        first.aldaba("device", "revoke", str(device[0]))
        channel.closed_by_server(5)
    told = first.aldaba("key", "revoke", key.key_id)
    assert "the change counts at all 2 servers" in told.stderr
    wait_until(lambda: sender.post(token, {"aps": {"alert": "x"}}).status == 403, "the key is revoked there", 2)
    sender.close()


def test_cluster_status_shows_each_server(nodes):
    device, _ = nodes.enrol(0)
    with nodes.connected(1, device):
        def shown():
            return json.loads(nodes.servers[0].aldaba("cluster", "status", "--json").stdout)

        wait_until(lambda: shown()[1]["devices"] == 1, "the device is at the second server")
        assert [each["state"] for each in shown()[:2]] == ["running", "running"]
        text = nodes.servers[1].aldaba("cluster", "status").stdout
        assert "server 1  runs" in text and "1 devices  NATS connected  register current" in text


def test_without_nats_nothing_is_lost_and_all_is_late_by_a_moment(nodes, providers):
    device, token = nodes.enrol(0)
    with nodes.connected(1, device) as channel:
        accept(providers[0], token, "direct")
        assert alert(channel.notification()) == "direct"
        nodes.nats.kill()
        try:
            began = time.monotonic()
            for number in range(20):
                accept(providers[0], token, str(number))
            got = channel.notifications(20, timeout=10)
            took = time.monotonic() - began
            assert [alert(each) for each in got] == [str(number) for number in range(20)]
            assert took < 8, f"they took {took} s"
            assert metric(nodes.servers[0], "aldaba_missed_wakeups_total") > 0
        finally:
            nodes.nats.start()
        wait_until(lambda: all(metric(server, "aldaba_carrier_connected") == 1 for server in nodes.servers), "both are back")
        before = metric(nodes.servers[0], "aldaba_node_messages_total", outcome="received")
        accept(providers[0], token, "direct again")
        assert alert(channel.notification()) == "direct again"
        wait_until(
            lambda: metric(nodes.servers[0], "aldaba_node_messages_total", outcome="received") > before, "by NATS")


def test_a_server_that_dies_takes_nothing_with_it(nodes, providers):
    device, token = nodes.enrol(0)
    first, second = nodes.servers
    with nodes.connected(1, device) as channel:
        accept(providers[0], token, "before")
        assert alert(channel.notification()) == "before"
        kill(second.process.pid)
        second.process.wait(10)
        accept(providers[0], token, "while it was dead")
    with nodes.connected(0, device) as channel:
        assert [alert(each) for each in channel.notifications(2)] == ["before", "while it was dead"]
        wait_until(lambda: metric(first, "aldaba_nodes") == 1, "the other one is known to be dead")
        accept(providers[0], token, "live")
        assert alert(channel.notification()) == "live"
        second.start()
        wait_until(nodes.know_each_other, "the nodes know each other")
        provider = nodes.provider(1)
        accept(provider, token, "from the new one")
        assert alert(channel.notification()) == "from the new one"
        provider.close()


def test_a_server_with_other_keys_or_without_a_database_is_refused(nodes, tmp_path):
    def refusal(folder, *arguments):
        done = subprocess.run(
            [str(BINARY), "serve", "--data", str(folder), *map(str, arguments)], env=clean_environment(),
            capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 3, done.stderr
        return done.stderr

    (other := tmp_path / "other").mkdir(mode=0o700)
    (other / "token.key").write_text("ab" * 32 + "\n")
    (other / "token.key").chmod(0o600)
    database = ("--postgres", nodes.database.url)
    assert "are not those of the other servers" in refusal(other, *database, "--nats", nodes.nats.url)
    assert "set postgres too" in refusal(tmp_path / "none", "--nats", nodes.nats.url)
    assert "write nats://HOST:4222" in refusal(tmp_path / "none", *database, "--nats", "localhost")


def test_serve_check_says_what_is_wrong_with_nats(nodes, tmp_path):
    def check(url):
        return subprocess.run(
            [str(BINARY), "serve", "--check", "--data", str(tmp_path / "none"), "--postgres", nodes.database.url, "--nats", url],
            env=clean_environment(), capture_output=True, text=True, timeout=60, check=False)

    assert check(nodes.nats.url).returncode == 0
    done = check("nats://127.0.0.1:1")
    assert done.returncode == 3 and "the NATS server 127.0.0.1:1 cannot be used" in done.stderr
    guarded = NATSServer("--user", "ana", "--pass", "secret").start()
    try:
        assert "Authorization Violation" in check(guarded.url).stderr
        assert check(guarded.url.replace("//", "//ana:secret@")).returncode == 0
    finally:
        guarded.remove()


def test_nats_over_tls_with_a_user(nodes, tmp_path):
    """The certificate is that of the test's servers, which names localhost; the authority is the test's."""
    certificates = nodes.servers[0].certificates
    nats = NATSServer(
        "--tls", "--tlscert", certificates.server, "--tlskey", certificates.key, "--user", "ana", "--pass", "secret",
        credentials="ana:secret@", scheme="tls", query=f"?ca={certificates.ca}").start()
    nodes.database.query("CREATE DATABASE tls")
    database = nodes.database.url.replace("/postgres?", "/tls?")
    servers = [
        OwnServer(tmp_path / str(number), f"test_nodes_tls_{number}", "--postgres", database, "--nats", nats.url)
        for number in range(2)]
    try:
        with servers[0], servers[1]:
            servers[0].add_app()
            wait_until(lambda: all(metric(server, "aldaba_carrier_connected") == 1 for server in servers), "both are connected")
            wait_until(lambda: metric(servers[0], "aldaba_nodes") == 2, "they know each other")
            control = servers[0].control()
            device = control.enrol()
            token = control.token(device, TOPIC, TEAM, "production")
            provider = servers[0].provider()
            channel = Device(servers[1].ready["mcs"], servers[1].ready["ca"])
            channel.login(Identity(*device))
            with channel:
                accept(provider, token, "sealed and encrypted")
                assert alert(channel.notification()) == "sealed and encrypted"
            provider.close()
            assert "secret" not in "".join(server.log.read_text() for server in servers)
    finally:
        nats.remove()


def test_servers_are_restarted_one_after_the_other_under_load(nodes, providers):
    """As for an update: nothing that was accepted is lost, and no request is refused but by the server that ends."""
    device, token = nodes.enrol(0)
    accepted, faults = [], []
    stop = threading.Event()

    def send(node):
        sender = nodes.provider(node)
        number = 0
        while not stop.is_set():
            text = f"{node}-{number}"
            try:
                answer = sender.post(token, {"aps": {"alert": text}})
                if answer.status == 200:
                    accepted.append(text)
                else:
                    faults.append(answer.status)
            except (OSError, ConnectionError, ProtocolError):
                # The server ended: a load balancer would take another one.
                sender.close()
                if stop.wait(0.1):
                    return
                sender = nodes.provider(node)
            number += 1
            # No more than a mailbox takes.
            stop.wait(0.02)
        sender.close()

    threads = [threading.Thread(target=send, args=(node,)) for node in (0, 1)]
    for thread in threads:
        thread.start()
    got = []

    def receive(node, until):
        """Reads at a server until something has happened, as a device whose connection may end."""
        while not until():
            with nodes.connected(node, device) as channel:
                try:
                    while not until():
                        one = channel.notification(timeout=0.5)
                        got.append(alert(one))
                        channel.acknowledge_selectively([one.persistent_id])
                except (TimeoutError, Closed):
                    # After some hundred notifications a session of another maker's client ends.
                    continue

    try:
        for node, server in enumerate(nodes.servers):
            count = len(got)
            receive(1 - node, lambda: len(got) >= count + 20)
            server.stop()
            count = len(got)
            receive(1 - node, lambda: len(got) >= count + 20)
            server.start()
            wait_until(nodes.know_each_other, "the nodes know each other")
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
    deadline = time.monotonic() + 30
    receive(0, lambda: set(accepted) <= set(got) or time.monotonic() > deadline)
    assert set(accepted) <= set(got), f"{sorted(set(accepted) - set(got))} are lost of {len(accepted)}"
    assert not [status for status in faults if status != 503], faults
    assert len(accepted) > 80


def test_a_message_that_somebody_repeats_is_not_used_again(nodes, providers):
    """Another client of the NATS server, which may use the servers' subjects, repeats what it has seen as it was."""
    device, token = nodes.enrol(1)
    late = "aldaba_node_messages_late_total"
    with nodes.connected(1, device) as channel, socket.create_connection(("127.0.0.1", nodes.nats.port), 10) as other:
        reader = other.makefile("rb")
        assert reader.readline().startswith(b"INFO ")
        other.sendall(b'CONNECT {"verbose":false}\r\nSUB aldaba.> 1\r\nPING\r\n')
        while reader.readline() != b"PONG\r\n":
            pass
        accept(providers[0], token, "once", apns_expiration="0")
        got = channel.notification()
        assert alert(got) == "once"
        other.sendall(b"PING\r\n")
        sent = []
        while (line := reader.readline()) != b"PONG\r\n":
            words = line.split()
            if words[:1] == [b"MSG"]:
                payload = reader.read(int(words[-1]) + 2)
                # Answers are not answered.
                sent += [b"PUB %s %s %s\r\n%s" % (words[1], words[3], words[4], payload)] if len(words) == 5 else []
        assert sent
        before = sum(metric(server, late) for server in nodes.servers)
        other.sendall(b"".join(sent))
        wait_until(lambda: sum(metric(server, late) for server in nodes.servers) == before + len(sent),
                   "the repetitions are recognized")
        accept(providers[0], token, "next", apns_expiration="0")
        assert alert(channel.notification()) == "next", "the repeated message was delivered"
