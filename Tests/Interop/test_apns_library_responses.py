"""Responses that are malformed, incomplete or unusual (RFC 9113, section 8), for the library `AldabaAPNs`."""

import pytest

from frame_world import GOES_ON, LOST, accepted, either_error, stream_error, world  # noqa: F401
from hostile_frames import OTHER, VICTIM, data, head, ok, settings
from raw_http2 import (
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PADDED, PRIORITY, WITH_PRIORITY, block, frame, reset,
    window_update,
)

OK = (":status", "200")
MALFORMED = stream_error("PROTOCOL_ERROR")
# Limits of a client may end a stream or the connection (section 10.5).
LIMITED = GOES_ON | either_error("ENHANCE_YOUR_CALM", "PROTOCOL_ERROR", "INTERNAL_ERROR", "CANCEL", "closed")
ACCEPTED = b"\x88"


def case(section, name, response, expected):
    return pytest.param(response, expected, id=f"section {section}, {name}")


def fields(*pairs):
    return head(VICTIM, *pairs, end=True)


def plus(name, value="x"):
    """A success with one more field."""
    return ok(VICTIM, (name, value))


def continued(count, *pairs):
    """A success whose field block is divided between HEADERS and so many CONTINUATION frames."""
    whole = block([OK, *pairs])
    step = -(-len(whole) // (count + 1))
    parts = [whole[start:start + step] for start in range(0, len(whole), step)]
    parts += [b""] * (count + 1 - len(parts))
    return frame(HEADERS, END_STREAM, VICTIM, parts[0]) + b"".join(
        frame(CONTINUATION, END_HEADERS if number == count else 0, VICTIM, parts[number])
        for number in range(1, count + 1))


@pytest.mark.parametrize("response, expected", [
    case("8.1", "the least that is possible", frame(HEADERS, END_HEADERS | END_STREAM, VICTIM, ACCEPTED), GOES_ON),
    case("6.1", "an empty DATA frame at the end", ok(VICTIM, end=False) + data(VICTIM), GOES_ON),
    case("6.1", "500 empty DATA frames", ok(VICTIM, end=False) + data(VICTIM, end=False) * 500 + data(VICTIM), GOES_ON),
    case("6.1", "DATA of single bytes",
         ok(VICTIM, end=False) + data(VICTIM, b"x", end=False) * 500 + data(VICTIM), GOES_ON),
    case("6.1", "padding and nothing else",
         ok(VICTIM, end=False) + frame(DATA, PADDED | END_STREAM, VICTIM, b"\xff" + bytes(255)), GOES_ON),
    case("6.1", "no padding, with its length",
         ok(VICTIM, end=False) + frame(DATA, PADDED | END_STREAM, VICTIM, b"\0abc"), GOES_ON),
    case("6.1", "padding that is not zero",
         ok(VICTIM, end=False) + frame(DATA, PADDED | END_STREAM, VICTIM, b"\4abcodd!"),
         GOES_ON | either_error("PROTOCOL_ERROR")),
    case("6.2", "padded HEADERS", frame(HEADERS, END_HEADERS | END_STREAM | PADDED, VICTIM, b"\x10\x88" + bytes(16)),
         GOES_ON),
    case("6.2", "HEADERS with a priority",
         frame(HEADERS, END_HEADERS | END_STREAM | WITH_PRIORITY, VICTIM, b"\x80\0\0\1\xff\x88"), GOES_ON),
    case("6.2", "padded HEADERS with a priority",
         frame(HEADERS, END_HEADERS | END_STREAM | WITH_PRIORITY | PADDED, VICTIM, b"\2\0\0\0\1\xff\x88\0\0"), GOES_ON),
    case("6.2", "HEADERS that depends on itself",
         frame(HEADERS, END_HEADERS | END_STREAM | WITH_PRIORITY, VICTIM, b"\0\0\0\3\xff\x88"),
         GOES_ON | either_error("PROTOCOL_ERROR")),
    case("6.2", "an empty field block", frame(HEADERS, END_HEADERS | END_STREAM, VICTIM), MALFORMED),
    case("6.4", "NO_ERROR after the whole response", ok(VICTIM) + reset(VICTIM, 0), GOES_ON),
    case("6.4", "CANCEL before the end", ok(VICTIM, end=False) + reset(VICTIM), {"goes on, lost"}),
    case("8.1", "NO_ERROR before the end", ok(VICTIM, end=False) + reset(VICTIM, 0), {"goes on, lost"}),
    case("6.10", "one CONTINUATION", continued(1, ("x-note", "y")), GOES_ON),
    case("6.10", "seven CONTINUATION frames", continued(7, ("x-note", "y" * 100)), GOES_ON),
    case("6.10", "an empty HEADERS frame before CONTINUATION",
         frame(HEADERS, END_STREAM, VICTIM) + frame(CONTINUATION, END_HEADERS, VICTIM, ACCEPTED), GOES_ON),
    case("8.1", "100 before the response", head(VICTIM, (":status", "100")) + ok(VICTIM), GOES_ON),
    case("8.1", "103 before the response", head(VICTIM, (":status", "103"), ("link", "</a>")) + ok(VICTIM), GOES_ON),
    case("8.1", "ten interim responses", head(VICTIM, (":status", "102")) * 10 + ok(VICTIM), GOES_ON),
    case("8.1", "an unknown interim status", head(VICTIM, (":status", "199")) + ok(VICTIM), GOES_ON),
    case("8.1", "an interim response that ends the stream", fields((":status", "103")), MALFORMED),
    case("8.1", "interim responses without a final one",
         head(VICTIM, (":status", "103")) + head(VICTIM, (":status", "100"), end=True), MALFORMED),
    case("8.6", "101", head(VICTIM, (":status", "101")) + ok(VICTIM), MALFORMED),
    case("8.1", "trailers",
         ok(VICTIM, end=False) + data(VICTIM, b"x", end=False) + head(VICTIM, ("x-sum", "1"), end=True), GOES_ON),
    case("8.1", "trailers without a body", ok(VICTIM, end=False) + head(VICTIM, ("x-sum", "1"), end=True), GOES_ON),
    case("8.1", "trailers that do not end the stream",
         ok(VICTIM, end=False) + data(VICTIM, b"x", end=False) + head(VICTIM, ("x-sum", "1")), MALFORMED),
    case("8.1", "trailers with :status", ok(VICTIM, end=False) + data(VICTIM, b"x", end=False) + ok(VICTIM), MALFORMED),
    case("8.1", "a second head", ok(VICTIM, end=False) + ok(VICTIM, end=False), MALFORMED),
    case("8.1", "DATA before HEADERS", data(VICTIM, b"x", end=False), either_error("PROTOCOL_ERROR")),
    case("8.1", "DATA alone", data(VICTIM, b"x"), either_error("PROTOCOL_ERROR")),
    case("8.1", "DATA between 103 and the response",
         head(VICTIM, (":status", "103")) + data(VICTIM, b"x", end=False) + ok(VICTIM), MALFORMED),
    case("8.1.1", "content-length as long as the body",
         ok(VICTIM, ("content-length", "3"), end=False) + data(VICTIM, b"abc"), GOES_ON),
    case("8.1.1", "content-length of padded pieces", ok(VICTIM, ("content-length", "3"), end=False)
         + frame(DATA, PADDED, VICTIM, b"\3ab" + bytes(3)) + data(VICTIM, b"c"), GOES_ON),
    case("8.1.1", "content-length 0 without a body", plus("content-length", "0"), GOES_ON),
    case("8.1.1", "content-length without a body", plus("content-length", "3"), MALFORMED),
    case("8.1.1", "content-length of less than the body",
         ok(VICTIM, ("content-length", "2"), end=False) + data(VICTIM, b"abc"), MALFORMED),
    case("8.1.1", "content-length of more than the body",
         ok(VICTIM, ("content-length", "4"), end=False) + data(VICTIM, b"abc"), MALFORMED),
    case("8.1.1", "content-length of more than the body, with trailers", ok(VICTIM, ("content-length", "4"), end=False)
         + data(VICTIM, b"abc", end=False) + head(VICTIM, ("x-sum", "1"), end=True), MALFORMED),
    case("8.1.1", "two lengths that differ", ok(VICTIM, ("content-length", "3"), ("content-length", "4"), end=False)
         + data(VICTIM, b"abc"), MALFORMED),
    case("8.1.1", "a length that is no number", plus("content-length", "none"), MALFORMED),
    case("8.1.1", "a length below zero", plus("content-length", "-1"), MALFORMED),
    case("8.1.1", "a length beyond 64 bits", plus("content-length", "9" * 30), MALFORMED),
    case("8.2", "a field that nobody knows", plus("x-odd", "with blanks\tand a tabulator"), GOES_ON),
    case("8.2", "an empty value", plus("x-odd", ""), GOES_ON),
    case("8.2", "bytes beyond ASCII in a value", plus("x-odd", "\xfc\xff"), GOES_ON),
    case("8.2.1", "a name in upper case", plus("X-Note"), MALFORMED),
    case("8.2.1", "a name with a blank", plus("x note"), MALFORMED),
    case("8.2.1", "a name with a colon inside", plus("x:note"), MALFORMED),
    case("8.2.1", "a name with a null byte", plus("x\0note"), MALFORMED),
    case("8.2.1", "a name with DEL", plus("x\x7fnote"), MALFORMED),
    case("8.2.1", "a name beyond ASCII", plus("x\xe9note"), MALFORMED),
    case("8.2.1", "an empty name", plus(""), MALFORMED),
    case("8.2.1", "a value with a null byte", plus("x-note", "a\0b"), MALFORMED),
    case("8.2.1", "a value with a line feed", plus("x-note", "a\nb"), MALFORMED),
    case("8.2.1", "a value with a carriage return", plus("x-note", "a\rb"), MALFORMED),
    case("8.2.1", "a value that begins with a blank", plus("x-note", " a"), MALFORMED),
    case("8.2.1", "a value that ends with a tabulator", plus("x-note", "a\t"), MALFORMED),
    *[case("8.2.2", name, plus(name, value), MALFORMED) for name, value in {
        "connection": "close", "keep-alive": "timeout=5", "proxy-connection": "close", "upgrade": "h2c",
        "transfer-encoding": "chunked"}.items()],
    case("8.3", ":status after another field", fields(("x-note", "y"), OK), MALFORMED),
    case("8.3", "an unknown pseudo-field", fields(OK, (":odd", "1")), MALFORMED),
    case("8.3", "a pseudo-field of requests", fields(OK, (":path", "/")), MALFORMED),
    case("8.3.2", "no :status", fields(("x-note", "y")), MALFORMED),
    case("8.3.2", ":status twice", fields(OK, OK), MALFORMED),
    case("8.3.2", "two values of :status", fields(OK, (":status", "410")), MALFORMED),
    *[case("8.3.2", f":status {status!r}", fields((":status", status)), MALFORMED)
      for status in ["", "20", "2000", "two", "+20", "2 0", " 200"]],
    case("5.1", "more of a response that is malformed", head(VICTIM, ("x-note", "y")) + data(VICTIM, b"x", end=False)
         + window_update(VICTIM, 1) + frame(PRIORITY, 0, VICTIM, bytes(5)) + ok(VICTIM) + reset(VICTIM), MALFORMED),
    case("6.4", "REFUSED_STREAM after the whole response", ok(VICTIM) + reset(VICTIM, 7), GOES_ON),
    case("10.5.1", "60 fields", ok(VICTIM, *((f"x-{number}", "") for number in range(60))), GOES_ON),
    case("10.5.1", "1,800 fields", ok(VICTIM, *((f"x-{number}", "") for number in range(1800))), LIMITED),
    case("10.5.1", "a field of 12,000 bytes", plus("x-note", "y" * 12_000), LIMITED),
    case("10.5.1", "a body of 60,000 bytes", ok(VICTIM, end=False) + data(VICTIM, bytes(10_000), end=False) * 6
         + data(VICTIM), GOES_ON),
])
def test_a_response_ends_as_rfc_9113_demands(world, response, expected):
    assert world.play(response, answers=False) in expected


def test_a_response_without_an_end_is_lost_at_the_deadline(world):
    def scenario(peer):
        peer.answer(*peer.whole(1))
        victim, other = peer.whole(2)
        peer.write(ok(victim.stream, end=False), data(victim.stream, b"x", end=False))
        victim.is_answered = True
        peer.answer(other)
        peer.until(lambda: VICTIM in peer.resets)

    connections = world.serve(scenario)
    results = world.results(3, "--deadline", "1.5")
    peer, = connections
    assert results.pop(peer.requests[VICTIM].name) == {"error": "deadline", "mayHaveBeenProcessed": "true"}
    assert accepted(results) and peer.resets == {VICTIM: ["CANCEL"]}


@pytest.mark.parametrize("part", [
    pytest.param(part, id=f"section 8.1, {name}") for name, part in {
        "nothing": b"", "HEADERS without an end": ok(VICTIM, end=False), "half a frame": ok(VICTIM)[:5],
        "DATA without an end": ok(VICTIM, end=False) + data(VICTIM, b"x", end=False),
        "an interim response": head(VICTIM, (":status", "103"))}.items()
])
def test_a_connection_that_ends_inside_a_response_loses_what_was_open(world, part):
    def scenario(peer):
        peer.answer(*peer.whole(1))
        peer.whole(2)
        peer.write(part)
        peer.end()

    connections = world.serve(scenario)
    program = world.start()
    program.send(3)
    program.until(3)
    program.send(1)
    results = world.finish()
    lost = {connections[0].requests[stream].name for stream in (VICTIM, OTHER)}
    assert results == {name: LOST if name in lost else "accepted" for name in results}
    assert len(connections) == 2


@pytest.mark.parametrize("is_reset", [
    pytest.param(True, id="section 8.1, a response before the end of the request, and NO_ERROR"),
    pytest.param(False, id="section 5.1, a response before the end of the request, and then its window")])
def test_a_response_before_the_end_of_a_request_is_kept(world, is_reset):
    def scenario(peer):
        request = peer.until(lambda: peer.open)[0]
        peer.settle()
        assert not peer.received
        request.is_answered = True
        peer.write(ok(request.stream), reset(request.stream, 0) if is_reset else window_update(request.stream, 5000))
        peer.settle()
        assert is_reset or request.is_whole

    connections = world.serve(scenario, first=settings((4, 0)))
    assert accepted(world.results(1))
    assert connections[0].goaway is None


def test_responses_may_come_in_any_order_and_in_single_bytes(world):
    def scenario(peer):
        peer.answer(*peer.whole(1))
        requests = peer.whole(20)[::-1]
        for request in requests:
            request.is_answered = True
        heads = [ok(request.stream, ("content-length", "2"), end=False) for request in requests]
        bodies = [data(request.stream, b"{", end=False) for request in requests[::3] + requests[1::3] + requests[2::3]]
        for byte in b"".join(heads + bodies + [data(request.stream, b"}") for request in requests]):
            peer.write(bytes([byte]))

    connections = world.serve(scenario)
    assert accepted(world.results(21))
    assert len(connections) == 1 and connections[0].goaway is None


def test_data_after_the_end_of_a_response_is_no_part_of_it(world):
    def scenario(peer):
        request = peer.until(lambda: peer.open)[0]
        request.is_answered = True
        peer.write(ok(request.stream), data(request.stream, b"late"))
        peer.settle()

    connections = world.serve(scenario, first=settings((4, 0)))
    result, = world.results(1).values()
    # Section 5.1: the stream or the connection ends with STREAM_CLOSED; the response had ended before.
    assert connections[0].goaway == "STREAM_CLOSED" or ["STREAM_CLOSED"] in connections[0].resets.values()
    assert result in ("accepted", LOST)
