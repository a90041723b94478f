"""The running server as probes and loads see it: its addresses, its two tenants, and connections to its control port."""

import json
import re
import socket
import ssl
import time
from functools import cached_property
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import jwt

from aldaba_process import run_aldaba
from h2_client import verified_context
from own_server import ENROLMENT_KEY
from provider_tokens import ProviderKey


def http(method, path, body=b"", **headers):
    """The bytes of a request; `content_type="x"` sets `content-type`. A body that is no bytes is written as JSON."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"host": "127.0.0.1", "content-length": len(body)} | headers
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


class Ended(ConnectionError):
    """The server closed the connection."""


class Connection:
    """A TLS connection to the control port, for requests one after the other."""

    def __init__(self, target, timeout=30):
        plain = socket.create_connection((target.control.hostname, target.control.port), timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket = target.context.wrap_socket(plain, server_hostname=target.control.hostname)
        except BaseException:
            plain.close()
            raise
        self._buffer = b""

    def ask(self, request):
        """Sends a request and returns (status, body)."""
        self.socket.sendall(request)
        status, headers = self.head()
        if size := re.search(rb"\ncontent-length: *(\d+)", headers, re.I):
            return status, self._take(int(size.group(1)))
        return status, self._until(b"0\r\n\r\n") if b"chunked" in headers else b""

    def head(self):
        """The status and the header fields of an answer; its body is not read."""
        head = self._until(b"\r\n\r\n")
        return int(head[9:12]), head

    def _until(self, mark):
        while mark not in self._buffer:
            self._fill()
        return self._take(self._buffer.index(mark) + len(mark))

    def _take(self, size):
        while len(self._buffer) < size:
            self._fill()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise Ended("the server closed the connection")
        self._buffer += data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class Tenant:
    """A team with an app, a provider key, a service account, a hub and devices, which are not connected."""

    def __init__(self, told):
        self.team, self.topic, self.hub = told["team"], told["topic"], told["hub"]
        self.devices, self.tokens = told.get("devices", []), told.get("tokens", [])
        self._told = told

    @cached_property
    def key(self):
        return ProviderKey(Path(self._told["key"]).read_bytes(), self._told["keyId"], self.team)

    @cached_property
    def bearer(self):
        """The field `Authorization` of a provider."""
        return f"bearer {self.key.token()}"

    @cached_property
    def account(self):
        """The service account, as its file has it."""
        return json.loads(Path(self._told["account"]).read_text())

    @property
    def project(self):
        return self.team.lower()

    def assertion(self, private=None):
        """What the service account shows for an access token; `private` is another key that signs."""
        now = int(time.time())
        claims = {
            "iss": self.account["client_email"], "aud": "https://oauth2.googleapis.com/token", "iat": now, "exp": now + 3600,
            "scope": "https://www.googleapis.com/auth/firebase.messaging"}
        return jwt.encode(
            claims, private or self.account["private_key"], "RS256", {"kid": self.account["private_key_id"]})


class Target:
    """The running server as probes and loads see it; made from an object of JSON, so that another process can have it."""

    def __init__(self, told):
        self.told = told
        self.apns, self.mcs, self.ca = told["apns"], told["mcs"], told["ca"]
        self.control = urlsplit(told["control"])
        self.bystander, self.neighbour = Tenant(told["bystander"]), Tenant(told["neighbour"])

    @cached_property
    def context(self):
        """The TLS context of all connections to the control port."""
        context = verified_context(self.ca)
        context.options |= ssl.OP_NO_TICKET
        return context

    def aldaba(self, *words):
        """The output of a command on the server's data folder."""
        return run_aldaba(*words, "--data", self.told["data"], seconds=120).stdout.strip()

    def hub_key(self, tenant, rights):
        """The field `Authorization` of a new key of the tenant's hub."""
        key = self.aldaba("hub", "key", "create", tenant.hub, f"key-{time.monotonic_ns()}", "--api", "--rights", rights)
        return f"Bearer {key}"

    def ask(self, method, path, document, authorization):
        """One request on a connection of its own; returns the object that is answered. Another status than 2xx is an error."""
        with Connection(self) as connection:
            status, body = connection.ask(http(method, path, document, authorization=authorization))
        assert 200 <= status < 300, (method, path, status, body)
        return json.loads(body) if body else None

    def enrol(self, count):
        """So many new devices, as (id, secret)."""
        request = http(
            "POST", "/checkin", {"android_id": 0, "security_token": 0, "version": 3}, content_type="application/json",
            authorization=f"Enrol {ENROLMENT_KEY}")
        made = []
        with Connection(self) as connection:
            for _ in range(count):
                status, body = connection.ask(request)
                assert status == 200, (status, body)
                told = json.loads(body)
                made.append((int(told["android_id"]), int(told["security_token"])))
        return made

    def register(self, devices, tenant):
        """The device tokens of the tenant's app on some devices."""
        tokens = []
        with Connection(self) as connection:
            for device, secret in devices:
                form = {"app": tenant.topic, "sender": tenant.team, "device": device, "X-environment": "production"}
                status, body = connection.ask(http(
                    "POST", "/c2dm/register3", urlencode(form).encode(), authorization=f"AidLogin {device}:{secret}",
                    content_type="application/x-www-form-urlencoded"))
                assert status == 200 and body.startswith(b"token="), (status, body)
                tokens.append(body.decode().partition("=")[2].strip())
        return tokens
