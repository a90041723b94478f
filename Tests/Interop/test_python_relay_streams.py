"""Streams of bytes by the package for Python: between two of its apps, and with the Swift guide."""

import asyncio
import hashlib
import queue
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from aldaba_process import clean_environment
from test_relay import APP, opened, pair  # noqa: F401
from test_relay_guide import APP as GUIDE
from test_relay_guide import install, start
from vector_agent import PACKAGE
from waiting import wait_until

from aldaba import _relay_streams as streams  # noqa: E402
from aldaba import relay as api  # noqa: E402

FILM = random.Random(7).randbytes((8 << 20) + 1)
DIGEST = hashlib.sha256(FILM).hexdigest()
GIVER = """
import sys
from aldaba.relay import Relay
with Relay(sys.argv[1], secret=open(sys.argv[2]).read()) as relay:
    with relay.streams.open(sys.argv[3], sys.argv[1], "held", 64 << 20, name="killed") as stream:
        while True:
            stream.write(bytes(1 << 16))
            print(stream.given, flush=True)
"""


class World:
    """An app on two devices: it takes streams on the second one, and gives them on the first one."""

    def __init__(self, pair, folder):
        _, self.first, self.second = pair
        self.secrets = [device.install(folder) for device in (self.first, self.second)]
        self.came, self.may_go_on, self.ended = queue.Queue(), queue.Queue(), queue.Queue()
        self.taker = api.Relay(APP, secret=self.secrets[1], path=self.second.socket)

        @self.taker.receives("films")
        def take(stream):
            self.came.put(stream)
            digest, count = hashlib.sha256(), 0
            for piece in stream:
                digest.update(piece)
                count += len(piece)
            self.ended.put((stream.name, count, digest.hexdigest()))

        @self.taker.receives("held")
        def hold(stream):
            self.came.put(stream)
            pieces = iter(stream)
            try:
                next(pieces)
                self.may_go_on.get(timeout=60)
                self.ended.put(sum(len(each) for each in pieces))
            except api.StreamError as error:
                self.ended.put(error)
                raise

        @self.taker.receives("refusing")
        def refuse(stream):
            stream.refuse("the disk is full")

        @self.taker.receives("leaving")
        def leave(stream):
            next(iter(stream))

        @self.taker.receives("failing")
        def fail(stream):
            raise api.ServiceFailure("the disk is on fire")

        self.taker.service("questions")(lambda question: question.message)


@pytest.fixture(scope="module")
def world(pair, tmp_path_factory):  # noqa: F811
    made = World(pair, tmp_path_factory.mktemp("streams"))
    with made.taker, api.Relay(APP, secret=made.secrets[0], path=made.first.socket) as made.giver:
        with closing(made.giver.watch(timeout=20)) as changes:
            made.device = next(change.device for change in changes if change.device and change.device.app(APP))
        yield made


def refusal(world, service, data=b"abc"):
    with pytest.raises(api.RelayError) as failed:
        world.giver.streams.send(world.device, APP, service, data)
    return failed.value.status, failed.value.detail


def test_a_film_arrives_whole_with_its_digest(world, tmp_path):
    (tmp_path / "film").write_bytes(FILM)
    for source in (FILM, tmp_path / "film"):
        world.giver.streams.send(world.device, APP, "films", source, name="film.mp4")
        stream = world.came.get(timeout=20)
        assert (stream.device, stream.service, stream.size) == (world.first.id, "films", len(FILM))
        assert world.ended.get(timeout=20) == ("film.mp4", len(FILM), DIGEST)
        with pytest.raises(api.StreamError) as again:
            next(iter(stream))
        assert again.value.reason is api.StreamEnd.ENDED_BEFORE


def test_bytes_are_written_as_the_receiver_asks_and_an_empty_stream_arrives(world):
    with world.giver.streams.open(world.device, APP, "films", len(FILM), name="written") as stream:
        for place in range(0, len(FILM), 1 << 20):
            stream.write(FILM[place:place + (1 << 20)])
        with pytest.raises(ValueError, match="would be written"):
            stream.write(b"more")
    assert world.ended.get(timeout=20) == ("written", len(FILM), DIGEST)
    for give in (lambda: world.giver.streams.send(world.device, APP, "films", b""),
                 lambda: world.giver.streams.open(world.device, APP, "films", 0).finish()):
        give()
        assert world.ended.get(timeout=20) == ("", 0, hashlib.sha256().hexdigest())
    while not world.came.empty():
        world.came.get()


def test_two_streams_go_at_once_and_a_call_beside_them(world):
    held = world.giver.streams.open(world.device, APP, "held", len(FILM))
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(held.write, FILM)
        stream = world.came.get(timeout=20)
        world.giver.streams.send(world.device, APP, "films", FILM, name="beside")
        assert world.ended.get(timeout=20) == ("beside", len(FILM), DIGEST)
        assert world.giver.call(world.device, APP, "questions", {"n": 1}) == {"n": 1}
        # Its receiver has read one piece: no more waits there than it may ask ahead, and the sender waits.
        assert not writing.done() and held.given <= streams.WINDOW + streams.PIECE
        assert sum(map(len, stream._waiting)) <= streams.WINDOW
        world.may_go_on.put(True)
        writing.result(60)
        held.finish()
    assert world.ended.get(timeout=20) == len(FILM) - streams.PIECE
    while not world.came.empty():
        world.came.get()


def test_a_receiver_that_refuses_leaves_or_fails_is_told_to_the_sender(world):
    assert refusal(world, "refusing") == (api.Status.DENIED, "the disk is full")
    assert refusal(world, "leaving", FILM) == (api.Status.FAILED, "the app did not keep the stream")
    assert refusal(world, "failing") == (api.Status.FAILED, "the disk is on fire")
    assert refusal(world, "questions") == (api.Status.DENIED, "the app takes no streams here")
    assert refusal(world, "absent")[0] is api.Status.SERVICE_UNAVAILABLE


def test_a_sender_that_cancels_or_is_killed_is_an_error_at_the_receiver(world, tmp_path):
    with pytest.raises(LookupError):
        with world.giver.streams.open(world.device, APP, "held", len(FILM)) as stream:
            stream.write(FILM[:streams.PIECE])
            world.came.get(timeout=20)
            raise LookupError
    world.may_go_on.put(True)
    assert world.ended.get(timeout=20).reason is api.StreamEnd.LOST
    with pytest.raises(api.RelayError) as late:
        stream.write(b"more")
    assert late.value.status is api.Status.CANCELLED
    # A process relays once for an app, and an agent takes the clients of several.
    secret = tmp_path / "secret"
    secret.write_text(world.secrets[0])
    giving = subprocess.Popen(
        [sys.executable, "-c", GIVER, APP, secret, world.device.id], stdout=subprocess.PIPE, text=True,
        env=clean_environment(ALDABA_AGENT_SOCKET=world.first.socket, PYTHONPATH=str(PACKAGE)))
    try:
        assert world.came.get(timeout=20).name == "killed"
        while int(giving.stdout.readline()) < streams.WINDOW:
            pass
    finally:
        giving.kill()
        giving.wait(10)
    world.may_go_on.put(True)
    assert world.ended.get(timeout=20).reason is api.StreamEnd.LOST


def test_a_stream_ends_with_its_deadline_and_with_the_client(world, tmp_path):
    stream = world.giver.streams.open(world.device, APP, "held", len(FILM), timeout=2)
    with pytest.raises(api.RelayError) as late:
        stream.write(FILM)
    assert late.value.status is api.Status.OUTCOME_UNKNOWN
    world.came.get(timeout=20)
    world.may_go_on.put(True)
    assert world.ended.get(timeout=20).reason is api.StreamEnd.LOST
    other = "com.example.relay.ending"
    with api.Relay(other, secret=world.first.install(tmp_path, other), path=world.first.socket) as relay:
        stream = relay.streams.open(world.device, APP, "held", len(FILM))
        with ThreadPoolExecutor() as pool:
            writing = pool.submit(stream.write, FILM)
            world.came.get(timeout=20)
            relay.close()
            with pytest.raises(api.RelayError) as closed:
                writing.result(20)
    assert closed.value.status is api.Status.CANCELLED
    world.may_go_on.put(True)
    assert world.ended.get(timeout=20).reason is api.StreamEnd.LOST


def test_a_wrong_digest_is_an_error_at_both_ends(world):
    stream = world.giver.streams.open(world.device, APP, "held", len(FILM))
    with ThreadPoolExecutor() as pool:
        stream._digest.update(b"something else")
        writing = pool.submit(stream.write, FILM)
        world.came.get(timeout=20)
        world.may_go_on.put(True)
        writing.result(60)
        with pytest.raises(api.RelayError, match="what came is not what was sent") as failed:
            stream.finish()
    assert failed.value.status is api.Status.FAILED
    assert world.ended.get(timeout=20).reason is api.StreamEnd.DIGEST_MISMATCH


def test_a_python_app_sends_to_the_swift_guide_and_goes_on_where_it_was(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(second, tmp_path)
    taken = tmp_path / "taken.mp4"
    taking = start(second, "take", taken)

    def hears(line):
        assert taking.stdout.readline().strip() == line

    try:
        hears("published: success")
        with api.Relay(GUIDE, secret=first.install(tmp_path, GUIDE), path=first.socket) as relay:
            def send(data=FILM):
                relay.streams.send(second.id, GUIDE, "streams", data, name="film.mp4")

            def write():
                with relay.streams.open(second.id, GUIDE, "streams", len(FILM), name="film.mp4") as stream:
                    stream.write(FILM)

            wait_until(lambda: relay.find(second.id).app(GUIDE), "the app is told")
            for had, beginning, give in [
                    (None, 0, send), (FILM[:5_000_000], 5_000_000, send), (bytes(5_000_000), 0, send),
                    (bytes(len(FILM)), 0, send), (FILM, None, send), (FILM[:5_000_000], 0, write),
                    (FILM, None, write)]:
                if had is not None:
                    taken.write_bytes(had)
                give()
                if beginning is not None:
                    hears(f"from {beginning}")
                hears(f"taken: film.mp4 {len(FILM)}")
                assert taken.read_bytes() == FILM
            # What is written once cannot be written again from the beginning.
            taken.write_bytes(bytes(len(FILM)))
            with pytest.raises(api.RelayError, match="other bytes of this size"):
                write()
            hears("not taken: lost")
    finally:
        taking.kill()
        taking.wait(10)


def test_the_swift_guide_sends_to_a_python_app(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    film, came = tmp_path / "film.mp4", queue.Queue()
    film.write_bytes(FILM)
    relay = api.Relay(
        GUIDE, secret=second.install(tmp_path, GUIDE), path=second.socket, attributes={"Purpose": "guide"})

    @relay.receives("streams")
    def take(stream):
        came.put((stream.name, hashlib.sha256(b"".join(stream)).hexdigest()))

    # The guide looks for its service of questions first.
    relay.service("guide")(lambda question: {})
    with relay:
        told, _ = start(first, "give", film).communicate(timeout=60)
        assert told.splitlines()[-1] == "given: success"
        assert came.get(timeout=20) == ("film.mp4", DIGEST)


def test_asyncio_gives_and_takes(pair, tmp_path):  # noqa: F811
    _, first, second = pair
    other = "com.example.relay.async"
    secrets = [device.install(tmp_path, other) for device in (first, second)]

    async def scene():
        taker = api.AsyncRelay(other, secret=secrets[1], path=second.socket)
        ended, reading = asyncio.Queue(), asyncio.Event()

        @taker.receives("films")
        async def take(stream):
            digest = hashlib.sha256()
            try:
                async for piece in stream:
                    reading.set()
                    digest.update(piece)
                ended.put_nowait(digest.hexdigest())
            except api.StreamError as error:
                ended.put_nowait(error.reason)

        @taker.receives("refusing")
        async def refuse(stream):
            await stream.refuse("not now")

        async with taker, api.AsyncRelay(other, secret=secrets[0], path=first.socket) as giver:
            async for change in giver.watch(timeout=20):
                if change.device and change.device.app(other):
                    device = change.device
                    break

            async def write():
                async with await giver.streams.open(device, other, "films", len(FILM)) as stream:
                    await stream.write(FILM)

            await asyncio.gather(giver.streams.send(device, other, "films", FILM), write())
            assert [await ended.get(), await ended.get()] == [DIGEST, DIGEST]
            with pytest.raises(api.RelayError, match="not now") as refused:
                await giver.streams.send(device, other, "refusing", FILM)
            assert refused.value.status is api.Status.DENIED
            await giver.streams.send(device, other, "films", b"")
            assert await ended.get() == hashlib.sha256().hexdigest()
            reading.clear()
            stream = await giver.streams.open(device, other, "films", len(FILM))
            await stream.write(FILM[:1000])
            await asyncio.wait_for(reading.wait(), 20)
            await stream.cancel()
            assert await asyncio.wait_for(ended.get(), 20) is api.StreamEnd.LOST

    asyncio.run(asyncio.wait_for(scene(), 120))
