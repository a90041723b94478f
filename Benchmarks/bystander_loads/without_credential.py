"""Loads of whoever reaches the ports and has no credential."""

import os
import struct
import time
from urllib.parse import urlencode, urlsplit

from cryptography.hazmat.primitives.asymmetric import rsa

from mcs_client import LOGIN_RESPONSE, Device, Identity, Message
from provider_tokens import ProviderKey, base64url
from raw_http2 import DATA, END_HEADERS, HEADERS, PING, PRIORITY, RawConnection, block, frame, window_update
from running import load
from world import http

FORM = {"content_type": "application/x-www-form-urlencoded"}
JSON = {"content_type": "application/json"}


@load()
def computing(run):
    """Nothing is sent, and one processor computes: what the machine itself adds to the ratios."""
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
            link = run.link()
            kept.append(link)
            yield link.ask(request)[0]

    return 16, worker


@load(variants=(8, 32))
def forms(run, connections):
    """Forms of 60 KB, of 30,000 fields, to /token and /c2dm/register3."""
    requests = [http("POST", path, b"a&" * 30_000, **FORM) for path in ("/token", "/c2dm/register3")]

    def worker(number):
        with run.link() as link:
            while True:
                yield link.ask(requests[number % 2])[0]

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
        with run.link() as link:
            while True:
                yield link.ask(makers[number % 4]())[0]

    return 32, worker


FLOODS = {
    "window-update": window_update(0, 1),
    "priority": frame(PRIORITY, stream=1, payload=struct.pack(">IB", 0, 15)),
    "ping": frame(PING, payload=b"12345678"),
    "empty-data": frame(DATA, stream=1),
}


@load(variants=FLOODS)
def h2_floods(run, kind):
    """One kind of frame of HTTP/2, again and again, on four connections to the APNs port; what is counted are frames."""
    batch, authority = FLOODS[kind] * 500, urlsplit(run.target.apns).netloc
    head = block([(":method", "POST"), (":scheme", "https"), (":authority", authority), (":path", "/3/device/00")])

    def worker(_):
        with RawConnection(run.target.apns, run.target.ca) as connection:
            # Written to the socket itself, since `write` passes over a connection that has ended.
            connection._socket.sendall(frame(HEADERS, END_HEADERS, 1, head))
            while True:
                connection._socket.sendall(batch)
                drain(connection._socket)
                for _ in range(500):
                    yield kind

    return 4, worker


def drain(link):
    """What has come is read and passed over; returns it."""
    timeout, came = link.gettimeout(), b""
    link.setblocking(False)
    try:
        while piece := link.recv(65536):
            came += piece
        raise ConnectionResetError("the server closed the connection")
    except BlockingIOError:
        return came
    except OSError as fault:
        if "did not complete" in str(fault):  # SSLWantReadError
            return came
        raise
    finally:
        link.settimeout(timeout)


@load()
def refused_body(run):
    """Requests whose bodies go on after the refusal, eight connections; beside the answers the MiB after them are counted."""
    paths, piece, size = ["/v1/media", "/v1/nothing", "/token", "/c2dm/register3"], bytes(1 << 16), 1 << 40

    def worker(number):
        with run.link(timeout=5) as link:
            link.socket.sendall(http("POST", paths[number % 4], **{"content-length": size}))
            status, sent = None, 0
            while sent < size:
                link.socket.sendall(piece)
                if came := drain(link.socket):
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
