"""The data of a server that runs and is used move to PostgreSQL: what changes meanwhile moves too, whatever it is.

With ALDABA_MOVED_ROWS=1000000 the length of the pause is measured for so many rows; `pytest -s` prints it.
"""

import contextlib
import json
import os
import re
import sqlite3
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from h2.exceptions import ProtocolError

from mcs_client import Closed, Device, Identity
from own_server import TEAM, TOPIC, OwnServer
from postgres_server import PROGRAMS, PostgresServer
from relay_nodes import RelayDevice, RelayWorld

pytestmark = pytest.mark.skipif(PROGRAMS is None, reason="Debian's postgresql is not installed")

ROWS = int(os.environ.get("ALDABA_MOVED_ROWS", "30000"))
# Tables that one of the two has alone, or that are made anew.
OWN = {
    "sqlite_sequence", "sqlite_stat1", "grdb_migrations", "report_change", "identity", "audit_key", "mailbox", "node",
    "node_state", "missed_wakeup", "shared_secret", "schema_version", "register_version", "audience_change",
}


def enrol(server):
    device = server.control().enrol()
    return device, server.control().token(device, TOPIC, TEAM, "production")


def add_old_messages(server, count):
    """Adds messages of the last hours with a line each, as if they had been sent and acknowledged: two rows a message."""
    with contextlib.closing(sqlite3.connect(server.data / "server.sqlite")) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(message)")]
        row = dict(zip(columns, database.execute("SELECT * FROM message ORDER BY id LIMIT 1").fetchone()))
        line = database.execute("SELECT source FROM timeline WHERE id = ?", (row["id"],)).fetchone()
        source = line[0] if line else "server"
        marks = ",".join("?" * len(columns))
        for start in range(0, count, 10_000):
            old = [
                dict(row, id=row["id"] - (number + 1) * (1 << 12), apns_id=str(uuid.uuid4()))
                for number in range(start, min(start + 10_000, count))]
            database.executemany(f"INSERT INTO message VALUES({marks})", [[each[name] for name in columns] for each in old])
            database.executemany(
                "INSERT INTO timeline(id, at, state, source) VALUES(?, ?, 'acked', ?)",
                [(each["id"], each["accepted_at"], source) for each in old])
            database.executemany(
                "INSERT INTO identity(apns_id, device, app, environment, id) VALUES(?, ?, ?, ?, ?)",
                [(each["apns_id"], each["device"], each["app"], each["environment"], each["id"]) for each in old])
            database.commit()


def use(server, devices, stop, accepted):
    """Everything that changes rows: pushes, acknowledgements, tokens, apps and keys, installations and campaigns."""
    sender, number = server.provider(), 0
    try:
        with Device(server.ready["mcs"], server.ready["ca"]) as channel:
            channel.login(Identity(*devices[0][0]))
            while not stop.is_set():
                number += 1
                name = str(uuid.uuid4())
                answer = sender.post(
                    devices[number % 2][1], {"aps": {"alert": name}},
                    **{"apns-id": name, "apns-collapse-id": str(number % 7)})
                if answer.status == 200:
                    accepted[name] = number % 2
                if number % 2 == 0:
                    channel.acknowledge_selectively([channel.notification(timeout=5).persistent_id])
                if number % 50 == 0:
                    server.aldaba("app", "create", f"com.example.n{number}", "--team", TEAM)
                    enrol(server)
                if number % 20 == 10:
                    use_hub(server, devices, number)
    except (OSError, Closed, TimeoutError, ProtocolError):
        # The server ends: that is the pause.
        assert stop.wait(800), "the server ended before the move"
    finally:
        sender.close()


def use_hub(server, devices, number):
    """Puts installations, old and new ones, and begins a campaign."""
    lines = [
        json.dumps({"installationId": f"d{place}", "platform": "aldaba", "pushChannel": token, "tags": [f"t{number}"]})
        for place, (_, token) in enumerate(devices)]
    lines += [
        json.dumps({"installationId": f"i{each}", "platform": "apns", "pushChannel": f"c{each}", "userId": f"u{number}"})
        for each in range(number, number + 40)]
    # One that begins a moment later has not ended when the first copy is made.
    later = (datetime.now(UTC) + timedelta(seconds=1.5)).isoformat(timespec="milliseconds")
    # The commands fail while the server ends, and after that they find that the data has moved.
    server.aldaba("hub", "import", "todo", "-", input="\n".join(lines), check=False)
    for title, when in ((f"n{number}", ()), (f"l{number}", ("--at", later))):
        server.aldaba(
            "hub", "campaign", "create", "todo", "--title", title, *when, "--ca", server.ready["ca"], check=False)


class OneServer(RelayWorld):
    """The relay's devices at one server."""

    def __init__(self, server):
        self.servers, self.devices = [server], []

    def device(self, account, name):
        made = RelayDevice(self, Identity(*self.servers[0].control().enrol()), account, name, False, [])
        self.devices.append(made)
        return made.connect(0)


def use_relay(server):
    """Two devices of an account, of which one has gone: messages wait for it; and a document."""
    world = OneServer(server)
    account = os.urandom(32)
    present, absent = world.device(account, "present"), world.device(account, "absent")
    world.until(lambda: present.sees(absent), "they see each other")
    absent.cut()
    posted = [present.post(absent, f"letter {number}") for number in range(20)]
    world.until(lambda: len(present.got("letterKept")) == len(posted), "the messages are kept")
    answer = present.ask("put", key=os.urandom(32), revision=1, body=os.urandom(40), over=0)
    assert answer["what"] == "kept", answer
    present.cut()


def columns_of(database, schema):
    """How psql shows each column of a schema's tables as sqlite3 has it, by table and column."""
    shown = {"bytea": "encode({}, 'hex')", "boolean": "{}::int", "text": "replace({}, chr(10), ' ')"}
    known = {}
    for line in database.query(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            f"WHERE table_schema = '{schema}'").splitlines():
        table, column, kind = line.split("|")
        known.setdefault(table, {})[column] = shown.get(kind, "{}").format(f'"{column}"')
    return known


def differences(server, database, file, schema):
    """The tables of a file that are not the same in a schema."""
    known, different = columns_of(database, schema), []
    with contextlib.closing(sqlite3.connect(server.data / file)) as old:
        tables = {row[0] for row in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} - OWN
        assert tables <= set(known), tables - set(known)
        for table in sorted(tables):
            columns = sorted({row[1] for row in old.execute(f"PRAGMA table_info({table})")} & set(known[table]))
            names = ", ".join(f'"{column}"' for column in columns)
            here = sorted(
                "|".join("" if value is None else value.hex() if isinstance(value, bytes) else str(value) for value in row).replace("\n", " ")
                for row in old.execute(f"SELECT {names} FROM {table}"))
            there = database.query(f"SELECT {', '.join(known[table][column] for column in columns)} FROM {schema}.{table}")
            there = sorted(row for row in there.splitlines() if (table, row) != ("meta", "fanout|0"))
            if here != there:
                different.append((table, len(here), len(there), sorted(set(here) ^ set(there))[:4]))
    return different


def compare(server, database):
    """Compares every table of both databases, column by column, and the names of notifications."""
    different = differences(server, database, "server.sqlite.moved", "public")
    different += differences(server, database, "hub.sqlite.moved", "hub")
    different += differences(server, database, "relay.sqlite.moved", "relay")
    assert database.query("SELECT count(*) FROM relay.relay_device") != "0", "the relay was used"
    assert database.query("SELECT count(*) FROM relay.relay_letter") != "0", "a message waits for a device"
    assert int(database.query("SELECT count(*) FROM hub.send WHERE started_at IS NOT NULL")) > 0, "the hub was used"
    with contextlib.closing(sqlite3.connect(server.data / "server.sqlite.moved")) as old:
        here, there = (
            old.execute("SELECT count(*) FROM identity").fetchone()[0], int(database.query("SELECT count(*) FROM identity")))
        if here != there:
            different.append(("identity", here, there))
    assert not different, different
    assert database.query(
        """SELECT count(*) FROM message WHERE apns_id IS NOT NULL AND code IS NULL AND NOT EXISTS(
            SELECT 1 FROM identity WHERE identity.id = message.id AND identity.apns_id = lower(message.apns_id))""") == "0"


@pytest.mark.timeout(900)
def test_the_data_move_while_the_server_is_used(tmp_path):
    database = PostgresServer().start()
    server = OwnServer(tmp_path, "test_move_running")
    stop, accepted = threading.Event(), {}
    try:
        server.add_app()
        server.aldaba("hub", "create", "todo", "--app", TOPIC)
        with server:
            devices = [enrol(server) for _ in range(2)]
            sender = server.provider()
            assert sender.post(devices[1][1], {"aps": {"alert": "first"}}).status == 200
            sender.close()
            accepted["first"] = 1
            use_relay(server)
        add_old_messages(server, ROWS // 2)
        server.start()
        user = threading.Thread(target=use, args=(server, devices, stop, accepted), daemon=True)
        user.start()
        refused = server.aldaba("migrate", "--to-postgres", database.url, check=False)
        assert refused.returncode != 0 and "in use by pid" in refused.stderr
        began = time.monotonic()
        moved = server.aldaba("migrate", "--to-postgres", database.url, "--stop-server", seconds=800)
        took = time.monotonic() - began
        stop.set()
        user.join(150)
        server.stop()
        pause = float(re.search(r"stopped for ([0-9.]+) seconds", moved.stdout)[1])
        count = int(re.search(r"(\d+) rows moved", moved.stdout)[1])
        print(f"\n{count} rows in {took:.1f} s, of which the server was stopped for {pause} s; {len(accepted)} pushes meanwhile")
        assert len(accepted) > 3, "the server was used"
        if ROWS <= 100_000:
            compare(server, database)
        # The other device has everything that was accepted and not replaced.
        server._flags = ["--postgres", database.url]
        with server, Device(server.ready["mcs"], server.ready["ca"]) as channel:
            channel.login(Identity(*devices[1][0]))
            waiting = int(database.query(f"SELECT count(*) FROM pending WHERE device = {devices[1][0][0]}"))
            shown = [json.loads(channel.notification(timeout=10).payload)["aps"]["alert"] for _ in range(waiting)]
            shown = [alert for alert in shown if not isinstance(alert, dict)]
            last = [name for name, device in accepted.items() if device == 1][-1]
            assert shown[0] == "first" and last in shown
    finally:
        stop.set()
        server.stop()
        database.remove()
