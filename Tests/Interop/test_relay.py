"""Two agents of one person: each finds the other, opens addresses there, and talks to services of apps there.

The apps are scripts that speak the agents' sockets in Python; `xdg-open` is a script first in PATH.
"""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import uuid
from datetime import datetime, timezone

import pytest

from aldaba_process import BINARY, REPOSITORY, AldabaUp, clean_environment, run_aldaba
from own_agent import OwnAgent
from test_relay_values import comparable, messages
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import MessageFault, Question, Relay, RelayError  # noqa: E402
from relay_values import encode  # noqa: E402

APP = "com.example.relay"


class Device:
    """One of the devices of a running `aldaba up --devices 2`."""

    def __init__(self, told):
        self.name, self.data, self.socket = told["name"], told["data"], told["socket"]

    def aldaba(self, *arguments, **options):
        return run_aldaba("relay", *arguments, "--agent-socket", self.socket, **options)

    def others(self):
        done = self.aldaba("devices", "--json", check=False)
        # A device that its server has not welcomed yet knows no others.
        if done.returncode == 6 and "not connected to its server" in done.stderr:
            return []
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @property
    def id(self):
        return json.loads(self.aldaba("status", "--json").stdout)["device"]

    def install(self, folder, app=APP):
        manifest = folder / f"{app}.json"
        manifest.write_text(json.dumps({
            "id": app, "name": "Relay", "team": "ALDABADEMO", "executable": sys.executable, "provesBySecret": True}))
        told = run_aldaba("agent", "app", "install", manifest, "--data", self.data).stdout.split()
        with open(told[1]) as secret:
            return secret.read()


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Where the fake xdg-open writes what it was asked to open."""
    return tmp_path_factory.mktemp("opened") / "addresses"


@pytest.fixture(scope="module")
def pair(opened, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "xdg-open"
    program.write_text(
        f'#!/bin/sh\ncase "$1" in *unopenable*) exit 3;; *broken*) exit 4;; esac\nprintf "%s\\n" "$1" >> "{opened}"\n')
    program.chmod(0o755)
    # A program for mail is installed, and for nothing else.
    types = folder / "xdg-mime"
    types.write_text('#!/bin/sh\ncase "$3" in x-scheme-handler/mailto) echo mail.desktop;; esac\n')
    types.chmod(0o755)
    environment = clean_environment()
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    up = AldabaUp.ephemeral("--devices", "2", "--no-app", name="test_relay", environment=environment)
    first, second = (Device(told) for told in up.ready["devices"])
    for device in (first, second):
        wait_until(lambda: [other for other in device.others() if other["presence"] == "online"], "they see each other")
    yield up, first, second
    assert up.stop() == 0


@pytest.fixture(scope="module")
def first(pair):
    return pair[1]


@pytest.fixture(scope="module")
def second(pair):
    return pair[2]


@pytest.fixture
def service(second, tmp_path):
    """A script on the second device that offers the service `echo`."""
    relay = Relay(APP, second.install(tmp_path), second.socket)
    relay.publish({"echo": "sameUser", "asked": "granted", "shut": "off"})
    yield relay
    relay.end()


@pytest.fixture
def caller(first, tmp_path):
    relay = Relay(APP, first.install(tmp_path), first.socket)
    yield relay
    relay.end()


def test_each_lists_the_other(first, second):
    assert [device["name"] for device in first.others()] == [second.name]
    assert [device["id"] for device in second.others()] == [first.id]
    assert first.id != second.id


def test_an_address_is_opened_on_the_other_device(first, second, opened):
    address = f"https://example.org/{uuid.uuid4()}?a=b&c=%20"
    first.aldaba("open", address, "--on", second.name)
    assert address in opened.read_text().splitlines()


@pytest.mark.parametrize("address, exit_code, words", [
    ("file:///etc/passwd", 3, "addresses of the scheme file are never opened"),
    ("FILE:///etc/passwd", 3, "addresses of the scheme file are never opened"),
    ("data:text/html,x", 3, "addresses of the scheme data are never opened"),
    ("javascript:alert(1)", 3, "addresses of the scheme javascript are never opened"),
    ("mailto:a@example.org", 4, "aldaba relay allow mailto"),
])
def test_other_addresses_are_not_opened(first, second, opened, address, exit_code, words):
    before = opened.read_text() if opened.exists() else ""
    done = first.aldaba("open", address, "--on", second.name, check=False)
    assert done.returncode == exit_code and words in done.stderr, done.stderr
    assert ("rules forbid it" in done.stderr) == (exit_code == 4), done.stderr
    assert (opened.read_text() if opened.exists() else "") == before


def test_an_address_that_no_app_there_opens_is_another_matter_than_a_forbidden_one(first, second):
    forbidden = first.aldaba("open", "mailto:a@example.org", "--on", second.name, check=False)
    assert forbidden.returncode == 4 and "aldaba relay allow mailto" in forbidden.stderr
    unopened = first.aldaba("open", "tel:1", "--on", second.name, check=False)
    assert unopened.returncode == 1 and "no app there opens addresses of the scheme tel" in unopened.stderr


@pytest.mark.parametrize("words, complaint", [
    (("https://example.org/\n--help",), "holds a space or a control character"),
    (("no-scheme",), "does not begin with a scheme"),
    (("",), "does not begin with a scheme"),
    (("https://example.org/" + "a" * 9000,), "has 9020 bytes; at most 8192 are allowed"),
    (("https://example.org/", "--fallback", "http://example.org/"), "--fallback must be the address of an https page"),
    (("https://example.org/", "--within", "9223372036854775807"), "--within is 1 to 540 seconds"),
    (("https://example.org/", "--within", "0"), "--within is 1 to 540 seconds"),
])
def test_what_is_no_address_or_no_time_is_refused_here(first, second, words, complaint):
    done = first.aldaba("open", *words, "--on", second.name, check=False)
    assert done.returncode == 3 and complaint in done.stderr


@pytest.mark.parametrize("words, complaint", [
    (("deny", "nobody", "com.example.a", "s"), "you have no device nobody"),
    (("revoke", "*", "com.example.a", "s"), "no such thing was granted or denied"),
    (("allow", "a b"), "a b is no scheme"),
    (("forbid", "http"), "always opened"),
    (("rename", " "), "a name is one line that shows something"),
    (("share", "photos", "/nosuch"), "/nosuch is no folder"),
    (("share", "program", "bad", "/nosuch"), "/nosuch is no program"),
    (("pair", "wrong word"), "is no word that"),
])
def test_what_a_person_says_wrongly_is_refused_with_its_reason(first, words, complaint):
    done = first.aldaba(*words, check=False)
    assert done.returncode in (1, 3) and complaint in done.stderr


def test_what_is_granted_to_a_name_counts_for_its_device(first, second):
    first.aldaba("deny", second.name, "com.example.a", "s")
    grants = first.aldaba("grants").stdout
    assert second.id in grants
    first.aldaba("revoke", second.name, "com.example.a", "s")
    assert first.aldaba("grants").stdout == ""


def test_a_message_larger_than_usual_is_asked_for(first, second):
    message = json.dumps({"Type": "ping", "Text": "x" * 70_000})
    done = first.aldaba("call", "ping", "--on", second.name, "--message", message, check=False)
    assert done.returncode == 3 and "--limit 262144" in done.stderr
    answer = first.aldaba("call", "ping", "--on", second.name, "--message", message, "--limit", "100000", "--json")
    assert len(json.loads(answer.stdout)["message"]["Text"]) == 70_000



def test_a_scheme_can_be_allowed_and_forbidden(first, second, opened):
    second.aldaba("allow", "mailto")
    first.aldaba("open", "mailto:a@example.org", "--on", second.name)
    assert "mailto:a@example.org" in opened.read_text()
    second.aldaba("forbid", "mailto")
    assert first.aldaba("open", "mailto:a@example.org", "--on", second.name, check=False).returncode == 4
    assert second.aldaba("allow", "file", check=False).returncode == 3


def test_the_fallback_is_opened_only_after_a_definite_failure(first, second, opened):
    fallback = f"https://example.org/fallback/{uuid.uuid4()}"
    done = first.aldaba("open", "https://unopenable.example/", "--on", second.name, "--fallback", fallback)
    assert "fallback" in done.stdout
    assert fallback in opened.read_text().splitlines()
    done = first.aldaba("open", "https://broken.example/", "--on", second.name, check=False)
    assert done.returncode == 1 and "exit code 4" in done.stderr
    done = first.aldaba(
        "open", "https://unopenable.example/", "--on", second.name, "--fallback", "file:///etc/passwd", check=False)
    assert done.returncode == 3


def test_the_ping_of_every_agent_answers_and_tells_the_round_trip(first, second):
    told = json.loads(first.aldaba("call", "ping", "--on", second.name, "--json").stdout)
    assert told["message"]["Type"] == "pong"
    assert told["message"]["TargetId"] == second.id
    assert told["message"]["CreationDate"].endswith("Z")
    assert 0 < told["milliseconds"] < 10_000
    for name in ("ping", "aldaba.relay/ping"):
        assert "round trip" in first.aldaba("call", name, "--on", second.id).stdout


def test_values_of_every_kind_come_back_as_they_were(caller, service, second):
    message = {
        "text": "añ\u0000😀", "large": (1 << 53) + 1, "least": -(1 << 63), "whole": 1.0, "third": 1 / 3, "yes": True, "no": False,
        "date": datetime(2026, 11, 22, 20, 38, 1, 123000, tzinfo=timezone.utc), "id": uuid.uuid4(), "data": bytes(range(256)),
        "numbers": [1, 2, 3], "nested": {"deep": {"list": [{"a": 1}, {"b": 2.5}]}}, "none": [],
    }
    seen = []

    def answer(question):
        seen.append(question.message)
        return question.message

    serving = threading.Thread(target=service.serve, args=(answer, 1))
    serving.start()
    back = caller.call(second.id, APP, "echo", message)
    serving.join(10)
    assert back == message and seen == [message]
    assert [type(back[key]) for key in sorted(back)] == [type(message[key]) for key in sorted(message)]


def test_drawn_values_come_back_as_they_were(caller, second):
    """Those whose encoding test_relay_values compares with another implementation's."""
    for message in messages(60):
        back = caller.call(second.id, "aldaba.relay", "ping", message, limit=200_000)
        assert comparable(back) == comparable({**message, "Type": "pong"})


def test_what_cannot_be_sent_is_refused_at_once_with_its_place(caller, second):
    with pytest.raises(MessageFault, match=r"photos\[1\] is of the kind string"):
        caller.call(second.id, APP, "echo", {"photos": [1, "two"]})
    with pytest.raises(MessageFault, match="at most 65536"):
        caller.call(second.id, APP, "echo", {"data": bytes(70_000)})
    with pytest.raises(RelayError) as refused:
        caller.call(second.id, APP, "echo", {"data": bytes(262_144)}, limit=300_000)
    assert refused.value.status == "tooLarge"


def test_services_are_closed_unless_opened(caller, service, second, first):
    for name, status in (("shut", "serviceUnavailable"), ("nothing", "serviceUnavailable"), ("asked", "notAuthorized")):
        with pytest.raises(RelayError) as refused:
            caller.call(second.id, APP, name, {})
        assert refused.value.status == status, name
    with pytest.raises(RelayError) as refused:
        caller.call(second.id, "com.example.absent", "echo", {})
    assert refused.value.status == "appNotInstalled"
    with pytest.raises(RelayError) as refused:
        caller.call("12345", APP, "echo", {})
    assert refused.value.status == "unknownDevice"
    second.aldaba("grant", first.id, APP, "asked")
    serving = threading.Thread(target=service.serve, args=(lambda question: {"is": "granted"}, 1))
    serving.start()
    assert caller.call(second.id, APP, "asked", {}) == {"is": "granted"}
    serving.join(10)
    second.aldaba("revoke", first.id, APP, "asked")
    with pytest.raises(RelayError):
        caller.call(second.id, APP, "asked", {})


def test_a_connection_is_asked_from_both_ends_and_its_close_is_told(caller, service, second, first):
    connection = caller.open_connection(second.id, APP, "echo")
    opened = service.next_notice(10)
    assert (opened["type"], opened["connection"], opened["device"]) == ("opened", connection, first.id)
    serving = threading.Thread(target=service.serve, args=(lambda question: {"n": question.message["n"] + 1}, 1))
    serving.start()
    assert caller.send(connection, {"n": 1}) == {"n": 2}
    serving.join(10)
    asking = threading.Thread(target=caller.serve, args=(lambda question: {"from": "the caller"}, 1))
    asking.start()
    assert service.send(connection, {}) == {"from": "the caller"}
    asking.join(10)
    caller.close(connection)
    closed = service.next_notice(10)
    assert (closed["type"], closed["connection"], closed["reason"]) == ("closed", connection, "completed")
    with pytest.raises(RelayError) as late:
        caller.send(connection, {})
    assert late.value.status == "connectionClosed"


def test_the_end_of_an_app_closes_its_connections_and_ends_its_answers(caller, service, second):
    connection = caller.open_connection(second.id, APP, "echo")
    failure = []

    def ask():
        try:
            caller.send(connection, {})
        except RelayError as error:
            failure.append(error.status)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(lambda: service.next_notice(10)["type"] == "asked", "the question is there")
    service.end()
    asking.join(10)
    assert failure == ["outcomeUnknown"]
    closed = caller.next_notice(10)
    assert (closed["type"], closed["connection"], closed["reason"]) == ("closed", connection, "cancelled")


def test_a_command_that_comes_twice_is_carried_out_once(caller, service, second):
    count = []
    serving = threading.Thread(target=service.serve, args=(lambda question: count.append(1) or {"n": len(count)}, 1))
    serving.start()
    command = uuid.uuid4()
    assert caller.call(second.id, APP, "echo", {}, command=command) == {"n": 1}
    serving.join(10)
    assert caller.call(second.id, APP, "echo", {}, command=command) == {"n": 1}
    assert count == [1]
    assert caller.life(command) == ("completed", "success")


def test_a_call_that_was_begun_is_taken_back_at_the_target(caller, service, second):
    first_call = caller.begin_call(second.id, APP, "echo", {"n": 1})
    other = caller.begin_call(second.id, APP, "echo", {"n": 2})
    asked = [Question(service.next_notice(10)) for _ in range(2)]
    assert [question.id for question in asked] == [first_call, other]
    wait_until(lambda: caller.life(first_call) == ("executing", None), "the target says that it has it")
    assert caller.cancel(first_call)
    with pytest.raises(RelayError) as taken_back:
        caller.result(first_call)
    assert taken_back.value.status == "cancelled"
    assert caller.life(first_call) == ("cancelled", "cancelled")
    assert not caller.cancel(first_call)
    cancelled = service.next_notice(10)
    assert (cancelled["type"], cancelled["call"]) == ("cancelled", asked[0].call)
    service.answer(asked[0], {"late": True})
    service.answer(asked[1], {"n": 3})
    assert caller.result(other, 10) == {"n": 3}
    with pytest.raises(ValueError):
        caller.result(other)
    # The target knows the id, too.
    with pytest.raises(RelayError) as again:
        caller.call(second.id, APP, "echo", {"n": 1}, command=first_call)
    assert again.value.status == "cancelled"


def test_a_fault_of_a_service_is_answered_and_the_service_goes_on(caller, service, second):
    serving = threading.Thread(target=service.serve, args=(lambda question: {"n": question.message["n"]}, 2))
    serving.start()
    with pytest.raises(RelayError) as failed:
        caller.call(second.id, APP, "echo", {})
    assert failed.value.status == "failed" and "KeyError" in failed.value.detail
    assert caller.call(second.id, APP, "echo", {"n": 1}) == {"n": 1}
    serving.join(10)


def test_a_caller_that_ends_takes_back_what_it_had_asked(first, service, second, tmp_path):
    caller = Relay(APP, first.install(tmp_path), first.socket)
    command = caller.begin_call(second.id, APP, "echo", {"n": 1}, seconds=60)
    asked = service.next_notice(10)
    assert (asked["type"], asked["id"]) == ("asked", command)
    caller.end()
    cancelled = service.next_notice(10)
    assert (cancelled["type"], cancelled["call"]) == ("cancelled", asked["call"])
    for device in (first, second):
        wait_until(
            lambda: any(
                (line.get("id"), line["status"]) == (str(command), "cancelled")
                for line in map(json.loads, device.aldaba("log").stdout.splitlines())), "both note it")


def test_whatever_ends_the_waiting_for_a_call_takes_it_back(caller, service, second, monkeypatch):
    class Enough(Exception):
        pass

    def wait(*_):
        raise Enough

    command = uuid.uuid4()
    with monkeypatch.context() as patch:
        patch.setattr(caller, "_outcome", wait)
        with pytest.raises(Enough):
            caller.call(second.id, APP, "echo", {}, command=command)
    wait_until(lambda: caller.life(command) == ("cancelled", "cancelled"), "it is taken back")


def test_what_an_agent_would_not_read_does_not_leave_the_script(caller, service, second):
    for services, attributes in (({f"s{n}": "off" for n in range(33)}, {}), ({"s" * 256: "off"}, {}), ({}, {"a": "b" * 4096})):
        with pytest.raises(MessageFault):
            service.publish(services, attributes=attributes)
    for uri in ("https://example.org/" + "a" * 8200, "relaytest:" + "é" * 4100):
        with pytest.raises(MessageFault):
            caller.launch(second.id, uri)
    with pytest.raises(MessageFault):
        caller.call("1" * 65, APP, "echo", {})
    # A detail of any length is told in part, and the connection goes on.
    command = caller.begin_call(second.id, APP, "echo", {})
    service.fail(Question(service.next_notice(10)), "é" * 5000)
    with pytest.raises(RelayError) as failed:
        caller.result(command, 10)
    assert failed.value.status == "failed" and failed.value.detail.startswith("é" * 2000) and failed.value.detail.endswith("…")
    serving = threading.Thread(target=service.serve, args=(lambda question: {"is": "here"}, 1))
    serving.start()
    assert caller.call(second.id, APP, "echo", {}) == {"is": "here"}
    serving.join(10)


def test_what_had_begun_to_come_when_the_time_was_over_is_not_lost(tmp_path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "agent"))
        listener.listen()

        def frame(body):
            return struct.pack(">I", len(body)) + body

        notice = frame(b"\0" + encode({"type": "removed", "device": "1"}))
        taken = []

        def welcome():
            connection, _ = listener.accept()
            connection.sendall(frame(json.dumps({"type": "welcome"}).encode()) + notice[:20])
            taken.append(connection)

        serving = threading.Thread(target=welcome)
        serving.start()
        with Relay(APP, path=str(tmp_path / "agent")) as relay:
            serving.join(10)
            with pytest.raises(TimeoutError):
                relay.next_notice(0.2)
            taken[0].sendall(notice[20:])
            assert relay.next_notice(10) == {"type": "removed", "device": "1"}
        taken[0].close()


def test_an_app_opens_addresses_of_its_scheme(caller, service, second):
    service.publish({"echo": "sameUser"}, schemes=["relaytest"])

    def take():
        notice = service.next_notice(10)
        assert notice["type"] == "launch" and notice["uri"] == "relaytest:hello" and notice["input"] == {"page": [1, 2]}
        service.settle_launch(notice)

    taking = threading.Thread(target=take)
    taking.start()
    caller.launch(second.id, "relaytest:hello", app=APP, input={"page": [1, 2]})
    taking.join(10)
    with pytest.raises(RelayError) as refused:
        caller.launch(second.id, "https://example.org/", app="com.example.absent")
    assert refused.value.status == "appNotInstalled"


def test_a_deadline_ends_a_question_that_nobody_answers(caller, service, second):
    with pytest.raises(RelayError) as late:
        caller.call(second.id, APP, "echo", {}, seconds=1)
    assert late.value.status == "outcomeUnknown"


def test_another_account_neither_sees_nor_reaches(pair, first, second):
    up = pair[0]
    stranger = OwnAgent(up, "test_relay_stranger")
    try:
        stranger.start()
        assert "no account" in stranger.aldaba("relay", "devices", check=False).stderr
        stranger.aldaba("relay", "account", "show")
        wait_until(
            lambda: json.loads(stranger.aldaba("relay", "status", "--json").stdout)["isConnected"], "it has joined")
        assert json.loads(stranger.aldaba("relay", "devices", "--json").stdout) == []
        assert [device["name"] for device in first.others()] == [second.name]
        done = stranger.aldaba("relay", "call", "ping", "--on", second.id, check=False)
        assert done.returncode == 3 and "no device" in done.stderr
        assert stranger.aldaba("relay", "account", "join", "aldaba-account-nonsense", check=False).returncode == 3
        key = first.aldaba("account", "show").stdout.strip()
        done = stranger.aldaba("relay", "account", "join", key, check=False)
        assert done.returncode == 3 and "account leave" in done.stderr
        stranger.aldaba("relay", "account", "leave")
        stranger.aldaba("relay", "account", "join", key)
        wait_until(lambda: len(first.others()) == 2, "the stranger is one of them now")
        stranger.aldaba("relay", "account", "leave")
        wait_until(lambda: len(first.others()) == 1, "it has left")
    finally:
        stranger.stop()


def test_a_device_of_another_person_asks_what_is_open_to_anyone(pair, first, second, service, tmp_path):
    up = pair[0]
    service.publish({"echo": "anyone", "mine": "sameUser"})
    serving = threading.Thread(target=service.serve, args=(lambda question: question.message, 3))
    serving.start()
    assert first.aldaba("call", "echo", "--on", second.name, "--message", '{"a": 1}').returncode == 0
    stranger = OwnAgent(up, "test_relay_guest")
    try:
        stranger.start()
        stranger.aldaba("relay", "account", "show")
        wait_until(
            lambda: json.loads(stranger.aldaba("relay", "status", "--json").stdout)["isConnected"], "it has joined")

        def ask(name):
            return stranger.aldaba("relay", "call", name, "--on", second.id, "--message", '{"a": 2}', check=False)

        # Nobody is there to be asked, so it is not granted yet.
        refused = ask(f"{APP}/echo")
        assert refused.returncode == 4
        grantee = re.search(r"relay grant (\d+#[0-9a-f]{16}) ", refused.stderr).group(1)
        second.aldaba("grant", grantee, APP, "echo")
        assert '"a":2' in ask(f"{APP}/echo").stdout.replace(" ", "")
        assert ask(f"{APP}/mine").returncode == 1
        assert stranger.aldaba("relay", "open", "https://example.org/", "--on", second.id, check=False).returncode == 3
        assert ask("ping").returncode == 3
        secret = stranger.install(id=APP, name="Relay", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
        stranger.install(
            id="com.example.relay-guide", name="Guide", team="ALDABADEMO", executable=str((BINARY.parent / "RelayGuide").resolve()))
        with Relay(APP, secret, stranger.socket) as guest:
            assert guest.find(second.id)["apps"][0]["services"] == ["echo"]
            assert guest.call(second.id, APP, "echo", {"b": 3}) == {"b": 3}
            swift = subprocess.run(
                [BINARY.parent / "RelayGuide", "find", second.id], stdout=subprocess.PIPE, text=True, timeout=60,
                env=clean_environment(ALDABA_APP_ID="com.example.relay-guide", ALDABA_AGENT_SOCKET=stranger.socket))
            assert swift.stdout == f'found: ["{APP}/echo"]\n'
            with pytest.raises(RelayError) as absent:
                guest.find(first.id)
            assert absent.value.status == "unknownDevice"
        second.aldaba("revoke", grantee, APP, "echo")
        assert ask(f"{APP}/echo").returncode == 4
    finally:
        stranger.stop()
        serving.join(10)


def test_the_end_of_an_agent_in_the_middle_of_a_call_is_told(pair, first, second, caller, service):
    """Last: it ends the second agent, which `up` starts again."""
    up = pair[0]
    watch = subprocess.Popen(
        [BINARY, "relay", "watch", "--json", "--agent-socket", first.socket], stdout=subprocess.PIPE, text=True,
        env=clean_environment())
    try:
        events = iter(watch.stdout.readline, "")
        seen = [json.loads(next(events)) for _ in range(2)]
        assert [event["event"] for event in seen] == ["added", "enumerationCompleted"]
        failure = []

        def ask():
            try:
                caller.call(second.id, APP, "echo", {}, seconds=60)
            except RelayError as error:
                failure.append(error.status)

        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(lambda: service.next_notice(10)["type"] == "asked", "the question is there")
        agent = up.pids()["agent-2"]
        os.kill(agent, signal.SIGSTOP)
        os.kill(agent, signal.SIGKILL)
        asking.join(20)
        assert failure == ["outcomeUnknown"]
        up.wait_for_new_pid("agent-2", agent)
        # Until it is back, within its grace, a command is answered "it did not arrive".
        done = wait_until(
            lambda: (done := first.aldaba("call", "ping", "--on", second.name, "--json", check=False)).returncode in (0, 6)
            and done.returncode == 0 and done, "it is there again")
        assert json.loads(done.stdout)["message"]["Type"] == "pong"
    finally:
        watch.terminate()
        watch.wait(10)
