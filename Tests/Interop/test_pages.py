"""The pages' commands do what the pages say, word for word."""

import json
import os
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from aldaba_process import REPOSITORY, AldabaUp, run_aldaba
from fcm_library import NOWHERE, internal_id
from pages import blocks, in_a_fresh_root, run_python, run_shell


@pytest.fixture
def told(path):
    """What a command prints with --json on the running server's folder."""
    return lambda *words: json.loads(run_aldaba(*words, "--json", "--data", path["data"]).stdout)


def test_the_member_centre(path, told, tmp_path):
    done = run_shell("member-centre.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "200  apns-id" in done.stdout
    app = told("app", "show", "com.example.harbour")
    assert (app["team"], app["name"], app["capabilities"], app["keys"]) == ("HARBOUR001", "Harbour", ["push"], [])
    states = sorted((tuple(each["environments"]), each["state"]) for each in app["certificates"])
    assert states == [
        (("production",), "valid"), (("sandbox",), "valid"), (("sandbox", "production"), "revoked"),
        (("sandbox", "production"), "valid")]
    assert told("team", "show", "HARBOUR001")["name"] == "Harbour Apps"


def test_send_with_a_certificate(path, told, tmp_path):
    done = run_shell("send-with-a-certificate.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert '{"reason":"BadCertificate"}' in done.stdout, "what was revoked is told so"
    assert (tmp_path / "push.pem").read_text().count("BEGIN ") == 2
    assert (tmp_path / "old.pem").read_text().count("BEGIN ") == 2
    assert told("certificate", "list-ca") == []


# Has the client of the page send to the server of the test, whose address only the test knows.
SEND = """
import asyncio, os
from aioapns import NotificationRequest
from aioapns.connection import APNsDevelopmentClientProtocol

async def send():
    client.pool.protocol_class = type("Here", (APNsDevelopmentClientProtocol,), {
        "APNS_SERVER": os.environ["SERVER"], "APNS_PORT": int(os.environ["PORT"])})
    answer = await client.send_notification(
        NotificationRequest(device_token=os.environ["TOKEN"], message={"aps": {"alert": "x"}}))
    client.pool.close()
    print(answer.status)

asyncio.get_event_loop().run_until_complete(send())
"""


def test_send_with_a_certificate_in_python(path, tmp_path):
    """The page's own lines make the client; only the address is the test's."""
    done = run_shell("send-with-a-certificate.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "push.pem").write_text((tmp_path / "own.crt").read_text() + (tmp_path / "own.key").read_text())
    [lines] = blocks("send-with-a-certificate.md", "python")
    address = urlsplit(path["apns"])
    done = run_python(
        lines + SEND, tmp_path, CA=path["ca"], SERVER=address.hostname, PORT=str(address.port), TOKEN=path["deviceToken"])
    assert done.stdout == "200\n", done.stdout + done.stderr


def test_the_commands_of_a_page_do_not_reach_elsewhere(tmp_path):
    """A name that would answer from anywhere is asked at the proxy, at which nobody listens."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "http://192.0.2.1/"], env=in_a_fresh_root(tmp_path, tmp_path),
        capture_output=True, text=True, timeout=20)
    assert done.returncode == 7 and "127.0.0.1 port 1" in done.stderr, done.stderr


@pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")
def test_send_with_fcm(path, tmp_path):
    """The page's own lines send; what was revoked by its last ones sends no more."""
    commands = run_shell("send-with-fcm.md", tmp_path, path["data"])
    assert commands.returncode == 0, commands.stdout + commands.stderr
    assert "revoked service account" in commands.stdout
    (tmp_path / "service-account.json").unlink()
    run_aldaba("service-account", "create", "--output", tmp_path / "service-account.json", "--data", path["data"])
    done = run_python("\n".join(blocks("send-with-fcm.md", "python")), tmp_path, **NOWHERE)
    assert done.returncode == 0, done.stdout + done.stderr
    states = told_states(path, done.stdout.strip())
    assert states[0] == "accepted", states


def test_topics_by_firebase_admin(path, control, tmp_path):
    """The page's lines keep the library's calls on this machine; the account and the token are the other page's."""
    for words in (("service-account", "create", "--output", tmp_path / "service-account.json"),
                  ("device", "simulate", 1, "--offline", "--tokens", tmp_path / "tokens.txt")):
        run_aldaba(*words, "--data", path["data"])
    (tmp_path / "ca.pem").write_bytes(Path(path["ca"]).read_bytes())
    [lines] = blocks("topics.md", "python")
    done = run_python(lines, tmp_path, **NOWHERE)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stdout + done.stderr
    token = (tmp_path / "tokens.txt").read_text().strip()
    assert b'"weather":{"addDate"' in control.request("GET", f"/iid/info/{token}?details=true")[1]


# Pages that make what another page makes too, or little. `Scripts/build-guides` reads both lists.
ALONE = ["encrypt.md", "es/hub.md", "show-a-picture.md", "es/mostrar-una-imagen.md"]

# Pages that share a server with two devices, each with the commands that it presupposes.
SHARED = {
    "../README.md": "SHELL",
    "../README.es.md": "SHELL",
    "broadcast-channels.md": "",
    "relay.md": "",
    "es/rele.md": "",
    "notification-centre.md": "SHELL",
    "lifecycle.md": "SHELL",
    "fcm-clients.md": "SHELL",
    "hub-reference.md": "SHELL\naldaba hub create harbour --app com.example.todo",
    "old-provider-scripts.md": "",
}
SHELL = '. "$HOME/.local/state/aldaba/environment"'


@pytest.mark.parametrize("page", ALONE)
def test_pages_alone_with_a_server(page, tmp_path):
    running = AldabaUp.ephemeral(name=page.replace("/", "-"))
    done = run_shell(page, tmp_path, running.data)
    assert running.stop() == 0
    running.drop_logs()
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def two_devices():
    running = AldabaUp.ephemeral("--devices", "2", name="two_devices")
    yield running
    assert running.stop() == 0
    running.drop_logs()


@pytest.mark.parametrize("page", SHARED)
def test_pages_with_two_devices(page, two_devices, tmp_path):
    done = run_shell(page, tmp_path, two_devices.data, before=SHARED[page].replace("SHELL", SHELL))
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_page_waits_without_end():
    for page in (REPOSITORY / "Docs").rglob("*.md"):
        for line in page.read_text().splitlines():
            assert "until " not in line or "; do" not in line or line.startswith("timeout "), f"{page.name}: {line}"


def told_states(path, name):
    told = json.loads(run_aldaba("get", internal_id(name), "--json", "--data", path["data"]).stdout)
    return [line["state"] for line in told[0]["timeline"]]


@pytest.mark.skipif("ALDABA_TEST_STORE" in os.environ, reason="PostgreSQL is copied by its own programs")
def test_back_up(path, tmp_path):
    done = run_shell("back-up.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok" in done.stdout.splitlines() and path["topic"] in done.stdout
    assert "the running server stores what it is sent" in done.stdout
    assert (tmp_path / "restored/token.key").read_bytes() == (tmp_path / "copy/token.key").read_bytes()


def test_run_a_kiosk(path, tmp_path):
    done = run_shell("run-a-kiosk.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    shown = [json.loads(line) for line in (tmp_path / "kiosk" / "shown").read_text().splitlines()]
    assert [each["title"] for each in shown] == ["Platform 4", "Paper is low"]
    assert "Refill tray 2" in done.stdout, "the list has what was shown"


def test_hub(path, tmp_path):
    done = run_shell("hub.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sender  Send" in done.stdout
    assert json.loads((tmp_path / "campaign.json").read_text())["name"] == "spring"
    assert (tmp_path / "backend.key").stat().st_mode & 0o777 == 0o600
    [lines] = blocks("hub.md", "python")
    told = "\nprint(json.dumps(client.get_installation('my-phone')))\nclient.close()"
    done = run_python(
        lines + told, tmp_path, SSL_CERT_FILE=path["ca"], HUB=path["hub"], HUB_NAME=path["hubName"],
        TOKEN=path["deviceToken"])
    assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads(done.stdout.splitlines()[-1])
    assert kept["templates"]["storm"]["tags"] == ["storm"] and kept["userId"] == "anna"


def test_topics(path, control, tmp_path):
    done = run_shell("topics.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert '{"results":[{}]}' in done.stdout and '"weather":{"addDate"' in done.stdout
    assert "a broadcast for /topics/weather: " in done.stdout
    assert '"outcome":"withdrawn"' in done.stdout
