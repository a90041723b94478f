"""A server of a test's own as one runs in production: `aldaba serve` with its own certificate, keys and data."""

import json
import os
import resource
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

from aldaba_process import ARTEFACTS, BINARY, clean_environment, run_aldaba
from certificates import make_certificates
from h2_client import open_tls
from provider import Provider
from provider_tokens import ProviderKey
from secured_control import SecuredControl
from waiting import TimedOut

TEAM, TOPIC = "OWNTEAM001", "com.example.own"
ENROLMENT_KEY = "enrol-4f1c9a72e85b"
READY_SECONDS = 60
LISTENERS = ("apns", "device", "control", "metrics")


class OwnServer:
    """A process `aldaba serve`; its data folder outlives its runs, and so do its ports.

    `ready` has the members of the line of `aldaba up` that a server can tell, so that what takes that takes this.
    """

    def __init__(self, folder, name, *flags, enrolment_key=ENROLMENT_KEY, open_files=None, log_level="info"):
        self.data = Path(folder) / "data"
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.certificates = make_certificates(Path(folder) / "certificates")
        self.enrolment_key = enrolment_key
        ARTEFACTS.mkdir(exist_ok=True)
        self.log = ARTEFACTS / f"{name}.serve.log"
        self.log.unlink(missing_ok=True)
        self._flags = list(map(str, flags))
        self._open_files = open_files
        self._log_level = log_level
        self._keys = {}
        self.process = None
        self.addresses = {}
        self.ready = {}

    # Register

    # Everything is started with a mask that hides nothing: what is private is so by the server's own doing.

    def aldaba(self, *arguments, **options):
        """A command on the server's data folder."""
        return run_aldaba(*arguments, "--data", self.data, umask=0, **options)

    def add_app(self, topic=TOPIC, team=TEAM):
        self.aldaba("app", "create", topic, "--team", team)
        return topic

    def add_key(self, team=TEAM):
        """A new provider key, as `aldaba key create` makes it."""
        made = json.loads(self.aldaba("key", "create", "--team", team, "--json").stdout)
        return ProviderKey(Path(made["path"]).read_bytes(), made["keyId"], team)

    def key(self, team=TEAM):
        """The team's key that this object made first."""
        if team not in self._keys:
            self._keys[team] = self.add_key(team)
        return self._keys[team]

    # The process

    def start(self):
        """Starts the server and waits for its line of addresses; a later run has the ports of the first."""
        ports = {name: self.addresses.get(f"{name}Port", 0) for name in LISTENERS}
        command = [
            str(BINARY), "serve", "--report-ready", "--data", str(self.data), "--log-level", self._log_level,
            "--certificate", str(self.certificates.server), "--certificate-key", str(self.certificates.key),
            *(f"--{name}-port={port}" for name, port in ports.items()), *self._flags,
        ]
        environment = clean_environment()
        if self.enrolment_key is not None:
            environment["ALDABA_ENROLMENT_KEY"] = self.enrolment_key
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                start_new_session=True, umask=0, preexec_fn=self._limit_descriptors if self._open_files else None)
        try:
            self._read_addresses()
        except BaseException:
            self.kill()
            raise
        return self

    def _limit_descriptors(self):
        # The server raises its own limit to the hard one.
        resource.setrlimit(resource.RLIMIT_NOFILE, (self._open_files // 4, self._open_files))

    def _read_addresses(self):
        deadline = time.monotonic() + READY_SECONDS
        line = b""
        while b"\n" not in line:
            left = max(0, deadline - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                raise TimedOut(f"the server was not ready within {READY_SECONDS} s\n{self.log_tail()}")
            piece = os.read(self.process.stdout.fileno(), 65536)
            assert piece, f"the server ended with {self.process.wait(10)} before it was ready\n{self.log_tail()}"
            line += piece
        self.addresses = told = json.loads(line)
        self.ready = {
            "apns": f"https://{told['host']}:{told['apnsPort']}", "mcs": f"{told['host']}:{told['devicePort']}",
            "control": f"https://{told['host']}:{told['controlPort']}",
            "metrics": f"http://127.0.0.1:{told['metricsPort']}", "ca": str(self.certificates.ca),
        }
        if told.get("httpPort"):
            self.ready["http"] = f"http://127.0.0.1:{told['httpPort']}"

    def stop(self, seconds=20):
        """SIGTERM; returns how long the end took, in seconds. The server must end by itself and well."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TimedOut(f"the server did not end within {seconds} s of SIGTERM\n{self.log_tail()}") from None
        took = time.monotonic() - began
        self.process.stdout.close()
        assert code == 0, f"the server ended with {code} after SIGTERM\n{self.log_tail()}"
        return took

    def kill(self):
        """SIGKILL, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        if self.process is not None:
            self.process.stdout.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    # Clients

    def provider(self, key=None, topic=TOPIC):
        return Provider(self.ready, key or self.key(), topic)

    def control(self, key=None):
        """The control API over TLS, with the enrolment key and a provider's key."""
        return SecuredControl(
            self.ready["control"], self.ready["ca"], enrolment_key=self.enrolment_key, provider_key=key or self.key())

    def exchange_with_control(self, data, seconds=5):
        """What the control API's listener answers to some bytes, its head at least; nothing when it says nothing."""
        received = b""
        with open_tls(self.ready["control"], self.ready["ca"], protocols=(), timeout=seconds) as secured:
            try:
                secured.sendall(data)
                while b"\r\n\r\n" not in received and (piece := secured.recv(65536)):
                    received += piece
            except (OSError, TimeoutError):
                pass
        return received

    def idle(self, listener):
        """A plain TCP connection to a listener, on which nothing is said."""
        return socket.create_connection(("127.0.0.1", self.addresses[f"{listener}Port"]), 10)

    # What is seen from outside

    def log_lines(self):
        return self.log.read_text(errors="replace").splitlines()

    def log_tail(self, lines=40):
        return "\n".join(self.log_lines()[-lines:])

    def processor_seconds(self):
        """The processor time that the process has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def own_memory(self):
        """The bytes of memory that belong to the process alone (RssAnon)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("the process tells no RssAnon")

    def open_files_limit(self):
        """How many descriptors the process may have now (RLIMIT_NOFILE)."""
        return resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE)[0]

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
