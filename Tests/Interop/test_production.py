"""A server in production mode: who is let in, by which TLS, how much at once, and what others can read of it."""

import http.client
import json
import os
import socket
import ssl
import stat
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hyperframe.frame import DataFrame, HeadersFrame, RstStreamFrame, WindowUpdateFrame

from aldaba_process import BINARY, clean_environment
from certificates import make_certificates
from h2_client import H2Client
from heard_connection import HeardConnection
from mcs_client import Device, Identity
from own_server import ENROLMENT_KEY, LISTENERS, TEAM, TOPIC, OwnServer
from provider_tokens import ProviderKey
from raw_http2 import DATA, END_HEADERS, END_STREAM, HEADERS, RawConnection, block, frame

OTHER_TEAM, OTHER_TOPIC = "OTHERTEAM1", "com.example.neighbour"
SECURED = ("apns", "device", "control")
MAX_CONCURRENT_STREAMS = 3
HOUR = 3600


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = OwnServer(tmp_path_factory.mktemp("production"), "test_production")
    made.add_app()
    made.add_app(OTHER_TOPIC, OTHER_TEAM)
    made.key()
    made.key(OTHER_TEAM)
    with made as running:
        yield running


@pytest.fixture(scope="module")
def accepted(server):
    """The `apns-id` of each team's notification, accepted through its own app on one device."""
    control = server.control()
    device = control.enrol()
    ids = {}
    for team, topic in ((TEAM, TOPIC), (OTHER_TEAM, OTHER_TOPIC)):
        provider = server.provider(server.key(team), topic)
        answer = provider.post(control.token(device, topic, team, "production"), {"aps": {"alert": team}})
        provider.close()
        assert answer.status == 200, answer.reason
        ids[team] = answer.apns_id
    return ids


# --- who may ask ----------------------------------------------------------------------------------------------

UNACCEPTED = {
    "no header": lambda key: None,
    "an empty header": lambda key: "",
    "no token": lambda key: "bearer ",
    "no scheme": lambda key: key.token(),
    "another scheme": lambda key: f"Basic {key.token()}",
    "noise": lambda key: "bearer " + "x" * 200,
    "a key nobody knows": lambda key: f"bearer {ProviderKey.made_now('UNKNOWNKEY', TEAM).token()}",
    "a known key's id on another's signature":
        lambda key: f"bearer {ProviderKey.made_now(key.key_id, TEAM).token()}",
    "another team in the claims": lambda key: "bearer " + key.token(
        claims={"iss": OTHER_TEAM, "iat": int(time.time())}),
    "a token of yesterday": lambda key: f"bearer {key.token(issued=int(time.time()) - 24 * HOUR)}",
    "a token of an hour and a minute ago": lambda key: f"bearer {key.token(issued=int(time.time()) - HOUR - 60)}",
    "a token without a signature": lambda key: f"bearer {key.token().rsplit('.', 1)[0]}.",
    "a token that asks for no signature": lambda key: "bearer " + key.token(
        header={"alg": "none", "kid": key.key_id}).rsplit(".", 1)[0] + ".",
}


@pytest.mark.parametrize("name", UNACCEPTED)
def test_a_timeline_is_not_told_without_a_good_provider_token(server, accepted, name):
    authorization = UNACCEPTED[name](server.key())
    headers = {} if authorization is None else {"authorization": authorization}
    control = server.control()
    control.provider_key = None
    status, body = control.request("GET", f"/v1/notifications/{accepted[TEAM]}", headers=headers)
    assert (status, b"notAuthorized" in body) == (401, True), body
    assert TOPIC.encode() not in body


def test_a_team_sees_its_own_timelines_and_no_other_team_s(server, accepted):
    for team, topic, other in ((TEAM, TOPIC, OTHER_TEAM), (OTHER_TEAM, OTHER_TOPIC, TEAM)):
        control = server.control(server.key(team))
        (found,) = control.notifications(accepted[team])
        assert (found["team"], found["topic"]) == (team, topic)
        assert control.notifications(accepted[other]) == []
        assert control.notifications(found["id"]) == [found]
        assert server.control(server.key(other)).notifications(found["id"]) == []


REFUSED_KEYS = {
    "no header": None, "no key": "Enrol ", "an empty header": "", "another scheme": f"bearer {ENROLMENT_KEY}",
    "another key": "Enrol another", "the key but for its last letter": f"Enrol {ENROLMENT_KEY[:-1]}",
    "the key and one letter more": f"Enrol {ENROLMENT_KEY}x", "the key twice": f"Enrol {ENROLMENT_KEY * 2}",
    "the key in capitals": f"Enrol {ENROLMENT_KEY.upper()}",
}


@pytest.mark.parametrize("name", REFUSED_KEYS)
def test_a_device_does_not_enrol_without_the_key(server, name):
    control = server.control()
    control.enrolment_key = None
    headers = {"content-type": "application/json"}
    if REFUSED_KEYS[name] is not None:
        headers["authorization"] = REFUSED_KEYS[name]
    status, body = control.request("POST", "/checkin", '{"android_id": 0, "security_token": 0}', headers)
    assert (status, b"notAuthorized" in body) == (401, True), body
    assert b"android_id" not in body and ENROLMENT_KEY.encode() not in body


def test_a_device_that_enrols_with_the_key_can_log_in(server):
    identity = Identity(*server.control().enrol())
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        assert device.login(identity).message.get(3) is None


# --- which doors there are ------------------------------------------------------------------------------------


def listening_ports(pid):
    """The TCP ports on which a process listens."""
    inodes = {os.readlink(f"/proc/{pid}/fd/{each}") for each in os.listdir(f"/proc/{pid}/fd")}
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports


def test_there_is_no_listener_for_development(server):
    assert server.addresses.get("httpPort") is None
    assert listening_ports(server.process.pid) == {server.addresses[f"{name}Port"] for name in LISTENERS}


@pytest.mark.parametrize("method, path", [
    ("POST", "/checkin"), ("POST", "/c2dm/register3"), ("GET", "/v1/notifications/1")])
def test_the_plain_listener_for_metrics_serves_nothing_else(server, method, path):
    connection = http.client.HTTPConnection("127.0.0.1", server.addresses["metricsPort"], timeout=10)
    connection.request(method, path, headers={"authorization": f"Enrol {ENROLMENT_KEY}"})
    assert connection.getresponse().status == 404
    connection.close()


@pytest.mark.parametrize("listener", SECURED)
def test_a_secured_listener_answers_no_plain_http(server, listener):
    with socket.create_connection(("127.0.0.1", server.addresses[f"{listener}Port"]), 10) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        try:
            while piece := plain.recv(4096):
                received += piece
        except ConnectionResetError:
            pass
    # The device channel tells a program on this machine that it takes WebSockets of browsers, and nothing else.
    assert received.startswith(b"HTTP/1.1 426 ") if listener == "device" else b"HTTP/" not in received


def handshake(server, listener, version):
    """The TLS version that was agreed on when exactly one is offered."""
    context = ssl.create_default_context(cafile=server.ready["ca"])
    # OpenSSL offers what is before TLS 1.2 only where a caller asks for no security.
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    if listener == "apns":
        context.set_alpn_protocols(["h2"])
    with socket.create_connection(("127.0.0.1", server.addresses[f"{listener}Port"]), 10) as plain:
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as secured:
            return secured.version()


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("version", ["TLSv1", "TLSv1_1"])
@pytest.mark.parametrize("listener", SECURED)
def test_an_old_tls_is_refused_by_the_server(server, listener, version):
    with pytest.raises(ssl.SSLError) as refusal:
        handshake(server, listener, ssl.TLSVersion[version])
    assert refusal.value.reason == "TLSV1_ALERT_PROTOCOL_VERSION", "the server says so, not our own library"


@pytest.mark.parametrize("version, name", [("TLSv1_2", "TLSv1.2"), ("TLSv1_3", "TLSv1.3")])
@pytest.mark.parametrize("listener", SECURED)
def test_tls_1_2_and_1_3_are_spoken(server, listener, version, name):
    assert handshake(server, listener, ssl.TLSVersion[version]) == name


# --- how much at once -----------------------------------------------------------------------------------------


def push(server, token="00" * 32):
    """The header block of a good request but for its device token."""
    return block([
        (":method", "POST"), (":scheme", "https"), (":authority", urlsplit(server.ready["apns"]).netloc),
        (":path", f"/3/device/{token}"), ("authorization", f"bearer {server.key().token()}"), ("apns-topic", TOPIC)])


@pytest.fixture(scope="module")
def limit(server):
    """How many streams the server's SETTINGS allow at once."""
    with HeardConnection(server.ready["apns"], server.ready["ca"]) as connection:
        return connection.settings[MAX_CONCURRENT_STREAMS]


def test_about_a_thousand_streams_are_allowed(limit):
    assert 100 <= limit <= 1000


def test_a_stream_beyond_the_limit_is_refused_while_the_others_go_on(server, limit):
    """As a client meets it that opens streams before it has read the server's SETTINGS."""
    head, last = push(server), 2 * limit - 1
    with RawConnection(server.ready["apns"], server.ready["ca"]) as connection:
        connection.write(b"".join(frame(HEADERS, END_HEADERS, stream, head) for stream in range(1, last + 3, 2)))
        assert connection.outcome(stream=last + 2) == "reset REFUSED_STREAM"
        assert connection.answers_ping()
        connection.write(frame(DATA, END_STREAM, last, b"{}"))
        assert connection.outcome(stream=last) == "400", "the last that was let in is served"
        connection.write(frame(HEADERS, END_HEADERS, last + 4, head) + frame(DATA, END_STREAM, last + 4, b"{}"))
        assert connection.outcome(stream=last + 4) == "400", "where one has ended, another is let in"


def test_a_stream_against_the_settings_that_were_acknowledged_is_not_served(server, limit):
    head, last = push(server), 2 * limit - 1
    with HeardConnection(server.ready["apns"], server.ready["ca"]) as connection:
        connection.write(b"".join(frame(HEADERS, END_HEADERS, stream, head) for stream in range(1, last + 3, 2)))
        # RFC 9113, section 5.1.2; a stream error may be made one of the connection (section 5.4.2).
        refusals = ("reset REFUSED_STREAM", "reset PROTOCOL_ERROR", "goaway PROTOCOL_ERROR")
        assert connection.outcome(stream=last + 2) in refusals


def test_all_that_the_settings_allow_can_be_used_at_once(server, limit):
    """By a provider that sends the heads of all its requests before the first body, and reads nothing meanwhile."""
    head, body = push(server), b'{"aps":{"alert":"%s"}}' % (b"x" * 900)
    streams = range(1, 2 * limit, 2)
    assert limit * len(body) < 1 << 20, "within the connection's window"
    with HeardConnection(server.ready["apns"], server.ready["ca"]) as connection:
        connection.write(b"".join(frame(HEADERS, END_HEADERS, stream, head) for stream in streams))
        connection.write(b"".join(frame(DATA, END_STREAM, stream, body) for stream in streams))
        statuses, ended = {}, set()

        def all_ended(each):
            if isinstance(each, HeadersFrame):
                statuses[each.stream_id] = connection.status_of(each)
            if "END_STREAM" in each.flags or isinstance(each, RstStreamFrame):
                ended.add(each.stream_id)
            return len(ended) == limit

        connection.until(all_ended)
        assert {stream: statuses.get(stream) for stream in streams} == dict.fromkeys(streams, "400")


@pytest.mark.parametrize("more", [1 << 10, 36 << 10])
def test_a_body_far_too_large_is_answered_and_the_rest_is_not_wanted(server, more):
    piece = b"x" * 1024
    with HeardConnection(server.ready["apns"], server.ready["ca"]) as connection:
        connection.write(frame(HEADERS, END_HEADERS, 1, push(server)))
        for _ in range(32):
            connection.write(frame(DATA, 0, 1, piece) * 32)
            connection.until(lambda each: isinstance(each, WindowUpdateFrame) and each.stream_id == 1)
        connection.write(frame(DATA, 0, 1, piece) * (more // len(piece)))
        frames = connection.until(lambda each: isinstance(each, RstStreamFrame))
        of_stream = [each for each in frames if each.stream_id == 1 and not isinstance(each, WindowUpdateFrame)]
        assert [type(each) for each in of_stream] == [HeadersFrame, DataFrame, RstStreamFrame], of_stream
        assert connection.status_of(of_stream[0]) == "413"
        assert "END_STREAM" in of_stream[1].flags and b"PayloadTooLarge" in of_stream[1].data
        assert of_stream[2].error_code == 0
        # What was under way when the reset came is passed over; it opens no window, and harms no other stream.
        connection.write(frame(DATA, 0, 1, piece) * 3)
        connection.write(frame(HEADERS, END_HEADERS, 3, push(server)) + frame(DATA, END_STREAM, 3, b"{}"))
        later = connection.until(lambda each: each.stream_id == 3 and "END_STREAM" in each.flags)
        assert [each for each in later if each.stream_id == 1] == []
        assert connection.status_of(next(each for each in later if isinstance(each, HeadersFrame))) == "400"


def test_a_provider_that_sends_far_too_much_can_go_on(server):
    where = f"/3/device/{'00' * 32}"
    with H2Client(server.ready["apns"], server.ready["ca"]) as client:
        headers = server.provider().headers()
        for _ in range(3):
            answer = client.request("POST", where, headers, b"x" * (1 << 20))
            assert (answer.status, answer.reason) == (413, "PayloadTooLarge")
        assert client.request("POST", where, headers, b'{"aps":{}}').reason == "BadDeviceToken"


# --- what others can read -------------------------------------------------------------------------------------


def test_nobody_else_can_read_the_data_folder(server, accepted):
    seen = {}
    for folder, _, files in os.walk(server.data):
        for path in [folder, *(os.path.join(folder, each) for each in files)]:
            status = os.lstat(path)
            seen[os.path.relpath(path, server.data)] = (stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode))
    assert {".", "server.sqlite", "server.sqlite-wal", "token.key", "serve.json", "keys/keys.json"} <= set(seen)
    wrong = {
        path: oct(mode) for path, (kind, mode) in seen.items()
        if mode != (0o700 if kind == stat.S_IFDIR else 0o600)}
    assert wrong == {}


def test_a_development_server_keeps_a_certificate_that_somebody_put_into_its_folder(tmp_path):
    made = make_certificates(tmp_path / "made")
    folder = tmp_path / "data/certificates"
    folder.mkdir(parents=True, mode=0o700)
    (tmp_path / "data").chmod(0o700)
    (folder / "server.pem").write_bytes(made.server.read_bytes())
    (folder / "server-key.pem").write_bytes(made.key.read_bytes())
    (folder / "server-key.pem").chmod(0o600)
    ports = [f"--{name}-port=0" for name in ("apns", "device", "control", "http", "metrics")]
    with subprocess.Popen(
            [str(BINARY), "serve", "--report-ready", f"--data={tmp_path / 'data'}", "--development=true", *ports],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean_environment()) as process:
        assert json.loads(process.stdout.readline())["httpPort"]
        process.terminate()
    assert (folder / "server.pem").read_bytes() == made.server.read_bytes()
