"""The page about what apps send: its commands run, and its code reads a stream and judges signatures."""

import hashlib
import hmac
import json

import pytest

from aldaba_process import run_aldaba
from pages import blocks, run_shell
from test_upstream import App


@pytest.fixture(scope="module")
def code():
    names = {}
    for block in blocks("receive-upstream.md", "python"):
        exec(compile(block, "receive-upstream.md", "exec"), names)
    return names


def test_the_commands(path, tmp_path):
    done = run_shell("receive-upstream.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "whsec_" in done.stdout and "https://meters.example/aldaba" in done.stdout
    shown = json.loads(run_aldaba("app", "show", "com.example.meter", "--json", "--data", path["data"]).stdout)
    assert shown["team"] == "METERS0001"


def test_the_stream(path, code):
    App(path).say("page-1", "page-2", "page-3")
    reader = code["messages"](path["http"])
    assert [next(reader)["id"], next(reader)["id"]] == ["page-1", "page-2"]
    reader.close()
    again = code["messages"](path["http"])
    second = next(again)
    assert second["id"] == "page-2", "only what was done is acknowledged"
    again.close()
    assert next(code["messages"](path["http"], done=second["number"]))["id"] == "page-3"


def test_the_signature(code):
    body = b'{"id":"x"}'
    mac = hmac.new(b"whsec_x", b"1000." + body, hashlib.sha256).hexdigest()
    is_genuine = code["is_genuine"]
    assert is_genuine("whsec_x", f"t=1000,v1={mac}", body, now=1100)
    assert not is_genuine("whsec_x", f"t=1000,v1={mac}", body, now=2000)
    assert not is_genuine("whsec_y", f"t=1000,v1={mac}", body, now=1100)
    assert not is_genuine("whsec_x", f"t=1000,v1={mac}", body + b" ", now=1100)
