"""Mozilla's push protocol: PyPI's websockets is the browser that connects, pywebpush its pages' servers."""

import http.client
import json
import os
import re
import secrets
import socket
import string
import threading

import pytest
import requests
from websockets.frames import Opcode
from websockets.sync.client import connect

from aldaba_process import AldabaUp, run_aldaba
from autopush_client import (
    SECONDS, Browser, RawSocket, Subscription, address_of, data, new_channel, new_vapid, number_of, point, text)
from control_client import ControlClient
from h2_client import verified_context
from own_server import OwnServer
from waiting import kill, wait_until

WINDOW = 100  # The server sends as many messages before some are acknowledged.
LARGEST = 65536  # The largest frame, in bytes.
HELLO = json.dumps({"messageType": "hello", "use_webpush": True})


@pytest.fixture
def browser(path):
    with Browser(path) as made:
        yield made


@pytest.fixture(scope="module")
def bystander(path):
    """A client that is connected all the time."""
    with Browser(path) as made:
        made.subscription = made.subscribe()
        yield made


@pytest.fixture
def others_are_served(bystander):
    """When the test has ended, a client that was connected gets a message."""
    yield
    bystander.subscription.push("still here")
    assert bystander.texts(bystander.subscription, 1) == ["still here"]


def wait_until_sent(control, number):
    wait_until(lambda: "sent" in control.states(number), f"{number} is sent")


def absent(path):
    """The id and a subscription of a client that has gone."""
    with Browser(path) as made:
        return made.uaid, made.subscribe()


# --- hello ----------------------------------------------------------------------------------------------------


def test_a_new_client_gets_an_id_and_no_broadcasts(path):
    with Browser(path, hello=False) as browser:
        answer = browser.hello(broadcasts={"remote-settings/monitor_changes": "x"})
    assert re.fullmatch("[0-9a-f]{32}", answer.pop("uaid"))
    assert answer == {"messageType": "hello", "status": 200, "use_webpush": True, "broadcasts": {}}


def test_a_client_keeps_its_id_at_each_connection(path):
    uaid, _ = absent(path)
    for form in (uaid, uaid, uaid.upper()):
        with Browser(path, form) as browser:
            assert browser.uaid == uaid


def test_an_id_is_stored_with_the_first_subscription(path):
    with Browser(path) as browser:
        uaid = browser.uaid
    with Browser(path, uaid) as again:
        assert again.uaid != uaid
        again.subscribe()
    with Browser(path, again.uaid) as third:
        assert third.uaid == again.uaid


@pytest.mark.parametrize("uaid", [
    "", "x", "0" * 32, "f" * 32, "1" * 31, "1" * 33, "g" * 32, "1" * 10000, "é" * 32, 5, None, [], {}, True,
    "8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5f"])
def test_an_id_that_is_unknown_or_none_gets_another(path, uaid, others_are_served):
    with Browser(path, hello=False) as browser:
        answer = browser.ask("hello", use_webpush=True, uaid=uaid)
        assert answer["status"] == 200
        assert re.fullmatch("[0-9a-f]{32}", answer["uaid"]) and answer["uaid"] != uaid
        browser.subscribe()


def test_an_id_with_another_secret_is_not_the_client(path):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        wrong = browser.uaid[:-1] + ("0" if browser.uaid[-1] != "0" else "1")
        with Browser(path, wrong) as thief:
            assert thief.uaid[:16] != browser.uaid[:16]
            thief.subscribe()
            subscription.push("for the client")
            assert browser.texts(subscription, 1) == ["for the client"]
            thief.ping()
            assert thief.kept() == []


def test_a_second_connection_of_a_client_closes_the_first(path):
    with Browser(path) as first:
        subscription = first.subscribe()
        with Browser(path, first.uaid) as second:
            assert first.closed()[0] == 1000
            subscription.push("for the second")
            assert second.texts(subscription, 1) == ["for the second"]


# --- what is against the protocol -----------------------------------------------------------------------------


@pytest.mark.parametrize("message", [
    '{"messageType":"register","channelID":"8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5f"}', "{}",
    '{"messageType":"unregister","channelID":"8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5f","code":200}',
    '{"messageType":"ack","updates":[]}', '{"messageType":"nack","version":"1","code":301}',
    '{"messageType":"broadcast_subscribe","broadcasts":{}}', '{"messageType":"hello"}',
    '{"messageType":"hello","use_webpush":false}', '{"messageType":"hello","use_webpush":"true"}',
], ids=["register", "ping", "unregister", "ack", "nack", "broadcasts", "no webpush", "false", "a text"])
def test_the_first_message_must_be_hello(path, message, others_are_served):
    with Browser(path, hello=False) as browser:
        browser.socket.send(message)
        code, reason = browser.closed()
    assert (code, bool(reason)) == (1008, True)


@pytest.mark.parametrize("message", [
    HELLO, "nonsense", "", "[]", "null", '"hello"', "{", '{"messageType":"ack"', '{"messageType":}', "{}{}", "\x00",
    '{"a":' * 10000, "[" * 60000, '{"messageType":"\\ud800"}', '{"a":1}', '{"messageType":null}', '{"messageType":5}',
    '{"messageType":"subscribe"}', '{"messageType":"register"}', '{"messageType":"register","channelID":null}',
    '{"messageType":"register","channelID":5}', '{"messageType":"unregister","code":200}',
    '{"messageType":"register","channelID":"8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5f","key":5}', '{"messageType":"ack"}',
    '{"messageType":"ack","updates":{}}', '{"messageType":"ack","updates":[5]}', '{"messageType":"ack","updates":[{}]}',
    '{"messageType":"ack","updates":[{"version":5}]}', '{"messageType":"nack","code":301}',
    '{"messageType":"nack","version":5}',
    json.dumps({"messageType": "ack", "updates": [{"version": "1"}] * 1001}),
], ids=lambda text: text[:30] or "empty")
def test_a_message_that_is_not_as_it_must_be_closes_the_connection(browser, message, others_are_served):
    browser.socket.send(message)
    code, reason = browser.closed()
    assert (code, bool(reason)) == (1008, True)


def test_a_text_that_is_no_utf8_closes_the_connection(browser, others_are_served):
    browser.socket.send(b'{"messageType":"\xff\xfe"}', text=True)
    assert browser.closed()[0] in (1007, 1008)


def test_a_binary_frame_closes_the_connection(browser, others_are_served):
    browser.socket.send(b"{}")
    assert browser.closed()[0] in (1003, 1008)


@pytest.mark.parametrize("first", [True, False], ids=["at once", "later"])
def test_a_frame_that_is_not_masked_closes_the_connection(path, first, others_are_served):
    with RawSocket(path) as raw:
        if not first:
            raw.send(HELLO.encode())
            assert raw.receive()[0] == Opcode.TEXT
        raw.send(HELLO.encode(), masked=False)
        assert raw.closed() in (1002, 1008)


def test_a_piece_that_is_not_masked_closes_the_connection(path, others_are_served):
    with RawSocket(path) as raw:
        raw.send(HELLO[:5].encode(), last=False)
        raw.send(HELLO[5:].encode(), Opcode.CONT, masked=False)
        assert raw.closed() in (1002, 1008)


def padded(size):
    """`ping` in a text of so many bytes."""
    message = '{"messageType":"ping","more":""}'
    return message[:-2] + "x" * (size - len(message)) + message[-2:]


def test_a_frame_of_64_kib_is_taken(browser):
    browser.socket.send(padded(LARGEST))
    browser.receive(None)


@pytest.mark.parametrize("size", [LARGEST + 1, 2 * LARGEST, 900_000])
def test_a_larger_frame_closes_the_connection(browser, size, others_are_served):
    browser.socket.send(padded(size))
    assert browser.closed()[0] in (1008, 1009)


def test_a_message_in_pieces_is_one_message(browser):
    browser.socket.send(["{", '"messageType":"broadcast_', 'subscribe","broadcasts":{}}'])
    assert browser.receive("broadcast") == {"messageType": "broadcast", "broadcasts": {}}


def test_pieces_that_are_too_long_together_close_the_connection(browser, others_are_served):
    browser.socket.send(iter([padded(LARGEST)[:-2], "x", '"}']))
    assert browser.closed()[0] in (1002, 1008, 1009)


def test_pieces_without_end_close_the_connection(path, others_are_served):
    with RawSocket(path) as raw:
        raw.send(b"{", last=False)
        for _ in range(70):
            raw.send(b" ", Opcode.CONT, last=False)
        assert raw.closed() in (1002, 1008, 1009)


def test_a_piece_without_beginning_closes_the_connection(path, others_are_served):
    with RawSocket(path) as raw:
        raw.send(b"{}", Opcode.CONT)
        assert raw.closed() in (1002, 1008)


# --- what is no WebSocket -------------------------------------------------------------------------------------


@pytest.mark.parametrize("secured", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("headers", [
    {}, {"upgrade": "h2c", "connection": "upgrade"}, {"upgrade": "websocket", "connection": "upgrade"},
    {"upgrade": "websocket", "connection": "upgrade", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
     "sec-websocket-version": "8"},
], ids=["a page", "h2c", "no key", "version 8"])
def test_a_request_that_does_not_upgrade_is_told_so(path, secured, headers, others_are_served):
    address = path["mcs"].split("//")[-1]
    connection = (
        http.client.HTTPSConnection(address, timeout=SECONDS, context=verified_context(path["ca"])) if secured
        else http.client.HTTPConnection(address, timeout=SECONDS))
    try:
        connection.request("GET", "/", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 426
        assert answer.headers["upgrade"] == "websocket"
        assert "websocket" in answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("line", [b"GET\r\n\r\n", b"G" * 100_000, b"GET / HTTP/9.9\r\n\r\n", b"G\x00\r\n\r\n"])
def test_what_is_no_request_is_closed(path, line, others_are_served):
    host, _, port = path["mcs"].split("//")[-1].rpartition(":")
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        try:
            connection.sendall(line)
            while connection.recv(65536):
                pass
        except ConnectionError:
            pass  # It was closed while there was more to read.


def test_bytes_may_come_one_by_one_and_before_the_handshake_is_answered(path):
    with RawSocket(path, RawSocket.frame(HELLO.encode())) as raw:
        assert raw.receive()[0] == Opcode.TEXT


def test_a_protocol_of_the_browsers_own_is_taken(path):
    """Firefox asks for the protocol `push-notification`, and goes on without it."""
    with connect(
            address_of(path), subprotocols=["push-notification"], ping_interval=None, proxy=None) as websocket:
        websocket.send(HELLO)
        assert json.loads(websocket.recv(SECONDS))["status"] == 200


# --- register -------------------------------------------------------------------------------------------------


def test_over_tls_the_endpoint_has_tls_too(path):
    vapid = new_vapid()
    with Browser(path, secured=True) as browser:
        subscription = browser.subscribe(vapid)
        assert subscription.endpoint.startswith(f"{path['control']}/wpush/v2/")
        subscription.push("Milk")
        assert browser.texts(subscription, 1) == ["Milk"]


def test_the_answer_to_a_registration_names_channel_and_endpoint(path, browser):
    channel = new_channel()
    answer = browser.register(channel)
    endpoint = answer.pop("pushEndpoint")
    assert answer == {"messageType": "register", "channelID": channel, "status": 200}
    assert re.fullmatch(re.escape(path["http"]) + "/wpush/v2/[A-Za-z0-9_-]{54}", endpoint)


def test_a_registration_that_is_repeated_gives_the_same_endpoint(path, browser):
    vapid, channel = new_vapid(), new_channel()
    endpoints = {browser.register(channel, vapid)["pushEndpoint"] for _ in range(3)}
    with Browser(path, browser.uaid) as again:
        endpoints.add(again.register(channel, vapid)["pushEndpoint"])
    assert len(endpoints) == 1


def test_endpoints_of_one_client_have_nothing_in_common(path, browser):
    found = [browser.subscribe().component for _ in range(8)]
    with Browser(path) as other:
        found.append(other.subscribe(channel=new_channel()).component)
    pieces = [{each[at:at + 5] for at in range(len(each) - 4)} for each in found]
    assert len(set().union(*pieces)) == sum(map(len, pieces))


def test_the_same_channel_of_two_clients_is_two_subscriptions(path, browser):
    channel = new_channel()
    mine = browser.subscribe(channel=channel)
    with Browser(path) as other:
        its = other.subscribe(channel=channel)
        assert mine.component != its.component
        mine.push("mine")
        its.push("its")
        assert (browser.texts(mine, 1), other.texts(its, 1)) == (["mine"], ["its"])


@pytest.mark.parametrize("channel", [
    "", "x", "8F7A2F4E-5B1C-4C2D-9E3F-0A1B2C3D4E5F", "8f7a2f4e5b1c4c2d9e3f0a1b2c3d4e5f",
    "8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5", "8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5f0",
    "8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5g", "8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5f ",
    "{8f7a2f4e-5b1c-4c2d-9e3f-0a1b2c3d4e5f}", "8f7a2f4e-5b1c-4c2d-9e3f+0a1b2c3d4e5f", "x" * 10000, "é", '"'],
    ids=lambda channel: channel[:40] or "empty")
def test_a_channel_that_is_no_uuid_in_lower_case_has_status_401(browser, channel):
    for _ in range(2):
        answer = browser.register(channel)
        assert (answer["status"], answer["channelID"]) == (401, channel)
        assert "pushEndpoint" not in answer
        # The client's first subscription comes between them.
        browser.subscribe()


@pytest.mark.parametrize("key", [
    "", "AAAA", "é", "not base64!", text(b"\x04" + bytes(64)), text(b"\x04" + b"\xff" * 64), text(bytes(65)),
    text(point(new_vapid().private_key)[:-1]), text(point(new_vapid().private_key) + b"\x00"),
    text(b"\x02" + point(new_vapid().private_key)[1:33]), "A" * 10000,
], ids=["empty", "short", "no ASCII", "no base64", "not on the curve", "no coordinates", "zeros", "cut", "longer",
        "compressed", "long"])
def test_a_key_that_is_none_has_status_400(browser, key):
    for _ in range(2):
        channel = new_channel()
        answer = browser.register(channel, key)
        assert (answer["status"], answer["channelID"]) == (400, channel)
        assert "pushEndpoint" not in answer
        browser.subscribe()


@pytest.mark.parametrize("form", [
    lambda key: text(key), lambda key: text(key) + "="], ids=["without padding", "with padding"])
def test_the_key_that_a_subscription_names_must_be_proven(browser, form):
    vapid, other = new_vapid(), new_vapid()
    answer = browser.register(key=form(point(vapid.private_key)))
    subscription = Subscription(browser.path, answer["channelID"], answer["pushEndpoint"], vapid)
    assert subscription.refused(vapid=other) == 403
    assert subscription.post().status_code == 401
    subscription.push("proven")
    assert browser.texts(subscription, 1) == ["proven"]


def test_a_subscription_without_key_takes_any_server(browser):
    subscription = browser.subscribe()
    assert subscription.post().status_code == 201
    for vapid in (new_vapid(), new_vapid()):
        subscription.push("x", vapid=vapid)
    assert [subscription.opened(browser.notification()) for _ in range(3)] == [None, "x", "x"]


def test_requests_that_come_at_once_are_answered_in_order(path):
    channels = [new_channel() for _ in range(50)]
    with Browser(path, hello=False) as browser:
        browser.socket.send(HELLO)
        for channel in channels:
            browser.send(messageType="register", channelID=channel)
        for channel in channels[::2]:
            browser.send(messageType="unregister", channelID=channel, code=200)
        assert browser.receive("hello")["status"] == 200
        endpoints = []
        for channel in channels:
            answer = browser.receive("register")
            assert (answer["channelID"], answer["status"]) == (channel, 200)
            endpoints.append(answer["pushEndpoint"])
        for channel in channels[::2]:
            answer = browser.receive("unregister")
            assert (answer["channelID"], answer["status"]) == (channel, 200)
    statuses = [requests.post(each, headers={"ttl": "0"}, timeout=SECONDS).status_code for each in endpoints]
    assert statuses == [410, 201] * 25


# --- messages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", ["aes128gcm", "aesgcm"])
@pytest.mark.parametrize("secured", [False, True], ids=["plain", "TLS"])
def test_a_message_comes_as_it_was_encrypted(path, coding, secured):
    with Browser(path, secured=secured) as browser:
        subscription = browser.subscribe(new_vapid())
        number = subscription.pushed("Milk – and bread", ttl=60, content_encoding=coding)
        message = browser.notification()
        assert subscription.opened(message) == "Milk – and bread"
        headers = {"encoding"} if coding == "aes128gcm" else {"encoding", "encryption", "crypto_key"}
        assert (message["version"], set(message["headers"])) == (number, headers)
        assert message["headers"]["encoding"] == coding
        assert set(message) == {"messageType", "channelID", "version", "ttl", "data", "headers"}
        assert 55 <= message["ttl"] <= 60
        assert "=" not in message["data"]


def test_a_push_without_content_comes_without_data(browser):
    subscription = browser.subscribe(new_vapid())
    subscription.push(None)
    message = browser.notification()
    assert set(message) == {"messageType", "channelID", "version", "ttl"}


def test_4096_bytes_fit_and_4097_do_not(browser):
    subscription, body = browser.subscribe(), os.urandom(4096)
    assert subscription.post(body + b"x").status_code == 413
    assert subscription.post(body).status_code == 201
    assert data(browser.notification()["data"]) == body


def test_the_largest_text_that_pywebpush_encrypts_comes(browser):
    subscription, longest = browser.subscribe(), "x" * (4096 - 86 - 17)
    subscription.push(longest)
    assert browser.texts(subscription, 1) == [longest]


def test_ttl_0_is_for_who_is_connected(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        number = subscription.pushed("now", ttl=0)
        message = browser.notification()
        assert (subscription.opened(message), message["ttl"]) == ("now", 0)
        browser.ack(message)
        control.wait_for_last_state(number, "presented")
    lost = subscription.pushed("now or never", ttl=0)
    control.wait_for_last_state(lost, "dropped(offline)")
    with Browser(path, browser.uaid) as again:
        subscription.push("later")
        assert again.texts(subscription, 1) == ["later"]
    assert control.states(lost)[-1] == "dropped(offline)"


def test_what_waits_comes_in_order_after_hello(path):
    uaid, subscription = absent(path)
    wanted = [f"number {each}" for each in range(20)]
    for each in wanted:
        subscription.push(each)
    with Browser(path, uaid, hello=False) as browser:
        browser.send(messageType="hello", use_webpush=True, uaid=uaid)
        assert json.loads(browser.socket.recv(SECONDS))["messageType"] == "hello"
        assert browser.texts(subscription, 20) == wanted


def test_messages_of_two_subscriptions_come_in_the_order_of_their_pushes(path):
    with Browser(path) as browser:
        both = [browser.subscribe(), browser.subscribe(new_vapid())]
    numbers = [both[each % 2].pushed(str(each)) for each in range(10)]
    with Browser(path, browser.uaid) as again:
        came = [again.notification() for _ in numbers]
    assert [each["version"] for each in came] == numbers
    assert [both[at % 2].opened(each) for at, each in enumerate(came)] == [str(each) for each in range(10)]


def test_what_is_not_acknowledged_comes_again(path):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        numbers = [subscription.pushed(each) for each in ("a", "b", "c")]
        first = [browser.notification() for _ in numbers]
        browser.ack(first[1])
        browser.ping()
    for _ in range(2):
        with Browser(path, browser.uaid) as again:
            assert [again.notification()["version"] for _ in range(2)] == [numbers[0], numbers[2]]
            again.ping()
            assert again.kept() == []
    with Browser(path, browser.uaid) as last:
        last.ack(first[0])  # As the client says of what it read from an earlier connection.
        found = [last.notification() for _ in range(2)]
        last.ack(found[1])
        last.ping()
    subscription.push("d")
    with Browser(path, browser.uaid) as end:
        assert end.texts(subscription, 1) == ["d"]


def test_ttl_0_that_is_not_acknowledged_does_not_come_again(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        number = subscription.pushed("once", ttl=0)
        assert browser.notification()["version"] == number
    wait_until(
        lambda: (states := control.states(number)) and states[-1].startswith(("dropped", "failed")),
        f"{number} has an end; {control.states(number)}")
    with Browser(path, browser.uaid) as again:
        subscription.push("later")
        assert again.texts(subscription, 1) == ["later"]


@pytest.mark.parametrize(("code", "state"), [
    (100, "presented"), (101, "undecryptable(browser)"), (102, "failed(NotDelivered)")])
@pytest.mark.parametrize("ttl", [600, 0])
def test_the_code_of_an_acknowledgement_is_in_the_timeline(browser, control, code, state, ttl):
    subscription = browser.subscribe()
    number = subscription.pushed("x", ttl=ttl)
    browser.ack(browser.notification(), code=code)
    found = control.wait_for_last_state(number, state)
    stored = ["stored"] if ttl else []
    assert [each["state"] for each in found["timeline"]] == ["accepted", *stored, "sent", "acked", state]


def test_an_acknowledgement_without_code_is_one_of_delivery(browser, control):
    subscription = browser.subscribe()
    number = subscription.pushed("x")
    browser.send(messageType="ack", updates=[
        {"channelID": subscription.channel, "version": browser.notification()["version"]}])
    control.wait_for_last_state(number, "presented")


@pytest.mark.parametrize("code", [301, 302, 303])
def test_a_service_worker_that_fails_is_in_the_timeline(path, control, code):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        number = subscription.pushed("x")
        message = browser.notification()
        browser.send(messageType="nack", version=message["version"], code=code)
        entry = control.wait_for_last_state(number, "failed(ServiceWorker)")["timeline"][-1]
        assert str(code) in entry["note"]
        browser.ack(message)
        wait_until(lambda: "acked" in control.states(number), "it is acknowledged")
    subscription.push("later")
    with Browser(path, browser.uaid) as again:
        assert again.texts(subscription, 1) == ["later"]


def test_a_client_acknowledges_its_own_messages_alone(path, browser, control):
    uaid, subscription = absent(path)
    number = subscription.pushed("not for you")
    browser.subscribe()
    for version in (number, "0", "x", "", "1" * 30, "-1"):
        browser.send(messageType="ack", updates=[
            {"channelID": subscription.channel, "version": version, "code": 101}])
        browser.send(messageType="nack", version=version, code=301)
    browser.ping()
    with Browser(path, uaid) as owner:
        message = owner.notification()
        assert message["version"] == number
        owner.ack(message)
        control.wait_for_last_state(number, "presented")
    states = control.states(number)
    assert "undecryptable(browser)" not in states and "failed(ServiceWorker)" not in states
    assert states.count("acked") == 1


def test_an_acknowledgement_that_is_repeated_counts_once(browser, control):
    subscription = browser.subscribe()
    number = subscription.pushed("x")
    message = browser.notification()
    for _ in range(3):
        browser.ack(message, message)
        later = subscription.pushed("later")
        browser.ack(browser.notification())
        control.wait_for_last_state(later, "presented")
    assert control.states(number) == ["accepted", "stored", "sent", "acked", "presented"]


def test_a_topic_replaces_what_waits_of_the_same_channel(path, control):
    with Browser(path) as browser:
        one, two = browser.subscribe(), browser.subscribe()
    topic = {"topic": "score"}
    first = one.pushed("1", headers=topic)
    kept = [two.pushed("2", headers=topic), one.pushed("3", headers={"topic": "other"}), one.pushed("4")]
    last = one.pushed("5", headers=topic)
    control.wait_for_last_state(first, "replaced")
    with Browser(path, browser.uaid) as again:
        assert [again.notification()["version"] for _ in range(4)] == [*kept, last]
        again.ping()
        assert again.kept() == []


def test_a_topic_replaces_what_was_not_acknowledged(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        first = subscription.pushed("1", headers={"topic": "score"})
        assert browser.notification()["version"] == first
        second = subscription.pushed("2", headers={"topic": "score"})
        assert browser.notification()["version"] == second
    with Browser(path, browser.uaid) as again:
        assert again.texts(subscription, 1) == ["2"]
        again.ping()
        assert again.kept() == []
    control.wait_for_last_state(second, "presented")


def test_after_150_messages_that_are_not_acknowledged_the_rest_waits(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        numbers = [number_of(subscription.post()) for _ in range(150)]
        came = [browser.notification() for _ in range(WINDOW)]
        wait_until_sent(control, numbers[WINDOW - 1])
        browser.ping()
        assert browser.kept() == []
        assert "sent" not in control.states(numbers[WINDOW])
        browser.ack(came[0])
        came.append(browser.notification())
        browser.ping()
        assert browser.kept() == []
        browser.ack(*came[1:])
        came += [browser.notification() for _ in range(49)]
        assert [each["version"] for each in came] == numbers
        browser.ack(*came[101:])
        browser.ping()
    with Browser(path, browser.uaid) as again:
        number = number_of(subscription.post())
        assert again.notification()["version"] == number


def test_150_messages_that_wait_come_as_they_are_acknowledged(path):
    uaid, subscription = absent(path)
    numbers = [number_of(subscription.post()) for _ in range(150)]
    with Browser(path, uaid) as browser:
        came = [browser.notification() for _ in range(WINDOW)]
        browser.ping()
        assert browser.kept() == []
        for each in came:
            browser.ack(each)
        came += [browser.notification() for _ in range(50)]
    assert [each["version"] for each in came] == numbers


def test_while_a_client_comes_and_goes_every_message_comes_in_order(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
    numbers, came = [], []

    def push():
        numbers.extend(number_of(subscription.post()) for _ in range(300))

    pusher = threading.Thread(target=push)
    pusher.start()
    while len(came) < 300:
        with Browser(path, browser.uaid) as again:
            for _ in range(min(20, 300 - len(came))):
                message = again.notification()
                came.append(message["version"])
                again.ack(message)
            if len(came) < 300:
                again.notification()  # It is not acknowledged, and comes again.
            again.ping()
    pusher.join()
    assert came == numbers
    control.wait_for_last_state(numbers[-1], "presented")


def test_ttl_0_behind_a_full_window_is_dropped(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        for _ in range(WINDOW):
            assert subscription.post().status_code == 201
        came = [browser.notification() for _ in range(WINDOW)]
        number = subscription.pushed("now", ttl=0)
        wait_until(
            lambda: (states := control.states(number)) and states[-1].startswith("dropped"), f"{number} is dropped")
        browser.ack(*came)
        subscription.push("later")
        assert browser.texts(subscription, 1) == ["later"]


# --- the end of a subscription --------------------------------------------------------------------------------


def test_a_subscription_that_ended_is_gone(path, browser):
    subscription, other = browser.subscribe(new_vapid()), browser.subscribe()
    assert browser.unregister(subscription.channel) == {
        "messageType": "unregister", "channelID": subscription.channel, "status": 200}
    assert subscription.refused() == 410
    assert subscription.post().status_code == 410
    other.push("still here")
    assert browser.texts(other, 1) == ["still here"]
    with Browser(path, browser.uaid) as again:
        assert again.uaid == browser.uaid
        assert subscription.refused() == 410


@pytest.mark.parametrize("channel", [new_channel(), "x", ""], ids=["a UUID", "none", "empty"])
def test_the_end_of_what_never_was_is_confirmed(browser, channel):
    for _ in range(2):
        answer = browser.unregister(channel)
        assert (answer["status"], answer["channelID"]) == (200, channel)
        browser.subscribe()


def test_a_client_ends_its_own_subscriptions_alone(path, browser):
    uaid, subscription = absent(path)
    browser.subscribe()
    assert browser.unregister(subscription.channel)["status"] == 200
    assert subscription.refused() == 201


def test_what_waited_for_a_subscription_that_ended_does_not_come(path, control):
    with Browser(path) as browser:
        ended, other = browser.subscribe(), browser.subscribe()
        seen = ended.pushed("seen")
        assert browser.notification()["version"] == seen
        for _ in range(WINDOW - 1):
            assert other.post().status_code == 201
        came = [browser.notification() for _ in range(WINDOW - 1)]
        behind = ended.pushed("behind a full window")
        assert browser.unregister(ended.channel)["status"] == 200
        browser.ack(*came)
        last = other.pushed("last")
        assert browser.notification()["version"] == last
        control.wait_for_last_state(behind, "withdrawn")
    with Browser(path, browser.uaid) as again:
        assert again.notification()["version"] == last
        again.ping()
        assert again.kept() == []
        control.wait_for_last_state(seen, "withdrawn")


def test_a_subscription_that_ends_right_after_hello_brings_nothing_more(path, control):
    with Browser(path) as browser:
        ended, other = browser.subscribe(), browser.subscribe()
    waits = ended.pushed("waits")
    kept = other.pushed("kept")
    with Browser(path, hello=False) as again:
        again.send(messageType="hello", use_webpush=True, uaid=browser.uaid)
        again.send(messageType="unregister", channelID=ended.channel, code=200)
        assert again.receive("hello")["uaid"] == browser.uaid
        assert again.receive("unregister")["status"] == 200
        # It may have been sent before the server read that; then the client has it and drops it.
        while (message := again.notification())["version"] != kept:
            assert message["version"] == waits
    with Browser(path, browser.uaid) as third:
        assert third.notification()["version"] == kept
        control.wait_for_last_state(waits, "withdrawn")


def test_a_channel_that_ended_can_be_registered_again(browser):
    subscription = browser.subscribe()
    browser.unregister(subscription.channel)
    again = browser.subscribe(channel=subscription.channel)
    again.push("again")
    assert browser.texts(again, 1) == ["again"]


@pytest.mark.parametrize("vapid", [None, new_vapid()], ids=["without key", "with key"])
def test_a_message_is_taken_back_at_its_location(path, control, vapid):
    with Browser(path) as browser:
        subscription = browser.subscribe(vapid)
    answer = subscription.push("wrong")
    where, number = path["http"] + answer.headers["location"], number_of(answer)
    proof = {}
    if vapid is not None:
        assert requests.delete(where, timeout=SECONDS).status_code == 401
        proof = vapid.sign({"sub": "mailto:a@example.org", "aud": path["http"]})
    assert requests.delete(where, headers=proof, timeout=SECONDS).status_code == 204
    assert requests.delete(where, headers=proof, timeout=SECONDS).status_code == 404
    control.wait_for_last_state(number, "withdrawn")
    subscription.push("right")
    with Browser(path, browser.uaid) as again:
        assert again.texts(subscription, 1) == ["right"]


def test_a_message_is_taken_back_at_the_location_of_its_own_subscription_alone(path, browser):
    uaid, subscription = absent(path)
    answer, other = subscription.push("kept"), browser.subscribe()
    where = f"{path['http']}/wp/{other.component}/messages/{number_of(answer)}"
    assert requests.delete(where, timeout=SECONDS).status_code == 404
    with Browser(path, uaid) as again:
        assert again.texts(subscription, 1) == ["kept"]


def test_what_is_taken_back_before_it_is_acknowledged_does_not_come_again(path, control):
    """More of them than the server sends at once: what it knows of them leaves room for the next message."""
    with Browser(path) as browser:
        subscription = browser.subscribe()
        answers = [subscription.post() for _ in range(WINDOW + 20)]
        numbers = [number_of(each) for each in answers]
        assert [browser.notification()["version"] for _ in range(WINDOW)] == numbers[:WINDOW]
    for each in answers:
        assert requests.delete(path["http"] + each.headers["location"], timeout=SECONDS).status_code == 204
    subscription.push("right")
    for _ in range(2):
        with Browser(path, browser.uaid) as again:
            assert subscription.opened(again.notification()) == "right"
            again.ping()
            assert again.kept() == []
    control.wait_for_last_state(numbers[0], "withdrawn")
    control.wait_for_last_state(numbers[-1], "withdrawn")


@pytest.mark.parametrize("component", [
    "x", "A" * 54, secrets.token_urlsafe(40), secrets.token_urlsafe(39), secrets.token_urlsafe(41), "0" * 64,
    "A" * 5000, "%00" * 54, "é", "..", "A" * 53 + "="],
    ids=["short", "zeros", "drawn", "shorter", "longer", "a token", "long", "NUL", "no ASCII", "dots", "padding"])
def test_an_endpoint_that_never_was_is_not_found(path, browser, component):
    subscription = browser.subscribe()
    assert subscription.post(endpoint=f"{path['http']}/wpush/v2/{component}").status_code == 404


def test_an_endpoint_with_a_byte_changed_is_not_found(browser):
    subscription = browser.subscribe()
    root, real = subscription.endpoint.removesuffix(subscription.component), data(subscription.component)
    for at in range(len(real)):
        changed = text(real[:at] + bytes([real[at] ^ 1]) + real[at + 1:])
        assert subscription.post(endpoint=root + changed).status_code == 404, at
    assert subscription.post().status_code == 201


def test_an_endpoint_with_a_character_changed_is_not_found(browser):
    """Of the last character all others are tried, since it has bits that no byte needs."""
    subscription = browser.subscribe()
    root = subscription.endpoint.removesuffix(subscription.component)
    letters = string.ascii_letters + string.digits + "-_"
    for at, real in enumerate(subscription.component):
        for letter in letters if at == len(subscription.component) - 1 else "AB":
            if letter != real:
                changed = subscription.component[:at] + letter + subscription.component[at + 1:]
                assert subscription.post(endpoint=root + changed).status_code == 404, (at, real, letter)
    assert subscription.post().status_code == 201


# --- revocation -----------------------------------------------------------------------------------------------


def test_a_client_that_is_revoked_begins_anew(path):
    with Browser(path) as browser:
        subscriptions = [browser.subscribe(), browser.subscribe(new_vapid())]
        device = str(int(browser.uaid[:16], 16))
        listed = json.loads(run_aldaba("device", "list", "--json", "--data", path["data"]).stdout)
        assert [each["state"] for each in listed if each["device"] == device] == ["active"]
        run_aldaba("device", "revoke", device, "--data", path["data"])
        assert browser.closed()[0] == 1008
    assert [each.refused() for each in subscriptions] == [410, 410]
    with Browser(path, browser.uaid) as again:
        assert again.uaid[:16] != browser.uaid[:16]
        again.subscribe()
    assert [each.refused() for each in subscriptions] == [410, 410]


def test_a_client_that_is_blocked_comes_back_with_what_waited(path):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        device = str(int(browser.uaid[:16], 16))
        run_aldaba("device", "block", device, "--data", path["data"])
        assert browser.closed()[0] == 1008
    subscription.push("waits")
    with Browser(path, hello=False) as refused:
        answer = refused.hello(browser.uaid)
        assert (answer["status"], answer["uaid"]) == (401, "")
        assert refused.closed()[0] == 1008
    run_aldaba("device", "unblock", device, "--data", path["data"])
    with Browser(path, browser.uaid) as again:
        assert again.uaid == browser.uaid
        assert again.texts(subscription, 1) == ["waits"]


# --- the connection -------------------------------------------------------------------------------------------


def test_who_asks_whether_the_server_is_there_is_answered(browser):
    for _ in range(3):
        browser.socket.send("{}")
        assert browser.socket.recv(SECONDS) == "{}"
        assert browser.socket.ping(b"there?").wait(SECONDS)
    browser.send(messageType="broadcast_subscribe", broadcasts={"a": "b"})
    assert browser.receive("broadcast") == {"messageType": "broadcast", "broadcasts": {}}


def test_who_closes_is_answered(path, others_are_served):
    with RawSocket(path) as raw:
        raw.send(HELLO.encode())
        assert raw.receive()[0] == Opcode.TEXT
        raw.send((1001).to_bytes(2) + b"away", Opcode.CLOSE)
        assert raw.closed() in (1000, 1001)


# --- who may enrol --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A server that lets nobody in without a key."""
    with OwnServer(tmp_path_factory.mktemp("autopush"), "test_autopush", enrolment_key=None) as running:
        yield running
        assert running.process.poll() is None


def new_key(server, name, *flags):
    return server.aldaba("enrolment-key", "create", name, *flags).stdout.strip()


@pytest.mark.parametrize("query", ["", "?key=", "?key=wrong", "?key=" + "x" * 300, "?other=1", "?key=%ff", "?key=%"])
def test_a_new_client_without_a_key_is_refused(closed, query):
    """It is not told an id, or its first registration has status 401."""
    with Browser(closed.ready, secured=True, query=query, hello=False) as browser:
        answer = browser.hello()
        if answer["status"] == 200:
            answer = browser.register()
        assert answer["status"] == 401 and "pushEndpoint" not in answer
        assert answer["error"]


def test_a_key_in_the_address_lets_in_as_many_as_it_is_for(closed):
    key = new_key(closed, "browsers", "--quota", "1")
    with Browser(closed.ready, secured=True, query=f"?key={key}") as first:
        with Browser(closed.ready, secured=True, query=f"?a=b&key={key}") as second:
            first.subscribe()
            answer = second.register()
            assert answer["status"] == 401 and answer["error"]
            first.subscribe()
    listed = json.loads(closed.aldaba("enrolment-key", "list", "--json").stdout)
    assert [each["used"] for each in listed if each["id"] == "browsers"] == [1]
    with Browser(closed.ready, first.uaid, secured=True) as again:
        assert again.uaid == first.uaid, "a client that has enrolled needs no key"
        subscription = again.subscribe()
        subscription.push("Milk")
        assert again.texts(subscription, 1) == ["Milk"]
    log = closed.log.read_text()
    assert key not in log and first.uaid[16:] not in log


def test_without_development_plain_text_is_for_a_proxy_on_this_machine(closed):
    key = new_key(closed, "proxied")
    with Browser(closed.ready, query=f"?key={key}") as browser:
        # The proxy has ended TLS, and passes the browser's own host on.
        assert browser.subscribe().endpoint.startswith(f"https://{closed.ready['mcs']}/wpush/v2/")


# --- the server's end -----------------------------------------------------------------------------------------


@pytest.fixture
def own_up(request):
    running = AldabaUp.ephemeral(name=request.node.name)
    yield running
    running.stop()
    running.drop_logs()


def test_a_server_that_stops_says_so_and_has_everything_again(tmp_path):
    server = OwnServer(tmp_path, "test_autopush_stop", "--enrolment-open")
    server.start()
    with Browser(server.ready, secured=True) as browser:
        subscription = browser.subscribe(new_vapid())
        subscription.push("waits")
        browser.notification()
        server.stop()
        assert browser.closed()[0] == 1001
    with server, Browser(server.ready, browser.uaid, secured=True) as again:
        assert again.uaid == browser.uaid
        assert again.texts(subscription, 1) == ["waits"]


@pytest.mark.timeout(120)
def test_a_server_that_is_killed_has_everything_again(own_up):
    path = own_up.ready
    control, vapid = ControlClient(path["http"]), new_vapid()
    uaid, waiting = absent(path)
    with Browser(path) as browser:
        kept, ended = browser.subscribe(vapid), browser.subscribe()
        browser.unregister(ended.channel)
        acknowledged = kept.pushed("acknowledged")
        browser.ack(browser.notification())
        control.wait_for_last_state(acknowledged, "presented")
        unacknowledged = kept.pushed("not acknowledged")
        assert browser.notification()["version"] == unacknowledged
        numbers = [waiting.pushed(str(each)) for each in range(10)]
        pid = own_up.pids()["serve"]
        kill(pid)
        assert browser.closed()[0] is None
    own_up.wait_for_new_pid("serve", pid)

    def is_up():
        try:
            return control.request("GET", "/v1/notifications/1")[0] == 404
        except OSError:
            return False

    wait_until(is_up, "the server is back")
    assert ended.refused() == 410
    kept.push("later")
    with Browser(path, browser.uaid) as again:
        assert again.uaid == browser.uaid
        assert again.notification()["version"] == unacknowledged
        assert kept.opened(again.notification()) == "later"
        assert again.register(kept.channel, vapid)["pushEndpoint"] == kept.endpoint
    with Browser(path, uaid) as other:
        assert [other.notification()["version"] for _ in numbers] == numbers
        other.ping()
        assert other.kept() == []
    control.close()
