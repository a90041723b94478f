"""`--apple-limits`: a provider's connection has the limits that Apple sets; seen by h2, aioapns and our own senders."""

import asyncio
import json
import os
import secrets
import ssl
import subprocess
import sys
import time
import urllib.request
import uuid
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol

from aldaba_process import BINARY, AldabaUp, clean_environment, run_aldaba
from course import Course
from h2_client import ConnectionEnded, H2Client
from limited_connection import Connection, FrameByFrame
from own_server import OwnServer
from provider_tokens import ProviderKey
from test_run import pytestmark as needs_namespaces, run
from vendor_requests import ACCEPT_ANY
from waiting import wait_for_lines, wait_until

OPEN, ONE, BUDGET = 1000, 1, 50
NOBODY = "00" * 32
MINUTE = 60


@pytest.fixture(scope="module")
def up(request):
    """A run with the limits, for this module."""
    running = AldabaUp.ephemeral("--apple-limits", name=request.module.__name__)
    yield running
    running.stop()


@pytest.fixture
def connect(path, provider):
    """`connect(authorization)` opens a connection, by default with a token of the first key."""
    begun = []

    def open_one(authorization=None, topic=None, **options):
        authorization = authorization or f"bearer {provider.key.token()}"
        begun.append(Connection(path, authorization, topic or path["topic"], **options))
        return begun[-1]

    yield open_one
    for one in begun:
        one.close()


@pytest.fixture
def proven(connect):
    """A connection whose limit was raised."""
    one = connect()
    assert one.post() == "200"
    one.wait_for_limit(ONE, OPEN)
    return one


# --- one stream ---------------------------------------------------------------------------------------------------


def test_a_connection_has_one_stream_until_a_token_is_accepted(connect):
    one = connect()
    one.wait_for_limit(ONE)
    assert one.post() == "200"
    one.wait_for_limit(ONE, OPEN)


@pytest.mark.parametrize("headers, answer", [
    ({"authorization": "bearer nonsense"}, "403 InvalidProviderToken"),
    ({"authorization": None}, "403 MissingProviderToken"),
    ({"token": NOBODY}, "400 BadDeviceToken"), ({"apns_topic": "com.example.nobody"}, "400 TopicDisallowed"),
])
def test_a_refusal_does_not_raise_the_limit(connect, headers, answer):
    one = connect()
    assert one.post(**headers) == answer
    one.settle()
    assert one.limits == [ONE]
    assert one.post() == "200"
    one.wait_for_limit(ONE, OPEN)


def test_streams_over_the_limit_are_refused_and_not_processed(connect, control):
    names = [str(uuid.uuid4()) for _ in range(5)]
    first, *others = connect().at_once(*({"apns_id": name} for name in names))
    assert first.status == 200
    assert [str(each) for each in others] == ["REFUSED_STREAM"] * 4
    control.wait_for_last_state(names[0], "handed")
    assert [control.notifications(name) for name in names[1:]] == [[]] * 4


def test_a_connection_that_was_refused_streams_goes_on(connect):
    one = connect()
    one.at_once({}, {}, {})
    assert one.post() == "200"


def test_after_the_first_answer_many_streams_are_open_at_once(proven):
    assert {each.status for each in proven.at_once(*[{}] * 100)} == {200}


def test_with_a_certificate_the_limit_is_high_from_the_start(connect, path, tmp_path):
    certificate, _ = Course(tmp_path, path["data"]).certificate(path["topic"])
    one = connect(certificate=certificate)
    assert {each.status for each in one.at_once(*[{"authorization": None}] * 50)} == {200}
    one.settle()
    assert one.limits[-1] == OPEN


def test_a_certificate_s_refusal_lowers_its_limit_too(connect, path, tmp_path):
    certificate, _ = Course(tmp_path, path["data"]).certificate(path["topic"])
    one = connect(certificate=certificate)
    assert one.post(NOBODY, authorization=None) == "400 BadDeviceToken"
    one.settle()
    assert one.limits[-1] == ONE


REFUSALS = {
    "400 BadDeviceToken": {"token": NOBODY}, "400 TopicDisallowed": {"apns_topic": "com.example.nobody"},
    "400 BadPriority": {"apns_priority": 7}, "400 PayloadEmpty": {"body": b""},
    "405 MethodNotAllowed": {"method": "PUT"}, "403 InvalidProviderToken": {"authorization": "bearer nonsense"}, 
    "413 PayloadTooLarge": {"body": b"x" * 5000},
}


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_lowers_the_limit_and_the_next_acceptance_restores_it(proven, answer):
    assert proven.post(**REFUSALS[answer]) == answer
    proven.wait_for_limit(ONE, OPEN, ONE)
    assert proven.post() == "200"
    proven.wait_for_limit(ONE, OPEN, ONE, OPEN)


def test_streams_over_an_acknowledged_limit_end_the_connection(proven):
    """RFC 9113, 5.1.2 and 5.4.1: a server may treat it as an error of the connection."""
    assert proven.post(NOBODY) == "400 BadDeviceToken"
    proven.wait_for_limit(ONE, OPEN, ONE)
    with pytest.raises(ConnectionEnded):
        proven.at_once({}, {})


@pytest.fixture
def dead(control, path):
    """A token whose app was removed from its device."""
    device = control.enrol()
    token = control.token(device, path["topic"], path["teamId"])
    control.register(device, path["topic"], path["teamId"], delete=True)
    return token


def test_a_dead_token_changes_nothing(proven, dead):
    for _ in range(BUDGET + 10):
        assert proven.post(dead) == "410 Unregistered"
    assert proven.limits == [ONE, OPEN]
    assert proven.post() == "200"


# --- the error budget ---------------------------------------------------------------------------------------------


def use_up(one, bad_tokens, others=0):
    """The same, for as many as use up the budget: the end may come before the last answer is read."""
    with suppress(ConnectionEnded):
        refused(one, bad_tokens, others)
    assert one.wait_for_end() == {"reason": "TooManyRequests"}


def refused(one, bad_tokens, others=0):
    for _ in range(bad_tokens):
        assert one.post(NOBODY) == "400 BadDeviceToken"
    for _ in range(others):
        assert one.post(apns_priority=7) == "400 BadPriority"


@pytest.mark.parametrize("bad_tokens, others", [(25, 0), (0, 50), (20, 10)])
def test_the_refusal_that_uses_up_the_budget_ends_the_connection(proven, bad_tokens, others):
    use_up(proven, bad_tokens, others)


def test_the_last_refusal_is_answered_before_the_connection_ends(proven):
    """Libraries that are built on h2 read nothing after GOAWAY."""
    refused(proven, 25)
    proven.wait_for_end()


@pytest.mark.parametrize("bad_tokens, others", [(24, 1), (0, 49)])
def test_one_point_less_does_not(proven, bad_tokens, others):
    refused(proven, bad_tokens, others)
    assert proven.post() == "200"


def test_acceptances_give_points_back(proven):
    refused(proven, 24)
    for _ in range(20):
        assert proven.post() == "200"
    refused(proven, 10, 1)  # 48 - 20 + 21
    assert proven.post() == "200"
    use_up(proven, 0, 2)


def test_acceptances_save_nothing_for_later(proven):
    for _ in range(30):
        assert proven.post() == "200"
    use_up(proven, 25)


def test_the_budget_is_a_connection_s(connect):
    first, second = connect(), connect()
    refused(first, 24, 1)
    refused(second, 24, 1)
    assert (first.post(), second.post()) == ("200", "200")
    third = connect()
    use_up(first, 0, 2)
    assert (second.post(), third.post()) == ("200", "200")


def test_an_open_answer_comes_before_the_connection_ends(path, provider, control):
    """h2 reads nothing after GOAWAY, so the frames are read by hand."""
    slow = control.token(control.enrol(), path["topic"], path["teamId"])
    fault = json.dumps({"action": "delay", "delay": 700, "token": slow})
    status, body = control.request("POST", "/v1/faults", fault, {"content-type": "application/json"})
    assert status == 201, body
    with FrameByFrame(path, provider) as one:
        assert one.outcome(one.post()) == "200"
        for _ in range(24):
            assert one.outcome(one.post(NOBODY)) == "400"
        assert one.outcome(one.post(apns_priority="7")) == "400"
        assert one.outcome(one.post()) == "200"
        # Of fifty points 48 are used.
        held = one.post(slow)
        one.post(NOBODY)
        heard = one.heard()
    assert heard.index("goaway") < heard.index(("200", held)) < heard.index("closed"), heard


# --- provider tokens ----------------------------------------------------------------------------------------------


def made_at(key, ago):
    return f"bearer {key.token(issued=int(time.time()) - ago)}"


def test_a_second_token_within_twenty_minutes_is_refused_and_the_first_still_works(connect, provider):
    first, second = made_at(provider.key, 120), made_at(provider.key, 60)
    one = connect(first)
    assert one.post() == "200"
    assert one.post(authorization=second) == "429 TooManyProviderTokenUpdates"
    assert one.post(authorization=first) == "200"
    assert one.post(authorization=second) == "429 TooManyProviderTokenUpdates"


def test_a_second_token_is_taken_on_another_connection(connect, provider):
    assert connect(made_at(provider.key, 120)).post() == "200"
    assert connect(made_at(provider.key, 60)).post() == "200"


def test_a_token_of_another_key_is_no_second_one(connect, provider, path):
    made = json.loads(run_aldaba("key", "create", "--team", path["teamId"], "--json", "--data", path["data"]).stdout)
    with open(made["path"], "rb") as file:
        other = ProviderKey(file.read(), made["keyId"], path["teamId"])
    one = connect()
    assert one.post() == "200"
    assert one.post(authorization=f"bearer {other.token()}") == "200"


@contextmanager
def development_server(folder, *flags):
    with OwnServer(folder, "test_apple_limits.serve", *ACCEPT_ANY, *flags) as server:
        yield server


@pytest.mark.parametrize("flag", ["--apple-limits", "--apple-limits=true"])
def test_after_twenty_minutes_another_token_is_taken(tmp_path, flag):
    key = ProviderKey.made_now("KEY1234567", "DEF123GHIJ")
    with development_server(tmp_path, flag) as server, httpx.Client(base_url=server.ready["http"]) as http:
        with Connection(server.ready, made_at(key, 2 * MINUTE), "com.example.App") as one:
            one.token = secrets.token_hex(32)
            assert one.post() == "200"
            assert one.post(authorization=made_at(key, MINUTE)) == "429 TooManyProviderTokenUpdates"
            http.post("/v1/clock", json={"advance": "19m"}).raise_for_status()
            assert one.post(authorization=made_at(key, MINUTE)) == "429 TooManyProviderTokenUpdates"
            http.post("/v1/clock", json={"advance": "2m"}).raise_for_status()
            assert one.post(authorization=made_at(key, 0)) == "200"


# --- without the setting, and where it is set ---------------------------------------------------------------------


def test_without_the_setting_there_are_no_limits(tmp_path):
    key = ProviderKey.made_now("KEY1234567", "DEF123GHIJ")
    with development_server(tmp_path) as server:
        with Connection(server.ready, made_at(key, 2 * MINUTE), "com.example.App") as one:
            one.token = secrets.token_hex(32)
            assert {each.status for each in one.at_once(*[{}] * 20)} == {200}
            second = made_at(key, MINUTE)
            assert one.post(authorization=second) == "200"
            for _ in range(BUDGET + 10):
                assert one.post("0" * 60 + "0400", authorization=second) == "400 BadDeviceToken"
            assert one.post(authorization=second) == "200" and set(one.limits) == {OPEN}


ASK = """
import os, sys
from urllib.parse import urlsplit
import h2.config, h2.connection, h2.events, socket, ssl
context = ssl.create_default_context()
context.set_alpn_protocols(["h2"])
host = "api.push.apple.com"
with context.wrap_socket(socket.create_connection((host, 443)), server_hostname=host) as secured:
    connection = h2.connection.H2Connection()
    connection.initiate_connection()
    secured.sendall(connection.data_to_send())
    while connection.remote_settings.max_concurrent_streams > 1000:
        connection.receive_data(secured.recv(65536))
    print(connection.remote_settings.max_concurrent_streams)
"""


@needs_namespaces
@pytest.mark.parametrize("flags, limit", [(["--apple-limits"], ONE), ([], OPEN)], ids=["with the flag", "without"])
def test_a_run_has_the_limits_where_they_are_set(flags, limit):
    done = run(sys.executable, "-c", ASK, flags=flags)
    assert done.stdout == f"{limit}\n", done.stderr


@pytest.mark.parametrize("place", ["file", "variable"])
def test_a_file_or_a_variable_sets_it(tmp_path, place):
    file = tmp_path / "aldaba.yaml"
    file.write_text("apple-limits: true\n")
    flags, variables = (["--config", file], {}) if place == "file" else ([], {"ALDABA_APPLE_LIMITS": "true"})
    running = AldabaUp.ephemeral(
        *flags, name="test_apple_limits.configured", environment=clean_environment(**variables))
    try:
        with H2Client(running.ready["apns"], running.ready["ca"]) as client:
            wait_until(lambda: client.receive(0.01) or client.streams_allowed < 2**32, "SETTINGS are here")
            assert client.streams_allowed == ONE
    finally:
        running.stop()


# --- what is counted, and senders that people use -----------------------------------------------------------------


def counted(path):
    """The metric, by its label."""
    with urllib.request.urlopen(f"{path['metrics']}/metrics", timeout=10) as answer:
        lines = [line for line in answer.read().decode().splitlines() if line.startswith("aldaba_apns_limits_total{")]
    return {line.split('"')[1]: float(line.rsplit(" ", 1)[1]) for line in lines}


def test_each_limit_is_counted(connect, provider, path):
    before = counted(path)
    one = connect(made_at(provider.key, 120))
    assert one.post() == "200"
    use_up(one, 25)
    after = counted(path)
    assert set(after) == {"one-stream", "error-budget"}
    assert all(after[limit] > before.get(limit, 0) for limit in after), (before, after)


COUNT = 300


async def by_aioapns(path, requests):
    """The first is sent alone, on the only connection: the library opens streams before it has read SETTINGS."""
    address = urlsplit(path["apns"])
    client = APNs(
        key=Path(path["key"]).read_text(), key_id=path["keyId"], team_id=path["teamId"], topic=path["topic"],
        use_sandbox=True, ssl_context=ssl.create_default_context(cafile=path["ca"]), max_connections=1)
    host = {"APNS_SERVER": address.hostname, "APNS_PORT": address.port}
    client.pool.protocol_class = type("Here", (APNsDevelopmentClientProtocol,), host)
    try:
        first = await client.send_notification(requests[0])
        return [first, *await asyncio.gather(*(client.send_notification(request) for request in requests[1:]))]
    finally:
        client.pool.close()


def test_aioapns_sends_three_hundred(path):
    requests = [
        NotificationRequest(
            device_token=path["deviceToken"], message={"aps": {"alert": f"{number}"}}, push_type=PushType.ALERT)
        for number in range(COUNT)]
    results = asyncio.run(asyncio.wait_for(by_aioapns(path, requests), 40))
    assert Counter((result.status, result.description) for result in results) == {("200", None): COUNT}
    sent = {request.notification_id for request in requests}
    wait_for_lines(path["appLog"], lambda lines: sent <= set(lines), "the app was handed all of them", 40)


def test_httpx_sends_three_hundred_at_once(path, provider):
    fields, body = dict(provider.headers()), b'{"aps":{"alert":"Hello"}}'

    async def send():
        context = ssl.create_default_context(cafile=path["ca"])
        async with httpx.AsyncClient(http2=True, verify=context, base_url=path["apns"], timeout=30) as client:
            return await asyncio.gather(*(
                client.post(f"/3/device/{path['deviceToken']}", headers=fields, content=body) for _ in range(COUNT)))

    answers = asyncio.run(send())
    assert Counter(answer.status_code for answer in answers) == {200: COUNT}


PROGRAM = BINARY.parent / "SendWithLibrary"


def by_library(path, tokens):
    """What the library's program tells of notifications to these tokens."""
    lines = [{"token": token, "id": str(uuid.uuid4()), "payload": {"aps": {"alert": "Hello"}}} for token in tokens]
    address = path["apns"].removeprefix("https://")
    done = subprocess.run(
        [str(PROGRAM), "--key", path["key"], "--key-id", path["keyId"], "--team", path["teamId"], "--bundle",
         path["topic"], "--server", address, "--authorities", path["ca"]],
        input="".join(json.dumps(line) + "\n" for line in lines), env=clean_environment(), capture_output=True,
        text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], [line["id"] for line in lines]


def test_the_library_sends_three_hundred(path):
    told, names = by_library(path, [path["deviceToken"]] * COUNT)
    assert Counter(each["result"] for each in told) == {"accepted": COUNT}
    wait_for_lines(path["appLog"], lambda lines: set(names) <= set(lines), "the app was handed all of them", 40)


@pytest.mark.parametrize("bad", [20, 100])
def test_the_library_sends_the_good_ones_of_a_batch_with_bad_tokens(path, bad):
    """A hundred bad tokens use up the budgets of four connections."""
    tokens = [path["deviceToken"]] * COUNT
    for number in range(bad):
        tokens.insert(number * (COUNT // bad), os.urandom(32).hex())
    told, _ = by_library(path, tokens)
    assert Counter(each.get("result", each.get("error")) for each in told) == {"accepted": COUNT, "dropped": bad}


def test_a_bulk_send_has_an_answer_for_each(path, control, tmp_path):
    good = [control.token(control.enrol(), path["topic"], path["teamId"]) for _ in range(60)]
    bad = [os.urandom(32).hex() for _ in range(60)]
    file = tmp_path / "to.csv"
    file.write_text("\n".join(["token", *(token for pair in zip(good, bad) for token in pair)]) + "\n")
    done = run_aldaba(
        "send", "--topic", path["topic"], "--recipients", file, "--title", "Hi", "--data", path["data"], check=False,
        seconds=90)
    assert done.stdout == "60 accepted, 60 refused\n", done.stdout + done.stderr


@pytest.mark.parametrize("options", [[], ["--token"]])
def test_doctor_finds_nothing_wrong(path, options):
    token = [*options, path["deviceToken"]] if options else []
    done = run_aldaba("doctor", "--provider", "--topic", path["topic"], *token, "--data", path["data"], check=False)
    assert done.returncode == 0, done.stdout
