"""`aldaba send --wait`: the command ends when the notification has reached a state, or cannot reach it any more."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import uuid

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from aldaba_process import BINARY, clean_environment, run_aldaba
from mcs_client import Device, checkin, register3
from script_app import TEAM, ScriptApp
from test_clients import simulated_devices
from test_encryption import encoded
from test_run import pem, pytestmark as needs_namespaces, run
from waiting import wait_for_lines, wait_until

LATER = {
    "accepted": {"accepted", "stored", "sent", "acked", "presented", "handed"},
    "acked": {"acked", "presented", "handed"},
    "presented": {"presented", "handed"},
}


@pytest.fixture(scope="module")
def app(up):
    """An app that does not run, on an agent that lists what comes."""
    made = ScriptApp(up, "test_send_wait")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def quiet(up):
    """An app whose notifications the person has switched off."""
    made = ScriptApp(up, "test_send_wait_quiet")
    made.agent.install(
        id=made.id, name="Quiet", team=TEAM, executable=sys.executable, provesBySecret=True, authorization="ask")
    made.agent.aldaba("settings", made.id, "allowed=no")
    yield made
    made.stop()


@pytest.fixture
def front(up):
    """An app that no person has answered yet."""
    made = ScriptApp(up, "test_send_wait_front")
    yield made
    made.stop()


class Away:
    """A device that is not connected, with the demo app."""

    def __init__(self, path):
        self.path, self.id = path, path["topic"]
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])

    def connect(self):
        device = Device(self.path["mcs"], self.path["ca"])
        device.login(self.identity)
        return device


@pytest.fixture
def away(path):
    return Away(path)


def arguments(up, to, *options):
    options = [str(option) for option in options]
    if "--payload" not in options:
        options += ["--title", "Milk"]
    return ["send", "--topic", to.id, "--token", to.token, *options, "--data", str(up.data)]


@pytest.fixture
def wait(up):
    """`wait(to, *options)` sends to an app or a device and waits; the completed process."""
    return lambda to, *options: run_aldaba(*arguments(up, to, *options), check=False, seconds=60)


@pytest.fixture
def waiting(up):
    """`waiting(to, *options)` begins such a command; (its process, the notification's apns-id)."""
    begun = []

    def begin(to, *options):
        name = str(uuid.uuid4())
        begun.append(subprocess.Popen(
            [str(BINARY), *arguments(up, to, "--id", name, *options)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=clean_environment()))
        return begun[-1], name

    yield begin
    for process in begun:
        process.kill()
        process.communicate(timeout=10)


def ended(process):
    output, errors = process.communicate(timeout=40)
    return process.returncode, output, errors


def listed(app, name):
    """The number of a notification in the agent's list."""
    found = wait_until(
        lambda: [one for one in app.agent.listed() if one["notification"]["identifier"] == name], "it is in the list")
    return found[0]["notification"]["id"]


# --- the state is reached -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["acked", "presented"])
def test_a_second_line_says_when_the_state_was_reached(wait, app, state):
    done = wait(app, "--wait", state)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    told = re.fullmatch(r"(\w+) after \d+\.\d s", second)
    assert first.startswith("200  apns-id ") and told and told[1] in LATER[state], done.stdout


@pytest.mark.parametrize("state", ["accepted", "acked", "presented"])
def test_programs_read_the_state_as_json(wait, app, control, state):
    done = wait(app, "--wait", state, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == 200 and told["state"] in LATER[state]
    assert told["state"] in control.states(told["apnsId"])


def test_without_the_option_nothing_is_added(wait, app):
    done = wait(app)
    assert len(done.stdout.splitlines()) == 1
    assert "state" not in json.loads(wait(app, "--json").stdout)


def test_a_person_opens_it(waiting, app):
    process, name = waiting(app, "--wait", "opened")
    number = listed(app, name)
    assert process.poll() is None
    app.agent.aldaba("notifications", "open", number)
    code, output, errors = ended(process)
    assert (code, errors) == (0, "") and re.search(r"^\w+ after \d+\.\d s$", output, re.M), output


def test_a_button_counts_as_opened(waiting, app, tmp_path):
    payload = tmp_path / "payload.json"
    payload.write_text('{"aps":{"alert":"Milk","category":"shopping"}}')
    with app.connect() as script:
        script.set_categories([{"identifier": "shopping", "actions": [{"identifier": "bought", "title": "Bought"}]}])
    process, name = waiting(app, "--payload", payload, "--wait", "opened", "--json")
    app.agent.aldaba("notifications", "act", listed(app, name), "--action", "bought")
    code, output, errors = ended(process)
    assert code == 0, errors
    assert json.loads(output)["state"] in ("action(bought)", "handed")


def test_an_app_in_front_presents_it(waiting, front):
    with front.connect(presents=26) as script:
        process, name = waiting(front, "--wait", "presented")
        assert script.wait_for_notification(20)["identifier"] == name
        code, _, errors = ended(process)
    assert (code, errors) == (0, "")


def test_a_device_that_connects_meanwhile_has_it(waiting, away):
    process, _ = waiting(away, "--wait", "acked")
    with away.connect() as device:
        device.acknowledge_selectively([device.notification().persistent_id])
        code, output, errors = ended(process)
    assert (code, errors) == (0, "") and output.splitlines()[1].startswith("acked after ")


def test_what_was_reached_at_once_is_told_without_a_pause(wait, app):
    begun = time.monotonic()
    assert wait(app, "--wait", "accepted").returncode == 0
    assert time.monotonic() - begun < 5


# --- it cannot be reached any more --------------------------------------------------------------------------------


def failed(done, *words):
    """The command says by exit code 1 that the notification has ended otherwise."""
    code, errors = (done.returncode, done.stderr) if hasattr(done, "stderr") else (done[0], done[2])
    assert code == 1 and all(word in errors for word in words), (code, errors)
    assert len(errors.splitlines()) == 1, errors


@pytest.mark.parametrize("state", ["acked", "presented", "opened"])
@pytest.mark.parametrize("expiration, end", [("0", "dropped(offline)"), ("PAST", "expired")])
def test_it_ends_before_a_device_has_it(wait, away, state, expiration, end):
    past = str(int(time.time()) - 60)
    failed(wait(away, "--expiration", expiration.replace("PAST", past), "--wait", state), end)


def test_it_expires_while_the_command_waits(wait, away):
    failed(wait(away, "--expiration", int(time.time()) + 2, "--wait", "acked"), "expired")


def test_a_later_one_replaces_it(waiting, wait, away, control):
    process, name = waiting(away, "--collapse-id", "milk", "--wait", "acked")
    control.wait_for_last_state(name, "stored")
    assert wait(away, "--collapse-id", "milk").returncode == 0
    failed(ended(process), "replaced")


def test_the_sender_withdraws_it(waiting, up, away, control):
    process, name = waiting(away, "--wait", "presented")
    control.wait_for_last_state(name, "stored")
    run_aldaba("withdraw", name, "--data", up.data)
    failed(ended(process), "withdrawn")


def test_the_registration_ends(waiting, away, control):
    process, name = waiting(away, "--wait", "acked")
    control.wait_for_last_state(name, "stored")
    identity = (away.identity.device, away.identity.secret)
    control.register(identity, away.id, away.path["teamId"], delete=True)
    failed(ended(process), "dropped(unregistered)")


@pytest.mark.parametrize("state", ["presented", "opened"])
def test_the_settings_of_the_app_suppress_it(wait, quiet, state):
    failed(wait(quiet, "--wait", state), "suppressed(settings)")


def test_what_the_settings_suppress_is_on_the_device(wait, quiet):
    done = wait(quiet, "--wait", "acked")
    assert done.returncode == 0, done.stderr


def test_a_person_dismisses_it(waiting, app):
    process, name = waiting(app, "--wait", "opened")
    app.agent.aldaba("notifications", "dismiss", listed(app, name))
    failed(ended(process), "dismissed")


def test_what_the_device_cannot_decrypt_is_presented_by_its_placeholder(wait, app, control, tmp_path):
    other = ec.generate_private_key(ec.SECP256R1()).public_key().public_numbers()
    point = b"\x04" + other.x.to_bytes(32, "big") + other.y.to_bytes(32, "big")
    key = tmp_path / "key.json"
    key.write_text(json.dumps({"keys": {"p256dh": encoded(point), "auth": encoded(bytes(16))}}))
    name = str(uuid.uuid4())
    done = wait(app, "--id", name, "--encrypt", "--encryption-key", key, "--wait", "presented")
    assert done.returncode == 0, done.stderr
    states = [entry["state"] for entry in control.wait_for_last_state(name, "presented")["timeline"]]
    assert any(state.startswith("undecryptable(") for state in states)


def test_the_sentence_has_the_note_of_the_timeline(waiting, up, away, control):
    process, name = waiting(away, "--wait", "acked")
    control.wait_for_last_state(name, "stored")
    run_aldaba("withdraw", name, "--data", up.data)
    note = control.wait_for_last_state(name, "withdrawn")["timeline"][-1].get("note")
    failed(ended(process), *([note] if note else []))


def test_json_has_the_last_state_where_it_was_not_reached(wait, away):
    done = wait(away, "--expiration", 0, "--wait", "acked", "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["state"] == "dropped(offline)", done.stdout + done.stderr


# --- the time is over ---------------------------------------------------------------------------------------------


def test_the_time_is_over_while_the_device_is_away(wait, away):
    begun = time.monotonic()
    done = wait(away, "--wait", "acked", "--timeout", 1)
    assert done.returncode == 7 and "stored" in done.stderr, done.stderr
    assert 1 <= time.monotonic() - begun < 10
    assert done.stdout.startswith("200  apns-id ")


def test_the_time_is_over_before_a_person_opens_it(wait, app):
    done = wait(app, "--wait", "opened", "--timeout", 1, "--json")
    assert done.returncode == 7 and "presented" in done.stderr
    assert json.loads(done.stdout)["state"] == "presented"


# --- refusals and wrong uses --------------------------------------------------------------------------------------


def test_a_refusal_is_told_as_without_it(wait, app):
    class Nobody:
        id, token = app.id, "0" * 64

    plain, waited = wait(Nobody), wait(Nobody, "--wait", "opened", "--timeout", 20)
    assert (waited.returncode, waited.stderr) == (plain.returncode, plain.stderr) and waited.returncode == 3
    assert "BadDeviceToken" in waited.stdout and len(waited.stdout.splitlines()) == 1


@pytest.mark.parametrize("options", [[], ["--wait", "accepted"]], ids=["plain", "waiting"])
def test_a_server_that_cannot_be_reached_is_told_at_once(path, key, options):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = f"127.0.0.1:{taken.getsockname()[1]}"
    begun = time.monotonic()
    done = run_aldaba(
        "send", "--server", server, "--ca", path["ca"], "--key", key, *APPLE, *options, check=False, seconds=60)
    assert done.returncode == 6 and server in done.stderr, done.stderr
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("options", [
    ["--timeout", "5"], ["--wait", "delivered"], ["--wait", "acked", "--dry-run"], ["--wait", "acked", "--curl"],
    ["--wait", "acked", "--timeout", "0"], ["--wait", "acked", "--timeout", "-1"],
    ["--wait", "acked", "--timeout", "soon"],
], ids=" ".join)
def test_options_that_do_not_go_together_are_refused(wait, app, options):
    done = wait(app, *options)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert any(word in done.stderr for word in ("--wait", "--timeout"))


APPLE = ["--team", "TEAM123456", "--topic", "com.example.todo", "--token", "ab" * 32, "--title", "Hi"]


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "AuthKey_ABC123DEFG.p8"
    path.write_text(pem(ec.generate_private_key(ec.SECP256R1())))
    path.chmod(0o600)
    return path


def test_apple_tells_no_more_than_that_it_accepted(key):
    done = run_aldaba("send", "--apple", "sandbox", "--key", key, *APPLE, "--wait", "presented", check=False)
    assert done.returncode == 2 and "accepted" in done.stderr


@needs_namespaces
def test_apple_is_waited_for_until_it_has_accepted(key):
    done = run(BINARY, "send", "--apple", "sandbox", "--key", key, *APPLE, "--wait", "accepted", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "accepted"


def elsewhere(path, up, tmp_path, *options):
    """A command of another machine: an empty data folder, a key file, addresses."""
    server = json.loads((up.data / "serve.json").read_text())
    control = ["--control", f"https://{server['host']}:{server['controlPort']}"]
    named = ["--server", path["apns"].removeprefix("https://"), "--ca", path["ca"], *(control if options else [])]
    return run_aldaba(
        "send", *named, "--key", path["key"], "--team", path["teamId"], "--topic", path["topic"], "--token",
        path["deviceToken"], "--title", "Milk", "--wait", "acked", "--data", tmp_path, *options[1:], check=False)


def test_the_timelines_of_another_server_are_at_its_control_address(path, up, tmp_path):
    done = elsewhere(path, up, tmp_path, "--control", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] in LATER["acked"]


def test_another_server_s_control_address_is_asked_for_before_anything_is_sent(path, up, tmp_path):
    done = elsewhere(path, up, tmp_path)
    assert done.returncode in (2, 3) and "--control" in done.stderr and done.stdout == "", done.stderr


# --- many devices -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def present(path, tmp_path_factory):
    """Tokens of twenty devices that are connected and acknowledge what they get."""
    tokens = tmp_path_factory.mktemp("present") / "tokens"
    with simulated_devices(20, "--tokens", tokens, "--data", path["data"], "--topic", path["topic"]):
        yield wait_for_lines(tokens, lambda lines: len(lines) == 20, "the devices are there")


@pytest.fixture
def many(up, path, tmp_path):
    """`many(tokens, *options)` sends to them; the completed process and the lines of its results by their tokens."""

    def send(tokens, *options):
        file, results = tmp_path / "to.csv", tmp_path / "results.jsonl"
        file.write_text("\n".join(["token", *tokens]) + "\n")
        done = run_aldaba(
            "send", "--topic", path["topic"], "--recipients", file, "--title", "Milk", "--results", results, *options,
            "--data", up.data, check=False, seconds=60)
        return done, {line["token"]: line for line in map(json.loads, results.read_text().splitlines())}

    return send


def test_each_of_many_devices_is_waited_for(many, present):
    done, results = many(present, "--wait", "acked")
    assert done.returncode == 0, done.stderr
    assert {results[token]["state"] for token in present} <= {"acked", "presented", "handed"}
    assert re.search(r"\b20\b.*\backed\b", done.stdout), done.stdout


def test_those_of_many_that_did_not_reach_it_are_not_counted(many, present, path):
    away = [Away(path).token for _ in range(3)]
    done, results = many([*present, *away, "00" * 32], "--wait", "acked", "--timeout", 2)
    assert done.returncode != 0
    assert {results[token]["outcome"] for token in present + away} == {"accepted"}
    assert {results[token]["state"] for token in away} == {"stored"}
    assert "state" not in results["00" * 32] and results["00" * 32]["outcome"] == "refused"
    assert re.search(r"\b20\b.*\backed\b", done.stdout) and not re.search(r"\b23 \w*acked", done.stdout), done.stdout


def test_the_numbers_of_many_are_one_object(many, present, path):
    done, _ = many([*present, Away(path).token], "--wait", "acked", "--timeout", 1, "--json")
    told = json.loads(done.stdout)
    assert told["accepted"] == 21 and 20 in told.values(), told


def test_many_that_end_otherwise_are_not_waited_for_until_the_time_is_over(many, path):
    away, begun = [Away(path).token for _ in range(5)], time.monotonic()
    done, results = many(away, "--expiration", 0, "--wait", "acked", "--timeout", 30)
    assert done.returncode != 0 and time.monotonic() - begun < 15
    assert {each["state"] for each in results.values()} == {"dropped(offline)"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_was_accepted_is_not_sent_again_though_the_wait_was_ended(up, path, many, tmp_path, control, number):
    """A device that is away would show it twice."""
    tokens = [Away(path).token for _ in range(5)]
    file, results = tmp_path / "to.csv", tmp_path / "results.jsonl"
    file.write_text("\n".join(["token", *tokens]) + "\n")
    with subprocess.Popen(
            [str(BINARY), "send", "--topic", path["topic"], "--recipients", str(file), "--title", "Milk", "--results",
             str(results), "--wait", "acked", "--timeout", "30", "--data", str(up.data)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment()) as process:
        wait_until(lambda: all(received(control, token) for token in tokens), "the server has all of them")
        process.send_signal(number)
        try:
            process.wait(10)
        finally:
            process.kill()
    done, _ = many(tokens)
    assert done.stdout == "5 left out, since they have an answer\n", done.stdout
    assert [received(control, token) for token in tokens] == [1] * 5


def received(control, token):
    """How many requests for a token the server has answered."""
    status, answer = control.request("GET", f"/v1/received?token={token}")
    assert status == 200, answer
    return len([each for each in json.loads(answer)["received"] if each["answer"]])
