"""What apps send to their provider: by a scripted device of ours, read by `requests` as server-sent events."""

import contextlib
import hashlib
import hmac
import json
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import requests

from aldaba_process import BINARY, REPOSITORY, run_aldaba
from faulty_proxy import Fault, FaultyProxy
from mcs_client import IQ, Device, Message, checkin, register3
from own_agent import OwnAgent
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402


def project_number(team):
    return str(int(team, 36))


class Events:
    """A stream of server-sent events, read as the HTML standard says."""

    def __init__(self, url, last=None, topic=None, **options):
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
        self.response = requests.get(
            url + "/v1/upstream", headers=headers, params={"topic": topic} if topic else {}, stream=True, timeout=20,
            **options)
        assert self.response.status_code == 200, self.response.text
        assert self.response.headers["content-type"].startswith("text/event-stream")
        self.lines = self.response.iter_lines(chunk_size=1, decode_unicode=True)

    def next(self):
        """The next event as (id, object)."""
        fields = {}
        for line in self.lines:
            if line == "":
                if "data" in fields:
                    return fields["id"], json.loads(fields["data"])
                fields = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
        raise EOFError("the stream has ended")

    def take(self, count):
        return [self.next() for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.response.close()


class App:
    """The demo app on a device of its own."""

    def __init__(self, path):
        self.path = path
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])

    def connected(self):
        device = Device(self.path["mcs"], self.path["ca"])
        device.login(self.identity)
        return device

    def send(self, device, name, data, **options):
        recipient = options.pop("to", project_number(self.path["teamId"]) + "@gcm.googleapis.com")
        return device.send_message(name, self.path["topic"], recipient, data, **options)

    def say(self, *names):
        """Sends messages of these names, and waits until the server has them."""
        with self.connected() as device:
            for name in names:
                stream = self.send(device, name, {"text": name})
            device.wait_confirmed(stream)

    def refused(self, name, data, **options):
        """The code and the reason with which the server refuses a message."""
        with self.connected() as device:
            self.send(device, name, data, **options)
            error = Message(device.receive_kind(IQ).message.get(6))
            return error.get(1), error.text(2)


@pytest.fixture
def app(path):
    app = App(path)
    yield app
    acknowledge(path, 2**62)


def acknowledge(path, through, **params):
    response = requests.post(path["http"] + "/v1/upstream/ack", json={"through": str(through)}, params=params, timeout=10)
    assert response.status_code == 200, response.text
    return response.json()["taken"]


def test_a_message_reaches_the_provider_who_can_answer_its_sender(path, app, send):
    with Events(path["http"]) as events, app.connected() as device:
        stream = app.send(device, "hello-1", {"text": "¿qué tal?"}, raw=b"\x00\xff")
        device.wait_confirmed(stream)
        number, message = events.next()
        assert message["id"] == "hello-1" and message["number"] == number
        assert message["data"] == {"text": "¿qué tal?"} and message["raw"] == "AP8="
        assert message["topic"] == path["topic"]
        assert message["from"] == app.token
        assert send(message["from"], {"aps": {"alert": "answer"}})[0] == 200
        assert b"answer" in device.notification().payload


def test_messages_come_in_order_and_wait_until_they_are_acknowledged(path, app):
    names = [f"order-{number}" for number in range(250)]
    with app.connected() as device:
        for name in names:
            stream = app.send(device, name, {"text": name})
        device.wait_confirmed(stream)
    for _ in range(2):
        with Events(path["http"], topic=path["topic"]) as events:
            came = events.take(len(names))
        assert [message["id"] for _, message in came] == names
    assert acknowledge(path, came[99][0]) == 100
    with Events(path["http"]) as events:
        assert events.next()[1]["id"] == "order-100"
    with Events(path["http"], last=came[199][0]) as events:
        assert events.next()[1]["id"] == "order-200"
    assert acknowledge(path, came[-1][0]) == 50, "who came back with an event's id has acknowledged what was before"


class FarAgent:
    """A script's app on an agent whose device channel can be cut off."""

    def __init__(self, up):
        self.app = f"com.example.far-{uuid.uuid4().hex[:8]}"
        self.is_cut_off = False
        self.proxy = FaultyProxy(
            json.loads((up.data / "serve.json").read_text())["devicePort"],
            lambda _: Fault(cut_after=0) if self.is_cut_off else Fault())
        self.agent = OwnAgent(up, "test_upstream", device_port=self.proxy.port)
        run_aldaba("app", "create", self.app, "--team", "ALDABADEMO", "--data", up.data)
        self.secret = self.agent.install(
            id=self.app, name="Far", team="ALDABADEMO", executable=sys.executable, authorization="granted",
            provesBySecret=True)
        self.agent.start()

    def script(self):
        return Agent(self.app, self.secret, self.agent.socket)

    def send(self, script, name, seconds):
        script.send({"type": "channel", "command": "send", "request": 900, "draft": {
            "id": name, "to": project_number("ALDABADEMO"), "data": {"name": name}, "timeToLive": seconds}})

    def ended(self, script):
        """The next end of a message, as (its id, its code)."""
        end = script.wait(lambda got: got["type"] == "channel" and got["event"] == "ended", 20)
        script.send({"type": "channel", "command": "endTaken", "upstream": end["upstream"]})
        return end["id"], end.get("code")

    def stop(self):
        self.agent.stop()
        self.proxy.stop()


@pytest.fixture
def far(up, path):
    made = FarAgent(up)
    yield made
    made.stop()
    acknowledge(path, 2**62)


def test_what_the_provider_got_is_not_told_as_expired_by_an_agent_that_was_killed(path, far):
    with Events(path["http"], topic=far.app) as events:
        with far.script() as script:
            script.register()
            far.agent.arm("storeReceiptsConfirmed.before")
            far.send(script, "kept", 1)
            far.agent.wait_for_death()
        assert events.next()[1]["id"] == "kept"
        far.is_cut_off = True
        far.agent.start()
        with far.script() as script:
            far.send(script, "late", 1)
            assert far.ended(script) == ("late", "TtlExceeded"), "the other one's time was over before"
            far.is_cut_off = False
            assert far.ended(script) == ("kept", None)
            far.send(script, "last", 60)
            assert far.ended(script) == ("last", None)
        assert events.next()[1]["id"] == "last", "the one before came once"


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_message_is_sent_though_the_agent_dies_as_it_notes_that(path, far, side):
    with Events(path["http"], topic=far.app) as events:
        with far.script() as script:
            script.register()
            far.agent.arm(f"storeUnderWay.{side}")
            far.send(script, f"noted-{side}", 60)
            far.agent.wait_for_death()
        far.agent.start()
        with far.script() as script:
            assert far.ended(script) == (f"noted-{side}", None)
        assert events.next()[1]["id"] == f"noted-{side}"


def test_the_same_message_twice_is_one(path, app):
    app.say("once")
    app.say("once", "other")
    with Events(path["http"]) as events:
        came = events.take(2)
    assert [message["id"] for _, message in came] == ["once", "other"]
    acknowledge(path, came[0][0])
    app.say("once")
    with Events(path["http"]) as events:
        assert events.next()[1]["id"] == "other"
    ends = requests.get(
        path["http"] + "/v1/upstream/messages/once", params={"topic": path["topic"]}, timeout=10).json()
    assert [end["state"] for end in ends] == ["taken"]


@pytest.mark.parametrize(("options", "code", "words"), [
    ({"to": "OTHERTEAM1"}, 403, "not the project"),
    ({"ttl": 86_401}, 400, "0 to 86400"),
    ({"ttl": -1}, 400, "0 to 86400"),
    ({"data": {"text": "x" * 4093}}, 413, "at most 4096"),
    ({"data": {"from": "me"}}, 400, "reserved"),
    ({"data": {"google.x": "me"}}, 400, "reserved"),
    ({"name": "n" * 256}, 400, "1 to 255"),
])
def test_a_message_that_is_not_right_is_refused_with_what_would_be(app, options, code, words):
    options = {"name": "wrong", "data": {"text": "x"}, **options}
    refusal = app.refused(**options)
    assert refusal[0] == code and words in refusal[1], refusal


def test_an_app_that_is_not_registered_on_the_device_is_refused(path, app):
    app.identity = checkin(path["http"])
    assert app.refused("stranger", {"text": "x"})[0] == 404


def test_the_largest_message_is_taken(path, app):
    with app.connected() as device:
        device.wait_confirmed(app.send(device, "large", {"text": "x" * 4092}))
    with Events(path["http"]) as events:
        assert len(events.next()[1]["data"]["text"]) == 4092


@pytest.mark.parametrize(("method", "where", "body", "status"), [
    ("GET", "/v1/upstream?topic=com.example.unknown", None, 404),
    ("POST", "/v1/upstream/ack", b"{}", 400),
    ("POST", "/v1/upstream/ack", b'{"through":"-1"}', 400),
    ("POST", "/v1/upstream/ack", b'{"through":"9223372036854775808"}', 400),
    ("GET", "/v1/upstream/messages/x", None, 400),
    ("GET", "/v1/upstream/messages/none?topic=com.example.unknown", None, 404),
])
def test_requests_that_cannot_be_answered_say_why(path, method, where, body, status):
    response = requests.request(method, path["http"] + where, data=body, timeout=10)
    assert response.status_code == status and response.json()["detail"]


def test_over_tls_the_stream_needs_a_provider_token(path, app, provider):
    app.say("secured")
    served = json.loads((Path(path["data"]) / "serve.json").read_text())
    control, ca = f"https://{served['host']}:{served['controlPort']}", path["ca"]
    assert requests.get(control + "/v1/upstream", verify=ca, timeout=10).status_code == 401
    headers = {"Authorization": f"bearer {provider.key.token()}"}
    with requests.get(control + "/v1/upstream", headers=headers, verify=ca, stream=True, timeout=10) as response:
        assert response.status_code == 200
        assert any(line.startswith("data: ") for line in response.iter_lines(chunk_size=1, decode_unicode=True))


class Hook:
    """A webhook as its owner writes one, with Python's own server. `statuses` are its first answers."""

    keeps_open = False

    def __init__(self):
        self.requests = queue.Queue()
        self.connections = set()
        self.sockets = set()
        self.statuses = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1" if self.keeps_open else "HTTP/1.0"

            def do_POST(self):
                hook.connections.add(self.client_address)
                hook.sockets.add(self.connection)
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(hook.statuses.pop(0) if hook.statuses else 204)
                self.send_header("content-length", "0")
                self.end_headers()
                hook.requests.put((self.headers, body))

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def next(self):
        return self.requests.get(timeout=15)

    def close(self):
        for each in self.sockets:
            # One that is open keeps the server's only thread; most are closed.
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def webhook(path, *arguments):
    done = subprocess.run(
        [BINARY, "app", "webhook", *arguments, "--data", path["data"]], capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def hook(path):
    made = Hook()
    yield made
    webhook(path, "remove", path["topic"])
    made.close()


def set_webhook(path, hook):
    code, out, err = webhook(path, "set", path["topic"], "--url", hook.url, "--json")
    assert code == 0, err
    return json.loads(out)["secret"]


def test_a_webhook_gets_each_message_once_signed(path, app, hook):
    app.say("before")
    secret = set_webhook(path, hook)
    app.say("h-1", "h-2")
    names = []
    for _ in range(3):
        headers, body = hook.next()
        fields = dict(part.split("=", 1) for part in headers["aldaba-signature"].split(","))
        assert abs(int(fields["t"]) - time.time()) < 60
        signed = fields["t"].encode() + b"." + body
        assert hmac.compare_digest(fields["v1"], hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest())
        assert headers["content-type"] == "application/json"
        message = json.loads(body)
        assert message["from"] == app.token
        names.append(message["id"])
    assert names == ["before", "h-1", "h-2"]
    app.say("h-1", "h-3")
    assert json.loads(hook.next()[1])["id"] == "h-3"
    assert requests.get(path["http"] + "/v1/upstream", params={"topic": path["topic"]}, timeout=10).status_code == 409


class PatientHook(Hook):
    """It leaves connections open, as servers do."""

    keeps_open = True


def test_a_webhook_gets_its_messages_over_one_connection(path, app):
    hook = PatientHook()
    try:
        set_webhook(path, hook)
        names = [f"line-{number}" for number in range(20)]
        app.say(*names)
        assert [json.loads(hook.next()[1])["id"] for _ in names] == names
        assert len(hook.connections) == 1
    finally:
        webhook(path, "remove", path["topic"])
        hook.close()


def test_a_webhook_that_fails_gets_the_message_again(path, app, hook):
    hook.statuses = [503, 302]
    set_webhook(path, hook)
    app.say("again", "after")
    assert [json.loads(hook.next()[1])["id"] for _ in range(4)] == ["again", "again", "again", "after"]
    page = requests.get(f"{path['http']}/console/account/apps/{path['topic']}", timeout=10).text
    answers = re.findall(r'class="(good|bad)-text"><span class="mark" aria-hidden="true">.</span> (\d{3})</span>', page)
    assert answers[:4] == [("good", "204"), ("good", "204"), ("bad", "302"), ("bad", "503")], "the newest first"


def test_a_webhook_that_cannot_be_reached_says_so_in_the_console(path, app, hook):
    set_webhook(path, hook)
    hook.server.shutdown()
    hook.server.server_close()
    app.say("unheard")
    address = f"{path['http']}/console/account/apps/{path['topic']}"

    def told():
        return re.search(r'class="bad-text"><span class="mark" aria-hidden="true">.</span> ([^<]+)</span>', requests.get(address, timeout=10).text)

    assert "nothing listens there" in wait_until(told, "the page says why")[1]


@pytest.mark.timeout(120)
def test_a_webhook_that_never_answers_is_given_up_and_says_so_in_the_console(path, app, hook):
    silent = socket.create_server(("127.0.0.1", 0))
    try:
        code, _, err = webhook(path, "set", path["topic"], "--url", f"http://127.0.0.1:{silent.getsockname()[1]}/hook")
        assert code == 0, err
        app.say("into the silence")
        connection, _ = silent.accept()
        page = lambda: requests.get(f"{path['http']}/console/account/apps/{path['topic']}", timeout=10).text  # noqa: E731
        answer = re.compile(r'class="bad-text"><span class="mark" aria-hidden="true">.</span> ([^<]*time[^<]*)</span>')
        assert wait_until(lambda: answer.search(page()), "the page says that no answer came", 60)
        connection.close()
        # The message is not lost: the next receiver gets it.
        set_webhook(path, hook)
        assert json.loads(hook.next()[1])["id"] == "into the silence"
    finally:
        silent.close()


def test_the_secret_is_shown_once_and_a_wrong_address_is_refused(path, hook):
    secret = set_webhook(path, hook)
    code, out, _ = webhook(path, "show", path["topic"], "--json")
    assert code == 0 and hook.url in out and secret not in out
    code, _, err = webhook(path, "set", path["topic"], "--url", "ftp://example.com/")
    assert code != 0 and "https://host/path" in err
    code, _, err = webhook(path, "set", "com.example.unknown", "--url", hook.url)
    assert code != 0 and "com.example.unknown" in err
