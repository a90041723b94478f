"""What an operator reads without looking further: changes and refusals in the log, and why an agent is not connected."""

import json
from contextlib import closing

import pytest
import requests

from aldaba_process import REPOSITORY, run_aldaba
from log_lines import Log
from own_agent import OwnAgent
from own_server import TEAM, TOPIC, OwnServer
from waiting import wait_until


PORTS = ("--apns-port=0", "--device-port=0", "--control-port=0", "--metrics-port=0")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with OwnServer(tmp_path_factory.mktemp("operator"), "test_operator_log") as running:
        yield running


def said(log, *words):
    return [line for line in log.of("info", "notice", "warning") if all(word in line for word in words)]


def test_what_commands_change_is_in_the_log(server):
    log = Log(server.log)

    def wait_for(*words):
        wait_until(lambda: said(log, "the register was changed", *words), f"the log has {words}")

    server.add_app("com.example.seen")
    wait_for("app com.example.seen was added", TEAM)
    server.aldaba("app", "disable", "com.example.seen", "push")
    wait_for("app com.example.seen was changed", "disabled")
    server.aldaba("app", "remove", "com.example.seen")
    wait_for("app com.example.seen was removed")
    key = json.loads(server.aldaba("key", "create", "--team", TEAM, "--json").stdout)["keyId"]
    wait_for(f"provider key {key} was added")
    server.aldaba("key", "revoke", key)
    wait_for(f"provider key {key} was removed")
    secret = server.aldaba("enrolment-key", "create", "spring").stdout.split()[0]
    wait_for("enrolment key spring was added")
    device = server.control().enrol()
    server.aldaba("device", "block", device[0])
    wait_for(f"block of device {device[0]} was added", "since")
    server.aldaba("device", "unblock", device[0])
    wait_for(f"block of device {device[0]} was removed")
    server.aldaba("device", "revoke", device[0])
    wait_for("a device was revoked or blocked", str(device[0]))
    team = json.loads(server.aldaba("team", "create", "Harbour", "--json").stdout)["teamId"]
    wait_for(f"team {team} was added", "Harbour")
    server.add_app("com.example.moored")
    server.aldaba("app", "webhook", "set", "com.example.moored", "--url", "https://example.com/secret-path")
    wait_for("webhook of app com.example.moored was added", "example.com")
    server.aldaba("app", "webhook", "remove", "com.example.moored")
    wait_for("webhook of app com.example.moored was removed")
    full = json.loads(
        server.aldaba("hub", "create", "harbour", "--app", "com.example.moored", "--json").stdout)["full"]
    wait_for("hub harbour was added", "com.example.moored")
    made = server.aldaba("hub", "key", "create", "harbour", "sender", "--rights", "Send").stdout
    wait_for("hub harbour key sender was added", "Send")
    server.aldaba("hub", "key", "create", "harbour", "sender", "--rights", "Listen")
    wait_for("hub harbour key sender was changed", "Listen")
    server.aldaba("hub", "key", "revoke", "harbour", "sender")
    wait_for("hub harbour key sender was removed")
    backend = server.aldaba("hub", "key", "create", "harbour", "site", "--backend").stdout.strip()
    wait_for("hub harbour backend key site was added")
    server.aldaba("hub", "limit", "harbour", "--tags", "77")
    wait_for("hub harbour was changed", "77 tags")
    server.aldaba("hub", "credential", "add", "harbour", "webpush", "--subject", "mailto:a@example.com")
    wait_for("hub harbour credential", "was added", "webpush")
    keys = [text.partition("SharedAccessKey=")[2].split()[0] for text in (full, made)]
    for hidden in (secret, backend, "secret-path", *keys):
        assert hidden and hidden not in server.log.read_text()


def test_every_refused_send_is_in_the_log(server):
    server.add_app()
    log, provider = Log(server.log), server.provider()
    for _ in range(3):
        assert provider.post("00" * 32, {"aps": {"alert": "Milk"}}, apns_topic=TOPIC).reason == "BadDeviceToken"
    wait_until(lambda: len(said(log, "a send was refused: BadDeviceToken", TOPIC)) == 3, "each has its line")


def test_requests_that_are_refused_for_their_credential_are_in_the_log(server):
    log = Log(server.log)

    def wait_for(*words):
        wait_until(lambda: said(log, "a request was refused for its credential", *words), f"the log has {words}")

    with closing(server.provider()) as provider:
        assert provider.post("00" * 32, {}, authorization="bearer a.b.c").reason == "InvalidProviderToken"
    wait_for("InvalidProviderToken", "127.0.0.1")
    answer = requests.post(
        f"{server.ready['control']}/v1/projects/x/messages:send", headers={"authorization": "Bearer nothing"}, json={},
        verify=server.ready["ca"], timeout=20)
    assert answer.status_code == 401
    wait_for("FCM", "the access token was not made here")
    server.aldaba("hub", "create", "pier", "--app", TOPIC)
    answer = requests.post(f"{server.ready['control']}/pier/messages", verify=server.ready["ca"], timeout=20)
    assert answer.status_code == 401
    wait_for("hub", "MissingToken")


def test_status_and_doctor_say_why_an_agent_is_not_connected(up):
    agent = OwnAgent(up, "test_operator_log", device_port=1)
    try:
        agent.start()
        fault = wait_until(
            lambda: json.loads(agent.aldaba("agent", "status", "--json").stdout).get("serverFault"), "it says why")
        assert fault.endswith("nothing listens there; does the server run?"), fault
        assert fault in agent.aldaba("agent", "status").stdout
        told = run_aldaba("doctor", "--data", agent.data, *PORTS, check=False).stdout
        line = next(line for line in told.splitlines() if "agent: process" in line)
        assert "not connected to its server: " in line, told
    finally:
        agent.stop()


SERVE = ("serve", *PORTS)
WRONG = {
    "a value": ("aldaba", "serve", "--apns-port", "many"),
    "a file that is not there": ("aldaba", *SERVE, "--certificate=/nowhere", "--certificate-key=/nowhere"),
    "an agent's value": ("aldaba-agent", "agent", "--log-level", "loud"),
    "an agent's authority": (
        "aldaba-agent", "agent", "--agent-ca=/nowhere", "--agent-server=a:1", "--agent-control=https://a:1"),
    "an agent's socket": ("aldaba-agent", "agent", "--agent-socket=/tmp/" + "a" * 120),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_setting_ends_a_unit_once(tmp_path, name):
    unit, *command = WRONG[name]
    ended = run_aldaba(*command, "--data", tmp_path / "data", check=False)
    text = (REPOSITORY / f"Packaging/systemd/{unit}.service").read_text()
    [statuses] = [line.partition("=")[2].split() for line in text.splitlines() if line.startswith("RestartPrevent")]
    assert str(ended.returncode) in statuses, ended
    assert ended.stderr.count("aldaba: ") == 1, ended.stderr
