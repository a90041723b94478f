"""The library `AldabaAPNs`, by its example program, against a server that behaves badly."""

import base64
import json
import subprocess
import threading
import uuid

import h2.errors
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from aldaba_process import BINARY, clean_environment
from certificates import make_certificates
from hostile_apns import HostileServer
from test_run import pem

PROGRAM = BINARY.parent / "SendWithLibrary"
BUNDLE = "com.example.app"


class World:
    """A server, and the program that sends to it."""

    def __init__(self, folder):
        self._folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self._certificates = make_certificates(folder / "tls")
        (folder / "AuthKey.p8").write_text(pem(self.key))
        self.server = None

    def serve(self, handle, **options):
        self.server = HostileServer(self._certificates, handle, **options)

    def send(self, count, *options, payload=None):
        """Sends notifications and returns their results by `apns-id`, in the order of the input."""
        lines = [
            {"token": f"{number:04x}", "id": str(uuid.uuid4()), "payload": payload or {"aps": {"alert": str(number)}}}
            for number in range(count)
        ]
        done = subprocess.run(
            [str(PROGRAM), "--key", str(self._folder / "AuthKey.p8"), "--key-id", "ABCDE12345", "--team", "TEAM123456",
             "--bundle", BUNDLE, "--server", f"localhost:{self.server.port}", "--authorities",
             str(self._certificates.ca), *options],
            input="".join(json.dumps(line) + "\n" for line in lines), env=clean_environment(), capture_output=True,
            text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        told = {line["token"]: line for line in map(json.loads, done.stdout.splitlines())}
        assert len(told) == count
        return [(line["id"], told[line["token"]]) for line in lines]


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.server.close()


def accepted(results):
    return all(told["result"] == "accepted" and told["id"] == name for name, told in results)


def test_every_notification_is_accepted_once_with_a_token_that_verifies(world):
    world.serve(lambda connection, request: connection.accept(request))
    results = world.send(200)
    assert accepted(results)
    requests = world.server.requests
    assert sorted(request.fields["apns-id"] for request in requests) == sorted(name for name, _ in results)
    first = requests[0].fields
    assert first["apns-topic"] == BUNDLE and first["apns-push-type"] == "alert" and first["apns-priority"] == "10"
    scheme, token = first["authorization"].split(" ")
    head, claims, signature = token.split(".")
    decode = lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))  # noqa: E731
    assert scheme == "bearer" and json.loads(decode(head)) == {"alg": "ES256", "kid": "ABCDE12345"}
    assert json.loads(decode(claims)).keys() == {"iss", "iat"} and type(json.loads(decode(claims))["iat"]) is int
    raw = decode(signature)
    numbers = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    world.key.public_key().verify(numbers, f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    assert len({request.fields["authorization"] for request in requests}) == 1


def test_a_token_proves_itself_on_one_stream(world):
    waiting = threading.Semaphore(0)

    def handle(connection, request):
        if len(world.server.requests) == 1:
            # Whatever else the client wants to send has the time to come.
            connection.socket.settimeout(0.3)
            with pytest.raises(TimeoutError):
                connection.socket.recv(1)
            connection.socket.settimeout(None)
            waiting.release()
        connection.accept(request)

    world.serve(handle)
    assert accepted(world.send(20))
    assert waiting.acquire(blocking=False)


def test_goaway_in_two_steps_loses_nothing_and_sends_nothing_twice(world):
    def handle(connection, request):
        if connection.number > 1 or len(world.server.requests) == 1:
            return connection.accept(request)
        if len(connection.open) < 10:
            return None
        held = sorted(connection.open)
        connection.h2.close_connection(last_stream_id=2**31 - 1)
        connection.flush()
        # h2 ends the connection with its first GOAWAY; the second one and the answers are written by hand.
        kept = [connection.open[stream] for stream in held[:5]]
        goaway = b"\x00\x00\x1d\x07\x00\x00\x00\x00\x00" + held[4].to_bytes(4, "big") + bytes(4)
        goaway += b'{"reason":"Shutdown"}'
        answers = b"".join(
            b"\x00\x00\x01\x01\x05" + one.stream.to_bytes(4, "big") + b"\x88" for one in kept)
        connection.socket.sendall(goaway + answers)
        connection.kept = {one.fields["apns-id"] for one in kept}
        return None

    world.serve(handle)
    results = world.send(11)
    assert accepted(results)
    first = world.server.connections[0]
    again = {request.fields["apns-id"] for request in world.server.requests if request.connection > 1}
    assert len(first.kept) == 5 and len(again) == 5 and not first.kept & again


def test_settings_of_one_stream_are_kept_at_once_and_taken_back(world):
    most, raised = [], []

    def handle(connection, request):
        if len(world.server.requests) == 150:
            most.append(max(other.most_open for other in world.server.connections))
            connection.set(MAX_CONCURRENT_STREAMS=100)
            raised.append(connection)
        elif connection in raised and connection.most_open < 5:
            return
        for waiting in list(connection.open.values()):
            if waiting.ended:
                connection.accept(waiting)

    world.serve(handle, MAX_CONCURRENT_STREAMS=1)
    assert accepted(world.send(300))
    assert most == [1] and raised[0].most_open >= 5


def test_streams_above_a_lowered_limit_are_sent_again(world):
    refused = set()

    def handle(connection, request):
        name = request.fields["apns-id"]
        if len(world.server.requests) > 1 and len(refused) < 20:
            refused.add(name)
            connection.reset(request, h2.errors.ErrorCodes.REFUSED_STREAM)
            # Apple sends a second reset of the same stream.
            connection.flush()
            connection.socket.sendall(
                b"\x00\x00\x04\x03\x00" + request.stream.to_bytes(4, "big") + b"\x00\x00\x00\x05")
        else:
            connection.accept(request)

    world.serve(handle)
    assert accepted(world.send(40))
    assert refused and all(
        sum(request.fields["apns-id"] == name for request in world.server.requests) >= 2 for name in refused)


@pytest.mark.parametrize("resends", [False, True])
def test_a_connection_that_dies_is_not_knowing_unless_the_caller_says_so(world, resends):
    def handle(connection, request):
        if len(world.server.requests) == 1:
            connection.socket.close()
        else:
            connection.accept(request)

    world.serve(handle)
    (name, told), = world.send(1, *(["--resend", "yes"] if resends else []))
    if resends:
        assert told["result"] == "accepted"
        assert [request.fields["apns-id"] for request in world.server.requests] == [name, name]
    else:
        assert told["error"] == "connectionLost" and told["mayHaveBeenProcessed"] == "true"
        assert len(world.server.requests) == 1


def test_silence_ends_at_the_deadline(world):
    world.serve(lambda connection, request: None)
    (_, told), = world.send(1, "--deadline", "1")
    assert told["error"] == "deadline" and told["mayHaveBeenProcessed"] == "true"


def test_an_expired_token_is_replaced_on_another_connection(world):
    def handle(connection, request):
        if connection.number == 1:
            connection.refuse(request, 403, "ExpiredProviderToken")
        else:
            connection.accept(request)

    world.serve(handle)
    assert accepted(world.send(10))
    assert len({request.fields["authorization"] for request in world.server.requests}) == 2


@pytest.mark.parametrize("pieces", [1, 3, 40])
def test_a_refusal_is_read_from_any_number_of_padded_frames(world, pieces):
    world.serve(lambda connection, request: connection.refuse(
        request, 410, "Unregistered", pieces=pieces, timestamp=1_700_000_000_123))
    (_, told), = world.send(1)
    assert told["result"] == "tokenDead" and told["since"].startswith("1700000000.1")


@pytest.mark.parametrize("settings", [
    {"HEADER_TABLE_SIZE": 0}, {"INITIAL_WINDOW_SIZE": 1000}, {"MAX_FRAME_SIZE": 16384, "MAX_HEADER_LIST_SIZE": 8000}])
def test_unusual_settings_change_nothing(world, settings):
    world.serve(lambda connection, request: connection.accept(request), **settings)
    assert accepted(world.send(50, payload={"aps": {"alert": "x" * 900}}))


def test_a_server_without_http_2_gets_nothing(world):
    world.serve(lambda connection, request: connection.accept(request), protocols=("http/1.1",))
    (_, told), = world.send(1, "--deadline", "1")
    assert told["error"] == "deadline" and told["mayHaveBeenProcessed"] == "false"
    assert not world.server.requests


def test_bytes_that_are_no_frames_end_the_connection_alone(world):
    def handle(connection, request):
        if connection.number == 1:
            connection.socket.sendall(b"\xff" * 64)
        else:
            connection.accept(request)

    world.serve(handle)
    results = world.send(2)
    assert sorted(told.get("error", told.get("result")) for _, told in results) == ["accepted", "connectionLost"]
