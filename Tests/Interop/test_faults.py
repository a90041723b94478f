"""Faults that a test sets: what providers' programs meet at Apple and Google, here on demand."""

import json
import secrets
import subprocess
import sys
import threading
import time

import firebase_admin
import httpx
import pytest
from firebase_admin import credentials, messaging

from aldaba_process import BINARY, clean_environment
from development_server import http, server  # noqa: F401
from provider_tokens import ProviderKey
from vendor_requests import Client, Push, Sender, details, new_account

APP = "com.example.App"


@pytest.fixture
def provider(server):
    return Sender(
        server.ready, key=ProviderKey.made_now("KEY1234567", secrets.token_hex(5).upper()), topic=APP,
        token=secrets.token_hex(32))


@pytest.fixture
def client(server, http):
    return Client(server.ready["http"], new_account(f"faults-{secrets.token_hex(3)}"), f"tok:{secrets.token_hex(8)}").signed_in()


def add(http, **fault):
    answer = http.post("/v1/faults", json=fault)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def uses(http):
    return [fault["used"] for fault in http.get("/v1/faults").json()["faults"]]


def test_an_answer_of_apns_is_given_as_often_as_asked(http, provider):
    number = add(http, status=429, retryAfter=3, times=2, token=provider.token)
    with provider.connection() as connection:
        answers = [provider.answer(Push(), connection) for _ in range(3)]
    assert [each.status_code for each in answers] == [429, 429, 200]
    assert answers[0].json() == {"reason": "TooManyRequests"} and answers[0].headers["retry-after"] == "3"
    assert answers[0].headers["apns-id"]
    assert uses(http) == [2]
    [entry] = http.get("/v1/received", params={"status": 429, "limit": 1}).json()["received"]
    assert (entry["fault"], entry["answer"]["reason"]) == (number, "TooManyRequests")


@pytest.mark.parametrize("reason, status", [
    ("BadDeviceToken", 400), ("Unregistered", 410), ("ExpiredProviderToken", 403), ("PayloadTooLarge", 413),
    ("InternalServerError", 500), ("ServiceUnavailable", 503), ("Shutdown", 503)])
def test_a_reason_of_apns_has_its_status(http, provider, reason, status):
    add(http, reason=reason)
    answer = provider.answer(Push())
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)
    assert ("timestamp" in answer.json()) == (status == 410)


def test_a_fault_is_for_its_selection_alone(http, provider):
    for selection in [{"token": "0" * 64}, {"app": "com.example.Other"}, {"team": "OTHERTEAM1"}, {"path": "/4/"},
                      {"connection": 1_000_000}, {"interface": "fcm"}, {"namespace": "other"}]:
        add(http, status=500, **selection)
    assert provider.send(Push()) == "200"
    assert uses(http) == [0] * 7
    add(http, status=500, token=provider.token, app=APP, team=provider.key.team, path="/3/", namespace=provider.key.team)
    assert provider.send(Push()) == "500 InternalServerError"


def test_goaway_leaves_a_stream_unprocessed(http, provider):
    add(http, action="goaway")
    with provider.connection() as connection:
        with pytest.raises(httpx.RemoteProtocolError, match="last_stream_id:0"):
            provider.answer(Push(), connection)
    assert http.get("/v1/received").json()["received"][0]["state"] == "open"
    assert provider.send(Push()) == "200"


def test_goaway_comes_after_the_answer_of_a_stream_that_was_processed(http, provider):
    add(http, action="goaway", unprocessed=False)
    with provider.connection() as connection:
        assert [provider.answer(Push(), connection).status_code for _ in range(2)] == [200, 200]
    assert http.get("/v1/received", params={"count": 2, "timeout": 10, "state": "acked"}).json()["matching"] == 2
    first, second = http.get("/v1/received").json()["received"]
    assert first["connection"] != second["connection"]


def test_refused_stream_leaves_the_connection_open(http, provider):
    add(http, action="refuse-stream")
    with provider.connection() as connection:
        with pytest.raises(httpx.RemoteProtocolError, match="error_code:7"):
            provider.answer(Push(), connection)
        assert provider.answer(Push(), connection).status_code == 200
    first, second = http.get("/v1/received").json()["received"]
    assert first["connection"] == second["connection"]


def test_settings_allow_one_stream_from_then_on(http, provider):
    add(http, action="settings-one-stream")
    with provider.connection() as connection:
        assert [provider.answer(Push(), connection).status_code for _ in range(3)] == [200] * 3
        [h2] = [each._connection for each in connection._transport._pool.connections]
        assert h2._h2_state.remote_settings.max_concurrent_streams == 1


@pytest.mark.parametrize("fault, state", [
    ({"action": "cut"}, "open"), ({"action": "cut", "unprocessed": False}, "acked"),
])
def test_a_cut_connection_leaves_the_answer_unknown(http, provider, client, fault, state):
    add(http, interface="apns", **fault)
    with pytest.raises(httpx.RemoteProtocolError):
        provider.answer(Push())
    assert http.get("/v1/received", params={"count": 1, "timeout": 10, "state": state, "interface": "apns"}).json()["matching"]
    add(http, interface="fcm", **fault)
    with pytest.raises(httpx.RemoteProtocolError):
        client.send({"data": {"a": "b"}})
    assert http.get("/v1/received", params={"count": 1, "timeout": 10, "state": state, "interface": "fcm"}).json()["matching"]


@pytest.mark.parametrize("interface", ["apns", "fcm"])
def test_silence_lasts_until_the_client_gives_up(http, provider, client, interface):
    add(http, action="silence", interface=interface)
    with pytest.raises(httpx.ReadTimeout):
        if interface == "apns":
            with provider.connection() as connection:
                connection.timeout = 0.5
                provider.answer(Push(), connection)
        else:
            httpx.post(
                f"{client.base}/v1/projects/{client.account['project_id']}/messages:send", timeout=0.5,
                json={"message": {"token": "t"}}, headers={"authorization": f"Bearer {client.access_token}"})


@pytest.mark.parametrize("interface", ["apns", "fcm"])
def test_one_token_never_gets_an_answer(http, provider, client, interface):
    token = "0" * 60 + "0408"
    with pytest.raises(httpx.ReadTimeout):
        if interface == "apns":
            provider.token = token
            with provider.connection() as connection:
                connection.timeout = 0.5
                provider.answer(Push(), connection)
        else:
            httpx.post(
                f"{client.base}/v1/projects/{client.account['project_id']}/messages:send", timeout=0.5,
                json={"message": {"token": token}}, headers={"authorization": f"Bearer {client.access_token}"})


@pytest.mark.parametrize("interface", ["apns", "fcm"])
def test_a_delay_comes_before_the_answer(http, provider, client, interface):
    add(http, delay=300, interface=interface)
    begun = time.monotonic()
    answer = provider.answer(Push()) if interface == "apns" else client.send({"data": {"a": "b"}})
    assert answer.status_code == 200 and time.monotonic() - begun >= 0.3


EXPIRED = """
import json, os, subprocess, ssl, sys
import httpx
def ask():
    try:
        with httpx.Client(http2=True, verify=ssl.create_default_context(), base_url=os.environ["ALDABA_APNS"]) as client:
            return client.get("/").status_code
    except httpx.ConnectError as error:
        return "expired" if "certificate has expired" in str(error) else str(error)
subprocess.run([sys.argv[1], "fault", "add", "--action", "expired-certificate"], check=True, capture_output=True)
print(ask(), ask())
"""


def test_an_expired_certificate_is_shown_to_the_next_connection(tmp_path):
    done = subprocess.run(
        [str(BINARY), "run", "--ports", "--", sys.executable, "-c", EXPIRED, str(BINARY)], capture_output=True, text=True,
        timeout=60, check=False, env=clean_environment(TMPDIR=str(tmp_path)))
    assert done.stdout == "expired 200\n", done.stderr
    assert not any(tmp_path.iterdir())


def test_a_server_with_a_certificate_of_its_own_shows_no_expired_one(http):
    answer = http.post("/v1/faults", json={"action": "expired-certificate"})
    assert answer.status_code == 400 and "needs the development certificate" in answer.json()["detail"]


@pytest.mark.parametrize("fault, status, code", [
    ({"status": 429, "retryAfter": 7}, 429, "QUOTA_EXCEEDED"), ({"status": 503}, 503, "UNAVAILABLE"),
    ({"reason": "UNREGISTERED"}, 404, "UNREGISTERED"), ({"reason": "SENDER_ID_MISMATCH"}, 403, "SENDER_ID_MISMATCH"),
    ({"status": 500}, 500, "INTERNAL"), ({"reason": "THIRD_PARTY_AUTH_ERROR"}, 401, "THIRD_PARTY_AUTH_ERROR")])
def test_an_answer_of_fcm_has_google_s_form(http, client, fault, status, code):
    add(http, interface="fcm", **fault)
    answer = client.send({"data": {"a": "b"}})
    assert answer.status_code == status and answer.headers.get("retry-after") == (
        str(fault["retryAfter"]) if "retryAfter" in fault else None)
    assert [each["errorCode"] for each in details(answer, "google.firebase.fcm.v1.FcmError")] == [code]
    assert client.send({"data": {"a": "b"}}).status_code == 200


@pytest.mark.parametrize("status, error", [(400, "invalid_grant"), (503, "temporarily_unavailable")])
def test_oauth_refuses_on_demand(http, client, status, error):
    add(http, interface="oauth", status=status)
    answer = client.grant(assertion=client.assertion())
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_google_s_library_sends_again_after_503_and_after_retry_after(server, http, tmp_path):
    account = new_account(f"again-{secrets.token_hex(3)}")
    account |= {"type": "service_account", "token_uri": f"{server.ready['http']}/token"}
    (tmp_path / "account.json").write_text(json.dumps(account))
    app = firebase_admin.initialize_app(credentials.Certificate(tmp_path / "account.json"), name=tmp_path.name)
    try:
        service = messaging._get_messaging_service(app)
        service._fcm_url = f"{server.ready['http']}/v1/projects/{account['project_id']}/messages:send"
        add(http, interface="fcm", status=503, times=2)
        assert messaging.send(messaging.Message(token=tmp_path.name, data={"a": "b"}), app=app)
        add(http, interface="fcm", reason="UNREGISTERED")
        with pytest.raises(messaging.UnregisteredError):
            messaging.send(messaging.Message(token=tmp_path.name, data={"a": "b"}), app=app)
    finally:
        firebase_admin.delete_app(app)
    found = http.get("/v1/received", params={"interface": "fcm"}).json()["received"]
    assert [each["answer"]["status"] for each in found] == [404, 200, 503, 503]


def test_a_rate_with_a_seed_chooses_the_same_requests_again(http, provider):
    runs = []
    with provider.connection() as connection:
        for _ in range(2):
            number = add(http, status=503, times=0, rate=0.3, seed=7)
            runs.append([provider.answer(Push(), connection).status_code for _ in range(30)])
            assert http.delete(f"/v1/faults/{number}").status_code == 204
    assert runs[0] == runs[1] and 0 < runs[0].count(503) < 30


def test_the_command_adds_lists_and_removes(server, http, provider):
    def aldaba(*arguments, code=0):
        done = subprocess.run(
            [str(BINARY), "fault", *arguments], capture_output=True, text=True, timeout=60, check=False,
            env=clean_environment(ALDABA_HTTP=server.ready["http"]))
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    made = aldaba("add", "--status", "429", "--retry-after", "3", "--token", provider.token, "--times", "2")
    number = made.removeprefix("fault ").removesuffix(" is set\n")
    assert provider.send(Push()) == "429 TooManyRequests"
    [fault] = map(json.loads, aldaba("list").splitlines())
    assert (fault["id"], fault["retryAfter"], fault["times"], fault["used"]) == (number, 3, 2, 1)
    assert aldaba("remove", number) == "" and provider.send(Push()) == "200"
    assert "not found" in aldaba("remove", number, code=1)
    aldaba("add", "--action", "cut", "--processed")
    assert http.get("/v1/faults").json()["faults"][0]["unprocessed"] is False
    assert aldaba("remove", "--all") == "" and aldaba("list") == ""
    assert "is no reason of APNs" in aldaba("add", "--reason", "Nothing", code=3)
    aldaba("remove", code=2)


@pytest.mark.parametrize("fault, words", [
    ("{}", "needs a status"), ("[]", "no JSON object"), ('{"stauts": 1}', "stauts is unknown"),
    ('{"action": "goaway", "interface": "fcm"}', "HTTP/2"), ('{"status": 99}', "200 to 599")])
def test_a_fault_that_cannot_be_read_is_refused(http, fault, words):
    answer = http.post("/v1/faults", content=fault)
    assert answer.status_code == 400 and words in answer.json()["detail"]


def test_requests_under_way_end_before_goaway_and_new_ones_are_not_lost(http, provider):
    """A sender with many requests at once: each is answered, or refused as unprocessed."""
    add(http, action="goaway", skip=20)
    outcomes = []

    def send():
        try:
            outcomes.append(provider.send(Push()))
        except httpx.RemoteProtocolError as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=send) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["200"] * 39 + ["RemoteProtocolError"]
    assert http.get("/v1/received", params={"count": 39, "timeout": 20, "state": "acked"}).json()["matching"] == 39
