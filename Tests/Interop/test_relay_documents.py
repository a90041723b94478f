"""Documents that the devices of one person share: kept while all are away, by revisions, for one app each, and sealed from the server."""

import json
import os
import queue
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
def account():
    return f"aldaba-account-{os.urandom(32).hex()}"


@pytest.fixture
def pair(up, account):
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
    for words in ((f"text={'x' * 9000}",), ("--message", json.dumps({"text": "x" * 9000}))):
        done = desk.document("put", "large", *words, check=False)
        refused(done, 3, "the document's content has 9009 bytes; at most 8192 are allowed\n")
        assert "message" not in done.stderr and "stream" not in done.stderr
    refused(desk.document("put", "large", "word", check=False), 3, "the content has words")
    refused(desk.document("put", "large", "--message", "[1]", check=False), 3, "the content must be a JSON object")
    refused(desk.document("put", "n" * 129, "a=b", check=False), 3, "1 to 128 bytes of UTF-8")
    refused(desk.document("put", "", "a=b", check=False), 3, "1 to 128 bytes of UTF-8")
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
    held = up.stored("relay")
    assert lamp_id(lamp).encode() in held
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


def put_until_refused(app, content, most):
    """How many documents are kept before the server has no room; says what it is told then."""
    for number in range(most + 1):
        try:
            assert app.put_document(f"document{number}", content) == 1
        except RelayError as error:
            assert error.status == "resourceLimits"
            return number, str(error)
    return most + 1, ""


def test_an_account_has_a_thousand_documents_and_removing_one_makes_room(pair):
    desk, lamp = pair
    with desk.app() as notes, lamp.app() as others:
        kept, why = put_until_refused(notes, {"n": 1}, 1000)
        assert kept == 1000
        assert "1,000 documents and 4 MiB" in why
        assert notes.put_document("document7", {"n": 2}) == 2
        found = others.documents()
        assert len(found) == 1000 and found[-1]["name"] == "document7"
        # The limit is the account's, not the app's.
        refused(lamp.document("put", "more", "a=b", check=False), 1, "1,000 documents and 4 MiB")
        assert others.remove_document("document8") == 2
        assert lamp.put("more", {"a": "b"}) == 1


def test_an_account_has_4_mib_of_documents(pair):
    desk, _ = pair
    with desk.app() as notes:
        content = {"text": "x" * 8100}
        kept, why = put_until_refused(notes, content, 1000)
        # Sealed, each has some bytes more.
        assert (4 << 20) // 8300 < kept < (4 << 20) // 8100
        assert "1,000 documents and 4 MiB" in why
        assert notes.put_document("document0", {"text": "x" * 8000}) == 2
        assert {entry["bytes"] for entry in notes.documents()} == {8109, 8009}


def test_a_device_that_joins_later_sees_the_documents_and_one_that_leaves_sees_none(up, account, pair):
    desk, lamp = pair
    desk.put("place", {"page": 7})
    late = Device(up, "late", account=None)
    late.start()
    try:
        refused(late.document("get", "place", check=False), 6, "belongs to no account")
        late.aldaba("relay", "account", "join", account)
        wait_until(lambda: late.document("list", check=False).returncode == 0, "the late one is there", 30)
        assert late.get("place")["content"] == {"page": 7}
        assert late.put("place", {"page": 8}) == 2
        assert desk.get("place")["revision"] == 2
        late.aldaba("relay", "account", "leave")
        refused(late.document("get", "place", check=False), 6, "belongs to no account")
        refused(late.document("put", "place", "a=b", check=False), 6, "belongs to no account")
        assert desk.get("place")["revision"] == 2
    finally:
        late.stop()


def test_the_one_that_was_taken_out_sees_none_and_the_others_see_all_under_the_next_key(up, account, pair):
    desk, lamp = pair
    third = Device(up, "third", account)
    third.start()
    try:
        wait_until(lambda: len(desk.others()) == 2, "all see each other", 30)
        for number in range(3):
            desk.put(f"kept{number}", {"n": number})
        lamp.document("remove", "kept1")
        desk.aldaba("relay", "dismiss", lamp_id(lamp))
        wait_until(
            lambda: third.document("list", "--json", check=False).stdout.count("kept") == 2, "the third one sees them", 30)
        assert third.get("kept2") == {"name": "kept2", "revision": 1, "content": {"n": 2}}
        assert third.put("kept2", {"n": 5}) == 2
        assert desk.get("kept2")["content"] == {"n": 5}
        refused(lamp.document("get", "kept2", check=False), 6, "was taken from its account")
    finally:
        third.stop()


def test_an_app_in_swift_and_one_in_python_share_a_document(pair):
    desk, lamp = pair
    guide, app = (BINARY.parent / "RelayGuide").resolve(), "com.example.relay-guide"
    desk.install(id=app, name="Guide", team="ALDABADEMO", executable=str(guide))
    secret = lamp.install(
        id=app, name="Guide", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
    with Relay(app, secret, lamp.socket) as python, subprocess.Popen(
            [guide, "documents"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=clean_environment(ALDABA_APP_ID=app, ALDABA_AGENT_SOCKET=desk.socket)) as swift:
        told = queue.Queue()
        threading.Thread(target=lambda: [told.put(line.strip()) for line in swift.stdout], daemon=True).start()

        def hears(*lines):
            # What it is told of its own put may come before or after the answer.
            assert {told.get(timeout=30) for _ in lines} == set(lines)

        try:
            hears("there: []")
            python.watch_documents()
            assert python.put_document("place", {"page": 7}) == 1
            hears("put: place 1 7")
            assert python.next_document_change(30)["revision"] == 1
            swift.stdin.write("place\n")
            swift.stdin.flush()
            hears("kept: 2", "put: place 2 8", "not kept: conflict(revision: 2)")
            change = python.next_document_change(30)
            assert (change["revision"], change["content"]) == (2, {"page": 8})
            assert python.document("place") == ({"page": 8}, 2)
            assert python.remove_document("place", revision=2) == 3
            hears("removed: place 3")
            # Its agent ends and begins anew: it goes on, and says that it may have missed something.
            desk.stop_process()
            assert python.put_document("place", {"page": 1}) == 4
            desk.start()
            hears("some were missed")
            assert python.put_document("place", {"page": 2}) == 5
            hears("put: place 5 2")
        finally:
            swift.kill()


def test_the_example_of_the_python_package_does_what_its_page_says(pair, monkeypatch, capsys):
    desk, lamp = pair
    page = (REPOSITORY / "Examples/PythonRelay/README.md").read_text()
    example = page.split("```python\n")[1].split("```")[0]
    monkeypatch.setenv("ALDABA_AGENT_SOCKET", desk.socket)
    exec(compile(example, "README.md", "exec"), {"Relay": Relay, "RelayError": RelayError, "secret": desk.secret})
    assert capsys.readouterr().out.splitlines() == ["place 1 7", "place 1 {'page': 1}"]
    with lamp.app() as notes, pytest.raises(RelayError, match="notFound"):
        notes.document("place")
