"""What FCM's API refuses, as firebase-admin raises it, and what the timeline says of it."""

import asyncio
import json
import time
from urllib.parse import quote

import jwt
import pytest
import requests
from firebase_admin import exceptions, messaging
from google.auth.exceptions import RefreshError

from aldaba_process import AldabaUp, run_aldaba
from fcm_library import firebase_app, internal_id

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")


@pytest.fixture
def app(path, monkeypatch):
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"]) as made:
        yield made


@pytest.fixture
def told(path):
    """What a command prints with --json on the running server's folder."""
    return lambda *words: json.loads(run_aldaba(*words, "--json", "--data", path["data"]).stdout)


@pytest.fixture(scope="module")
def other(path):
    """An app of another team."""
    run_aldaba("team", "create", "Harbour", "--id", "HARBOUR001", "--data", path["data"])
    run_aldaba("app", "create", "com.example.harbour", "--team", "HARBOUR001", "--data", path["data"])
    return "com.example.harbour"


def refused(app, told, error, message, code, status):
    """A message is refused with that error; its timeline says why."""
    with pytest.raises(error) as raised:
        messaging.send(message, app=app)
    assert type(raised.value) is error
    body = raised.value.http_response.json()["error"]
    assert (body["code"], body["details"][0]["errorCode"]) == (status, code)
    noted = next(each["requestId"] for each in body["details"] if each["@type"].endswith("RequestInfo"))
    [found] = told("get", noted)
    assert [line["state"] for line in found["timeline"]] == [f"failed({code})"]
    return found, body


def test_a_token_that_ended_is_unregistered(app, path, control, told):
    device = control.enrol()
    token = control.token(device, path["topic"], path["teamId"])
    messaging.send(messaging.Message(data={"a": "b"}, token=token), app=app)
    control.register(device, path["topic"], path["teamId"], delete=True)
    refused(app, told, messaging.UnregisteredError, messaging.Message(token=token), "UNREGISTERED", 404)


def test_a_token_of_another_project_is_a_mismatch(app, path, control, told, other):
    token = control.token(control.enrol(), other, "HARBOUR001")
    refused(app, told, messaging.SenderIdMismatchError, messaging.Message(token=token), "SENDER_ID_MISMATCH", 403)


def test_an_app_without_the_capability_has_no_credential(path, told, control, other, tmp_path, monkeypatch):
    token = control.token(control.enrol(), other, "HARBOUR001")
    file = tmp_path / "harbour.json"
    run_aldaba(
        "service-account", "create", "--team", "HARBOUR001", "--url", path["fcm"], "--output", file, "--data",
        path["data"])
    with firebase_app(monkeypatch, path["fcm"], str(file), name="harbour") as app:
        messaging.send(messaging.Message(data={"a": "b"}, token=token), app=app)
        run_aldaba("app", "disable", other, "push", "--data", path["data"])
        found, _ = refused(
            app, told, messaging.ThirdPartyAuthError, messaging.Message(token=token), "THIRD_PARTY_AUTH_ERROR", 401)
        assert found["topic"] == other


@pytest.mark.parametrize("message, field", [
    ({"token": "nonsense"}, "message.token"),
    ({"data": {"from": "me"}}, "message.data[from]"),
    ({"data": {"text": "x" * 4096}}, "message"),
    ({"android": messaging.AndroidConfig(ttl=2419201)}, "message.android.ttl"),
])
def test_what_is_wrong_is_named(app, told, message, field):
    message = messaging.Message(**{"token": "ab" * 32} | message)
    _, body = refused(app, told, exceptions.InvalidArgumentError, message, "INVALID_ARGUMENT", 400)
    [violations] = [each["fieldViolations"] for each in body["details"] if "fieldViolations" in each]
    assert violations[0]["field"] == field


def test_a_project_has_a_quota(monkeypatch):
    running = AldabaUp.ephemeral("--fcm-quota", "2", name="fcm_quota")
    try:
        path = running.ready

        async def send(app):
            # The synchronous form waits for as long as Retry-After says, and sends again.
            messages = [messaging.Message(data={"a": "b"}, token=path["registrationToken"])] * 3
            answer = await messaging.send_each_async(messages, app=app)
            await messaging._get_messaging_service(app)._async_client.aclose()
            return answer

        with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"], name="quota") as app:
            answer = asyncio.run(send(app))
        assert (answer.success_count, answer.failure_count) == (2, 1)
        [raised] = [each.exception for each in answer.responses if each.exception]
        assert type(raised) is messaging.QuotaExceededError
        assert 1 <= int(raised.http_response.headers["retry-after"]) <= 30
    finally:
        running.stop()


def test_what_was_revoked_sends_no_more(path, tmp_path, monkeypatch):
    file = tmp_path / "leaked.json"
    made = json.loads(run_aldaba(
        "service-account", "create", "--url", path["fcm"], "--output", file, "--json", "--data", path["data"]).stdout)
    message = messaging.Message(data={"a": "b"}, token=path["registrationToken"])
    with firebase_app(monkeypatch, path["fcm"], str(file), name="leaked") as app:
        messaging.send(message, app=app)
        assert made["email"] in run_aldaba("service-account", "list", "--data", path["data"]).stdout
        run_aldaba("service-account", "revoke", made["email"], "--data", path["data"])
        token = app.credential.get_credential().token
        answer = requests.post(
            f"{path['fcm']}/v1/projects/{made['projectId']}/messages:send",
            json={"message": {"token": path["registrationToken"]}}, headers={"authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()["error"]["status"]) == (401, "UNAUTHENTICATED")
        with pytest.raises(Exception) as raised:
            messaging.send(message, app=app)
        assert isinstance(raised.value, (RefreshError, exceptions.FirebaseError))
        assert "invalid_grant" in str(raised.value)


def test_a_service_account_and_its_access_tokens_outlive_the_server(tmp_path, monkeypatch):
    ports = [f"--{name}-port=0" for name in ("apns", "device", "control", "http", "metrics")]

    def run(count):
        return AldabaUp("--json", "--data", tmp_path / "data", *ports, name=f"fcm_again_{count}")

    first = run(1)
    before = json.loads(open(first.ready["serviceAccount"]).read())
    access_token = grant(first.ready).json()["access_token"]
    first.stop()
    second = run(2)
    try:
        path = second.ready
        after = json.loads(open(path["serviceAccount"]).read())
        assert after.pop("token_uri") == path["fcm"] + "/token" != before.pop("token_uri")
        assert after == before
        answer = requests.post(
            f"{path['fcm']}/v1/projects/{before['project_id']}/messages:send",
            json={"message": {"token": path["registrationToken"]}},
            headers={"authorization": f"Bearer {access_token}"})
        assert answer.status_code == 200, answer.text
        with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"], name="again") as app:
            messaging.send(messaging.Message(data={"a": "b"}, token=path["registrationToken"]), app=app)
    finally:
        second.stop()


def assertion_of_demo(path, **changes):
    """An assertion of the demo app's service account, some of it changed."""
    account = json.loads(open(path["serviceAccount"]).read())
    now = int(time.time())
    claims = {
        "iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
        "scope": "https://www.googleapis.com/auth/firebase.messaging"}
    key = changes.pop("key", account["private_key"])
    kid = changes.pop("kid", account["private_key_id"])
    return jwt.encode(claims | changes, key, algorithm="RS256", headers={"kid": kid})


def grant(path, **changes):
    """Asks for an access token with such an assertion."""
    return requests.post(
        path["fcm"] + "/token", data={
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": assertion_of_demo(path, **changes)})


def test_an_access_token_is_for_an_hour(path):
    answer = grant(path)
    assert answer.status_code == 200
    assert (answer.json()["token_type"], answer.json()["expires_in"]) == ("Bearer", 3600)


@pytest.mark.parametrize("changes, error", [
    ({"aud": "https://elsewhere.example/token"}, "invalid_grant"),
    ({"exp": int(time.time()) - 4000, "iat": int(time.time()) - 7000}, "invalid_grant"),
    ({"exp": int(time.time()) + 90000}, "invalid_grant"),
    ({"iss": "nobody@nowhere"}, "invalid_grant"),
    ({"kid": "0" * 40}, "invalid_grant"),
    ({"scope": "https://www.googleapis.com/auth/userinfo.email"}, "invalid_scope"),
])
def test_an_assertion_that_does_not_count_is_refused(path, changes, error):
    answer = grant(path, **changes)
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert answer.json()["error_description"]


def test_another_key_signs_nothing(path, tmp_path):
    file = tmp_path / "other.json"
    run_aldaba("service-account", "create", "--url", path["fcm"], "--output", file, "--data", path["data"])
    answer = grant(path, key=json.loads(file.read_text())["private_key"])
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert "signature" in answer.json()["error_description"]


def test_a_provider_token_of_apns_does_not_count(path):
    bearer = run_aldaba("key", "token", "--data", path["data"]).stdout.strip()
    answer = requests.post(
        f"{path['fcm']}/v1/projects/{path['teamId'].lower()}/messages:send",
        json={"message": {"token": path["registrationToken"]}}, headers={"authorization": f"Bearer {bearer}"})
    assert (answer.status_code, answer.json()["error"]["status"]) == (401, "UNAUTHENTICATED")


def test_a_message_is_found_and_taken_back_by_its_name(app, path):
    name = messaging.send(messaging.Message(data={"a": "b"}, token=path["registrationToken"]), app=app)
    for where in (name, name.replace(path["teamId"].lower(), path["teamId"])):
        url = f"{path['http']}/v1/notifications/{quote(where, safe='')}"
        for method in ("GET", "DELETE"):
            answer = requests.request(method, url, timeout=10)
            assert answer.status_code == 200 and answer.json()[0]["id"] == internal_id(name), (method, where)
    url = f"{path['http']}/v1/notifications/{quote(name.replace(path['teamId'].lower(), 'otherteam1'), safe='')}"
    assert [requests.request(method, url, timeout=10).status_code for method in ("GET", "DELETE")] == [404, 404]
    report = requests.get(f"{path['http']}/v1/reports/messages/{quote(name, safe='')}", timeout=10)
    assert report.status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_method_that_there_is_not_is_refused_as_google_refuses(path, method):
    url = f"{path['fcm']}/v1/projects/{path['teamId'].lower()}/messages:send"
    answer = requests.request(method, url, timeout=10)
    error = answer.json()["error"]
    assert answer.status_code == error["code"] == 404 and error["status"] == "NOT_FOUND" and error["message"]


def test_a_project_is_named_in_three_ways(path, told):
    headers = {"authorization": f"Bearer {grant(path).json()['access_token']}"}
    body = {"validate_only": True, "message": {"token": path["registrationToken"]}}
    number = str(int(path["teamId"], 36))
    for project, status in [(path["teamId"], 200), (path["teamId"].lower(), 200), (number, 200), ("other", 403)]:
        answer = requests.post(f"{path['fcm']}/v1/projects/{project}/messages:send", json=body, headers=headers)
        assert answer.status_code == status, answer.text


def test_over_tls_with_the_server_s_own_address(path, tmp_path, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", path["ca"])
    monkeypatch.setenv("SSL_CERT_FILE", path["ca"])
    file = tmp_path / "secured.json"
    run_aldaba("service-account", "create", "--output", file, "--data", path["data"])
    address = json.loads(file.read_text())["token_uri"].removesuffix("/token")
    assert address.startswith("https://")
    with firebase_app(monkeypatch, address, str(file), name="secured") as app:
        message = messaging.Message(data={"a": "b"}, token=path["registrationToken"])
        assert internal_id(messaging.send(message, app=app)).isdigit()

        async def send():
            answer = await messaging.send_each_async([message] * 20, app=app)
            await messaging._get_messaging_service(app)._async_client.aclose()
            return answer

        assert asyncio.run(send()).success_count == 20
    for url in ("http://push.example:8080", "push.example", ""):
        with pytest.raises(AssertionError, match="is not an address"):
            run_aldaba("service-account", "create", "--url", url, "--data", path["data"])
    with pytest.raises(AssertionError, match="is there already"):
        run_aldaba("service-account", "create", "--output", file, "--data", path["data"])
