"""A NATS server in operator mode: operator, accounts and users are keys, and what they may do stands in signed tokens.

The keys and tokens are made here, by the pages "NKeys" and "JWTs" of docs.nats.io, with Python's cryptography.
"""

import base64
import json
import subprocess
import time
from urllib.parse import quote

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aldaba_process import BINARY, clean_environment
from nats_server import PROGRAM, NATSServer
from own_server import OwnServer
from postgres_server import PROGRAMS, PostgresServer
from test_nodes import Nodes, accept, alert, metric
from waiting import wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")

PREFIXES = {"operator": 14 << 3, "account": 0, "user": 20 << 3}
SEED = 18 << 3
# All that a server of ours needs: the subjects of the servers, and those of answers.
SUBJECTS = {"allow": ["aldaba.>", "_INBOX.>"]}
UNLIMITED = {"subs": -1, "data": -1, "payload": -1}


def checksum(data):
    """CRC-16 with the polynomial 0x1021, which begins with 0."""
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return value


def base32(data):
    return base64.b32encode(data + checksum(data).to_bytes(2, "little")).decode().rstrip("=")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class NKey:
    """A key pair of an operator, an account or a user."""

    def __init__(self, kind):
        self.kind = kind
        self._key = Ed25519PrivateKey.generate()
        prefix = PREFIXES[kind]
        self.public = base32(bytes([prefix]) + self._key.public_key().public_bytes_raw())
        self.seed = base32(bytes([SEED | prefix >> 5, (prefix & 31) << 3]) + self._key.private_bytes_raw())

    def token(self, subject, expires=None, **claims):
        """A token about another key, or this one, which this key signs; `expires` is in seconds from now."""
        now = int(time.time())
        content = {
            "jti": base64url(subject.public.encode()), "iat": now, "iss": self.public, "sub": subject.public,
            "name": f"a test's {subject.kind}", "nats": {**claims, "type": subject.kind, "version": 2}}
        if expires is not None:
            content["exp"] = now + expires
        signed = ".".join(
            base64url(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, content))
        return f"{signed}.{base64url(self._key.sign(signed.encode()))}"


class OperatorNATS(NATSServer):
    """A server that knows one operator and one account of it."""

    def __init__(self):
        self.operator, self.account = NKey("operator"), NKey("account")
        super().__init__()
        (self.folder / "operator.jwt").write_text(self.operator.token(self.operator))
        account = self.operator.token(
            self.account, limits={**UNLIMITED, "imports": -1, "exports": -1, "wildcards": True, "conn": -1, "leaf": -1},
            default_permissions={"pub": {}, "sub": {}})
        (self.folder / "nats.conf").write_text(
            f"operator: \"{self.folder}/operator.jwt\"\nresolver: MEMORY\n"
            f"resolver_preload: {{ {self.account.public}: \"{account}\" }}\n")
        self.arguments = ("-c", self.folder / "nats.conf")
        self.credentials = self.folder / "user.creds"
        self.with_credentials = f"{self.url}?credentials={self.credentials}"

    def write_credentials(self, path, account=None, expires=None, seed=None, subjects=SUBJECTS):
        """The file of a new user, as `nsc` writes it."""
        user = NKey("user")
        token = (account or self.account).token(user, expires, pub=subjects, sub=subjects, **UNLIMITED)
        path.write_text(
            f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
            "************************* IMPORTANT *************************\n"
            "NKEY Seed printed below can be used to sign and prove identity.\n"
            "NKEYs are sensitive and should be treated as secrets.\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{seed or user.seed}\n------END USER NKEY SEED------\n\n"
            "*************************************************************\n")
        path.chmod(0o600)
        return user


class OperatorNodes(Nodes):
    """Two servers on a database that log in at such a NATS server by a credentials file."""

    def __init__(self, folder):
        self.database = PostgresServer().start()
        self.nats = OperatorNATS()
        self.user = self.nats.write_credentials(self.nats.credentials)
        self.nats.start()
        self.servers = [
            OwnServer(
                folder / str(number), f"test_nats_credentials_{number}", "--postgres", self.database.url, "--nats",
                self.nats.with_credentials).start() for number in range(2)]
        self.servers[0].add_app()
        self.key = self.servers[0].key()
        wait_until(self.know_each_other, "the nodes know each other")

    def all_connected(self, value=1):
        return all(metric(server, "aldaba_carrier_connected") == value for server in self.servers)

    def received(self):
        return metric(self.servers[0], "aldaba_node_messages_total", outcome="received")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = OperatorNodes(tmp_path_factory.mktemp("nats_credentials"))
    yield made
    made.end()


@pytest.fixture
def provider(nodes):
    made = nodes.provider(0)
    yield made
    made.close()


def exchange(nodes, provider):
    """A push at the first server is shown by a device at the second one, and the carrier has carried it."""
    device, token = nodes.enrol(1)
    with nodes.connected(1, device) as channel:
        # The server may not know yet that the key was made.
        wait_until(lambda: provider.post(token, {"aps": {"alert": "first"}}).status == 200, "the push is accepted")
        assert alert(channel.notification()) == "first"
        before = nodes.received()
        for number in range(5):
            accept(provider, token, str(number))
            assert alert(channel.notification()) == str(number)
        wait_until(lambda: nodes.received() >= before + 5, "the other server has said that it received them")
    assert metric(nodes.servers[0], "aldaba_node_messages_total", outcome="no_node") == 0


def test_servers_with_a_credentials_file_exchange_pushes(nodes, provider):
    wait_until(nodes.all_connected, "both are connected")
    exchange(nodes, provider)
    for server in nodes.servers:
        text = server.log.read_text()
        assert nodes.user.seed not in text and "eyJ" not in text, "the log has a secret"


def test_a_file_that_expires_is_renewed_without_a_restart(nodes, provider):
    renewed = nodes.nats.folder / "renewed.creds"
    nodes.nats.kill()
    # The time of a token's end is in whole seconds.
    nodes.nats.write_credentials(nodes.nats.credentials, expires=5)
    nodes.nats.start()
    wait_until(nodes.all_connected, "both are connected")
    wait_until(lambda: nodes.all_connected(0), "the NATS server has ended both connections")
    assert all("User Authentication Expired" in server.log.read_text() for server in nodes.servers)
    nodes.nats.write_credentials(renewed)
    renewed.rename(nodes.nats.credentials)
    wait_until(nodes.all_connected, "both are connected")
    exchange(nodes, provider)


def check(nodes, url, folder):
    return subprocess.run(
        [str(BINARY), "serve", "--check", "--data", str(folder), "--postgres", nodes.database.url, "--nats", url],
        env=clean_environment(), capture_output=True, text=True, timeout=60, check=False)


def test_serve_check_takes_a_credentials_file(nodes, tmp_path):
    done = check(nodes, nodes.nats.with_credentials, tmp_path / "none")
    assert done.returncode == 0, done.stderr


def refused_files(nats, folder):
    """Files that cannot be used, each with what is to be said of it."""
    violation = "the server says: Authorization Violation"
    nats.write_credentials(folder / "expired", expires=-60)
    yield "expired", violation
    nats.write_credentials(folder / "other account", account=NKey("account"))
    yield "other account", violation
    nats.write_credentials(folder / "other seed", seed=NKey("user").seed)
    yield "other seed", violation
    nats.write_credentials(folder / "short seed", seed="SUAC")
    yield "short seed", "the seed in the credentials file of nats is malformed"
    nats.write_credentials(folder / "no base32", seed=nats.account.seed.lower())
    yield "no base32", "the seed in the credentials file of nats is malformed"
    (folder / "token alone").write_text("-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n")
    yield "token alone", "the credentials file of nats has no token or no seed of a user"
    (folder / "empty").touch()
    yield "empty", "the credentials file of nats has no token or no seed of a user"


def test_serve_check_refuses_credentials_by_a_clear_sentence(nodes, tmp_path):
    where = f"the NATS server 127.0.0.1:{nodes.nats.port} cannot be used: "
    for name, sentence in refused_files(nodes.nats, tmp_path):
        done = check(nodes, f"{nodes.nats.url}?credentials={quote(str(tmp_path / name))}", tmp_path / "none")
        assert done.returncode == 3, f"{name}: {done.stderr}"
        assert f"{where}{sentence}" in done.stderr, f"{name}: {done.stderr}"
        seed = [line for line in (tmp_path / name).read_text().splitlines() if line.startswith("SU")]
        assert not [line for line in seed if line in done.stderr], f"{name}: the seed is shown"
    done = check(nodes, nodes.nats.url, tmp_path / "none")
    assert done.returncode == 3 and f"{where}the server says: Authorization Violation" in done.stderr


@pytest.mark.parametrize(("scheme", "parameter"), [("nats", "credentials"), ("tls", "ca")])
def test_serve_check_says_which_file_is_missing(nodes, tmp_path, scheme, parameter):
    url = f"{scheme}://127.0.0.1:{nodes.nats.port}?{parameter}={tmp_path}/missing"
    done = check(nodes, url, tmp_path / "none")
    assert done.returncode == 3 and f"{tmp_path}/missing" in done.stderr, done.stderr
    assert "Error Domain" not in done.stderr, done.stderr


def test_a_user_without_the_subjects_is_told_of(nodes, tmp_path, provider):
    """Such a user can log in. Pushes to devices of another server come late; the check and the log say why."""
    wait_until(nodes.all_connected, "both are connected")
    nodes.nats.kill()
    nodes.nats.write_credentials(nodes.nats.credentials, subjects={"allow": ["other.>"]})
    nodes.nats.start()
    device, token = nodes.enrol(1)
    with nodes.connected(1, device) as channel:
        wait_until(lambda: provider.post(token, {"aps": {"alert": "late"}}).status == 200, "the push is accepted")
        assert alert(channel.notification()) == "late"
    done = check(nodes, nodes.nats.with_credentials, tmp_path / "none")
    assert done.returncode == 3 and "Permissions Violation" in done.stderr, done.stderr + done.stdout
    # A server that has not connected again yet has not been told.
    wait_until(
        lambda: all("Permissions Violation" in server.log.read_text() for server in nodes.servers), "both logs say why")
