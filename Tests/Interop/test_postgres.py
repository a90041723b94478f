"""A server whose notifications and register are in PostgreSQL: the same promises, and what happens without it."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter

import pytest

from aldaba_process import BINARY, clean_environment
from mcs_client import Device, Identity
from own_server import TEAM, TOPIC, OwnServer
from pages import blocks
from postgres_server import PROGRAMS, PostgresServer
from waiting import kill, wait_until

pytestmark = pytest.mark.skipif(PROGRAMS is None, reason="Debian's postgresql is not installed")


@pytest.fixture(scope="module")
def database():
    server = PostgresServer().start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def server(database, tmp_path_factory):
    # Its commands find the database by the data folder.
    with OwnServer(tmp_path_factory.mktemp("postgres"), "test_postgres", "--postgres", database.url) as running:
        running.add_app()
        yield running


@pytest.fixture
def provider(server):
    sender = server.provider()
    yield sender
    sender.close()


def enrol(server):
    device = server.control().enrol()
    return device, server.control().token(device, TOPIC, TEAM, "production")


def connected(server, device):
    channel = Device(server.ready["mcs"], server.ready["ca"])
    channel.login(Identity(*device))
    return channel


def test_a_push_reaches_a_device_and_its_timeline_is_in_the_database(server, database, provider):
    identity, token = enrol(server)
    answer = provider.post(token, {"aps": {"alert": "queued"}})
    assert answer.status == 200, answer.reason
    assert database.query("SELECT count(*) FROM pending") == "1"
    with connected(server, identity) as device:
        got = device.notification()
        device.acknowledge_selectively([got.persistent_id])
        live = provider.post(token, {"aps": {"alert": "live"}})
        assert live.status == 200 and int(device.notification().persistent_id) > int(got.persistent_id)
        device.acknowledge_stream(device.received_count)
        control = server.control()
        for id in (answer.apns_id, live.apns_id):
            wait_until(lambda id=id: "acked" in control.states(id), "the timeline says so")
    wait_until(lambda: database.query("SELECT count(*) FROM pending") == "0", "nothing is queued")
    assert not (server.data / "server.sqlite").exists()


def test_what_was_accepted_outlives_a_sudden_end_of_the_server(server, provider):
    identity, token = enrol(server)
    ids = [provider.post(token, {"aps": {"alert": str(number)}}).apns_id for number in range(20)]
    kill(server.process.pid)
    server.process.wait(10)
    server.start()
    with connected(server, identity) as device:
        got = device.notifications(20)
        assert [each.persistent_id for each in got] == sorted({each.persistent_id for each in got}, key=int)
        device.acknowledge_selectively([each.persistent_id for each in got])
        control = server.control()
        wait_until(lambda: all("acked" in control.states(id) for id in ids), "all are acknowledged")


def test_a_command_beside_the_server_counts_at_once(server):
    team, topic = "LATERTEAM1", "com.example.later"
    server.add_app(topic, team)
    sender = server.provider(server.key(team), topic)
    try:
        control = server.control(server.key(team))
        token = control.token(control.enrol(), topic, team, "production")
        wait_until(lambda: sender.post(token, {"aps": {"alert": "x"}}).status == 200, "the key is known")
        server.aldaba("key", "revoke", server.key(team).key_id)
        wait_until(lambda: sender.post(token, {"aps": {"alert": "x"}}).status == 403, "the key is revoked", 5)
    finally:
        sender.close()


def test_doctor_looks_at_the_database(server, database):
    told = server.aldaba("doctor", check=False).stdout
    version = database.query("SHOW server_version").split()[0]
    assert f"PostgreSQL {version}" in told and "synchronous standbys: none" in told
    database.query("ALTER SYSTEM SET full_page_writes = off")
    database.query("SELECT pg_reload_conf()")
    try:
        wait_until(lambda: database.query("SHOW full_page_writes") == "off", "the setting is read")
        told = server.aldaba("doctor", check=False).stdout
        assert "PostgreSQL's full_page_writes is off" in told and "set full_page_writes to on in postgresql.conf" in told
    finally:
        database.query("ALTER SYSTEM RESET full_page_writes")
        database.query("SELECT pg_reload_conf()")


def test_serve_check_says_what_is_wrong(database, tmp_path):
    def check(url):
        return subprocess.run(
            [str(BINARY), "serve", "--check", "--data", str(tmp_path / "none"), "--postgres", url], env=clean_environment(),
            capture_output=True, text=True, timeout=60, check=False)

    done = check(database.url)
    assert done.returncode == 0 and "synchronous standbys: none" in done.stdout and "the settings can be used" in done.stdout
    done = check("postgresql://postgres@/postgres?host=/nowhere")
    assert done.returncode == 6 and "PostgreSQL cannot be used" in done.stderr and "/nowhere" in done.stderr
    unsafe = PostgresServer("fsync=off", "full_page_writes=off").start()
    try:
        done = check(unsafe.url)
        assert done.returncode == 3
        assert "fsync is off; set fsync to on" in done.stderr and "full_page_writes is off" in done.stderr
    finally:
        unsafe.remove()
    assert not (tmp_path / "none").exists(), "nothing is made"


def test_the_page_s_commands(database, tmp_path):
    serve, commands, move = blocks("postgresql.md", "sh")
    (programs := tmp_path / "bin").mkdir()
    (programs / "aldaba").symlink_to(BINARY)
    ports = {f"ALDABA_{name}_PORT": "0" for name in ("APNS", "DEVICE", "CONTROL", "HTTP", "METRICS")}
    environment = clean_environment(
        PATH=f"{programs}:{PROGRAMS}:{os.environ['PATH']}", PGHOST=str(database.folder), PGUSER="postgres", **ports)
    server = subprocess.Popen(
        ["sh", "-eux", "-c", serve], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until(lambda: (tmp_path / "data/serve.json").exists(), "the server is ready", 60)
        done = subprocess.run(
            ["sh", "-ux", "-c", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60,
            check=False)
        line, moved, _ = blocks("postgresql.md", "text")
        told = re.sub(r"PostgreSQL \S+( \(.*?\))?,", "PostgreSQL,", done.stdout)
        assert re.sub(r"PostgreSQL \S+( \(.*?\))?,", "PostgreSQL,", line.strip()) in told, done.stdout + done.stderr
        assert database.query("SELECT 1 FROM pg_database WHERE datname = 'aldaba'") == "1"
        make = "mkdir -m 700 old; aldaba app create com.example.old --team ABCDE12345 --data old; createdb moved"
        done = subprocess.run(
            ["sh", "-eux", "-c", f"{make}\n{move}"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60,
            check=False)
        last = moved.strip().splitlines()[-1].partition(" ")[2]
        assert done.returncode == 0 and last in done.stdout, done.stdout + done.stderr
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


def refused(folder, *arguments):
    done = subprocess.run(
        [str(BINARY), "serve", "--data", str(folder), *map(str, arguments)], env=clean_environment(), capture_output=True,
        text=True, timeout=60, check=False)
    assert done.returncode != 0
    return done.stderr


def test_a_second_server_on_the_database_is_refused(server, database, tmp_path):
    other = OwnServer(tmp_path, "test_postgres_second")
    assert "another server uses this database; stop it, or give all of them the setting nats" in refused(
        other.data, "--postgres", database.url, "--certificate", other.certificates.server, "--certificate-key",
        other.certificates.key)


def test_the_data_is_in_one_place(server, database, tmp_path):
    assert "is in PostgreSQL; set postgres as before" in refused(tmp_path_with_database(tmp_path, database))
    own = OwnServer(tmp_path / "own", "test_postgres_own")
    own.add_app()
    assert "move it with `aldaba migrate`" in refused(own.data, "--postgres", database.url)
    assert "copy that with pg_dump" in server.aldaba("backup", tmp_path / "copy", check=False).stderr


def tmp_path_with_database(folder, database):
    (folder / "bound").mkdir(mode=0o700)
    (folder / "bound/postgres").write_text(database.url + "\n")
    (folder / "bound/postgres").chmod(0o600)
    return folder / "bound"


def test_a_database_that_is_not_there_is_named(tmp_path):
    other = OwnServer(tmp_path, "test_postgres_nowhere")
    assert "/nowhere" in refused(
        other.data, "--postgres", "postgresql://postgres@/postgres?host=/nowhere", "--certificate",
        other.certificates.server, "--certificate-key", other.certificates.key)


def test_the_data_moves_to_postgresql_and_back(database, tmp_path):
    """What is queued reaches the device after each move, and nothing that was there is missing."""
    database.query("CREATE DATABASE moves")
    url = database.url.replace("/postgres?", "/moves?")
    server = OwnServer(tmp_path, "test_postgres_moves")
    server.add_app()
    with server:
        identity, token = enrol(server)
        sender = server.provider()
        first = sender.post(token, {"aps": {"alert": "before"}}).apns_id
        sender.close()
        assert server.aldaba("migrate", "--to-postgres", url, check=False).returncode != 0, "the server runs"
    moved = server.aldaba("migrate", "--to-postgres", url)
    assert "rows moved" in moved.stdout and "message: 1" in moved.stderr
    assert (server.data / "server.sqlite.moved").exists() and not (server.data / "server.sqlite").exists()
    audit = server.aldaba("audit", "--json").stdout
    # The setting goes with the folder.
    server._flags = ["--postgres", url]
    with server:
        sender = server.provider()
        second = sender.post(token, {"aps": {"alert": "between"}}).apns_id
        sender.close()
        with connected(server, identity) as device:
            got = device.notifications(2)
            assert [json.loads(each.payload)["aps"]["alert"] for each in got] == ["before", "between"]
            device.acknowledge_selectively([got[0].persistent_id])
            wait_until(lambda: "acked" in server.control().states(first), "it is acknowledged")
    assert "rows moved" in server.aldaba("migrate", "--to-sqlite").stdout
    assert not (server.data / "postgres").exists()
    server._flags = []
    with server:
        assert server.control().states(first)[-1] == "acked" and server.control().states(second)[-1] == "sent"
        with connected(server, identity) as device:
            [one] = device.notifications(1)
            assert json.loads(one.payload)["aps"]["alert"] == "between"
    assert set(audit.splitlines()) <= set(server.aldaba("audit", "--json").stdout.splitlines())
    for remedy in ("move it to another place first", "name an empty one"):
        refusal = server.aldaba("migrate", "--to-postgres", url, check=False)
        assert refusal.returncode == 3 and remedy in refusal.stderr
        for name in ("server.sqlite.moved", "hub.sqlite.moved", "relay.sqlite.moved"):
            (server.data / name).unlink(missing_ok=True)
    with server:
        assert server.control().states(first)[-1] == "acked", "a move that is refused changes nothing"


@pytest.mark.timeout(180)
def test_nothing_accepted_is_lost_when_postgresql_dies_under_load(tmp_path):
    database = PostgresServer("fsync=on").start()
    try:
        with OwnServer(tmp_path, "test_postgres_deaths", "--postgres", database.url) as server:
            server.add_app()
            identity, token = enrol(server)
            accepted, refusals = [], Counter()
            stop = threading.Event()

            def send():
                sender = server.provider()
                while not stop.is_set():
                    answer = sender.post(token, {"aps": {"alert": "x"}})
                    if answer.status == 200:
                        accepted.append(answer.apns_id)
                    else:
                        refusals[answer.status] += 1
                        time.sleep(0.01)
                sender.close()

            sender = threading.Thread(target=send)
            sender.start()
            try:
                for _ in range(3):
                    before = len(accepted)
                    wait_until(lambda: len(accepted) > before + 50, "the server accepts", 30)
                    database.end(signal.SIGQUIT)
                    before = refusals[503]
                    wait_until(lambda: refusals[503] > before, "the server refuses", 30)
                    database.start()
                before = len(accepted)
                wait_until(lambda: len(accepted) > before + 50, "the server accepts again", 30)
            finally:
                stop.set()
                sender.join(30)
            assert set(refusals) == {503}
            # A request whose commit was cut off may have been answered with 503 and come all the same, once.
            got, waiting, control = Counter(), set(accepted), server.control()
            with connected(server, identity) as device:
                while waiting:
                    try:
                        one = device.notification(2)
                    except TimeoutError:
                        waiting -= {id for id in waiting if "acked" in control.states(id)}
                        continue
                    got[one.persistent_id] += 1
                    device.acknowledge_selectively([one.persistent_id])
            assert max(got.values()) == 1 and len(got) >= len(accepted)
    finally:
        database.remove()
