"""Rome's guide, step by step: `Examples/RelayGuide` serves on one device and calls from another."""

import json
import random
import subprocess
import threading
import uuid
from datetime import datetime, timezone

from aldaba_process import BINARY, clean_environment, run_aldaba
from test_relay import Device, Relay, opened, pair  # noqa: F401
from waiting import wait_until

GUIDE = BINARY.parent / "RelayGuide"
APP = "com.example.relay-guide"


def install(device, folder):
    manifest = folder / "guide.json"
    manifest.write_text(json.dumps({"id": APP, "name": "Guide", "team": "ALDABADEMO", "executable": str(GUIDE.resolve())}))
    run_aldaba("agent", "app", "install", manifest, "--data", device.data)


def start(device, *words, **options):
    return subprocess.Popen(
        [GUIDE, *words], stdout=subprocess.PIPE, text=True, **options,
        env=clean_environment(ALDABA_APP_ID=APP, ALDABA_AGENT_SOCKET=device.socket))


def test_a_stream_goes_from_app_to_app_and_on_where_it_was(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    install(second, tmp_path)
    film, taken = tmp_path / "film.mp4", tmp_path / "taken.mp4"
    film.write_bytes(random.Random(5).randbytes(7_000_001))
    taking = start(second, "take", taken)

    def give():
        giving = start(first, "give", film)
        told, _ = giving.communicate(timeout=120)
        return told.splitlines()[-1]

    def hears(line):
        heard = taking.stdout.readline().strip()
        assert heard == line

    try:
        hears("published: success")
        assert give() == "given: success"
        hears("from 0")
        hears(f"taken: film.mp4 {film.stat().st_size}")
        assert taken.read_bytes() == film.read_bytes()
        # What is there already does not come again.
        with open(taken, "r+b") as part:
            part.truncate(5_000_000)
        assert give() == "given: success"
        hears("from 5000000")
        hears(f"taken: film.mp4 {film.stat().st_size}")
        assert taken.read_bytes() == film.read_bytes()
        # What is there of something else does, also where there is as much of it.
        for size in (3_000_000, film.stat().st_size):
            taken.write_bytes(bytes(size))
            assert give() == "given: success"
            hears("from 0")
            hears(f"taken: film.mp4 {film.stat().st_size}")
            assert taken.read_bytes() == film.read_bytes()
        # Where all of it is there nothing comes.
        assert give() == "given: success"
        hears(f"taken: film.mp4 {film.stat().st_size}")
        # The giver ends in the middle, and goes on when it is there again.
        film.write_bytes(random.Random(6).randbytes(24_000_000))
        taken.unlink()
        giving = start(first, "give", film)
        hears("from 0")
        wait_until(lambda: taken.stat().st_size > 4 << 20, "a part is there", 60)
        giving.kill()
        giving.wait(10)
        hears("not taken: lost")
        had = taken.stat().st_size
        assert 0 < had < film.stat().st_size
        assert give() == "given: success"
        hears(f"from {had}")
        hears(f"taken: film.mp4 {film.stat().st_size}")
        assert taken.read_bytes() == film.read_bytes()
    finally:
        taking.kill()
        taking.wait(10)


def test_every_step_of_the_guide(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    install(second, tmp_path)
    serving = start(second, "serve")
    try:
        assert serving.stdout.readline() == "published: success\n"
        calling = start(first, "call")
        told, _ = calling.communicate(timeout=60)
        lines = [line for line in told.splitlines() if line != "enumerated"]
        assert lines == [
            "found: Guide available guide",
            'registered: ["registered"], the push is the library\'s: false',
            "launch guide:hello: success",
            "launch guide:refuse: failure",
            "launch https://example.org/guide: protocolUnavailable",
            "launch tel:1: protocolUnavailable",
            "launch file:///etc/passwd: deniedByLocalSystem",
            "open: success",
            "open again: openedBefore",
            "ping: success pong true com.example.relay-guide",
            "mixed: failure numbers[1] is of the kind string in an array that begins with integer; an array has values of "
            "one kind",
            "large: messageSizeTooLarge",
            "stateless: success pong",
            "absent: appServiceUnavailable",
            "after close: connectionClosed",
        ]
        heard = {serving.stdout.readline().strip() for _ in range(4)}
        assert heard == {
            "launched: guide:hello", "launched: guide:refuse", "asked back: success answer", "closed: completed"}
    finally:
        serving.kill()
        serving.wait(10)


def test_the_guides_code_runs_in_its_own_forms(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    install(second, tmp_path)
    serving = start(second, "serve")
    try:
        assert serving.stdout.readline() == "published: success\n"
        told, _ = start(first, "printed").communicate(timeout=60)
        assert told.splitlines() == [
            "launch guide:hello: success",
            # The device has a program for mail, which its owner has not allowed, and none for telephone numbers.
            "launch mailto:a@example.org: deniedByRemoteSystem",
            "launch tel:1: protocolUnavailable",
            "open: success",
            "open: openedBefore",
            "ping: true success pong",
            "close: true success pong",
            "disconnected (0)",
        ]
    finally:
        serving.kill()
        serving.communicate()


def test_a_device_of_ones_own_is_found_by_its_id(pair, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    for id, expected in [(second.id, True), (first.id, False), ("1", False)]:
        told, _ = start(first, "find", id).communicate(timeout=60)
        assert ("aldaba.relay/ping" in told) == expected, told


def test_two_processes_of_an_app_watch_each_for_itself(pair, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    watching = []
    try:
        for _ in range(2):
            watching.append(start(first, "watch"))
            heard = [watching[-1].stdout.readline() for _ in range(2)]
            assert heard == [f"added: {second.name}\n", "enumerated\n"]
        with Relay(APP, second.install(tmp_path, APP), second.socket) as service:
            service.publish({"guide": "sameUser"})
            for process in watching:
                line = process.stdout.readline()
                assert line.startswith("updated: ") and APP in line
    finally:
        for process in watching:
            process.kill()
            process.communicate()


def test_swifts_values_become_pythons_and_come_back(pair, opened, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    heard = []
    with Relay(APP, second.install(tmp_path, APP), second.socket) as service:
        service.publish({"guide": "sameUser"})
        serving = threading.Thread(target=service.serve, args=(lambda question: heard.append(question) or question.message, 1))
        serving.start()
        told, _ = start(first, "values").communicate(timeout=60)
        serving.join(10)
    assert told.splitlines()[-1] == "values: success, others: []"
    message = heard[0].message
    date, drawn = message.pop("date"), message.pop("id")
    assert date == datetime.fromtimestamp(1_790_000_000.125, timezone.utc) and isinstance(drawn, uuid.UUID)
    expected = {
        "text": "añ\0😀", "large": (1 << 53) + 1, "least": -(1 << 63), "whole": 1.0, "third": 1 / 3, "yes": True, "no": False,
        "data": bytes([0, 1, 255]), "numbers": [1, 2, 3], "words": ["a", "b"], "nested": {"deep": {"list": [1.5, 2.0]}},
    }
    assert message == expected
    assert {name: type(value) for name, value in message.items()} == {name: type(value) for name, value in expected.items()}
    assert heard[0].caller == APP


def test_a_message_without_an_answer_goes_from_app_to_app(pair, tmp_path):  # noqa: F811
    _, first, second = pair
    install(first, tmp_path)
    install(second, tmp_path)
    serving = start(second, "serve")
    try:
        assert serving.stdout.readline() == "published: success\n"
        told = subprocess.run(
            [GUIDE, "tell"], stdout=subprocess.PIPE, text=True, timeout=60,
            env=clean_environment(ALDABA_APP_ID=APP, ALDABA_AGENT_SOCKET=first.socket)).stdout.splitlines()
        assert told[-1] == "life: completed"
        assert told[-2].startswith("told: success ")
        assert serving.stdout.readline() == f"told: hello by {APP} {told[-2].split()[-1]}\n"
    finally:
        serving.kill()
        serving.communicate()
