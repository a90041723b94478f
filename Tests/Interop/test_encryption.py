"""Payloads that foreign libraries encrypted: the device shows their text, and nobody before it can read them."""

import asyncio
import base64
import json
import os
import subprocess

import http_ece
import pytest
from aioapns import NotificationRequest
from cryptography.hazmat.primitives.asymmetric import ec
from pywebpush import WebPusher

from aldaba_process import REPOSITORY, run_aldaba
from own_server import TEAM, OwnServer
from pages import in_a_fresh_root
from test_aioapns import send_all
from waiting import wait_until

SECRET = "the eagle lands at five"


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sealed(content, keys, record_size=4096, salt=None):
    """What http-ece makes of some bytes."""
    return http_ece.encrypt(
        content, salt=salt or os.urandom(16), private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=decoded(keys["p256dh"]), auth_secret=decoded(keys["auth"]), rs=record_size, version="aes128gcm")


def carrier(message, key=None):
    """The payload that carries a message."""
    envelope = {"encrypted": message if isinstance(message, str) else encoded(message)}
    if key is not None:
        envelope["key"] = key
    return {"aps": {"alert": {"body": "a placeholder"}, "mutable-content": 1}, "aldaba": envelope}


def plain(text=SECRET):
    return json.dumps({"aps": {"alert": {"title": "Secret", "body": text}}}).encode()


@pytest.fixture(scope="module")
def published(path, control):
    """What the server tells who may send to the demo app."""
    status, answer = control.request("GET", f"/v1/registrations/{path['deviceToken']}/encryption-key")
    assert status == 200, answer
    return json.loads(answer)


@pytest.fixture
def listed(up):
    """`listed(apns_id)`: what a notification in the list says, once it is there."""

    def content(apns_id):
        def find():
            rows = json.loads(run_aldaba("notifications", "list", "--json", "--data", up.data).stdout)
            return next((row for row in rows if row["notification"]["identifier"] == apns_id), None)

        return wait_until(find, f"{apns_id} is in the list")["content"]

    return content


def line(control, apns_id, name):
    """The line of a timeline whose state has this name, once it is there."""

    def find():
        entries = [entry for each in control.notifications(apns_id) for entry in each["timeline"]]
        return next((entry for entry in entries if entry["state"].startswith(name)), None)

    return wait_until(find, f"the timeline of {apns_id} has {name}")


# --- what is opened -------------------------------------------------------------------------------------------


def test_what_http_ece_encrypts_and_an_apns_client_sends_is_shown(path, published, control, listed):
    request = NotificationRequest(
        device_token=path["deviceToken"], message=carrier(sealed(plain(), published["keys"])))
    [result] = asyncio.run(send_all(path, [request]))
    assert result.status == "200"
    assert listed(request.notification_id)["body"] == SECRET
    assert line(control, request.notification_id, "decrypted")["source"] == "agent"


def test_what_a_library_for_web_push_encrypts_is_shown(path, published, send, listed):
    pusher = WebPusher({"endpoint": "https://localhost/", "keys": published["keys"]})
    message = pusher.encode(plain("by a library for Web Push"), "aes128gcm")["body"]
    status, apns_id, _ = send(path["deviceToken"], carrier(message, published["keyId"]))
    assert status == 200
    assert listed(apns_id)["body"] == "by a library for Web Push"


def page_blocks(language):
    text = (REPOSITORY / "Docs/encrypt.md").read_text()
    return [part.split("```")[0] for part in text.split(f"```{language}\n")[1:]]


def test_the_pages_python_does_it(path, published, send, listed):
    names = {}
    exec(page_blocks("python")[0], names)
    payload = names["encrypted"]({"aps": {"alert": "by the page"}}, published, "something came")
    assert "by the page" not in json.dumps(payload)
    status, apns_id, _ = send(path["deviceToken"], payload)
    assert status == 200
    assert listed(apns_id)["body"] == "by the page"


def test_the_pages_commands_do_it(up, path, listed, tmp_path):
    first, second = page_blocks("sh")
    for block in (first, first.splitlines()[0] + "\n" + second):
        done = subprocess.run(
            ["sh", "-e", "-c", block], cwd=tmp_path, env=in_a_fresh_root(tmp_path, up.data), capture_output=True, text=True,
            timeout=60)
        assert done.returncode == 0, done.stderr
        assert listed(done.stdout.strip().split()[-1])["body"] == "4711"


def test_the_largest_payload_fits_and_one_byte_more_is_refused_before_it_is_sent(up, path, listed, tmp_path):
    def sent(size):
        text = plain("").replace(b'"body": ""', b'"body": "%s"' % (b"x" * (size - len(plain("")))))
        (tmp_path / "payload.json").write_bytes(text)
        return run_aldaba(
            "send", "--encrypt", "--token", path["deviceToken"], "--payload", tmp_path / "payload.json", "--data",
            up.data, check=False)

    refused = sent(4096)
    assert refused.returncode != 0
    largest = int(refused.stderr.split("at most ")[1].split()[0])
    assert 2800 < largest < 3000
    assert "at most" in sent(largest + 1).stderr
    done = sent(largest)
    assert done.returncode == 0, done.stderr
    assert listed(done.stdout.split()[-1])["body"].startswith("xxx")


# --- what stays shut ------------------------------------------------------------------------------------------


def faults(keys):
    """Payloads that cannot be opened, by the reason that the timeline gives."""
    message = sealed(plain(), keys)
    other = ec.generate_private_key(ec.SECP256R1()).public_key().public_numbers()
    stranger = b"\x04" + other.x.to_bytes(32, "big") + other.y.to_bytes(32, "big")
    return {
        "malformed": carrier("not base64url!"),
        "truncated": carrier(message[:90]),
        "recordSize": carrier(sealed(plain("x" * 300), keys, record_size=100)),
        "senderKey": carrier(message[:21] + bytes(65) + message[86:]),
        "unknownKey": carrier(message, "AAAAAAAAAAA"),
        "wrongKey": carrier(sealed(plain(), keys | {"p256dh": encoded(stranger)})),
        "notAnObject": carrier(sealed(b"[1]", keys)),
    }


@pytest.mark.parametrize(
    "reason", ["malformed", "truncated", "recordSize", "senderKey", "unknownKey", "wrongKey", "notAnObject"])
def test_what_cannot_be_opened_is_its_placeholder_and_the_timeline_says_why(
        reason, path, published, send, control, listed):
    status, apns_id, _ = send(path["deviceToken"], faults(published["keys"])[reason])
    assert status == 200
    assert listed(apns_id)["body"] == "a placeholder"
    entry = line(control, apns_id, "undecryptable")
    assert entry["state"] == f"undecryptable({reason})"
    assert " " in entry["note"], "the note says what is wrong"


def test_a_message_is_opened_once(path, published, send, control, listed):
    payload = carrier(sealed(plain("only once"), published["keys"]))
    _, first, _ = send(path["deviceToken"], payload)
    assert listed(first)["body"] == "only once"
    _, second, _ = send(path["deviceToken"], payload)
    control.wait_for_last_state(second, "undecryptable(replayed)")
    assert control.notifications(first)[0]["id"] in line(control, second, "undecryptable")["note"]


# --- who knows what -------------------------------------------------------------------------------------------


def test_the_server_keeps_and_logs_nothing_that_was_encrypted(up, path, published, send, listed):
    _, apns_id, _ = send(path["deviceToken"], carrier(sealed(plain("a needle in the haystack"), published["keys"])))
    assert listed(apns_id)["body"] == "a needle in the haystack"
    # The agent's store and what the app itself wrote are on the device's side.
    device = ("agent.sqlite", "todo.json")
    files = [file for file in up.data.rglob("*") if file.is_file() and not file.name.startswith(device)]
    stored = {"store": up.stored("server")} | {str(file): file.read_bytes() for file in files}
    assert stored["store"] and any(apns_id.encode() in each for each in stored.values()), "this was written"
    assert [name for name, content in stored.items() if b"needle in the haystack" in content] == []


def test_the_private_key_is_the_agents_alone(up):
    stores = list(up.data.glob("**/agent.sqlite*"))
    assert stores and all(file.stat().st_mode & 0o077 == 0 for file in stores)


def test_a_token_that_is_none_has_no_key(control):
    assert control.request("GET", f"/v1/registrations/{'ab' * 32}/encryption-key")[0] == 404


def test_a_device_that_publishes_no_key_is_said_and_one_that_publishes_nonsense_refused(path, control):
    device = control.enrol()
    token = control.token(device, path["topic"], path["teamId"])
    status, answer = control.request("GET", f"/v1/registrations/{token}/encryption-key")
    assert (status, json.loads(answer)["code"]) == (404, "noEncryptionKey")
    done = run_aldaba("send", "--encrypt", "--token", token, "--body", "x", "--data", path["data"], check=False)
    assert done.returncode != 0 and "published no key" in done.stderr
    form = f"app={path['topic']}&sender={path['teamId']}&X-environment=sandbox&X-p256dh=AAAA&X-auth=AAAA"
    status, answer = control.request(
        "POST", "/c2dm/register3", form,
        {"content-type": "application/x-www-form-urlencoded", "authorization": f"AidLogin {device[0]}:{device[1]}"})
    assert (status, answer.strip()) == (400, b"Error=INVALID_PARAMETERS")
    control.register(device, path["topic"], path["teamId"], delete=True)
    assert control.request("GET", f"/v1/registrations/{token}/encryption-key")[0] == 410


def test_over_tls_the_key_is_told_to_the_apps_team_alone(tmp_path):
    with OwnServer(tmp_path, "test_encryption") as server:
        topic, key = server.add_app(), server.add_key()
        control = server.control(key)
        device = control.enrol()
        private = ec.generate_private_key(ec.SECP256R1())
        numbers = private.public_key().public_numbers()
        point = encoded(b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big"))
        auth = os.urandom(16)
        form = f"app={topic}&sender={TEAM}&X-environment=production&X-p256dh={point}&X-auth={encoded(auth)}"
        status, answer = control.request(
            "POST", "/c2dm/register3", form,
            {"content-type": "application/x-www-form-urlencoded", "authorization": f"AidLogin {device[0]}:{device[1]}"})
        assert status == 200, answer
        token = answer.decode().strip().removeprefix("token=")
        path = f"/v1/registrations/{token}/encryption-key"
        status, answer = control.request("GET", path)
        assert (status, json.loads(answer)["keys"]) == (200, {"p256dh": point, "auth": encoded(auth)})
        assert server.control(server.add_key("OTHERTEAM1")).request("GET", path)[0] == 404
        control.provider_key = None
        assert control.request("GET", path)[0] == 401
        signing = ["--key-id", key.key_id]
        told = json.loads(server.aldaba("device", "encryption-key", token, "--ca", server.ready["ca"], *signing).stdout)
        assert told == json.loads(answer)
