"""The client of the agent in the package for Python: the protocol vectors, frames, handlers, limits and types."""

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import random
import struct
import subprocess
import sys
import threading

import pytest

from pages import blocks
from vector_agent import DRIVERS, PACKAGE, VECTORS, AgentDouble, api, play

NAMES = sorted(path.stem for path in VECTORS.glob("*.json"))


@pytest.fixture
def double(tmp_path):
    made = AgentDouble(tmp_path / "s")
    yield made
    made.close()


@pytest.mark.parametrize("shell", DRIVERS)
@pytest.mark.parametrize("name, piece", [(name, None) for name in NAMES] + [("deliver", 1), ("categories", 3), ("channel", 2)])
def test_a_client_does_what_the_vector_says(double, shell, name, piece):
    vector = json.loads((VECTORS / f"{name}.json").read_text())
    double.piece = piece
    driver = DRIVERS[shell](double.path, **vector["client"])
    try:
        play(double, driver, vector["steps"])
        driver.close()
        assert double.rest() == [], "the client has said no more"
    finally:
        driver.told.answers.put({})
        driver.close()
        if shell == "asyncio":
            driver.end()


# Handlers, frames and the typed check


def driver_of(double, shell, **options):
    made = DRIVERS[shell](double.path, "com.example.todo", **options)
    connecting = made.call("connect", {})
    double.welcome()
    connecting.result(20)
    return made


def end(driver):
    driver.close()
    if hasattr(driver, "end"):
        driver.end()


def pushed(number, kind="foreground"):
    notification = {"id": number, "identifier": str(number), "topic": "t", "date": -1, "payload": "{}"}
    return {"type": "deliver", "kind": kind, "notification": notification}


@pytest.mark.parametrize("shell", DRIVERS)
@pytest.mark.parametrize("kind, answer", [
    ("foreground", {"outcome": "notPresented"}), ("foregroundAndBackground", {"outcome": "notPresented"}),
    ("background", {"outcome": "background", "result": "failed"}), ("call", {"outcome": "background", "result": "failed"})])
def test_a_handler_that_raises_is_logged_and_answered_and_the_next_one_is_called(double, shell, kind, answer, caplog):
    driver = driver_of(double, shell)
    try:
        for number in (1, 2):
            double.send(pushed(number, kind))
            driver.told.answers.put({})  # A handler that finds no outcome in it raises.
            assert double.read() == {"type": "handled", "notification": number} | answer
        assert caplog.text.count("the handler of the notification") >= 1 and "KeyError" in caplog.text
    finally:
        end(driver)


@pytest.mark.parametrize("kind, outcome, words", [
    ("foreground", api.BackgroundResult.NEW_DATA, "PresentationOptions or None"),
    ("background", api.PresentationOptions.LIST, "a BackgroundResult or None"), ("foreground", 26, "PresentationOptions or None")])
def test_an_outcome_of_another_kind_is_named(double, kind, outcome, words, caplog):
    with_handler = api.Agent("com.example.todo", path=double.path)
    with_handler.on_notification(lambda notification, kind: outcome)
    with connected(double, with_handler):
        double.send(pushed(1, kind))
        assert double.read()["outcome"] in ("notPresented", "background")
        assert words in caplog.text


@contextlib.contextmanager
def connected(double, client):
    """A blocking client that the double has welcomed."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        connecting = pool.submit(client.connect)
        double.welcome()
        connecting.result(20)
        try:
            yield client
        finally:
            client.close()


@pytest.mark.parametrize("kind, answer", [
    ("foreground", {"outcome": "presented", "options": 26}), ("background", {"outcome": "background", "result": "noData"})])
def test_without_a_handler_notifications_are_shown(double, kind, answer):
    with connected(double, api.Agent("com.example.todo", path=double.path)):
        double.send(pushed(1, kind))
        assert double.read() == {"type": "handled", "notification": 1} | answer


def frame(body):
    return struct.pack(">I", len(body)) + body


@pytest.mark.parametrize("shell", DRIVERS)
@pytest.mark.parametrize("data, words", [
    (struct.pack(">I", (1 << 20) + 1), "1048577 bytes"), (frame(b"["), "no JSON"), (frame(b"[1]"), "no object"),
    (frame(b""), "no JSON"), (frame(b'{"type":7}'), "`type`"), (frame(b'{"type":"enter","state":"asleep"}'), "state: one of active"),
    (frame(b'{"type":"\xff"}'), "no JSON"), (frame(b'{"type":"x","y":NaN}'), "NaN"), (frame(b"[" * 100_000), "no JSON"),
    (frame(b'{"type":"deliver","kind":"foreground","notification":{"id":true}}'), "notification.id: a whole number"),
    (frame(b'{"type":"handledConfirmed","notifications":[1,"2"]}'), "ids[1]")])
def test_bytes_of_no_protocol_are_logged_and_the_client_connects_again(double, shell, data, words, caplog):
    driver = driver_of(double, shell)
    try:
        double.send_bytes(data)
        assert double.read() is None
        double.accept()
        double.welcome()
        assert words in caplog.text
    finally:
        end(driver)


@pytest.mark.parametrize("shell", DRIVERS)
def test_packets_about_relaying_are_ignored(double, shell):
    driver = driver_of(double, shell)
    try:
        double.send_bytes(frame(b"\0{not JSON") + frame(b"\0"))
        double.send({"type": "enter", "state": "background"})
        assert double.read() == {"type": "stateChanged", "state": "background"}
    finally:
        end(driver)


def test_any_change_of_a_message_is_read_or_refused():
    from aldaba._agent_codec import MalformedMessage
    from aldaba._agent_protocol import AgentProtocol

    messages = [
        step["in"] for path in VECTORS.glob("*.json") for step in json.loads(path.read_text())["steps"]
        if "in" in step and step["in"]["type"] not in ("welcome", "refused")]
    chance, refused = random.Random(7), 0
    for _ in range(4_000):
        text = bytearray(json.dumps(chance.choice(messages)).encode())
        for _ in range(chance.randrange(1, 4)):
            text[chance.randrange(len(text))] = chance.choice(b'0123456789-"{}[],:.aetnull \xff')
        protocol = AgentProtocol("com.example.todo", role=chance.choice([None, "serviceExtension"]))
        protocol.connected()
        protocol.received(frame(b'{"type":"welcome","version":1,"state":"active","authorization":2}'))
        try:
            protocol.received(frame(bytes(text)))
        except MalformedMessage:
            refused += 1
    assert 100 < refused < 4_000


@pytest.mark.parametrize("shell", DRIVERS)
def test_more_than_may_wait_comes_on_the_next_connection_and_each_once(double, shell):
    driver = driver_of(double, shell)
    try:
        for number in range(1, 301):
            double.send(pushed(number))
        double.send({"type": "enter", "state": "active"})
        assert double.read() == {"type": "stateChanged", "state": "active"}, "the client has read them all"
        done = []
        for _ in range(300):
            driver.told.answers.put({"outcome": "notPresented"})
        while (message := double.read()) is not None:
            done.append(message["notification"])
        assert 256 <= len(done) < 300, "those that found no space were not taken"
        double.accept()
        assert double.read()["type"] == "hello"
        double.send({"type": "welcome", "version": 1, "state": "active", "authorization": 2})
        repeated = [each["notification"] for each in iter(double.read, {"type": "ready"}) if each["type"] == "handled"]
        assert set(done) <= set(repeated), "they are not confirmed yet"
        left = set(range(1, 301)) - set(repeated)
        for number in left:
            double.send(pushed(number))
        assert {double.read()["notification"] for _ in left} == left
        handled = [value["notification"]["id"] for name, value in list(driver.told.events.queue) if name == "notification"]
        assert sorted(handled) == list(range(1, 301))
    finally:
        end(driver)


def test_requests_that_wait_are_bounded():
    from aldaba import _agent_calls as calls
    from aldaba._agent_protocol import AgentProtocol
    from aldaba._agent_session import REQUEST_LIMIT

    protocol = AgentProtocol("com.example.todo")
    for _ in range(REQUEST_LIMIT):
        protocol.ask(calls.pending(), concurrent.futures.Future())
    with pytest.raises(api.AgentError, match="1000 requests wait") as refused:
        protocol.ask(calls.pending(), concurrent.futures.Future())
    assert refused.value.code == "tooManyRequests"
    other = AgentProtocol("com.example.todo")
    with pytest.raises(api.AgentError, match="wait for an answer"):
        for number in range(4):
            other.ask(calls.add(api.Request("a", api.Content(body="x" * 900_000))), concurrent.futures.Future())
    with pytest.raises(ValueError, match="at most 1048576"):
        other.ask(calls.add(api.Request("a", api.Content(body="x" * (1 << 20)))), concurrent.futures.Future())


def test_calls_that_wait_for_a_token_fail_when_it_is_ended():
    from aldaba import _agent_calls as calls
    from aldaba._agent_protocol import AgentProtocol

    protocol = AgentProtocol("com.example.todo")
    ended, wanted = concurrent.futures.Future(), concurrent.futures.Future()
    protocol.register(ended)
    protocol.ask(calls.unregister(), concurrent.futures.Future())
    assert ended.exception(0).code == "unregistered"
    number = protocol.register(wanted)
    protocol.connected()
    protocol.received(frame(b'{"type":"welcome","version":1,"state":"active","authorization":2}'))
    protocol.received(frame(json.dumps({"type": "registered", "request": number, "token": "00ff"}).encode()))
    assert wanted.result(0) == "00ff"


@pytest.mark.parametrize("trigger, words", [
    ([], "trigger: an object"), ({"type": []}, "trigger.type: a text"),
    ({"type": "timeInterval"}, "trigger.seconds: missing"), ({"type": "region"}, "trigger.region: an object")])
def test_a_trigger_that_cannot_be_read_is_named(trigger, words):
    from aldaba._agent_codec import MalformedMessage
    from aldaba._agent_triggers import read_trigger

    with pytest.raises(MalformedMessage, match=words):
        read_trigger(trigger, "trigger")


def test_the_pause_before_a_connection_grows_to_five_seconds():
    from aldaba._agent_protocol import AgentProtocol

    protocol = AgentProtocol("com.example.todo")
    pauses = [protocol.disconnected() for _ in range(12)]
    assert 0.05 <= pauses[0] < 0.1 and pauses[-3:] == [5.0] * 3
    assert all(earlier < later or later == 5.0 for earlier, later in zip(pauses, pauses[1:]))
    protocol.connected()
    protocol.received(frame(b'{"type":"welcome","version":1,"state":"active","authorization":2}'))
    assert protocol.disconnected(lasted=2) < 0.1


def test_a_response_counts_as_handled_when_the_loop_goes_on_or_ends(double):
    response = {"type": "respond", "action": "a", "notification": pushed(9)["notification"]}
    with connected(double, api.Agent("com.example.todo", path=double.path)) as agent:
        for number in (1, 2):
            double.send(response | {"response": number})
        for found in agent.responses():
            if found.id == 2:
                break
            assert agent.unconfirmed == []
        assert [double.read()["response"] for _ in range(2)] == [1, 2]
        assert list(agent.responses(timeout=0.01)) == []
        agent.on_response(lambda response: None)
        with pytest.raises(ValueError, match="on_response"):
            agent.responses()


def test_a_handler_may_ask_and_may_close_the_client(double):
    agent = api.Agent("com.example.todo", path=double.path)
    closed = threading.Event()

    @agent.on_token
    def forbidden(token):
        raise AssertionError(token)

    @agent.on_message
    def close(message):
        assert agent.badge() == 4
        agent.close()
        closed.set()

    with connected(double, agent):
        agent.open_channel()
        assert double.read()["command"] == "open"
        double.send({"type": "channel", "event": "message", "notification": pushed(1)["notification"]})
        assert double.read()["command"] == "badge"
        double.send({"type": "centerAnswered", "request": 1, "answer": "badge", "badge": 4})
        assert double.read() == {"type": "channel", "command": "taken", "message": 1}
        assert closed.wait(20) and double.read() is None
        with pytest.raises(api.AgentError, match="closed"):
            agent.badge()


def test_an_asynchronous_handler_may_close_the_client(double):
    async def scene():
        agent, closed = api.AsyncAgent("com.example.todo", path=double.path), asyncio.Event()

        @agent.on_response
        async def close(response):
            await agent.close()
            closed.set()

        welcoming = asyncio.create_task(asyncio.to_thread(double.welcome))
        await agent.connect()
        await welcoming
        double.send({"type": "respond", "response": 4, "action": "a", "notification": pushed(9)["notification"]})
        await asyncio.wait_for(closed.wait(), 20)
        assert await asyncio.to_thread(double.read) == {"type": "responseHandled", "response": 4}
        assert await asyncio.to_thread(double.read) is None
        await agent.close()
        with pytest.raises(api.AgentError, match="closed"):
            await agent.badge()

    asyncio.run(scene())


@pytest.mark.parametrize("shell", DRIVERS)
def test_an_agent_that_does_not_read_is_left_and_memory_stays_bounded(double, shell):
    from aldaba._agent_session import OUTPUT_LIMIT

    driver = driver_of(double, shell)
    try:
        # Each is answered, and the answers fill the socket first, and then the client's space for them.
        state, sent = frame(b'{"type":"enter","state":"active"}') * 1_000, 0
        with contextlib.suppress(OSError):
            while sent < 12 * OUTPUT_LIMIT:
                double.send_bytes(state)
                sent += len(state)
        assert OUTPUT_LIMIT / 2 < sent < 12 * OUTPUT_LIMIT
        double.accept()
        double.welcome()
    finally:
        end(driver)


def test_an_answer_that_does_not_come_is_a_timeout_and_is_not_asked_again(double):
    with connected(double, api.Agent("com.example.todo", path=double.path, timeout=0.05)) as agent:
        with pytest.raises(TimeoutError, match="0.05 s"):
            agent.badge()
        assert double.read()["command"] == "badge"
        assert double.rest() == []
        double.welcome()


@pytest.mark.parametrize("make, error, words", [
    (lambda folder: api.Agent("a", path=str(folder / "none")).connect(), api.AgentError, "No agent listens at .*aldaba agent"),
    (lambda folder: api.Agent("a", path="/x" * 99).connect(), api.AgentError, "too long"),
    (lambda folder: asyncio.run(api.AsyncAgent("a", path=str(folder / "none")).connect()), api.AgentError, "No agent listens"),
    (lambda folder: api.Agent("a", path="/nowhere").badge(), RuntimeError, "not connected"),
    (lambda folder: api.Agent(path="/nowhere"), ValueError, "ALDABA_APP_ID"),
    (lambda folder: api.Agent("a").remove_pending("milk"), TypeError, r"\['milk'\]"),
])
def test_a_wrong_use_is_named(tmp_path, monkeypatch, make, error, words):
    monkeypatch.delenv("ALDABA_APP_ID", raising=False)
    with pytest.raises(error, match=words):
        make(tmp_path)


def test_an_asynchronous_handler_of_a_blocking_client_is_refused():
    async def handler(response):
        pass

    with pytest.raises(TypeError, match="AsyncAgent"):
        api.Agent("a").on_response(handler)


@pytest.mark.parametrize("variables, path", [
    ({"ALDABA_AGENT_SOCKET": "/a/s", "XDG_RUNTIME_DIR": "/run/1"}, "/a/s"),
    ({"XDG_RUNTIME_DIR": "/run/1"}, "/run/1/aldaba/agent.sock"), ({"HOME": "/home/a"}, "/home/a/.local/state/aldaba/agent.sock")])
def test_the_socket_is_where_the_environment_says(variables, path):
    program = "from aldaba.agent import Agent; print(Agent('a')._path)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=variables | {"PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, check=True,
        timeout=30)
    assert done.stdout == f"{path}\n"


@pytest.mark.parametrize("payload, content", [
    ({"aps": {"alert": "Hi", "badge": 3, "sound": "default"}}, api.Content(body="Hi", badge=3, sound=api.Sound())),
    ({"aps": {"alert": {"title": "A", "loc-key": "K", "loc-args": ["x", 2, 1.5, None]}, "category": "c", "thread-id": "t"}},
     api.Content(title="A", body_localization=api.Localization("K", ("x", "2", "1.5", "")), category_identifier="c",
                 thread_identifier="t")),
    ({"aps": {"badge": True, "sound": {"critical": 1, "name": "a.wav", "volume": 7}, "interruption-level": "loud",
              "relevance-score": 2}}, api.Content(sound=api.Sound("a.wav", True, 1.0))),
    ({"aps": {"alert": 7, "badge": -1, "interruption-level": "critical", "relevance-score": 0.5}},
     api.Content(interruption_level=api.InterruptionLevel.CRITICAL, relevance_score=0.5)),
    ({"aps": 7}, api.Content()), ({}, api.Content()),
])
def test_the_content_of_a_push_is_that_of_its_payload(payload, content):
    notification = api.Notification(1, "x", "t", 0, json.dumps(payload))
    assert notification.content == dataclasses.replace(content, user_info=payload)
    assert notification.payload == payload and notification.is_remote and notification.date.year == 1970


def test_a_number_of_a_payload_that_is_not_finite_counts_as_absent():
    payload = '{"aps": {"badge": NaN, "alert": {"loc-key": "K", "loc-args": [NaN, 1e999]}}}'
    content = api.Notification(1, "x", "t", 0, payload).content
    assert (content.badge, content.body_localization) == (None, api.Localization("K", ("", "")))


def test_the_modules_pass_the_strict_check():
    modules = sorted(str(path) for path in (PACKAGE / "aldaba").glob("*agent*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--follow-imports", "silent", "--cache-dir",
         os.devnull, *modules], cwd=PACKAGE, capture_output=True, text=True, timeout=170, check=False)
    assert done.stdout.startswith(f"Success: no issues found in {len(modules)} source files"), done.stdout + done.stderr


def test_handlers_of_a_user_are_checked(tmp_path):
    (tmp_path / "app.py").write_text(
        "from aldaba.agent import Agent, AsyncAgent, Kind, Notification, PresentationOptions, Response\n"
        "agent, other = Agent('a'), AsyncAgent('a')\n"
        "@agent.on_notification\n"
        "def show(notification: Notification, kind: Kind) -> PresentationOptions: return PresentationOptions.LIST\n"
        "@other.on_response\n"
        "async def later(response: Response) -> None: pass\n"
        "@agent.on_response\n"
        "def wrong(response: str) -> None: pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "app.py"], cwd=tmp_path, capture_output=True, text=True,
        timeout=170, check=False, env=os.environ | {"MYPYPATH": str(PACKAGE)})
    told = [line for line in done.stdout.splitlines() if line.startswith("app.py")]
    assert len(told) == 1 and "app.py:7" in told[0] and "arg-type" in told[0], done.stdout


def test_the_programs_of_the_page_pass_the_strict_check(tmp_path):
    (tmp_path / "page.py").write_text("\n".join(blocks("python-app.md", "python")))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--follow-imports", "silent", "page.py"], cwd=tmp_path,
        capture_output=True, text=True, timeout=170, check=False, env=os.environ | {"MYPYPATH": str(PACKAGE)})
    assert done.stdout.startswith("Success"), done.stdout
