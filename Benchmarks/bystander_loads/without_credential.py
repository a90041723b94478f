"""Loads from clients without a credential."""

import os
import ssl
import struct
import time
from urllib.parse import urlencode, urlsplit

from cryptography.hazmat.primitives.asymmetric import rsa

from h2_client import open_tls
from mcs_client import LOGIN_RESPONSE, Device, Identity, Message
from provider_tokens import ProviderKey, base64url
from raw_http2 import (
    DATA, END_HEADERS, HEADERS, PING, PREFACE, PRIORITY, SETTINGS, block, frame, window_update,
)
from running import load
from target import http

FORM = {"content_type": "application/x-www-form-urlencoded"}
JSON = {"content_type": "application/json"}


@load()
def computing(run):
    """No load: one processor computes, and nothing is sent. The ratios are those of the machine itself."""
    def worker(_):
        while True:
            sum(range(100_000))
            yield "computed"

    return 1, worker


@load()
def public_route(run):
    """New TLS connections that each ask for /v1/openapi.json and stay open, 2,500 at most."""
    kept, request = [], http("GET", "/v1/openapi.json")

    def worker(_):
        while len(kept) < 2500:
            connection = run.connection()
            kept.append(connection)
            yield connection.ask(request)[0]

    return 16, worker


@load(variants=(8, 32))
def forms(run, connections):
    """Forms of 60 KB, of 30,000 fields, to /token and /c2dm/register3."""
    requests = [http("POST", path, b"a&" * 30_000, **FORM) for path in ("/token", "/c2dm/register3")]

    def worker(number):
        with run.connection() as connection:
            while True:
                yield connection.ask(requests[number % 2])[0]

    return connections, worker


@load()
def forms_credentials(run):
    """Small, well-formed and wrong credentials at /token, /checkin, registrations and hubs, 32 connections."""
    tenant = run.target.neighbour
    assertion = tenant.assertion(rsa.generate_private_key(public_exponent=65537, key_size=2048))
    provider = ProviderKey.made_now(tenant.key.key_id, tenant.team).token()
    soon = int(time.time()) + 3600

    def token():
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}
        return http("POST", "/token", urlencode(form).encode(), **FORM)

    def checkin():
        number = int.from_bytes(os.urandom(7))
        return http("POST", "/checkin", {"android_id": number, "security_token": number, "version": 3}, **JSON)

    def registration():
        proof = f"{base64url(os.urandom(16).hex().encode())}.{soon}000.{base64url(os.urandom(32))}"
        return http("POST", f"/v1/projects/{tenant.project}/registrations", {"web": {}}, **JSON, **{
            "x-goog-firebase-installations-auth": f"FIS {proof}"})

    def hub():
        resource = f"https%3a%2f%2f127.0.0.1%2f{tenant.hub}"
        signature = f"SharedAccessSignature sr={resource}&sig={'A' * 43}%3d&se={soon}&skn=DefaultFullSharedAccessSignature"
        secrets = [signature, f"Bearer aldaba_hub_{os.urandom(16).hex()}", f"bearer {provider}"]
        return http("GET", f"/v1/hubs/{tenant.hub}/sends", authorization=secrets[os.urandom(1)[0] % 3])

    makers = [token, checkin, registration, hub]

    def worker(number):
        with run.connection() as connection:
            while True:
                yield connection.ask(makers[number % 4]())[0]

    return 32, worker


FLOODS = {
    "window-update": window_update(0, 1),
    "priority": frame(PRIORITY, stream=1, payload=struct.pack(">IB", 0, 15)),
    "ping": frame(PING, payload=b"12345678"),
    "empty-data": frame(DATA, stream=1),
}


@load(variants=FLOODS)
def h2_floods(run, kind):
    """One kind of frame of HTTP/2, again and again, on four connections to the APNs port; frames are counted."""
    tenant, batch = run.target.neighbour, FLOODS[kind] * 500
    # A stream whose body is still to come.
    head = block([
        (":method", "POST"), (":scheme", "https"), (":authority", urlsplit(run.target.apns).netloc),
        (":path", f"/3/device/{tenant.tokens[0]}"), ("authorization", tenant.bearer), ("apns-topic", tenant.topic),
        ("apns-push-type", "alert")])

    def worker(_):
        with open_tls(run.target.apns, run.target.ca) as connection:
            connection.sendall(PREFACE + frame(SETTINGS) + frame(HEADERS, END_HEADERS, 1, head))
            while True:
                connection.sendall(batch)
                drain(connection)
                yield kind, 500

    return 4, worker


def drain(connection):
    """Reads what has come, and returns it."""
    timeout, came = connection.gettimeout(), b""
    connection.setblocking(False)
    try:
        while piece := connection.recv(65536):
            came += piece
        raise ConnectionResetError("the server closed the connection")
    except ssl.SSLWantReadError:
        return came
    finally:
        connection.settimeout(timeout)


@load()
def refused_body(run):
    """Requests whose bodies go on after the refusal, eight connections; the MiB after it are counted."""
    paths, piece, size = ["/v1/media", "/v1/nothing", "/token", "/c2dm/register3"], bytes(1 << 16), 1 << 40

    def worker(number):
        with run.connection(timeout=5) as connection:
            connection.socket.sendall(http("POST", paths[number % 4], **{"content-length": size}))
            status, sent = None, 0
            while sent < size:
                connection.socket.sendall(piece)
                if came := drain(connection.socket):
                    status = came[9:12].decode()
                    yield status
                sent += len(piece)
                if status and sent % (1 << 20) == 0:
                    yield "MiB after it"

    return 8, worker


@load()
def wrong_devices(run):
    """Connections to the device port that log in with wrong credentials, 16 at once."""
    def worker(_):
        while True:
            with Device(run.target.mcs, run.target.ca) as device:
                number = int.from_bytes(os.urandom(7))
                packet = device.login(Identity(number, number))
                assert packet.tag == LOGIN_RESPONSE
                error = packet.message.get(3)
                yield "logged in" if error is None else f"error {Message(error).get(1)}"

    return 16, worker
