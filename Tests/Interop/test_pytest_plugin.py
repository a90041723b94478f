"""The plugin for pytest from its source, with the program of the tests: small suites as somebody else would write them."""

import os
import re
import signal
import subprocess
import sys

import pytest

from aldaba_process import BINARY, clean_environment
from pages import blocks
from plugin_suite import SOURCE, Suite, passed
from test_run import NAMESPACES
from waiting import wait_for_end, wait_until


@pytest.fixture
def suite(tmp_path):
    return Suite(tmp_path)


def test_a_test_sees_what_it_sent_by_both_interfaces_and_what_its_device_got(suite):
    passed(suite.run('''
def test_apns(push, received, device):
    assert received.all() == [] and received.last is None
    assert push(device.token, "Hello", **{"apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b"}).status_code == 200
    entry = received.wait_for(title="Hello", interface="apns")
    assert entry.answer.status == 200 and entry.token == device.token and entry.app.startswith("com.example.T")
    assert entry.payload == {"aps": {"alert": {"title": "Hello"}}}
    assert entry.headers["apns-id"] == "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    assert entry.body is None and entry.number == received.last.number
    assert device.wait_for(title="Hello").notifications[0].state == "acked"
    push(device.token, "Hello again")
    assert [each.title for each in received.all()] == ["Hello", "Hello again"]
    assert [each.title for each in received.wait_for_count(2)] == ["Hello", "Hello again"]
    assert received.wait_for(match={"aps.alert.title": "Hello"}).number == entry.number
    assert received.wait_for(match={"aps": {"alert": {"title": "Hello"}}}).number == entry.number

def test_fcm(message, received, device, fcm):
    assert message(device.token, "Hola").status_code == 200
    assert received.wait_for(title="Hola", interface="fcm").payload["message"]["token"] == device.token
    assert device.wait_for(title="Hola").answer.status == 200

def test_nothing_of_other_tests(received):
    assert received.all() == []
'''), 3)
    assert len({process for process, _, _ in suite.notes}) == 1
    assert len({namespace for _, _, namespace in suite.notes}) == 3


def test_a_wait_that_fails_tells_what_came_instead(suite):
    done = suite.run('''
def test_other(push, received):
    push("ab" * 32, "Good bye")
    received.wait_for(title="Hello", timeout=0.1)

def test_none(received):
    received.wait_for_count(2, title="Hello", timeout=0.1)

def test_elsewhere(push, received, aldaba):
    push("cd" * 32, "Good day", **{"aldaba-namespace": "elsewhere"})
    received.wait_for(timeout=0.1)

def test_too_few(push, received):
    push("ef" * 32, "Hello")
    received.wait_for_count(2, title="Hello", timeout=0.1)
''')
    assert done.returncode == 1 and "4 failed" in done.stdout
    other, none, elsewhere, few = re.split(r"^_+ test_\w+ _+$", done.stdout, flags=re.M)[1:]
    assert "E       aldaba.NotReceived: no request with title='Hello' came within 0.1 s.\nE       What came:\n" in other
    assert re.search(r"^E +\d+  apns  200  \w+  title='Good bye'  app='com.example.\w+'  token=abababababababab…$", other, re.M)
    assert "Nothing came in the namespace T" in none
    assert "The latest of other namespaces:" in elsewhere and "namespace='elsewhere'" in elsewhere
    assert "1 of 2 requests with title='Hello' came" in few
    assert "in wait_for" not in done.stdout, "the plugin's own lines are shown"


def test_a_failed_test_shows_what_came(suite):
    done = suite.run('''
def test_wrong(push, received):
    assert push("ab" * 32, "Hello").status_code == 201
''')
    assert done.returncode == 1
    assert re.search(r"^-+ requests that Aldaba received -+\n\d+  apns  200  \w+  title='Hello'", done.stdout, re.M), done.stdout


FAULTS = '''
def test_counted(push, message, aldaba):
    fault = aldaba.fault(status=429, reason="TooManyRequests", retry_after=3, times=2, interface="apns")
    assert push("ab" * 32, "x", **{"aldaba-namespace": "another"}).status_code == 200
    refused = [push("ab" * 32, "x") for _ in range(3)]
    assert [each.status_code for each in refused] == [429, 429, 200]
    assert refused[0].json()["reason"] == "TooManyRequests" and refused[0].headers["retry-after"] == "3"
    assert message("fcm-token", "x").status_code == 200
    assert fault.used == 2

def test_kept_to_its_end(push, aldaba):
    aldaba.fault(status=500, times=0)
    assert push("cd" * 32, "x").status_code == 500

def test_gone(push, aldaba):
    assert aldaba.server.request("GET", "/v1/faults")["faults"] == []
    assert push("cd" * 32, "x").status_code == 200
    with aldaba.fault(status=503):
        assert push("cd" * 32, "x").status_code == 503
    fault = aldaba.fault(status=503)
    fault.remove()
    assert push("cd" * 32, "x").status_code == 200
    aldaba.reset()
    assert aldaba.received.all() == []

def test_refused(aldaba):
    import aldaba as package
    with pytest.raises(package.AldabaError):
        aldaba.fault()
'''


def test_a_fault_is_for_the_requests_of_its_test(suite):
    passed(suite.run("import pytest\n" + FAULTS), 4)


PARALLEL = '''
import pytest

@pytest.mark.parametrize("number", range(12))
def test_each(push, message, received, device, aldaba, number):
    if number % 3 == 0:
        aldaba.fault(status=503, times=0)
    for title in "one", "two":
        assert push(device.token, title).status_code == (503 if number % 3 == 0 else 200)
    received.wait_for_count(2, interface="apns")
    assert [each.title for each in received.all(interface="apns")] == ["one", "two"]
    assert {each.namespace for each in received.all()} == {aldaba.name}
'''


def test_workers_of_xdist_share_a_server_and_no_requests(suite):
    passed(suite.run(PARALLEL, "-n", "2"), 12)
    assert len({(process, data) for process, data, _ in suite.notes}) == 1
    assert len({namespace for _, _, namespace in suite.notes}) == 12


WAITING = '''
import os

def test_waiting(received):
    open(os.environ["NOTES"] + ".waiting", "w").close()
    received.wait_for(timeout=60)
'''


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_no_server_is_left_when_the_run_is_ended(suite, arguments, number, tmp_path):
    running = subprocess.Popen(
        **suite.command(WAITING, *arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    with running:
        wait_until((tmp_path / "notes.waiting").exists, "the test waits", 60, folder=tmp_path)
        # What a person types reaches all processes of the terminal.
        os.killpg(running.pid, number)
        running.stdout.read()
    [(process, data, _)] = suite.notes
    assert running.returncode == (2 if number == signal.SIGINT else -number)
    assert wait_for_end(process), "the server is left"
    if number == signal.SIGINT:
        assert not os.path.exists(os.path.dirname(data)), "the server's folder is left"


CLOCK = '''
import datetime, pytest

@pytest.mark.aldaba_own_server
def test_later(push, received, device, aldaba):
    before = aldaba.clock.now
    push(device.token, "before")
    assert aldaba.clock.advance("28d") - before >= datetime.timedelta(days=28)
    assert push(device.token, "after").json()["reason"] == "ExpiredProviderToken"
    assert [each.title for each in received.wait_for_count(2)] == ["before", "after"]

def test_of_another_server(push, device, aldaba):
    assert abs(aldaba.clock.now - datetime.datetime.now(datetime.timezone.utc)) < datetime.timedelta(minutes=5)
    assert push(device.token, "now").status_code == 200
    before = aldaba.clock.now
    assert aldaba.clock.advance(datetime.timedelta(seconds=90)) - before >= datetime.timedelta(seconds=90)
'''


def test_a_test_with_a_server_of_its_own_sets_its_clock_alone(suite):
    passed(suite.run(CLOCK), 2)
    assert len({process for process, _, _ in suite.notes}) == 2


def test_tests_with_a_team_each_send_to_the_same_app(suite):
    passed(suite.run('''
import pytest

@pytest.mark.parametrize("number", range(2))
def test_each(push, device, number):
    assert push(device.token, "Hello", topic="com.example.App").status_code == 200
'''), 2)


def test_a_run_that_needs_no_server_starts_none(suite):
    passed(suite.run("def test_one():\n    pass\n", ALDABA_PROGRAM="/bin/false"), 1)
    passed(suite.run("def test_one():\n    pass\n", "-n", "2", ALDABA_PROGRAM="/bin/false"), 1)


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("program, words", [
    ("/no/such", "ALDABA_PROGRAM names /no/such"), ("/bin/false", "the server ended with 1")])
def test_a_program_that_does_not_start_is_named(suite, arguments, program, words):
    done = suite.run("def test_one(received):\n    pass\n", *arguments, ALDABA_PROGRAM=program)
    assert done.returncode == 1 and "1 error" in done.stdout and words in done.stdout, done.stdout


def test_the_package_s_command_is_the_program():
    done = subprocess.run(
        [sys.executable, "-c", "from aldaba._program import main; main()", "--version"], capture_output=True, text=True, timeout=30,
        check=False, env=clean_environment(ALDABA_PROGRAM=str(BINARY), PYTHONPATH=str(SOURCE), PYTHONDONTWRITEBYTECODE="1"))
    version = subprocess.run([str(BINARY), "--version"], capture_output=True, text=True, timeout=30, check=True)
    assert (done.returncode, done.stdout) == (0, version.stdout), done.stderr


def test_secrets_are_this_user_s_alone(suite):
    passed(suite.run('''
def test_modes(apns, fcm):
    for file in apns.key_file, fcm.service_account:
        assert file.stat().st_mode & 0o077 == 0 and "PRIVATE KEY" in file.read_text()
    assert "PRIVATE KEY" not in repr(apns) + repr(fcm)
'''), 1)


in_namespaces = pytest.mark.skipif(
    subprocess.run(NAMESPACES, capture_output=True, check=False).returncode != 0, reason="no namespaces for users here")

# An application's own code, with its own key, its own team and Apple's host.
UNCHANGED = '''
import ssl, time
import httpx, jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

KEY = ec.generate_private_key(ec.SECP256R1()).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

def greet(token, title):
    provider = jwt.encode({"iss": "DEF123GHIJ", "iat": int(time.time())}, KEY, algorithm="ES256", headers={"kid": "ABC123DEFG"})
    with httpx.Client(http2=True) as client:
        return client.post(f"https://api.push.apple.com/3/device/{token}", json={"aps": {"alert": {"title": title}}}, headers={
            "authorization": f"bearer {provider}", "apns-topic": "com.example.App", "apns-push-type": "alert"}).status_code

def test_first(received, device, aldaba):
    with aldaba.fault(status=503):
        assert greet(device.token, "Hello") == 503
    assert greet(device.token, "Hello") == 200
    assert [each.answer.status for each in received.wait_for_count(2, title="Hello")] == [503, 200]
    assert received.last.team == "DEF123GHIJ"
    aldaba.reset()
    assert received.all() == []

def test_second(received, device):
    assert received.all() == []
    greet(device.token, "Good bye")
    device.wait_for(title="Good bye")

def test_third(push, received, device):
    greet("ab" * 32, "Hello")
    assert received.all() == []
    assert push(device.token, "Mine").status_code == 200
    received.wait_for(title="Mine")
'''


@in_namespaces
@pytest.mark.parametrize("arguments, setting", [(["--aldaba-run"], ""), ([], "aldaba_run = true\n")], ids=["option", "setting"])
def test_code_with_the_vendors_hosts_needs_no_change_under_aldaba_run(suite, arguments, setting):
    (suite.folder / "pytest.ini").write_text("[pytest]\n" + setting)
    passed(suite.run(UNCHANGED, *arguments), 3)


@in_namespaces
def test_the_exit_code_of_a_run_under_aldaba_run_is_pytest_s(suite):
    done = suite.run("def test_fails():\n    assert False\n", "--aldaba-run")
    assert done.returncode == 1 and "1 failed" in done.stdout
    assert suite.run("", "--aldaba-run").returncode == 5
    done = suite.run("", "--aldaba-run", ALDABA_PROGRAM="/no/such")
    assert done.returncode == 4 and "ALDABA_PROGRAM names /no/such" in done.stderr


@in_namespaces
def test_the_guide_s_test_passes_and_fails_as_the_guide_says(suite):
    program, = blocks("pytest.md", "python")
    (suite.folder / "test_order.py").write_text(program)
    done = suite.run("", "--aldaba-run", "test_order.py")
    passed(done, 1)
    other = program.replace('title="Your order was sent")\n    messaging', 'title="Your order is ready")\n    messaging')
    (suite.folder / "test_order.py").write_text(other)
    done = suite.run("", "--aldaba-run", "test_order.py")
    assert done.returncode == 1

    def comparable(lines):
        return [re.sub(r"(app=|token=)\S+", r"\1", line) for line in lines if line.startswith("E ")]

    assert comparable(done.stdout.splitlines()) == comparable(blocks("pytest.md", "text")[2].splitlines())
