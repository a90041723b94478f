"""`aldaba send --apple`: a push to Apple's own hosts, which are another server's names under `aldaba run`."""

import json
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from aldaba_process import BINARY, clean_environment
from test_run import arrived, pem, pytestmark, run  # noqa: F401

TOKEN = "ab" * 32


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "AuthKey_ABC123DEFG.p8"
    path.write_text(pem(ec.generate_private_key(ec.SECP256R1())))
    path.chmod(0o600)
    return path


def send(key, environment, *arguments, token=TOKEN):
    return run(
        BINARY, "send", "--apple", environment, "--key", key, "--team", "TEAM123456", "--topic", "com.example.todo",
        "--token", token, *arguments)


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_a_push_goes_to_the_host_of_the_environment(key, environment):
    done = send(key, environment, "--title", "Hello")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("200  apns-id ") and second.startswith("Apple has accepted the notification")
    assert arrived(done) == [("com.example.todo", {"aps": {"alert": {"title": "Hello"}}})]
    # Apple's sandbox names each push for its console.
    assert environment == "production" or "apns-unique-id" in second


def test_an_answer_of_apple_s_is_told_in_plain_sentences(key):
    done = send(key, "sandbox", "--title", "Hello", token="c0" * 32)
    assert done.returncode == 0, done.stderr
    done = send(key, "sandbox", "--title", "Hello", "--collapse-id", "x" * 65)
    assert done.returncode == 3
    assert done.stdout.endswith("  BadCollapseId\n")
    assert "Apple refused: BadCollapseId: The collapse id has more than 64 bytes." in done.stderr


def test_programs_read_the_answer_as_json(key):
    done = send(key, "sandbox", "--title", "Hello", "--json")
    told = json.loads(done.stdout)
    assert told["status"] == 200 and len(told["apnsId"]) == 36 and len(told["apnsUniqueId"]) == 36


@pytest.mark.parametrize("arguments, text", [
    (["--server", "localhost:1"], "--apple and --server"), (["--app", "com.example.todo"], "--token and --app"),
    (["--image", "/etc/hostname"], "https address"), (["--p12", "a", "--certificate", "b"], "--certificate and --p12"),
    (["--passphrase-file", "a"], "--passphrase-file needs --p12"),
])
def test_options_that_do_not_go_together_are_refused(key, arguments, text):
    done = subprocess.run(
        [str(BINARY), "send", "--apple", "sandbox", "--key", str(key), "--team", "TEAM123456", "--topic", "a.b", "--token",
         TOKEN, *arguments], env=clean_environment(), capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and text in done.stderr


@pytest.mark.parametrize("arguments, text", [
    (["--token", TOKEN, "--topic", "a.b"], "--apple needs a credential of Apple's"),
    (["--token", TOKEN], "--apple needs --topic"), (["--app", "a.b"], "--apple needs --token"),
])
def test_what_apple_needs_is_named(arguments, text):
    done = subprocess.run(
        [str(BINARY), "send", "--apple", "production", "--title", "x", *arguments], env=clean_environment(),
        capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and text in done.stderr


def test_a_file_of_the_simulator_names_its_app(key, tmp_path):
    file = tmp_path / "milk.apns"
    file.write_text('{"Simulator Target Bundle": "com.example.milk", "aps": {"alert": "Milk"}, "n": 1}')
    done = run(
        BINARY, "send", "--apple", "sandbox", "--key", key, "--team", "TEAM123456", "--token", TOKEN, "--payload", file)
    assert done.returncode == 0, done.stderr
    assert arrived(done) == [("com.example.milk", {"aps": {"alert": "Milk"}, "n": 1})]


@pytest.mark.parametrize("content, text", [
    ('{"aps": {"alert": "Milk"}}', 'names no app: it is to have a member "Simulator Target Bundle"'),
    ('{"Simulator Target Bundle": 5, "aps": {}}', "is a bundle id, not a number"), ("{", "names no app"),
])
def test_a_file_of_the_simulator_without_an_app_is_refused(key, tmp_path, content, text):
    file = tmp_path / "milk.apns"
    file.write_text(content)
    done = subprocess.run(
        [str(BINARY), "send", "--apple", "sandbox", "--key", str(key), "--team", "TEAM123456", "--token", TOKEN,
         "--payload", str(file)], env=clean_environment(), capture_output=True, text=True, timeout=30)
    assert done.returncode == 3 and text in done.stderr
