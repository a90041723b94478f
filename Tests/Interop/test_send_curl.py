"""`aldaba send --curl`: one line for a shell, which sends the same request by curl and has no secret in it."""

import json
import re
import subprocess
import uuid

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from aldaba_process import BINARY, clean_environment, run_aldaba
from course import Course
from mcs_client import Device, checkin, register3
from test_run import arrived, pem, pytestmark as needs_namespaces, run

PASSPHRASE = "opensesame-4711"
PAYLOADS = {
    "quotation marks": """{"aps":{"alert":"it's \\"quoted\\" ''x''"}}""",
    "what a shell replaces": '{"aps":{"alert":"$HOME `id` $(id) ${x} ~ * ? ! \\\\n %s & ; | < > #"}}',
    "lines": '{\n  "aps": {\n\t"alert": "two\\nlines"\r\n  }\n}\n\n',
    "other scripts": '{"aps":{"alert":"añil Ωmega 牛乳 🥛 \u2028\u202e"}}',
    "a backslash at the end": '{"aps":{"alert":"\\\\"}}',
    "a hyphen and an at sign": ' {"-d":"@/etc/hostname","aps":{"alert":"@/etc/hostname"}}',
    "a full size": json.dumps({"aps": {"alert": "x" * 4000}}),
}


class Receiver:
    """A device that is connected, with the demo app."""

    def __init__(self, path):
        identity = checkin(path["http"])
        self.token = register3(path["http"], identity, path["topic"], path["teamId"])
        self.device = Device(path["mcs"], path["ca"])
        self.device.login(identity)


@pytest.fixture
def receiver(path):
    made = Receiver(path)
    yield made
    made.device.cut()


def printed(path, *options, token=None, title=("--title", "Milk"), data=None):
    """The line that the command prints."""
    words = [
        "send", "--topic", path["topic"], "--token", token or path["deviceToken"], *title, *options, "--curl", "--data",
        data or path["data"]]
    done = subprocess.run(
        [str(BINARY), *map(str, words)], env=clean_environment(), capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr.decode()
    # As text, carriage returns would be gone.
    line = done.stdout.decode()
    assert line.endswith("\n") and not line.endswith("\n\n")
    return line


def pasted(line, folder, shell="sh"):
    """Runs a line as somebody who has pasted it into a shell, in another folder."""
    done = subprocess.run(
        [shell, "-c", line], capture_output=True, text=True, timeout=60, env=clean_environment(), cwd=folder,
        check=False)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done


def test_one_command_is_printed_and_nothing_is_sent(path, control):
    name = str(uuid.uuid4())
    line = printed(path, "--id", name)
    assert line.startswith("curl ") and line.count("\n") == 1
    assert "--http2" in line and f"/3/device/{path['deviceToken']}" in line
    assert control.notifications(name) == []


def test_the_token_is_made_when_the_line_runs(path):
    line = printed(path)
    assert re.search(r"\$\(aldaba key token[ )]", line)
    with open(path["key"]) as file:
        secrets = [part for part in file.read().split("\n") if part and "-" not in part]
    assert secrets and not any(secret in line for secret in secrets)
    assert not re.search(r"eyJ|bearer [\w-]+\.", line)


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_arrives_byte_for_byte(path, receiver, tmp_path, name):
    file = tmp_path / "payload.json"
    file.write_bytes(PAYLOADS[name].encode())
    done = pasted(printed(path, "--payload", file, token=receiver.token, title=()), tmp_path)
    assert receiver.device.notification().payload == PAYLOADS[name].encode(), done.stdout


def test_title_and_body_arrive(path, receiver, tmp_path):
    pasted(printed(path, "--body", "Two 'bottles'; \"cold\"", token=receiver.token), tmp_path)
    payload = json.loads(receiver.device.notification().payload)
    assert payload == {"aps": {"alert": {"title": "Milk", "body": "Two 'bottles'; \"cold\""}}}


def test_every_field_of_the_request_is_the_same(path, control, tmp_path):
    name, collapse = str(uuid.uuid4()), "it's $(touch here) \"`touch there`\""
    options = ["--id", name, "--collapse-id", collapse, "--priority", 5, "--expiration", 4_000_000_000]
    options += ["--push-type", "alert"]
    found = []
    for extra in ((), ("--curl",)):
        line = run_aldaba(
            "send", "--topic", path["topic"], "--token", path["deviceToken"], "--title", "Milk", *options, *extra,
            "--data", path["data"]).stdout
        if extra:
            pasted(line, tmp_path)
        status, answer = control.request("GET", "/v1/received?limit=1")
        assert status == 200
        [entry] = json.loads(answer)["received"]
        found.append({field: value for field, value in entry["headers"].items() if field.startswith("apns-")})
    assert found[0] == found[1] and found[1]["apns-collapse-id"] == collapse
    assert list(tmp_path.iterdir()) == []


def test_the_answer_is_shown(path, tmp_path):
    done = pasted(printed(path, token="0" * 64), tmp_path)
    assert "BadDeviceToken" in done.stdout


def test_a_folder_with_blanks_and_quotation_marks(path, receiver, tmp_path):
    folder = tmp_path / "it's a \"folder\" $HOME"
    folder.symlink_to(path["data"])
    pasted(printed(path, token=receiver.token, data=folder), tmp_path)
    assert b"Milk" in receiver.device.notification().payload


def test_a_key_file_of_one_s_own(path, receiver, tmp_path):
    line = run_aldaba(
        "send", "--server", path["apns"].removeprefix("https://"), "--ca", path["ca"], "--key", path["key"], "--team",
        path["teamId"], "--topic", path["topic"], "--token", receiver.token, "--title", "Milk", "--curl", "--data",
        tmp_path).stdout
    assert "--key " in line
    pasted(line, tmp_path)
    assert b"Milk" in receiver.device.notification().payload


@pytest.mark.parametrize("form", ["pem", "p12", "pem in a:b"])
def test_a_client_certificate_is_curl_s_own(path, receiver, tmp_path, form):
    """curl takes what follows a colon for the passphrase, unless the colon is escaped."""
    developer = Course(tmp_path, path["data"])
    developer.certificate(path["topic"])
    file = tmp_path / form.removeprefix("pem in ") / "push.pem"
    file.parent.mkdir()
    (tmp_path / "push.pem").rename(file)
    options = ["--certificate", file]
    if form == "p12":
        developer.openssl(
            "pkcs12", "-export", "-inkey", "push.key", "-in", "push.crt", "-out", "own.p12", "-passout",
            f"pass:{PASSPHRASE}")
        (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\n")
        (tmp_path / "passphrase").chmod(0o600)
        options = ["--p12", tmp_path / "own.p12", "--passphrase-file", tmp_path / "passphrase"]
    line = printed(path, *options, token=receiver.token)
    assert "--cert " in line and PASSPHRASE not in line and "bearer" not in line
    pasted(line, tmp_path)
    assert b"Milk" in receiver.device.notification().payload


@needs_namespaces
@pytest.mark.parametrize("environment, host", [
    ("sandbox", "api.sandbox.push.apple.com"), ("production", "api.push.apple.com")])
def test_a_line_for_apple_names_apple_s_host(tmp_path, environment, host):
    key = tmp_path / "AuthKey_ABC123DEFG.p8"
    key.write_text(pem(ec.generate_private_key(ec.SECP256R1())))
    key.chmod(0o600)
    done = run(
        "sh", "-c", '"$@" | tee line | sh', "sh", BINARY, "send", "--apple", environment, "--key", key, "--team",
        "TEAM123456", "--topic", "com.example.todo", "--token", "ab" * 32, "--title", "it's milk", "--curl",
        cwd=tmp_path)
    assert done.stdout.startswith("HTTP/2 200"), done.stderr
    line = (tmp_path / "line").read_text()
    assert re.search(rf"https://{host}(:443)?/3/device/{'ab' * 32}", line)
    assert arrived(done) == [("com.example.todo", {"aps": {"alert": {"title": "it's milk"}}})]


def test_a_faulty_payload_is_named_instead(path, tmp_path):
    file = tmp_path / "payload.json"
    file.write_text('{"aps":')
    done = run_aldaba(
        "send", "--topic", path["topic"], "--token", path["deviceToken"], "--payload", file, "--curl", "--data",
        path["data"], check=False)
    assert done.returncode == 3 and done.stdout == ""


def test_what_curl_would_read_as_a_file_s_name_is_no_file(path, control, tmp_path):
    file = tmp_path / "payload.json"
    file.write_text("@/etc/hostname")
    line = printed(path, "--payload", file, "--as-is", title=())
    assert "PayloadEmpty" in pasted(line, tmp_path).stdout
    status, answer = control.request("GET", "/v1/received?limit=1")
    assert status == 200 and json.loads(answer)["received"][0]["length"] == len("@/etc/hostname")


@pytest.mark.parametrize("options", [["--dry-run"], ["--recipients", "people.csv"]], ids=" ".join)
def test_options_that_do_not_go_together_are_refused(path, options):
    token = [] if "--recipients" in options else ["--token", path["deviceToken"]]
    done = run_aldaba(
        "send", "--topic", path["topic"], *token, "--title", "Milk", *options, "--curl", "--data", path["data"],
        check=False)
    assert (done.returncode, done.stdout) == (2, "") and "--curl" in done.stderr


def test_the_line_is_for_any_posix_shell(path, receiver, tmp_path):
    line = printed(path, "--body", "¡olé! it's $1", token=receiver.token)
    for shell in ("dash", "bash"):
        pasted(line, tmp_path, shell)
        assert json.loads(receiver.device.notification().payload)["aps"]["alert"]["body"] == "¡olé! it's $1"
