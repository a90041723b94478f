"""What a server has, listed: by any HTTP client, and by `aldaba`, which asks a server with a certificate of its own."""

import json
import re
import socket
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives import serialization

from aldaba_process import run_aldaba
from certificates import make_certificates
from mcs_client import Device, Identity
from own_server import TEAM, TOPIC, OwnServer
from provider_tokens import ProviderKey
from waiting import wait_until

OTHER_TEAM, OTHER_TOPIC = "OTHERTEAM1", "com.example.neighbour"
LIBRARY_WORDS = re.compile(r"NIO|SSL|IOError|HTTPClient|errno|BoringSSL|Optional|\(code|error:[0-9a-f]{8}", re.I)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = OwnServer(tmp_path_factory.mktemp("lists"), "test_lists")
    made.add_app()
    made.add_app(OTHER_TOPIC, OTHER_TEAM)
    made.key()
    made.key(OTHER_TEAM)
    with made as running:
        yield running


def listed(server, kind, team=TEAM, **fields):
    status, body = server.control(server.key(team)).request("GET", f"/v1/{kind}?{urlencode(fields)}")
    assert status == 200, body
    return json.loads(body)


def everything(server, name, team=TEAM, **fields):
    """All pages of a list."""
    found, cursor = [], {}
    while cursor is not None:
        page = listed(server, name, team, **fields, **cursor)
        found += page[name]
        cursor = {"after": page["next"]} if "next" in page else None
    return found


@pytest.fixture(scope="module")
def world(server):
    """Two devices, and pushes to them: three to ours, one to the neighbour's app, and one that is refused."""
    control = server.control()
    first, second = (Identity(*control.enrol()) for _ in range(2))
    ours = [control.token((one.device, one.secret), TOPIC, TEAM, "production") for one in (first, second)]
    theirs = control.token((first.device, first.secret), OTHER_TOPIC, OTHER_TEAM, "production")
    provider, neighbour = server.provider(), server.provider(server.key(OTHER_TEAM), OTHER_TOPIC)
    payload = b'{"aps":{"alert":"x"}}'
    sent = []
    for token in (ours[0], ours[1], ours[1]):
        answer = provider.post(token, payload)
        assert answer.status == 200
        sent.append(answer.apns_id.lower())
    assert neighbour.post(theirs, payload).status == 200
    refused = provider.post("00" * 32, payload)
    assert refused.status == 400
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        device.login(first)
        device.notifications(2)
        device.acknowledge_stream(device.received_count)
        wait_until(
            lambda: not [one for one in everything(server, "notifications", state="waiting")
                         if one.get("device") == str(first.device)], "ours is acknowledged")
    provider.close()
    neighbour.close()
    return {"sent": sent, "first": first, "second": second, "refused": refused.apns_id.lower()}


def test_notifications_come_the_newest_first_and_a_team_sees_its_own(server, world):
    found = everything(server, "notifications")
    assert [one["apnsId"].lower() for one in found] == [world["refused"], *reversed(world["sent"])]
    assert [(one["state"], one["last"]) for one in found] == [
        ("refused", "failed(BadDeviceToken)"), ("waiting", "stored"), ("waiting", "stored"), ("ended", "acked")]
    assert {one["topic"] for one in everything(server, "notifications", OTHER_TEAM)} == {OTHER_TOPIC}


def test_filters_and_cursors(server, world):
    by_device = everything(server, "notifications", device=world["second"].device)
    assert [one["apnsId"].lower() for one in by_device] == list(reversed(world["sent"][1:]))
    assert everything(server, "notifications", state="waiting") == by_device
    assert everything(server, "notifications", app=OTHER_TOPIC) == [], "another team's"
    assert everything(server, "notifications", limit=1) == everything(server, "notifications")


@pytest.mark.parametrize("path, wrong", [
    ("notifications?ap=x", "there is no field"), ("notifications?state=gone", "waiting, ended, refused"),
    ("notifications?limit=0", "1 to 1000"), ("devices?after=x", "what an answer said"),
    ("notifications?device=me", "decimal"), ("apps?limit=1&limit=2", "twice")])
def test_what_is_asked_wrongly_is_said(server, path, wrong):
    status, body = server.control().request("GET", f"/v1/{path}")
    assert status == 400 and wrong in json.loads(body)["detail"]


def test_without_a_provider_token_nothing_is_listed(server):
    for name in ("notifications", "devices", "apps"):
        assert server.control().request("GET", f"/v1/{name}", headers={"authorization": "bearer x"})[0] == 401


def test_devices_show_a_team_its_own_registrations(server, world):
    first, second = str(world["first"].device), str(world["second"].device)
    app = {"topic": TOPIC, "environment": "production"}
    found = {one["device"]: one for one in everything(server, "devices", limit=1)}
    assert {name: one["apps"] for name, one in found.items()} == {first: [app], second: [app]}
    assert [one["device"] for one in everything(server, "devices", OTHER_TEAM)] == [first]
    server.aldaba("device", "block", second)
    try:
        assert [one["device"] for one in everything(server, "devices", state="blocked")] == [second]
        told = json.loads(server.aldaba("device", "list", "--state", "blocked", "--json").stdout)
        assert [one["device"] for one in told] == [second]
        told = json.loads(server.aldaba("device", "list", "--app", OTHER_TOPIC, "--json").stdout)
        assert [one["device"] for one in told] == [first]
    finally:
        server.aldaba("device", "unblock", second)


def test_apps_are_listed_and_changed(server):
    (app,) = listed(server, "apps")["apps"]
    assert (app["topic"], app["team"], app["limit"], app["capabilities"]) == (TOPIC, TEAM, 1000, ["push"])
    server.aldaba("app", "update", TOPIC, "--name", "Own", "--limit", "7", "--overflow", "keepNewest")
    (app,) = listed(server, "apps", name="OW")["apps"]
    assert (app["name"], app["limit"], app["overflow"]) == ("Own", 7, "keepNewest")
    assert listed(server, "apps", name="nothing") == {"apps": []}
    server.aldaba("app", "update", TOPIC, "--name", "", "--limit", "1000", "--overflow", "dropOldest")
    assert "name" not in listed(server, "apps")["apps"][0]
    assert server.aldaba("app", "update", TOPIC, check=False).returncode == 2, "nothing is named"
    assert server.aldaba("app", "update", "com.example.none", "--limit", "3", check=False).returncode == 3


def test_a_key_that_was_made_elsewhere_is_let_in(server, tmp_path):
    key = ProviderKey.made_now("IMPORTED01", TEAM)
    file = tmp_path / "AuthKey_IMPORTED01.p8"
    file.write_bytes(key.private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    file.chmod(0o600)
    assert server.control(key).request("GET", "/v1/apps")[0] == 401
    server.aldaba("key", "import", file, "--team", TEAM)
    assert server.control(key).request("GET", "/v1/apps")[0] == 200
    server.aldaba("key", "import", file, "--team", TEAM)  # again changes nothing
    assert server.aldaba("key", "token", "--key-id", "IMPORTED01").stdout
    other = server.aldaba("key", "import", file, "--team", OTHER_TEAM, check=False)
    assert other.returncode == 3 and "another key IMPORTED01" in other.stderr
    server.aldaba("key", "revoke", "IMPORTED01")
    again = server.aldaba("key", "import", file, "--team", TEAM, check=False)
    assert again.returncode == 3 and "does not come back" in again.stderr


def own(server, *arguments, **options):
    """A command that asks the server by its address and its authority, signed with our team's key."""
    return server.aldaba(
        *arguments, "--server", f"127.0.0.1:{server.addresses['controlPort']}", "--ca", server.ready["ca"], "--key-id",
        server.key().key_id, **options)


def test_aldaba_asks_a_server_with_its_own_certificate(server, world):
    lines = own(server, "list").stdout.splitlines()
    assert len(lines) == 4 and "refused, failed(BadDeviceToken)" in lines[0]
    page = own(server, "list", "--limit", "3")
    cursor = re.search(r"--after (\d+)", page.stderr)[1]
    assert page.stdout.splitlines() + own(server, "list", "--after", cursor).stdout.splitlines() == lines
    told = [json.loads(line) for line in own(server, "list", "--state", "waiting", "--json").stdout.splitlines()]
    assert told == everything(server, "notifications", state="waiting")
    assert "stored" in own(server, "get", world["sent"][2], "--timeline").stdout
    assert own(server, "get", world["sent"][0], "--json").stdout
    # The addresses of the data folder, and an authority that is not there.
    known = server.aldaba("get", world["sent"][1], "--ca", server.ready["ca"], "--key-id", server.key().key_id)
    assert "stored" in known.stdout
    assert own(server, "report", "--json").stdout.startswith("{")


def test_devices_are_simulated_at_a_server_with_its_own_certificate(server, tmp_path):
    tokens = tmp_path / "tokens"
    server.aldaba(
        "device", "simulate", "2", "--offline", "--tokens", tokens, "--topic", TOPIC, "--team", TEAM, "--server",
        f"127.0.0.1:{server.addresses['controlPort']}", "--ca", server.ready["ca"],
        env={"ALDABA_ENROLMENT_KEY": server.enrolment_key, "PATH": "/usr/bin"})
    assert len(tokens.read_text().split()) == 2


def test_what_goes_wrong_with_a_connection_is_a_sentence(server, world, tmp_path):
    stranger = make_certificates(tmp_path / "stranger").ca
    (tmp_path / "empty.pem").write_text("nothing\n")
    control, metrics = server.addresses["controlPort"], server.addresses["metricsPort"]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = closed.getsockname()[1]
        cases = [
            (f"127.0.0.1:{control}", stranger, 6, "no authority that is trusted here signed its certificate"),
            (f"127.0.0.2:{control}", server.ready["ca"], 6, "nothing listens there"),
            (f"127.0.0.1:{nobody}", server.ready["ca"], 6, "nothing listens there"),
            (f"127.0.0.1:{metrics}", server.ready["ca"], 6, "TLS"),
            (f"no-such-host.invalid:{control}", server.ready["ca"], 6, "no machine of the name"),
            (f"127.0.0.1:{control}", tmp_path / "empty.pem", 3, "no certificate in PEM"),
            (f"127.0.0.1:{control}", tmp_path / "none.pem", 3, "cannot be read"),
            ("127.0.0.1", server.ready["ca"], 3, "is not host:port"),
        ]
        for address, authority, code, words in cases:
            for command in (("get", world["sent"][0]), ("list",)):
                done = server.aldaba(
                    *command, "--server", address, "--ca", authority, "--key-id", server.key().key_id, check=False)
                assert (done.returncode, words in done.stderr) == (code, True), (address, done.stderr)
                said = done.stderr.replace(str(tmp_path), "")
                assert len(said.splitlines()) == 1 and not LIBRARY_WORDS.search(said.replace("TLS", "")), said


def test_doctor_checks_certificate_key_agent_and_a_provider_token(server):
    files = ("--certificate", server.certificates.server, "--certificate-key", server.certificates.key)
    told = server.aldaba("doctor", *files, check=False).stdout
    assert f"{server.certificates.server}: 0 days left, its key fits" in told
    assert re.search(r"ok +provider key [A-Z0-9]{10}: its tokens are taken for team", told)
    assert "no authority that is trusted here signed its certificate" in told, "the folder has none"
    assert "agent: none answers at" in told
    oldest = re.search(r"provider key ([A-Z0-9]{10})", told)[1]
    server.aldaba("key", "revoke", oldest)
    told = server.aldaba("doctor", *files, check=False).stdout
    assert f"problem  provider key {oldest}: a token of it is refused" in told


def test_doctor_sees_the_agent_and_that_the_running_server_takes_a_token(up):
    told = run_aldaba("doctor", "--data", up.data, check=False).stdout
    assert re.search(r"agent: process \d+ at .*, connected to its server", told)
    assert "the running server's certificate is trusted, and it takes a provider token" in told
