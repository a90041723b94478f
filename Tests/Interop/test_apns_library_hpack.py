"""Field blocks that HPACK allows and forbids (RFC 7541, and RFC 9113, section 4.3), for the library `AldabaAPNs`."""

import threading

import hpack
import pytest

from frame_world import GOES_ON, accepted, connection_error, either_error, world  # noqa: F401
from hostile_frames import IDLE, OTHER, PROOF, VICTIM, head
from raw_http2 import END_HEADERS, END_STREAM, HEADERS, frame, setting

COMPRESSION = connection_error("COMPRESSION_ERROR")
LIMITED = GOES_ON | either_error("ENHANCE_YOUR_CALM", "PROTOCOL_ERROR", "closed")
# Field representations: `:status: 200` from the static table, and an update of the table's size to 0 and to 4096.
OK, EMPTY, FULL = b"\x88", b"\x20", b"\x3f\xe1\x1f"
# A literal with incremental indexing that has 100 bytes of value.
ENTRY = b"\x40\x05x-odd\x64" + b"v" * 100


def case(section, name, whole, expected):
    return pytest.param(whole, expected, id=f"RFC 7541 section {section}, {name}")


def answer(stream, whole):
    return frame(HEADERS, END_HEADERS | END_STREAM, stream, whole)


@pytest.mark.parametrize("whole, expected", [
    case("6.1", "a field of the static table", OK, GOES_ON),
    case("6.1", "the last field of the static table", OK + b"\xbd", GOES_ON),
    case("6.1", "index 0", OK + b"\x80", COMPRESSION),
    case("6.1", "the first index of a table that is empty", OK + b"\xbe", COMPRESSION),
    case("6.1", "an index after the last entry", OK + ENTRY + b"\xbf", COMPRESSION),
    case("6.2.1", "an entry and its index", OK + ENTRY + b"\xbe", GOES_ON),
    case("6.2.1", "the same entry three times", OK + ENTRY * 3 + b"\xc0\xbf\xbe", GOES_ON),
    case("6.2.1", "a name from the dynamic table", OK + ENTRY + b"\x7e\x01y", GOES_ON),
    case("6.2.2", "a field without indexing", OK + b"\x00\x05x-odd\x01y", GOES_ON),
    case("6.2.2", "a name with an index beyond the tables", OK + b"\x0f\x7f\x01y", COMPRESSION),
    case("6.2.3", "a field that is never indexed", OK + b"\x10\x05x-odd\x01y", GOES_ON),
    case("6.2.3", "a status that is never indexed", b"\x18\x03200", GOES_ON),
    case("5.1", "an integer that is cut", OK + b"\xff\x80", COMPRESSION),
    case("5.1", "an integer without end", OK + b"\xff" * 20, COMPRESSION),
    case("5.1", "an integer beyond 32 bits", OK + b"\xff\xff\xff\xff\xff\x7f", COMPRESSION),
    case("5.1", "an integer with zeros behind it", OK + b"\x0f\x80\x80\x00\x01y", GOES_ON | COMPRESSION),
    case("5.2", "a string that is cut", OK + b"\x00\x05x-o", COMPRESSION),
    case("5.2", "a string without bytes", OK + b"\x00\x05x-odd", COMPRESSION),
    case("5.2", "a length beyond the block", OK + b"\x00\x05x-odd\x7f\xff\x7fy", COMPRESSION),
    case("5.2", "Huffman codes", hpack.Encoder().encode(
        [(":status", "200"), ("x-odd", "".join(map(chr, range(33, 127))))], huffman=True), GOES_ON),
    case("5.2", "Huffman codes that end without padding", OK + b"\x00\x05x-odd\x85" + b"\x00\x00\x00\x00\x00", GOES_ON),
    case("5.2", "a Huffman code that is padded with zeros", OK + b"\x00\x05x-odd\x81\x18", COMPRESSION),
    case("5.2", "padding of more than seven bits", OK + b"\x00\x05x-odd\x82\x1f\xff", COMPRESSION),
    case("5.2", "the end-of-string code", OK + b"\x00\x05x-odd\x84\xff\xff\xff\xff", COMPRESSION),
    case("4.2", "a table of no bytes", EMPTY + OK, GOES_ON),
    case("4.2", "a table of no bytes and then of 4096", EMPTY + FULL + OK, GOES_ON),
    case("4.2", "an update after a field", OK + EMPTY, COMPRESSION),
    case("4.2", "an entry that an update has evicted", OK + ENTRY + EMPTY + b"\xbe", COMPRESSION),
    case("4.4", "an entry that is larger than the table", EMPTY + OK + ENTRY, GOES_ON),
    case("4.4", "an index after an entry that is larger than the table", EMPTY + OK + ENTRY + b"\xbe", COMPRESSION),
    case("4.4", "the oldest entry that fits", OK + ENTRY * 50 + b"\xda", GOES_ON),
    case("4.4", "the oldest entry that does not fit", OK + ENTRY * 50 + b"\xdb", COMPRESSION),
    case("6.3", "a table of 4097 bytes", b"\x3f\xe2\x1f" + OK, COMPRESSION),
    case("6.3", "a table of 4 GiB", b"\x3f\xe0\xff\xff\xff\x0f" + OK, COMPRESSION),
    case("7.3", "a large entry that is named 2,000 times",
         OK + b"\x40\x05x-odd\x7f\x81\x1e" + b"v" * 3968 + b"\xbe" * 2000, LIMITED),
])
def test_a_field_block_has_the_effect_that_rfc_7541_demands(world, whole, expected):
    assert world.play(answer(VICTIM, whole), answers=False) in expected


@pytest.mark.parametrize("first, then", [
    pytest.param(first, then, id=f"RFC 9113 section 4.3, {name}") for name, first, then in [
        ("a table of two responses", answer(VICTIM, OK + ENTRY), answer(OTHER, OK + b"\xbe")),
        ("a table that shrinks and grows", answer(VICTIM, OK + ENTRY),
         answer(OTHER, EMPTY + FULL + OK + ENTRY + b"\xbe")),
        ("a table of trailers", frame(HEADERS, END_HEADERS, VICTIM, OK) + answer(VICTIM, ENTRY),
         answer(OTHER, OK + b"\xbe")),
        ("a table of an interim response", frame(HEADERS, END_HEADERS, VICTIM, b"\x08\x03103" + ENTRY)
         + answer(VICTIM, OK), answer(OTHER, OK + b"\xbe")),
    ]
])
def test_responses_of_a_connection_share_their_table(world, first, then):
    def scenario(peer):
        peer.answer(*peer.whole(1))
        for request in peer.whole(2):
            request.is_answered = True
        peer.write(first)
        peer.settle()
        peer.write(then)

    connections = world.serve(scenario)
    assert accepted(world.results(3))
    assert len(connections) == 1 and connections[0].goaway is None


@pytest.mark.parametrize("attack", [
    pytest.param(attack, id=f"RFC 9113 section 4.3, {name}") for name, attack in {
        "malformed fields": answer(VICTIM, OK + b"\x00\x05X-ODD\x01y" + ENTRY),
        "fields after the reset of a stream": frame(HEADERS, END_HEADERS, VICTIM) + answer(VICTIM, OK + ENTRY),
        "too many fields": answer(VICTIM, OK + b"\x00\x01y\x00" * 2000 + ENTRY),
        "fields with a content-length that is wrong": answer(VICTIM, OK + b"\x0f\x0d\x019" + ENTRY),
    }.items()
])
def test_fields_of_a_response_that_is_refused_change_the_table(world, attack):
    def scenario(peer):
        peer.answer(*peer.whole(1))
        victim, other = peer.whole(2)
        victim.is_answered = other.is_answered = True
        peer.write(attack)
        peer.until(lambda: VICTIM in peer.resets)
        peer.write(answer(OTHER, OK + b"\xbe"))

    connections = world.serve(scenario)
    results = world.results(3)
    peer, = connections
    assert results.pop(peer.requests[VICTIM].name)["error"] == "connectionLost"
    assert accepted(results) and peer.goaway is None


@pytest.mark.parametrize("attack", [
    pytest.param(frame(HEADERS, END_HEADERS | END_STREAM, PROOF, b"\x80"), id="RFC 9113 section 4.3, a closed stream"),
    pytest.param(frame(HEADERS, END_HEADERS | END_STREAM, IDLE, b"\x80"), id="RFC 9113 section 4.3, an idle stream"),
    pytest.param(head(VICTIM, (":status", "200")) + frame(HEADERS, END_HEADERS | END_STREAM, VICTIM, b"\x80"),
                 id="RFC 9113 section 4.3, trailers"),
])
def test_a_field_block_that_is_not_used_is_decoded(world, attack):
    assert world.play(attack) in connection_error("COMPRESSION_ERROR", "PROTOCOL_ERROR", "STREAM_CLOSED")


@pytest.mark.parametrize("sizes", [
    pytest.param(sizes, id=f"RFC 7541 section 4.2, {' then '.join(map(str, sizes))} bytes")
    for sizes in [(0,), (100,), (4095,), (4096,), (65536,), (0, 4096), (100, 0), (4096, 64, 1000)]])
def test_requests_keep_to_the_size_of_the_servers_table(world, sizes):
    updated = threading.Event()

    def scenario(peer):
        peer.answer(*peer.whole(1))
        peer.write(*(setting(1, size) for size in sizes))
        peer.until(lambda: peer.acknowledged == 1 + len(sizes))
        # From here on the decoder refuses a block whose table is larger, or that names an entry which is gone.
        peer.decoder.max_allowed_table_size = sizes[-1]
        updated.set()
        first = peer.whole(1)[0].block
        if min(sizes) < 4096:
            assert first[0] & 0xE0 == 0x20, "the block begins with an update"
            assert hpack.hpack.decode_integer(first, 5)[0] <= min(sizes)

    connections = world.serve(scenario)
    program = world.start()
    program.send(1)
    assert updated.wait(10)
    program.send(30)
    assert accepted(world.finish())
    assert len(connections) == 1
