"""A disk without space: what cannot be stored is refused, what was accepted arrives, and all works on afterwards."""

import json
import sys

import pytest

from aldaba_process import REPOSITORY, AldabaUp, clean_environment, run_aldaba
from control_client import ControlClient
from own_agent import OwnAgent
from provider import Provider
from small_disk import SmallDisk
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent, AgentError  # noqa: E402

MOST = 2000  # pushes that may fit into what the store's files had taken before
PAYLOAD = {"aps": {"alert": "Milk"}, "filler": "x" * 3000}
SCRIPT, TEAM = "com.example.script", "ALDABADEMO"


@pytest.fixture
def disk(tmp_path):
    small = SmallDisk(tmp_path)
    yield small
    small.end()


@pytest.fixture
def small(disk, request):
    """An `aldaba up` whose data, logs and all, are on the small disk."""
    ports = [f"--{name}-port=0" for name in ("apns", "device", "control", "http", "metrics")]
    running = AldabaUp(
        "--data", disk.folder / "data", "--json", *ports, name=request.node.name, prefix=disk.prefix)
    for name in ("ca", "key", "data", "appLog"):
        running.ready[name] = disk.outside(running.ready[name])
    yield running
    assert running.stop() == 0
    running.drop_logs()


def health(client):
    status, body = client.request("GET", "/health")
    return status, json.loads(body)


@pytest.mark.timeout(180)
def test_a_full_disk_refuses_and_loses_nothing_and_all_works_again(small, disk):
    provider, token = Provider(small.ready), small.ready["deviceToken"]
    control, metrics = ControlClient(small.ready["http"]), ControlClient(small.ready["metrics"])
    children = small.pids()
    accepted = []

    def push():
        answer = provider.post(token, PAYLOAD)
        if answer.status == 200:
            accepted.append(answer.apns_id)
        return answer

    for _ in range(20):
        assert push().status == 200
    assert health(control) == health(metrics)
    assert (health(metrics)[0], health(metrics)[1]["status"]) == (200, "ok")

    disk.fill()
    refused = next(answer for answer in (push() for _ in range(MOST)) if answer.status != 200)
    assert (refused.status, refused.reason) == (503, "ServiceUnavailable")
    assert int(refused.headers["retry-after"]) > 0
    for client in (control, metrics):
        status, body = health(client)
        assert (status, body["status"], body["reason"]) == (503, "failing", "database or disk is full")
    since = health(control)[1]["since"]
    for _ in range(50):
        assert push().status == 503
    # An attempt is not stored.
    assert provider.post(token, PAYLOAD, apns_expiration=0).status == 200
    assert health(control)[1]["since"] == since, "it fails since then"
    told = run_aldaba("doctor", "--data", disk.folder / "data", prefix=disk.prefix, check=False)
    assert told.returncode == 1 and "the disk is full" in told.stdout
    assert f"refuses pushes with 503 since {since}: database or disk is full" in told.stdout

    disk.free()
    wait_until(lambda: health(control)[0] == 200, "the server finds out by itself that its store works again")
    told = run_aldaba("doctor", "--data", disk.folder / "data", prefix=disk.prefix, check=False).stdout
    assert "the running server stores what it is sent" in told
    for _ in range(20):
        assert push().status == 200
    for each in accepted:
        wait_until(lambda: "handed" in control.states(each), f"{each} is handed", 60)
    assert small.pids() == children, "nobody ended"
    provider.close()


@pytest.mark.timeout(180)
def test_an_agent_on_a_full_disk_goes_on_and_takes_all_once_there_is_space(up, disk, control, send):
    run_aldaba("app", "create", SCRIPT, "--team", TEAM, "--data", up.data)
    agent = OwnAgent(up, "test_full_disk", clean_environment(ALDABA_PRESENTER="headless"), disk=disk)
    try:
        secret = agent.install(
            id=SCRIPT, name="Script", team=TEAM, executable="/bin/true", authorization="granted", provesBySecret=True)
        agent.start()
        with Agent(SCRIPT, secret, agent.socket) as app:
            token = wait_until(lambda: registered(app), "the app has its token")
        process = agent.process
        ids = []

        def push():
            status, identifier, reason = send(token, PAYLOAD, apns_topic=SCRIPT)
            assert status == 200, reason
            ids.append(identifier)

        push()
        control.wait_for_last_state(ids[0], "presented")
        disk.fill()
        # What the store's files had taken before may still be used.
        for _ in range(MOST):
            push()
            if "The agent's store failed" in agent.log.read_text():
                break
        assert "The agent's store failed" in agent.log.read_text()
        for _ in range(20):
            push()
        own = [agent.aldaba("notify", "Tea" * 1000, check=False) for _ in range(20)]
        refused = [done for done in own if done.returncode]
        assert refused, "a terminal is told when nothing can be stored"
        for done in refused:
            assert "the agent's store does not take it" in done.stderr, (done.returncode, done.stderr)

        disk.free()
        for each in ids:
            wait_until(lambda: "presented" in control.states(each), f"{each} is presented", 60)
        assert len(agent.listed()) == len(ids) + len(own) - len(refused), "each is listed once"
        assert agent.process == process, "it never ended"
    finally:
        agent.stop()


def registered(app):
    try:
        return app.register()
    except AgentError:
        return None
