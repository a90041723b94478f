"""Bodies that are compressed or begin with a byte order mark, and paths that are percent-encoded, at every HTTP interface."""

import gzip
import json

import pytest
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account

from fcm_library import NOWHERE
from hub_clients import RawAzure

MARK = b"\xef\xbb\xbf"
SCOPES = ["https://www.googleapis.com/auth/firebase.messaging"]


@pytest.fixture
def session(path, monkeypatch):
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)
    account = service_account.Credentials.from_service_account_file(path["serviceAccount"], scopes=SCOPES)
    return AuthorizedSession(account)


@pytest.fixture
def interfaces(path, control, session):
    """A way to send a body to each interface; each returns a status and the answer's text."""
    project = path["teamId"].lower()

    def fcm(body, rest="messages:send", **headers):
        answer = session.post(f"{path['fcm']}/v1/projects/{project}/{rest}", data=body, headers=headers, timeout=20)
        return answer.status_code, answer.text

    def to_control(method, where):
        def send(body, **headers):
            status, told = control.request(method, where, body, {"Content-Type": "application/json"} | headers)
            return status, told.decode()
        return send

    def azure(body, **headers):
        answer = RawAzure(path).ask("PUT", "installations/coded", body, Content_Type="application/json", **headers)
        return answer.status_code, answer.text

    return {
        "fcm": (fcm, {"validate_only": True, "message": {"token": path["deviceToken"], "data": {"k": "v" * 2000}}}),
        "topics": (to_control("POST", "/iid/v1:batchAdd"),
                   {"to": "/topics/coded", "registration_tokens": [path["deviceToken"]] * 200}),
        "broadcasts": (to_control("POST", "/v1/broadcasts"),
                       {"team": path["teamId"], "topic": "coded", "payload": {"aps": {}, "x": "y" * 3000}}),
        "hub": (to_control("PUT", f"/v1/hubs/{path['hubName']}/installations/coded"),
                {"platform": "aldaba", "pushChannel": "coded", "tags": ["a" * 60]}),
        "azure": (azure, {"installationId": "coded", "platform": "gcm", "pushChannel": "coded", "tags": ["a"]}),
        "checkin": (to_control("POST", "/checkin"), {"android_id": 0, "security_token": 0, "version": 3}),
    }


NAMES = ["fcm", "topics", "broadcasts", "hub", "azure", "checkin"]


@pytest.mark.parametrize("name", NAMES)
def test_gzip_is_taken(interfaces, name):
    send, document = interfaces[name]
    body = json.dumps(document).encode()
    assert send(body)[0] in (200, 201, 202)
    for coding in ("gzip", "x-gzip", "GZIP"):
        status, told = send(gzip.compress(body), **{"Content-Encoding": coding})
        assert status in (200, 201, 202), told


@pytest.mark.parametrize("name", NAMES)
def test_a_byte_order_mark_is_taken(interfaces, name):
    send, document = interfaces[name]
    body = MARK + json.dumps(document).encode()
    assert send(body)[0] in (200, 201, 202)
    assert send(gzip.compress(body), **{"Content-Encoding": "gzip"})[0] in (200, 201, 202)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_gzip_or_another_coding_is_named(interfaces, name):
    send, document = interfaces[name]
    body = json.dumps(document).encode()
    status, told = send(body, **{"Content-Encoding": "gzip"})
    assert status == 400 and "gzip" in told, told
    status, told = send(gzip.compress(body)[:-9], **{"Content-Encoding": "gzip"})
    assert status == 400 and "gzip" in told, told
    status, told = send(body, **{"Content-Encoding": "br"})
    assert status in (400, 415) and "br is not taken here" in told, told


@pytest.mark.parametrize("name", NAMES)
def test_a_small_body_that_becomes_a_large_one_is_refused(interfaces, name):
    send, document = interfaces[name]
    bomb = gzip.compress(json.dumps(document).encode()[:-1] + b" " * 2_000_000 + b"}")
    assert len(bomb) < 10_000
    status, told = send(bomb, **{"Content-Encoding": "gzip"})
    assert status in (400, 413), told


def test_a_payload_of_apns_with_a_mark_is_refused_by_name(path, send, control):
    status, name, reason = send(path["deviceToken"], MARK + b'{"aps":{"alert":"x"}}')
    assert (status, reason) == (400, "PayloadEmpty")
    assert "a byte order mark" in control.notifications(name)[0]["timeline"][-1]["note"]


def test_literal_parts_of_a_path_may_be_percent_encoded(path, interfaces, control):
    fcm, document = interfaces["fcm"]
    assert fcm(json.dumps(document), rest="messages%3Asend")[0] == 200
    assert control.request("GET", f"/%69id/inf%6f/{path['deviceToken']}")[0] == 200
    assert control.request("GET", "/%68ealth")[0] == 200


def test_media_are_taken_as_they_are(control):
    status, told = control.request("POST", "/v1/media", gzip.compress(b"x"), {"Content-Encoding": "gzip"})
    assert status == 415 and b"gzip is not taken here" in told
