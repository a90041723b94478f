"""An agent without a server and without a screen: the apps' own notifications, a terminal, and a program that is told."""

import json
import subprocess

import pytest

from aldaba_process import BINARY, clean_environment
from alone_agent import SCRIPT, Alone
from aldaba_notifications import AgentError
from waiting import wait_until


@pytest.fixture
def start(tmp_path):
    started = []

    def begin(*flags):
        started.append(Alone(tmp_path, *flags))
        return started[-1]

    yield begin
    for alone in started:
        alone.stop()


def test_without_a_server_there_are_the_apps_own_notifications(start):
    alone = start()
    assert "none: only the apps' own" in alone.aldaba("agent", "status").stdout
    with alone.app() as app:
        with pytest.raises(AgentError, match="no server"):
            app.register()
        for number in range(3):
            app.add(f"{number}", title="Anna", body=f"Message {number}", threadIdentifier="anna")
        app.add("bob", title="Bob", relevanceScore=0.9)
        wait_until(lambda: len(app.delivered()) == 4, "all are in the list")
        bob, anna = alone.aldaba("notifications", "threads").stdout.splitlines()
        assert "Bob" in bob and "Message 2" in anna and anna.endswith("(2 more)")
        number = anna.split()[0]
        assert "Message 2" in alone.aldaba("notifications", "show", number).stdout
        gone = alone.aldaba("notifications", "show", "-99", check=False)
        assert gone.returncode == 3 and "no notification -99" in gone.stderr


def test_a_program_is_told_where_there_is_no_screen(start, tmp_path):
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ncat >> {tmp_path}/told\n")
    hook.chmod(0o700)
    alone = start("--presenter-hook", hook)
    alone.aldaba("notify", "Tea", "It is ready.")
    told = wait_until(lambda: (tmp_path / "told").exists() and (tmp_path / "told").read_text(), "the program was told")
    message = json.loads(told)
    assert (message["title"], message["body"], message["app"]) == ("Tea", "It is ready.", "aldaba.notify")


@pytest.mark.parametrize("change, word", [
    ({"provesBySecret": False}, "provesBySecret"), ({"lifecicle": "always"}, "lifecycle"),
    ({"backgroundModes": ["fetch"]}, "remote-notification"), ({"team": "x"}, "ten characters"),
])
def test_a_manifest_that_is_wrong_is_refused_with_what_would_be_right(start, change, word):
    alone = start()
    with pytest.raises(AssertionError, match=word):
        alone.app(**change)


def test_what_a_manifest_says_counts_at_once(start):
    alone = start()
    with alone.app() as app:
        app.add("one", title="One")
        with alone.app(authorization="denied"):
            pass
    refused = alone.aldaba("settings", SCRIPT, "allowed=yes", check=False)
    assert refused.returncode == 3 and "policy" in refused.stderr


def test_many_at_once_bring_pictures(start, tmp_path):
    """Files are copied one after the other, for who asks first."""
    alone = start()
    pictures = []
    for number in range(12):
        pictures.append(tmp_path / f"{number}.png")
        with open(pictures[-1], "wb") as picture:
            picture.write(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
            picture.truncate(8 << 20)
    asking = [
        subprocess.Popen(
            [BINARY, "notify", f"t{number}", "--image", picture, "--data", alone.data], env=clean_environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for number, picture in enumerate(pictures)]
    told = [(process.communicate(timeout=60)[0], process.returncode) for process in asking]
    assert [status for _, status in told] == [0] * 12, told
    assert len({identifier.strip() for identifier, _ in told}) == 12, "each says its id"
    shown = json.loads(alone.aldaba("notifications", "list", "--json").stdout)
    assert sorted(item["content"]["title"] for item in shown) == sorted(f"t{number}" for number in range(12))
    assert alone.process.poll() is None


def test_an_app_brings_pictures_one_after_the_other(start, tmp_path):
    alone = start()
    with alone.app() as first:
        for number in range(4):
            picture = tmp_path / f"{number}.png"
            with open(picture, "wb") as file:
                file.write(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
                file.truncate(8 << 20)
            first.send({
                "type": "center", "request": 100 + number, "command": "add", "notification": {
                    "identifier": f"a{number}", "content": {
                        "title": f"a{number}",
                        "attachments": [{"identifier": "i", "path": str(picture), "type": "public.png"}]}}})
        done = [first.wait(lambda message: message["type"] == "centerAnswered", 30) for _ in range(4)]
        assert [(answer["request"], answer["answer"]) for answer in done] == [(100 + n, "done") for n in range(4)]
