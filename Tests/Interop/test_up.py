"""`aldaba up` as a person uses it: data found again, clear errors, supervision, lines that can be pasted."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

import aldaba_process
from aldaba_process import BINARY, AldabaUp, clean_environment, environment_of, run_aldaba
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


def test_a_register_begun_anew_keeps_the_keys(run, tmp_path):
    data, ports = tmp_path / "data", free_ports()
    data.mkdir(mode=0o700)
    run_aldaba("key", "create", "--team", "OTHERTEAM1", "--data", data)
    first = run("--json", "--data", data, *flags(ports))
    assert first.stop() == 0
    for file in data.glob("server.sqlite*"):
        file.unlink()
    code, told = refused("--data", data, *flags(ports))
    assert code == 8 and "server.sqlite is missing" in told and "--new-database server" in told
    assert not (data / "server.sqlite").exists()
    second = run("--json", "--data", data, "--new-database", "server", *flags(ports))
    assert second.ready["keyId"] == first.ready["keyId"]
    assert len(list((data / "keys").glob("*.p8"))) == 2
    token = run_aldaba("key", "token", "--data", data, "--key-id", second.ready["keyId"]).stdout.strip()
    provider = Provider(second.ready)
    headers = provider.headers(authorization=f"bearer {token}")
    answer = provider.request("POST", f"/3/device/{second.ready['deviceToken']}", headers, b'{"aps":{"alert":"x"}}')
    assert answer.status == 200
    provider.close()


def test_an_app_is_connected_when_up_is_ready_and_knows_no_secret(run):
    running = run("--ephemeral", "--json", environment=clean_environment(ALDABA_ENROLMENT_KEY="for-devices-only"))
    app = running.ready["pids"]["app"]
    assert app and running.apps() == [app]
    names = {each.split(b"=")[0].decode() for each in environment_of(app) if each.startswith(b"ALDABA_")}
    assert names == {"ALDABA_AGENT_SOCKET", "ALDABA_APP_ID", "ALDABA_SUPERVISED"}


def test_the_named_configuration_reaches_the_children(run, tmp_path):
    file = tmp_path / "named.yaml"
    file.write_text("presenter: desktop\n")
    code, told = refused("--ephemeral", "--config", file)
    assert code == 1 and "agent died" in told and "session bus" in told
    running = run("--ephemeral", "--json", "--config", file, "--presenter", "headless")
    assert running.ready["pids"]["agent"]


def test_a_folder_that_others_use_is_refused_and_left_as_it_is(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "theirs").write_text("")
    folder.chmod(0o755)
    code, told = refused("--data", folder, *flags(free_ports()))
    assert code == 1 and str(folder) in told and "--data" in told
    assert folder.stat().st_mode & 0o777 == 0o755
    assert [file.name for file in folder.iterdir()] == ["theirs"]


@pytest.mark.parametrize("words", [
    ("app", "list"), ("key", "list"), ("key", "token"), ("get", "1"), ("send", "--token", "ab", "--title", "x"),
    ("doctor",), ("hub", "list"), ("app", "create", "com.example.mistyped"), ("key", "create"), ("team", "create", "Mist"),
    ("service-account", "create"), ("enrolment-key", "create", "lab"), ("hub", "create", "mist"),
    ("hub", "key", "list", "mist"), ("agent", "app", "list"),
])
def test_commands_that_only_look_or_register_make_nothing(words, tmp_path):
    done = run_aldaba(*words, "--data", tmp_path / "mistyped", check=False)
    if words != ("doctor",):
        assert done.returncode != 0 and "mistyped" in done.stderr
    assert not (tmp_path / "mistyped").exists()


@pytest.mark.parametrize("flag", PORT_FLAGS)
def test_serve_names_the_port_that_it_cannot_have(flag, tmp_path):
    data, ports = tmp_path / "data", free_ports()
    data.mkdir(mode=0o700)
    run_aldaba("key", "create", "--data", data)
    key, certificate = data / "certificates/server-key.pem", data / "certificates/server.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", certificate, "-subj", "/CN=localhost"], check=True, capture_output=True, timeout=20)
    taken = ports[PORT_FLAGS.index(flag)]
    with socket.create_server(("127.0.0.1", taken)):
        done = run_aldaba("serve", "--development", "--data", data, *flags(ports), check=False)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{taken}" in done.stderr


def test_ipv6_addresses_work_as_printed(run):
    running = run("--ephemeral", "--json", "--host", "::1")
    ready = running.ready
    assert ready["apns"].startswith("https://[::1]:") and ready["mcs"].startswith("[::1]:")
    assert ready["http"].startswith("http://127.0.0.1:")
    sent = run_aldaba("send", "--data", ready["data"], "--token", ready["deviceToken"], "--title", "six", "--json")
    apns_id = json.loads(sent.stdout)["apnsId"]
    wait_for_lines(ready["appLog"], lambda lines: apns_id in lines, "the app was handed it")
    assert "accepted" in ControlClient(ready["http"]).states(apns_id)


def test_doctor_looks_where_up_looks_and_changes_nothing(run, tmp_path):
    running = run("--ephemeral", "--json")
    lock = running.data / "up.lock"
    before = lock.read_text()
    told = run_aldaba("doctor", "--data", running.data, "--apns-port", 0, check=False).stdout
    assert f"pid {running.process.pid}" in told
    assert f"serve: the data folder is in use by pid {running.ready['pids']['serve']}" in told
    assert f"agent: the data folder is in use by pid {running.ready['pids']['agent']}" in told
    assert lock.read_text() == before == f"{running.process.pid}\n"
    taken = free_ports(1)[0]
    (tmp_path / "aldaba.yaml").write_text(f"apns-port: {taken}\n")
    with socket.create_server(("127.0.0.1", taken)):
        told = run_aldaba("doctor", "--data", tmp_path / "data", check=False, cwd=tmp_path).stdout
    assert f"apns-port {taken} is in use" in told


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


@pytest.fixture
def own_copy(tmp_path, monkeypatch):
    """The folder of a copy of `aldaba` that this test runs, without a demo app."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(BINARY, folder)
    monkeypatch.setattr(aldaba_process, "BINARY", folder / BINARY.name)
    yield folder
    shutil.rmtree(folder)


def test_up_goes_on_without_an_app_that_cannot_be_started_again(own_copy, run):
    app = own_copy / "TodoList"
    shutil.copy(BINARY.parent / "TodoList", app)
    running = run("--ephemeral", "--json")
    app.unlink()
    kill(running.pids()["app"])
    wait_until(lambda: "goes on without it" in running.log_tail(), "up says so")
    provider = Provider(running.ready)
    assert posted(provider, running.ready).status == 200
    assert running.pids()["app"] is None
    provider.close()


def test_up_is_ready_without_an_app_that_dies_again_and_again(own_copy, run):
    app = own_copy / "TodoList"
    shutil.copy("/bin/false", app)
    running = run("--ephemeral", "--json")
    assert running.ready["pids"]["app"] is None
    assert "app died five times" in running.log_tail()


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
        "fcm", "serviceAccount", "registrationToken", "hub", "hubName", "control", "legacy", "legacyFeedback", "socket",
        "devices", "pids", "console",
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
    log = tmp_path / "data/log/handed.log"
    wait_for_lines(log, lambda each: len(each) == 2 and apns_id in each, "the app was handed both")


def in_a_fresh_terminal(data, line, home):
    """A line in a shell that knows nothing of Aldaba but the file that `up` names."""
    return subprocess.run(
        ["sh", "-euc", f". '{data}/environment'\n{line}"], capture_output=True, text=True, timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)})


def test_the_terminal_shows_each_notification_in_a_line(run, tmp_path):
    running = run("--data", tmp_path / "data", *flags(free_ports()), json_line=False)
    running.read_output_until(lambda text: "a line each" in text)
    assert f"\n. {tmp_path}/data/environment\n" in running.output
    assert "there is no session bus" in running.output and "notifications --data" in running.output
    sent = in_a_fresh_terminal(tmp_path / "data", "aldaba send --token $TOKEN --title 'Buy milk' --body now", tmp_path)
    assert sent.returncode == 0, sent.stderr
    line = re.compile(r"^(\d+)  com\.example\.todo  Buy milk: presented \(in the list only: .*\), handed$", re.MULTILINE)
    running.read_output_until(line.search, seconds=20)
    number = line.search(running.output)[1]
    told = in_a_fresh_terminal(tmp_path / "data", f"aldaba get {number} --timeline", tmp_path)
    assert "handed  by app" in told.stdout, told.stderr
    assert in_a_fresh_terminal(tmp_path / "data", 'test -x "$DEMO_APP" && test -S "$SOCKET"', tmp_path).returncode == 0
    assert running.stop() == 0
    assert not (tmp_path / "data/environment").exists()


def test_the_terminal_is_quiet_where_it_is_to_be(run, tmp_path):
    running = run("--quiet", "--data", tmp_path / "data", *flags(free_ports()), json_line=False)
    running.read_output_until(lambda text: "/v1/notifications/" in text)
    log = tmp_path / "data/log/handed.log"
    sent = in_a_fresh_terminal(tmp_path / "data", "aldaba send --token $TOKEN --title 'Buy milk'", tmp_path)
    assert sent.returncode == 0, sent.stderr
    wait_for_lines(log, lambda lines: lines, "the app was handed it")
    assert running.stop() == 0
    assert "a line each" not in running.output and "Buy milk:" not in running.output


def test_addresses_open_to_people(run):
    running = run("--ephemeral", "--json")
    for name, purpose in (("http", "control API"), ("metrics", "/metrics")):
        client = ControlClient(running.ready[name])
        status, text = client.request("GET", "/")
        assert status == 200 and b"Aldaba" in text and purpose.encode() in text, text
        client.close()


def joined(text):
    """Lines that end in a backslash, joined with what follows, as a shell reads them."""
    return text.replace("\\\n", " ")


def pasted(line):
    done = subprocess.run(
        ["bash", "-c", line], env=clean_environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done
