"""Relaying by the package for Python without an agent: encoding, refusals, watchers, notices, the typed check."""

import os
import random
import subprocess
import sys
import uuid
from concurrent.futures import Future

import cbor2
import pytest

from test_relay_values import comparable, messages
from vector_agent import PACKAGE

assert str(PACKAGE) in sys.path
from aldaba import _relay_requests as requests  # noqa: E402
from aldaba import relay as api  # noqa: E402
from aldaba._agent_codec import MalformedMessage  # noqa: E402
from aldaba._relay_requests import failure  # noqa: E402
from aldaba._relay_session import COMMAND_LIMIT, QUESTION_LIMIT, RelayEnd, RelaySession  # noqa: E402
from aldaba._relay_stream_sources import offer  # noqa: E402
from aldaba._relay_streams import WINDOW, Giving  # noqa: E402
from aldaba._relay_values import decode, encode  # noqa: E402
from aldaba._relay_watch import Watch, agent_filters  # noqa: E402

WELCOME = b'{"type":"welcome","version":1,"state":"active","authorization":0}'


def test_both_write_the_same_bytes_and_read_the_same_values():
    for message in messages():
        data = encode(message, limit=1 << 20)
        assert data == cbor2.dumps(message, canonical=True, datetime_as_timestamp=True), message
        assert comparable(decode(data, 1 << 20)) == comparable(message)


@pytest.mark.parametrize("data", [
    "a1616ec1fb7ff8000000000000", "a1616ec1fb7ff0000000000000", "a1616ec16161", "a1616e" + "c1" * 100_000,
    "a1616ed82541aa", "a1616ed82501",
    "a1616ec1f5", "a1616e9a7fffffff", "a1616e", "a2616e00616e00", "a10000", "80", "", "a1616e0000",
    "a1616ed90100" + "00",
    "a1616e" + "81" * 40 + "00", "a1616ef7"])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(api.MessageFault):
        decode(bytes.fromhex(data))


def body(text):
    return len(text).to_bytes(4, "big") + text


def packet(notice):
    return body(b"\0" + encode(notice, 1 << 20, depth=20, values=8192))


def session():
    made = RelaySession("com.example.tea", secret=None, make=RelayEnd)
    made.connected()
    assert b'"role":"relayService"' in made.output()
    made.received(body(WELCOME))
    return made


def said(session):
    data, found = session.output(), []
    while data:
        size = int.from_bytes(data[:4], "big")
        assert data[4] == 0
        found.append(decode(data[5:4 + size]))
        data = data[4 + size:]
    return found


DEVICE = {"id": "1", "name": "kitchen", "kind": "desktop", "platform": "linux", "presence": "online"}
NOTICES = [
    {"type": "answered", "request": 1, "outcome": {"status": "success", "message": {"a": 1}}},
    {"type": "life", "request": 2, "life": "sent"},
    {"type": "found", "request": 3, "device": DEVICE}, {"type": "added", "device": DEVICE},
    {"type": "asked", "call": 1, "id": uuid.UUID(int=1), "device": "1", "app": "a", "service": "s", "caller": "c",
     "message": {}},
    {"type": "launch", "call": 2, "device": "1", "uri": "tea:x", "caller": "c", "preferredApps": ["a"]},
    {"type": "opened", "connection": uuid.UUID(int=2), "device": "1", "app": "a", "service": "s", "caller": "c"},
    {"type": "closed", "connection": uuid.UUID(int=2), "reason": "idle"},
    {"type": "watchFailed", "reason": "no account"},
    {"type": "offered", "stream": uuid.UUID(int=4), "device": "1", "app": "a", "service": "s", "name": "n", "size": 3},
    {"type": "stream", "stream": uuid.UUID(int=5), "step": "pull", "offset": 0, "length": 3, "prefix": b""},
    {"type": "stream", "stream": uuid.UUID(int=6), "step": "piece", "offset": 0, "bytes": b"abc"},
    {"type": "stream", "stream": uuid.UUID(int=6), "step": "allGiven", "digest": bytes(32)}]


def test_any_change_of_a_notice_is_read_or_refused():
    chance, refused = random.Random(11), 0
    for _ in range(4_000):
        data = bytearray(packet(chance.choice(NOTICES)))
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(5, len(data))] = chance.randrange(256)
        made = session()
        made.watch(Watch(()))
        made.order(requests.find("1"), Future())
        made.order(requests.life(uuid.UUID(int=3)), Future())
        made.streams.begin(offer("1", "a", "s", "n", 3, 30, uuid.UUID(int=5)), Giving(uuid.UUID(int=5), 3))
        made.received(offered(6, 3))
        made.next_news()[0]._begin()
        try:
            made.received(bytes(data))
        except MalformedMessage:
            refused += 1
    assert 100 < refused < 4_000


def test_words_of_a_later_version_are_read():
    made = session()
    waiter = Future()
    made.order(requests.find("1"), waiter)
    later = DEVICE | {"presence": "asleep", "reach": "radio", "new": {"a": 1}}
    made.received(packet({"type": "found", "request": 1, "device": later}))
    assert waiter.result(0).presence is api.Presence.OFFLINE
    other = Future()
    made.order(requests.find("1"), other)
    outcome = {"status": "tooWarm", "detail": "it is summer"}
    made.received(packet({"type": "answered", "request": 2, "outcome": outcome}))
    assert other.exception(0).status is api.Status.FAILED and "summer" in str(other.exception(0))
    made.received(packet({"type": "weather", "sun": True}))


def test_an_answer_after_the_connection_was_made_again_is_none_of_another_question():
    made = session()
    asked = NOTICES[4]
    made.received(packet(asked))
    (old,) = made.next_news()
    made.disconnected()
    assert old.cancelled.is_set()
    made.connected()
    made.output()
    made.received(body(WELCOME) + packet(asked))
    (new,) = made.next_news()
    made.answer(old, failure(old.call, api.Status.FAILED))
    assert said(made) == []
    made.answer(new, failure(new.call, api.Status.FAILED, "é" * 5000))
    [answer] = said(made)
    assert answer["call"] == new.call and answer["outcome"]["detail"].endswith("é…") and "request" not in answer
    made.answer(new, failure(new.call, api.Status.FAILED))
    assert said(made) == [], "the first answer counts"


def test_an_offer_that_is_refused_on_a_later_connection_is_logged(caplog):
    made = session()
    offer = requests.publish({"kettle": api.Access.GRANTED}, ["tea"], {"a": "b"})
    made.offer = offer.request
    made.disconnected()
    made.connected()
    made.output()
    made.received(body(WELCOME))
    assert said(made) == [{
        "type": "publish", "request": 1, "services": [{"name": "kettle", "access": "granted"}], "schemes": ["tea"],
        "attributes": {"a": "b"}}]
    refusal = {"status": "tooLarge", "detail": "the device has too many apps"}
    made.received(packet({"type": "answered", "request": 1, "outcome": refusal}))
    assert "too many apps" in caplog.text


def test_what_waits_is_bounded():
    made = session()
    for number in range(QUESTION_LIMIT + 1):
        made.received(packet(NOTICES[4] | {"call": number}))
    [refusal] = said(made)
    assert (refusal["call"], refusal["outcome"]["status"]) == (QUESTION_LIMIT, "resourceLimits")
    for _ in range(COMMAND_LIMIT):
        made.order(requests.find("1"), Future())
    with pytest.raises(api.RelayError) as refused:
        made.order(requests.find("1"), Future())
    assert refused.value.status is api.Status.RESOURCE_LIMITS
    other, large = session(), {"data": bytes(200_000)}
    with pytest.raises(api.RelayError, match="resourceLimits"):
        for _ in range(200):
            other.order(requests.call("1", "a", "s", large, 30, None, 1 << 20, False), Future())


def offered(number, size):
    return packet({
        "type": "offered", "stream": uuid.UUID(int=number), "device": "1", "app": "com.example.tea", "service": "films",
        "modified": 0, "name": "film", "size": size})


def step(number, step, **members):
    return packet({"type": "stream", "stream": uuid.UUID(int=number), "step": step} | members)


def test_a_stream_is_asked_for_a_window_ahead_and_what_was_not_asked_for_is_left_out():
    made = session()
    made.received(offered(4, 2 * WINDOW))
    [stream], piece = made.next_news(), bytes(1 << 16)
    assert (stream.device, stream.service, stream.name, stream.size) == ("1", "films", "film", 2 * WINDOW)
    assert said(made) == []
    stream._begin()
    assert [(each["offset"], each["length"]) for each in said(made)] == [(0, WINDOW)]
    made.received(step(4, "piece", offset=5, bytes=piece))
    assert stream._next() is None
    for place in range(0, 2 * WINDOW, 1 << 16):
        made.received(step(4, "piece", offset=place, bytes=piece))
    asked, count = [], 0
    while found := stream._next():
        count += len(found[0])
        asked += said(made)
    assert count == WINDOW, "what comes beyond the window was not asked for"
    assert [each["offset"] for each in asked] == [WINDOW + WINDOW // 4 * n for n in range(4)]
    made.received(step(4, "allGiven", digest=bytes(32)))
    assert said(made) == [] and stream._next() is None, "not all has come"
    made.disconnected()
    with pytest.raises(api.StreamError) as lost:
        stream._next()
    assert lost.value.reason is api.StreamEnd.LOST


def test_more_streams_than_the_agent_allows_are_refused():
    made = session()
    for number in range(17):
        made.received(offered(number, 3))
    [refused] = said(made)
    assert (refused["type"], refused["stream"], refused["step"]) == ("stream", uuid.UUID(int=16), "taken")
    assert refused["outcome"]["status"] == "resourceLimits" and len(made.news) == 16


def device(id, **members):
    usual = {"name": id, "kind": "desktop", "platform": "linux", "presence": api.Presence.ONLINE}
    return api.Device(id, **(usual | members))


def taken(watch):
    return [(change.kind.name, change.device and change.device.id) for change in iter(watch.take, None)]


def test_a_watcher_tells_changes_once_and_only_what_it_wants():
    watch = Watch([api.DeviceFilter(available=True)])
    watch.device(device("early"))
    assert taken(watch) == [], "it has not begun"
    watch.begins()
    watch.device(device("1"))
    watch.device(device("2", presence=api.Presence.OFFLINE))
    watch.completed()
    assert taken(watch) == [("ADDED", "1"), ("COMPLETED", None)]
    watch.device(device("1"))
    assert taken(watch) == [], "it has not changed"
    watch.device(device("2"))
    watch.device(device("1", presence=api.Presence.OFFLINE))
    assert taken(watch) == [("ADDED", "2"), ("REMOVED", "1")]
    # What came and went while nobody read is told as it is now.
    watch.device(device("3"))
    watch.removed("3")
    watch.removed("2")
    watch.device(device("2", name="other"))
    assert taken(watch) == [("UPDATED", "2")]
    # After another connection what is not told again is gone.
    watch.failed("no agent")
    watch.begins()
    watch.device(device("4"))
    watch.completed()
    assert taken(watch) == [("ADDED", "4"), ("REMOVED", "2"), ("FAILED", None)]


def test_watchers_that_begin_leave_those_that_run_alone():
    made = session()
    first, second = Watch([api.DeviceFilter(kinds=("Phone",))]), Watch([api.DeviceFilter(platforms=("linux", ""))])
    made.watch(first)
    made.received(packet({"type": "answered", "request": 1, "outcome": {"status": "success"}}) + packet(NOTICES[3]))
    made.watch(second)
    made.received(packet(NOTICES[3]) + packet({"type": "enumerationCompleted"}))
    assert taken(first) == [("COMPLETED", None)] and taken(second) == []
    made.received(packet({"type": "answered", "request": 2, "outcome": {"status": "success"}}) + packet(NOTICES[3]))
    made.received(packet({"type": "enumerationCompleted"}))
    assert taken(second) == [("ADDED", "1"), ("COMPLETED", None)] and taken(first) == []
    assert [each.get("filters") for each in said(made)] == [
        [{"kinds": ["Phone"]}], [{"kinds": ["Phone"]}, {"platforms": ["linux", ""]}]]
    assert agent_filters([first, Watch([])]) == []
    made.unwatch(first)
    made.unwatch(second)
    assert said(made) == [{"type": "unwatch", "request": 3}]


@pytest.mark.parametrize("use, error, words", [
    (lambda relay: relay.service(""), api.MessageFault, "no name"),
    (lambda relay: relay.opens(), ValueError, "no scheme"),
    (lambda relay: relay.opens("a b")(print), api.MessageFault, "no scheme"),
    (lambda relay: relay.opens("mailto:")(print), api.MessageFault, "no scheme"),
    (lambda relay: relay.opens("File")(print), api.MessageFault, "never opened"),
    (lambda relay: relay.service("s")(asynchronous), TypeError, "AsyncRelay"),
    (lambda relay: relay.call("1", "a", "s", {}), RuntimeError, "not connected"),
    (lambda relay: relay.call(5, "a", "s", {}), TypeError, "a text"),
    (lambda relay: relay.launch("1", "x:" + "é" * 5000), api.MessageFault, "8192"),
    (lambda relay: relay.connect(), api.AgentError, "No agent listens")])
def test_a_wrong_use_is_named(tmp_path, use, error, words):
    relay = api.Relay("com.example.tea", path=str(tmp_path / "none"))
    with pytest.raises(error, match=words):
        use(relay)
    relay.close()


async def asynchronous(question):
    pass


def checked(folder, *modules):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--follow-imports", "silent",
         "--cache-dir", os.devnull, *modules], cwd=folder, capture_output=True, text=True, timeout=170, check=False,
        env=os.environ | {"MYPYPATH": str(PACKAGE)})


def test_the_modules_pass_the_strict_check():
    modules = sorted(str(path) for path in (PACKAGE / "aldaba").glob("*relay*.py"))
    done = checked(PACKAGE, *modules)
    assert done.stdout.startswith(f"Success: no issues found in {len(modules)} source files"), done.stdout + done.stderr


def test_handlers_of_a_user_are_checked(tmp_path):
    (tmp_path / "app.py").write_text(
        "from aldaba.relay import AsyncRelay, Launch, Message, Question, Relay\n"
        "relay, other = Relay('a'), AsyncRelay('a')\n"
        "@relay.service('s')\n"
        "def answer(question: Question) -> Message: return {'n': 1}\n"
        "@other.service('s')\n"
        "async def later(question: Question) -> None: pass\n"
        "@relay.opens('tea')\n"
        "def opened(launch: Launch) -> bool: return True\n"
        "@relay.service('t')\n"
        "def wrong(question: Question) -> int: return 1\n")
    told = [line for line in checked(tmp_path, "app.py").stdout.splitlines() if line.startswith("app.py")]
    assert len(told) == 1 and "app.py:9" in told[0] and "arg-type" in told[0], told
