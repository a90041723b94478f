"""Four libraries of PyPI that send many pushes to APNs: with Apple's limits, and where connections end by GOAWAY.

Some of them lose pushes, and some send them twice. That is what the libraries do, and these tests say which does what.
"""

from collections import Counter

import pytest
from hyperframe.frame import GoAwayFrame

from apns_peers import TOPIC, burst, marked
from raw_http2 import DATA, END_HEADERS, END_STREAM, HEADERS, RawConnection, block, frame
from test_run import fixtures, pytestmark as needs_namespaces  # noqa: F401
from test_run_clients import ended_certificate

COUNT, BAD, BEFORE = 200, 60, 20
TITLES = [f"push {number}" for number in range(COUNT)]


@pytest.fixture
def folder(fixtures):  # noqa: F811
    """An application's keys, and a certificate for the library that takes no key."""
    (fixtures / "ck.pem").write_text(ended_certificate())
    return fixtures


def pushes(bad=(), count=COUNT):
    """Each for a device of its own; some have tokens that are none."""
    return [
        {"token": f"bad{number:04}" if number in bad else f"{number:064x}", "topic": TOPIC, "title": title}
        for number, title in enumerate(TITLES[:count])]


def once(titles):
    return Counter(dict.fromkeys(titles, 1))


# kalyke and pyapns-client open a connection for each push, mopyapns sends in turn on one, aapns at once on two.
CONNECTIONS = {"kalyke": COUNT, "mopyapns": 1, "pyapns_client": COUNT, "aapns": 2}


@needs_namespaces
@pytest.mark.parametrize("peer, connections", [marked(*each) for each in CONNECTIONS.items()])
def test_with_apple_s_limits_all_arrive_once(folder, peer, connections):
    seen = burst(folder, peer, pushes(), COUNT, ["--apple-limits"])
    assert (seen.told, seen.arrived, seen.connections) == ({"200": COUNT}, once(TITLES), connections)


# --- bad tokens, which lower the limit of a connection and then end it -----------------------------------------------


@needs_namespaces
@pytest.mark.parametrize("peer, error", [
    marked("kalyke", "BadDeviceToken"), marked("pyapns_client", "BadDeviceTokenException")])
def test_a_connection_for_each_push_has_no_errors_of_others(folder, peer, error):
    seen = burst(folder, peer, pushes(range(BAD), BAD + 1), 1, ["--apple-limits"])
    assert (seen.told, seen.arrived) == ({"200": 1, error: BAD}, once([TITLES[BAD]]))


@needs_namespaces
@pytest.mark.parametrize("peer", [marked("mopyapns")])
def test_mopyapns_goes_on_when_bad_tokens_have_ended_its_connections(folder, peer):
    """Each good push arrives once, and each bad token has its answer."""
    seen = burst(folder, peer, pushes(range(BEFORE, BEFORE + BAD)), BEFORE, ["--apple-limits"])
    good = [title for number, title in enumerate(TITLES) if not BEFORE <= number < BEFORE + BAD]
    assert (seen.told, seen.arrived) == ({"200": COUNT - BAD, "BadDeviceToken": BAD}, once(good))


@needs_namespaces
@pytest.mark.parametrize("peer", [marked("aapns")])
def test_aapns_loses_what_is_refused_because_one_stream_is_allowed(folder, peer):
    """It tells of each that it lost. After a bad token a connection takes one stream, and what it refuses is lost."""
    seen = burst(folder, peer, pushes(range(BAD)), 0, ["--apple-limits"])
    assert seen.told.total() == COUNT and set(seen.told) <= {"200", "BadDeviceToken", "StreamReset"}
    assert seen.told["StreamReset"] > 0 and set(seen.arrived.values()) <= {1}
    assert seen.arrived.total() <= seen.told["200"] < COUNT - BAD


# --- GOAWAY ----------------------------------------------------------------------------------------------------------


def goaway(times=1, *options):
    """Connections end at the twenty-first push, and at further ones."""
    return [" ".join(["--action goaway --skip", str(BEFORE), "--times", str(times), *options])]


@needs_namespaces
@pytest.mark.parametrize("peer", [marked("kalyke")])
def test_kalyke_loses_what_goaway_leaves_out(folder, peer):
    seen = burst(folder, peer, pushes(), COUNT - 3, faults=goaway(3))
    assert seen.told == {"200": COUNT - 3, "RemoteProtocolError": 3}
    assert set(seen.arrived.values()) == {1} and len(seen.arrived) == COUNT - 3


@needs_namespaces
@pytest.mark.parametrize("peer", [marked("pyapns_client")])
def test_pyapns_client_loses_what_three_connections_leave_out(folder, peer):
    """Its third attempt is its last; two more connections end, of which it loses nothing."""
    seen = burst(folder, peer, pushes(), COUNT - 1, faults=goaway(5))
    assert seen.told == {"200": COUNT - 1, "APNSConnectionException": 1}
    assert seen.arrived == once(TITLES[:BEFORE] + TITLES[BEFORE + 1:])


@needs_namespaces
@pytest.mark.parametrize("peer", [marked("mopyapns")])
def test_mopyapns_survives_one_goaway(folder, peer):
    seen = burst(folder, peer, pushes(), COUNT, faults=goaway())
    assert (seen.told, seen.arrived, seen.connections) == ({"200": COUNT}, once(TITLES), 2)


@needs_namespaces
@pytest.mark.parametrize("peer", [marked("mopyapns")])
def test_mopyapns_loses_the_rest_of_a_batch_where_two_connections_end(folder, peer):
    seen = burst(folder, peer, pushes(), BEFORE, faults=goaway(2))
    assert (seen.told, seen.arrived) == ({"RemoteProtocolError": 1}, once(TITLES[:BEFORE]))


@needs_namespaces
@pytest.mark.parametrize("peer", [marked("aapns")])
def test_aapns_sends_twice_what_is_open_at_a_goaway(folder, peer):
    """The server answers what it has taken, but the library reads nothing after GOAWAY."""
    slow = "--action delay --delay 500 --times 0"
    seen = burst(folder, peer, pushes(), COUNT, faults=[*goaway(1, "--processed"), slow])
    assert seen.told == {"200": COUNT} and set(seen.arrived) == set(TITLES)
    assert set(seen.arrived.values()) == {1, 2}


def test_a_stream_that_goaway_leaves_out_is_not_processed(path, provider, control):
    """A client may send those streams again without sending anything twice (RFC 9113, 6.8 and 8.7)."""
    status, body = control.request(
        "POST", "/v1/faults", '{"action":"goaway","skip":2}', {"content-type": "application/json"})
    assert status == 201, body
    names = {stream: f"00000000-0000-4000-8000-{stream:012}" for stream in range(1, 21, 2)}
    connection = RawConnection(path["apns"], path["ca"])
    # All requests are in one piece, so the server has read them before its GOAWAY is written.
    connection.write(b"".join(
        frame(HEADERS, END_HEADERS, stream, block([
            (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
            (":path", f"/3/device/{path['deviceToken']}"), *provider.headers(apns_id=name)]))
        + frame(DATA, END_STREAM, stream, b'{"aps":{"alert":"x"}}')
        for stream, name in names.items()))
    [end] = [each for each in connection._frames(10) if isinstance(each, GoAwayFrame)]
    processed = [stream for stream, name in names.items() if control.states(name)]
    assert [stream for stream in processed if stream > end.last_stream_id] == []
