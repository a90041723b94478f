"""Mozilla's push protocol: PyPI's websockets is the browser that connects, pywebpush its pages' servers."""

import http.client
import json
import re
import socket
from contextlib import suppress

import pytest
import requests
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode
from websockets.sync.client import connect

from aldaba_process import SERVERS, AldabaUp, run_aldaba
from autopush_client import (
    SECONDS, Browser, RawSocket, Subscription, absent, address_of, new_channel, new_vapid, point, text)
from control_client import ControlClient
from h2_client import verified_context
from own_server import OwnServer
from waiting import kill, wait_until

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


# --- hello ----------------------------------------------------------------------------------------------------


def test_a_new_client_gets_an_id_and_no_broadcasts(path):
    with Browser(path, hello=False) as browser:
        answer = browser.hello(broadcasts={"remote-settings/monitor_changes": "x"})
    assert re.fullmatch("[0-9a-f]{32}", answer.pop("uaid"))
    assert answer == {"messageType": "hello", "status": 200, "use_webpush": True, "broadcasts": {}}


def test_a_hello_need_not_say_that_it_speaks_web_push(path):
    with Browser(path, hello=False) as browser:
        assert browser.ask("hello")["status"] == 200
        subscription = browser.subscribe()
        subscription.push("after a short hello")
        assert browser.texts(subscription, 1) == ["after a short hello"]


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
    '{"messageType":"broadcast_subscribe","broadcasts":{}}',
    '{"messageType":"hello","use_webpush":false}', '{"messageType":"hello","use_webpush":"true"}',
], ids=["register", "ping", "unregister", "ack", "nack", "broadcasts", "false", "a text"])
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
    # The server closes at the piece with which they are too long, perhaps before the last one is sent.
    with suppress(ConnectionClosed):
        browser.socket.send(iter([padded(LARGEST)[:-2], "x", '"}']))
    assert browser.closed()[0] in (1002, 1008, 1009)


def test_pieces_without_end_close_the_connection(path, others_are_served):
    with RawSocket(path) as raw:
        raw.send(b"{", last=False)
        # One piece more than the server keeps: what it had not read would take its answer away.
        for _ in range(64):
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
    server = path["http"] if SERVERS == 1 else path["control"]
    assert re.fullmatch(re.escape(server) + "/wpush/v2/[A-Za-z0-9_-]{54}", endpoint)


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
    statuses = [
        requests.post(each, headers={"ttl": "0"}, timeout=SECONDS, verify=path["ca"]).status_code for each in endpoints]
    assert statuses == [410, 201] * 25


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
