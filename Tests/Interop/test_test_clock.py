"""The clock of a development server: what a test advances it past ends, and what is due then begins."""

import json
import secrets
import subprocess
import time
import uuid
from datetime import datetime, timedelta, timezone

import httpx
import pytest

from aldaba_process import BINARY, clean_environment
from control_client import ControlClient
from hub_clients import OwnHub
from provider_tokens import ProviderKey
from vendor_requests import Client, Push, Sender, new_account, open_server, told_by_google

APP = "com.example.App"
TEAM = "DEF123GHIJ"
MINUTE, HOUR = 60, 3600
LONGEST = timedelta(days=3650)


@pytest.fixture
def server(tmp_path):
    """A server of the test's own, since its clock is not set back."""
    with open_server(tmp_path, "test-clock") as server:
        yield server


@pytest.fixture
def http(server):
    with httpx.Client(base_url=server.ready["http"], timeout=30) as client:
        yield client


@pytest.fixture
def control(server):
    client = ControlClient(server.ready["http"])
    yield client
    client.close()


@pytest.fixture
def provider(server):
    """A sender whose token was made a minute ago: the seconds of a token do not tell it from one made since an advance."""
    sender = Sender(server.ready, key=ProviderKey.made_now("KEY1234567", TEAM), topic=APP, token=secrets.token_hex(32))
    sender.authorization = f"bearer {sender.key.token(issued=int(time.time()) - MINUTE)}"
    return sender


@pytest.fixture
def absent(provider, control):
    """A sender to a device that is registered and away."""
    assert provider.send(Push()) == "200"  # the app exists from here on
    provider.token = control.token(control.enrol(), APP, TEAM)
    return provider


@pytest.fixture
def client(server):
    """A sender to FCM with a new access token."""
    made = new_account(f"clock-{secrets.token_hex(3)}")
    return Client(server.ready["http"], made, f"tok:{secrets.token_hex(8)}").signed_in()


def advance(http, duration):
    return http.post("/v1/clock", json={"advance": duration}).raise_for_status().json()


def renew(provider):
    provider.authorization = f"bearer {provider.key.token()}"


def stored(absent, control, **headers):
    """Sends one notification; its apns-id, once its timeline has a second state."""
    reference = str(uuid.uuid4())
    push = Push({"apns-id": reference} | {name.replace("_", "-"): str(value) for name, value in headers.items()})
    assert absent.send(push) == "200"
    control.wait_for_last_state(reference, "stored")
    return reference


def test_the_clock_shows_the_machine_s_time_until_it_is_advanced(http):
    told = http.get("/v1/clock").json()
    assert told["advanced"] == 0
    assert abs(datetime.fromisoformat(told["now"]) - datetime.now(timezone.utc)) < timedelta(minutes=1)


def test_advances_add_up(http):
    before = datetime.fromisoformat(http.get("/v1/clock").json()["now"])
    assert advance(http, "1d12h")["advanced"] == 36 * HOUR
    told = advance(http, "90s")
    assert told["advanced"] == 36 * HOUR + 90
    passed = datetime.fromisoformat(told["now"]) - before
    assert timedelta(hours=36, seconds=90) <= passed < timedelta(hours=36, minutes=5)
    assert http.get("/v1/clock").json()["advanced"] == 36 * HOUR + 90


def test_a_provider_token_older_than_an_hour_is_refused_and_a_new_one_is_taken(http, provider):
    assert provider.send(Push()) == "200"
    advance(http, "50m")
    assert provider.send(Push()) == "200"
    advance(http, "15m")
    assert provider.send(Push()) == "403 ExpiredProviderToken"
    renew(provider)
    assert provider.send(Push()) == "200"
    advance(http, "2h")
    renew(provider)
    assert provider.send(Push()) == "200"


def test_the_age_of_a_provider_token_is_found_on_a_connection_that_was_open_before(http, provider):
    with provider.connection() as connection:
        assert provider.answer(Push(), connection).status_code == 200
        advance(http, "61m")
        assert provider.answer(Push(), connection).json()["reason"] == "ExpiredProviderToken"


def test_an_access_token_ends_after_its_hour_and_another_is_granted(http, client):
    message = {"data": {"score": "850"}}
    assert told_by_google(client.send(message)) == "200"
    advance(http, "59m")
    assert told_by_google(client.send(message)) == "200"
    advance(http, "2m")
    ended = client.send(message)
    assert (ended.status_code, ended.json()["error"]["status"]) == (401, "UNAUTHENTICATED")
    assert told_by_google(client.signed_in().send(message)) == "200"


def test_what_is_queued_ends_at_its_apns_expiration(http, absent, control):
    now = int(time.time())
    soon = stored(absent, control, apns_expiration=now + HOUR)
    later = stored(absent, control, apns_expiration=now + 48 * HOUR)
    advance(http, "90m")
    control.wait_for_last_state(soon, "expired")
    assert control.states(later)[-1] == "stored"
    advance(http, "2d")
    control.wait_for_last_state(later, "expired")


def test_an_apns_expiration_is_by_the_sender_s_clock_after_an_advance(http, absent, control):
    advance(http, "1d")
    renew(absent)
    now = int(time.time())
    soon = stored(absent, control, apns_expiration=now + HOUR)
    later = stored(absent, control, apns_expiration=now + 3 * HOUR)
    past = str(uuid.uuid4())
    assert absent.send(Push({"apns-id": past, "apns-expiration": str(now - MINUTE)})) == "200"
    control.wait_for_last_state(past, "expired")
    advance(http, "90m")
    control.wait_for_last_state(soon, "expired")
    assert control.states(later)[-1] == "stored"


def test_what_waits_for_an_absent_device_ends_after_the_longest_time(http, absent, control):
    reference = stored(absent, control)
    advance(http, "27d")
    assert control.states(reference)[-1] == "stored"
    told = advance(http, "4d")
    found = control.wait_for_last_state(reference, "expired")
    assert [entry["state"] for entry in found["timeline"]] == ["accepted", "stored", "expired"]
    first, last = (datetime.fromisoformat(found["timeline"][index]["at"]) for index in (0, -1))
    # The clock is read for the answer after it was set, when the message may have ended already.
    assert last - first >= timedelta(days=31) and last >= datetime.fromisoformat(told["now"]) - timedelta(seconds=1)


def test_a_device_that_left_before_an_advance_is_unregistered_at_the_time_it_left(http, absent, control):
    device = control.enrol()
    absent.token = control.token(device, APP, TEAM)
    before = datetime.fromisoformat(http.get("/v1/clock").json()["now"])
    control.register(device, APP, TEAM, delete=True)
    advance(http, "10d")
    renew(absent)
    answer = absent.answer(Push())
    assert (answer.status_code, answer.json()["reason"]) == (410, "Unregistered")
    left = datetime.fromtimestamp(answer.json()["timestamp"] / 1000, timezone.utc)
    assert timedelta(seconds=-1) <= left - before < timedelta(minutes=5)


def test_a_campaign_for_tomorrow_begins_when_the_clock_has_passed_it(server, http, control, absent):
    server.aldaba("hub", "create", "clock", "--app", APP)
    hub = OwnHub({"hubName": "clock"}, control)
    assert hub.ask("PUT", "/installations/phone", {"platform": "aldaba", "pushChannel": absent.token})[0] == 201
    at = datetime.now(timezone.utc) + timedelta(days=1)
    status, begun = hub.ask("POST", "/campaigns", {"content": {"title": "Tomorrow"}, "at": at.isoformat()})
    assert (status, begun["state"]) == (201, "Scheduled"), begun
    advance(http, "23h")
    assert hub.ask("GET", f"/campaigns/{begun['id']}")[1]["state"] == "Scheduled"
    advance(http, "61m")
    assert hub.wait_for_campaign(begun["id"], "Completed")["targeted"] == 1


@pytest.mark.parametrize("body", [
    b"", b"[]", b"{}", b"\xff", b"28d", b'{"advance":28}', b'{"advance":null}', b'{"advance":""}', b'{"advance":"28"}',
    b'{"advance":"0s"}', b'{"advance":"-1d"}', b'{"advance":"1d 2h"}', b'{"advance":"1D"}', b'{"advance":"d"}',
    b'{"advance":"3651d"}', b'{"advance":"9999999999w"}', json.dumps({"advance": "\u0661d"}).encode(),
    json.dumps({"advance": "999999999w" * 6000}).encode(),
], ids=lambda body: body[:24].decode(errors="replace"))
def test_a_body_that_is_no_advance_is_refused(shared, body):
    answer = shared.post("/v1/clock", content=body)
    assert answer.status_code == 400 and "advance" in answer.json()["detail"]
    assert shared.get("/v1/clock").json()["advanced"] == 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server whose clock no test advances."""
    with open_server(tmp_path_factory.mktemp("clock"), "test-clock-refusals") as server:
        with httpx.Client(base_url=server.ready["http"], timeout=30) as client:
            yield client


def test_the_clock_is_ten_years_ahead_at_most(http, provider):
    assert advance(http, "3649d")["advanced"] == 3649 * 24 * HOUR
    answer = http.post("/v1/clock", json={"advance": "2d"})
    assert answer.status_code == 400 and "ten years" in answer.json()["detail"]
    assert advance(http, "1d")["advanced"] == LONGEST.total_seconds()
    renew(provider)
    assert provider.send(Push()) == "200"


def test_the_command_shows_the_clock_and_advances_it(server, http):
    def clock(*words, code=0):
        done = subprocess.run(
            [str(BINARY), "clock", *words], capture_output=True, text=True, timeout=60, check=False,
            env=clean_environment(ALDABA_HTTP=server.ready["http"]))
        assert done.returncode == code, done.stderr
        return done.stdout or done.stderr

    before = datetime.fromisoformat(clock().strip())
    assert datetime.fromisoformat(clock("advance", "28d").strip()) - before >= timedelta(days=28)
    assert datetime.fromisoformat(clock().strip()) - before >= timedelta(days=28)
    assert http.get("/v1/clock").json()["advanced"] == 28 * 24 * HOUR
    assert "advance must be a time such as" in clock("advance", "soon", code=3)
    assert "aldaba clock advance 28d" in clock("forward", "1d", code=2)
    assert "aldaba clock advance 28d" in clock("advance", code=2)
    # Without a variable the command finds the server on a data folder.
    found = server.aldaba("clock").stdout
    assert datetime.fromisoformat(found.strip()) - before >= timedelta(days=28)
