"""Concurrency, windows and GOAWAY (RFC 9113, sections 5.1.2, 5.2, 6.8 and 6.9), for the library `AldabaAPNs`."""

import threading
from collections import Counter

import pytest

from frame_world import LATE, LOST, accepted, world  # noqa: F401
from hostile_frames import CODES, data, goaway, head, ok, settings
from raw_http2 import DATA, PADDED, SETTINGS, frame, reset, window_update

LARGEST = 2**31 - 1
REFUSED = {"error": "refused", "mayHaveBeenProcessed": "false"}


@pytest.mark.parametrize("limit", [1, 2, 7], ids=lambda limit: f"section 5.1.2, {limit} streams")
def test_a_connection_has_no_more_streams_than_the_server_allows(world, limit):
    def scenario(peer):
        peer.limit = limit
        while True:
            peer.whole(1)
            peer.settle()
            for request in peer.unanswered:
                peer.answer(request)

    connections = world.serve(scenario, opening=settings((3, limit)), on_each=True)
    assert accepted(world.results(100))
    assert max(peer.most_open for peer in connections) == limit


@pytest.mark.parametrize("limit", [0, 1, 4], ids=lambda limit: f"section 5.1.2, {limit} streams")
def test_a_limit_that_is_lowered_holds_from_its_acknowledgement_on(world, limit):
    lowered = threading.Event()

    def scenario(peer):
        peer.answer(*peer.whole(1))
        peer.whole(10)
        peer.write(settings((3, limit)))
        peer.until(lambda: peer.acknowledged == 2)
        lowered.set()
        # What is open stays open; another stream may begin only below the limit.
        for request in peer.unanswered:
            peer.limit = max(limit, len(peer.open) - 1)
            peer.answer(request)
            peer.settle()
        peer.limit = limit

    world.serve(scenario)
    program = world.start()
    program.send(11)
    assert lowered.wait(10)
    program.send(20)
    assert accepted(world.finish())


def test_a_connection_without_streams_gets_requests_once_it_has_some(world):
    def scenario(peer):
        peer.settle()
        assert not peer.requests
        peer.write(settings((3, 100)))

    connections = world.serve(scenario, first=settings((3, 0)))
    assert accepted(world.results(20))
    assert len(connections) == 1


def test_requests_for_a_server_without_streams_end_at_the_deadline_unsent(world):
    connections = world.serve(lambda peer: None, opening=settings((3, 0)))
    assert list(world.results(3, "--deadline", "1").values()) == [LATE] * 3
    assert not any(peer.requests for peer in connections)


def test_the_window_of_the_connection_is_never_exceeded(world):
    stalls = []

    def scenario(peer):
        given = 65535
        peer.answer(*peer.whole(1))
        while len(peer.requests) < 61 or peer.open:
            peer.settle()
            assert peer.received <= given
            for request in peer.unanswered:
                peer.answer(request)
            if peer.received == given:
                stalls.append(given)
                given += 20_001
                peer.write(window_update(0, 20_001))

    connections = world.serve(scenario)
    assert accepted(world.results(61, payload={"aps": {"alert": "x" * 3000}}))
    assert len(stalls) >= 5 and len(connections) == 1


def test_the_window_of_a_stream_is_filled_byte_by_byte_and_not_exceeded(world):
    def scenario(peer):
        stream = peer.until(lambda: peer.open)[0].stream
        for size in range(10, 15):
            peer.settle()
            assert peer.received == size
            peer.write(window_update(stream, 1))
        # The windows of streams do not grow with that of the connection.
        peer.write(window_update(0, 100_000))
        peer.settle()
        assert peer.received == 15
        peer.write(window_update(stream, 5000))

    world.serve(scenario, first=settings((4, 10)))
    assert accepted(world.results(1))


def test_a_change_of_the_first_window_changes_the_windows_of_open_streams_below_zero(world):
    def scenario(peer):
        request = peer.until(lambda: peer.open)[0]
        for change, received in [
            (settings((4, 300)), 300), (settings((4, 100)), 300), (window_update(request.stream, 200), 300),
            (window_update(request.stream, 7), 307), (settings((4, 0)), 307), (settings((4, 107)), 314),
        ]:
            peer.write(change)
            peer.settle()
            assert peer.received == received
        peer.write(settings((4, 65535)))

    world.serve(scenario, first=settings((4, 0)))
    assert accepted(world.results(1, payload={"aps": {"alert": "x" * 3000}}))


@pytest.mark.parametrize("frames, result", [
    pytest.param(lambda stream: [ok(stream, end=False)] + [frame(DATA, PADDED, stream, b"\xffx" + bytes(255))] * 115
                 + [data(stream)], "accepted", id="section 6.9.1, padding"),
    pytest.param(lambda stream: [ok(stream, end=False)] + [data(stream, bytes(10_000), end=False)] * 3
                 + [data(stream)], "accepted", id="section 6.9.1, a body that is too large"),
    pytest.param(lambda stream: [head(stream)] + [data(stream, bytes(10_000), end=False)] * 3, LOST,
                 id="section 6.9.1, malformed responses"),
])
def test_each_byte_of_a_window_is_given_back(world, frames, result):
    def scenario(peer):
        while True:
            request, *_ = peer.whole(1)
            if request.stream == 1:
                peer.answer(request)
                continue
            request.is_answered = True
            for each in frames(request.stream):
                size = len(each) - 9
                peer.until(lambda: peer.windows[0] >= size)
                assert peer.windows[request.stream] >= size
                if each[3] == DATA:
                    peer.windows[0] -= size
                    peer.windows[request.stream] -= size
                peer.write(each)

    connections = world.serve(scenario)
    results = world.results(121)
    assert Counter(map(str, results.values())) == Counter({"accepted": 1}) + Counter({str(result): 120})
    assert len(connections) == 1 and connections[0].goaway is None


@pytest.mark.parametrize("is_ending", [False, True], ids=["answers", "no answers"])
@pytest.mark.parametrize("steps", [
    pytest.param(steps, id=f"section 6.8, {name}") for name, steps in {
        "one step": [goaway(7)], "two steps": [goaway(LARGEST), goaway(7)], "three steps": [
            goaway(LARGEST), goaway(11), goaway(7)],
        "the same step twice": [goaway(7), goaway(7)],
        "a reason": [goaway(7, 0, b'{"reason":"Shutdown","timestamp":1700000000000}')],
        "a reason that is no text": [goaway(7, 0, b"\xff\xfe\0\x80")],
        "the longest reason": [goaway(7, 0, b"{" * 16_376)],
        **{f"code {code:#x}": [goaway(7, code)] for code in [*CODES.values(), 14, LARGEST, 0xFFFFFFFF]},
    }.items()
])
def test_requests_above_the_last_stream_are_sent_again_and_no_others(world, steps, is_ending):
    def scenario(peer):
        peer.answer(*peer.whole(1))
        requests = peer.whole(5)
        for step in steps:
            peer.write(step)
            # An end must be seen after the frames; a PING tells that it is.
            peer.settle()
        if is_ending:
            peer.end()
        for request in requests:
            if request.stream <= 7:
                peer.answer(request)
            request.is_answered = True

    connections = world.serve(scenario)
    program = world.start()
    program.send(6)
    results = world.finish()
    first, second = connections
    kept = {each.name for each in first.requests.values() if each.stream in (3, 5, 7)}
    again = {each.name for each in first.requests.values() if each.stream in (9, 11)}
    assert results == {name: LOST if is_ending and name in kept else "accepted" for name in results}
    assert {each.name for each in second.requests.values()} == again and len(second.requests) == 2
    assert max(first.requests) == 11 and not first.goaway


def test_a_connection_gets_no_stream_after_goaway_while_it_has_requests(world):
    ended, served = threading.Event(), threading.Event()

    def scenario(peer):
        peer.answer(*peer.whole(1))
        peer.whole(5)
        peer.write(goaway(LARGEST))
        peer.settle()
        ended.set()
        assert served.wait(10)
        peer.settle()
        assert len(peer.requests) == 6

    connections = world.serve(scenario)
    program = world.start()
    program.send(6)
    assert ended.wait(10)
    program.send(10)
    program.until(11)
    served.set()
    assert accepted(world.finish())
    assert len(connections) == 2 and set(world.times_seen().values()) == {1}


@pytest.mark.parametrize("last", [0, LARGEST], ids=lambda last: f"section 6.8, stream {last}")
def test_a_connection_that_begins_with_goaway_loses_nothing(world, last):
    connections = world.serve(lambda peer: None, first=frame(SETTINGS) + goaway(last, 11))
    assert accepted(world.results(3))
    assert len(connections[1].requests) == 3


def test_a_request_that_every_connection_refuses_ends_as_not_processed(world):
    def scenario(peer):
        request, = peer.whole(1)
        request.is_answered = True
        peer.write(goaway(0, 0))

    connections = world.serve(scenario, on_each=True)
    assert list(world.results(1, "--deadline", "12").values()) == [REFUSED]
    assert [len(peer.requests) for peer in connections] == [1] * 5


def test_a_request_that_is_always_refused_ends_as_not_processed(world):
    def scenario(peer):
        while True:
            request, = peer.whole(1)
            request.is_answered = True
            peer.write(reset(request.stream, CODES["REFUSED_STREAM"]))

    connections = world.serve(scenario)
    assert list(world.results(1).values()) == [REFUSED]
    assert len(connections) == 1 and len(connections[0].requests) == 5


def storm(world, steps, limit, *options):
    """Sends 300 notifications to a server that ends each connection after three answers.

    Returns the results, how often each notification was answered, and the number of connections.
    """
    answered = Counter()

    def scenario(peer):
        for _ in range(3):
            request = peer.whole(1)[0]
            answered[request.name] += 1
            peer.answer(request)
        peer.write(*steps(max(each.stream for each in peer.requests.values() if each.is_answered)))
        while True:
            for request in peer.open:
                request.is_answered = True
            peer.read()

    connections = world.serve(scenario, opening=settings((3, limit)), on_each=True)
    return world.results(300, *options), answered, len(connections)


STEPS = [
    pytest.param(lambda last, code: [goaway(last, code)], id="one step"),
    pytest.param(lambda last, code: [goaway(LARGEST, code), goaway(last, code)], id="two steps"),
]


@pytest.mark.parametrize("limit", [3, 1000], ids=lambda limit: f"{limit} streams")
@pytest.mark.parametrize("steps", STEPS)
def test_a_storm_of_goaway_accepts_each_notification_once(world, steps, limit):
    results, answered, connections = storm(world, lambda last: steps(last, 0), limit, "--deadline", "30")
    assert set(answered.values()) == {1}
    assert Counter(map(str, results.values())) == {"accepted": 300}
    assert 100 <= connections <= 130


@pytest.mark.parametrize("limit", [3, 1000], ids=lambda limit: f"{limit} streams")
@pytest.mark.parametrize("code", ["NO_ERROR", "ENHANCE_YOUR_CALM"])
@pytest.mark.parametrize("steps", STEPS)
def test_a_storm_of_goaway_ends_honestly_with_few_connections(world, steps, code, limit):
    results, answered, connections = storm(world, lambda last: steps(last, CODES[code]), limit, "--deadline", "2")
    assert set(answered.values()) == {1}
    assert {name for name, result in results.items() if result == "accepted"} <= answered.keys()
    # What was answered at the deadline may have been processed, and its result says so.
    assert all(results[name] in ("accepted", LATE | {"mayHaveBeenProcessed": "true"}) for name in answered)
    assert all(
        result == "accepted" or result["error"] in ("refused", "deadline") for result in results.values())
    assert connections <= 130
