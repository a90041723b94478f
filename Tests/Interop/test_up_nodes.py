"""`aldaba up --nodes 3`: PostgreSQL, NATS, three servers behind one port, an agent and the demo app."""

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest
import requests

from aldaba_process import BINARY, clean_environment, run_aldaba
from autopush_client import Browser
from nats_server import PROGRAM
from postgres_server import PROGRAMS
from waiting import wait_for_end, wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")


def start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE):
    return subprocess.Popen(
        [str(BINARY), "up", "--nodes", "3", *map(str, arguments)], env=clean_environment(), stdin=stdin, stdout=stdout,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def end(process):
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    process.stdout.close() if process.stdout else None
    process.stderr.close()


@pytest.fixture(scope="module")
def run():
    process = start("--ephemeral", "--json")
    line = process.stdout.readline()
    assert line, process.stderr.read()
    yield json.loads(line)
    end(process)


def send(run, title):
    return run_aldaba(
        "send", "--data", run["data"], "--key-id", run["keyId"], "--topic", run["topic"], "--token", run["deviceToken"],
        "--title", title, "--server", run["apns"].removeprefix("https://"), check=False)


def handed(run):
    path = Path(run["appLog"])
    return len(path.read_text().splitlines()) if path.exists() else 0


def processes(run):
    return json.loads((Path(run["data"]) / "pids.json").read_text())


def kill_server(run, name):
    """Kills a server; the function that it returns waits until `up` has started it again, and it serves."""
    before = processes(run)[name]
    metrics = next(node["metrics"] for node in run["nodes"] if node["name"] == name)

    def serves():
        try:
            return requests.get(f"{metrics}/ready", timeout=10).status_code == 200
        except requests.ConnectionError:
            return False

    os.kill(before, signal.SIGKILL)
    assert wait_for_end(before, 10), "it has ended"
    return lambda: wait_until(serves, "it is started again")


def test_pushes_by_the_one_port_reach_the_demo_app_while_servers_are_killed(run):
    assert [node["name"] for node in run["nodes"]] == ["serve", "serve-2", "serve-3"]
    assert len({node["apns"] for node in run["nodes"]} | {run["apns"]}) == 4
    sent = 0
    for name in ("serve-2", "serve-3", None):
        for number in range(6):
            done = send(run, f"{name} {number}")
            # One that a dying server had is not answered, and is sent again.
            if done.returncode != 0:
                done = send(run, f"{name} {number}, again")
            assert done.returncode == 0, done.stderr
            sent += 1
        wait_until(lambda: handed(run) >= sent, "the demo app has them all", 30)
        if name:
            kill_server(run, name)()


@pytest.mark.parametrize("name", ["serve", "serve-2", "serve-3"])
def test_a_browsers_subscription_outlives_each_server(run, name):
    """Its address is that of the port in front, which passes on to a server that runs."""
    with Browser(run) as browser:
        uaid, subscription = browser.uaid, browser.subscribe()
    assert subscription.endpoint.startswith(run["control"] + "/wpush/v2/")
    wait_until_it_runs = kill_server(run, name)
    subscription.push(f"while {name} is dead")
    with Browser(run, uaid) as browser:
        assert browser.uaid == uaid
        assert browser.texts(subscription, 1) == [f"while {name} is dead"]
    wait_until_it_runs()


def test_the_pages_and_the_interface_for_fcm_outlive_the_first_server(run):
    others = {node["control"] for node in run["nodes"]}
    assert run["control"] not in others and run["fcm"] == run["http"]
    account = json.loads(Path(run["serviceAccount"]).read_text())
    assert account["token_uri"].startswith(run["http"])
    wait_until_it_runs = kill_server(run, "serve")
    assert requests.get(run["console"], timeout=10).status_code == 200
    refused = requests.post(f"{run['fcm']}/v1/projects/{account['project_id']}/messages:send", json={}, timeout=10)
    assert refused.status_code == 401
    wait_until_it_runs()


def test_the_database_runs_as_another_user_than_root(run):
    user = subprocess.run(
        ["psql", "-XAtqc", "SHOW data_directory", run["postgres"]], capture_output=True, text=True, timeout=30, check=True)
    owner = Path(user.stdout.strip()).owner() if os.getuid() else "nobody"
    assert Path(user.stdout.strip()).parent.owner() == owner


def test_a_key_press_kills_a_server_and_everything_ends(tmp_path):
    """In a terminal: the text names the servers, 2 kills the second, and Ctrl-C ends all."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [str(BINARY), "up", "--nodes", "3", "--ephemeral", "--no-app", "--apns-port", "0"], env=clean_environment(),
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    text = b""

    def read_until(words, seconds=60):
        nonlocal text
        deadline = time.monotonic() + seconds
        while words not in text:
            assert time.monotonic() < deadline, text.decode()
            text += os.read(controller, 65536)

    try:
        read_until(b"press 3 to kill it")
        read_until(b"What the device gets")
        os.write(controller, b"2")
        read_until(b"server 2 was killed; it starts again")
        children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        for child in children.stdout.split():
            assert wait_for_end(int(child), 10), "its children end with it"
    finally:
        if process.poll() is None:
            process.kill()
        os.close(controller)

