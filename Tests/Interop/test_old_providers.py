"""Apple's old binary interface: PHP scripts and a Python client of its time, with a `.pem` as `openssl` writes it."""

import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import time
import urllib.request
import warnings
from pathlib import Path

import pytest

from aldaba_process import REPOSITORY, AldabaUp, clean_environment, run_aldaba
from waiting import wait_until

with warnings.catch_warnings():
    # It says that Python's wrap_socket is going to leave; that is why it is pinned to this Python.
    warnings.simplefilter("ignore")
    from pushjack import APNSClient

SCRIPTS = REPOSITORY / "Examples/OldProviderScripts"
NOBODY = "ab" * 32
ERROR = struct.Struct(">BBI")


class World:
    """A running server with the gateway and the feedback service, a provider's `.pem`, and the demo app's list."""

    def __init__(self, up, folder):
        self.up = up
        self.path = up.ready
        self.data = up.ready["data"]
        self.pem = folder / "ck.pem"
        self.certificate_id = self._make_pem(folder)

    def _make_pem(self, folder):
        key, request, signed = folder / "push.key", folder / "push.csr", folder / "aps.pem"
        subprocess.run(
            ["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj",
             "/CN=push"], check=True, capture_output=True)
        shown = run_aldaba(
            "certificate", "sign", request, "--app", self.path["topic"], "--output", signed, "--json", "--data",
            self.data)
        self.pem.write_bytes(signed.read_bytes() + key.read_bytes())
        self.pem.chmod(0o600)
        return json.loads(shown.stdout)["certificateId"]

    @property
    def token(self):
        return self.path["deviceToken"]

    def address(self, name="legacy"):
        host, port = self.path[name].rsplit(":", 1)
        return host, int(port)

    def php(self, script, *arguments, **extra):
        """Runs a script with the certificate and the addresses in its environment."""
        environment = clean_environment(
            CERTIFICATE=str(self.pem), GATEWAY=f"ssl://{self.path['legacy']}",
            FEEDBACK=f"ssl://{self.path['legacyFeedback']}", SSL_CERT_FILE=self.path["ca"], **extra)
        done = subprocess.run(
            ["php", "-n", "-d", f"openssl.cafile={self.path['ca']}", str(SCRIPTS / script), *arguments],
            capture_output=True, text=True, timeout=60, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def connect(self, name="legacy", pem=None):
        context = ssl.create_default_context(cafile=self.path["ca"])
        context.load_cert_chain(pem or self.pem)
        host, port = self.address(name)
        return context.wrap_socket(socket.create_connection((host, port), 10), server_hostname=host)

    def listens(self):
        try:
            self.connect().close()
        except ConnectionRefusedError:
            return False
        return True

    def has_session(self):
        """Whether the agent is connected to the server that runs now."""
        try:
            with urllib.request.urlopen(f"{self.path['metrics']}/metrics", timeout=10) as answer:
                return bool(re.search(r'aldaba_device_logins_total{outcome="welcome"} [1-9]', answer.read().decode()))
        except OSError:
            return False

    def items(self):
        """The demo app's list: one item for each notification with a member `todo`."""
        file = Path(self.data) / "todo.json"
        return file.read_text() if file.exists() else ""

    def wait_for_item(self, text):
        wait_until(lambda: text in self.items(), f"the demo app has {text!r}", 60)


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    up = AldabaUp.ephemeral("--legacy-port=0", "--legacy-feedback-port=0", name=__name__)
    try:
        yield World(up, tmp_path_factory.mktemp("provider"))
    finally:
        assert up.stop() == 0


def enhanced(identifier, token, payload, expiry=None):
    expiry = int(time.time()) + 3600 if expiry is None else expiry
    return struct.pack(">BIIH", 1, identifier, expiry, 32) + bytes.fromhex(token) + struct.pack(
        ">H", len(payload)) + payload


def payload(text):
    return json.dumps({"aps": {"alert": text}, "todo": text}).encode()


def answer(connection):
    """Everything until the server ends the connection."""
    received = b""
    while chunk := connection.recv(4096):
        received += chunk
    return received


def test_a_script_that_writes_and_hangs_up_reaches_the_app(old):
    assert old.php("send.php", old.token, "Milk from PHP") == "sent\n"
    old.wait_for_item("Milk from PHP")


def test_a_push_that_comes_with_the_end_of_the_stream_in_one_segment_is_taken(old):
    context = ssl.create_default_context(cafile=old.path["ca"])
    context.load_cert_chain(old.pem)
    arrived, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(arrived, leaving, server_hostname=old.address()[0])
    with socket.create_connection(old.address(), 10) as connection:
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                connection.sendall(leaving.read())
                arrived.write(connection.recv(65536))
        tls.write(enhanced(1, old.token, payload("With the end")))
        # With MSG_MORE the certificate, the push and the FIN leave together.
        connection.send(leaving.read(), socket.MSG_MORE)
        connection.shutdown(socket.SHUT_WR)
    old.wait_for_item("With the end")


@pytest.mark.parametrize("frames", ["enhanced", "items"])
def test_a_script_goes_on_behind_the_token_that_an_error_names(old, frames):
    text = f"Bread by {frames}"
    done = old.php("send-many.php", text, NOBODY, NOBODY, old.token, FRAMES=frames)
    assert done == "0: 8 invalid token\n1: 8 invalid token\ndone\n"
    old.wait_for_item(text)


def python_client(old):
    client = APNSClient(certificate=str(old.pem), default_error_timeout=2)
    client.host, client.port = old.address()
    client.feedback_host, client.feedback_port = old.address("legacyFeedback")
    return client


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_python_client_of_that_time_sends_and_is_told_of_errors(old):
    client = python_client(old)
    sent = client.send([old.token, NOBODY, old.token], "Cheese", extra={"todo": "Cheese"})
    assert sent.failures == [NOBODY] and [error.code for error in sent.errors] == [8]
    old.wait_for_item("Cheese")
    client.close()


def test_frames_that_arrive_byte_by_byte_are_read(old):
    with old.connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in enhanced(7, old.token, payload("Byte by byte")):
            connection.sendall(bytes([byte]))
        connection.sendall(enhanced(8, NOBODY, payload("nobody's")))
        assert ERROR.unpack(answer(connection)) == (8, 8, 8)
    old.wait_for_item("Byte by byte")


FAULTS = {
    "a token in digits": (struct.pack(">BIIH", 1, 5, 0, 64), 5, 5),
    "no payload": (struct.pack(">BIIH", 1, 5, 0, 32) + bytes(32) + bytes(2), 4, 5),
    "a long payload": (struct.pack(">BIIH", 1, 5, 0, 32) + bytes(32) + struct.pack(">H", 2049), 7, 5),
    "another protocol": (b"POST / HTTP/1.1\r\n\r\n", 128, 0),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_frame_has_its_status(old, name):
    frame, status, identifier = FAULTS[name]
    with old.connect() as connection:
        connection.sendall(frame)
        assert ERROR.unpack(answer(connection)) == (8, status, identifier)


def test_what_came_before_an_error_is_taken_and_nothing_after_it(old, tmp_path):
    with old.connect() as connection:
        frames = [enhanced(number, old.token, payload(f"before {number:04}.")) for number in range(400)]
        frames.append(enhanced(400, NOBODY, payload("nobody's")))
        frames += [enhanced(number, old.token, payload(f"after {number:04}.")) for number in range(401, 800)]
        connection.sendall(b"".join(frames))
        assert ERROR.unpack(answer(connection)) == (8, 8, 400)
    old.wait_for_item("before 0399.")
    assert all(f"before {number:04}." in old.items() for number in range(400))
    assert "after" not in old.items()


def test_dead_tokens_are_told_once_and_are_no_error(old, tmp_path):
    tokens = tmp_path / "tokens"
    run_aldaba("device", "simulate", 3, "--offline", "--tokens", tokens, "--data", old.data)
    assert old.php("feedback.php") == ""
    dead = tokens.read_text().split()
    for token in dead:
        with old.connect() as connection:
            connection.sendall(enhanced(1, token, payload("for the living")) + b"\x09")
            assert ERROR.unpack(answer(connection)) == (8, 128, 0)
    for device in devices_of(old, dead):
        run_aldaba("device", "revoke", device, "--data", old.data)
    with old.connect() as connection:
        connection.sendall(enhanced(1, dead[0], payload("for the dead")) + b"\x09")
        assert ERROR.unpack(answer(connection)) == (8, 128, 0), "a dead token is no error"
    told = dict(line.split() for line in old.php("feedback.php").splitlines())
    assert set(told) == set(dead)
    assert all(abs(int(seconds) - time.time()) < 60 for seconds in told.values())
    assert old.php("feedback.php") == ""


def devices_of(old, tokens):
    """The device ids behind tokens: the timeline of a push names the device."""
    devices = []
    for token in tokens:
        sent = json.loads(run_aldaba(
            "send", "--token", token, "--title", "who", "--json", "--data", old.data).stdout)
        [notification] = json.loads(run_aldaba("get", sent["apnsId"], "--json", "--data", old.data).stdout)
        devices.append(notification["device"])
    return devices


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_python_client_reads_feedback(old, tmp_path):
    tokens = tmp_path / "tokens"
    run_aldaba("device", "simulate", 1, "--offline", "--tokens", tokens, "--data", old.data)
    [token] = tokens.read_text().split()
    [device] = devices_of(old, [token])
    run_aldaba("device", "revoke", device, "--data", old.data)
    assert [expired.token for expired in python_client(old).get_expired_tokens()] == [token]


def test_the_commands_of_the_page_run_as_they_stand(old, tmp_path):
    page = (REPOSITORY / "Docs/old-provider-scripts.md").read_text()
    # The line that reads the environment is for the data folder of `up`; what the script prints is no command.
    blocks = [re.sub(r"(?m)^\. .*\n", "", block) for block in re.findall(r"(?ms)^```(?:sh|text)\n(.*?)^```", page)]
    blocks.remove("sent\n")
    assert blocks[0].startswith("aldaba up --legacy-port")
    for there, here in {
        "127.0.0.1:2195": old.path["legacy"], "127.0.0.1:2196": old.path["legacyFeedback"], "DATA": old.data,
        "DEVICE_TOKEN": old.token, "Examples/": f"{REPOSITORY}/Examples/", "Buy milk": "Buy milk by the page",
        "certificate sign ": f"certificate sign --data {old.data} ",
    }.items():
        assert any(there in block for block in blocks[1:]), there
        blocks = [block.replace(there, here) for block in blocks]
    done = subprocess.run(
        ["sh", "-e"], input="\n".join(blocks[1:]), text=True, capture_output=True, cwd=tmp_path, timeout=60,
        env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    old.wait_for_item("Buy milk by the page")


def test_a_server_that_stops_names_the_last_push_that_it_took(old):
    with old.connect() as connection:
        connection.sendall(enhanced(42, old.token, payload("The last one")))
        old.wait_for_item("The last one")
        server = old.up.pids()["serve"]
        os.kill(server, signal.SIGTERM)
        assert ERROR.unpack(answer(connection)) == (8, 10, 42)
    # The next server listens on the port that the first was given.
    wait_until(old.listens, "the gateway listens again")
    # The agent pauses longer the more often it found no server.
    wait_until(old.has_session, "the agent has logged in again", 90)
    assert old.php("send.php", old.token, "After the restart") == "sent\n"
    old.wait_for_item("After the restart")


def test_without_a_certificate_nobody_is_let_in(old):
    context = ssl.create_default_context(cafile=old.path["ca"])
    host, port = old.address()
    with pytest.raises((ssl.SSLError, ConnectionError)):
        with context.wrap_socket(socket.create_connection((host, port), 10), server_hostname=host) as connection:
            connection.sendall(enhanced(1, old.token, payload("stranger")))
            if connection.recv(1) == b"":
                raise ConnectionResetError


def test_a_revoked_certificate_counts_no_more_on_a_connection_that_is_open(old):
    with old.connect() as connection:
        connection.sendall(enhanced(1, old.token, payload("Before the revocation")))
        old.wait_for_item("Before the revocation")
        run_aldaba("certificate", "revoke", old.certificate_id, "--data", old.data)
        connection.sendall(enhanced(2, old.token, payload("After the revocation")))
        assert ERROR.unpack(answer(connection)) == (8, 255, 2)
    with old.connect() as connection:
        assert answer(connection) == b""
    assert "After the revocation" not in old.items()
