"""A server whose certificate is renewed while it runs: each listener shows the new one, and open connections go on."""

import datetime
import ipaddress
import json
import os
import signal
import socket
import ssl
import subprocess
import urllib.request

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from aldaba_process import BINARY, clean_environment, run_aldaba
from h2_client import H2Client
from waiting import wait_for_end, wait_until

LISTENERS = ("apnsPort", "devicePort", "controlPort")


def make_certificate(folder, days):
    """A certificate of its own authority with its key; returns its serial number and end."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(
            x509.SubjectAlternativeName([
                x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(True, False, False, False, False, True, False, False, False), critical=True)
        .sign(key, hashes.SHA256()))
    (folder / "key.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    (folder / "chain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return certificate.serial_number, int(certificate.not_valid_after_utc.timestamp())


class Server:
    """A running `aldaba serve` with a certificate of the test's."""

    def __init__(self, folder):
        self.log = folder / "serve.log"
        arguments = [
            "serve", "--report-ready", "--data", folder / "data", "--certificate", folder / "chain.pem",
            "--certificate-key", folder / "key.pem",
            *(f"--{listener}-port=0" for listener in ("apns", "device", "control", "metrics")),
        ]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [str(BINARY), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                env=clean_environment())
        self.ready = json.loads(self.process.stdout.readline())

    def serial(self, listener):
        """The serial number of the certificate that a listener shows to a new connection."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if listener == "apnsPort":
            context.set_alpn_protocols(["h2"])
        with socket.create_connection(("127.0.0.1", self.ready[listener]), 10) as plain:
            with context.wrap_socket(plain) as secured:
                return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True)).serial_number

    def serials(self):
        return {self.serial(listener) for listener in LISTENERS}

    def hang_up(self):
        self.process.send_signal(signal.SIGHUP)

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ready['metricsPort']}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return [float(line.split()[1]) for line in lines if line.startswith(f"{name} ")]

    def end(self):
        self.process.terminate()
        ended = wait_for_end(self.process.pid, 20)
        if not ended:
            self.process.kill()
        self.process.stdout.close()
        assert (ended, self.process.wait(10)) == (True, 0), self.log.read_text()


@pytest.fixture
def running(tmp_path):
    made = make_certificate(tmp_path, 90)
    server = Server(tmp_path)
    yield server, tmp_path, made
    server.end()


def test_a_renewed_certificate_is_shown_at_once_after_sighup(running):
    server, folder, (serial, end) = running
    assert server.serials() == {serial}
    assert server.metric("aldaba_certificate_expiry_timestamp_seconds") == [end]
    authority = folder / "first.pem"
    authority.write_bytes((folder / "chain.pem").read_bytes())
    with H2Client(f"https://127.0.0.1:{server.ready['apnsPort']}", str(authority)) as open_before:
        assert open_before.request("GET", "/", []).status == 405
        renewed, end = make_certificate(folder, 5)
        server.hang_up()
        wait_until(lambda: server.serials() == {renewed}, "every listener shows the new certificate")
        assert server.metric("aldaba_certificate_expiry_timestamp_seconds") == [end]
        assert "the certificate ends in 4 days" in server.log.read_text()
        assert open_before.request("GET", "/", []).status == 405


def test_files_that_cannot_be_used_change_nothing(running):
    server, folder, (serial, _) = running
    key = (folder / "key.pem").read_bytes()
    renewed, _ = make_certificate(folder, 90)
    new_key = (folder / "key.pem").read_bytes()
    # The certificate is there already, its key not yet.
    (folder / "key.pem").write_bytes(key)
    server.hang_up()
    wait_until(lambda: "this key does not fit" in server.log.read_text(), "the log says what is wrong")
    assert server.serials() == {serial}
    (folder / "key.pem").write_bytes(new_key)
    server.hang_up()
    wait_until(lambda: server.serials() == {renewed}, "every listener shows the new certificate")


def test_a_key_that_does_not_fit_is_refused_at_the_start_and_told_by_doctor(tmp_path):
    make_certificate(tmp_path, 90)
    key = (tmp_path / "key.pem").read_bytes()
    make_certificate(tmp_path, 90)
    (tmp_path / "key.pem").write_bytes(key)
    files = ["--certificate", tmp_path / "chain.pem", "--certificate-key", tmp_path / "key.pem"]
    done = run_aldaba("serve", "--data", tmp_path / "data", *files, check=False)
    assert done.returncode == 3, done.stderr
    assert f"{tmp_path}/key.pem: this key does not fit" in done.stderr
    done = run_aldaba("doctor", "--data", tmp_path / "data", *files, check=False)
    assert done.returncode != 0
    assert "this key does not fit" in done.stdout
