"""curl, nghttp, h2load and the commands `send`, `get`, `device simulate` against one server."""

import json
import re
import subprocess
from contextlib import contextmanager

import pytest

from aldaba_process import BINARY, clean_environment, run_aldaba
from waiting import wait_for_lines

PAYLOAD = '{"aps":{"alert":"from a command line"}}'


def run(*command, seconds=60):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="module")
def bearer(path):
    return run_aldaba("key", "token", "--data", path["data"]).stdout.strip()


@pytest.fixture
def payload_file(tmp_path):
    file = tmp_path / "payload.json"
    file.write_text(PAYLOAD)
    return file


@contextmanager
def simulated_devices(*arguments):
    """A running `aldaba device simulate`, ended by its pid."""
    command = [str(BINARY), "device", "simulate", *map(str, arguments)]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=clean_environment(), **quiet)
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)


def handed(path, apns_id):
    wait_for_lines(path["appLog"], lambda lines: apns_id in lines, f"the app was handed {apns_id}")


def test_the_printed_token_is_one_line_of_three_parts(bearer):
    assert re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+", bearer)


def test_curl(path, bearer):
    done = run(
        "curl", "--http2", "--silent", "--show-error", "--include", "--cacert", path["ca"],
        "--header", f"authorization: bearer {bearer}", "--header", f"apns-topic: {path['topic']}",
        "--header", "apns-push-type: alert", "--data", PAYLOAD, f"{path['apns']}/3/device/{path['deviceToken']}")
    assert done.stdout.startswith("HTTP/2 200")
    handed(path, re.search(r"(?m)^apns-id: ([\w-]+)", done.stdout)[1])


TOKEN_BY_OPENSSL = r"""
base64url() { openssl base64 -e -A | tr -- '+/' '-_' | tr -d =; }
header=$(printf '{ "alg": "ES256", "kid": "%s" }' "$KEY_ID" | base64url)
claims=$(printf '{ "iss": "%s", "iat": %d }' "$TEAM_ID" "$(date +%s)" | base64url)
signature=$(printf '%s.%s' "$header" "$claims" | openssl dgst -binary -sha256 -sign "$KEY" | base64url)
printf '%s.%s.%s' "$header" "$claims" "$signature"
"""


def test_curl_with_a_token_made_by_openssl(path):
    """What a person has at hand: `openssl dgst -sign` writes the signature as DER."""
    variables = {"KEY_ID": path["keyId"], "TEAM_ID": path["teamId"], "KEY": path["key"]}
    for _ in range(4):
        token = subprocess.run(
            ["sh", "-euc", TOKEN_BY_OPENSSL], env=clean_environment(**variables), capture_output=True, text=True,
            check=True, timeout=30).stdout
        done = run(
            "curl", "--http2", "--silent", "--show-error", "--include", "--cacert", path["ca"],
            "--header", f"authorization: bearer {token}", "--header", f"apns-topic: {path['topic']}",
            "--header", "apns-push-type: alert", "--data", PAYLOAD,
            f"{path['apns']}/3/device/{path['deviceToken']}")
        assert done.stdout.startswith("HTTP/2 200"), done.stdout
    handed(path, re.search(r"(?m)^apns-id: ([\w-]+)", done.stdout)[1])


def test_curl_asking_by_head(path):
    for address in (f"{path['apns']}/3/device/{path['deviceToken']}", f"{path['apns']}/"):
        done = run("curl", "--http2", "--silent", "--show-error", "--head", "--cacert", path["ca"], address, seconds=10)
        assert done.stdout.startswith("HTTP/2 405"), done.stdout
    for route, status in (("health", 200), ("nowhere", 404)):
        done = run("curl", "--silent", "--show-error", "--head", f"{path['http']}/{route}", seconds=10)
        assert done.stdout.startswith(f"HTTP/1.1 {status}"), done.stdout


def test_curl_with_a_credential_of_blanks(path):
    """A script whose variable for the token is empty."""
    for value in ("bearer ", "bearer", " ", "\t"):
        done = run(
            "curl", "--http2", "--silent", "--show-error", "--include", "--cacert", path["ca"],
            "--header", f"authorization: {value}", "--header", f"apns-topic: {path['topic']}", "--data", PAYLOAD,
            f"{path['apns']}/3/device/{path['deviceToken']}")
        assert done.stdout.startswith("HTTP/2 403"), (value, done.stdout)
        assert "MissingProviderToken" in done.stdout


def test_nghttp(path, bearer, payload_file):
    done = run(
        "nghttp", "--verbose", "--data", payload_file,
        "--header", f"authorization: bearer {bearer}", "--header", f"apns-topic: {path['topic']}",
        "--header", ":method: POST", f"{path['apns']}/3/device/{path['deviceToken']}")
    assert ":status: 200" in done.stdout
    handed(path, re.search(r"apns-id: ([\w-]+)", done.stdout)[1])


def test_h2load(path, bearer, payload_file, tmp_path):
    run_aldaba("device", "simulate", 5, "--offline", "--tokens", tmp_path / "tokens", "--data", path["data"])
    addresses = tmp_path / "addresses"
    addresses.write_text("".join(
        f"{path['apns']}/3/device/{token}\n" for token in (tmp_path / "tokens").read_text().split()))
    done = run(
        "h2load", "--requests", 2000, "--clients", 4, "--max-concurrent-streams", 50, "--data", payload_file,
        "--header", f"authorization: bearer {bearer}", "--header", f"apns-topic: {path['topic']}",
        "--input-file", addresses)
    assert "2000 succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout
    assert "status codes: 2000 2xx" in done.stdout


def test_aldaba_send_and_get(path, payload_file):
    done = run_aldaba(
        "send", "--topic", path["topic"], "--token", path["deviceToken"], "--title", "A title", "--body", "A body",
        "--data", path["data"])
    apns_id = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", done.stdout)[0]
    handed(path, apns_id)
    told = run_aldaba("get", apns_id, "--timeline", "--data", path["data"])
    assert "accepted" in told.stdout
    [notification] = json.loads(
        run_aldaba("get", apns_id, "--timeline", "--json", "--data", path["data"]).stdout)
    assert notification["apnsId"] == apns_id
    assert notification["timeline"][0]["state"] == "accepted"


def test_apns_unique_id_names_a_notification_of_the_sandbox(path, provider):
    sent = "6f1d8c3e-0000-4000-8000-00000000a1db"
    answer = provider.post(path["deviceToken"], json.loads(PAYLOAD), apns_id=sent)
    assert (answer.status, answer.apns_id) == (200, sent)
    [notification] = json.loads(
        run_aldaba("get", answer.headers["apns-unique-id"], "--timeline", "--json", "--data", path["data"]).stdout)
    assert notification["apnsId"] == sent


def test_aldaba_send_takes_a_payload_file_and_an_id(path, payload_file):
    apns_id = "6f1d8c3e-0000-4000-8000-00000000a1da"
    run_aldaba(
        "send", "--topic", path["topic"], "--token", path["deviceToken"], "--payload", payload_file, "--id", apns_id,
        "--priority", 5, "--data", path["data"])
    handed(path, apns_id)


def test_aldaba_send_explains_a_refusal_and_exits_as_documented(path):
    done = run_aldaba(
        "send", "--topic", path["topic"], "--token", "0" * 64, "--title", "x", "--data", path["data"], check=False)
    assert done.returncode == 3, done.stderr
    assert "BadDeviceToken" in done.stdout + done.stderr


def test_aldaba_get_of_an_unknown_id_fails(path):
    done = run_aldaba("get", "6f1d8c3e-0000-4000-8000-000000000000", "--timeline", "--data", path["data"], check=False)
    assert done.returncode == 1
    assert "not found" in (done.stdout + done.stderr).lower()


def test_simulated_devices_acknowledge_what_they_get(path, provider, control, tmp_path):
    tokens = tmp_path / "tokens"
    with simulated_devices(3, "--tokens", tokens, "--data", path["data"], "--topic", path["topic"]):
        found = wait_for_lines(tokens, lambda lines: len(lines) == 3, "three tokens are written")
        assert len(set(found)) == 3 and all(re.fullmatch(r"[0-9a-f]{64}", token) for token in found)
        answers = [provider.post(token, json.loads(PAYLOAD)) for token in found]
        assert [answer.status for answer in answers] == [200] * 3
        for answer in answers:
            control.wait_for_last_state(answer.apns_id, "acked")


def test_offline_devices_are_enrolled_and_the_command_ends(path, provider, control, tmp_path):
    tokens = tmp_path / "tokens"
    run_aldaba("device", "simulate", 10, "--offline", "--tokens", tokens, "--data", path["data"])
    found = tokens.read_text().split()
    assert len(set(found)) == 10
    answer = provider.post(found[0], json.loads(PAYLOAD))
    assert answer.status == 200
    assert control.states(answer.apns_id) == ["accepted", "stored"]
