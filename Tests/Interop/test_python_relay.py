"""Relaying by the package for Python, with real agents: Python at both ends, and the Swift guide at one of them."""

import queue
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timezone

import pytest

from own_agent import OwnAgent
from test_relay import APP, opened, pair  # noqa: F401
from vector_agent import PACKAGE
from waiting import wait_until

assert str(PACKAGE) in sys.path
from aldaba import relay as api  # noqa: E402

OTHER = "com.example.relay.other"
VALUES = {
    "text": "añ\0😀", "large": (1 << 53) + 1, "least": -(1 << 63), "whole": 1.0, "third": 1 / 3, "yes": True,
    "no": False,
    "date": datetime(2026, 11, 22, 20, 38, 1, 123000, tzinfo=timezone.utc), "far": api.FarDate(4 * 10**15),
    "id": uuid.uuid4(),
    "data": bytes(range(256)), "numbers": [1, 2, 3], "floats": [1.0, 2.0],
    "nested": {"deep": {"list": [{"a": 1}, {"b": 2.5}]}},
    "none": [], "empty": {}}


def kinds(value):
    if isinstance(value, dict):
        return {name: kinds(each) for name, each in value.items()}
    return [kinds(each) for each in value] if isinstance(value, list) else type(value)


class World:
    """An app in Python on two devices of one person: it serves on the second one, and asks from the first one."""

    def __init__(self, pair, folder):
        self.up, self.first, self.second = pair
        # One process relays once for an app: so clients beside each other are two apps.
        self.secrets = {(place, app): (self.first, self.second)[place].install(folder, app) for place, app in [
            (0, APP), (1, APP), (0, OTHER)]}
        self.asked, self.held = queue.Queue(), threading.Event()
        self.service = self.client(1, workers=8)
        self.service.service("echo")(lambda question: question.message)
        self.service.service("asked", api.Access.GRANTED)(lambda question: {"is": "granted"})
        self.service.service("shut", api.Access.OFF)(lambda question: {})
        self.service.service("broken")(lambda question: {"n": question.message["n"]})
        self.service.service("list")(lambda question: [1])
        self.service.service("large")(lambda question: {"data": bytes(300_000)})

        @self.service.service("told")
        def told(question):
            self.asked.put(question)

        @self.service.service("refusing")
        def refuse(question):
            raise api.ServiceFailure("the lamp is off")

        @self.service.service("hold")
        def hold(question):
            self.asked.put(question)
            question.cancelled.wait(20)

        @self.service.opens("relaytest")
        def launched(launch):
            self.asked.put(launch)
            return launch.uri != "relaytest:no"

    def client(self, place, kind=api.Relay, app=APP, **options):
        return kind(app, secret=self.secrets[place, app], path=(self.first, self.second)[place].socket, **options)


@pytest.fixture(scope="module")
def world(pair, tmp_path_factory):  # noqa: F811
    made = World(pair, tmp_path_factory.mktemp("apps"))
    with made.service:
        yield made


@pytest.fixture(scope="module")
def caller(world):
    with world.client(0) as relay:
        yield relay


@pytest.fixture(scope="module")
def device(world, caller):
    with closing(caller.watch(timeout=20)) as changes:
        return next(change.device for change in changes if change.device and change.device.app(APP))


def status(ask, *arguments, **options):
    with pytest.raises(api.RelayError) as refused:
        ask(*arguments, **options)
    return refused.value.status


def test_the_devices_of_the_person_and_their_apps_are_listed(world, caller, device):
    [listed] = caller.devices()
    assert (listed.id, listed.name, listed.presence, listed.reach) == (
        world.second.id, world.second.name, api.Presence.ONLINE, "relay")
    app = listed.app(APP)
    assert {"echo", "broken"} <= set(app.services) and "shut" not in app.services and app.schemes == ("relaytest",)
    assert listed.app("aldaba.relay") is not None and listed.app("com.example.absent") is None
    assert caller.find(listed.id).name == listed.name
    assert status(caller.find, "1") is api.Status.UNKNOWN_DEVICE
    assert caller.devices([api.DeviceFilter(kinds=("phone",))]) == []
    others = api.DeviceFilter(platforms=("linux",), available=True)
    assert caller.devices([api.DeviceFilter(kinds=("phone",)), others]) == [listed]
    assert caller.devices([api.DeviceFilter(direct=True)]) == []


def test_values_of_every_kind_come_back_as_they_were(caller, device):
    back = caller.call(device, APP, "echo", VALUES)
    assert back == VALUES and kinds(back) == kinds(VALUES)


def test_an_address_is_opened_by_an_app_there(world, caller, device):
    caller.launch(device, "relaytest:hello", app=APP, input={"page": [1, 2]})
    launch = world.asked.get(timeout=20)
    assert (launch.uri, launch.device, launch.caller) == ("relaytest:hello", world.first.id, APP)
    assert launch.input == {"page": [1, 2]}
    assert status(caller.launch, device, "relaytest:no", app=APP) is api.Status.FAILED
    assert world.asked.get(timeout=20).uri == "relaytest:no"


@pytest.mark.parametrize("uri, options, expected", [
    ("tel:1", {}, "protocolUnavailable"), ("mailto:a@example.org", {}, "denied"),
    ("file:///etc/passwd", {}, "refusedHere"),
    ("https://example.org/", {"app": "com.example.absent"}, "appNotInstalled")])
def test_an_address_that_is_not_opened_ends_with_its_reason(caller, device, uri, options, expected):
    assert status(caller.launch, device, uri, **options) == expected


@pytest.mark.parametrize("to, app, service, expected, words", [
    (None, APP, "nothing", "serviceUnavailable", "nothing"), (None, APP, "shut", "serviceUnavailable", ""),
    (None, APP, "asked", "notAuthorized", "grant"), (None, "com.example.absent", "echo", "appNotInstalled", ""),
    ("12345", APP, "echo", "unknownDevice", ""), (None, APP, "broken", "failed", "KeyError"),
    (None, APP, "refusing", "failed", "the lamp is off"), (None, APP, "list", "failed", "TypeError"),
    (None, APP, "large", "tooLarge", "the answer has")])
def test_a_call_that_fails_has_the_status_of_the_wire(caller, device, to, app, service, expected, words):
    with pytest.raises(api.RelayError) as failed:
        caller.call(to or device, app, service, {})
    assert failed.value.status == expected and failed.value.status is api.Status(expected)
    assert words in (failed.value.detail or "") and expected in str(failed.value)


def test_a_permission_is_granted_and_taken_back(world, caller, device):
    world.second.aldaba("grant", world.first.id, APP, "asked")
    assert caller.call(device, APP, "asked", {}) == {"is": "granted"}
    world.second.aldaba("revoke", world.first.id, APP, "asked")
    assert status(caller.call, device, APP, "asked", {}) is api.Status.NOT_AUTHORIZED


def test_what_cannot_be_sent_is_refused_with_its_place_and_the_client_goes_on(caller, device):
    for message, words in [
        ({"photos": [1, "two"]}, r"photos\[1\] is of the kind string"), ({"data": bytes(70_000)}, "at most 65536"),
        ({"n": {"m": object()}}, "n.m: a object"), ({"n": None}, "n: a NoneType"), ({"n": 1 << 63}, "64 bits"),
        ({"when": datetime(2026, 1, 1)}, "no time zone"), ([1], "dictionary")]:
        with pytest.raises(api.MessageFault, match=words):
            caller.call(device, APP, "echo", message)
    assert len(caller.call(device, APP, "echo", {"data": bytes(200_000)}, limit=1 << 20)["data"]) == 200_000
    for options, fault in [({"timeout": 0}, ValueError), ({"command": "x"}, ValueError)]:
        with pytest.raises(fault):
            caller.call(device, APP, "echo", {}, **options)


def test_fifty_calls_at_a_time_have_each_its_own_answer(caller, device):
    with ThreadPoolExecutor(50) as pool:
        messages = [{"n": n, "data": bytes([n]) * 1000} for n in range(50)]
        assert list(pool.map(lambda message: caller.call(device, APP, "echo", message), messages)) == messages


def test_a_call_that_nobody_answers_ends_at_its_deadline(world, caller, device):
    command = uuid.uuid4()
    assert status(caller.call, device, APP, "hold", {}, timeout=1, command=command) is api.Status.OUTCOME_UNKNOWN
    question = world.asked.get(timeout=20)
    assert question.id == command and question.deadline_date > datetime(2020, 1, 1, tzinfo=timezone.utc)
    assert question.cancelled.wait(20), "the service is told that nobody waits"


def test_a_call_is_taken_back_by_its_id(world, caller, device):
    command = uuid.uuid4()
    with ThreadPoolExecutor() as pool:
        calling = pool.submit(status, caller.call, device, APP, "hold", {}, command=command)
        question = world.asked.get(timeout=20)
        wait_until(lambda: caller.life(command).state is api.CommandState.EXECUTING, "the target says that it has it")
        assert caller.cancel(command) and calling.result(20) is api.Status.CANCELLED
    assert question.cancelled.wait(20)
    assert caller.life(command) == api.Life(api.CommandState.CANCELLED, api.Status.CANCELLED)
    assert not caller.cancel(command) and caller.life(uuid.uuid4()).state is None


def test_the_end_of_a_client_ends_what_it_waits_for_and_takes_it_back(world, device):
    with ThreadPoolExecutor() as pool:
        with world.client(0, app=OTHER) as relay:
            with pytest.raises(RuntimeError, match="already"):
                world.client(0, app=OTHER).connect()
            calling = pool.submit(status, relay.call, device, APP, "hold", {}, timeout=60)
            question = world.asked.get(timeout=20)
        assert calling.result(20) is api.Status.CANCELLED and question.cancelled.wait(20)
        with pytest.raises(api.AgentError, match="closed"):
            relay.call(device, APP, "echo", {})


def test_a_repetition_under_one_id_is_carried_out_once(world, caller, device):
    command = caller.tell(device, APP, "told", {"n": 1})
    question = world.asked.get(timeout=20)
    assert (question.id, question.one_way, question.message, question.caller) == (command, True, {"n": 1}, APP)
    wait_until(lambda: caller.life(command).state is api.CommandState.COMPLETED, "it was taken")
    assert caller.tell(device, APP, "told", {"n": 1}, command=command) == command
    caller.call(device, APP, "told", {"n": 2})
    assert world.asked.get(timeout=20).message == {"n": 2} and world.asked.empty()


def test_a_connection_is_asked_from_both_ends_and_its_end_is_told(world, caller, device):
    opened_there, ended = queue.Queue(), queue.Queue()

    @world.service.on_connection
    def connected(connection):
        connection.on_closed(ended.put)
        opened_there.put(connection)

    with caller.open(device, APP, "echo", on_question=lambda question: {"from": question.message["to"]}) as connection:
        assert connection.send({"n": 1}) == {"n": 1}
        there = opened_there.get(timeout=20)
        assert (there.id, there.device, there.caller, there.closed) == (connection.id, world.first.id, APP, None)
        assert there.send({"to": "the caller"}) == {"from": "the caller"}
        assert list(caller.connections) == [connection.id]
    assert ended.get(timeout=20) is there and there.closed is api.CloseReason.COMPLETED
    assert status(connection.send, {}) is status(there.send, {}) is api.Status.CONNECTION_CLOSED
    gone = queue.Queue()
    connection = caller.open(device, APP, "echo", on_closed=gone.put)
    opened_there.get(timeout=20).close()
    assert gone.get(timeout=20) is connection and connection.closed is api.CloseReason.COMPLETED
    assert caller.connections == {}
    assert status(caller.open, device, APP, "nothing") is api.Status.SERVICE_UNAVAILABLE


def test_a_device_comes_and_goes_and_cannot_be_asked_while_it_is_off(world, caller):
    other = OwnAgent(world.up, "test_python_relay_other")
    try:
        with closing(caller.watch(timeout=30)) as changes:
            seen = [next(changes).kind for _ in range(2)]
            assert seen == [api.ChangeKind.ADDED, api.ChangeKind.COMPLETED]
            other.start()
            other.aldaba("relay", "account", "join", world.first.aldaba("account", "show").stdout.strip())
            added = next(changes)
            assert added.kind is api.ChangeKind.ADDED
            other.stop_process()
            off = next(each for each in changes if each.device.presence is api.Presence.OFFLINE)
            assert (off.kind, off.device.id) == (api.ChangeKind.UPDATED, added.device.id)
            assert status(caller.call, off.device, "aldaba.relay", "ping", {}) is api.Status.NOT_DELIVERED
            other.start()
            on = next(each for each in changes if each.device.presence is api.Presence.ONLINE)
            assert caller.call(on.device, "aldaba.relay", "ping", {})["Type"] == "pong"
            other.aldaba("relay", "account", "leave")
            assert next(each.device.id for each in changes if each.kind is api.ChangeKind.REMOVED) == added.device.id
    finally:
        other.stop()


def test_documents_are_shared_with_the_other_device(world, caller):
    here, there = caller.documents, world.service.documents
    with closing(there.changes(timeout=20)) as changes, ThreadPoolExecutor() as pool:
        # Watching begins with the first change that is asked for.
        first = pool.submit(next, changes)
        wait_until(lambda: here.put("begin", {}) and first.done(), "changes are told")
        content = {name: value for name, value in VALUES.items() if name != "data"} | {"data": b"a"}
        revision = here.put("place", content, revision=0)
        told = next(change for change in changes if change.name == "place")
        assert told == api.DocumentChange("place", revision, content) and kinds(told.content) == kinds(content)
        assert there.get("place") == api.Document("place", revision, content) and there.get("nothing") is None
        with pytest.raises(api.RelayError) as conflict:
            there.put("place", {"page": 9}, revision=0)
        assert (conflict.value.status, conflict.value.revision) == (api.Status.CONFLICT, revision)
        assert there.put("place", {"page": 9}, revision=revision) == revision + 1
        for number in range(70):
            here.put(f"page-{number:02}", {"n": number})
        entries = there.list()
        pages = sorted(each.name for each in entries if each.name.startswith("page-"))
        assert pages == [f"page-{n:02}" for n in range(70)]
        assert all(each.bytes > 0 and each.revision > 0 for each in entries)
        for entry in entries:
            here.remove(entry.name, revision=entry.revision)
        assert any(change.removed and change.name == "place" for change in changes)
        assert here.list() == []
    for name, words in [("", "no name"), ("é" * 65, "at most 128")]:
        with pytest.raises(api.MessageFault, match=words):
            here.put(name, {})
    with pytest.raises(api.MessageFault, match="at most 8192"):
        here.put("a", {"text": "x" * 9000})
