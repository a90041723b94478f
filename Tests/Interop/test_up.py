"""`aldaba up` as a person uses it: data found again, clear errors, supervision, lines that can be pasted."""

import json
import os
import re
import signal
import socket
import subprocess

import pytest

from aldaba_process import BINARY, AldabaUp, clean_environment, run_aldaba
from control_client import ControlClient
from h2_client import ConnectionEnded
from provider import Provider
from waiting import kill, wait_for_end, wait_for_lines, wait_until

PORT_FLAGS = ("--apns-port", "--device-port", "--control-port", "--http-port", "--metrics-port")
# Root may write anywhere; without these capabilities it is bound by a folder's mode like everybody.
BOUND_BY_MODES = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.getuid() == 0 else ()


def free_ports(count=len(PORT_FLAGS)):
    """Ports that were free a moment ago, held together so that they differ."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def flags(ports):
    return [word for flag, port in zip(PORT_FLAGS, ports) for word in (flag, str(port))]


@pytest.fixture
def run(request):
    """`run(*arguments)` starts `aldaba up`; every run still going at the end is stopped."""
    started = []

    def start(*arguments, **options):
        running = AldabaUp(*arguments, name=f"{request.node.name}-{len(started)}", **options)
        started.append(running)
        return running

    yield start
    for running in started:
        if running.process.poll() is None:
            running.stop()
        running.drop_logs()


def refused(*arguments, prefix=()):
    """Runs an `aldaba up` that must end by itself with an error; returns (exit code, standard error)."""
    done = subprocess.run(
        [*prefix, str(BINARY), "up", "--json", *map(str, arguments)], env=clean_environment(), text=True,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert done.stdout == "", "nothing on standard output"
    assert done.returncode != 0
    return done.returncode, done.stderr


def test_a_second_run_finds_the_data_of_the_first(run, tmp_path):
    data, ports = tmp_path / "data", free_ports()
    first = run("--json", "--data", data, *flags(ports))
    token = first.ready["deviceToken"]
    assert first.ready["apns"] == f"https://127.0.0.1:{ports[0]}"
    device_tokens = tmp_path / "tokens"
    run_aldaba("device", "simulate", 1, "--offline", "--tokens", device_tokens, "--data", data)
    provider = Provider(first.ready)
    waiting = provider.post(device_tokens.read_text().strip(), {"aps": {"alert": "waits"}})
    assert waiting.status == 200
    old_bearer = provider.headers()
    assert first.stop() == 0
    provider.close()

    second = run("--json", "--data", data, *flags(ports))
    assert second.ready["deviceToken"] == token
    assert second.ready["keyId"] == first.ready["keyId"]
    control = ControlClient(second.ready["http"])
    assert control.states(waiting.apns_id) == ["accepted", "stored"]
    again = Provider(second.ready)
    answer = again.request("POST", f"/3/device/{token}", old_bearer, b'{"aps":{"alert":"hello again"}}')
    assert answer.status == 200, "a provider token of the first run is good in the second"
    wait_for_lines(second.ready["appLog"], lambda lines: answer.apns_id in lines, "the app was handed it")
    again.close()
    control.close()


def test_what_waited_while_the_app_and_agent_were_away_is_delivered(run, tmp_path):
    """The agent is held still while a notification is accepted, then everything ends and starts again."""
    data, ports = tmp_path / "data", free_ports()
    first = run("--json", "--data", data, *flags(ports))
    os.kill(first.pids()["agent"], signal.SIGSTOP)
    provider = Provider(first.ready)
    answer = provider.post(first.ready["deviceToken"], {"aps": {"alert": "for later"}})
    assert answer.status == 200
    provider.close()
    first.stop(seconds=30)

    second = run("--json", "--data", data, *flags(ports))
    lines = wait_for_lines(second.ready["appLog"], lambda lines: answer.apns_id in lines, "it is delivered now")
    assert lines.count(answer.apns_id) == 1


@pytest.mark.parametrize("flag", PORT_FLAGS)
def test_a_port_in_use_is_named_with_the_flag_that_chooses_another(flag, tmp_path):
    ports = free_ports()
    taken = ports[PORT_FLAGS.index(flag)]
    with socket.create_server(("127.0.0.1", taken)):
        code, told = refused("--data", tmp_path / "data", *flags(ports))
    assert code == 1
    assert str(taken) in told and flag in told


def test_an_unwritable_folder_is_named_with_what_to_do(tmp_path):
    folder = tmp_path / "readonly"
    folder.mkdir(mode=0o555)
    code, told = refused("--data", folder / "data", *flags(free_ports()), prefix=BOUND_BY_MODES)
    assert code == 1
    assert str(folder) in told and "--data" in told


def test_a_locked_folder_names_who_holds_it(run, tmp_path):
    data = tmp_path / "data"
    first = run("--json", "--data", data, *flags(free_ports()))
    code, told = refused("--data", data, *flags(free_ports()))
    assert code == 1
    assert str(first.process.pid) in told and str(data) in told


def test_files_with_secrets_are_for_the_owner_only(run):
    running = run("--ephemeral", "--json")
    assert running.data.stat().st_mode & 0o777 == 0o700
    keys = [file for file in running.data.rglob("*") if file.suffix in (".p8", ".key", ".sqlite", ".db")]
    assert any(file.suffix == ".p8" for file in keys)
    readable = [file for file in keys if file.stat().st_mode & 0o077]
    assert not readable, f"readable by others: {readable}"


def test_the_certificate_passes_openssls_strict_checks(run):
    running = run("--ephemeral", "--json")
    address = running.ready["apns"].removeprefix("https://")
    done = subprocess.run(
        ["openssl", "s_client", "-connect", address, "-CAfile", running.ready["ca"], "-x509_strict",
         "-verify_return_error", "-verify_ip", "127.0.0.1", "-alpn", "h2"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=20)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Verify return code: 0" in done.stdout and "ALPN protocol: h2" in done.stdout


def test_sigkill_of_up_ends_its_children(run):
    running = run("--ephemeral", "--json")
    children = running.pids()
    assert set(children) >= {"serve", "agent", "app"} and all(children.values())
    kill(running.process.pid)
    left = [child for child, pid in children.items() if not wait_for_end(pid, 10)]
    assert not left, f"still there: {left}"


@pytest.mark.parametrize("child", ["serve", "agent", "app"])
def test_a_killed_child_starts_again_on_the_same_port(child, run):
    running = run("--ephemeral", "--json")
    assert running.pids() == running.ready["pids"]
    old = running.pids()[child]
    kill(old)
    running.wait_for_new_pid(child, old)
    provider = Provider(running.ready)
    answer = wait_until(lambda: posted(provider, running.ready), "the same port answers again")
    assert answer.status == 200
    wait_for_lines(running.ready["appLog"], lambda lines: answer.apns_id in lines, "and the app is handed it")
    others = set(running.ready["pids"]) - {child}
    assert all(running.pids()[other] == running.ready["pids"][other] for other in others), "the others lived on"
    provider.close()


def posted(provider, ready):
    """An answer, or `None` while nobody listens."""
    try:
        return provider.post(ready["deviceToken"], {"aps": {"alert": "still here"}})
    except (OSError, ConnectionEnded):
        return None


def test_up_gives_up_on_a_server_that_dies_again_and_again(run):
    running = run("--ephemeral", "--json")
    pid = running.pids()["serve"]
    for _ in range(4):
        kill(pid)
        pid = running.wait_for_new_pid("serve", pid)
    kill(pid)
    assert wait_for_end(running.process.pid, 20)
    assert running.process.wait(5) == 1
    assert "serve" in running.log_tail()


def test_standard_output_is_exactly_one_line_of_json(run):
    running = run("--ephemeral", "--json")
    assert running.stop() == 0
    assert running.output.count("\n") == 1 and running.output.endswith("\n")
    assert set(json.loads(running.output)) == {
        "apns", "mcs", "http", "metrics", "ca", "key", "keyId", "teamId", "topic", "deviceToken", "data", "appLog",
        "pids",
    }
    assert not running.data.exists()


def test_metrics_and_health_answer(run):
    running = run("--ephemeral", "--json")
    client = ControlClient(running.ready["metrics"])
    status, text = client.request("GET", "/metrics")
    assert status == 200 and b"# TYPE" in text
    assert client.request("GET", "/health")[0] == 200
    client.close()


def test_the_printed_lines_work_when_pasted(run, tmp_path):
    running = run("--data", tmp_path / "data", *flags(free_ports()), json_line=False)
    wanted = {
        "send": r"(?m)^\W*(\S*aldaba send .*)$",
        "curl": r"(?m)^\W*(curl .*)$",
        "timeline": r"(http://\S+/v1/notifications/\S+)",
    }
    running.read_output_until(lambda text: all(re.search(each, joined(text)) for each in wanted.values()))
    printed = joined(running.output)
    lines = {name: re.search(each, printed)[1] for name, each in wanted.items()}

    sent = pasted(lines["send"])
    apns_id = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", sent.stdout)[0]
    pasted(lines["curl"])
    address = re.sub(r"(\$ID|<[^>]*>|\{[^}]*\}|\bID\b)", apns_id, lines["timeline"])
    found = pasted(f"curl --silent --fail '{address}'")
    assert "accepted" in found.stdout
    log = tmp_path / "data/app.log"
    wait_for_lines(log, lambda each: len(each) == 2 and apns_id in each, "the app was handed both")


def joined(text):
    """Lines that end in a backslash, joined with what follows, as a shell reads them."""
    return text.replace("\\\n", " ")


def pasted(line):
    done = subprocess.run(
        ["bash", "-c", line], env=clean_environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done
