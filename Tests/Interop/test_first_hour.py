"""What a newcomer meets first: mistyped commands, the scripts that a newcomer's first `make` runs, with stand-ins for what they call."""

import json
import os
import pty
import shutil
import signal
import socket
import subprocess

import pytest

from aldaba_process import BINARY, REPOSITORY, clean_environment, run_aldaba
from waiting import wait_until

BUSY = {
    "lists": "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 77 (apt-get)",
    "dpkg": "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
}


@pytest.fixture
def stand_in(tmp_path):
    """`stand_in(name, script)` puts a program in front of PATH; its `environment` finds it there."""

    def make(name, script):
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    make.folder = tmp_path
    make.environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    return make


def run_script(name, *arguments, environment):
    return subprocess.run(
        [REPOSITORY / "Scripts" / name, *arguments], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("busy", BUSY.values(), ids=BUSY)
def test_install_packages_waits_for_a_busy_package_manager(busy, stand_in):
    stand_in("dpkg-query", "exit 1")
    stand_in("id", "echo 0")
    stand_in("sleep", 'echo "$1" >> "$(dirname "$0")/slept"')
    stand_in("apt-get", f'''
folder=$(dirname "$0")
echo "$*" >> "$folder/asked"
[ "$(wc -l < "$folder/asked")" -gt 2 ] || {{ echo "{busy}" >&2; exit 100; }}
echo done''')
    done = run_script("install-packages", "build", environment=stand_in.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [line.split() for line in (stand_in.folder / "asked").read_text().splitlines()]
    assert [("update" in words, "make" in words) for words in asked] == [(True, False)] * 3 + [(False, True)]
    assert (stand_in.folder / "slept").read_text() == "5\n5\n"
    assert done.stderr.count("waiting for it") == 1 and busy not in done.stderr


def test_install_packages_does_not_wait_for_ever_nor_for_other_faults(stand_in):
    stand_in("dpkg-query", "exit 1")
    stand_in("id", "echo 0")
    stand_in("sleep", 'echo "$1" >> "$(dirname "$0")/slept"')
    stand_in("apt-get", f"echo '{BUSY['lists']}' >&2; exit 100")
    done = run_script("install-packages", "build", environment=stand_in.environment)
    assert done.returncode == 100 and BUSY["lists"] in done.stderr
    assert (stand_in.folder / "slept").read_text().count("5\n") == 120
    (stand_in.folder / "slept").unlink()
    stand_in("apt-get", "echo 'E: Unable to locate package make' >&2; exit 100")
    done = run_script("install-packages", "build", environment=stand_in.environment)
    assert done.returncode == 100 and "Unable to locate package make" in done.stderr
    assert not (stand_in.folder / "slept").exists()


@pytest.mark.parametrize("version, code", [("6.3.1", 0), ("6.10", 0), ("6.3", 0), ("5.10.1", 1), ("nothing", 1), (None, 1)])
def test_the_toolchain_is_named_where_it_is_missing_or_old(version, code, stand_in):
    if version:
        stand_in("swift", f"echo 'Swift version {version} (swift-{version}-RELEASE)'")
    done = run_script("check-toolchain", environment=stand_in.environment)
    assert done.returncode == code, done.stderr
    if code:
        assert "Swift 6.3 or later is needed" in done.stderr and "swift.org/install" in done.stderr
        made = subprocess.run(
            ["make", "up"], cwd=REPOSITORY, env=stand_in.environment, capture_output=True, text=True, timeout=60)
        assert made.returncode and "Swift 6.3 or later is needed" in made.stderr and "not found" not in made.stderr


@pytest.mark.parametrize("words, meant", [
    (["sned"], "did you mean `aldaba send`?"), (["hub", "credental"], "did you mean `aldaba hub credential`?"),
    (["send", "--tokn", "x"], "Unknown option '--tokn'. Did you mean '--token'?"),
    (["notify", "x", "--evry", "monday"], "Unknown option '--evry'. Did you mean '--every'?"),
    (["agent", "--presentr", "desktop"], "Unknown option '--presentr'. Did you mean '--presenter'?"),
    (["up", "--ephemral"], "Unknown option '--ephemral'. Did you mean '--ephemeral'?"),
    (["send", "--frobnicate"], "Unknown option '--frobnicate'\n"),
])
def test_what_is_mistyped_is_named_with_what_was_meant(words, meant):
    done = run_aldaba(*words, check=False)
    assert done.returncode == 2 and meant in done.stderr, done.stderr


def test_ctrl_c_ends_a_command_whose_starter_ignored_it(tmp_path):
    """A shell's background ignores SIGINT, and hands that on; where the command has the terminal, Ctrl-C counts."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "agent.sock"))
        listener.listen()
        child, terminal = pty.fork()
        if child == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.execv(BINARY, [str(BINARY), "agent", "status", "--agent-socket", str(tmp_path / "agent.sock")])
        connection, _ = listener.accept()
        os.write(terminal, b"\x03")
        _, status = os.waitpid(child, 0)
        connection.close()
        os.close(terminal)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT


def test_the_demo_app_enters_the_background_and_comes_back(path):
    """Its lifecycle is `always`, so that it gets every notification in each state."""
    for place in ("background", "foreground"):
        run_aldaba("agent", "app", "enter", path["topic"], place, "--data", path["data"])
    refused = run_aldaba("agent", "app", "enter", "com.example.none", "background", "--data", path["data"], check=False)
    assert refused.returncode != 0


def test_doctor_says_ok_only_where_nothing_is_to_be_done(path):
    told = run_aldaba("doctor", "--data", path["data"], "--http-port", 0, check=False).stdout.splitlines()
    assert any(line.startswith("note     up: the data folder is in use by pid") for line in told), told
    for line, after in zip(told, told[1:]):
        assert not (line.startswith("ok ") and after.startswith("         ")), (line, after)
        assert not line.startswith("ok ") or "stop that one" not in line


@pytest.fixture
def aldaba(path):
    """`aldaba(*words)` on the running server's folder."""
    return lambda *words, **options: run_aldaba(*words, "--data", path["data"], check=False, **options)


def test_waiting_for_an_answer_that_nobody_can_give_ends(aldaba):
    asked = aldaba("notify", "Deploy?", "--button", "yes=Yes", "--wait")
    assert asked.returncode == 1 and "nobody could answer: the agent has no screen" in asked.stderr, asked.stderr
    asked = aldaba("notify", "Deploy?", "--button", "yes=Yes", "--wait", "--timeout", 1)
    assert asked.returncode == 7 and "nobody answered in time: the agent has no screen" in asked.stderr, asked.stderr


def test_a_level_that_is_not_allowed_is_said(aldaba):
    shown = aldaba("notify", "Fire", "--level", "critical")
    assert shown.returncode == 0 and "may not be critical" in shown.stderr and "critical=on" in shown.stderr
    aldaba("settings", "aldaba.notify", "critical=on")
    assert aldaba("notify", "Fire", "--level", "critical").stderr == ""


@pytest.mark.parametrize("words, told", [
    (("--every", "blursday"), "not blursday"), (("--every", "mondy", "--at", "9:00"), "not mondy; did you mean monday?"),
    (("--every", "wendesday"), "not wendesday; did you mean wednesday?"), (("--in", "1h30x"), "not 1h30x"),
])
def test_times_that_are_none_are_refused_with_what_was_meant(words, told, aldaba):
    done = aldaba("notify", "x", *words)
    assert done.returncode == 2 and told in done.stderr, done.stderr


@pytest.mark.parametrize("image, code, told", [
    ("", 3, "--image: it is empty"), ("https://user:pw@shop.example/a.jpg", 3, "devices do not fetch it"),
    ("https:///a.jpg", 3, "devices do not fetch it"), ("http://shop.example/a.jpg", 3, "https addresses only"),
    ("https://192.168.1.4/a.png", 0, "warning: 192.168.1.4 is a private address"),
    ("https://localhost/a.png", 0, "warning: localhost is an address of this machine"),
])
def test_addresses_of_pictures_that_cannot_come_are_said(image, code, told, aldaba):
    done = aldaba("send", "--token", "0" * 64, "--title", "x", "--image", image, "--dry-run")
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr


def test_a_picture_that_nothing_shows_is_said(path, aldaba, control, tmp_path):
    app, program, output = "com.example.plain", tmp_path / "Plain", tmp_path / "output"
    shutil.copy(BINARY.parent / "TodoList", program)
    (tmp_path / "manifest.json").write_text(json.dumps({
        "id": app, "name": "Plain", "team": path["teamId"], "executable": str(program), "authorization": "granted"}))
    assert aldaba("app", "create", app, "--team", path["teamId"]).returncode == 0
    assert aldaba("agent", "app", "install", tmp_path / "manifest.json").returncode == 0
    with open(output, "wb") as file:
        running = subprocess.Popen(
            [program], stdout=file, stderr=file,
            env=clean_environment(ALDABA_APP_ID=app, ALDABA_AGENT_SOCKET=path["socket"], TODOLIST_FILE=str(tmp_path / "list")))
    try:
        wait_until(lambda: "token: " in output.read_text(), "the app has its token")
        sent = aldaba("send", "--app", app, "--title", "Bread", "--image", "https://shop.example/bread.jpg", "--json")
        assert sent.returncode == 0 and f"{app} has no service extension on this machine" in sent.stderr, sent.stderr
        number = json.loads(sent.stdout)["apnsId"]
        wait_until(lambda: "extended(noExtension)" in control.states(number), "the timeline says so too")
        assert "its app has none here" in aldaba("get", number, "--timeline").stdout
        for payload, state, warning in [
            ({"aps": {"alert": "Bread"}, "attachment-url": "https://shop.example/bread.jpg"}, "extended(notAsked)",
             "it needs a text, and mutable-content 1"),
            ({"aps": {"alert": "Bread", "mutable-content": 1}, "att": {"a": "https://shop.example/bread.jpg"}},
             "extended(noExtension)", f"{app} has no service extension on this machine"),
        ]:
            (tmp_path / "payload.json").write_text(json.dumps(payload))
            sent = aldaba("send", "--app", app, "--payload", tmp_path / "payload.json", "--json")
            assert sent.returncode == 0 and warning in sent.stderr, sent.stderr
            number = json.loads(sent.stdout)["apnsId"]
            wait_until(lambda: state in control.states(number), f"the timeline has {state}")  # noqa: B023
    finally:
        running.kill()
        running.wait(10)


@pytest.mark.parametrize("command", ["up", "send", "notify", "serve", "agent", "hub", "relay", "app", "key", "get",
                                     "list", "doctor", "center", "run", None])
def test_help_of_what_people_start_from_has_examples(command):
    told = run_aldaba(*([command] if command else []), "--help").stdout
    examples = told.split("EXAMPLES:\n")[1].split("USAGE:")[0]
    assert f"aldaba {command or 'up'}" in examples
    assert command != "up" or "sandbox" in told
