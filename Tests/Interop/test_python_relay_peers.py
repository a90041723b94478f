"""Relaying by the package for Python: beside the Swift guide, with asyncio, and when an agent ends."""

import asyncio
import json
import queue
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aldaba_process import clean_environment
from own_agent import OwnAgent
from pages import blocks
from test_python_relay import VALUES, kinds, status
from test_relay import APP, opened, pair  # noqa: F401
from test_relay_guide import APP as GUIDE
from test_relay_guide import install, start
from vector_agent import PACKAGE
from waiting import wait_until

from aldaba import relay as api  # noqa: E402


def test_the_programs_of_the_page_print_what_it_says(pair, tmp_path):  # noqa: F811
    _, first, second = pair
    offers, asks = [text for text in blocks("python-app.md", "python") if '"kettle"' in text]
    said_there, said_here = [text for text in blocks("python-app.md", "text") if "tea:menu" in text or "boils" in text]
    programs = []
    for device, text in [(second, offers), (first, asks)]:
        (tmp_path / f"{device.name}.py").write_text(text)
        (tmp_path / f"{device.name}.secret").write_text(device.install(tmp_path, "com.example.tea"))

    def program(device):
        programs.append(subprocess.Popen(
            [sys.executable, tmp_path / f"{device.name}.py", tmp_path / f"{device.name}.secret"],
            stdout=subprocess.PIPE, text=True,
            env=clean_environment(ALDABA_AGENT_SOCKET=device.socket, PYTHONPATH=str(PACKAGE))))
        return programs[-1]

    try:
        serving = program(second)
        assert serving.stdout.readline() == "serves\n"
        wait_until(lambda: "com.example.tea/kettle" in first.aldaba("devices").stdout, "the other device knows of it")
        listed, *told = program(first).communicate(timeout=60)[0].splitlines()
        listed_there, *expected = said_here.splitlines()
        assert told == expected and serving.stdout.readline() == said_there.splitlines()[1] + "\n"
        # Apps of other tests may be listed, too.
        assert listed.startswith(f"{second.name} online ['aldaba.relay', ") and "'com.example.tea'" in listed
        assert listed_there == "harbour-2 online ['aldaba.relay', 'com.example.tea']"
    finally:
        for each in programs:
            ended(each)


def ended(process):
    process.kill()
    process.wait(10)


def test_a_python_app_asks_the_swift_guide(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(second, tmp_path)
    serving = start(second, "serve")
    try:
        assert serving.stdout.readline() == "published: success\n"
        with api.Relay(GUIDE, secret=first.install(tmp_path, GUIDE), path=first.socket) as relay:
            told = (change.device for change in relay.watch(timeout=20) if change.device)
            device = next(device for device in told if device.app(GUIDE))
            assert device.app(GUIDE) == api.App(
                GUIDE, "Guide", api.Presence.ONLINE, ("guide",), ("guide",), {"Purpose": "guide"})
            relay.launch(device, "guide:hello")
            assert serving.stdout.readline() == "launched: guide:hello\n"
            assert status(relay.launch, device, "guide:refuse") is api.Status.FAILED
            assert serving.stdout.readline() == "launched: guide:refuse\n"
            message = {name: value for name, value in VALUES.items() if name != "far"}
            back = relay.call(device, GUIDE, "guide", message)
            assert back == {**message, "Type": "pong", "Caller": GUIDE}
            assert kinds(back) == kinds(message) | {"Type": str, "Caller": str}
            with relay.open(device, GUIDE, "guide", on_question=lambda question: {"Type": "answer"}) as connection:
                assert connection.send({"Type": "ping", "AskBack": True})["Type"] == "pong"
                assert serving.stdout.readline() == "asked back: success answer\n"
            assert serving.stdout.readline() == "closed: completed\n"
            told = relay.tell(device, GUIDE, "guide", {"Word": "hello"})
            assert serving.stdout.readline() == f"told: hello by {GUIDE} {str(told).upper()}\n"
            gone = queue.Queue()
            connection = relay.open(device, GUIDE, "guide", on_closed=gone.put)
            with ThreadPoolExecutor() as pool:
                holding = pool.submit(status, connection.send, {"Type": "hold"})
                assert serving.stdout.readline() == "holds\n"
                ended(serving)
                assert holding.result(20) is api.Status.OUTCOME_UNKNOWN
            assert gone.get(timeout=20).closed is api.CloseReason.CANCELLED
    finally:
        ended(serving)


def test_the_swift_guide_asks_a_python_app(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    heard = queue.Queue()
    relay = api.Relay(
        GUIDE, secret=second.install(tmp_path, GUIDE), path=second.socket, attributes={"Purpose": "guide"}, workers=4)

    @relay.service("guide")
    def answer(question):
        kind = question.message.get("Type")
        if kind == "hold":
            heard.put("holds")
            assert question.cancelled.wait(20)
            return heard.put("not wanted any more")
        if kind is None:
            return question.message
        if question.message.get("AskBack"):
            heard.put(relay.connections[question.connection].send({"Type": "question"})["Type"])
        return question.message | {"Type": "pong", "Caller": question.caller}

    @relay.opens("guide")
    def launched(launch):
        heard.put(launch.uri)
        return not launch.uri.endswith("refuse")

    @relay.on_connection
    def connected(connection):
        connection.on_closed(lambda each: heard.put(each.closed.value))

    with relay:
        told, _ = start(first, "call").communicate(timeout=60)
        assert [line for line in told.splitlines() if line != "enumerated"] == [
            "found: Relay available guide", 'registered: ["registered"], the push is the library\'s: false',
            "launch guide:hello: success", "launch guide:refuse: failure",
            "launch https://example.org/guide: protocolUnavailable",
            "launch tel:1: protocolUnavailable", "launch file:///etc/passwd: deniedByLocalSystem", "open: success",
            "open again: openedBefore", "ping: success pong true com.example.relay-guide",
            "mixed: failure numbers[1] is of the kind string in an array that begins with integer; "
            "an array has values of one kind",
            "large: messageSizeTooLarge", "stateless: success pong", "absent: appServiceUnavailable",
            "after close: connectionClosed"]
        assert [heard.get(timeout=20) for _ in range(4)] == ["guide:hello", "guide:refuse", "answer", "completed"]
        assert start(first, "values").communicate(timeout=60)[0].splitlines()[-1] == "values: success, others: []"
        holding = start(first, "hold", stdin=subprocess.PIPE)
        try:
            assert heard.get(timeout=60) == "holds"
            told, _ = holding.communicate("cancel\n", timeout=60)
            assert told.splitlines()[-1] == "hold: canceled, canceled"
            assert heard.get(timeout=20) == "not wanted any more"
        finally:
            ended(holding)


def test_asyncio_serves_and_asks(pair, tmp_path):  # noqa: F811
    _, first, second = pair
    secrets = [device.install(tmp_path) for device in (first, second)]

    async def scene():
        service = api.AsyncRelay(APP, secret=secrets[1], path=second.socket)
        held, cancelled, all_there, arrived = asyncio.Event(), asyncio.Event(), asyncio.Event(), []

        @service.service("together")
        async def together(question):
            # Nobody is answered before all have asked.
            arrived.append(question.message["n"])
            if len(arrived) == 50:
                all_there.set()
            await all_there.wait()
            return question.message

        @service.service("plain")
        def plain(question):
            return question.message

        @service.service("hold")
        async def hold(question):
            held.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        @service.service("broken")
        async def broken(question):
            raise api.ServiceFailure("it is broken")

        @service.opens("relaytest")
        async def launched(launch):
            return launch.uri == "relaytest:yes"

        async with service, api.AsyncRelay(APP, secret=secrets[0], path=first.socket) as relay:
            async for change in relay.watch(timeout=20):
                if change.device and change.device.app(APP) and "together" in change.device.app(APP).services:
                    device = change.device
                    break
            assert [each.id for each in await relay.devices()] == [device.id] == [(await relay.find(device.id)).id]
            answers = await asyncio.gather(*(relay.call(device, APP, "together", {"n": n}) for n in range(50)))
            assert answers == [{"n": n} for n in range(50)] and arrived == list(range(50))
            assert await relay.call(device, APP, "plain", VALUES) == VALUES
            with pytest.raises(api.RelayError, match="it is broken") as failed:
                await relay.call(device, APP, "broken", {})
            assert failed.value.status is api.Status.FAILED
            await relay.launch(device, "relaytest:yes", app=APP)
            with pytest.raises(api.RelayError):
                await relay.launch(device, "relaytest:no", app=APP)
            holding = asyncio.create_task(relay.call(device, APP, "hold", {}))
            await asyncio.wait_for(held.wait(), 20)
            holding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await holding
            await asyncio.wait_for(cancelled.wait(), 20)
            gone = asyncio.Event()

            @service.on_connection
            async def connected(connection):
                connection.on_closed(lambda _: gone.set())
                assert await connection.send({"n": 1}) == {"n": 2}

            async def add(question):
                return {"n": question.message["n"] + 1}

            async with await relay.open(device, APP, "plain", on_question=add) as connection:
                assert await connection.send({"n": 5}) == {"n": 5}
            await asyncio.wait_for(gone.wait(), 20)
            with pytest.raises(api.RelayError) as late:
                await connection.send({})
            assert late.value.status is api.Status.CONNECTION_CLOSED

    asyncio.run(asyncio.wait_for(scene(), 120))


def test_the_end_of_an_agent_is_told_and_the_app_is_there_again_with_the_next_one(pair, tmp_path):  # noqa: F811
    up, first, _ = pair
    other = OwnAgent(up, "test_python_relay_peers")
    secret = other.install(id=APP, name="Relay", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
    try:
        other.start()
        other.aldaba("relay", "account", "join", first.aldaba("account", "show").stdout.strip())
        service, asked = api.Relay(APP, secret=secret, path=other.socket), queue.Queue()

        @service.service("hold")
        def hold(question):
            asked.put(question)
            question.cancelled.wait(20)

        service.service("echo")(lambda question: question.message)
        with service, api.Relay(APP, secret=first.install(tmp_path), path=first.socket) as relay:
            id = json.loads(other.aldaba("relay", "status", "--json").stdout)["device"]
            wait_until(lambda: (there := found(relay, id)) and there.app(APP), "the app is told")
            gone = queue.Queue()
            connection = service.open(first.id, "aldaba.relay", "ping", on_closed=gone.put)
            documents, changed = service.documents.changes(timeout=60), queue.Queue()
            threading.Thread(target=lambda: [changed.put(change) for change in documents], daemon=True).start()
            wait_until(lambda: service.documents.put("a", {"n": 1}) and not changed.empty(), "changes are told")
            watching = service.watch(timeout=20)
            assert next(watching).kind is api.ChangeKind.ADDED
            with ThreadPoolExecutor() as pool:
                calling = pool.submit(status, relay.call, id, APP, "hold", {}, timeout=60)
                question = asked.get(timeout=20)
                other.stop_process()
                assert calling.result(30) is api.Status.OUTCOME_UNKNOWN
            assert question.cancelled.wait(20) and gone.get(timeout=20) is connection
            assert connection.closed is api.CloseReason.UNKNOWN
            assert next(change for change in watching if change.kind is api.ChangeKind.FAILED).reason
            wait_until(lambda: not service.is_connected, "there is no agent")
            assert status(service.call, first.id, "aldaba.relay", "ping", {}) is api.Status.NETWORK_UNAVAILABLE
            other.start()
            wait_until(lambda: service.is_connected, "the app is there again")
            wait_until(lambda: (there := found(relay, id)) and there.presence is api.Presence.ONLINE, "it is online")
            assert relay.call(id, APP, "echo", {"n": 2}) == {"n": 2}, "its service was published again"
            watching.close()
            told = iter(lambda: changed.get(timeout=30), None)
            assert next(change for change in told if change.missed) == api.DocumentChange(missed=True)
            relay.documents.put("b", {"n": 2})
            assert next(change.content for change in told if change.name == "b") == {"n": 2}
    finally:
        other.stop()


def test_documents_are_shared_with_a_swift_app(pair, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)

    async def scene():
        async with api.AsyncRelay(GUIDE, secret=second.install(tmp_path, GUIDE), path=second.socket) as relay:
            documents = relay.documents
            revision = await documents.put("place", {"page": 6})
            reading = start(first, "documents", stdin=subprocess.PIPE)
            try:
                def line():
                    return asyncio.to_thread(reading.stdout.readline)

                assert await line() == f'there: ["place {revision}"]\n'
                changes = documents.changes(timeout=20)
                coming = asyncio.create_task(anext(changes))
                while not coming.done():
                    revision = await documents.put("place", {"page": 6})
                    assert await line() == f"put: place {revision} 6\n"
                    await asyncio.wait([coming], timeout=0.2)
                reading.stdin.write("place\n")
                reading.stdin.flush()
                assert {await line() for _ in range(3)} >= {f"kept: {revision + 1}\n", f"put: place {revision + 1} 7\n"}
                async for change in changes:
                    if change.revision == revision + 1:
                        assert change == api.DocumentChange("place", revision + 1, {"page": 7})
                        break
                await changes.aclose()
                assert await documents.get("place") == api.Document("place", revision + 1, {"page": 7})
                assert [each.name for each in await documents.list()] == ["place"]
                assert await documents.remove("place", revision=revision + 1) == revision + 2
                assert await line() == f"removed: place {revision + 2}\n"
            finally:
                ended(reading)

    asyncio.run(asyncio.wait_for(scene(), 120))


def found(relay, id):
    return next((device for device in relay.devices() if device.id == id), None)
