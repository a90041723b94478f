"""Rome's guide, step by step: `Examples/RelayGuide` serves on one device and calls from another."""

import json
import subprocess

from aldaba_process import BINARY, clean_environment, run_aldaba
from test_relay import Device, opened, pair  # noqa: F401

GUIDE = BINARY.parent / "RelayGuide"
APP = "com.example.relay-guide"


def install(device, folder):
    manifest = folder / "guide.json"
    manifest.write_text(json.dumps({"id": APP, "name": "Guide", "team": "ALDABADEMO", "executable": str(GUIDE.resolve())}))
    run_aldaba("agent", "app", "install", manifest, "--data", device.data)


def start(device, *words):
    return subprocess.Popen(
        [GUIDE, *words], stdout=subprocess.PIPE, text=True,
        env=clean_environment(ALDABA_APP_ID=APP, ALDABA_AGENT_SOCKET=device.socket))


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
            "launch guide:hello: success",
            "launch guide:refuse: unknown",
            "launch https://example.org/guide: appUnavailable",
            "launch file:///etc/passwd: deniedByRemoteSystem",
            "open: success",
            "open again: openedBefore",
            "ping: success pong true",
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
