"""A certificate authority of a test's own, and a server's certificate signed by it."""

import datetime
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True)
class Certificates:
    """Where the files are: the authority's certificate, the server's certificate and its private key."""

    ca: Path
    server: Path
    key: Path


def make_certificates(folder, minutes=120, usages=(ExtendedKeyUsageOID.SERVER_AUTH,)):
    """Makes both for `localhost` and 127.0.0.1, P-256, as OpenSSL's strict rules want them; `usages` are the server's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = Certificates(folder / "ca.pem", folder / "server.pem", folder / "server-key.pem")
    begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=5)
    end = begin + datetime.timedelta(minutes=minutes)
    authority_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name, server_name = _name("A test's authority"), _name("localhost")

    def usage(signs_certificates):
        return x509.KeyUsage(
            digital_signature=not signs_certificates, key_cert_sign=signs_certificates, crl_sign=signs_certificates,
            content_commitment=False, key_encipherment=False, data_encipherment=False, key_agreement=False,
            encipher_only=False, decipher_only=False)

    def begun(subject, key):
        return (
            x509.CertificateBuilder().subject_name(subject).issuer_name(authority_name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(end)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False))

    authority = begun(authority_name, authority_key).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True).add_extension(usage(True), critical=True)
    server = (
        begun(server_name, server_key).add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage(False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(list(usages)), critical=False)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False))
    for path, certificate in ((made.ca, authority), (made.server, server)):
        path.write_bytes(
            certificate.sign(authority_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    descriptor = os.open(made.key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(server_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return made


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
