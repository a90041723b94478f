"""`aldaba send --recipients`: one payload for many devices, results in a file, and a run that continues another."""

import json
import subprocess
import time

import pytest

from aldaba_process import BINARY, clean_environment, run_aldaba
from waiting import wait_until

COUNT = 300


@pytest.fixture(scope="module")
def tokens(control, path):
    """Device tokens of many devices."""
    return [control.token(control.enrol(), path["topic"], path["teamId"]) for _ in range(COUNT)]


@pytest.fixture
def send(up, path):
    """`send(*arguments)`: the command on the running server, without a check of its exit code."""

    def run(*arguments):
        return run_aldaba("send", "--topic", path["topic"], *arguments, "--data", up.data, check=False)

    return run


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def csv(file, rows, header="token,name"):
    file.write_text("\n".join([header, *rows]) + "\n")
    return file


def test_a_file_of_devices_gets_a_payload_with_each_one_s_values(send, tokens, tmp_path, control):
    results = tmp_path / "results.jsonl"
    rows = [f'{token},"Ada ""{number}"", {{x}}"' for number, token in enumerate(tokens)]
    done = send("--recipients", csv(tmp_path / "all.csv", rows), "--title", "Hello {name}", "--results", results)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{COUNT} accepted\n"
    told = lines(results)
    assert {one["token"] for one in told} == set(tokens) and {one["outcome"] for one in told} == {"accepted"}
    found = control.notifications(told[7]["apnsID"])[0]
    assert found["timeline"][0]["state"] == "accepted" and found["apnsId"] == told[7]["apnsID"]
    assert (results.stat().st_mode & 0o777) == 0o600
    again = send("--recipients", tmp_path / "all.csv", "--title", "Hello {name}", "--results", results)
    assert again.stdout == f"{COUNT} left out, since they have an answer\n" and again.returncode == 0
    assert len(lines(results)) == COUNT


def test_a_run_continues_an_earlier_one(send, tokens, tmp_path):
    results = tmp_path / "results.jsonl"
    first, all_of_them = csv(tmp_path / "a.csv", [f"{one},x" for one in tokens[:10]]), tmp_path / "b.csv"
    csv(all_of_them, [f"{one.upper()},x" for one in tokens[:30]])
    assert send("--recipients", first, "--title", "Hi", "--results", results).returncode == 0
    done = send("--recipients", all_of_them, "--title", "Hi", "--results", results)
    assert done.stdout == "20 accepted, 10 left out, since they have an answer\n"


def test_json_lines_and_a_payload_of_one_s_own(send, tokens, tmp_path, control):
    recipients, payload, results = tmp_path / "to.jsonl", tmp_path / "payload.json", tmp_path / "results.jsonl"
    recipients.write_text("\n".join(json.dumps({"token": one, "points": 7}) for one in tokens[:3]))
    payload.write_text('{"aps":{"alert":"You have {points}"},"points":{points}}')
    done = send("--recipients", recipients, "--payload", payload, "--results", results, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "accepted": 3, "dead": 0, "refused": 0, "notSent": 0, "unknown": 0, "skipped": 0}


def test_a_dead_and_a_refused_token_have_their_outcome(send, tokens, tmp_path, control, path):
    device = control.enrol()
    dead = control.token(device, path["topic"], path["teamId"])
    control.register(device, path["topic"], path["teamId"], delete=True)
    results = tmp_path / "results.jsonl"
    file = csv(tmp_path / "to.csv", [dead, "ab" * 32, tokens[0]], "token")
    done = send("--recipients", file, "--title", "Hi", "--results", results)
    assert done.returncode == 1 and done.stdout == "1 accepted, 1 with a dead token, 1 refused\n"
    told = {one["token"]: one for one in lines(results)}
    assert abs(told[dead]["since"] - time.time()) < 60
    assert told["ab" * 32]["reason"] == "BadDeviceToken" and told["ab" * 32]["line"] == 3


def test_a_dry_run_names_every_fault_and_sends_nothing(send, tokens, tmp_path):
    file = csv(tmp_path / "to.csv", [f"{tokens[0]},a", "xyz,b", ",c", f"{tokens[0]},d", "1,2,3", f"{tokens[1]},{'x' * 5000}"])
    done = send("--recipients", file, "--title", "Hi {name}", "--dry-run")
    assert done.returncode == 3
    assert [line.split(", ", 1)[1].split(": ")[0] for line in done.stderr.splitlines()[:5]] == [
        "line 3", "line 4", "line 5", "line 6", "line 7"]
    assert "the token is that of line 2" in done.stderr and "at most 4096 are allowed" in done.stderr
    done = send("--recipients", csv(file, [f"{tokens[0]},a"]), "--title", "Hi {name}", "--dry-run")
    assert done.returncode == 0 and "devices to send to: 1," in done.stderr


def test_a_value_is_written_as_it_is_even_where_it_looks_like_a_name(send, tokens, tmp_path, control):
    file = csv(tmp_path / "to.csv", [f'{tokens[5]},{{name}} {{token}},"x"'], "token,title,name")
    assert send("--recipients", file, "--title", "{title} {name} {other}").returncode == 0
    status, answer = control.request("GET", "/v1/received?limit=1")
    assert status == 200 and b"{name} {token} x {other}" in (answer if isinstance(answer, bytes) else answer.encode())


def test_lines_of_other_systems_are_read(send, tokens, tmp_path):
    file = tmp_path / "to.jsonl"
    file.write_bytes(b"".join(json.dumps({"token": one}).encode() + b"\r\n" for one in tokens[:3]))
    assert send("--recipients", file, "--title", "Hi").stdout == "3 accepted\n"
    file.write_bytes(b"\xef\xbb\xbftoken\r\n" + tokens[0].encode() + b"\r\n")
    assert send("--recipients", file, "--title", "Hi").stdout == "1 accepted\n"


def test_a_result_that_a_full_disk_has_cut_is_made_again(send, tokens, tmp_path):
    file, results = csv(tmp_path / "to.csv", tokens[:3], "token"), tmp_path / "results.jsonl"
    assert send("--recipients", file, "--title", "Hi", "--results", results).returncode == 0
    results.write_bytes(results.read_bytes()[:-10])
    done = send("--recipients", file, "--title", "Hi", "--results", results)
    assert done.stdout == "1 accepted, 2 left out, since they have an answer\n"
    assert len(lines(results)) == 3


def test_a_wrong_topic_ends_the_run_after_twenty_answers(up, tokens, tmp_path):
    file, results = csv(tmp_path / "to.csv", tokens, "token"), tmp_path / "results.jsonl"
    done = run_aldaba(
        "send", "--topic", "com.example.nobody", "--recipients", file, "--title", "Hi", "--rate", "100", "--results", results,
        "--data", up.data, check=False)
    assert done.returncode != 0 and "stopped: every answer names a fault" in done.stderr
    assert 20 <= len(lines(results)) < COUNT and {one["outcome"] for one in lines(results)} == {"notSent"}


def test_a_rate_is_kept(send, tokens, tmp_path):
    file = csv(tmp_path / "to.csv", tokens[:40], "token")
    begin = time.monotonic()
    assert send("--recipients", file, "--title", "Hi", "--rate", "20").returncode == 0
    assert time.monotonic() - begin > 39 / 20


@pytest.mark.parametrize("arguments, text", [
    (["--token", "ab" * 32], "leave --token and --app out"), (["--encrypt"], "for one device"), (["--rate", "0"], "at least 1"),
])
def test_options_that_do_not_go_together_are_refused(send, tmp_path, arguments, text):
    done = send("--recipients", tmp_path / "none.csv", "--title", "Hi", *arguments)
    assert done.returncode == 2 and text in done.stderr


def test_files_that_cannot_be_used_are_named(send, tokens, tmp_path):
    assert "there is no file" in send("--recipients", tmp_path / "none.csv", "--title", "Hi").stderr
    file, results = csv(tmp_path / "to.csv", [tokens[0]], "token"), tmp_path / "results.jsonl"
    results.write_text("no result\n")
    done = send("--recipients", file, "--title", "Hi", "--results", results)
    assert done.returncode == 3 and "line 1 of" in done.stderr
    file.write_text("name\nAda\n")
    assert "no column token" in send("--recipients", file, "--title", "Hi").stderr


def test_a_killed_run_is_continued_without_a_second_push(up, path, tokens, tmp_path, send):
    """The results are written as they come, so a run that was killed leaves out what has one."""
    file, results = csv(tmp_path / "to.csv", tokens, "token"), tmp_path / "results.jsonl"
    running = subprocess.Popen(
        [str(BINARY), "send", "--topic", path["topic"], "--recipients", str(file), "--title", "Hi", "--rate", "20",
         "--results", str(results), "--data", str(up.data)], env=clean_environment(), stdin=subprocess.DEVNULL)
    wait_until(lambda: results.exists() and len(results.read_text().splitlines()) > 20, "some are sent")
    running.kill()
    running.wait(10)
    before = lines(results)
    done = send("--recipients", file, "--title", "Hi", "--results", results)
    assert done.stdout == f"{COUNT - len(before)} accepted, {len(before)} left out, since they have an answer\n"
