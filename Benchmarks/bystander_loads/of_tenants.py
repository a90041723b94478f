"""Loads of a tenant, or of a device, with a credential of its own."""

import json
import os
import socket
import threading
import time
import uuid
from pathlib import Path

import probes
from mcs_client import DATA
from running import load
from target import http


def put(connection, tenant, name, key, **document):
    """Puts an installation; returns the status."""
    return connection.ask(http(
        "PUT", f"/v1/hubs/{tenant.hub}/installations/{name}", {"platform": "aldaba"} | document, authorization=key))[0]


@load()
def expressions(run):
    """Audiences of 1,000 terms of $LastSeen over 20,000 installations, eight connections of one hub's key."""
    tenant = run.target.neighbour
    file = Path(run.target.told["data"]) / "installations.jsonl"
    file.write_text("".join(
        json.dumps({"installationId": f"i{number}", "platform": "apns", "pushChannel": f"{number:064x}"}) + "\n"
        for number in range(20_000)))
    run.target.aldaba("hub", "import", tenant.hub, file)
    # No term holds, so that all are looked at.
    expression = " || ".join(f"$LastSeen:{{>{9000 + number}d}}" for number in range(1000))
    request = http(
        "POST", f"/v1/hubs/{tenant.hub}/audience", {"expression": expression},
        authorization=run.target.hub_key(tenant, "Manage"))

    def worker(_):
        with run.connection() as connection:
            while True:
                yield connection.ask(request)[0]

    return 8, worker


@load()
def installations(run):
    """New installations with 60 new tags each, put by a key that may only do that, eight connections."""
    tenant = run.target.neighbour
    key = run.target.hub_key(tenant, "Listen")

    def worker(_):
        with run.connection() as connection:
            while True:
                name = uuid.uuid4().hex
                tags = [f"{name}-{number}" for number in range(60)]
                yield put(connection, tenant, name, key, pushChannel=name, tags=tags)

    return 8, worker


def repeated(count):
    """A template that has the property p so many times."""
    return {"t": {"body": json.dumps({"aps": {"alert": f"{{{'+'.join(['$(p)'] * count)}}}" if count > 1 else "$(p)"}})}}


@load()
def previews(run):
    """Previews of a template of 9,000 properties of 50 KB each, four connections."""
    tenant = run.target.neighbour
    key = run.target.hub_key(tenant, "Listen,Send")
    template = repeated(9000)
    with run.connection() as connection:
        status = put(connection, tenant, "large", key, pushChannel="x", templates=template)
    request = http(
        "POST", f"/v1/hubs/{tenant.hub}/preview", {"installationId": "large", "properties": {"p": "x" * 50_000}},
        authorization=key)

    def worker(_):
        if status not in (200, 201):
            # Without the template there is nothing to preview.
            yield f"template refused with {status}"
            return
        with run.connection() as connection:
            while True:
                yield connection.ask(request)[0]

    return 4, worker


@load()
def member_template(run):
    """Template sends to 15 installations and one whose template renders too large; the answers say who received it."""
    tenant = run.target.neighbour
    key = run.target.hub_key(tenant, "Listen,Send,Manage,Report")
    with run.connection() as connection:
        for number, token in enumerate(tenant.tokens):
            put(connection, tenant, f"i{number}", key, pushChannel=token, templates=repeated(1 if number else 1000))
    campaigns = f"/v1/hubs/{tenant.hub}/campaigns"
    ends = ("Completed", "Abandoned", "NoTargetFound", "Canceled")

    def worker(_):
        with run.connection() as connection:
            while True:
                status, body = connection.ask(http("POST", campaigns, {"properties": {"p": "x" * 10}}, authorization=key))
                if status not in (200, 201):
                    yield status
                    continue
                path = f"{campaigns}/{json.loads(body)['id']}/report"
                while (report := json.loads(connection.ask(http("GET", path, authorization=key))[1]))["state"] not in ends:
                    time.sleep(0.05)
                received = sum(report["ends"].get(end, 0) for end in ("accepted", "waiting", "delivered"))
                yield f"{report['state']}: {received} of {len(tenant.tokens)} received it"

    return 2, worker


@load(probes=[probes.ReportStream, probes.UpstreamStream])
def streams(run):
    """As many streams of reports and of upstream messages as one team is given, 48 and 300 are asked for."""
    tenant = run.target.neighbour
    report = f"/v1/hubs/{tenant.hub}/campaigns/{probes.scheduled(run.target, tenant)}/live"
    kept, paths = [], [report] * 48 + ["/v1/upstream"] * 300

    def worker(number):
        for path in paths[number::12]:
            connection = run.connection()
            kept.append(connection)
            connection.socket.sendall(http("GET", path, authorization=tenant.bearer))
            yield f"{path.rsplit('/')[-1]} {connection.head()[0]}"

    return 12, worker


@load(probes=[probes.Upload])
def uploads(run):
    """Eight uploads of files by one team that come a byte a second."""
    head = http("POST", "/v1/media", **{"content-length": 1 << 20, "authorization": run.target.neighbour.bearer})

    def worker(number):
        with run.connection() as connection:
            connection.socket.sendall(head + b"GIF89a" + bytes([number]))
            for _ in range(1 << 20):
                time.sleep(1)
                connection.socket.sendall(b"x")
                yield "byte"

    return 8, worker


@load(probes=[probes.Webhook])
def webhook(run):
    """A hub whose webhook never answers, and two campaigns a second whose ends it is to hear of."""
    tenant = run.target.neighbour
    silent = socket.create_server(("127.0.0.1", 0), backlog=128)
    kept = []

    def accept():
        while True:
            kept.append(silent.accept())

    threading.Thread(target=accept, daemon=True).start()
    key = run.target.hub_key(tenant, "Manage,Send")
    run.target.ask(
        "PUT", f"/v1/hubs/{tenant.hub}/webhook", {"url": f"http://127.0.0.1:{silent.getsockname()[1]}/"}, key)
    request = http("POST", f"/v1/hubs/{tenant.hub}/campaigns", {"content": {"title": "x"}}, authorization=key)

    def worker(_):
        with run.connection() as connection:
            while True:
                yield connection.ask(request)[0]
                time.sleep(0.5)

    return 1, worker


@load(probes=[probes.Pairing])
def pairing(run):
    """1,024 devices that each wait for another to pair with."""
    devices = [probes.log_in(run.target, each) for each in run.target.enrol(1024)]

    def worker(number):
        for device in devices[number::8]:
            probes.meet(device, os.urandom(32))
            try:
                yield f"refused {device.receive_kind(DATA, 0.01).message.get(21)[-60:]}"
            except TimeoutError:
                yield "waits"

    return 8, worker
