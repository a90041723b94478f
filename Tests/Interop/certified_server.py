"""A server of a test's own: `aldaba serve` with a certificate that the test made, on free ports."""

import datetime
import ipaddress
import json
import signal
import socket
import ssl
import subprocess
import urllib.request

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from aldaba_process import BINARY, clean_environment
from waiting import wait_for_end

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
        self.authority = str(folder / "chain.pem")
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

    def connect(self, listener):
        """A TLS connection to a listener, whatever certificate that shows."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if listener == "apnsPort":
            context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", self.ready[listener]), 10)
        return context.wrap_socket(plain)

    def serial(self, listener):
        """The serial number of the certificate that a listener shows to a new connection."""
        with self.connect(listener) as secured:
            return x509.load_der_x509_certificate(secured.getpeercert(binary_form=True)).serial_number

    def serials(self):
        return {self.serial(listener) for listener in LISTENERS}

    def hang_up(self):
        self.process.send_signal(signal.SIGHUP)

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ready['metricsPort']}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return [float(line.split()[1]) for line in lines if line.startswith(f"{name} ")]

    def end(self, seconds=20):
        """Ends it by SIGTERM, which must not take longer."""
        self.process.terminate()
        ended = wait_for_end(self.process.pid, seconds)
        if not ended:
            self.process.kill()
        self.process.stdout.close()
        assert (ended, self.process.wait(10)) == (True, 0), self.log.read_text()
