"""FCM's enrolment, call by call: registrations, installations and their ends; enrolment keys; blocked devices."""

import dataclasses
import json
import os
import re
import urllib.error
import urllib.request
from base64 import urlsafe_b64encode
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from aldaba_process import run_aldaba
from mcs_client import CLOSE, LOGIN_RESPONSE, Device, checkin
from own_server import OwnServer
from waiting import wait_until

SENDER = "BDOU99-h67HcA6JeFXHbSNMu7e2yNNu3RzoMj8TM4W88jITfq7ZmPvIM1Iv-4_l2LxQcYwhqby2xGpWwzjfAnG4"


def call(method, url, body=None, headers=None):
    """One request; returns status, and the answer read as JSON or as text."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        status, text = refusal.code, refusal.read()
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text.decode()


def keys():
    """A client's public key and secret, as subscriptions have them."""
    public = ec.generate_private_key(ec.SECP256R1()).public_key()
    point = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return {"p256dh": urlsafe_b64encode(point).decode(), "auth": urlsafe_b64encode(os.urandom(16)).decode()}


class Library:
    """One installation of an app on one device, as FCM's web library makes it."""

    def __init__(self, path, identity=None):
        self.path, self.base = path, f"{path['http']}/v1/projects/{path['teamId'].lower()}"
        self.identity = identity or checkin(path["http"])

    def register3(self, subtype, app="org.chromium.linux", sender=SENDER, **more):
        form = {"app": app, "X-subtype": subtype, "sender": sender, "device": self.identity.device} | more
        return call("POST", f"{self.path['http']}/c2dm/register3", urlencode(form).encode(), {
            "authorization": f"AidLogin {self.identity.device}:{self.identity.secret}",
            "content-type": "application/x-www-form-urlencoded"})

    def token(self, subtype, **more):
        status, text = self.register3(subtype, **more)
        assert (status, text[:6]) == (200, "token="), text
        return text[6:]

    def install(self, **form):
        status, answer = call("POST", f"{self.base}/installations", {"appId": "1:2:web:3"} | form)
        assert status == 200, answer
        self.fid, self.refresh, self.auth = answer["fid"], answer["refreshToken"], answer["authToken"]["token"]
        assert answer["authToken"]["expiresIn"] == "604800s"
        return answer

    def registered(self, method, token, where=None, **changes):
        web = keys() | {"endpoint": f"https://push.example/fcm/send/{token}"} | changes
        return call(method, f"{self.base}/registrations{where or ''}", {"web": web}, self.proof())

    def proof(self, auth=None):
        return {"x-goog-firebase-installations-auth": auth or self.auth}


@pytest.fixture
def library(path):
    made = Library(path)
    made.install()
    return made


def subtype(path, number):
    return f"wp:{path['topic']}#{number}"


def test_an_android_library_gets_its_message_in_pairs(path, send):
    library = Library(path)
    number = str(int(path["teamId"], 36))
    token = library.token(number, app=path["topic"], sender=number, **{"X-scope": "*"})
    with Device(path["mcs"], path["ca"]) as device:
        device.login(library.identity)
        status, _, reason = send(token, {"aps": {"alert": {"title": "Milk"}}, "k": "v"})
        assert status == 200, reason
        came = device.notification()
        assert (came.category, came.sender) == (path["topic"], number)
        assert (came.app_data["k"], came.app_data["gcm.notification.title"]) == ("v", "Milk")


def test_the_instance_id_service_tells_what_has_a_registration(path, control):
    library, number = Library(path), str(int(path["teamId"], 36))

    def platform(token):
        status, told = control.request("GET", f"/iid/info/{token}")
        assert status == 200, told
        return json.loads(told)["platform"]

    assert platform(library.token(subtype(path, 1))) == "CHROME"
    assert platform(library.token(number, app=path["topic"], sender=number)) == "ANDROID"
    assert platform(path["deviceToken"]) == "IOS"


def test_the_same_subtype_keeps_its_token_and_another_one_ends_it(path, send):
    library = Library(path)
    first = library.token(subtype(path, 1))
    assert library.token(subtype(path, 1)) == first
    second = library.token(subtype(path, 2))
    assert second != first
    status, _, reason = send(first, {"aps": {"alert": "x"}})
    assert (status, reason) == (410, "Unregistered")
    status, _, reason = send(second, {"aps": {"alert": "x"}})
    assert status == 200, reason


@pytest.mark.parametrize("value", ["true", "1"])
def test_a_registration_is_deleted(path, send, value):
    library = Library(path)
    token = library.token(subtype(path, 1))
    assert library.register3(subtype(path, 1), delete=value)[1].startswith("token=")
    assert send(token, {"aps": {"alert": "x"}})[0] == 410
    assert library.register3(subtype(path, 9), delete=value) == (400, "Error=INVALID_SENDER")


def scoped(value):
    """A scope as a library tells it: twice."""
    return {"scope": value, "X-scope": value}


def test_all_names_for_messages_are_one_scope(path, send):
    library = Library(path)
    token = library.token(subtype(path, 1))
    for scope in ("FCM", "GCM", "*", ""):
        assert library.token(subtype(path, 1), **scoped(scope)) == token, scope
    status, _, reason = send(token, {"aps": {"alert": "x"}})
    assert status == 200, reason


@pytest.mark.parametrize("scope", ["storage", "fcm", "/topics/a", "FCM,storage"])
def test_another_scope_has_no_token_and_its_deletion_ends_none(path, send, scope):
    library = Library(path)
    token = library.token(subtype(path, 1), **scoped("FCM"))
    for form in (scoped(scope), {"X-scope": scope}, {"scope": scope}, {"scope": "FCM", "X-scope": scope}):
        assert library.register3(subtype(path, 1), **form) == (400, "Error=INVALID_PARAMETERS")
        for value in ("true", "1"):
            assert library.register3(subtype(path, 1), delete=value, **form) == (400, "Error=INVALID_PARAMETERS")
    status, _, reason = send(token, {"aps": {"alert": "x"}})
    assert status == 200, reason


@pytest.mark.parametrize("scope", ["*", "FCM", "GCM"])
def test_a_deletion_in_the_scope_of_messages_ends_the_token(path, send, scope):
    library = Library(path)
    token = library.token(subtype(path, 1), **scoped("FCM"))
    assert library.register3(subtype(path, 1), sender="*", delete="true", **scoped(scope))[1].startswith("token=")
    assert send(token, {"aps": {"alert": "x"}})[0] == 410


def test_a_topic_is_left_without_ending_the_token(path, send):
    library = Library(path)
    token = library.token(subtype(path, 1), **scoped("FCM"))
    form = {"app": path["topic"], "sender": token, "X-gcm.topic": "/topics/scoped"} | scoped("/topics/scoped")
    for change in ({}, {"delete": "true"}):
        assert library.register3(token, **form, **change)[1].startswith("token=")
    status, _, reason = send(token, {"aps": {"alert": "x"}})
    assert status == 200, reason


@pytest.mark.parametrize("change, code", [
    ({"subtype": "wp:org.example.unknown#1"}, "INVALID_SENDER"), ({"subtype": "x" * 2000}, "INVALID_SENDER"),
    ({"sender": ""}, "INVALID_SENDER"), ({"sender": "s" * 2000}, "INVALID_SENDER"), ({"app": ""}, "INVALID_PARAMETERS"),
    ({"app": "a b"}, "INVALID_PARAMETERS"),
])
def test_what_is_wrong_with_a_registration_has_a_code(path, change, code):
    library = Library(path)
    form = {"subtype": subtype(path, 1)} | change
    assert library.register3(form.pop("subtype"), **form) == (400, f"Error={code}")


def test_a_stranger_registers_nothing(path):
    library = Library(path)
    library.identity = dataclasses.replace(library.identity, secret=library.identity.secret + 1)
    assert library.register3(subtype(path, 1)) == (401, "Error=AUTHENTICATION_FAILED")


def test_keys_are_told_changed_and_taken_away(path, library, send):
    token = library.token(subtype(path, 1))
    status, answer = library.registered("POST", token)
    assert (status, answer["token"]) == (200, token)
    assert answer["name"].endswith(f"/registrations/{token}")
    status, answer = library.registered("PATCH", token, f"/{token}")
    assert (status, answer["token"]) == (200, token)
    assert library.registered("PATCH", "0" * 64, f"/{token}")[0] == 400
    other = Library(path)
    other.install()
    for method, where in (("POST", None), ("PATCH", f"/{token}")):
        status, answer = other.registered(method, token, where)
        assert (status, answer["error"]["status"]) == (403, "PERMISSION_DENIED")
    assert call("DELETE", f"{library.base}/registrations/{token}", headers=other.proof())[0] == 403
    assert call("DELETE", f"{library.base}/registrations/{token}", headers=library.proof())[0] == 200
    assert send(token, {"aps": {"alert": "x"}})[0] == 410
    status, answer = library.registered("POST", token)
    assert (status, answer["error"]["status"]) == (404, "NOT_FOUND")


def test_a_page_whose_storage_was_cleared_keeps_its_subscription(path, library, send):
    token, subscription = library.token(subtype(path, 1)), keys()
    assert library.registered("POST", token, **subscription)[0] == 200
    # The subscription is the browser's, and stays; the page's library makes another installation.
    again = Library(path, library.identity)
    again.install()
    assert again.registered("POST", token, **subscription)[0] == 200
    assert library.registered("POST", token)[0] == 403, "it is the new installation's now"
    assert call("DELETE", f"{library.base}/registrations/{token}", headers=library.proof())[0] == 403
    assert library.token(subtype(path, 1)) == token, "browsers register again every week"
    assert library.registered("POST", token)[0] == 403
    where = f"{library.base}/installations/{library.fid}"
    assert call("DELETE", where, headers=library.proof())[0] == 200
    assert send(token, {"aps": {"alert": "x"}})[0] == 200, "the end of an installation ends its own registrations alone"
    assert call("DELETE", f"{again.base}/registrations/{token}", headers=again.proof())[0] == 200


@pytest.mark.parametrize("change, status", [
    ({"p256dh": "AAAA"}, 400), ({"auth": "AAAA"}, 400), ({"p256dh": "é"}, 400),
    ({"endpoint": "https://push.example/fcm/send/" + "0" * 64}, 400), ({"endpoint": ""}, 400), ({"auth": None}, 400),
])
def test_what_is_wrong_with_keys_is_said(path, library, change, status):
    token = library.token(subtype(path, 1))
    got, answer = library.registered("POST", token, **change)
    assert (got, answer["error"]["code"], answer["error"]["status"]) == (status, status, "INVALID_ARGUMENT")


def test_an_app_of_an_agent_keeps_its_token(path, library):
    body = {"ios": {"apns_token": path["deviceToken"], "bundle_id": path["topic"]}}
    status, answer = call("POST", f"{library.base}/registrations", body, library.proof())
    assert (status, answer["token"]) == (200, path["deviceToken"])
    body["ios"]["bundle_id"] = "org.example.other"
    assert call("POST", f"{library.base}/registrations", body, library.proof())[0] == 400


def test_an_installation_ends_with_all_its_registrations(path, library, send):
    token = library.token(subtype(path, 1))
    assert library.registered("POST", token)[0] == 200
    where = f"{library.base}/installations/{library.fid}"
    status, answer = call("GET", where, headers=library.proof())
    assert (status, answer["fid"], answer["appId"]) == (200, library.fid, "1:2:web:3")
    other = Library(path)
    other.install()
    assert call("DELETE", where, headers=other.proof())[0] == 403
    assert call("DELETE", where, headers={"authorization": f"FIS_v2 {library.refresh}"})[0] == 200
    assert send(token, {"aps": {"alert": "x"}})[0] == 410
    assert call("GET", where, headers=library.proof())[0] == 401
    refresh = f"{library.base}/installations/{library.fid}/authTokens:generate"
    assert call("POST", refresh, {}, {"authorization": f"FIS_v2 {library.refresh}"})[0] == 401


def test_an_auth_token_is_renewed_and_a_forged_one_is_not_taken(path, library):
    refresh = f"{library.base}/installations/{library.fid}/authTokens:generate"
    status, answer = call("POST", refresh, {}, {"authorization": f"FIS_v2 {library.refresh}"})
    assert status == 200
    where = f"{library.base}/installations/{library.fid}"
    assert call("GET", where, headers=library.proof(answer["token"]))[0] == 200
    assert call("GET", where, headers=library.proof(f"FIS {answer['token']}"))[0] == 200
    name, end, code = answer["token"].split(".")
    forged = [f"{name}.{int(end) + 1}.{code}", f"{name}.{end}.{code[:-2]}", f"{name}.{end}", "", "a.b.c", f"{name}..{code}"]
    for token in forged:
        assert call("GET", where, headers=library.proof(token or "x"))[0] == 401, token
    for token in [library.refresh[:-3] + "AAA", "", ".", name, f"{name}."]:
        assert call("POST", refresh, {}, {"authorization": f"FIS_v2 {token}"})[0] == 401, token


def test_a_foreign_project_knows_nothing(path, library):
    token = library.token(subtype(path, 1))
    foreign = Library(path, library.identity)
    foreign.base = f"{path['http']}/v1/projects/otherteam1"
    foreign.install()
    assert foreign.registered("POST", token)[0] == 403
    assert foreign.registered("POST", token)[1]["error"]["status"] == "PERMISSION_DENIED"
    status, answer = call("POST", f"{path['http']}/v1/projects/nope/installations", {"appId": "1"})
    assert (status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")
    numbered = Library(path)
    numbered.base = f"{path['http']}/v1/projects/{int(path['teamId'], 36)}"
    numbered.install(fid="A" * 22)
    assert numbered.fid == "A" * 22


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"appId":""}', b'{"appId":5}', b'{"appId":"a","fid":""}',
                                  b'{"appId":"a","fid":"' + b"f" * 65 + b'"}', b"\xff" * 100])
def test_an_installation_that_is_none_is_refused(path, body):
    status, answer = call("POST", f"{path['http']}/v1/projects/{path['teamId'].lower()}/installations", body)
    assert (status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_a_blocked_device_is_cut_off_and_comes_back(path, send):
    library = Library(path)
    token = library.token(subtype(path, 1))
    device = str(library.identity.device)
    with Device(path["mcs"], path["ca"]) as connected:
        connected.login(library.identity)
        run_aldaba("device", "block", device, "--data", path["data"])
        assert [packet.tag for packet in connected.closed_by_server()][-1:] == [CLOSE]
    listed = json.loads(run_aldaba("device", "list", "--json", "--data", path["data"]).stdout)
    assert [entry["state"] for entry in listed if entry["device"] == device] == ["blocked"]
    with Device(path["mcs"], path["ca"]) as refused:
        response = refused.login(library.identity)
        assert response.tag == LOGIN_RESPONSE and response.message.get(3) is not None
    assert library.register3(subtype(path, 1))[0] == 401
    with pytest.raises(RuntimeError, match="403"):
        checkin(path["http"], library.identity)
    status, _, reason = send(token, {"aps": {"alert": "waits"}}, apns_expiration=2_000_000_000)
    assert status == 200, reason
    assert run_aldaba("device", "block", device, "--data", path["data"], check=False).returncode == 3
    run_aldaba("device", "unblock", device, "--data", path["data"])
    assert library.token(subtype(path, 1)) == token
    with Device(path["mcs"], path["ca"]) as back:
        assert back.login(library.identity).message.get(3) is None
        assert back.notification().app_data["subtype"] == subtype(path, 1)


def test_a_blocked_agent_keeps_its_identity(path, send, control):
    status, name, reason = send(path["deviceToken"], {"aps": {"alert": "before"}})
    assert status == 200, reason
    control.wait_for_last_state(name, "handed")
    device = re.search(r"on device (\d+)", run_aldaba("get", name, "--data", path["data"]).stdout)[1]
    run_aldaba("device", "block", device, "--data", path["data"])
    wait_until(
        lambda: 'aldaba_device_logins_total{outcome="blocked"}' in metrics(path), "the agent was told that it is blocked")
    status, name, reason = send(path["deviceToken"], {"aps": {"alert": "waits"}}, apns_expiration=2_000_000_000)
    assert status == 200, reason
    run_aldaba("device", "unblock", device, "--data", path["data"])
    control.wait_for_last_state(name, "handed", seconds=60)


def metrics(path):
    """The lines of the server's metrics that have counted something."""
    with urllib.request.urlopen(f"{path['metrics']}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return "\n".join(line for line in lines if not line.endswith(" 0"))


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A server that lets nobody in without a key."""
    with OwnServer(tmp_path_factory.mktemp("enrolment"), "test_enrolment", enrolment_key=None) as running:
        yield running


def enrol(server, key=None, query=""):
    """The status of a new device's checkin, and what was said."""
    control = server.control()
    control.enrolment_key = None
    headers = {"content-type": "application/json"} | ({"authorization": f"Enrol {key}"} if key else {})
    status, answer = control.request("POST", f"/checkin{query}", b"{}", headers)
    return status, json.loads(answer)


def test_keys_let_in_as_many_as_they_are_for(closed):
    assert enrol(closed)[0] == 401
    key = closed.aldaba("enrolment-key", "create", "lab", "--quota", "2").stdout.strip()
    assert enrol(closed, key)[0] == 200
    assert enrol(closed, query=f"?key={key}")[0] == 200, "a library that sends no header has it in its address"
    status, answer = enrol(closed, key)
    assert (status, answer["error"]["message"]) == (401, "as many devices as the enrolment key is for have enrolled")
    listed = json.loads(closed.aldaba("enrolment-key", "list", "--json").stdout)
    assert [(entry["id"], entry["state"], entry["used"]) for entry in listed] == [("lab", "used_up", 2)]
    assert key not in closed.aldaba("enrolment-key", "list").stdout
    assert key.encode() not in closed.log.read_bytes()


def test_a_revoked_and_an_unknown_key_let_nobody_in(closed):
    key = closed.aldaba("enrolment-key", "create", "gate", "--hours", "1").stdout.strip()
    assert enrol(closed, key)[0] == 200
    closed.aldaba("enrolment-key", "revoke", "gate")
    assert enrol(closed, key)[1]["error"]["message"] == "the enrolment key was revoked"
    assert enrol(closed, key + "x")[1]["error"]["message"] == "the server has no such enrolment key"
    assert enrol(closed, "x" * 300)[0] == 401
    assert closed.aldaba("enrolment-key", "revoke", "gate", check=False).returncode == 3
    assert closed.aldaba("enrolment-key", "create", "gate", check=False).returncode == 1
    for wrong in (["a b"], [""], ["x", "--quota", "0"], ["x", "--hours", "-1"]):
        assert closed.aldaba("enrolment-key", "create", *wrong, check=False).returncode in (2, 3)


def test_an_installation_needs_a_key_where_devices_do(closed):
    key = closed.aldaba("enrolment-key", "create", "library").stdout.strip()
    control = closed.control()
    path, body = "/v1/projects/ownteam001/installations", b'{"appId":"1:2:web:3"}'
    assert control.request("POST", path, body)[0] == 403
    assert control.request("POST", path, body, {"x-goog-api-key": "wrong"})[0] == 403
    assert control.request("POST", path, body, {"x-goog-api-key": key})[0] == 200
    listed = json.loads(closed.aldaba("enrolment-key", "list", "--json").stdout)
    entry = next(entry for entry in listed if entry["id"] == "library")
    assert (entry["used"], entry["installations"]) == (0, 1), "only devices count for the quota"


def test_a_key_makes_ten_installations_for_each_device_of_its_quota(closed):
    key = closed.aldaba("enrolment-key", "create", "few", "--quota", "1").stdout.strip()
    control = closed.control()
    path, named = "/v1/projects/ownteam001/installations", {"x-goog-api-key": key}

    def make():
        status, answer = control.request("POST", path, b'{"appId":"1:2:web:3"}', named)
        return status, json.loads(answer)

    made = [make() for _ in range(10)]
    assert {status for status, _ in made} == {200}
    status, answer = make()
    assert (status, answer["error"]["code"], answer["error"]["status"]) == (429, 429, "RESOURCE_EXHAUSTED")
    first = made[0][1]
    token = {"x-goog-firebase-installations-auth": "FIS " + first["authToken"]["token"]}
    assert control.request("DELETE", f"{path}/{first['fid']}", headers=token)[0] == 200
    assert [make()[0], make()[0]] == [200, 429], "what is deleted leaves its place"
