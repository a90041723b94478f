"""The course's two providers, which are curl: one by a key, against our server; one by a certificate, against both."""

import contextlib
import json
import socket
import ssl
import subprocess
import threading

import h2.config
import h2.connection
import h2.events
import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from aldaba_process import REPOSITORY, clean_environment, run_aldaba
from certificates import make_certificates
from course import Course
from waiting import wait_until

COURSE = REPOSITORY / "Examples/Course"
PAYLOAD = json.dumps({"aps": {"alert": {"title": "Lesson nine"}}, "todo": "Read it"})


def run(name, *arguments, stdin=""):
    return subprocess.run(
        [COURSE / name, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=30,
        env=clean_environment())


def test_a_provider_with_a_key_is_accepted_and_its_token_is_no_argument(path, up):
    token = run_aldaba("key", "token", "--data", up.data).stdout
    sent = run("provider-by-key", path["apns"], path["ca"], path["topic"], path["deviceToken"], PAYLOAD, stdin=token)
    assert (sent.stdout, sent.stderr) == ("200\n", "")
    refused = run("provider-by-key", path["apns"], path["ca"], path["topic"], path["deviceToken"], PAYLOAD, stdin="no")
    assert refused.stdout.endswith("403\n") and "InvalidProviderToken" in refused.stdout


def test_a_provider_says_how_it_is_used():
    for name in ("provider-by-key", "provider-by-certificate"):
        wrong = run(name, "https://localhost")
        assert wrong.returncode == 2 and f"{name} SERVER CA" in wrong.stderr


def test_a_provider_with_the_courses_certificate_is_accepted(path, tmp_path):
    course = Course(tmp_path, path["data"])
    pem, _ = course.certificate(path["topic"])
    todo = [path["apns"], path["ca"], pem, tmp_path / "push.key", path["topic"], path["deviceToken"], PAYLOAD]
    sent = run("provider-by-certificate", *todo)
    assert (sent.stdout, sent.stderr) == ("200\n", "")
    wait_until(
        lambda: any("Lesson nine" in json.dumps(each) for each in listed(path)), "the device shows the lesson")
    todo[4] = "com.example.another"
    refused = run("provider-by-certificate", *todo)
    assert refused.stdout.endswith("400\n") and "TopicDisallowed" in refused.stdout


def listed(path):
    """What the device's list has."""
    told = run_aldaba("notifications", "list", "--json", "--data", path["data"], check=False).stdout
    return json.loads(told) if told.strip() else []


class CertifiedPeer(threading.Thread):
    """Takes one push over HTTP/2 from whoever shows a certificate, and answers 200."""

    def __init__(self, files):
        super().__init__(daemon=True)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=files.ca)
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._context.set_alpn_protocols(["h2"])
        self._context.load_cert_chain(files.server, files.key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(20)
        self.port = self._listener.getsockname()[1]
        self.certificate, self.headers, self.body = None, {}, b""

    def run(self):
        with self._listener, self._listener.accept()[0] as plain:
            plain.settimeout(20)
            try:
                with self._context.wrap_socket(plain, server_side=True) as peer:
                    self.certificate = peer.getpeercert()
                    self._serve(peer)
            except (ssl.SSLError, OSError):
                pass  # It showed none, or went.

    def _serve(self, peer):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        peer.sendall(connection.data_to_send())
        while data := peer.recv(65536):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self.headers = dict(event.headers)
                elif isinstance(event, h2.events.DataReceived):
                    self.body += event.data
                elif isinstance(event, h2.events.StreamEnded):
                    connection.send_headers(event.stream_id, [(":status", "200")], end_stream=True)
            peer.sendall(connection.data_to_send())


@pytest.fixture
def files(tmp_path):
    return make_certificates(
        tmp_path / "certificates", usages=(ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH))


@pytest.fixture
def peer(files):
    made = CertifiedPeer(files)
    made.start()
    yield made
    made.join(25)


def test_a_provider_with_a_certificate_proves_itself_by_it_alone(files, peer):
    sent = run(
        "provider-by-certificate", f"https://127.0.0.1:{peer.port}", files.ca, files.server, files.key, "com.example.todo",
        "ab" * 32, PAYLOAD)
    assert (sent.stdout, sent.stderr) == ("200\n", "")
    peer.join(25)
    assert peer.certificate and peer.headers[":path"] == f"/3/device/{'ab' * 32}"
    assert peer.headers["apns-topic"] == "com.example.todo" and "authorization" not in peer.headers
    assert peer.body.decode() == PAYLOAD


def test_a_provider_without_the_certificate_s_key_sends_nothing(files, peer, tmp_path):
    (tmp_path / "none.pem").write_text("")
    sent = run(
        "provider-by-certificate", f"https://127.0.0.1:{peer.port}", files.ca, tmp_path / "none.pem", files.key,
        "com.example.todo", "ab" * 32, PAYLOAD)
    assert sent.returncode != 0
    with contextlib.suppress(ConnectionRefusedError):  # The peer waits where nobody has called.
        socket.create_connection(("127.0.0.1", peer.port), 5).close()
    peer.join(25)
    assert peer.headers == {}
