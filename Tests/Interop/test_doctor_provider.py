"""`aldaba doctor --provider`: what is wrong with a key, a team, a topic, a token or the choice of an environment."""

import base64
import json
import re
import socket
import time
import uuid

import h2.errors
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from aldaba_process import BINARY, run_aldaba
from certificates import make_certificates
from course import Course
from hostile_apns import HostileServer
from script_app import ScriptApp
from test_run import arrived, pem, pytestmark as needs_namespaces, run

KEY_ID, TEAM, TOPIC, TOKEN = "ABC123DEFG", "TEAM123456", "com.example.todo", "ab" * 32
LINE = re.compile(r"(ok     |note   |problem)  (\S.*)|         (\S.*)")


class Told:
    """What the command found: pairs of a sentence and its remedy, by the word before them."""

    def __init__(self, done):
        self.code, self.output, self.errors = done.returncode, done.stdout, done.stderr
        self.found = []
        for line in done.stdout.splitlines():
            # `aldaba run` adds nothing to standard output.
            parts = LINE.fullmatch(line)
            assert parts, f"no finding: {line!r}"
            if parts[1]:
                self.found.append([parts[1].strip(), parts[2], None])
            else:
                self.found[-1][2] = parts[3]

    def of(self, word):
        return [(what, remedy) for kind, what, remedy in self.found if kind == word]

    def problem(self, *words):
        """There is one problem, which has a remedy; the findings name all of these words."""
        assert self.code == 1, self.output + self.errors
        [(what, remedy)] = self.of("problem")
        assert remedy, self.output
        assert all(word in self.output for word in words), self.output
        return f"{what}\n{remedy}"

    def is_well(self):
        assert self.code == 0 and not self.of("problem") and self.of("ok"), self.output + self.errors
        return self


@pytest.fixture
def key(tmp_path):
    """A key file of the usual name, that no server knows."""
    return key_file(tmp_path)


def key_file(folder, name=f"AuthKey_{KEY_ID}.p8", text=None):
    file = folder / name
    file.write_text(text if text is not None else pem(ec.generate_private_key(ec.SECP256R1())))
    file.chmod(0o600)
    return file


def of_server(up, topic, *options):
    """What the command finds about the data folder's running server."""
    return Told(run_aldaba("doctor", "--provider", "--topic", topic, *options, "--data", up.data, check=False))


# --- the server that runs on the data folder ----------------------------------------------------------------------


def test_all_is_well_with_the_first_key_and_the_demo_app(up, path):
    told = of_server(up, path["topic"]).is_well()
    assert path["topic"] in told.output


def test_a_live_token_is_well(up, path):
    told = of_server(up, path["topic"], "--token", path["deviceToken"]).is_well()
    assert any("token" in what for what, _ in told.of("ok"))


def test_the_findings_are_one_array(up, path):
    done = run_aldaba(
        "doctor", "--provider", "--topic", "com.example.nobody", "--json", "--data", up.data, check=False)
    findings = json.loads(done.stdout)
    assert done.returncode == 1 and done.stdout.count("\n") == 1
    assert {"what", "isProblem"} <= set(findings[0]) <= {"what", "remedy", "isProblem"}
    [problem] = [each for each in findings if each["isProblem"]]
    assert problem["remedy"] and "TopicDisallowed" in problem["what"] + problem["remedy"]


@pytest.mark.parametrize("topic", ["com.example.nobody", "com.example.neighbour"])
def test_a_topic_that_is_not_the_team_s_is_named(up, topic):
    run_aldaba("app", "create", "com.example.neighbour", "--team", "OTHERTEAM1", "--data", up.data, check=False)
    of_server(up, topic).problem("TopicDisallowed", "team")


def test_a_key_that_the_server_does_not_know_is_named(up, path, key):
    of_server(up, path["topic"], "--key", key, "--team", path["teamId"]).problem("InvalidProviderToken", "key", "team")


def test_a_known_key_with_another_team_is_named(up, path):
    told = of_server(up, path["topic"], "--key", path["key"], "--team", "OTHERTEAM1")
    told.problem("InvalidProviderToken", "OTHERTEAM1", path["keyId"])


def test_another_key_id_than_that_of_the_file_is_named(up, path):
    told = of_server(up, path["topic"], "--key", path["key"], "--team", path["teamId"], "--key-id", "OTHERKEY12")
    told.problem("InvalidProviderToken", "OTHERKEY12")


def test_a_token_that_nobody_has_is_named(up, path):
    of_server(up, path["topic"], "--token", "ef" * 32).problem("BadDeviceToken")


def test_a_token_of_another_app_is_named(up, path):
    app = "com.example.second"
    run_aldaba("app", "create", app, "--team", path["teamId"], "--data", up.data)
    of_server(up, app, "--token", path["deviceToken"]).problem("DeviceTokenNotForTopic", "another app")


def test_a_dead_token_is_dead_since_a_date(up, path, control):
    device = control.enrol()
    token = control.token(device, path["topic"], path["teamId"])
    control.register(device, path["topic"], path["teamId"], delete=True)
    today = time.strftime("since %Y-%m-%d", time.gmtime())
    of_server(up, path["topic"], "--token", token).problem("Unregistered", today)


def test_the_device_shows_nothing_and_its_app_is_not_woken(up, control):
    app = ScriptApp(up, "test_doctor_provider")
    try:
        of_server(up, app.id, "--token", app.token).is_well()
        shown = run_aldaba(
            "send", "--topic", app.id, "--token", app.token, "--title", "After", "--wait", "presented", "--data",
            up.data)
        assert "presented after" in shown.stdout
        assert [one["content"]["title"] for one in app.agent.listed()] == ["After"]
    finally:
        app.stop()
    status, answer = control.request("GET", f"/v1/received?app={app.id}")
    _, *asked = json.loads(answer)["received"]
    assert status == 200 and asked and {each["state"] for each in asked} <= {"acked", "refused"}
    for each in asked:
        assert each["headers"]["apns-push-type"] == "background" and each["headers"]["apns-expiration"] == "0"
        assert each["headers"].get("apns-priority") == "5" and each["payload"] == {"aps": {}}


def test_no_server_runs_on_the_folder(tmp_path):
    told = Told(run_aldaba("doctor", "--provider", "--topic", TOPIC, "--data", tmp_path / "none", check=False))
    assert told.code == 1 and told.of("problem"), told.output + told.errors


# --- certificates -------------------------------------------------------------------------------------------------


@pytest.fixture
def developer(path, tmp_path):
    return Course(tmp_path, path["data"])


@pytest.mark.parametrize("form", ["pem", "p12"])
def test_a_certificate_of_the_topic_is_well(up, path, developer, form):
    developer.certificate(path["topic"])
    passphrase = developer.folder / "passphrase"
    passphrase.write_text("course\n")
    passphrase.chmod(0o600)
    options = {
        "pem": ["--certificate", developer.folder / "push.pem"],
        "p12": ["--p12", developer.folder / "push.p12", "--passphrase-file", passphrase]}[form]
    of_server(up, path["topic"], *options, "--token", path["deviceToken"]).is_well()


def test_a_certificate_of_the_other_environment_is_named(up, path, developer):
    certificate, _ = developer.certificate(path["topic"], "--environment", "production")
    of_server(up, path["topic"], "--certificate", certificate).problem("BadCertificateEnvironment", "environment")


def test_a_revoked_certificate_is_named(up, path, developer):
    certificate, told = developer.certificate(path["topic"])
    developer.aldaba("certificate", "revoke", told["certificateId"])
    of_server(up, path["topic"], "--certificate", certificate).problem("BadCertificate")


def test_a_topic_that_the_certificate_does_not_have_is_named(up, path, developer):
    certificate, _ = developer.certificate(path["topic"])
    of_server(up, "com.example.second", "--certificate", certificate).problem("TopicDisallowed")


# --- what needs no server -----------------------------------------------------------------------------------------


def accepting(connection, request):
    connection.h2.send_headers(request.stream, [(":status", "200"), ("apns-id", str(uuid.uuid4()))], end_stream=True)


def refusing(status, reason, **members):
    return answering(status, json.dumps({"reason": reason, **members}).encode())


def answering(status, body):
    def handle(connection, request):
        fields = [(":status", str(status)), ("apns-id", str(uuid.uuid4()))]
        connection.h2.send_headers(request.stream, fields, end_stream=not body)
        if body:
            connection.h2.send_data(request.stream, body, end_stream=True)

    return handle


@pytest.fixture
def hostile(tmp_path):
    """`hostile(handle)` begins a server that does what a test says; it, and the options that name it."""
    begun = []

    def serve(handle=accepting, **options):
        certificates = make_certificates(tmp_path / "tls")
        begun.append(HostileServer(certificates, handle, **options))
        return begun[-1], ["--server", f"localhost:{begun[-1].port}", "--ca", certificates.ca]

    yield serve
    for server in begun:
        server.close()


def asked(options, key=None, key_id=None, team=TEAM, token=TOKEN):
    """The command with a key file."""
    named = [*(["--key-id", key_id] if key_id else []), *(["--token", token] if token else [])]
    return run_aldaba(
        "doctor", "--provider", "--topic", TOPIC, "--key", key, "--team", team, *named, *options, check=False,
        seconds=60)


RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
P384 = ec.generate_private_key(ec.SECP384R1())
PUBLIC = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


@pytest.mark.parametrize(
    "text", ["", "no key\n", pem(RSA), pem(P384), PUBLIC], ids=["empty", "text", "RSA", "P-384", "public"])
def test_a_file_that_is_no_key_is_named_and_nobody_is_asked(hostile, tmp_path, text):
    server, options = hostile()
    Told(asked(options, key_file(tmp_path, text=text))).problem("AuthKey_ABC123DEFG.p8")
    assert not server.connections


@pytest.mark.parametrize("changes, word", [
    ({"key_id": "SHORT"}, "--key-id"), ({"key_id": "abc123defg"}, "--key-id"), ({"team": "TEAM12345"}, "--team"),
    ({"team": "TEAM1234567"}, "--team"), ({"token": "xyz"}, "hexadecimal"), ({"token": "<ab ab>"}, "hexadecimal"),
    ({"token": "abc"}, "hexadecimal"),
], ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else "")
def test_what_cannot_be_right_is_named_and_nobody_is_asked(hostile, key, changes, word):
    server, options = hostile()
    done = asked(options, key, **changes)
    assert done.returncode != 0 and word in done.stdout + done.stderr
    assert not server.connections


def test_a_file_that_is_not_there_is_named(hostile, tmp_path):
    server, options = hostile()
    done = asked(options, tmp_path / "AuthKey_NOTTHERE00.p8")
    assert done.returncode != 0 and "AuthKey_NOTTHERE00.p8" in done.stdout + done.stderr and not server.connections


# --- the server and its certificate -------------------------------------------------------------------------------


def test_a_server_that_cannot_be_reached_is_named(key):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    begun = time.monotonic()
    Told(asked(["--server", f"localhost:{port}"], key)).problem(f"localhost:{port}", "nothing listens there")
    assert time.monotonic() - begun < 5


def test_a_certificate_that_is_not_trusted_is_named(hostile, key, tmp_path):
    server, options = hostile()
    other = make_certificates(tmp_path / "other")
    begun = time.monotonic()
    Told(asked([*options[:2], "--ca", other.ca], key)).problem("certificate", "--ca")
    assert not server.requests and time.monotonic() - begun < 5


def test_a_server_without_http_2_is_named(hostile, key):
    _, options = hostile(protocols=("http/1.1",))
    Told(asked(options, key)).problem("localhost")


def test_a_name_that_nobody_has_is_named(key):
    Told(asked(["--server", "nobody.invalid:443"], key)).problem("nobody.invalid")


# --- answers that this server never gives -------------------------------------------------------------------------


@pytest.mark.parametrize("status, reason, words", [
    (403, "ExpiredProviderToken", ["clock"]),
    (403, "BadEnvironmentKeyIdInToken", ["environment"]),
    (403, "InvalidProviderToken", [KEY_ID, TEAM]),
    (403, "UnrelatedKeyIdInToken", ["key"]),
    (403, "MissingProviderToken", []),
    (403, "Forbidden", []),
    (400, "TopicDisallowed", ["bundle id"]),
    (400, "BadTopic", ["bundle id"]),
    (429, "TooManyProviderTokenUpdates", []),
    (429, "TooManyRequests", []),
    (500, "InternalServerError", []),
    (503, "ServiceUnavailable", []),
    (403, "ReasonOfTomorrow", []),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_refusal_is_explained_with_its_reason(hostile, key, status, reason, words):
    _, options = hostile(refusing(status, reason))
    Told(asked(options, key)).problem(reason, *words)


@pytest.mark.parametrize("reason", ["Unregistered", "ExpiredToken"])
def test_a_dead_token_s_time_is_read(hostile, key, reason):
    _, options = hostile(refusing(410, reason, timestamp=1_700_000_000_123))
    Told(asked(options, key)).problem("2023-11-1")


@pytest.mark.parametrize("body", [b"", b"no JSON", b'{"reason":7}', b"\xff\xfe"])
def test_an_answer_without_a_reason_is_named_by_its_status(hostile, key, body):
    _, options = hostile(answering(403, body))
    Told(asked(options, key)).problem("403")


@pytest.mark.parametrize("handle", [
    lambda connection, request: connection.socket.close(),
    lambda connection, request: connection.reset(request, h2.errors.ErrorCodes.INTERNAL_ERROR),
    lambda connection, request: connection.socket.sendall(b"\xff" * 64),
    lambda connection, request: connection.h2.close_connection(last_stream_id=0),
], ids=["closed", "reset", "no frames", "GOAWAY"])
def test_a_connection_that_ends_is_a_problem_and_no_crash(hostile, key, handle):
    _, options = hostile(handle)
    Told(asked(options, key)).problem("localhost")


def test_the_probes_are_silent_and_signed_as_the_options_say(hostile, key):
    server, options = hostile()
    assert asked(options, key, token=None).returncode in (0, 1)
    assert asked(options, key).returncode == 0
    for request in server.requests:
        fields = request.fields
        assert (fields["apns-push-type"], fields["apns-expiration"], fields["apns-topic"]) == ("background", "0", TOPIC)
        assert fields["apns-priority"] == "5" and json.loads(request.body) == {"aps": {}}
        head, claims, _ = fields["authorization"].removeprefix("bearer ").split(".")
        assert json.loads(base64.urlsafe_b64decode(head + "==")) == {"alg": "ES256", "kid": KEY_ID}
        assert json.loads(base64.urlsafe_b64decode(claims + "=="))["iss"] == TEAM
    assert server.requests[-1].fields[":path"] == f"/3/device/{TOKEN}"


def test_no_secret_is_printed(hostile, key):
    _, options = hostile(refusing(403, "InvalidProviderToken"))
    for extra in ([], ["--json"]):
        done = asked([*options, *extra], key)
        secrets = [line for line in key.read_text().splitlines() if not line.startswith("-")]
        assert not any(secret in done.stdout + done.stderr for secret in [*secrets, "eyJ"])


@pytest.mark.parametrize("options", [
    [], ["--topic", TOPIC, "--apple", "staging"], ["--topic", TOPIC, "--apple", "sandbox", "--server", "localhost:1"],
], ids=" ".join)
def test_options_that_do_not_go_together_are_refused(options):
    done = run_aldaba("doctor", "--provider", *options, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr


@pytest.mark.parametrize("options", [["--p12", "a", "--certificate", "b"], ["--passphrase-file", "a"]], ids=" ".join)
def test_certificates_that_cannot_be_used_are_named(options):
    done = run_aldaba("doctor", "--provider", "--topic", TOPIC, *options, "--server", "localhost:1", check=False)
    assert done.returncode in (1, 2) and "--p12" in done.stdout + done.stderr


@pytest.mark.parametrize("options", [["--topic", TOPIC], ["--token", TOKEN], ["--apple", "sandbox"]], ids=" ".join)
def test_options_of_a_provider_need_the_one_that_says_so(options):
    done = run_aldaba("doctor", *options, check=False)
    assert done.returncode == 2 and "--provider" in done.stderr


# --- Apple's names ------------------------------------------------------------------------------------------------


def of_apple(key, environment, *options, token=TOKEN, before=""):
    """What the command finds where Apple's names are a server of `aldaba run`."""
    words = [
        BINARY, "doctor", "--provider", "--topic", TOPIC, "--key", key, "--team", TEAM, "--apple", environment,
        *options, *(["--token", token] if token else [])]
    done = run("sh", "-c", f'{before}\nexec "$@"', "sh", *words)
    assert not any("alert" in payload["aps"] for _, payload in arrived(done))
    return Told(done)


def fault(reason, token=TOKEN, times=1):
    return f"aldaba fault add --reason {reason} --token {token} --times {times} >/dev/null"


@needs_namespaces
@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_apple_accepts_key_topic_and_token(key, environment):
    assert f"Apple's {environment} server" in of_apple(key, environment).is_well().output


@needs_namespaces
@pytest.mark.parametrize("environment, other", [("sandbox", "production"), ("production", "sandbox")])
def test_a_token_of_the_other_environment_is_told_as_that(key, environment, other):
    told = of_apple(key, environment, before=fault("BadDeviceToken"))
    told.problem(f"token is one of {other}, not of {environment}")


@needs_namespaces
def test_a_token_of_neither_environment_is_told_as_that(key):
    text = of_apple(key, "sandbox", token="0" * 60 + "0400").problem("BadDeviceToken")
    assert "token is one of production" not in text


@needs_namespaces
@pytest.mark.parametrize("digits, words", [
    ("0403", ["DeviceTokenNotForTopic"]), ("0410", ["Unregistered", "since 20"])])
def test_other_tokens_are_told_as_what_they_are(key, digits, words):
    of_apple(key, "production", token="0" * 60 + digits).problem(*words)


@needs_namespaces
def test_a_key_of_the_other_environment_is_told_as_that(key):
    command = f"aldaba fault add --reason BadEnvironmentKeyIdInToken --app {TOPIC} --times 9 >/dev/null"
    of_apple(key, "sandbox", before=command).problem("BadEnvironmentKeyIdInToken", "--apple")


@needs_namespaces
def test_without_a_token_key_and_topic_are_checked(key):
    of_apple(key, "sandbox", token=None).is_well()


@needs_namespaces
def test_a_server_of_apple_s_names_that_is_not_there_is_a_problem(key):
    """Without `aldaba run`, where the network is a closed one."""
    done = run_aldaba(
        "doctor", "--provider", "--topic", TOPIC, "--key", key, "--team", TEAM, "--apple", "sandbox", check=False,
        seconds=90, prefix=["unshare", "--user", "--map-current-user", "--net"])
    Told(done).problem("Apple's sandbox server")
