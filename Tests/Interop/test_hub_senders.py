"""The hub's senders against what is not this server: another server as Apple's, small services of Python, PyPI's checks."""

import base64
import json
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import parse_qs

import http_ece
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from py_vapid import Vapid02

from aldaba_process import SERVERS, run_aldaba
from certificates import make_certificates
from hostile_apns import HostileServer
from hub_clients import OwnHub, RawAzure
from own_server import OwnServer
from provider_tokens import base64url
from push_service import PushService
from waiting import wait_until


@pytest.fixture
def own(path, control):
    return OwnHub(path, control)


def credential(path, *arguments, check=True):
    done = run_aldaba(
        "hub", "credential", "add", path["hubName"], *map(str, arguments), "--json", "--data", path["data"], check=check)
    return json.loads(done.stdout) if check else done.stderr


def remove(path, number):
    run_aldaba("hub", "credential", "remove", path["hubName"], str(number), "--data", path["data"])


def send(own, expression, **content):
    status, begun = own.ask("POST", "/campaigns", {"audience": expression, "content": {"body": "x"} | content})
    assert status == 201, begun
    return begun["id"]


def recipients(own, campaign):
    return {
        each["installationId"]: each for each in own.ask("GET", f"/campaigns/{campaign}/recipients")[1]["recipients"]}


def ended(own, campaign):
    own.wait_for_campaign(campaign, "Completed")
    return recipients(own, campaign)


@pytest.fixture(scope="module")
def apple(path, tmp_path_factory):
    """Another server, which is Apple's to the hub: with the app, and a key of its own."""
    made = OwnServer(tmp_path_factory.mktemp("apple"), "test_hub_senders")
    made.add_app(path["topic"], path["teamId"])
    made.key(path["teamId"])
    with made as running:
        yield running


def apple_token(apple, path):
    control = apple.control(apple.key(path["teamId"]))
    device = control.enrol()
    return control, device, control.token(device, path["topic"], path["teamId"], "production")


def key_file(apple):
    [entry] = [each for each in (apple.data / "keys").glob("AuthKey_*.p8")]
    return entry


def put(own, name, platform, channel, **more):
    status, told = own.ask("PUT", f"/installations/{name}", {"platform": platform, "pushChannel": channel} | more)
    assert status in (200, 201), told


def test_apples_devices_by_a_key(path, own, apple):
    made = credential(
        path, "apns", "--key", key_file(apple), "--address", apple.ready["apns"], "--authority", apple.ready["ca"])
    assert (made["kind"], made["environment"], made["owner"]) == ("apns", "production", path["teamId"])
    control, device, token = apple_token(apple, path)
    _, gone, dead = apple_token(apple, path)
    put(own, "iphone", "apns", token, tags=["by-key"], locale="es")
    put(own, "lost", "apns", dead, tags=["by-key"])
    control.register(gone, path["topic"], path["teamId"], "production", delete=True)
    put(own, "typing-error", "apns", "ab" * 32, tags=["by-key"])
    # A token of this server's own goes to its own device, whatever credential there is.
    put(own, "linux", "apns", path["deviceToken"], tags=["by-key"])
    campaign = send(own, "by-key", title="Hello")
    told = ended(own, campaign)
    assert {name: (each["outcome"], each["reason"]) for name, each in told.items()} == {
        "iphone": ("Success", "Success"), "lost": ("ExpiredChannel", "Unregistered"),
        "typing-error": ("BadChannel", "BadDeviceToken"), "linux": ("Success", "Success")}
    assert "accepted" in apple.control(apple.key(path["teamId"])).states(told["iphone"]["notificationId"])
    assert told["iphone"]["end"] == "accepted"
    assert own.ask("GET", "/installations/lost")[1]["state"] == "dead"
    report = own.ask("GET", f"/campaigns/{campaign}/report")[1]
    funnel = {each["step"]: each["count"] for each in report["funnel"]}
    assert (funnel["targeted"], funnel["attempted"], funnel["accepted"]) == (4, 4, 2)
    assert sum(report["ends"].values()) == 4
    assert set(report["parts"]["reason"]) == {"BadDeviceToken", "Unregistered"}
    assert report["parts"]["locale"]["es"]["accepted"] == 1
    remove(path, made["number"])


def test_apples_devices_by_a_certificate(path, own, apple, tmp_path):
    key, request, signed = tmp_path / "push.key", tmp_path / "push.csr", tmp_path / "push.pem"
    subprocess.run(
        ["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=push"],
        check=True, capture_output=True)
    apple.aldaba(
        "certificate", "sign", request, "--app", path["topic"], "--environment", "production", "--days", "20",
        "--output", signed)
    both = tmp_path / "both.pem"
    both.write_bytes(signed.read_bytes() + key.read_bytes())
    made = credential(
        path, "apns-certificate", "--key", both, "--address", apple.ready["apns"], "--authority", apple.ready["ca"])
    assert "expires at" in made["warning"]
    doctor = run_aldaba("doctor", "--data", path["data"], check=False).stdout
    assert f"hub {path['hubName']}: the apns-certificate credential" in doctor
    _, _, token = apple_token(apple, path)
    put(own, "ipad", "apns", token, tags=["by-certificate"])
    told = ended(own, send(own, "by-certificate"))
    assert told["ipad"]["outcome"] == "Success", told
    assert "not for the environment" in credential(
        path, "apns-certificate", "--environment", "sandbox", "--key", both, check=False)
    remove(path, made["number"])


def test_a_key_that_apple_does_not_know(path, own, apple):
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = apple.data / "AuthKey_ABCDEFGHIJ.p8"
    file.write_bytes(pem)
    made = credential(
        path, "apns", "--key", file, "--address", apple.ready["apns"], "--authority", apple.ready["ca"])
    _, _, token = apple_token(apple, path)
    put(own, "iphone", "apns", token, tags=["stranger"])
    told = ended(own, send(own, "stranger"))
    assert (told["iphone"]["outcome"], told["iphone"]["reason"]) == ("InvalidCredentials", "InvalidProviderToken")
    assert own.ask("GET", "/installations/iphone")[1]["state"] == "live"
    remove(path, made["number"])


def test_without_a_credential_a_token_of_apples_lives(path, own):
    put(own, "unasked", "apns", "ab" * 32, tags=["unasked"])
    put(own, "here", "apns", path["deviceToken"], tags=["unasked"])
    told = ended(own, send(own, "unasked"))
    assert {name: (each["outcome"], each["reason"]) for name, each in told.items()} == {
        "unasked": ("InvalidCredentials", "NoCredential"),
        "here": ("Success", "Success")}
    assert own.ask("GET", "/installations/unasked")[1]["state"] == "live"


def test_the_credential_is_that_of_the_environment(path, own, apple):
    made = credential(
        path, "apns", "--environment", "sandbox", "--key", key_file(apple), "--address", apple.ready["apns"],
        "--authority", apple.ready["ca"])
    _, _, token = apple_token(apple, path)
    put(own, "production", "apns", token, tags=["worlds"], environment="production")
    put(own, "sandbox", "apns", "cd" * 32, tags=["worlds"], environment="sandbox")
    campaign = send(own, "worlds")
    told = ended(own, campaign)
    # One is of no environment that the hub can send to; the other's credential was right for nobody yet.
    assert own.ask("GET", f"/campaigns/{campaign}")[1]["reason"]
    assert own.ask("GET", "/installations/sandbox")[1]["state"] == "live"
    assert (told["production"]["outcome"], told["production"]["reason"]) == ("InvalidCredentials", "NoCredential")
    assert told["sandbox"]["reason"] == "BadDeviceToken"
    remove(path, made["number"])


def test_a_credential_of_the_other_environment_kills_nobody(path, own, apple):
    """Apple answers BadDeviceToken to each token of the other environment: the send tells it, and the devices live."""
    made = credential(
        path, "apns", "--key", key_file(apple), "--address", apple.ready["apns"], "--authority", apple.ready["ca"])
    for number in range(3):
        put(own, f"debug-{number}", "apns", f"{number + 1:02x}" * 32, tags=["other-world"])
    campaign = send(own, "other-world")
    told = ended(own, campaign)
    assert {(each["outcome"], each["reason"]) for each in told.values()} == {("WrongToken", "BadDeviceToken")}
    assert [own.ask("GET", f"/installations/debug-{number}")[1]["state"] for number in range(3)] == ["live"] * 3
    assert "environment production" in own.ask("GET", f"/campaigns/{campaign}")[1]["reason"]
    remove(path, made["number"])


def test_a_credential_that_cannot_work_is_refused_and_none_is_shown(path, apple, tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    assert "no service account" in credential(path, "fcm", "--key", wrong, check=False)
    assert "no P-256 private key" in credential(path, "apns", "--key", wrong, check=False)
    assert "localhost" in credential(path, "webpush", "--subject", "mailto:a@localhost", check=False)
    assert "there is no kind" in credential(path, "pigeon", check=False)
    made = credential(path, "webpush", "--subject", "mailto:push@example.com")
    listed = run_aldaba("hub", "credential", "list", path["hubName"], "--json", "--data", path["data"]).stdout
    [each] = [each for each in json.loads(listed) if each["kind"] == "webpush"]
    assert each["name"] == made["name"] and "PRIVATE" not in listed
    remove(path, made["number"])


def test_fcm_by_our_own_interface(path, own):
    made = credential(path, "fcm", "--key", path["serviceAccount"], "--address", path["fcm"])
    put(own, "android", "fcmV1", path["registrationToken"], tags=["fcm"])
    put(own, "nobody", "fcmV1", "ab" * 32, tags=["fcm"])
    told = ended(own, send(own, "fcm", title="Hello", data={"list": "shop"}))
    assert told["android"]["outcome"] == "Success", told
    assert told["nobody"]["outcome"] in ("ExpiredChannel", "BadChannel"), told
    assert own.ask("GET", "/installations/nobody")[1]["state"] == "dead"
    remove(path, made["number"])


def service_account(tmp_path, url):
    """A service account of a Google that the test is."""
    key = rsa.generate_private_key(65537, 2048)
    file = tmp_path / "account.json"
    file.write_text(json.dumps({
        "type": "service_account", "project_id": "harbour", "private_key_id": "k1",
        "client_email": "push@harbour.example", "token_uri": url + "/token",
        "private_key": key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()}))
    return file, key.public_key()


def test_fcm_of_another_maker_that_is_busy_at_first(path, own, tmp_path):
    """Its verdicts are followed: later after 503, a new access token after 401, dead after UNREGISTERED."""
    state = {"tokens": 0, "busy": 1}

    def fault(status, code, headers={}):
        details = [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code}]
        return status, headers, json.dumps({"error": {"status": code, "details": details}}).encode()

    def answer(asked):
        if asked.path == "/token":
            state["tokens"] += 1
            token = json.dumps({"access_token": f"t{state['tokens']}", "expires_in": 3600}).encode()
            return 200, {}, token
        if asked.headers["authorization"] == "Bearer t1":
            return fault(401, "UNAUTHENTICATED")
        token = json.loads(asked.body)["message"]["token"]
        if token == "gone":
            return fault(404, "UNREGISTERED")
        if state["busy"]:
            state["busy"] -= 1
            return fault(503, "UNAVAILABLE", {"retry-after": "2"})
        return 200, {}, b"{}"

    with PushService(answer) as google:
        file, public = service_account(tmp_path, google.url)
        made = credential(path, "fcm", "--key", file, "--address", google.url)
        put(own, "busy", "fcmV1", "busy", tags=["google"])
        put(own, "gone", "gcm", "gone", tags=["google"])
        campaign = send(own, "google", title="Hello", data={"n": 1})
        told = ended(own, campaign)
        remove(path, made["number"])
    assert (told["busy"]["outcome"], told["busy"]["attempts"]) == ("Success", 2)
    assert (told["gone"]["outcome"], told["gone"]["reason"]) == ("ExpiredChannel", "UNREGISTERED")
    asked = [each for each in google.asked if each.path == "/token"]
    assertion = parse_qs(asked[0].body.decode())["assertion"][0]
    claims = jwt.decode(assertion, public, algorithms=["RS256"], audience=google.url + "/token")
    assert claims["iss"] == "push@harbour.example" and claims["scope"].endswith("/firebase.messaging")
    assert 2 <= len(asked) <= 1 + SERVERS, "each server has one access token for both, and one more after 401"
    sent = [each for each in google.asked if each.path == "/v1/projects/harbour/messages:send"]
    message = json.loads(sent[-1].body)["message"]
    assert message["notification"] == {"title": "Hello", "body": "x"} and message["data"] == {"n": "1"}


class Subscription:
    """A browser's subscription: keys of its own, and how http-ece opens what is sent to it."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = b"0123456789abcdef"

    def channel(self, endpoint):
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        return {"endpoint": endpoint, "p256dh": base64url(point), "auth": base64url(self.auth)}

    def open(self, body):
        return http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")


def test_web_push_is_what_pypi_verifies_and_decrypts(path, own):
    def answer(asked):
        if asked.path == "/gone":
            return 410, {}, b""
        return 201, {"location": "/message/1"}, b""

    with PushService(answer) as service:
        made = credential(path, "webpush", "--subject", "mailto:push@example.com")
        browser = Subscription()
        put(own, "browser", "browser", browser.channel(service.url + "/live"), tags=["web"], locale="de")
        put(own, "closed", "browser", Subscription().channel(service.url + "/gone"), tags=["web"])
        put(own, "inside", "browser", Subscription().channel("https://10.0.0.1/x"), tags=["web"])
        content = {
            "audience": "web", "ttl": 60, "collapseId": "greeting",
            "content": {
                "title": "Hello", "body": "x", "link": "https://example.com/a", "locales": {"de": {"title": "Servus"}}}}
        campaign = own.ask("POST", "/campaigns", content)[1]["id"]
        told = ended(own, campaign)
        remove(path, made["number"])
    assert {name: (each["outcome"], each["reason"]) for name, each in told.items()} == {
        "browser": ("Success", "Success"), "closed": ("ExpiredChannel", "HTTP 410"),
        "inside": ("BadChannel", "AddressRefused")}
    [live] = [each for each in service.asked if each.path == "/live"]
    assert json.loads(browser.open(live.body)) == {
        "web_push": 8030, "notification": {"title": "Servus", "body": "x", "navigate": "https://example.com/a"}}
    headers = live.headers
    assert (headers["ttl"], headers["urgency"], headers["content-encoding"]) == ("60", "high", "aes128gcm")
    assert len(headers["topic"]) == 32
    assert Vapid02.verify(headers["authorization"])
    scheme, _, parts = headers["authorization"].partition(" ")
    fields = dict(part.strip().split("=", 1) for part in parts.split(","))
    assert (scheme, fields["k"]) == ("vapid", made["name"])
    point = base64.urlsafe_b64decode(fields["k"] + "=")
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    claims = jwt.decode(fields["t"], public, algorithms=["ES256"], audience=service.url)
    assert claims["sub"] == "mailto:push@example.com"
    assert own.ask("GET", "/installations/closed")[1]["state"] == "dead"


def direct(path, endpoint, **keys):
    """Azure's direct send to a browser."""
    return RawAzure(path).ask("POST", "messages/", '{"title":"Hello"}', "&direct=true", **{
        "ServiceBusNotification-Format": "browser", "Content-Type": "application/json;charset=utf-8",
        "ServiceBusNotification-DeviceHandle": endpoint} | keys)


def sent(own, answer):
    """What became of a direct send's one recipient."""
    assert answer.status_code == 201, answer.text
    name = answer.json()["notificationId"]

    def ended():
        return own.ask("GET", f"/sends/{name}")[1]["state"] == "Completed"

    wait_until(ended, f"the send {name} has ended")
    [told] = own.ask("GET", f"/sends/{name}/recipients")[1]["recipients"]
    return told["outcome"], told["reason"]


def test_a_direct_send_reaches_a_browser_by_the_keys_in_the_request(path, own):
    with PushService(lambda asked: (201, {}, b"")) as service:
        made = credential(path, "webpush", "--subject", "mailto:push@example.com")
        browser, known = Subscription(), Subscription()
        channel = browser.channel(service.url + "/direct")
        keys = {"P256DH": channel["p256dh"], "Auth": channel["auth"]}
        assert sent(own, direct(path, channel["endpoint"], **keys)) == ("Success", "Success")
        # An installation's own keys serve where the request has none; the request's come first.
        put(own, "direct", "browser", known.channel(service.url + "/known"))
        assert sent(own, direct(path, service.url + "/known")) == ("Success", "Success")
        assert sent(own, direct(path, service.url + "/known", **keys)) == ("Success", "Success")
        assert sent(own, direct(path, "https://10.0.0.1/x", **keys)) == ("BadChannel", "AddressRefused")
        remove(path, made["number"])
    opened = [(asked.path, who.open(asked.body)) for asked, who in zip(service.asked, [browser, known, browser])]
    assert opened == [(place, b'{"title":"Hello"}') for place in ("/direct", "/known", "/known")]
    for wrong in ({}, {"P256DH": channel["p256dh"]}, keys | {"Auth": "c2hvcnQ"}, keys | {"P256DH": "BAAA"}):
        refused = direct(path, service.url + "/stranger", **wrong)
        assert refused.status_code == 400 and "P256DH" in refused.text


def test_actions_films_and_levels_are_said_in_each_services_terms(path, own, tmp_path):
    def answer(asked):
        if asked.path == "/token":
            return 200, {}, json.dumps({"access_token": "t", "expires_in": 3600}).encode()
        return (200, {}, b"{}") if asked.path.endswith("messages:send") else (201, {}, b"")

    content = {
        "title": "Fresh", "subtitle": "Today", "body": "Until noon", "category": "SHOP", "thread": "bread",
        "level": "time-sensitive", "image": "https://shop.example/p.png", "video": "https://shop.example/f.mp4",
        "link": "https://shop.example/", "locales": {"de": {"actions": {"buy": "Kaufen"}}},
        "actions": [{"id": "buy", "title": "Buy", "link": "https://shop.example/buy"}, {"id": "later", "title": "Later"}]}
    with PushService(answer) as service:
        file, _ = service_account(tmp_path, service.url)
        fcm = credential(path, "fcm", "--key", file, "--address", service.url)
        web = credential(path, "webpush", "--subject", "mailto:push@example.com")
        browser = Subscription()
        put(own, "rich-browser", "browser", browser.channel(service.url + "/rich"), tags=["rich"])
        put(own, "rich-android", "fcmV1", "rich", tags=["rich"], locale="de-AT")
        status, begun = own.ask("POST", "/campaigns", {"audience": "rich", "content": content})
        assert status == 201, begun
        told = ended(own, begun["id"])
        remove(path, fcm["number"])
        remove(path, web["number"])
    assert {each["outcome"] for each in told.values()} == {"Success"}, told
    [asked] = [each for each in service.asked if each.path.endswith("messages:send")]
    message = json.loads(asked.body)["message"]
    assert message["notification"] == {
        "title": "Fresh", "body": "Until noon", "image": "https://shop.example/p.png"}
    assert message["android"]["notification"] == {
        "click_action": "SHOP", "notification_priority": "PRIORITY_HIGH"}
    assert [each["title"] for each in json.loads(message["data"]["actions"])] == ["Kaufen", "Later"]
    assert (message["data"]["subtitle"], message["data"]["video"]) == ("Today", "https://shop.example/f.mp4")
    assert message["apns"]["payload"]["aps"]["thread-id"] == "bread"
    [asked] = [each for each in service.asked if each.path == "/rich"]
    shown = json.loads(browser.open(asked.body))["notification"]
    assert shown["actions"] == [
        {"action": "buy", "title": "Buy", "navigate": "https://shop.example/buy"}, {"action": "later", "title": "Later"}]
    assert (shown["image"], shown["requireInteraction"]) == ("https://shop.example/p.png", True)


@pytest.fixture
def hostile(path, tmp_path):
    """`hostile(handle)`: a server of APNs that does what the test says, and the hub's credential for it."""
    certificates = make_certificates(tmp_path / "tls")
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path / "AuthKey_ABCDEFGHIJ.p8"
    file.write_bytes(pem)
    made = []

    def begin(handle):
        server = HostileServer(certificates, handle)
        added = credential(
            path, "apns", "--key", file, "--address", f"https://localhost:{server.port}", "--authority",
            certificates.ca)
        made.append((server, added["number"]))
        return server

    yield begin
    for server, number in made:
        remove(path, number)
        server.close()


def test_what_was_put_after_the_death_lives_on(path, own, hostile):
    """Apple says since when a token is dead: what was registered after that is kept."""
    early = int((datetime.now(timezone.utc) - timedelta(hours=1)).timestamp() * 1000)
    server = hostile(lambda connection, request: connection.refuse(request, 410, "Unregistered", timestamp=early))
    put(own, "back", "apns", "ef" * 32, tags=["back"])
    told = ended(own, send(own, "back"))
    assert told["back"]["outcome"] == "ExpiredChannel"
    assert own.ask("GET", "/installations/back")[1]["state"] == "live"
    fields = server.requests[0].fields
    assert fields[":path"] == "/3/device/" + "ef" * 32
    assert (fields["apns-topic"], fields["apns-push-type"]) == (path["topic"], "alert")
    assert jwt.get_unverified_header(fields["authorization"].split()[1]) == {"alg": "ES256", "kid": "ABCDEFGHIJ"}


def test_an_expired_provider_token_is_replaced_once(path, own, hostile):
    tokens = []

    def handle(connection, request):
        tokens.append(request.fields["authorization"])
        if len(tokens) == 1:
            return connection.refuse(request, 403, "ExpiredProviderToken")
        connection.accept(request)

    server = hostile(handle)
    put(own, "renewed", "apns", "ea" * 32, tags=["renewed"])
    assert ended(own, send(own, "renewed"))["renewed"]["outcome"] == "Success"
    assert len({request.fields["apns-id"] for request in server.requests}) == 1 and len(tokens) == 2


def test_pushes_to_a_server_that_says_goaway_are_each_sent_once(path, own, hostile):
    accepted = []

    def handle(connection, request):
        connection.accept(request)
        accepted.append(request.fields["apns-id"])
        if len(accepted) % 3 == 0:
            # What comes after it on this connection is not processed: `h2` ends the connection by an error.
            connection.h2.close_connection(last_stream_id=request.stream)
            connection.flush()

    server = hostile(handle)
    for number in range(12):
        put(own, f"leaving-{number}", "apns", f"{number + 1:02x}" * 32, tags=["leaving"])
    told = ended(own, send(own, "leaving"))
    assert {each["outcome"] for each in told.values()} == {"Success"} and len(told) == 12
    assert len(accepted) == len(set(accepted)) == 12
    assert len(server.connections) >= 4


def test_apple_is_reached_by_tls_alone(path, hostile):
    server = hostile(lambda connection, request: connection.accept(request))
    [file] = Path(path["data"], "keys").glob("AuthKey_*.p8")
    refusal = credential(path, "apns", "--key", file, "--address", f"http://localhost:{server.port}", check=False)
    assert "is not https://host; APNs is HTTP/2 over TLS" in refusal
