"""aioapns, unpatched but for the host, sends to the demo app."""

import asyncio
import json
import ssl
import subprocess
from collections import Counter
from urllib.parse import urlsplit

import httpx
import pytest
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol

from waiting import wait_for_lines, wait_until

COUNT = 1000


async def send_all(path, requests):
    """Sends all at once, as the library lets its users do, and returns the results."""
    address = urlsplit(path["apns"])
    client = APNs(
        key=open(path["key"]).read(), key_id=path["keyId"], team_id=path["teamId"], topic=path["topic"],
        use_sandbox=True, ssl_context=ssl.create_default_context(cafile=path["ca"]),
    )
    host = {"APNS_SERVER": address.hostname, "APNS_PORT": address.port}
    client.pool.protocol_class = type("Here", (APNsDevelopmentClientProtocol,), host)
    try:
        return await asyncio.gather(*(client.send_notification(request) for request in requests))
    finally:
        client.pool.close()


def test_a_thousand_notifications_arrive_once_each_in_the_order_of_acceptance(path, control):
    requests = [
        NotificationRequest(
            device_token=path["deviceToken"], message={"aps": {"alert": f"todo {number}"}},
            push_type=PushType.ALERT, time_to_live=3600 if number % 2 else None, priority=10,
        )
        for number in range(COUNT)
    ]
    results = asyncio.run(send_all(path, requests))
    assert Counter((result.status, result.description) for result in results) == {("200", None): COUNT}

    ids = [request.notification_id for request in requests]
    handed = wait_for_lines(
        path["appLog"], lambda lines: len(set(lines) & set(ids)) == COUNT, "the app was handed all of them", 60
    )
    assert Counter(handed) == Counter(ids), "each exactly once"

    internal = {apns_id: int(control.notifications(apns_id)[0]["id"]) for apns_id in ids}
    order = [internal[apns_id] for apns_id in handed]
    assert order == sorted(order), "in order of acceptance"

    waiting = set(ids)

    def all_end_in_handed():
        waiting.difference_update({each for each in waiting if control.states(each)[-1] == "handed"})
        return not waiting

    wait_until(all_end_in_handed, "every timeline ends in handed", 60)
    assert Counter(open(path["appLog"]).read().split()) == Counter(ids), "still each exactly once"


def test_a_refusal_reaches_the_librarys_caller(path):
    request = NotificationRequest(device_token="ab" * 32, message={"aps": {"alert": "x"}})
    [result] = asyncio.run(send_all(path, [request]))
    assert (result.status, result.description) == ("400", "BadDeviceToken")


@pytest.mark.parametrize("apns_id", ["not a uuid", "42", "ñandú", "x" * 64])
def test_an_id_that_is_no_uuid_is_refused_under_that_id(path, apns_id):
    request = NotificationRequest(
        device_token=path["deviceToken"], message={"aps": {"alert": "x"}}, notification_id=apns_id)
    [result] = asyncio.run(asyncio.wait_for(send_all(path, [request]), 20))
    assert (result.status, result.description) == ("400", "BadMessageId")
    assert result.notification_id == apns_id


@pytest.mark.parametrize("token", ["{length = 32, bytes = 0xabcd ... 0123}", "<abcd0123 abcd0123>", "abcd\n"])
def test_a_token_with_blanks_is_refused_and_its_timeline_says_why(path, control, token):
    request = NotificationRequest(device_token=token, message={"aps": {"alert": "x"}})
    [result] = asyncio.run(asyncio.wait_for(send_all(path, [request]), 20))
    assert (result.status, result.description) == ("400", "BadDeviceToken")
    last = control.notifications(request.notification_id)[0]["timeline"][-1]
    assert last["state"] == "failed(BadDeviceToken)" and "64 hexadecimal digits" in last["note"]


@pytest.mark.parametrize("size", [4097, 16_000])
def test_a_payload_that_the_library_can_send_is_refused_and_the_connection_lives(path, size):
    large = NotificationRequest(device_token=path["deviceToken"], message={"aps": {"alert": "x" * size}})
    small = NotificationRequest(device_token=path["deviceToken"], message={"aps": {"alert": "x"}})
    results = asyncio.run(asyncio.wait_for(send_all(path, [large, small]), 30))
    assert [(each.status, each.description) for each in results] == [("413", "PayloadTooLarge"), ("200", None)]


SIZES = [4097, 65_536, 300_000, 1_000_000]


@pytest.mark.parametrize("size", SIZES)
def test_curl_and_httpx_read_the_answer_to_a_payload_that_is_too_large(path, provider, tmp_path, size):
    file = tmp_path / "payload.json"
    file.write_bytes(json.dumps({"aps": {"alert": "x" * size}}).encode())
    where = f"{path['apns']}/3/device/{path['deviceToken']}"
    fields = [part for name, value in provider.headers() for part in ("-H", f"{name}: {value}")]
    told = subprocess.run(
        ["curl", "--silent", "--show-error", "--http2", "--cacert", path["ca"], *fields, "--data-binary", f"@{file}",
         "--write-out", " %{http_code}", where], capture_output=True, text=True, timeout=30)
    assert (told.returncode, told.stdout) == (0, '{"reason":"PayloadTooLarge"} 413'), told.stderr
    with httpx.Client(http2=True, verify=ssl.create_default_context(cafile=path["ca"]), timeout=20) as client:
        answer = client.post(where, headers=dict(provider.headers()), content=file.read_bytes())
        assert (answer.status_code, answer.json()) == (413, {"reason": "PayloadTooLarge"})
