"""Certificates the way a course makes them: `openssl` for keys, requests, .p12 and .pem, `aldaba` as member centre."""

import json
import subprocess

from aldaba_process import clean_environment, run_aldaba

PASSPHRASE = "course"


def run(*command, check=True, seconds=60, folder=None):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=seconds, cwd=folder, env=clean_environment())
    if check:
        assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class Course:
    """A folder of a developer's, beside a server's data folder."""

    def __init__(self, folder, data):
        self.folder = folder
        self.data = data

    def openssl(self, *words, **options):
        return run("openssl", *words, folder=self.folder, **options)

    def aldaba(self, *words, check=True):
        """A command on the server's data folder, its files relative to the developer's folder."""
        return run_aldaba(*words, "--data", self.data, check=check, cwd=self.folder)

    def told(self, *words):
        """What a command prints with --json."""
        return json.loads(self.aldaba(*words, "--json").stdout)

    def request(self, name="push", key="rsa:2048"):
        """NAME.key and NAME.csr."""
        options = () if key.startswith("rsa") else ("-pkeyopt", "ec_paramgen_curve:P-256")
        self.openssl(
            "req", "-new", "-newkey", key, *options, "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
            "-subj", "/emailAddress=dev@example.com/CN=Push key/C=DE")
        return f"{name}.csr"

    def sign(self, topic, *flags, name="push", key="rsa:2048"):
        """A certificate for a new key, NAME.cer; what `certificate sign` told of it."""
        return self.told(
            "certificate", "sign", self.request(name, key), "--app", topic, "--output", f"{name}.cer", *flags)

    def export(self, name="push", *ciphers):
        """NAME.p12 of NAME.key and NAME.cer, as a keychain exports it."""
        self.openssl("x509", "-inform", "der", "-in", f"{name}.cer", "-out", f"{name}.crt")
        self.openssl(
            "pkcs12", "-export", *ciphers, "-inkey", f"{name}.key", "-in", f"{name}.crt", "-out", f"{name}.p12",
            "-passout", f"pass:{PASSPHRASE}")
        return f"{name}.p12"

    def pem(self, name="push", *ciphers):
        """NAME.pem of NAME.p12, by the course's own line."""
        self.openssl(
            "pkcs12", "-in", f"{name}.p12", "-out", f"{name}.pem", "-nodes", "-clcerts", *ciphers,
            "-passin", f"pass:{PASSPHRASE}")
        return self.folder / f"{name}.pem"

    def certificate(self, topic, *flags, name="push", key="rsa:2048"):
        """The .pem of a new certificate, and what was told of it."""
        told = self.sign(topic, *flags, name=name, key=key)
        self.export(name)
        return self.pem(name), told
