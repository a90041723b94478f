"""Documents that the devices of one person share: kept while all are away, by revisions, for one app each, and sealed from the server."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from aldaba_process import BINARY, REPOSITORY, AldabaUp, clean_environment
from own_agent import OwnAgent
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import Relay, RelayError  # noqa: E402

APP = "com.example.notes"


@pytest.fixture(scope="module")
def up():
    running = AldabaUp.ephemeral("--no-app", name="test_relay_documents")
    yield running
    assert running.stop() == 0


class Device(OwnAgent):
    def __init__(self, up, name, account):
        super().__init__(up, f"test_relay_documents_{name}", clean_environment())
        self.name = name
        self.secret = self.install(
            id=APP, name="Notes", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
        (self.data / "relay.json").write_text(
            json.dumps({"name": name, "kind": "desktop", "schemes": [], "grants": [], "account": account}))

    def document(self, *arguments, **options):
        return self.aldaba("relay", "document", *arguments, **options)

    def put(self, name, content, *arguments):
        done = self.document("put", name, "--message", json.dumps(content), "--json", *arguments)
        return json.loads(done.stdout)["revision"]

    def get(self, name):
        return json.loads(self.document("get", name, "--json").stdout)

    def names(self):
        return [json.loads(line)["name"] for line in self.document("list", "--json").stdout.splitlines()]

    def app(self):
        return Relay(APP, self.secret, self.socket)

    def joined(self):
        return json.loads(self.aldaba("relay", "status", "--json").stdout)["isConnected"]

    def others(self):
        done = self.aldaba("relay", "devices", "--json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else []


@pytest.fixture
def pair(up):
    account = f"aldaba-account-{os.urandom(32).hex()}"
    made = [Device(up, name, account) for name in ("desk", "lamp")]
    try:
        for device in made:
            device.start()
        for device in made:
            wait_until(lambda: [d["presence"] for d in device.others()] == ["online"], f"{device.name} sees the other")
        yield made
    finally:
        for device in made:
            device.stop()


def kill_server(up):
    old = up.pids()["serve"]
    os.kill(old, signal.SIGKILL)
    up.wait_for_new_pid("serve", old)


def refused(done, code, words):
    assert done.returncode == code, (done.returncode, done.stderr)
    assert words in done.stderr


def test_what_one_device_puts_the_other_reads_also_after_a_sudden_end_of_the_server(up, pair):
    desk, lamp = pair
    assert desk.put("place", {"page": 7, "where": {"chapter": "two"}}) == 1
    kill_server(up)
    for device in pair:
        wait_until(device.joined, f"{device.name} is back", 30)
    assert lamp.get("place") == {"name": "place", "revision": 1, "content": {"page": 7, "where": {"chapter": "two"}}}
    assert lamp.names() == ["place"]
    desk.stop_process()
    assert lamp.put("place", {"page": 8}) == 2
    desk.start()
    wait_until(desk.joined, "the desk is back", 30)
    assert desk.get("place")["content"] == {"page": 8}


def test_revisions_rise_over_removal_and_another_one_is_refused(pair):
    desk, lamp = pair
    assert desk.put("read", {"n": 1}, "--revision", "0") == 1
    refused(lamp.document("put", "read", "n=2", "--revision", "0", check=False), 1, "the present revision is 1")
    refused(lamp.document("put", "read", "n=2", "--revision", "5", check=False), 1, "the present revision is 1")
    assert lamp.put("read", {"n": 2}, "--revision", "1") == 2
    refused(desk.document("remove", "read", "--revision", "1", check=False), 1, "the present revision is 2")
    assert json.loads(desk.document("remove", "read", "--json").stdout)["revision"] == 3
    refused(lamp.document("get", "read", check=False), 1, "no document of this name")
    refused(lamp.document("remove", "read", check=False), 1, "no document of this name")
    assert lamp.names() == []
    assert lamp.put("read", {"n": 4}, "--revision", "0") == 4
    assert desk.put("read", {"n": 5}) == 5


def test_what_is_too_large_or_has_no_name_is_refused_with_the_limit(pair):
    desk, _ = pair
    refused(desk.document("put", "large", f"text={'x' * 8192}", check=False), 3, "at most 8192")
    refused(desk.document("put", "n" * 129, "a=b", check=False), 3, "1 to 128 bytes")
    refused(desk.document("put", "", "a=b", check=False), 3, "1 to 128 bytes")
    assert desk.put("n" * 128, {"text": "x" * 8100}) == 1


def test_a_watcher_is_told_of_changes_also_of_those_while_the_server_was_away(up, pair):
    desk, lamp = pair
    desk.put("before", {"n": 0})
    command = [BINARY, "relay", "document", "watch", "--json", "--agent-socket", lamp.socket]
    told = []
    with subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE, text=True) as watch:
        try:
            threading.Thread(target=lambda: told.extend(map(json.loads, watch.stdout)), daemon=True).start()

            def begun():
                # It says nothing when it begins: a change that it tells is the sign.
                desk.put("sign", {"n": 1})
                return bool(told)

            wait_until(begun, "the watcher has begun")
            kill_server(up)
            wait_until(desk.joined, "the desk is back", 30)
            desk.put("after", {"n": 2})
            desk.document("remove", "before")
            wait_until(lambda: told[-1].get("name") == "before", "the watcher is told of the removal", 30)
            assert {"name": "after", "revision": 1, "content": {"n": 2}, "removed": False} in told
            assert told[-1] == {"name": "before", "revision": 2, "removed": True}
        finally:
            watch.terminate()


def test_the_servers_file_holds_neither_names_nor_contents_and_no_app_sees_anothers(up, pair):
    desk, lamp = pair
    desk.put("secretname", {"text": "secretcontent"})
    with desk.app() as notes, lamp.app() as others:
        assert notes.documents() == []
        with pytest.raises(RelayError, match="notFound"):
            notes.document("secretname")
        assert notes.put_document("secretname", {"mine": True}) == 1
        assert others.document("secretname") == ({"mine": True}, 1)
        with pytest.raises(RelayError) as conflict:
            others.put_document("secretname", {"mine": False}, revision=0)
        assert (conflict.value.status, conflict.value.revision) == ("conflict", 1)
        others.watch_documents()
        assert notes.put_document("secretname", {"mine": 2}) == 2
        change = others.next_document_change(20)
        assert (change["name"], change["revision"], change["content"]) == ("secretname", 2, {"mine": 2})
        assert notes.remove_document("secretname") == 3
        assert others.next_document_change(20)["removed"]
    assert desk.get("secretname")["content"] == {"text": "secretcontent"}
    files = [path for path in up.data.rglob("relay.sqlite*") if path.is_file()]
    assert files
    for path in files:
        held = path.read_bytes()
        assert b"secretname" not in held and b"secretcontent" not in held and APP.encode() not in held


def test_when_a_device_is_taken_out_the_documents_go_to_the_accounts_next_key(up, pair):
    desk, lamp = pair
    for number in range(40):
        desk.put(f"kept{number:02}", {"n": number})
    desk.put("kept00", {"n": 100})
    desk.aldaba("relay", "dismiss", lamp_id(lamp))

    def moved():
        done = desk.document("list", "--json", check=False)
        return done.returncode == 0 and len(done.stdout.splitlines()) == 40

    wait_until(moved, "the documents are under the next key", 30)
    assert desk.get("kept39") == {"name": "kept39", "revision": 1, "content": {"n": 39}}
    assert desk.get("kept00") == {"name": "kept00", "revision": 2, "content": {"n": 100}}


def lamp_id(lamp):
    return json.loads(lamp.aldaba("relay", "status", "--json").stdout)["device"]
