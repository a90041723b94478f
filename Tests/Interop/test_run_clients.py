"""Programs without one line about Aldaba under `aldaba run`: other people's libraries, and other languages' own modules."""

import datetime
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from aldaba_process import BINARY, clean_environment, run_aldaba
from run_clients import CLIENTS, run_client
from test_run import NAMESPACES, fixtures, pem, pytestmark  # noqa: F401  (an application's keys; whether there are namespaces)

LEGACY = Path(sys.prefix) / "legacy"
RUNS = int(os.environ.get("ALDABA_RUNS", "20"))  # 200 are the measure; they take minutes with a debug build.
SENT = r"projects/my-app-12345/messages/\d+"


def library(name, folder=None):
    """Skips a test where a library is not installed."""
    found = (folder / name).is_dir() if folder else importlib.util.find_spec(name)
    return pytest.mark.skipif(not found, reason=f"no {name}")


def program(name):
    """Skips a test where a program is not installed."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name}")


def with_curl():
    """Whether PHP has its extension for curl."""
    if shutil.which("php") is None:
        return False
    return "curl" in subprocess.run(["php", "-m"], capture_output=True, text=True, check=False).stdout.split()


def python(name):
    return sys.executable, "-W", "ignore", CLIENTS / name


# An interpreter with its program, what that prints (regular expressions), and what came: by interface the title, status and
# state of each request.
APNS = [("one", 200, "acked"), ("one", 410, "refused")]
FCM = [("one", 200, "acked"), ("one", 404, "refused")]
CASES = {
    "aioapns": (
        python("sends_aioapns.py"), ["200 ", "200 ", "410 Unregistered"],
        {"apns": [("", 200, "acked"), ("one", 200, "acked"), ("three", 410, "refused")]}),
    "apns2": (
        ("env", f"PYTHONPATH={LEGACY}", *python("sends_apns2.py")), ["cdcd Success", r"0410 \('Unregistered', \d+\)"],
        {"apns": [("one", 200, "acked"), ("two", 200, "acked"), ("two", 410, "refused")]}),
    "pyfcm": (
        python("sends_pyfcm.py"), [SENT, SENT, "FCMNotRegisteredError"],
        {"fcm": [("one", 200, "acked"), ("three", 404, "refused"), ("two", 200, "accepted")]}),
    "async-firebase": (
        python("sends_async_firebase.py"), [f"True {SENT}", "True", "1 1"],
        {"fcm": [("one", 200, "acked"), ("three", 200, "acked"), ("three", 404, "refused"), ("two", 200, "accepted")]}),
    "curl": (
        ("sh", CLIENTS / "sends.sh"), ["2 200", "2 200", r'\{"name":"' + SENT + '"}', "200"],
        {"apns": [("one", 200, "acked")] * 2, "fcm": [("two", 200, "acked")]}),
    "php-curl": (
        ("php", CLIENTS / "sends_by_curl.php"), ["200 ", "410 Unregistered", "200"],
        {"apns": APNS, "fcm": [("two", 200, "acked")]}),
    "php-streams": (("php", CLIENTS / "sends_by_streams.php"), [SENT, "NOT_FOUND"], {"fcm": FCM}),
    "node-apns": (("node", CLIENTS / "sends.mjs", "apns"), ["200 ", "410 Unregistered"], {"apns": APNS}),
    "node-fcm": (("node", CLIENTS / "sends.mjs", "fcm"), ["200 404"], {"fcm": FCM}),
    "node-fcm-each": (("node", CLIENTS / "sends.mjs", "fcm-each"), ["200 404"], {"fcm": FCM}),
    "go": (
        ("go", "run", CLIENTS / "sends.go"), ["HTTP/2.0 200", "HTTP/2.0 410", r"HTTP/\d.\d 200"],
        {"apns": APNS, "fcm": [("two", 200, "acked")]}),
    "java": (
        ("java", CLIENTS / "Sends.java"), ["HTTP_2 200", "HTTP_2 410", "HTTP_.* 200"],
        {"apns": APNS, "fcm": [("two", 200, "acked")]}),
    "ruby": (("ruby", CLIENTS / "sends.rb"), ["200 ", "404 NOT_FOUND"], {"fcm": FCM}),
}
MARKS = {
    "apns2": [library("apns2", LEGACY)], "aioapns": [library("aioapns")], "pyfcm": [library("pyfcm")],
    "async-firebase": [library("async_firebase")], "curl": [program("curl")],
    "php-curl": [pytest.mark.skipif(not with_curl(), reason="no curl in PHP")], "php-streams": [program("php")],
    "node-apns": [program("node")], "node-fcm": [program("node")],
    "node-fcm-each": [program("node")],
    "go": [program("go")], "java": [program("java")], "ruby": [program("ruby")],
}


@pytest.mark.parametrize("command, output, came", [
    pytest.param(*case, id=name, marks=MARKS[name]) for name, case in CASES.items()])
def test_a_program_sends_here_as_it_stands(fixtures, command, output, came):
    acked = sum(state == "acked" for requests in came.values() for _, _, state in requests)
    run = run_client(
        fixtures, *command, acked=acked, GOCACHE=str(fixtures / "cache"), GOPROXY="off", GOTOOLCHAIN="local", GO111MODULE="off")
    assert run.code == 0, run.errors
    assert len(run.output) == len(output) and all(map(re.fullmatch, output, run.output)), run.output
    for interface, requests in came.items():
        assert run.told(interface) == requests
    assert {each["interface"] for each in run.requests} - {"oauth"} == set(came)


def test_no_program_knows_where_it_sends():
    programs = [each for each in CLIENTS.iterdir() if each.is_file()]
    assert len(programs) > 10
    for each in programs:
        assert not re.search("aldaba|127.0.0.1|localhost", each.read_text(), re.I), each


@library("firebase_admin")
def test_firebase_admin_sends_one_several_and_to_a_topic(fixtures):
    run = run_client(fixtures, *python("sends_firebase_admin.py"), acked=4)
    assert run.code == 0, run.errors
    one, several, many, subscribed, topic, left = run.output
    assert re.fullmatch(SENT, one) and re.fullmatch(SENT, topic)
    assert (several, many, subscribed, left) == ("1 1 UnregisteredError", "2 0", "2 0", "1")
    told = [line[:2] for line in run.told("fcm")]
    assert told == [("five", 200), ("four", 200), ("four", 200), ("one", 200), ("three", 404), ("two", 200)]
    [topic_send] = [each for each in run.requests if each["topic"] == "news" and each["interface"] == "fcm"]
    assert topic_send["payload"]["message"]["topic"] == "news"
    assert [(each["method"], each["answer"]["status"]) for each in run.requests if each["interface"] == "fcm-topics"] == [
        ("POST", 200), ("POST", 200), ("DELETE", 200)]


@pytest.fixture
def vapid(fixtures):
    (fixtures / "vapid.pem").write_text(pem(ec.generate_private_key(ec.SECP256R1())))


ENDPOINT = "https://fcm.googleapis.com/fcm/send/dLnWc0:APA91bIII"


@pytest.mark.parametrize("command", [
    pytest.param((*python("sends_pywebpush.py"), ENDPOINT), id="pywebpush", marks=library("pywebpush")),
    pytest.param(("node", CLIENTS / "sends.mjs", "web-push"), id="node", marks=program("node"))])
def test_a_push_to_a_browser_s_endpoint_is_shown(fixtures, vapid, command):
    run = run_client(fixtures, *command)
    [request] = run.requests
    assert (request["interface"], request["method"], request["path"]) == ("web-push", "POST", "/fcm/send/dLnWc0:APA91bIII")
    assert request["headers"]["authorization"] == "vapid …" and int(request["headers"]["ttl"]) > 0


@library("pywebpush")
@pytest.mark.parametrize("endpoint, status", [
    ("https://fcm.googleapis.com/fcm/send/dLnWc0:APA91bIII", "201"),
    ("https://updates.push.services.mozilla.com/wpush/v2/gAAAAABmIII", "201"),
    (f"https://fcm.googleapis.com/fcm/send/{'0' * 60}0410", "410"),
    (f"https://fcm.googleapis.com/fcm/send/{'0' * 60}0400", "404"),
    (f"https://fcm.googleapis.com/fcm/send/{'0' * 60}0429", "429")])
def test_a_push_to_any_browser_s_endpoint_is_answered(fixtures, vapid, endpoint, status):
    run = run_client(fixtures, *python("sends_pywebpush.py"), endpoint)
    assert run.output[0].split()[0] == status
    assert [(each["interface"], each["answer"]["status"]) for each in run.requests] == [("web-push", int(status))]


HUB_HOST = "shop.servicebus.windows.net"
MADE_UP = f"Endpoint=sb://{HUB_HOST}/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=c2VjcmV0"
# A hub of the run's own, whose connection string has another host.
MAKE_HUB = f"""
aldaba app create com.example.App > app.log
aldaba hub create shop-hub --app com.example.App --json | sed 's/.*"full":"Endpoint=sb:..[^/]*\\([^"]*\\)".*/\\1/' > rest
"$@" "Endpoint=sb://{HUB_HOST}$(cat rest)"
"""
hubs = [library("azure_notification_hub"), pytest.mark.skipif(
    "--host" not in run_aldaba("run", "--help").stdout, reason="no option of `aldaba run` names a hub's host")]


@pytest.mark.parametrize("command", [
    pytest.param(("sh", "-euc", f"umask 077\n{MAKE_HUB}", "sh", *python("sends_by_hub.py")), id="made in the run", marks=hubs),
    pytest.param((*python("sends_by_hub.py"), MADE_UP), id="any", marks=[
        *hubs, pytest.mark.xfail(strict=True, reason="a hub that was not made is refused with 404")])])
def test_a_client_of_a_hub_sends_to_the_hub_s_own_host(fixtures, command):
    run = run_client(fixtures, *command, flags=["--host", HUB_HOST])
    assert run.code == 0, run.errors
    assert run.output == ["['orders']", "True"]


@pytest.mark.parametrize("address", [
    "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
    "https://accounts.google.com/o/oauth2/token"])
@library("pyfcm")
def test_service_accounts_of_all_years_get_an_access_token(fixtures, address):
    file = fixtures / "service-account.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"token_uri": address}))
    run = run_client(fixtures, *python("sends_pyfcm.py"))
    assert run.code == 0, run.errors
    assert len(run.told("fcm")) == 3


@program("php")
def test_the_old_binary_interface_is_there_and_asks_for_a_certificate(fixtures):
    run = run_client(fixtures, "php", CLIENTS / "sends_by_gateway.php")
    assert run.output == ["closed"] and "certificate required" in run.errors
    assert run.requests == []


SIGN = """
openssl req -new -newkey rsa:2048 -nodes -keyout push.key -out push.csr -subj /CN=push 2> openssl.log
aldaba app create com.example.App > app.log
aldaba certificate sign push.csr --app com.example.App --output aps.pem > sign.log
cat aps.pem push.key > ck.pem
php "$1" ck.pem
"""
# A certificate as Apple makes them, which nobody has registered, and which has ended long ago.
OWN = """
php "$1" ck.pem
curl -sS --http2 --cert ck.pem -d '{"aps":{"alert":"x"}}' -o /dev/null -w '%{http_code}\\n' \\
    https://api.push.apple.com/3/device/$(printf 'cd%.0s' $(seq 32))
"""


def ended_certificate():
    """A certificate and its key as an application has them among its fixtures: for production, and ended."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([
        x509.NameAttribute(x509.NameOID.USER_ID, "com.example.App"),
        x509.NameAttribute(x509.NameOID.COMMON_NAME, "Apple Push Services: com.example.App")])
    begin = datetime.datetime(2015, 1, 1, tzinfo=datetime.UTC)
    production = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.840.113635.100.6.3.2"), b"\x05\x00")
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(7)
        .not_valid_before(begin).not_valid_after(begin + datetime.timedelta(365)).add_extension(production, False)
        .sign(key, hashes.SHA256()))
    return certificate.public_bytes(serialization.Encoding.PEM).decode() + pem(key)


@program("php")
@pytest.mark.parametrize("script, further", [(SIGN, []), (OWN, ["200"])], ids=["signed in the run", "the application's own"])
def test_the_old_binary_interface_takes_any_certificate(fixtures, script, further):
    (fixtures / "ck.pem").write_text(ended_certificate())
    run = run_client(fixtures, "sh", "-eu", "-c", f"umask 077\n{script}", "sh", CLIENTS / "sends_by_gateway.php")
    assert run.code == 0, run.errors
    # The second token stands for a refusal, of which the six bytes tell.
    assert run.output == ["8 8 1", *further]
    first, second = [each for each in run.requests if each["interface"] == "apns-binary"]
    told = {each["token"]: (each["answer"]["status"], each["state"]) for each in (first, second)}
    assert told["0" * 60 + "0400"] == (8, "refused") and told["ab" * 32][0] == 0


# In namespaces of their own, where there are no other programs, the runs leave what was there before.
REPEAT = """
mount -t tmpfs tmpfs /mnt && touch /mnt/aldaba && mount --bind "$1" /mnt/aldaba && mount -t tmpfs tmpfs /tmp || exit 100
state() {
    echo processes: /proc/[0-9]*
    echo files: $(ls -A /tmp /var/local)
    echo ports: $(cat /proc/net/tcp /proc/net/tcp6 /proc/net/unix | grep -c '^ *[0-9a-f]*:')
}
state
index=0
while [ $index -lt "$2" ]; do
    /mnt/aldaba run --quiet -- true || exit 101
    index=$((index + 1))
done
state
"""
OUTER = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


@pytest.mark.timeout(60 + 5 * RUNS)
@pytest.mark.skipif(
    subprocess.run([*OUTER, *NAMESPACES], capture_output=True, check=False).returncode != 0,
    reason="no namespaces in namespaces here")
def test_many_runs_leave_no_process_no_file_and_no_port():
    done = subprocess.run(
        [*OUTER, "sh", "-c", REPEAT, "sh", str(BINARY), str(RUNS)], capture_output=True, text=True, timeout=50 + 5 * RUNS,
        check=False, env=clean_environment(TMPDIR="/tmp"))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "processes: /proc/1" and lines[2] == "ports: 0"
    assert lines[3:] == lines[:3]
