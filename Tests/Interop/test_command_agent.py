"""What a terminal learns of a running path: tokens, ids, warnings, progress, and why a notification was refused."""

import json
import os
import pty
import select
import subprocess
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from alone_agent import Alone
from aldaba_process import BINARY, clean_environment, run_aldaba
from waiting import wait_for_lines


def aldaba(path, *words, **options):
    return run_aldaba(*words, "--data", path["data"], **options)


# Apps and their tokens

def test_agent_apps_tells_the_device_tokens(path):
    assert f"{path['topic']}  {path['deviceToken']}  Todo" in aldaba(path, "agent", "apps").stdout
    [app] = [app for app in json.loads(aldaba(path, "agent", "apps", "--json").stdout) if app["id"] == path["topic"]]
    assert app["token"] == path["deviceToken"]


def test_send_finds_an_app_on_this_machine(path):
    told = json.loads(aldaba(path, "send", "--app", path["topic"], "--title", "Found", "--json").stdout)
    assert told["status"] == 200
    wait_for_lines(path["appLog"], lambda lines: told["apnsId"] in lines, "the app was handed it")


@pytest.mark.parametrize(("words", "code", "told"), [
    (("--app", "com.example.nowhere"), 3, "aldaba agent apps"),
    (("--app", "com.example.todo", "--token", "ab"), 2, "give one of them"),
    ((), 2, "--app TOPIC"),
], ids=("unknown", "both", "neither"))
def test_send_names_one_device(path, words, code, told):
    done = aldaba(path, "send", *words, "--title", "x", check=False)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr


# Notifications of the terminal's own

def identifiers(path):
    return {item["notification"]["identifier"] for item in json.loads(aldaba(path, "notifications", "--json").stdout)}


def test_notify_prints_its_id(path):
    plain = aldaba(path, "notify", "Tea", "--id", "tea").stdout
    assert plain == "tea\n"
    made = json.loads(aldaba(path, "notify", "Coffee", "--json").stdout)["id"]
    uuid.UUID(made)
    assert {"tea", made} <= identifiers(path)


def test_all_are_dismissed_of_one_app_or_of_every_one(path):
    for number in range(3):
        aldaba(path, "notify", f"number {number}")
    aldaba(path, "notifications", "dismiss", "--all", "--app", path["topic"])
    assert len(identifiers(path)) >= 3
    aldaba(path, "notifications", "dismiss", "--all")
    assert identifiers(path) == set()
    assert "no notifications" in aldaba(path, "notifications", "dismiss", "--all").stderr
    assert aldaba(path, "notifications", "dismiss", "--all", "3", check=False).returncode == 2
    assert aldaba(path, "notifications", "dismiss", check=False).returncode == 2


@pytest.mark.parametrize(("flags", "told"), [
    (("--position", "none"), "nobody tells where this machine is"),
    (("--position", "file:/nowhere/position"), "where this machine is, is not known"),
], ids=("nobody", "a file that is not there"))
def test_a_place_that_nobody_tells_is_warned_of_at_once(tmp_path, flags, told):
    alone = Alone(tmp_path, "--presenter", "headless", *flags, name="test_command_agent")
    try:
        done = alone.aldaba("notify", "Milk", "--near", "52.52,13.405", "--id", "milk")
        assert "milk" in done.stdout and told in done.stderr
        assert "warning" not in alone.aldaba("notify", "Tea", "--in", "1h").stderr
    finally:
        alone.stop()


# Refusals

@pytest.mark.parametrize(("payload", "told"), [
    ('{aps: {"alert": "x"}}', ("byte 1: expected a key in double quotes", "the key aps without quotes")),
    ('{\u201caps\u201d: {"alert": "x"}}', ("byte 1: expected a key in double quotes", "a typographic quotation mark \u201c")),
    ('{"aps": {"alert": \u201eHallo\u201c}}', ("byte 18: expected a value", "a typographic quotation mark \u201e")),
], ids=("no quotes", "typographic quotes", "German quotes"))
def test_send_repeats_why_a_payload_was_refused(path, tmp_path, payload, told):
    file = tmp_path / "payload.json"
    file.write_text(payload)
    words = ("send", "--app", path["topic"], "--payload", file)
    before = aldaba(path, *words, check=False)
    assert before.returncode == 3 and told[1] in before.stderr and "Nothing was sent" in before.stderr
    refused = aldaba(path, *words, "--as-is", check=False)
    assert refused.returncode == 3
    for part in told:
        assert part in refused.stderr


# Progress

class SlowExport(BaseHTTPRequestHandler):
    """An export that goes on only once the test has seen how far it is."""

    seen = threading.Event()

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * 4096 + b"\n")
        self.wfile.flush()
        self.seen.wait(60)

    def log_message(self, *_):
        pass


def test_what_takes_long_shows_how_far_it_is_on_a_terminal_alone(tmp_path):
    with ThreadingHTTPServer(("127.0.0.1", 0), SlowExport) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (tmp_path / "serve.json").write_text(json.dumps({
            "process": 1, "host": "127.0.0.1", "apnsPort": 1, "devicePort": 1, "controlPort": 1,
            "httpPort": server.server_port, "metricsPort": 1, "environment": "sandbox"}))
        words = [str(BINARY), "export", "events", "--data", str(tmp_path)]
        terminal, inside = pty.openpty()
        process = subprocess.Popen(words, env=clean_environment(), stdout=subprocess.PIPE, stderr=inside)
        os.close(inside)
        shown = b""
        while b"exporting  4 KiB  2 s" not in shown:
            assert select.select([terminal], [], [], 30)[0], shown
            shown += os.read(terminal, 4096)
        SlowExport.seen.set()
        assert process.communicate(timeout=30)[0] == b"x" * 4096 + b"\n"
        assert process.returncode == 0
        while not shown.endswith(b"\x1b[K"):
            shown += os.read(terminal, 4096)
        os.close(terminal)
        quiet = subprocess.run(words, env=clean_environment(), capture_output=True, timeout=30)
        assert (quiet.returncode, quiet.stderr) == (0, b"")
        server.shutdown()


def test_the_demo_app_has_one_log_of_a_name(path, up):
    assert path["appLog"] == str(up.data / "log/handed.log")
    assert [file.name for file in up.data.rglob("app.log")] == ["app.log"]
