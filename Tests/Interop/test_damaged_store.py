"""Databases that are damaged, empty or missing, and disks that take nothing: what stands still, and what is said of it."""

import json
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import requests

from aldaba_process import run_aldaba
from control_client import ControlClient
from log_lines import Log
from own_server import TEAM, TOPIC, OwnServer
from small_disk import SmallDisk

PAGE = 4096
SYSTEMS = ("hub", "relay")
# A table of each database whose first page is a leaf.
TABLES = {"server": "app", "hub": "hub", "relay": "relay_letter_sum"}


def flipped(good, place):
    return good[:place] + bytes([good[place] ^ 0x08]) + good[place + 1:]


def page_of(path, table):
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
        (page,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    return (page - 1) * PAGE


# What becomes of a file, by its bytes and its table of which a byte differs; `None` is no file.
DAMAGES = {
    "header": lambda path, good, table: flipped(good, 29),
    "schema": lambda path, good, table: flipped(good, good.index(b"CREATE TABLE " + table.encode()) + 15),
    "leaf": lambda path, good, table: flipped(good, page_of(path, table)),
    "cut": lambda path, good, table: good[: len(good) // 2 // PAGE * PAGE],
    "something else": lambda path, good, table: b"x" * len(good),
    "empty": lambda path, good, table: b"",
    "missing": lambda path, good, table: None,
}
WORDS = {"empty": "is empty", "missing": "is missing"}


def put(path, data):
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    if data is not None:
        path.write_bytes(data)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = OwnServer(tmp_path_factory.mktemp("damaged"), "damaged_store")
    server.add_app()
    server.start()
    server.aldaba("hub", "create", "todo", "--app", TOPIC)
    server.device = server.control().enrol()
    server.token = server.control().token(server.device, TOPIC, TEAM, "production")
    server.stop()
    return server


def push(server):
    with closing(server.provider()) as provider:
        answer = provider.post(server.token, {"aps": {"alert": "Milk"}})
    assert answer.status == 200, answer
    return answer.apns_id


def told(server, path):
    status, body = ControlClient(server.ready["metrics"]).request("GET", path)
    return status, json.loads(body)


def usable(server):
    _, body = ControlClient(server.ready["metrics"]).request("GET", "/metrics")
    return dict(re.findall(r'aldaba_database_usable{database="(\w+)"} (\d)', body.decode()))


def doctor(server):
    return run_aldaba("doctor", "--data", server.data, check=False)


def hub_requests(server):
    """What the interfaces of the hub answer: our own, Azure's, the backend's; status, type and text of each."""
    root = server.ready["control"]
    asked = [("GET", "/v1/hubs/todo", {"authorization": f"bearer {server.key().token()}"}),
             ("GET", "/todo/installations/x", {}), ("POST", "/todo/installations/x", {}),
             ("POST", "/api/notifications/requests", {"apikey": "a"})]
    answers = [requests.request(method, root + path, headers=headers, timeout=20, verify=server.ready["ca"])
               for method, path, headers in asked]
    return [(answer.status_code, answer.headers["content-type"], answer.text) for answer in answers]


def assert_out_of_service(server, log, system, words):
    """Its system is out of service and nothing else."""
    status, health = told(server, "/health")
    assert (status, health["status"]) == (200, "degraded")
    (fault,) = health["systems"]
    assert (fault["system"], fault["file"]) == (system, f"{system}.sqlite") and words in fault["reason"]
    assert f"--only {system}" in fault["remedy"] and str(server.data) not in json.dumps(health)
    assert told(server, "/ready") == (200, {"status": "ready", "version": health["version"]})
    assert usable(server) == {name: str(int(name != system)) for name in TABLES}
    lines = [line for line in log.of("critical") if f"{server.data}/{system}.sqlite" in line]
    assert len(lines) == 1 and words in lines[0] and f"--only {system}" in lines[0]
    told_doctor = doctor(server)
    assert told_doctor.returncode == 1 and f"problem  the database {server.data}/{system}.sqlite {words}" in told_doctor.stdout
    if system == "hub":
        own, azure, unserved, backend = hub_requests(server)
        assert own[:2] == (503, "application/problem+json") and '"code":"outOfService"' in own[2]
        for answer in (azure, unserved):
            assert answer[:2] == (503, "application/xml; charset=utf-8") and "<Code>503</Code>" in answer[2]
        assert backend[0] == 503
        assert all(f"hub.sqlite {words}" in text for _, _, text in (own, azure, backend))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_damaged_hub_or_relay_takes_its_system_down_and_nothing_else(server, system, damage):
    path = server.data / f"{system}.sqlite"
    good = path.read_bytes()
    log = Log(server.log)
    put(path, bad := DAMAGES[damage](path, good, TABLES[system]))
    try:
        with server:
            assert_out_of_service(server, log, system, WORDS.get(damage, "is damaged"))
            pushed = [push(server) for _ in range(20)]
            states = [server.control().states(each) for each in pushed]
        assert all("stored" in each or "accepted" in each for each in states), states
        assert path.read_bytes() == bad if bad is not None else not path.exists(), "it is left as it is"
    finally:
        put(path, good)
    with server:
        assert told(server, "/health")[1]["status"] == "ok"
        assert set(usable(server).values()) == {"1"}
        if system == "hub":
            assert hub_requests(server)[0][0] == 200


def test_damage_that_a_running_server_meets_takes_the_hubs_down_alone(server):
    path, log = server.data / "hub.sqlite", Log(server.log)
    good = path.read_bytes()
    try:
        with server:
            assert hub_requests(server)[0][0] == 200
            # Only a request for one installation reads this index: no page of it is in the server's memory yet.
            with open(path, "r+b") as file:
                file.seek(page_of(path, "installation_id"))
                file.write(b"\0")
            answers = [
                requests.get(f"{server.ready['control']}/v1/hubs/todo/installations/x",
                             headers={"authorization": f"bearer {server.key().token()}"}, timeout=20,
                             verify=server.ready["ca"]) for _ in range(10)]
            assert [answer.status_code for answer in answers] == [503] * 10
            assert_out_of_service(server, log, "hub", "is damaged")
            for _ in range(20):
                push(server)
    finally:
        put(path, good)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_server_does_not_begin_on_a_register_that_is_damaged_or_lost(server, damage):
    path = server.data / "server.sqlite"
    good = path.read_bytes()
    put(path, bad := DAMAGES[damage](path, good, TABLES["server"]))
    words = f"the database {path} {WORDS.get(damage, 'is damaged')}"
    try:
        with pytest.raises(AssertionError) as refused:
            server.start()
        assert "the server ended with 8 before it was ready" in str(refused.value)
        assert f"aldaba: {words}" in str(refused.value) and "aldaba restore" in str(refused.value)
        for command in (["app", "list"], ["app", "create", "com.example.other", "--team", TEAM]):
            if damage in WORDS:
                done = server.aldaba(*command, check=False)
                assert done.returncode == 8 and words in done.stderr
        told = doctor(server)
        assert told.returncode == 1 and words in told.stdout
        assert path.read_bytes() == bad if bad is not None else not path.exists(), "it is left for whoever saves it"
    finally:
        put(path, good)
    assert f"database {path}: in order" in doctor(server).stdout
    with server:
        push(server)


@pytest.mark.parametrize("damage", ["empty", "missing"])
def test_a_database_that_was_lost_is_begun_anew_where_that_is_asked_for(tmp_path, damage):
    server = OwnServer(tmp_path, "damaged_anew", "--new-database", "hub", "--new-database", "server")
    server.add_app()
    server.start().stop()
    for name in ("server", "hub"):
        put(server.data / f"{name}.sqlite", b"" if damage == "empty" else None)
    with server:
        assert told(server, "/health")[1]["status"] == "ok"
    assert server.aldaba("app", "list").stdout == ""
    server.add_app()
    with server:
        assert TOPIC in server.aldaba("app", "list").stdout, "a database that is there stays"


def test_the_hubs_are_restored_alone_beside_what_was_accepted_since(server, tmp_path):
    path, copy = server.data / "hub.sqlite", tmp_path / "copy"
    with server:
        server.aldaba("backup", copy)
        pushed = push(server)
        running = server.aldaba("restore", copy, "--only", "hub", check=False)
        assert running.returncode == 3 and "a server is running" in running.stderr
    assert server.aldaba("restore", copy, "--only", "server", check=False).returncode == 2
    bad = DAMAGES["leaf"](path, path.read_bytes(), TABLES["hub"])
    put(path, bad)
    server.aldaba("restore", copy, "--only", "hub")
    (aside,) = server.data.glob("hub.sqlite.aside-*")
    assert aside.read_bytes() == bad
    with server:
        assert hub_requests(server)[0][0] == 200
        assert server.control().states(pushed), "what was accepted after the backup is there"
    aside.unlink()


@pytest.fixture
def disk(tmp_path):
    small = SmallDisk(tmp_path)
    yield small
    small.end()


def serve(server, disk):
    """A server's run that must end by itself; what it said."""
    done = run_aldaba(
        "serve", "--data", disk.folder / "data", "--certificate", server.certificates.server, "--certificate-key",
        server.certificates.key, *(f"--{name}-port=0" for name in ("apns", "device", "control", "metrics")),
        prefix=disk.prefix, check=False)
    assert done.returncode == 1, done
    return done.stderr


def test_a_start_on_a_disk_that_takes_nothing_says_so(server, disk):
    data = disk.folder / "data"
    Path(disk.outside(data)).mkdir(mode=0o700)
    run_aldaba("app", "create", "com.example.small", "--team", "ALDABADEMO", "--data", data, prefix=disk.prefix)

    def doctor():
        return run_aldaba("doctor", "--data", data, prefix=disk.prefix, check=False).stdout

    disk.fill()
    assert "database or disk is full; free some space" in serve(server, disk)
    assert "the disk is full" in doctor()
    disk.free()
    remount = [*disk.prefix, "mount", "-o"]
    subprocess.run([*remount, "remount,ro", disk.folder], check=True)
    assert f"cannot write into {data}: Read-only file system" in serve(server, disk)
    assert "mounted read-only" in doctor()
    subprocess.run([*remount, "remount,rw", disk.folder], check=True)
    assert "problem  space" not in doctor()
