"""Probes: operations of the bystander's, each done again and again and timed."""

import http.server
import json
import os
import threading
import time
import uuid
from urllib.parse import urlencode

from h2_client import ConnectionEnded, H2Client, StreamReset
from mcs_client import DATA, Closed, Device, Identity
from target import Connection, http as request

LONGEST = 10  # seconds until an answer counts as failed
FAULTS = (OSError, Closed, ConnectionEnded, StreamReset, ValueError, AssertionError)


class Samples:
    """Milliseconds of the operations that succeeded or timed out, how many there were, and how many of them failed."""

    def __init__(self):
        self.times, self.count, self.failed, self.fault = [], 0, 0, ""

    def share(self, part):
        """A percentile in milliseconds; `None` where there are none."""
        return sorted(self.times)[min(len(self.times) - 1, int(part * len(self.times)))] if self.times else None


class Probe:
    """An operation. `ask` does it once and raises where it failed; `pause` seconds are between two."""

    pause = 0.03

    def __init__(self, target):
        self.target, self.tenant, self.count = target, target.bystander, 0

    def sample(self, end):
        """Samples until a moment of `time.monotonic`; the last one may end later."""
        samples = Samples()
        while time.monotonic() < end:
            begun, is_timed = time.perf_counter(), True
            try:
                self.count += 1
                samples.count += 1
                self.ask()
            except FAULTS as fault:
                samples.failed += 1
                samples.fault = str(fault) or type(fault).__name__
                is_timed = isinstance(fault, TimeoutError)
                self.close()
            if is_timed:
                samples.times.append(1000 * (time.perf_counter() - begun))
            time.sleep(self.pause)
        return samples

    def close(self):
        """Ends the connections that are kept from one operation to the next."""


def sample_all(probes, seconds):
    """The samples of all probes, each in a thread of its own, by their names."""
    taken, end = {}, time.monotonic() + seconds

    def take(probe):
        taken[probe.name] = probe.sample(end)

    threads = [threading.Thread(target=take, args=(probe,)) for probe in probes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def checked(answer, status=200):
    assert answer[0] == status, f"{answer[0]} {answer[1].decode(errors='replace')}"
    return answer[1]


class APNs(Probe):
    name = "APNs send"
    _client = None

    def ask(self):
        self._client = self._client or H2Client(self.target.apns, self.target.ca)
        token = self.tenant.tokens[self.count % len(self.tenant.tokens)]
        answer = self._client.request("POST", f"/3/device/{token}", [
            ("authorization", self.tenant.bearer), ("apns-topic", self.tenant.topic), ("apns-push-type", "alert"),
            ("apns-collapse-id", "bystander")], b'{"aps":{"alert":"x"}}')
        assert answer.status == 200, f"{answer.status} {answer.body}"

    def close(self):
        if self._client:
            self._client.close()
        self._client = None


class Kept(Probe):
    """A probe that keeps a connection to the control port."""

    _connection = None

    def answer(self, data):
        self._connection = self._connection or Connection(self.target, LONGEST)
        return self._connection.ask(data)

    def close(self):
        if self._connection:
            self._connection.socket.close()
        self._connection = None


class FCM(Kept):
    name = "FCM send"

    def __init__(self, target):
        super().__init__(target)
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": self.tenant.assertion()}
        told = checked(self.answer(request(
            "POST", "/token", urlencode(form).encode(), content_type="application/x-www-form-urlencoded")))
        self._authorization = f"Bearer {json.loads(told)['access_token']}"

    def ask(self):
        message = {
            "token": self.tenant.tokens[self.count % len(self.tenant.tokens)], "notification": {"title": "x"},
            "android": {"collapse_key": "bystander"}}
        checked(self.answer(request(
            "POST", f"/v1/projects/{self.tenant.project}/messages:send", {"message": message},
            authorization=self._authorization, content_type="application/json")))


class NewConnection(Probe):
    name, pause = "new TLS, control port", 0.05

    def ask(self):
        with Connection(self.target, LONGEST) as connection:
            checked(connection.ask(request("GET", "/health")))


class Stream(Probe):
    """A stream of server-sent events is opened, and closed again."""

    pause = 0.5

    def open(self, path):
        with Connection(self.target, LONGEST) as connection:
            connection.socket.sendall(request("GET", path, authorization=self.tenant.bearer))
            status, _ = connection.head()
            assert status == 200, status


class ReportStream(Stream):
    name = "report stream of another team"

    def __init__(self, target):
        super().__init__(target)
        self._path = f"/v1/hubs/{self.tenant.hub}/campaigns/{scheduled(target, self.tenant)}/live"

    def ask(self):
        self.open(self._path)


class UpstreamStream(Stream):
    name = "upstream stream of another team"

    def ask(self):
        self.open("/v1/upstream")


def scheduled(target, tenant):
    """The id of a campaign of the tenant's that has not begun."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    return target.ask(
        "POST", f"/v1/hubs/{tenant.hub}/campaigns", {"content": {"title": "x"}, "at": at}, tenant.bearer)["id"]


class Upload(Kept):
    name, pause = "upload of another team", 0.1

    def ask(self):
        checked(self.answer(request(
            "POST", "/v1/media", b"GIF89a" + os.urandom(1000), authorization=self.tenant.bearer)), 201)


class Webhook(Probe):
    """The time from a send to the event of its end."""

    name, pause, longest = "event at another webhook", 0.2, 40

    def __init__(self, target):
        super().__init__(target)
        came, self._heard = threading.Condition(), set()
        self._came, heard = came, self._heard

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with came:
                    heard.add((event["type"], event["data"].get("send")))
                    came.notify_all()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.target.ask(
            "PUT", f"/v1/hubs/{self.tenant.hub}/webhook", {"url": f"http://127.0.0.1:{server.server_port}/"},
            self.tenant.bearer)

    def ask(self):
        send = self.target.ask(
            "POST", f"/v1/hubs/{self.tenant.hub}/campaigns", {"content": {"title": "x"}}, self.tenant.bearer)["id"]
        with self._came:
            heard = self._came.wait_for(lambda: ("send.ended", send) in self._heard, self.longest)
        assert heard, f"no event within {self.longest} s"


class Pairing(Probe):
    """Two devices name a place and are told of each other."""

    name, pause = "pairing of two other devices", 0.1
    _devices = ()

    def __init__(self, target):
        super().__init__(target)
        self._identities = target.enrol(2)

    def ask(self):
        self._devices = self._devices or [log_in(self.target, each) for each in self._identities]
        place = os.urandom(32)
        for device in self._devices:
            meet(device, place)
        answers = [device.receive_kind(DATA, LONGEST).message.get(21, b"") for device in self._devices]
        for answer in answers:
            assert b"met" in answer, answer.partition(b"reason")[2][2:].decode(errors="replace")

    def close(self):
        for device in self._devices:
            device.cut()
        self._devices = ()


def log_in(target, identity):
    """A device that has a session."""
    device = Device(target.mcs, target.ca, timeout=LONGEST)
    refusal = device.login(Identity(*identity)).message.get(3)
    assert refusal is None, refusal
    return device


def meet(device, place):
    """A device's frame {"type": "meet", "place": …} of the relay, in CBOR."""
    frame = b"\xa2\x64type\x64meet\x65place\x58\x20" + place
    device.send_upstream(str(uuid.uuid4()), "aldaba.relay", frame)


ALWAYS = (APNs, FCM, NewConnection)
