"""Frames that the server of `AldabaAPNs` may not send, and odd ones that it may (RFC 9113, sections 3 to 6)."""

import struct

import pytest

from frame_world import (  # noqa: F401
    GOES_ON, LATE, LOST, accepted, connection_error, either_error, stream_error, world,
)
from hostile_frames import CODES, EVEN, IDLE, OTHER, PROOF, VICTIM, data, goaway, head, ok, settings
from raw_http2 import (
    ACK, CONTINUATION, DATA, END_HEADERS, GOAWAY, HEADERS, PADDED, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
    SETTINGS, WINDOW_UPDATE, WITH_PRIORITY, block, frame, reset, setting, window_update,
)

LARGEST = 2**31 - 1
PROTOCOL, SIZE = connection_error("PROTOCOL_ERROR"), connection_error("FRAME_SIZE_ERROR")
# A frame on a closed stream is ignored, or ends the connection (section 5.1).
CLOSED = GOES_ON | connection_error("STREAM_CLOSED")
# A frame that is too short for its padding: section 4.2 names one code, sections 6.1 and 6.2 another.
PADDING = connection_error("FRAME_SIZE_ERROR", "PROTOCOL_ERROR")
PROMISE = struct.pack(">I", EVEN) + block([
    (":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", "/")])
ACCEPTED = b"\x88"


def case(section, name, attack, expected):
    return pytest.param(attack, expected, id=f"section {section}, {name}")


@pytest.mark.parametrize("attack, expected", [
    case("4.1", "an unknown type on stream 0", frame(0xB, 0xFF, 0, b"x" * 50), GOES_ON),
    case("4.1", "unknown types on open streams", b"".join(
        frame(kind, 0xFF, VICTIM, b"odd") for kind in (0x20, 0x77, 0xFA, 0xFF)), GOES_ON),
    case("4.1", "an unknown type on a stream that nobody began", frame(0xEE, 0, IDLE, b"odd"), GOES_ON),
    case("4.1", "an unknown type on a closed stream", frame(0xEE, 0, PROOF, b"odd"), GOES_ON),
    case("4.1", "the reserved bit of the stream", frame(PING, 0, 1 << 31, b"reserved"), GOES_ON),
    case("4.1", "flags that PING does not have", frame(PING, 0xFE, 0, b"flagged!"), GOES_ON),
    case("4.1", "flags that SETTINGS does not have", frame(SETTINGS, 0xFE), GOES_ON),
    case("4.1", "flags that WINDOW_UPDATE does not have", frame(WINDOW_UPDATE, 0xFF, 0, b"\0\0\0\1"), GOES_ON),
    case("4.1", "an unknown type that is empty, 500 times", frame(0xEE) * 500, GOES_ON),
    case("4.2", "an unknown type of the largest size", frame(0xEE, payload=bytes(16384)), GOES_ON),
    case("4.2", "an unknown type that is too large", frame(0xEE, payload=bytes(16385)), SIZE),
    case("4.2", "DATA that is too large", data(VICTIM, bytes(16385)), either_error("FRAME_SIZE_ERROR")),
    case("4.2", "HEADERS that is too large", frame(HEADERS, END_HEADERS, VICTIM, bytes(16385)), SIZE),
    case("4.2", "SETTINGS that is too large", frame(SETTINGS, payload=bytes(6 * 2731)), SIZE),
    case("4.2", "a length of 16 MiB", frame(DATA, 0, VICTIM, b"", length=(1 << 24) - 1),
         either_error("FRAME_SIZE_ERROR")),
    case("4.2", "GOAWAY of seven bytes", frame(GOAWAY, payload=bytes(7)), SIZE),
    case("4.2", "PUSH_PROMISE of three bytes", frame(PUSH_PROMISE, END_HEADERS, VICTIM, bytes(3)), SIZE | PROTOCOL),
    case("4.2", "HEADERS too short for its priority", frame(HEADERS, END_HEADERS | WITH_PRIORITY, VICTIM, bytes(4)),
         SIZE),
    case("4.2", "DATA too short for the length of its padding", frame(DATA, PADDED, VICTIM), PADDING),
    case("4.2", "HEADERS too short for the length of its padding", frame(HEADERS, PADDED | END_HEADERS, VICTIM),
         PADDING),
    case("5.1", "DATA on an idle stream", data(IDLE, b"x"), PROTOCOL),
    case("5.1", "HEADERS on an idle stream", ok(IDLE), PROTOCOL),
    case("5.1", "RST_STREAM on an idle stream", reset(IDLE), PROTOCOL),
    case("5.1", "WINDOW_UPDATE on an idle stream", window_update(IDLE, 1), PROTOCOL),
    case("5.1", "PRIORITY on an idle stream", frame(PRIORITY, 0, IDLE, bytes(5)), GOES_ON),
    case("5.1", "DATA on a closed stream", data(PROOF, b"x"), CLOSED),
    case("5.1", "HEADERS on a closed stream", ok(PROOF), CLOSED),
    case("5.1", "RST_STREAM on a closed stream", reset(PROOF), GOES_ON),
    case("5.1", "WINDOW_UPDATE on a closed stream", window_update(PROOF, 1), GOES_ON),
    case("5.1", "PRIORITY on a closed stream", frame(PRIORITY, 0, PROOF, bytes(5)), GOES_ON),
    case("5.1", "WINDOW_UPDATE on a half-closed stream", window_update(VICTIM, 1), GOES_ON),
    case("5.1.1", "HEADERS on an even stream", ok(EVEN), PROTOCOL),
    case("5.1.1", "DATA on an even stream", data(EVEN, b"x"), PROTOCOL),
    case("5.1.1", "RST_STREAM on an even stream", reset(EVEN), PROTOCOL),
    case("5.1.1", "a response to a stream above all others", ok(LARGEST), PROTOCOL),
    case("5.5", "ALTSVC, ORIGIN and PRIORITY_UPDATE", b"".join([
        frame(0xA, payload=b"\0\0h3=:443"), frame(0xC, payload=b"\0\x0bhttps://a.b"), frame(0x10, payload=b"u=1")]),
        GOES_ON),
    case("5.5", "an unknown type inside a field block", head(VICTIM, (":status", "200"), more=True) + frame(0xEE),
         PROTOCOL),
    case("6.1", "DATA on stream 0", data(0, b"x"), PROTOCOL),
    case("6.1", "DATA with more padding than payload", frame(DATA, PADDED, VICTIM, b"\5abc"), PROTOCOL),
    case("6.2", "HEADERS on stream 0", ok(0), PROTOCOL),
    case("6.2", "HEADERS with more padding than payload",
         frame(HEADERS, PADDED | END_HEADERS, VICTIM, b"\x09" + ACCEPTED), PROTOCOL),
    case("6.3", "PRIORITY on an open stream", frame(PRIORITY, 0, VICTIM, b"\x80\0\0\5\xff"), GOES_ON),
    case("6.3", "PRIORITY on stream 0", frame(PRIORITY, 0, 0, bytes(5)), PROTOCOL),
    case("6.3", "PRIORITY of four bytes", frame(PRIORITY, 0, VICTIM, bytes(4)), either_error("FRAME_SIZE_ERROR")),
    case("6.3", "PRIORITY of six bytes", frame(PRIORITY, 0, VICTIM, bytes(6)), either_error("FRAME_SIZE_ERROR")),
    case("6.4", "RST_STREAM on stream 0", reset(0), PROTOCOL),
    case("6.4", "RST_STREAM of three bytes", frame(RST_STREAM, 0, VICTIM, bytes(3)), SIZE),
    case("6.4", "RST_STREAM of five bytes", frame(RST_STREAM, 0, VICTIM, bytes(5)), SIZE),
    case("6.5", "an acknowledgement with a payload", frame(SETTINGS, ACK, 0, bytes(6)), SIZE),
    case("6.5", "an acknowledgement of nothing", frame(SETTINGS, ACK), GOES_ON | PROTOCOL),
    case("6.5", "SETTINGS of five bytes", frame(SETTINGS, payload=bytes(5)), SIZE),
    case("6.5", "SETTINGS of seven bytes", frame(SETTINGS, payload=bytes(7)), SIZE),
    case("6.5", "SETTINGS on a stream", frame(SETTINGS, 0, VICTIM), PROTOCOL),
    case("6.5", "an acknowledgement on a stream", frame(SETTINGS, ACK, VICTIM), PROTOCOL),
    case("6.5.2", "unknown settings", settings((0, 1), (7, 7), (0x10, 0), (0xFFFF, 0xFFFFFFFF)), GOES_ON),
    case("6.5.2", "ENABLE_PUSH of 0", setting(2, 0), GOES_ON),
    case("6.5.2", "ENABLE_PUSH of 1", setting(2, 1), PROTOCOL),
    case("6.5.2", "ENABLE_PUSH of 2", setting(2, 2), PROTOCOL),
    case("6.5.2", "INITIAL_WINDOW_SIZE of 31 bits", setting(4, LARGEST), GOES_ON),
    case("6.5.2", "INITIAL_WINDOW_SIZE beyond 31 bits", setting(4, 1 << 31), connection_error("FLOW_CONTROL_ERROR")),
    case("6.5.2", "MAX_FRAME_SIZE of 16383", setting(5, 16383), PROTOCOL),
    case("6.5.2", "MAX_FRAME_SIZE of 0", setting(5, 0), PROTOCOL),
    case("6.5.2", "MAX_FRAME_SIZE beyond 24 bits", setting(5, 1 << 24), PROTOCOL),
    case("6.5.2", "the largest MAX_FRAME_SIZE", setting(5, (1 << 24) - 1), GOES_ON),
    case("6.5.2", "HEADER_TABLE_SIZE of 32 bits", setting(1, 0xFFFFFFFF), GOES_ON),
    case("6.5.2", "MAX_HEADER_LIST_SIZE of 32 bits", setting(6, 0xFFFFFFFF), GOES_ON),
    case("6.5.3", "values that are taken back in the same frame", settings((4, 0), (3, 0), (4, 65535), (3, 100)),
         GOES_ON),
    case("6.6", "PUSH_PROMISE on an open stream", frame(PUSH_PROMISE, END_HEADERS, VICTIM, PROMISE), PROTOCOL),
    case("6.6", "PUSH_PROMISE on a closed stream", frame(PUSH_PROMISE, END_HEADERS, PROOF, PROMISE), PROTOCOL),
    case("6.6", "PUSH_PROMISE on stream 0", frame(PUSH_PROMISE, END_HEADERS, 0, PROMISE), PROTOCOL),
    case("6.6", "PUSH_PROMISE of an odd stream",
         frame(PUSH_PROMISE, END_HEADERS, VICTIM, struct.pack(">I", IDLE) + PROMISE[4:]), PROTOCOL),
    case("6.7", "an acknowledgement of nothing", frame(PING, ACK, 0, b"whatever"), GOES_ON),
    case("6.7", "PING of seven bytes", frame(PING, payload=bytes(7)), SIZE),
    case("6.7", "PING of nine bytes", frame(PING, payload=bytes(9)), SIZE),
    case("6.7", "PING on a stream", frame(PING, 0, VICTIM, bytes(8)), PROTOCOL),
    case("6.8", "GOAWAY on a stream", frame(GOAWAY, 0, VICTIM, struct.pack(">II", LARGEST, 0)), PROTOCOL),
    case("6.8", "a last stream that a client cannot have begun", goaway(6), GOES_ON | PROTOCOL),
    case("6.8", "a last stream that increases", goaway(OTHER) + goaway(OTHER + 2), PROTOCOL),
    case("6.9", "WINDOW_UPDATE of 0 on the connection", window_update(0, 0), PROTOCOL),
    case("6.9", "WINDOW_UPDATE of 0 on a stream", window_update(VICTIM, 0), either_error("PROTOCOL_ERROR")),
    case("6.9", "the reserved bit of the increment", window_update(0, 1 << 31 | 7), GOES_ON),
    case("6.9", "an increment of the reserved bit alone", window_update(0, 1 << 31), PROTOCOL),
    case("6.9", "WINDOW_UPDATE of three bytes", frame(WINDOW_UPDATE, payload=bytes(3)), SIZE),
    case("6.9", "WINDOW_UPDATE of five bytes", frame(WINDOW_UPDATE, 0, VICTIM, bytes(5)), SIZE),
    case("6.9.1", "a window of the connection beyond 31 bits", window_update(0, LARGEST) * 2,
         connection_error("FLOW_CONTROL_ERROR")),
    case("6.9.1", "a window of a stream beyond 31 bits", window_update(VICTIM, LARGEST) * 2,
         stream_error("FLOW_CONTROL_ERROR")),
    case("6.9.2", "settings that make a window larger than 31 bits",
         window_update(VICTIM, 1 << 30) + setting(4, LARGEST), either_error("FLOW_CONTROL_ERROR")),
    case("6.10", "CONTINUATION without HEADERS", frame(CONTINUATION, END_HEADERS, VICTIM, ACCEPTED), PROTOCOL),
    case("6.10", "CONTINUATION on stream 0", frame(CONTINUATION, END_HEADERS, 0, ACCEPTED), PROTOCOL),
    case("6.10", "CONTINUATION on an idle stream", frame(CONTINUATION, END_HEADERS, IDLE, ACCEPTED), PROTOCOL),
    case("6.10", "CONTINUATION after the end of a field block",
         ok(VICTIM, end=False) + frame(CONTINUATION, END_HEADERS, VICTIM, ACCEPTED), PROTOCOL),
    case("6.10", "CONTINUATION of another stream",
         head(VICTIM, more=True) + frame(CONTINUATION, END_HEADERS, OTHER, ACCEPTED), PROTOCOL),
    case("6.10", "PING inside a field block", head(VICTIM, more=True) + frame(PING, payload=bytes(8)), PROTOCOL),
    case("6.10", "DATA inside a field block", head(VICTIM, more=True) + data(VICTIM, b"x"), PROTOCOL),
    case("6.10", "HEADERS inside a field block", head(VICTIM, more=True) + ok(OTHER), PROTOCOL),
])
def test_a_frame_has_the_effect_that_rfc_9113_demands(world, attack, expected):
    assert world.play(attack) in expected


@pytest.mark.parametrize("code", [*CODES.values(), len(CODES), 0x7FFFFFFF, 0xFFFFFFFF],
                         ids=lambda code: f"section 7, code {code:#x}")
def test_a_request_is_sent_again_only_after_refused_stream(world, code):
    def scenario(peer):
        peer.answer(*peer.whole(1))
        victim, _ = peer.whole(2)
        peer.write(reset(victim.stream, code))
        victim.is_answered = True
        peer.settle()

    connections = world.serve(scenario)
    program = world.start()
    program.send(1)
    program.until(1)
    names = program.send(2)
    results = world.finish()
    peer, = connections
    refused = peer.requests[VICTIM].name
    is_again = code == CODES["REFUSED_STREAM"]
    assert not peer.resets and peer.goaway is None and refused in names
    assert (results.pop(refused) == "accepted") == is_again
    assert accepted(results)
    assert world.times_seen() == {name: 2 if is_again and name == refused else 1 for name in [refused, *results]}


@pytest.mark.parametrize("first", [
    pytest.param(opening, id=f"section 3.4, {name}") for name, opening in {
        "PING before SETTINGS": frame(PING, payload=bytes(8)) + frame(SETTINGS),
        "an acknowledgement before SETTINGS": frame(SETTINGS, ACK) + frame(SETTINGS),
        "GOAWAY before SETTINGS": goaway(0, 1, b"no"),
        "an unknown frame before SETTINGS": frame(0xEE) + frame(SETTINGS),
        "HTTP/1.1": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "the client's own preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS),
        "zeros": bytes(64),
    }.items()
])
def test_a_connection_without_a_preface_gets_no_request(world, first):
    connections = world.serve(lambda peer: None, first=first)
    assert accepted(world.results(3))
    assert connections[0].goaway == "PROTOCOL_ERROR" and not connections[0].requests
    assert len(connections) == 2


@pytest.mark.parametrize("opening", [
    pytest.param(b"", id="section 3.4, nothing"), pytest.param(frame(SETTINGS)[:8], id="section 3.4, half a frame")])
def test_a_server_whose_preface_never_comes_gets_no_request(world, opening):
    connections = world.serve(lambda peer: None, opening=opening, acknowledges=False)
    assert list(world.results(3, "--deadline", "1").values()) == [LATE] * 3
    assert not any(peer.requests for peer in connections)


def test_settings_of_a_preface_may_come_in_single_bytes(world):
    def scenario(peer):
        for byte in settings((1, 4096), (3, 10), (4, 65535)):
            peer.write(bytes([byte]))

    connections = world.serve(scenario, first=b"")
    assert accepted(world.results(5))
    assert len(connections) == 1


@pytest.mark.parametrize("count", [1, 10, 200])
def test_each_settings_frame_is_acknowledged(world, count):
    def scenario(peer):
        peer.write(*(setting(0xF0, number) for number in range(count)))
        peer.until(lambda: peer.acknowledged == count + 1)
        peer.settle()

    connections = world.serve(scenario)
    assert accepted(world.results(3))
    assert connections[0].acknowledged == count + 1


def test_settings_that_a_server_never_acknowledges_change_nothing(world):
    connections = world.serve(lambda peer: None, acknowledges=False)
    assert accepted(world.results(5))
    assert len(connections) == 1


def test_a_push_before_the_clients_settings_are_acknowledged_has_no_effect_on_the_response(world):
    def scenario(peer):
        request, = peer.whole(1)
        promise = PROMISE + block([("retry-after", "7")])
        peer.write(frame(PUSH_PROMISE, END_HEADERS, request.stream, promise), head(EVEN, (":status", "404"), end=True))
        peer.settle()
        peer.answer(request)
        peer.settle()

    connections = world.serve(scenario, acknowledges=False)
    results = world.results(1)
    assert accepted(results) or (connections[0].goaway and list(results.values()) == [LOST])


def test_ping_is_acknowledged_with_its_bytes_in_order(world):
    marks = [struct.pack(">Q", 0xFFFFFFFFFFFFFFFF - number) for number in range(100)]

    def scenario(peer):
        peer.answer(*peer.whole(1))
        peer.write(*(frame(PING, payload=mark) for mark in marks))
        peer.until(lambda: len(peer.pongs) == len(marks))
        assert peer.pongs == marks

    world.serve(scenario)
    assert accepted(world.results(3))


@pytest.mark.parametrize("flood", [
    pytest.param(flood, id=f"section 10.5, {name}") for name, flood in {
        "20,000 PINGs": frame(PING, payload=bytes(8)) * 20_000,
        "20,000 SETTINGS": frame(SETTINGS) * 20_000,
        "a thousand settings in one frame": settings(*((0xF0, number) for number in range(1000))),
        "20,000 empty DATA frames": ok(VICTIM, end=False) + data(VICTIM, end=False) * 20_000 + data(VICTIM),
        "20,000 frames of unknown types": frame(0xEE) * 20_000,
        "20,000 PRIORITY frames": frame(PRIORITY, 0, IDLE, bytes(5)) * 20_000,
        "20,000 WINDOW_UPDATE frames": window_update(0, 1) * 20_000,
        "2,000 CONTINUATION frames": b"".join([
            head(VICTIM, (":status", "200"), end=True, more=True), frame(CONTINUATION, 0, VICTIM) * 2000,
            frame(CONTINUATION, END_HEADERS, VICTIM)]),
    }.items()
])
def test_a_flood_has_no_effect_or_ends_the_connection_alone(world, flood):
    world.play(flood)
