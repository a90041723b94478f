"""FCM's legacy HTTP API, as senders had it until Google ended it in 2024: PyFCM before 2.0, and curl."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aldaba_process import AldabaUp, clean_environment, run_aldaba
from control_client import ControlClient
from pages import blocks, run_shell
from waiting import wait_until

LEGACY = Path(sys.prefix) / "legacy"
UNKNOWN = "ab" * 32


@pytest.fixture(scope="module")
def running():
    made = AldabaUp.ephemeral("--legacy-fcm", name="legacy_fcm")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def key(running):
    return run_aldaba("service-account", "server-key", "--data", running.data).stdout.strip()


@pytest.fixture
def control(running):
    made = ControlClient(running.ready["http"])
    yield made
    made.close()


def pyfcm(running, key, *calls):
    """The answers of the old library to some calls of its methods."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("old_pyfcm.py")), key, running.ready["fcm"]],
        input="".join(json.dumps(call) + "\n" for call in calls), capture_output=True, text=True, timeout=60,
        env=clean_environment(PYTHONPATH=str(LEGACY), REQUESTS_CA_BUNDLE=running.ready["ca"]))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def curl(running, key, body, *more):
    """The status and the text that Google's own guide would have shown."""
    done = subprocess.run(
        ["curl", "-sS", "--cacert", running.ready["ca"], "-H", f"Authorization: key={key}",
         "-H", "Content-Type: application/json", "-d", body if isinstance(body, str) else json.dumps(body),
         "-w", "\n%{http_code}", *more, running.ready["fcm"] + "/fcm/send"],
        capture_output=True, text=True, timeout=30, env=clean_environment())
    assert done.returncode == 0, done.stderr
    text, status = done.stdout.rsplit("\n", 1)
    return int(status), text


def arrived(running, title):
    """The notifications with a title that the device has."""
    listed = json.loads(run_aldaba("notifications", "list", "--json", "--data", running.data).stdout)
    payloads = [json.loads(item["notification"]["payload"]) for item in listed]
    return [each for each in payloads if each.get("aps", {}).get("alert", {}).get("title") == title]


def test_pyfcm_sends_to_one_device_and_to_many(running, key, control):
    token = running.ready["registrationToken"]
    one, many = pyfcm(
        running, key,
        ["notify_single_device", {
            "registration_id": token, "message_title": "Buy milk", "message_body": "Two litres", "badge": 3,
            "sound": "default", "click_action": "SHOP", "collapse_key": "milk", "time_to_live": 3600,
            "data_message": {"list": "shop", "count": 2}, "content_available": True}],
        ["notify_multiple_devices", {
            "registration_ids": [token, UNKNOWN, "nonsense"], "message_title": "All", "message_body": "of you"}])
    assert (one["success"], one["failure"], one["canonical_ids"]) == (1, 0, 0)
    control.wait_for_last_state(one["results"][0]["message_id"].removeprefix("0:"), "handed")
    (payload,) = wait_until(lambda: arrived(running, "Buy milk"), "the device has it")
    aps = payload["aps"]
    assert (aps["alert"]["body"], aps["badge"], aps["sound"], aps["category"]) == ("Two litres", 3, "default", "SHOP")
    assert aps["content-available"] == 1
    assert (payload["list"], payload["count"]) == ("shop", "2")
    assert (many["success"], many["failure"]) == (1, 2)
    assert [each.get("error") for each in many["results"]] == [None, "NotRegistered", "InvalidRegistration"]


def test_pyfcm_sends_to_topics_and_is_told_of_its_faults(running, key):
    topic, data, stranger = pyfcm(
        running, key,
        ["notify_topic_subscribers", {"topic_name": "weather", "message_title": "Rain"}],
        ["single_device_data_message", {
            "registration_id": running.ready["registrationToken"], "data_message": {"google.key": "x"}}],
        ["notify_single_device", {
            "registration_id": running.ready["registrationToken"], "message_title": "x", "dry_run": True}])
    assert topic["topic_message_id"] > 0 and topic["success"] == 1
    assert data["raised"] == "InvalidDataError" and "google.key" in data["text"]
    assert stranger["results"] == [{"message_id": "fake_message_id"}]
    (refused,) = pyfcm(
        running, key[:-4] + "AAAA",
        ["notify_single_device", {"registration_id": UNKNOWN, "message_title": "x"}])
    assert refused["raised"] == "AuthenticationError"


def test_the_page_sends_as_pasted(running, key, tmp_path):
    done = run_shell("legacy-fcm.md", tmp_path, running.data)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["success"] == 1
    (lines,) = blocks("legacy-fcm.md", "python")
    given = f"server, key, token = {running.ready['fcm']!r}, {key!r}, {running.ready['registrationToken']!r}\n"
    sent = subprocess.run(
        [sys.executable, "-c", given + lines], capture_output=True, text=True, timeout=60,
        env=clean_environment(PYTHONPATH=str(LEGACY), REQUESTS_CA_BUNDLE=running.ready["ca"]))
    assert sent.returncode == 0 and "'success': 1" in sent.stdout, sent.stderr


@pytest.mark.parametrize("body, word", [
    ("{", "JSON_PARSING_ERROR"), ({}, "registration_ids"), ({"to": UNKNOWN, "condition": "'a' in topics"}, "only one"),
    ({"registration_ids": []}, "1 to 1000"), ({"registration_ids": ["a"] * 1001}, "1 to 1000"),
    ({"to": UNKNOWN, "time_to_live": 2_419_201}, "time_to_live"), ({"to": UNKNOWN, "priority": "urgent"}, "priority"),
    ({"to": UNKNOWN, "data": "text"}, "data"), ({"to": "/topics/a b"}, "topic"),
])
def test_a_malformed_request_is_400_with_its_field(running, key, body, word):
    status, text = curl(running, key, body)
    assert status == 400 and word in text


def test_conditions_groups_and_packages_have_their_own_errors(running, key):
    status, text = curl(running, key, {"condition": "'a' in topics &&", "data": {"a": "b"}})
    assert (status, json.loads(text)) == (200, {"error": "InvalidParameters"})
    status, text = curl(running, key, {
        "to": running.ready["registrationToken"], "restricted_package_name": "com.example.other", "data": {"a": "b"}})
    assert json.loads(text)["results"] == [{"error": "InvalidPackageName"}]
    status, text = curl(running, key, {"to": running.ready["registrationToken"], "data": {"a": "b" * 5000}})
    assert json.loads(text)["results"] == [{"error": "MessageTooBig"}]


def test_a_revoked_account_and_a_server_without_the_setting_refuse(running, key):
    assert run_aldaba("service-account", "server-key", "nobody", "--data", running.data, check=False).returncode == 3
    plain = AldabaUp.ephemeral(name="no_legacy_fcm")
    try:
        other = run_aldaba("service-account", "server-key", "--data", plain.data).stdout.strip()
        status, _ = curl(plain, other, {"to": plain.ready["registrationToken"], "data": {"a": "b"}})
        assert status == 404
    finally:
        plain.stop()
    account = json.loads(run_aldaba("service-account", "list", "--json", "--data", running.data).stdout)[0]
    run_aldaba("service-account", "revoke", account["keyId"], "--data", running.data)
    status, text = curl(running, key, {"to": running.ready["registrationToken"], "data": {"a": "b"}})
    assert status == 401 and "SERVER_KEY" in text
