"""`aldaba run`: programs that know nothing of Aldaba, whose pushes come here."""

import functools
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from aldaba_process import BINARY, REPOSITORY, clean_environment, environment_of, processes
from pages import blocks
from waiting import wait_until

NAMESPACES = ["unshare", "--user", "--map-current-user", "--keep-caps", "--net", "--mount", "--pid", "--fork", "true"]
pytestmark = pytest.mark.skipif(
    subprocess.run(NAMESPACES, capture_output=True, check=False).returncode != 0, reason="no namespaces for users here")


def run(*command, seconds=60, flags=(), **options):
    options.setdefault("env", clean_environment())
    return subprocess.run(
        [str(BINARY), "run", *flags, "--", *map(str, command)], capture_output=True, text=True, timeout=seconds, check=False,
        **options)


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


@pytest.fixture
def fixtures(tmp_path):
    """A folder with an application's own keys, which this server has never seen."""
    (tmp_path / "AuthKey_ABC123DEFG.p8").write_text(pem(ec.generate_private_key(ec.SECP256R1())))
    (tmp_path / "service-account.json").write_text(json.dumps({
        "type": "service_account", "project_id": "my-app-12345",
        "private_key_id": "0123456789abcdef0123456789abcdef01234567",
        "private_key": pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        "client_email": "firebase-adminsdk-x@my-app-12345.iam.gserviceaccount.com",
        "token_uri": "https://oauth2.googleapis.com/token"}))
    return tmp_path


def arrived(done):
    """What was told to have arrived: app and payload of each."""
    found = re.findall(r"^aldaba: arrived  (\S+)  \S+  (.*)$", done.stderr, re.M)
    return [(app, json.loads(payload)) for app, payload in found]


def test_the_guide_s_quick_starts_send_here_without_a_change(fixtures):
    (program,) = blocks("test-your-pushes.md", "python")
    plain, asking = blocks("test-your-pushes.md", "sh")
    assert plain == "aldaba run -- python3 quick.py\n"
    (fixtures / "quick.py").write_text(program)
    folder = fixtures / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(sys.executable)
    environment = clean_environment()
    # The interpreter of the tests has the libraries.
    environment["PATH"] = f"{os.path.dirname(sys.executable)}:{environment['PATH']}"

    def paste(commands):
        done = subprocess.run(
            ["sh", "-c", commands], cwd=fixtures, capture_output=True, text=True, timeout=60, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done

    done = paste(plain)
    assert re.fullmatch(r"projects/my-app-12345/messages/\d+\n200\n", done.stdout)
    (first, message), (second, payload) = arrived(done)
    assert (first, message["score"]) == ("my-app-12345", "850")
    assert (second, payload) == ("com.example.App", {"aps": {"alert": "Hello"}})
    *_, apns, fcm = paste(asking).stdout.splitlines()
    assert apns.split()[2:7] == ["apns", "com.example.App", "740f4707bebcf74f", "200", "acked"]
    assert fcm.split()[2:7] == ["fcm", "my-app-12345", "bk3RNwTe3H0:CI2k", "200", "acked"]


SEND = """
import json, sys, time
import httpx, jwt
key = open("AuthKey_ABC123DEFG.p8").read()
token = jwt.encode({"iss": sys.argv[1], "iat": int(time.time())}, key, algorithm="ES256", headers={"kid": "ABC123DEFG"})
with httpx.Client(http2=True) as client:
    for device, topic in json.loads(sys.argv[2]):
        answer = client.post(f"https://api.push.apple.com/3/device/{device}", json={"aps": {"alert": device}}, headers={
            "authorization": f"bearer {token}", "apns-topic": topic, "apns-push-type": "alert"})
        print(answer.status_code, answer.json()["reason"] if answer.content else "")
"""


def test_apps_and_devices_are_what_they_were_at_first(fixtures):
    """A token is one app's, and an app one team's, as elsewhere."""
    first, second = "ab" * 32, "cd" * 32
    asked = [(first, "com.example.one"), (first, "com.example.one"), (second, "com.example.two"), (first, "com.example.two"),
             ("xyz", "com.example.one"), (second, "not a topic")]
    done = run(sys.executable, "-c", SEND, "TEAMOFTEST", json.dumps(asked), cwd=fixtures)
    assert done.stdout.splitlines() == [
        "200 ", "200 ", "200 ", "400 DeviceTokenNotForTopic", "400 BadDeviceToken", "400 BadTopic"], done.stderr
    assert [app for app, _ in arrived(done)] == ["com.example.one", "com.example.one", "com.example.two"]


def refusing():
    """The table of the guide: digits, what APNs answers, what FCM answers."""
    text = (REPOSITORY / "Docs/test-your-pushes.md").read_text()
    return re.findall(r"^\| `(\d{4})` \| (\d{3}) `(\w+)`(.*?) \| (\d{3}) `(\w+)`(.*?) \|$", text, re.M)


SEND_BOTH = """
import json, sys, time
import httpx, jwt
key = open("AuthKey_ABC123DEFG.p8").read()
account = json.load(open("service-account.json"))
now = int(time.time())
token = jwt.encode({"iss": "TEAMOFTEST", "iat": now}, key, algorithm="ES256", headers={"kid": "ABC123DEFG"})
assertion = jwt.encode(
    {"iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
     "scope": "https://www.googleapis.com/auth/firebase.messaging"}, account["private_key"], algorithm="RS256")
with httpx.Client(http2=True) as client:
    access = client.post(account["token_uri"], data={
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}).json()["access_token"]
    for digits in sys.argv[1:]:
        device = "0" * 60 + digits
        apns = client.post(f"https://api.push.apple.com/3/device/{device}", json={"aps": {"alert": "x"}}, headers={
            "authorization": f"bearer {token}", "apns-topic": "com.example.one", "apns-push-type": "alert"})
        fcm = client.post(
            f"https://fcm.googleapis.com/v1/projects/{account['project_id']}/messages:send",
            json={"message": {"token": device, "data": {"a": "b"}}}, headers={"authorization": f"Bearer {access}"})
        print(json.dumps([
            [apns.status_code, apns.json(), dict(apns.headers)], [fcm.status_code, fcm.json(), dict(fcm.headers)]]))
"""


def test_tokens_that_stand_for_an_error_are_refused_as_the_guide_says(fixtures):
    rows = refusing()
    assert len(rows) == 6
    done = run(sys.executable, "-c", SEND_BOTH, *(row[0] for row in rows), cwd=fixtures)
    assert done.returncode == 0, done.stderr
    for row, line in zip(rows, done.stdout.splitlines(), strict=True):
        _, status, reason, remark, code, name, further = row
        (apns_status, apns, apns_headers), (fcm_status, fcm, fcm_headers) = json.loads(line)
        assert (str(apns_status), apns["reason"], str(fcm_status)) == (status, reason, code)
        assert [each["errorCode"] for each in fcm["error"]["details"] if "errorCode" in each] == [name]
        assert ("timestamp" in apns, "retry-after" in apns_headers) == ("timestamp" in remark, "Retry-After" in remark)
        assert ("retry-after" in fcm_headers) == ("Retry-After" in further)
    assert not arrived(done)


def test_what_arrives_can_be_kept_quiet_and_no_other_host_is_reached(fixtures):
    done = run(sys.executable, "-c", SEND, "TEAMOFTEST", json.dumps([("ab" * 32, "com.example.one")]), cwd=fixtures,
               flags=["--quiet"])
    assert (done.stdout, done.stderr) == ("200 \n", "")
    done = run("curl", "-sS", "-m", "5", "https://example.com/")
    assert done.returncode == 6 and "Could not resolve host" in done.stderr
    done = run("curl", "-sS", "-m", "5", "https://203.0.113.7/")
    assert done.returncode == 7, done.stderr


@pytest.mark.parametrize("script, code", [("exit 7", 7), ("kill -9 $$", 137), ("exit 0", 0)])
def test_the_exit_code_is_the_command_s(script, code):
    assert run("sh", "-c", script).returncode == code


def test_a_command_that_does_not_exist_and_none_at_all_are_mistakes_of_the_caller():
    done = run("no-such-program")
    assert done.returncode == 1 and "no-such-program is no program that PATH finds" in done.stderr
    done = subprocess.run([str(BINARY), "run", "true"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and "aldaba run -- python test.py" in done.stderr


def test_without_namespaces_it_says_what_to_allow(tmp_path):
    (tmp_path / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "unshare").chmod(0o755)
    environment = clean_environment()
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    done = run("true", env=environment)
    assert done.returncode == 1
    assert "kernel.unprivileged_userns_clone=1" in done.stderr and "aldaba run --ports" in done.stderr


def of_run(mark):
    """The processes that were started with a mark in their environment."""
    return [pid for pid in processes() if f"MARK={mark}".encode() in environment_of(pid)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signals_reach_the_command_and_nothing_is_left(tmp_path, number):
    mark = tmp_path.name
    script = "trap 'echo TERM; exit 3' TERM; trap 'echo INT; exit 4' INT; echo ready; while :; do sleep 0.1; done"
    running = subprocess.Popen(
        [str(BINARY), "run", "--", "bash", "-c", script], stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
        env=clean_environment(MARK=mark), start_new_session=True)
    with running:
        assert running.stdout.readline() == "ready\n"
        assert len(of_run(mark)) >= 4
        running.send_signal(number)
        rest = running.stdout.read()
    expected = {signal.SIGTERM: ("TERM\n", 3), signal.SIGINT: ("INT\n", 4), signal.SIGKILL: ("", -9)}[number]
    assert (rest, running.returncode) == expected
    wait_until(lambda: not of_run(mark), "no process is left")
    assert not any(os.listdir(place) for place in ["/var/local"] if os.path.isdir(place))


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []


@pytest.mark.skipif(
    NOBODY and subprocess.run([*NOBODY, "test", "-x", str(BINARY)], check=False).returncode != 0,
    reason="nobody else may run the program here")
def test_a_user_without_rights_runs_a_command_without_rights():
    done = subprocess.run(
        [*NOBODY, str(BINARY), "run", "--", "sh", "-c", "id -u; grep CapEff /proc/self/status; curl -sS https://fcm.googleapis.com/"],
        capture_output=True, text=True, timeout=60, check=False, env=clean_environment(HOME="/nonexistent"))
    user, rights, *page = done.stdout.splitlines()
    assert (user, rights.split()[1]) == (str(65534 if NOBODY else os.getuid()), "0" * 16)
    assert "Aldaba runs APNs and FCM" in page[0]


def test_php_and_node_trust_the_server(fixtures):
    done = run("php", "-r", 'echo strlen(file_get_contents("https://fcm.googleapis.com/")) > 0 ? "php" : "";')
    assert done.stdout == "php", done.stderr
    script = 'require("https").get("https://fcm.googleapis.com/", a => console.log("node", a.statusCode))'
    done = run("node", "-e", script)
    assert done.stdout == "node 200\n", done.stderr


def test_a_server_that_accepts_anybody_is_for_development_on_loopback():
    for flags, words in [
        (["--accept-any-token"], "add --development"), (["--accept-any-credential"], "add --development"),
        (["--accept-any-token", "--host", "0.0.0.0"], "host 127.0.0.1 or ::1 only"),
    ]:
        done = subprocess.run(
            [str(BINARY), "serve", *flags], capture_output=True, text=True, timeout=30, check=False,
            env=clean_environment(HOME="/nonexistent"))
        assert done.returncode == 3 and words in done.stderr, done.stderr


ASK = """
import json, os, ssl, sys, urllib.request
context = ssl.create_default_context()
for name in ["ALDABA_APNS", "ALDABA_FCM"]:
    assert os.environ[name].startswith("https://127.0.0.1:")
with urllib.request.urlopen(os.environ["ALDABA_FCM"], context=context) as page:
    print(page.status)
with urllib.request.urlopen(f'http://{os.environ["FIREBASE_EMULATOR_HUB"]}/emulators') as answer:
    print(json.load(answer)["messaging"]["host"])
"""


def test_without_namespaces_variables_have_the_addresses_and_nothing_is_left(tmp_path):
    done = run(sys.executable, "-c", ASK, flags=["--ports"], env=clean_environment(TMPDIR=str(tmp_path)))
    assert done.stdout == "200\n127.0.0.1\n", done.stderr
    assert not any(tmp_path.iterdir())


def test_without_namespaces_nothing_is_left_after_a_kill(tmp_path):
    mark = tmp_path.name
    running = subprocess.Popen(
        [str(BINARY), "run", "--ports", "--", "sh", "-c", "echo ready; sleep 600"], stdout=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, env=clean_environment(MARK=mark, TMPDIR=str(tmp_path)), start_new_session=True)
    with running:
        assert running.stdout.readline() == "ready\n"
        assert any(tmp_path.iterdir())
        running.kill()
    wait_until(lambda: not any(tmp_path.iterdir()), "the folder is removed")
    # The command's own children are not the run's, without a namespace.
    for pid in of_run(mark):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not of_run(mark), "no process is left")


def test_a_further_host_is_this_server():
    name = "example.servicebus.windows.net"
    done = run("curl", "-sS", f"https://{name}/", flags=["--host", name])
    assert "Aldaba runs APNs and FCM" in done.stdout, done.stderr
    done = run("true", flags=["--host", "no host"])
    assert done.returncode == 2 and "no host is no name of a host" in done.stderr


def test_a_path_names_a_command_as_in_a_shell(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/test").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "bin/test").chmod(0o755)
    for name in ["bin/test", "./bin/test"]:
        assert run(name, cwd=tmp_path).stdout == "here\n"


def test_a_command_asks_what_came_without_an_address(fixtures):
    device = "ab" * 32
    script = 'python="$1"; shift; "$python" -c "$1" TEAMOFTEST "$2"; "$3" received --wait 1 --state acked --token "$4" --json'
    done = run(
        "sh", "-c", script, "sh", sys.executable, SEND, json.dumps([(device, "com.example.one")]), BINARY, device, cwd=fixtures)
    status, entry = done.stdout.splitlines()
    assert status == "200 " and json.loads(entry)["payload"]["aps"]["alert"] == device, done.stderr


@pytest.mark.skipif(shutil.which("slirp4netns") is None, reason="no slirp4netns here")
def test_a_command_reaches_this_machine_s_ports_where_the_network_is_allowed(tmp_path):
    (tmp_path / "page").write_text("outside")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as outside:
        thread = threading.Thread(target=outside.serve_forever)
        thread.start()
        try:
            script = f"curl -sS http://10.0.2.2:{outside.server_port}/page; curl -sS https://fcm.googleapis.com/ | head -1"
            done = run("sh", "-c", script, flags=["--allow-network"])
        finally:
            outside.shutdown()
            thread.join()
    assert done.stdout.startswith("outsideAldaba runs APNs and FCM"), done.stderr
    done = run("true", flags=["--allow-network", "--ports"])
    assert done.returncode == 2 and "leave --allow-network out" in done.stderr


@pytest.mark.parametrize("address, path", [
    ("api-manage-broadcast.sandbox.push.apple.com:2195", "/1/apps/a.b/all-channels"),
    ("api-manage-broadcast.push.apple.com:2196", "/1/apps/a.b/all-channels"),
    ("api-manage-broadcast.push.apple.com", "/1/apps/a.b/all-channels"),
    ("api-broadcast.push.apple.com", "/4/broadcasts/apps/a.b"), ("api.push.apple.com:2197", "/4/broadcasts/apps/a.b"),
])
def test_broadcast_channels_are_at_apple_s_addresses(address, path):
    method = [] if path.endswith("channels") else ["-X", "POST"]
    done = run("curl", "-sS", "--http2", *method, f"https://{address}{path}")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"reason": "MissingProviderToken"}
