"""One event, one line: nothing that others name or send begins a line of the log."""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys

import pytest

from alone_agent import SCRIPT, Alone
from log_lines import Log
from mcs_client import LOGIN, Device, Identity, encode
from own_server import TEAM, TOPIC, OwnServer
from waiting import wait_until

FORGED = "2026-01-01T00:00:00+0000 error forged : [forged] written by whoever asked"
ENCODED = "%0A" + FORGED.replace(" ", "%20").replace("[", "%5B").replace("]", "%5D")


def assert_whole(log):
    """Every line of the log was begun by the program."""
    assert log.no_lines() == []
    assert [line for line in log.lines() if line.startswith(FORGED[:19])] == []


# --- the server -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = OwnServer(tmp_path_factory.mktemp("log"), "test_log", log_level="trace")
    made.add_app()
    made.key()
    with made as running:
        yield running


@pytest.fixture(scope="module")
def identity(server):
    return Identity(*server.control().enrol())


def get(path, *headers):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{''.join(headers)}\r\n".encode()


def registering(form, identity):
    return (
        "POST /c2dm/register3 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        f"Authorization: AidLogin {identity.device}:{identity.secret}\r\nContent-Length: {len(form)}\r\n"
        f"Connection: close\r\n\r\n{form}").encode()


REQUESTS = {
    "a path with an encoded new line": lambda identity: get(f"/v1/notifications/x{ENCODED}"),
    "a path with a new line": lambda identity: get(f"/v1/notifications/x\n{FORGED}"),
    "a path with a carriage return": lambda identity: get(f"/v1/notifications/x\r{FORGED}"),
    "an unknown path with an encoded new line": lambda identity: get(f"/x{ENCODED}"),
    "a header with a new line": lambda identity: get("/health", f"X-Note: a\n{FORGED}\r\n"),
    "a method with a new line": lambda identity: f"GE\n{FORGED}T / HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
    "an authorization with an encoded new line": lambda identity: get(
        "/v1/notifications/x", f"Authorization: bearer a{ENCODED}\r\n"),
    "an app's name with an encoded new line": lambda identity: registering(
        f"app=com.example{ENCODED}&sender={TEAM}", identity),
    "a team's name with an encoded new line": lambda identity: registering(
        f"app={TOPIC}&sender=OWN{ENCODED}", identity),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_no_request_to_the_control_api_begins_a_line(server, identity, name):
    log = Log(server.log)
    server.exchange_with_control(REQUESTS[name](identity))
    assert server.control().request("GET", "/health")[0] == 200
    wait_until(lambda: log.lines(), "something is logged at this level")
    assert_whole(log)


def test_no_name_that_a_device_says_begins_a_line(server, identity):
    log = Log(server.log)
    text = f"x\n{FORGED}"
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        device.send(LOGIN, encode(
            (1, text), (2, text), (3, text), (4, text), (5, text), (6, text), (8, encode((1, text), (2, text)))),
            prefix=b"\x29")
        device.closed_by_server()
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        device.login(identity, [text])
        device.send_upstream(text, text, text.encode())
        device.wait_confirmed(device.sent_count)
    assert_whole(log)


# --- the agent ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    alone = Alone(tmp_path_factory.mktemp("agent"), "--presenter", "headless", "--log-level", "trace", name="test_log")
    yield alone
    alone.stop()


def manifest(**changes):
    return {
        "id": "com.example.forged", "name": "Forged", "team": TEAM, "executable": sys.executable,
        "provesBySecret": True, "authorization": "granted"} | changes


MANIFESTS = {
    "a file's name": (f"x\n{FORGED}.json", "this is no manifest"),
    "an id": ("id.json", json.dumps(manifest(id=f"com.example\n{FORGED}"))),
    "a program's path": (
        "program.json", json.dumps(manifest(executable=f"/nowhere\n{FORGED}/python3", provesBySecret=False))),
    "a team": ("team.json", json.dumps(manifest(team=f"x\n{FORGED}"))),
    "a key": ("key.json", json.dumps(manifest() | {f"x\n{FORGED}": True})),
    "a word where one of a few belongs": ("word.json", json.dumps(manifest(lifecycle=f"x\n{FORGED}"))),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_no_manifest_begins_a_line(agent, name):
    log = Log(agent.log)
    file, text = MANIFESTS[name]
    path = agent.data / "apps" / file
    path.write_text(text)
    try:
        agent.aldaba("agent", "status")
        wait_until(lambda: any("manifest" in line for line in log.lines()), "the agent says that it is not used")
        assert_whole(log)
    finally:
        path.unlink()


def hello(path, app):
    """Says hello as an app; returns the agent's answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path)
        body = json.dumps({"type": "hello", "version": 1, "app": app, "secret": f"x\n{FORGED}"}).encode()
        connection.sendall(struct.pack(">I", len(body)) + body)
        (length,) = struct.unpack(">I", connection.recv(4, socket.MSG_WAITALL))
        return json.loads(connection.recv(length, socket.MSG_WAITALL))


def test_no_name_that_an_app_says_begins_a_line(agent):
    log = Log(agent.log)
    assert hello(agent.socket, f"com.example\n{FORGED}")["type"] == "refused"
    assert_whole(log)


def test_no_path_of_a_program_that_connects_begins_a_line(agent, tmp_path):
    draft = tmp_path / "sleep.json"
    draft.write_text(json.dumps(manifest(id=SCRIPT, executable="/usr/bin/sleep", provesBySecret=False)))
    agent.aldaba("agent", "app", "install", draft)
    program = tmp_path / f"x\n{FORGED.replace('/', ':')}"
    shutil.copy(os.path.realpath(sys.executable), program)
    program.chmod(0o700)
    log = Log(agent.log)
    script = (
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        f"import test_log; print(test_log.hello({agent.socket!r}, {SCRIPT!r})['type'])")
    done = subprocess.run(
        [program, "-c", script], capture_output=True, text=True, timeout=60,
        env=os.environ | {"PYTHONHOME": sys.base_prefix, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert done.stdout == "refused\n", done.stderr
    wait_until(lambda: any("refused" in line for line in log.lines()), "the agent tells of it")
    assert_whole(log)
