"""`aldaba backup` while a server runs under load, looked at by the sqlite3 command line, and `aldaba restore`."""

import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import threading

import pytest

from aldaba_process import run_aldaba
from mcs_client import Device, Identity
from own_server import TEAM, TOPIC, OwnServer

MOST = 500  # pushes during a backup; fewer than may wait


def sqlite(path, statement):
    """What the sqlite3 command line says, a line each."""
    program = shutil.which("sqlite3")
    if program is None:
        pytest.skip("sqlite3 is not installed")
    return subprocess.run(
        [program, "-readonly", path, statement], check=True, capture_output=True, text=True, timeout=30
    ).stdout.split()


@pytest.fixture
def server(tmp_path, request):
    server = OwnServer(tmp_path / "first", request.node.name)
    server.add_app()
    yield server
    server.kill()


def restored(server, folder, name):
    """Another server with the first one's addresses, certificate and enrolment key, on a restored folder."""
    other = OwnServer(folder, name)
    other.addresses, other.certificates = server.addresses, server.certificates
    other._keys = dict(server._keys)
    return other


def test_a_backup_under_load_serves_the_same_tokens_and_has_what_was_accepted_before(server, tmp_path):
    server.start()
    control, provider = server.control(), server.provider()
    device = control.enrol()
    token = control.token(device, TOPIC, TEAM, "production")
    numbers = itertools.count(1)

    def push(provider):
        number = next(numbers)
        answer = provider.post(token, {"aps": {"alert": "Milk"}, "number": number})
        return number if answer.status == 200 else None

    before = [push(provider) for _ in range(50)]
    assert all(before)

    accepted, stop = list(before), threading.Event()
    sender = server.provider()

    def load():
        while not stop.is_set() and len(accepted) < MOST:
            accepted.append(push(sender))

    thread = threading.Thread(target=load)
    thread.start()
    try:
        copy = tmp_path / "copies" / "copy"
        told = server.aldaba("backup", copy)
    finally:
        stop.set()
        thread.join()
    assert all(accepted)
    assert str(copy) in told.stdout

    database = copy / "server.sqlite"
    assert sqlite(database, "PRAGMA integrity_check") == ["ok"]
    copied = int(sqlite(database, "SELECT count(*) FROM pending")[0])
    assert len(before) <= copied <= len(accepted)
    for path in [copy, *copy.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, f"{path} is open to others"
    assert (copy / "token.key").read_bytes() == (server.data / "token.key").read_bytes()
    assert not list(copy.parent.glob("*unfinished*")) and not list(copy.glob("*-wal"))

    key = server.key()
    server.stop()
    other = restored(server, tmp_path / "second", "restored")
    told = run_aldaba("restore", copy, "--data", other.data, umask=0)
    assert str(other.data) in told.stdout
    for path in [other.data, *other.data.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, f"{path} is open to others"
    other.start()
    try:
        again = push(other.provider(key))
        assert again, "the token and the provider's key count"
        got = []
        with Device(other.ready["mcs"], other.ready["ca"]) as channel:
            channel.login(Identity(*device))
            while len(got) <= copied:
                notification = channel.notification()
                got.append(json.loads(notification.payload)["number"])
                channel.acknowledge_stream(notification.stream_id)
        assert got == accepted[:copied] + [again]
    finally:
        other.stop()


def test_a_device_that_enrolled_after_the_backup_comes_back_with_its_id_and_its_token(server, tmp_path):
    server.start()
    server.aldaba("backup", tmp_path / "copy")
    control, key = server.control(), server.key()
    device = control.enrol()
    token = control.token(device, TOPIC, TEAM, "production")
    server.stop()
    other = restored(server, tmp_path / "second", "restored-later")
    run_aldaba("restore", tmp_path / "copy", "--data", other.data)
    key = other.add_key()
    other.start()
    try:
        control, provider = other.control(), other.provider(key)
        # Without an enrolment key, as the page says to remove it from the device.
        control.enrolment_key = None
        forged = checked_in(control, (device[0], device[1] ^ 1))
        assert forged[0] == 401, forged
        assert provider.post(token, {"aps": {"alert": "Milk"}}).reason == "BadDeviceToken"
        assert checked_in(control, device) == (200, device)
        assert control.token(device, TOPIC, TEAM, "production") == token
        assert provider.post(token, {"aps": {"alert": "Milk"}}).status == 200
        with Device(other.ready["mcs"], other.ready["ca"]) as channel:
            channel.login(Identity(*device))
            assert channel.notification().payload
    finally:
        other.stop()


def checked_in(control, device):
    body = json.dumps({"android_id": device[0], "security_token": device[1], "version": 3})
    status, answer = control.request("POST", "/checkin", body, {"content-type": "application/json"})
    if status != 200:
        return status, answer
    told = json.loads(answer)
    return status, (int(told["android_id"]), int(told["security_token"]))


def refusal(*words):
    done = run_aldaba(*words, check=False)
    assert done.returncode in (1, 3, 8), done
    return done.stderr


def test_what_is_refused_changes_nothing(server, tmp_path):
    server.start()
    copy = tmp_path / "copy"
    server.aldaba("backup", copy)
    listed = sorted(path.name for path in copy.iterdir())

    assert "is not empty" in refusal("backup", copy, "--data", server.data)
    assert "no server's data folder" in refusal("backup", tmp_path / "x", "--data", tmp_path / "nothing")
    assert not (tmp_path / "x").exists() and not (tmp_path / "nothing").exists()
    assert "a server is running" in refusal("restore", copy, "--data", server.data)
    server.stop()
    assert "is not empty" in refusal("restore", copy, "--data", server.data)
    assert "is no backup" in refusal("restore", tmp_path, "--data", tmp_path / "new")
    assert sorted(path.name for path in copy.iterdir()) == listed

    newer = tmp_path / "newer"
    shutil.copytree(copy, newer)
    with sqlite3.connect(newer / "server.sqlite") as database:
        database.execute("INSERT INTO grdb_migrations VALUES('999 of another day')")
    assert "newer version of aldaba" in refusal("restore", newer, "--data", tmp_path / "new")
    damaged = tmp_path / "damaged"
    shutil.copytree(copy, damaged)
    bad = (damaged / "server.sqlite").read_bytes()
    (damaged / "server.sqlite").write_bytes(bad[:4096] + os.urandom(len(bad) - 4096))
    assert "is damaged" in refusal("restore", damaged, "--data", tmp_path / "new")
    assert not (tmp_path / "new").exists(), "the backup is looked at before anything is made"


def test_a_server_on_a_newer_database_refuses_to_start(server):
    server.start().stop()
    with sqlite3.connect(server.data / "server.sqlite") as database:
        database.execute("INSERT INTO grdb_migrations VALUES('999 of another day')")
    with pytest.raises(AssertionError, match="newer version of aldaba"):
        server.start()


def test_hubs_are_in_the_backup(server, tmp_path):
    server.start()
    server.aldaba("hub", "create", "todo", "--app", TOPIC)
    server.aldaba("hub", "key", "create", "todo", "sender", "--rights", "Send")
    server.aldaba("hub", "key", "create", "todo", "phones", "--backend")
    copy, folder = tmp_path / "copy", tmp_path / "second"
    server.aldaba("backup", copy)
    for name in ("hub.sqlite", "relay.sqlite"):
        assert (copy / name).stat().st_mode & 0o777 == 0o600
    run_aldaba("restore", copy, "--data", folder)
    assert (folder / "relay.sqlite").exists(), "the devices of accounts are in it too"
    restored = json.loads(run_aldaba("audit", "--json", "--limit", "1", "--data", folder).stdout)[0]
    assert (restored["action"], restored["object"], restored["after"]) == ("backup.restore", "all", {"backup": str(copy)})
    keys = run_aldaba("hub", "key", "list", "todo", "--data", folder).stdout
    assert "sender  Send" in keys and "phones  backend" in keys
