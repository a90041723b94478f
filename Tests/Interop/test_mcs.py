"""The device channel, driven by a scripted client that shares nothing with the server but the standard."""

import json
import os
import socket
import time

import pytest

from mcs_client import (
    CLOSE, DATA, IQ, LOGIN, LOGIN_RESPONSE, PING, PONG, STREAM_ERROR, Device, Identity, Message, checkin, encode,
    register3,
)


class World:
    """A freshly enrolled device with the demo app registered on it, and a provider that sends to it."""

    def __init__(self, path, send):
        self.path = path
        self._send = send
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])
        self.count = 0

    def connect(self, **options):
        return Device(self.path["mcs"], self.path["ca"], **options)

    def logged_in(self, received=(), **options):
        device = self.connect(**options)
        response = device.login(self.identity, received)
        assert response.message.get(3) is None, response.message.fields
        return device

    def accept(self, count=1, **headers):
        """Sends so many notifications, each with its number; returns the numbers."""
        numbers = list(range(self.count + 1, self.count + 1 + count))
        for number in numbers:
            status, _, reason = self._send(
                self.token, {"aps": {"alert": f"number {number}"}, "number": number}, **headers)
            assert status == 200, reason
        self.count += count
        return numbers


@pytest.fixture
def world(path, send):
    return World(path, send)


def numbers(notifications):
    return [json.loads(notification.payload)["number"] for notification in notifications]


def test_a_login_is_answered_with_the_same_version_and_confirms_itself(world):
    with world.connect() as device:
        response = device.login(world.identity)
        assert device.server_version == 41
        assert response.last_stream_id_received == 1
        assert response.message.text(1) == "scripted-1"
        assert abs(response.message.get(8) - time.time() * 1000) < 60_000
        assert Message(response.message.get(7)).get(3) > 0, "the answer names a heartbeat interval"


@pytest.mark.parametrize("version", [38, 40, 41, 200])
def test_the_version_is_mirrored(world, version):
    with world.connect(version=version) as device:
        device.login(world.identity)
        assert device.server_version == version


def test_a_version_that_nobody_speaks_is_closed(world):
    with world.connect() as device:
        device.send_raw(bytes([37]))
        assert device.closed_by_server() == []


def test_a_notification_arrives_with_everything_that_was_sent(world, send):
    payload = {"aps": {"alert": {"title": "Milk – and bread"}}, "todo": "milk"}
    expiration = int(time.time()) + 3600
    with world.logged_in() as device:
        status, apns_id, _ = send(
            world.token, payload, apns_collapse_id="list-7", apns_priority="5", apns_push_type="alert",
            apns_expiration=str(expiration))
        assert status == 200
        notification = device.notification()
        assert json.loads(notification.payload) == payload
        assert notification.category == world.path["topic"]
        assert notification.sender == world.path["teamId"]
        assert notification.collapse_key == "list-7"
        assert notification.persistent_id.isdecimal()
        assert notification.app_data["aldaba.apns-id"].lower() == apns_id.lower()
        assert notification.app_data["aldaba.priority"] == "5"
        assert notification.app_data["aldaba.push-type"] == "alert"
        assert notification.app_data["aldaba.environment"] == "sandbox"
        assert int(notification.app_data["aldaba.expiration"]) == expiration * 1000
        assert 3500 < notification.ttl <= 3600


def acknowledge_by_stream(device, notifications):
    device.acknowledge_stream(notifications[-1].stream_id)
    device.ping()


def acknowledge_by_heartbeat(device, notifications):
    device.ping(last=notifications[-1].stream_id)


def acknowledge_by_receipts(device, notifications):
    body = encode(
        (2, "up-1"), (4, "aldaba"), (5, "aldaba.receipts"), (9, "up-1"), (11, notifications[-1].stream_id),
        (17, 60), (21, b""))
    device.send(DATA, body)
    device.wait_confirmed(device.sent_count)


def acknowledge_selectively(device, notifications):
    for notification in notifications:
        device.acknowledge_selectively([notification.persistent_id])
    device.ping()


@pytest.mark.parametrize(
    "acknowledge",
    [acknowledge_by_stream, acknowledge_by_heartbeat, acknowledge_by_receipts, acknowledge_selectively])
def test_a_cut_device_gets_exactly_what_it_had_not_acknowledged(world, acknowledge):
    with world.logged_in() as device:
        sent = world.accept(10)
        notifications = device.notifications(10)
        assert numbers(notifications) == sent
        acknowledge(device, notifications[:4])
    with world.logged_in() as device:
        again = device.notifications(6)
        assert numbers(again) == sent[4:]
        assert [n.persistent_id for n in again] == [n.persistent_id for n in notifications[4:]]
        assert device.nothing_more() == []


def test_what_the_login_names_is_not_sent_again(world):
    with world.logged_in() as device:
        sent = world.accept(6)
        notifications = device.notifications(6)
    have = [notifications[i].persistent_id for i in (0, 2, 5)]
    with world.logged_in(received=[*have, "0:1795%7a", "", "999999999999999999999"]) as device:
        assert numbers(device.notifications(3)) == [sent[1], sent[3], sent[4]]
        assert device.nothing_more() == []
    with world.logged_in() as device:
        assert numbers(device.notifications(3)) == [sent[1], sent[3], sent[4]]


def test_single_packets_can_be_acknowledged_out_of_order(world):
    with world.logged_in() as device:
        sent = world.accept(5)
        notifications = device.notifications(5)
        device.acknowledge_selectively([notifications[3].persistent_id, notifications[1].persistent_id])
        device.ping()
    with world.logged_in() as device:
        assert numbers(device.notifications(3)) == [sent[0], sent[2], sent[4]]
        assert device.nothing_more() == []


def test_what_came_while_the_device_was_away_waits_in_order(world):
    sent = world.accept(250)
    with world.logged_in() as device:
        notifications = device.notifications(250)
        assert numbers(notifications) == sent
        assert [n.stream_id for n in notifications] == sorted(n.stream_id for n in notifications)
        later = world.accept(5)
        assert numbers(device.notifications(5)) == later
        device.acknowledge_stream(device.received_count)
        device.ping()
    with world.logged_in() as device:
        assert device.nothing_more() == []


def test_one_attempt_reaches_a_connected_device_and_nobody_else(world):
    with world.logged_in() as device:
        sent = world.accept(1, apns_expiration="0")
        notification = device.notification()
        assert numbers([notification]) == sent and notification.ttl == 0
    with world.logged_in() as device:
        assert device.nothing_more() == []


def test_heartbeats_are_answered_and_count_as_packets(world):
    with world.logged_in() as device:
        for _ in range(3):
            answer = device.ping()
            assert answer.last_stream_id_received == device.sent_count
        assert device.sent_count == 4 and device.received_count == 4


def test_acknowledgements_are_confirmed_without_being_asked(world):
    with world.logged_in(timeout=30.0) as device:
        world.accept(1)
        notification = device.notification()
        device.acknowledge_stream(notification.stream_id)
        assert device.wait_confirmed(device.sent_count) == 2


def test_receipts_are_confirmed_and_seen_in_the_timeline(world, control):
    with world.logged_in() as device:
        world.accept(1)
        notification = device.notification()
        device.acknowledge_stream(notification.stream_id)
        now = int(time.time() * 1000)
        for _ in range(2):
            stream = device.send_receipts("receipts-1", [
                (notification.persistent_id, "presented", now, "desktop"),
                (notification.persistent_id, "handed", now + 1, "app"),
                (notification.persistent_id, "acked", now, "agent"),
            ])
            device.wait_confirmed(stream)
        found = control.wait_for_last_state(notification.persistent_id, "handed")
        states = [entry["state"] for entry in found["timeline"]]
        assert states.count("presented") == 1 and states.count("handed") == 1 and states.count("acked") == 1


def test_upstream_stanzas_that_nobody_serves_are_refused_by_name_and_confirmed(world):
    with world.logged_in() as device:
        device.send_upstream("up-1", "com.example.unserved", b"whatever")
        answer = device.receive_kind(IQ)
        error = Message(answer.message.get(6))
        assert answer.message.get(2) == 3 and answer.message.text(8) == "up-1", "an IQ error that names it"
        assert error.get(1) == 404 and "com.example.unserved" in error.text(2)
        assert answer.last_stream_id_received == 2
        device.ping()


def test_the_newest_session_wins(world):
    with world.logged_in() as older, world.logged_in() as newer:
        assert [packet.tag for packet in older.closed_by_server()] == [CLOSE]
        sent = world.accept(2)
        assert numbers(newer.notifications(2)) == sent


@pytest.mark.parametrize("wrong", ["secret", "device", "text", "nothing"])
def test_a_wrong_login_is_refused(world, wrong):
    right = world.identity
    identity = {
        "secret": Identity(right.device, right.secret ^ 1),
        "device": Identity(right.device ^ 1, right.secret),
        "text": Identity(0, "secret"),
        "nothing": Identity(0, 0),
    }[wrong]
    with world.connect() as device:
        response = device.login(identity)
        error = Message(response.message.get(3))
        assert error.get(1) == 401 and error.text(2)
        assert [packet.tag for packet in device.closed_by_server()] == []


def test_a_login_split_byte_by_byte_is_understood(world):
    sent = world.accept(1)
    with world.logged_in(chunk=1) as device:
        notification = device.notification()
        assert numbers([notification]) == sent
        device.acknowledge_stream(notification.stream_id)
        device.ping()


BEFORE_LOGIN = {
    "a ping": bytes([41, PING, 0]),
    "a data stanza": bytes([41, DATA, 0]),
    "a server's answer": bytes([41, LOGIN_RESPONSE, 0]),
}
GARBAGE = {
    "an unknown tag": bytes([41, 200, 0]),
    "an endless size": bytes([41, LOGIN]) + b"\xff" * 12,
    "a huge size": bytes([41, LOGIN, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
    "a broken body": bytes([41, LOGIN, 3, 0x0A, 0x7F, 0x00]),
    "HTTP that begins no WebSocket": b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
    "noise": bytes([41]) + bytes(range(255, 0, -1)) * 40,
}


@pytest.mark.parametrize("name", [*BEFORE_LOGIN, *GARBAGE])
def test_what_is_no_login_is_closed_and_the_server_lives(world, name):
    with world.logged_in() as bystander:
        with world.connect() as device:
            device.send_raw({**BEFORE_LOGIN, **GARBAGE}[name])
            packets = device.closed_by_server()
            assert len(packets) <= 1 and all(packet.tag == STREAM_ERROR for packet in packets)
            if name in BEFORE_LOGIN:
                assert packets and packets[0].message.text(2)
        sent = world.accept(1)
        assert numbers([bystander.notification()]) == sent


def test_garbage_after_the_login_ends_only_that_session(world):
    with world.logged_in() as device:
        sent = world.accept(2)
        device.notifications(2)
        device.send_raw(bytes([250, 1, 2, 3]))
        assert STREAM_ERROR in [packet.tag for packet in device.closed_by_server()]
    with world.logged_in() as device:
        assert numbers(device.notifications(2)) == sent


@pytest.mark.parametrize("fault", ["second login", "acknowledges the future", "login response"])
def test_a_packet_in_the_wrong_place_ends_the_session(world, fault):
    with world.logged_in() as device:
        if fault == "second login":
            device.send(LOGIN, device.login_body(world.identity))
        elif fault == "acknowledges the future":
            device.acknowledge_stream(1_000)
        else:
            device.send(LOGIN_RESPONSE)
        packets = device.closed_by_server()
        assert packets[-1].tag == STREAM_ERROR and packets[-1].message.text(2)
    with world.logged_in() as device:
        assert device.nothing_more() == []


def test_plain_text_and_cut_handshakes_leave_the_server_alive(world):
    host, _, port = world.path["mcs"].rpartition(":")
    for data in (b"", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n\r\n", os.urandom(300)):
        with socket.create_connection((host, int(port)), timeout=10) as plain:
            plain.sendall(data)
    with world.logged_in() as device:
        assert device.nothing_more() == []


@pytest.mark.parametrize("tag", [5, 6, 9, 11, 12, 13, 14, 15])
def test_packets_that_are_not_used_any_more_count_as_packets(world, tag):
    with world.logged_in() as device:
        device.send(tag, b"\xff\xff")
        assert device.ping().last_stream_id_received == 3


@pytest.mark.parametrize("length", range(1, 6))
def test_a_size_may_have_any_number_of_bytes(world, length):
    with world.logged_in() as device:
        device.send_raw(bytes([PING]) + b"\x80" * (length - 1) + b"\x00")
        assert device.receive_kind(PONG).last_stream_id_received == 2


def test_goodbye_ends_the_session_and_what_comes_then_waits(world):
    with world.logged_in() as device:
        device.send(CLOSE)
        assert all(packet.tag == CLOSE for packet in device.closed_by_server())
    sent = world.accept(1)
    with world.logged_in() as device:
        assert numbers([device.notification()]) == sent


def test_a_known_device_checks_in_and_keeps_its_identity(world):
    assert checkin(world.path["http"], known=world.identity) == world.identity
    assert register3(
        world.path["http"], world.identity, world.path["topic"], world.path["teamId"]) == world.token
