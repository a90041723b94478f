"""What the unit tests of Chromium's and iOS's clients say that those do, each by a scripted socket against the server.

Every test bears the name that it has there: `mcs_client_unittest`, `connection_handler_impl_unittest` and
`connection_factory_impl_unittest` of Chromium, and the tests of the iOS library's connection. What is a matter of the client alone
(its timers, its store) stands here by what the server must do about it.
"""

import json
import time

import pytest
import requests

from aldaba_process import run_aldaba
from mcs_client import (
    CLOSE, DATA, IQ, LOGIN, LOGIN_RESPONSE, PING, PONG, SELECTIVE_ACK, STREAM_ERROR, Device, Message,
    Notification, checkin, encode, register3, varint,
)
from test_upstream import Events, acknowledge, project_number


class ChromiumDevice(Device):
    """It says that it is Chromium, and holds back what it had sent until it is told what came of that."""

    client = "chrome-156.0.0.0"

    def login_body(self, identity, received=(), **changes):
        user = str(identity.device)
        fields = [
            (1, self.client), (2, "mcs.android.com"), (3, user), (4, user), (5, str(identity.secret)),
            (6, f"android-{identity.device:x}"), (8, encode((1, "new_vc"), (2, "1"))),
            *((10, name) for name in received), (12, 0), (14, 1), (16, 2), (17, 1)]
        for setting in changes.get("settings", ()):
            fields.append((8, encode((1, setting[0]), (2, setting[1]))))
        return encode(*fields)

    def login(self, identity, received=()):
        """Logs in; what the server has of what was sent before is in `known`."""
        answer = super().login(identity, received)
        if answer.message.get(3) is None:
            self.known = selective(self.receive())
        return answer


class IOSDevice(Device):
    """The direct channel's library: version 40, and a ping as soon as it is logged in."""

    def __init__(self, *where, **options):
        super().__init__(*where, version=40, **options)

    def login(self, identity, received=()):
        answer = super().login(identity, received)
        self.send(PING, encode((2, 1)))
        return answer


def selective(packet):
    """The persistent ids that an IQ names."""
    assert packet.tag == IQ, packet
    extension = Message(packet.message.get(7))
    assert extension.get(1) == SELECTIVE_ACK
    return [name.decode() for name in Message(extension.get(2, b"")).all(1)]


class World:
    def __init__(self, path, send):
        self.path, self._send = path, send
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])
        self.names = 0

    def connected(self, kind=ChromiumDevice, **options):
        return kind(self.path["mcs"], self.path["ca"], **options)

    def logged_in(self, received=(), kind=ChromiumDevice, **options):
        device = self.connected(kind, **options)
        answer = device.login(self.identity, received)
        assert answer.message.get(3) is None, answer.message.fields
        return device

    def push(self, *numbers, size=0, **headers):
        for number in numbers:
            payload = {"aps": {"alert": "x"}, "number": number, "filler": "x" * size}
            status, _, reason = self._send(self.token, payload, **headers)
            assert status == 200, reason

    def say(self, device, name, ttl=86_400, **options):
        recipient = project_number(self.path["teamId"]) + "@gcm.googleapis.com"
        return device.send_message(name, self.path["topic"], recipient, {"text": name}, ttl=ttl, **options)

    def heard(self):
        """The names of the messages that the provider has; they are taken."""
        with Events(self.path["http"], topic=self.path["topic"]) as events:
            marker = f"marker-{time.monotonic_ns()}"
            with self.logged_in(kind=Device) as device:
                device.wait_confirmed(self.say(device, marker))
            came = []
            while True:
                number, message = events.next()
                if message["id"] == marker:
                    acknowledge(self.path, number)
                    return came
                if message["from"] == self.token:
                    came.append(message["id"])


@pytest.fixture
def world(path, send):
    return World(path, send)


def waiting(world, device):
    """The numbers of what waits for the device: all that comes before something that is sent now."""
    world.push(-1)
    came = []
    while (number := json.loads(device.notification().payload)["number"]) != -1:
        came.append(number)
    return came


def confirmed(device, stream):
    """Sends heartbeats until one is answered that confirms a packet of the device's."""
    for _ in range(1000):
        answer = device.ping()
        if answer.last_stream_id_received >= stream:
            return answer
    raise AssertionError(f"the packet {stream} was not confirmed")


def numbers(notifications):
    return [json.loads(each.payload)["number"] for each in notifications]


# --- mcs_client_unittest, downstream --------------------------------------------------------------------------------


def test_login_success(world):
    with world.connected() as device:
        answer = device.login(world.identity)
        assert answer.stream_id == 1 and answer.last_stream_id_received == 1 and device.known == []


def test_fail_login(world):
    """An error in the answer, then the end: the client comes again by its back-off."""
    with world.connected() as device:
        wrong = type(world.identity)(world.identity.device, world.identity.secret ^ 1)
        answer = device.login(wrong)
        assert Message(answer.message.get(3)).get(1) == 401
        assert device.closed_by_server() == []
    with world.logged_in() as device:
        assert waiting(world, device) == []


def test_ack_on_login(world):
    world.push(1, 2, 3)
    with world.logged_in() as device:
        came = device.notifications(3)
    with world.logged_in([each.persistent_id for each in came]) as device:
        assert waiting(world, device) == []
    with world.logged_in() as device:
        assert waiting(world, device) == [], "the login itself has confirmed them"


def test_ack_on_send(world):
    with world.logged_in() as device:
        world.push(1, 2)
        came = device.notifications(2)
        pairs = encode((1, "k"), (2, "v"))
        device.send(DATA, encode(
            (2, "ack-on-send"), (4, project_number(world.path["teamId"]) + "@gcm.googleapis.com"),
            (5, world.path["topic"]), (7, pairs), (9, "p-ack-on-send"), (11, came[-1].stream_id), (17, 60)))
        device.wait_confirmed(device.sent_count)
    with world.logged_in() as device:
        assert waiting(world, device) == []


def test_ack_when_limit_reached_with_heartbeat(world):
    with world.logged_in() as device:
        world.push(*range(10))
        came = device.notifications(10)
        # LoginResponse and SelectiveAck are the first two packets.
        assert came[-1].stream_id == 12
        device.acknowledge_stream(12)
        confirmed(device, 2)  # Then nothing is kept.
    with world.logged_in() as device:
        assert waiting(world, device) == []


def test_ack_when_immediate_ack_requested(world, path):
    """What goes to a browser asks for it; else Chromium acknowledges after ten, or with its next heartbeat."""
    from test_enrolment import Library
    library = Library(path)
    token = library.token(f"wp:{path['topic']}#1")
    with world.connected() as device:
        device.login(library.identity)
        assert world._send(token, {"aps": {"alert": "x"}})[0] == 200
        assert device.receive_kind(DATA).message.get(24) == 1


def test_selective_ack_mid_stream(world):
    """Of two packets one is named; after the restart the login names that one only, and the other comes again."""
    with world.logged_in() as device:
        world.push(1, 2)
        first, second = device.notifications(2)
        device.acknowledge_selectively([second.persistent_id])
        confirmed(device, device.sent_count)
    with world.logged_in([second.persistent_id]) as device:
        assert waiting(world, device) == [1]


def test_a_server_packet_that_is_not_acknowledged_comes_again_in_order(world):
    world.push(1, 2, 3)
    with world.logged_in() as device:
        device.acknowledge_stream(device.notifications(3)[0].stream_id)
        confirmed(device, device.sent_count)
    with world.logged_in() as device:
        assert waiting(world, device) == [2, 3]


def test_custom_heartbeat_interval(world):
    """The setting `hbping` is the client's own interval; the answer's interval overrides it."""
    with world.connected() as device:
        body = device.login_body(world.identity, settings=[("hbping", "60000")])
        device.send(LOGIN, body, prefix=bytes([41]))
        answer = device.receive()
        assert Message(answer.message.get(7)).get(3) > 0


def test_heartbeats_carry_stream_ids_both_ways(world):
    with world.logged_in() as device:
        world.push(1)
        came = device.notification()
        device.ping(last=came.stream_id)
        assert confirmed(device, 2).last_stream_id_received == device.sent_count
    with world.logged_in() as device:
        assert waiting(world, device) == []


# --- mcs_client_unittest, upstream ----------------------------------------------------------------------------------


def test_send_message_no_rmq(world):
    """Without a persistent id and with TTL 0 it goes while there is a connection, and is confirmed as a packet."""
    with world.logged_in() as device:
        pairs = encode((1, "text"), (2, "now"))
        device.send(DATA, encode(
            (2, "now"), (4, project_number(world.path["teamId"]) + "@gcm.googleapis.com"),
            (5, world.path["topic"]), (7, pairs), (17, 0)))
        device.wait_confirmed(device.sent_count)
    assert world.heard() == ["now"]


def cut_within(world, device, name, *fields):
    """A message whose last byte does not come any more, since the connection is lost."""
    body = encode(
        (2, name), (4, project_number(world.path["teamId"]) + "@gcm.googleapis.com"), (5, world.path["topic"]),
        (7, encode((1, "text"), (2, name))), *fields)
    device.send_raw((bytes([DATA]) + varint(len(body)) + body)[:-1])
    device.cut()


def test_send_message_no_rmq_while_disconnected(world):
    """With TTL 0 it fails at once where there is no connection: the server has nothing of it, also where it was on the way."""
    with world.logged_in() as device:
        cut_within(world, device, "never", (17, 0))
    with world.logged_in() as device:
        assert device.known == [], "the login names nothing"
        device.wait_confirmed(world.say(device, "later"))
    assert world.heard() == ["later"]


def test_send_message_rmq(world):
    with world.logged_in() as device:
        device.wait_confirmed(world.say(device, "rmq"))
    assert world.heard() == ["rmq"]


def test_send_message_rmq_while_disconnected(world):
    """What was said without a connection goes with the next one; `queued` tells for how long it lay."""
    with world.logged_in() as device:
        device.wait_confirmed(world.say(device, "queued", queued=30))
    assert world.heard() == ["queued"]


def test_send_message_rmq_on_restart(world):
    """The same persistent id after a restart, with more in `queued`: one message for the provider."""
    for queued in (0, 5):
        with world.logged_in() as device:
            device.wait_confirmed(world.say(device, "restart", queued=queued))
    assert world.heard() == ["restart"]


def test_rmq_with_stream_ack(world):
    with world.logged_in() as device:
        for name in "abcde":
            last = world.say(device, f"stream-{name}")
        assert device.wait_confirmed(last) == last, "one stream id confirms all five"
    assert world.heard() == [f"stream-{name}" for name in "abcde"]


def test_rmq_ack_on_reconnect(world):
    """All came, and the client does not know: the login's SelectiveAck names all, and nothing is sent again."""
    with world.logged_in() as device:
        for name in "abc":
            last = world.say(device, f"re-{name}")
        device.wait_confirmed(last)
    with world.logged_in() as device:
        assert device.known == ["p-re-a", "p-re-b", "p-re-c"]
    with world.logged_in() as device:
        assert device.known == [], "it was told once"
    assert world.heard() == ["re-a", "re-b", "re-c"]


def test_partial_ack_on_reconnect(world):
    """The first two came; the rest is sent again in order, and what came twice is one."""
    with world.logged_in() as device:
        world.say(device, "part-a")
        device.wait_confirmed(world.say(device, "part-b"))
    with world.logged_in() as device:
        assert device.known == ["p-part-a", "p-part-b"]
        world.say(device, "part-c")
        device.wait_confirmed(world.say(device, "part-d"))
    assert world.heard() == ["part-a", "part-b", "part-c", "part-d"]


def test_what_the_client_knows_is_not_named_again(world):
    """It acknowledged the packet that confirmed its messages: there is no doubt about them."""
    with world.logged_in() as device:
        stream = world.say(device, "known")
        while True:
            packet = device.receive()
            if (packet.last_stream_id_received or 0) >= stream:
                break
        device.ping(last=packet.stream_id)
        device.wait_confirmed(world.say(device, "in doubt"))
    with world.logged_in() as device:
        assert device.known == ["p-in doubt"]
    world.heard()


def test_other_clients_are_told_only_where_there_is_something_to_tell(world):
    with world.logged_in(kind=Device) as device:
        device.wait_confirmed(world.say(device, "plain"))
    with world.logged_in(kind=Device) as device:
        assert selective(device.receive()) == ["p-plain"]
    with world.logged_in(kind=Device) as device:
        device.send(PING)
        assert device.receive().tag == PONG
    world.heard()


def test_expired_ttl_on_send(world):
    """The client drops what has expired; what it sends at the last moment is taken all the same, once."""
    with world.logged_in() as device:
        device.wait_confirmed(world.say(device, "late", ttl=10, queued=10))
    assert world.heard() == ["late"]


def test_expired_ttl_on_restart(world):
    """What has expired when the client begins anew is not sent any more, and the rest goes on without it."""
    with world.logged_in() as device:
        cut_within(world, device, "expired", (9, "p-expired"), (17, 1))
    with world.logged_in() as device:
        assert device.known == [], "what did not come whole did not come"
        device.wait_confirmed(world.say(device, "fresh", queued=1))
    with world.logged_in() as device:
        assert device.known == ["p-fresh"]
    assert world.heard() == ["fresh"]


def test_a_notification_that_expires_while_its_device_is_away_does_not_come(world):
    with world.logged_in():
        pass
    world.push(1, apns_expiration=int(time.time()) + 1)
    world.push(2)
    time.sleep(2)  # An expiration is a second of the clock's.
    with world.logged_in() as device:
        assert waiting(world, device) == [2]


def test_send_error(world):
    """What the server refuses for good is told in FCM's words, too."""
    with world.logged_in() as device:
        device.send_message("nobody", "com.example.unserved", "1@gcm.googleapis.com", {"k": "v"})
        refused = device.receive_kind(IQ)
        assert refused.message.text(8) == "p-nobody"
        told = Notification.of(device.receive_kind(DATA))
        assert told.category == "com.example.unserved" and told.app_data["message_type"] == "send_error"
        assert told.app_data["google.message_id"] == "nobody", "Chromium reads it there"
        assert told.persistent_id == "p-nobody", "iOS reads it there"
        device.acknowledge_stream(told.stream_id)
        device.ping()


@pytest.mark.parametrize("second, left", [("a", [2]), ("b", [1, 2])])
def test_collapse_keys_of_one_app(world, second, left):
    """CollapseKeysSameApp: the later one takes the place; another key stands beside it."""
    world.push(1, apns_collapse_id="a")
    world.push(2, apns_collapse_id=second)
    with world.logged_in() as device:
        assert waiting(world, device) == left


def test_collapse_keys_different_user(world, path, send):
    """CollapseKeysDifferentUser: the same key of another device is another message."""
    other = World(path, send)
    for each in (world, other):
        each.push(1, apns_collapse_id="same")
    for each in (world, other):
        with each.logged_in() as device:
            assert waiting(each, device) == [1]


def test_collapse_keys_different_app(world, path, send):
    """CollapseKeysDifferentApp: the same key of another app on the device is another message."""
    other = f"{path['topic']}.collapse"
    run_aldaba("app", "create", other, "--team", path["teamId"], "--data", path["data"])
    token = register3(path["http"], world.identity, other, path["teamId"])
    world.push(1, apns_collapse_id="same")
    payload = {"aps": {"alert": "x"}, "number": 2}
    assert send(token, payload, apns_topic=other, apns_collapse_id="same")[0] == 200
    world.push(3, apns_collapse_id="same")
    with world.logged_in() as device:
        assert waiting(world, device) == [2, 3]


# --- connection_handler_impl_unittest -------------------------------------------------------------------------------


def test_init(world):
    with world.connected() as device:
        device.login(world.identity)
        assert device.server_version == 41


def test_init_failed_version_check(world):
    with world.connected() as device:
        device.send_raw(bytes([37]) + b"\x02\x00")
        assert device.closed_by_server() == []


def test_init_incomplete(world):
    """Half a login, and then the rest: one session."""
    with world.connected() as device:
        body = device.login_body(world.identity)
        packet = bytes([41, LOGIN]) + varint(len(body)) + body
        device.send_raw(packet[:20])
        device.sent_count += 1
        with pytest.raises(TimeoutError):
            device.receive(0.2)
        device.send_raw(packet[20:])
        assert device.receive().tag == LOGIN_RESPONSE


def test_init_timeout_and_init_incomplete_timeout(world):
    """Who says nothing, and who says half a login, is let go after fifteen seconds and one for the goodbye."""
    with world.connected() as silent, world.connected() as half:
        body = half.login_body(world.identity)
        half.send_raw((bytes([41, LOGIN]) + varint(len(body)) + body)[:20])
        for device in (silent, half):
            assert device.closed_by_server(timeout=25) == []


def test_re_init(world):
    """The second login of one process begins at stream id 1 again."""
    for _ in range(2):
        with world.logged_in() as device:
            assert device.ping().stream_id == 3


def test_recv_2_msgs(world):
    """Two packets in one record, and two more in one that ends in the middle of the second."""
    with world.logged_in() as device:
        ping = bytes([PING, 0])
        device.send_raw(ping + ping)
        device.sent_count += 2
        assert [device.receive().tag for _ in range(2)] == [PONG, PONG]
        device.send_raw(ping + ping[:1])
        assert device.receive().tag == PONG
        device.send_raw(ping[1:])
        assert device.receive().tag == PONG


@pytest.mark.parametrize("size", [100, 200, 3000])
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_recv_long_msg(world, size, parts):
    """RecvLongMsg, RecvLongMsg2Parts, Recv2LongMsgs: sizes of one and of two bytes, in pieces."""
    with world.logged_in() as device:
        device.chunk = size // parts + 1
        name = f"long-{size}-{parts}"
        recipient = project_number(world.path["teamId"]) + "@gcm.googleapis.com"
        for half in ("a", "b"):
            last = device.send_message(f"{name}-{half}", world.path["topic"], recipient, {"text": "x" * size})
        device.chunk = None
        device.wait_confirmed(last)
    assert world.heard() == [f"{name}-a", f"{name}-b"]


def test_a_varint_split_over_reads(world):
    with world.logged_in() as device:
        body = encode((2, 1), (3, "x" * 200))
        packet = bytes([IQ]) + varint(len(body)) + body
        assert len(varint(len(body))) == 2
        for piece in (packet[:2], packet[2:3], packet[3:]):
            device.send_raw(piece)
            time.sleep(0.02)  # So that they come in several reads.
        device.sent_count += 1
        assert device.ping().last_stream_id_received == device.sent_count


@pytest.mark.parametrize("size", [2000, 3900])
def test_messages_beyond_the_buffer_come_whole(world, size):
    """RecvMsg > 4 KiB: the stanza around 3,900 bytes is larger than Chromium's own buffer."""
    with world.logged_in() as device:
        world.push(7, size=size)
        came = device.notification()
        assert json.loads(came.payload)["filler"] == "x" * size


def test_invalid_tag(world):
    with world.logged_in() as device:
        device.send_raw(bytes([99, 0]))
        assert [packet.tag for packet in device.closed_by_server()][-1] == STREAM_ERROR


def test_read_timeout_leaves_others_alone(world):
    """A packet that does not end holds up nobody else."""
    with world.logged_in() as stuck:
        stuck.send_raw(bytes([DATA]) + varint(500) + b"x")
        other = World(world.path, world._send)
        with other.logged_in() as device:
            other.push(1)
            assert numbers([device.notification()]) == [1]


# --- connection_factory_impl_unittest, seen from the server --------------------------------------------------------


def test_a_network_change_brings_a_second_connection_at_once(world):
    with world.logged_in() as old:
        world.push(1)
        old.notification()
        with world.logged_in() as device:
            assert numbers(device.notifications(1)) == [1]
            assert [packet.tag for packet in old.closed_by_server()][-1] == CLOSE


def test_a_login_failure_does_not_end_the_client_s_other_session(world):
    with world.logged_in() as device:
        wrong = type(world.identity)(world.identity.device, world.identity.secret ^ 1)
        with world.connected() as other:
            other.login(wrong)
        assert device.ping().tag == PONG


# --- iOS: connection, rmq and data message manager ------------------------------------------------------------------


def test_ios_sign_in_and_out(world):
    """After the login its count is 2, because of the ping; after Close 3."""
    with world.connected(IOSDevice) as device:
        device.login(world.identity)
        assert device.server_version == 40
        answer = device.receive_kind(PONG)
        assert (device.sent_count, answer.last_stream_id_received) == (2, 2)
        device.send(CLOSE)
        assert device.sent_count == 3
        device.closed_by_server()


def test_ios_close_received(world):
    """A newer session ends the older one with Close: the library comes again at the next change of its state."""
    with world.connected(IOSDevice) as older:
        older.login(world.identity)
        with world.connected(IOSDevice) as newer:
            newer.login(world.identity)
            assert older.closed_by_server()[-1].tag == CLOSE


def test_ios_heartbeat_send(world):
    with world.connected(IOSDevice) as device:
        device.login(world.identity)
        began = time.monotonic()
        device.receive_kind(PONG)
        assert time.monotonic() - began < 20, "it counts as dead after that"


def test_ios_ack_after_ten(world):
    with world.connected(IOSDevice) as device:
        device.login(world.identity)
        world.push(*range(10))
        device.acknowledge_stream(device.notifications(10)[-1].stream_id)
        confirmed(device, device.sent_count)
    with world.logged_in(kind=IOSDevice) as device:
        assert waiting(world, device) == []


def test_ios_resends_what_was_saved(world):
    """ResendSavedMessages: it sends everything in its store after the login, whatever it was told."""
    for _ in range(2):
        with world.logged_in(kind=IOSDevice) as device:
            for name in ("saved-1", "saved-2"):
                last = world.say(device, name)
            device.wait_confirmed(last)
    assert world.heard() == ["saved-1", "saved-2"]


def test_ios_a_tag_without_a_class_is_passed_over(world):
    """Neither side ends for the historic tags."""
    with world.connected(IOSDevice) as device:
        device.login(world.identity)
        for tag in (5, 6, 9, 11, 12, 13, 14, 15):
            device.send(tag)
        assert device.ping().tag == PONG


def test_ios_split_data(world):
    """SecureSocket: the version byte alone, then everything byte by byte."""
    with world.connected(IOSDevice, chunk=1) as device:
        device.login(world.identity)
        assert device.receive_kind(PONG).tag == PONG


def test_deleted_messages(world, path):
    """The queue was discarded: a message says how many; what came after is there."""
    from test_enrolment import Library
    library = Library(path)
    token = library.token(f"wp:{path['topic']}#1", sender="1234567")
    for _ in range(101):
        assert requests.post(f"{path['http']}/wp/{token}", headers={"ttl": "600"}, timeout=10).status_code == 201
    with world.connected() as device:
        device.login(library.identity)
        told = device.notification()
        assert told.app_data["message_type"] == "deleted_messages" and told.app_data["total_deleted"] == "100"
        assert "message_type" not in device.notification().app_data


def test_microg_acks_by_heartbeat_and_at_login_only(world):
    world.push(1, 2, 3)
    with world.logged_in(kind=Device) as device:
        came = device.notifications(3)
        device.ping(last=came[1].stream_id)
        confirmed(device, device.sent_count)
    with world.logged_in([came[2].persistent_id], kind=Device) as device:
        assert waiting(world, device) == []


def test_python_client_names_each(world):
    """A SelectiveAck for each message, and stream ids on heartbeats alone."""
    with world.logged_in(kind=Device) as device:
        world.push(1, 2)
        for each in device.notifications(2):
            device.acknowledge_selectively([each.persistent_id])
        confirmed(device, device.sent_count)
    with world.logged_in(kind=Device) as device:
        assert waiting(world, device) == []
