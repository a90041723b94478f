"""Browsers' subscriptions as RFC 8030 has them: PyPI's pywebpush, unchanged, sends to the address that a browser shows."""

import base64
import os
import time

import http_ece
import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from firebase_admin import messaging
from py_vapid import Vapid02
from pywebpush import WebPushException, webpush

from fcm_library import firebase_app
from mcs_client import Device
from test_enrolment import Library
from waiting import wait_until


def text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def point(private):
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class Browser:
    """A page's subscription: its own keys, and an application server's key that it names."""

    def __init__(self, path, kind="wp"):
        self.path = path
        self.vapid = Vapid02()
        self.vapid.generate_keys()
        self.private, self.secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.library = Library(path)
        self.token = self.library.token(f"wp:{path['topic']}#1", sender=text(point(self.vapid.private_key)))
        self.endpoint = f"{path['http']}/{kind}/{self.token}"
        self.subscription = {
            "endpoint": self.endpoint, "keys": {"p256dh": text(point(self.private)), "auth": text(self.secret)}}

    def push(self, data=b"Milk", vapid=None, **options):
        return webpush(
            self.subscription, data, vapid_private_key=vapid or self.vapid,
            vapid_claims={"sub": "mailto:shop@example.org"}, **options)

    def refused(self, **options):
        with pytest.raises(WebPushException) as refusal:
            self.push(**options)
        return refusal.value.response.status_code

    def connected(self, received=()):
        device = Device(self.path["mcs"], self.path["ca"])
        device.login(self.library.identity, received)
        return device

    def waiting(self, device):
        """What waits: all that comes before something that is sent now."""
        self.push("the last", ttl=60)
        came = []
        while (each := self.opened(device.notification())) != b"the last":
            came.append(each)
        return came

    def opened(self, came):
        pairs = came.app_data
        if pairs["content-encoding"] == "aes128gcm":
            return http_ece.decrypt(came.payload, private_key=self.private, auth_secret=self.secret)
        value = dict(each.split("=", 1) for each in pairs["encryption"].split(";"))
        key = dict(each.split("=", 1) for each in pairs["crypto-key"].replace(",", ";").split(";"))
        return http_ece.decrypt(
            came.payload, salt=base64.urlsafe_b64decode(value["salt"] + "=="), private_key=self.private,
            auth_secret=self.secret, dh=base64.urlsafe_b64decode(key["dh"] + "=="), version="aesgcm")


@pytest.mark.parametrize("kind", ["wp", "fcm/send"])
@pytest.mark.parametrize("coding", ["aes128gcm", "aesgcm"])
def test_a_message_reaches_the_browser_as_it_was_encrypted(path, kind, coding):
    browser = Browser(path, kind)
    with browser.connected() as device:
        answer = browser.push("Milk – and bread", ttl=60, content_encoding=coding)
        assert answer.status_code == 201
        assert answer.headers["location"].startswith(f"/wp/{browser.token}/messages/")
        assert answer.headers["ttl"] == "60"
        came = device.notification()
        assert browser.opened(came).decode() == "Milk – and bread"
        assert came.app_data["subtype"] == f"wp:{path['topic']}#1"
        assert came.ttl <= 60


def test_what_says_nothing_wakes_the_browser(path):
    browser = Browser(path)
    with browser.connected() as device:
        assert browser.push(None, ttl=60).status_code == 201
        came = device.notification()
        assert came.payload == b"" and "content-encoding" not in came.app_data


def test_a_topic_replaces_what_waits_and_ttl_0_waits_for_nobody(path):
    browser = Browser(path)
    for number in (1, 2):
        browser.push(f"score {number}", ttl=600, headers={"topic": "score", "urgency": "low"})
    browser.push("now or never", ttl=0)
    with browser.connected() as device:
        assert browser.waiting(device) == [b"score 2"]


def test_what_has_expired_does_not_come(path):
    browser = Browser(path)
    browser.push("short", ttl=1)
    browser.push("long", ttl=600)
    time.sleep(1.1)  # What is tested is that this time passes.
    with browser.connected() as device:
        assert browser.waiting(device) == [b"long"]


def test_a_receipt_says_whether_a_message_has_arrived(path):
    browser = Browser(path)

    def proof():
        return browser.vapid.sign({"sub": "mailto:a@example.org", "aud": path["http"], "exp": int(time.time()) + 60})

    def receipt(address):
        return requests.get(address, headers=proof(), timeout=10)

    with browser.connected() as device:
        told = browser.push("arrives", ttl=600, headers={"Prefer": "respond-async"})
        assert told.status_code == 202 and told.links["urn:ietf:params:push:receipt"]["url"] == told.headers["location"]
        address = path["http"] + told.links["urn:ietf:params:push:receipt"]["url"]
        assert requests.get(address, timeout=10).status_code == 401, "the key must be proven here too"
        assert receipt(address).status_code == 202
        device.acknowledge_stream(device.notification().stream_id)
        wait_until(lambda: receipt(address).status_code == 204, "the receipt says that it has arrived")
    gone = path["http"] + browser.push("taken back", ttl=600, headers={"Prefer": "wait=5, respond-async"}).headers["location"]
    assert receipt(gone).status_code == 202
    assert requests.delete(gone, headers=proof(), timeout=10).status_code == 204
    refused = receipt(gone)
    assert refused.status_code == 410 and "withdrawn" in refused.text
    assert receipt(address.rsplit("/", 1)[0] + "/1").status_code == 404
    other = Browser(path)
    assert other.push("without a receipt", ttl=600).status_code == 201
    theirs = f"{path['http']}/wp/{other.token}/messages/{address.rsplit('/', 1)[1]}"
    signed = other.vapid.sign({"sub": "mailto:a@example.org", "aud": path["http"], "exp": int(time.time()) + 60})
    assert requests.get(theirs, headers=signed, timeout=10).status_code == 404, "it is another device's"


def test_a_message_can_be_taken_back_by_its_own_address(path):
    browser = Browser(path)
    where = path["http"] + browser.push("wrong", ttl=600).headers["location"]
    assert requests.delete(where, timeout=10).status_code == 401, "the key must be proven here too"
    proof = browser.vapid.sign({"sub": "mailto:a@example.org", "aud": path["http"], "exp": int(time.time()) + 60})
    assert requests.delete(where, headers=proof, timeout=10).status_code == 204
    assert requests.delete(where, headers=proof, timeout=10).status_code == 404
    with browser.connected() as device:
        assert browser.waiting(device) == []


def test_the_key_that_the_subscription_names_must_be_proven(path):
    browser, other = Browser(path), Vapid02()
    other.generate_keys()
    assert browser.refused(vapid=other, ttl=60) == 403
    claims = {"sub": "mailto:a@example.org", "aud": path["http"], "exp": int(time.time()) + 60}
    for wrong in ({"aud": "https://elsewhere.example"}, {"exp": int(time.time()) - 3600},
                  {"exp": int(time.time()) + 3 * 86400}):
        signed = jwt.encode(claims | wrong, browser.vapid.private_key, algorithm="ES256")
        proof = {"authorization": f"vapid t={signed}, k={text(point(browser.vapid.private_key))}"}
        answer = requests.post(browser.endpoint, headers={"ttl": "60"} | proof, timeout=10)
        assert answer.status_code == 403, wrong
    bare = requests.post(browser.endpoint, headers={"ttl": "60"}, timeout=10)
    assert bare.status_code == 401 and "application server" in bare.json()["error"]["message"]
    proof = browser.vapid.sign({"sub": "mailto:a@b.example", "aud": path["http"], "exp": int(time.time()) + 60})
    signed = proof["Authorization"].replace("t=", "t=A", 1)
    assert requests.post(
        browser.endpoint, headers={"ttl": "60", "authorization": signed}, timeout=10).status_code == 403


@pytest.mark.parametrize(("headers", "body", "status", "word"), [
    ({"ttl": ""}, b"", 400, "TTL"), ({"ttl": "-1"}, b"", 400, "TTL"), ({"ttl": "soon"}, b"", 400, "TTL"),
    ({"urgency": "huge"}, b"", 400, "Urgency"), ({"topic": "x" * 33}, b"", 400, "Topic"),
    ({"topic": "a b"}, b"", 400, "Topic"), ({}, b"plain", 400, "encrypted"),
    ({"content-encoding": "gzip"}, b"x", 400, "encrypted"), ({"content-encoding": "aesgcm"}, b"x", 400, "Crypto-Key"),
    ({"content-encoding": "aes128gcm"}, bytes(4097), 413, "the body has 4097 bytes, at most 4096 are allowed"),
    ({"content-encoding": "aes128gcm"}, bytes(10 << 20), 413, "the body has 10485760 bytes, at most 4096 are allowed"),
])
def test_what_is_wrong_is_named(path, headers, body, status, word):
    browser = Browser(path)
    proof = browser.vapid.sign({"sub": "mailto:a@b.example", "aud": path["http"], "exp": int(time.time()) + 60})
    answer = requests.post(browser.endpoint, body, headers={"ttl": "60"} | proof | headers, timeout=10)
    assert answer.status_code == status and word in answer.json()["error"]["message"], answer.text


def test_the_largest_body_is_taken(path):
    browser = Browser(path)
    with browser.connected() as device:
        proof = browser.vapid.sign({"sub": "mailto:a@b.example", "aud": path["http"], "exp": int(time.time()) + 60})
        answer = requests.post(
            browser.endpoint, bytes(4096), timeout=10,
            headers={"ttl": "99999999999999999999", "content-encoding": "aes128gcm"} | proof)
        assert (answer.status_code, answer.headers["ttl"]) == (201, "2419200")
        assert device.notification().payload == bytes(4096)


def test_an_address_that_ended_is_gone_and_one_that_never_was_is_not_found(path):
    browser = Browser(path)
    assert browser.library.register3(f"wp:{path['topic']}#1", delete="true")[1].startswith("token=")
    assert browser.refused(ttl=60) == 410
    browser.subscription["endpoint"] = f"{path['http']}/wp/{'0' * 64}"
    assert browser.refused(ttl=60) == 404
    browser.subscription["endpoint"] = f"{path['http']}/wp/x"
    assert browser.refused(ttl=60) == 404


def test_a_token_of_an_agent_is_no_subscription(path):
    answer = requests.post(f"{path['http']}/wp/{path['deviceToken']}", headers={"ttl": "60"}, timeout=10)
    assert answer.status_code == 404


def test_a_subscription_that_names_a_project_asks_for_no_key(path):
    library = Library(path)
    token = library.token(f"wp:{path['topic']}#1", sender="1234567")
    with Device(path["mcs"], path["ca"]) as device:
        device.login(library.identity)
        assert requests.post(f"{path['http']}/wp/{token}", headers={"ttl": "60"}, timeout=10).status_code == 201
        assert device.notification().app_data == {"subtype": f"wp:{path['topic']}#1"}


@pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")
def test_an_installation_is_a_target(path, monkeypatch):
    """`fid`, as firebase-admin has it since 7.7."""
    library = Library(path)
    library.install()
    token = library.token(path["topic"] + "#1", sender=str(int(path["teamId"], 36)))
    status, answer = library.registered("PATCH", token, f"/{token}")
    assert status == 200, answer
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"]) as app:
        with Device(path["mcs"], path["ca"]) as device:
            device.login(library.identity)
            assert messaging.send(messaging.Message(fid=library.fid, data={"k": "v"}), app=app)
            assert device.notification().app_data["subtype"] == path["topic"] + "#1"
        with pytest.raises(messaging.UnregisteredError):
            messaging.send(messaging.Message(fid="B" * 22, data={"k": "v"}), app=app)
        assert library.register3(path["topic"] + "#1", delete="true")[1].startswith("token=")
        with pytest.raises(messaging.UnregisteredError):
            messaging.send(messaging.Message(fid=library.fid, data={"k": "v"}), app=app)
