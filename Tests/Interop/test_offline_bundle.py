"""The offline bundle on a fresh Debian whose network is loopback alone: first the agent by itself, then the server."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

import debian_packages
import fresh_debian
from aldaba_process import REPOSITORY, clean_environment, run_aldaba
from fresh_debian import FreshDebian
from waiting import wait_until

pytestmark = [
    pytest.mark.skipif(not shutil.which("dpkg-scanpackages"), reason="bundles are made by Debian's dpkg-dev"),
    pytest.mark.timeout(400),
]

SESSION = {"user": "anna", "environment": {"HOME": "/home/anna", "XDG_RUNTIME_DIR": "/run/user/1000"}}
WHOLE_PATH = "exec aldaba up --ephemeral --json --presenter headless > /tmp/up.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("offline")
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def system(folder):
    """Begins at once, since the bundle is made meanwhile."""
    made = FreshDebian(folder)
    if fresh_debian.hindrance() is None:
        made.begin()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def bundle(folder):
    """The bundle, unpacked; skipped where apt cannot download."""
    *_, last = debian_packages.make(folder / "made", bundle="auto")
    if not last.endswith(".tar"):
        pytest.skip("apt cannot download the packages that Aldaba needs")
    with tarfile.open(last) as packed:
        packed.extractall(folder / "shared", filter="tar")
    [unpacked] = (folder / "shared").iterdir()
    assert f"{unpacked.name}.tar" == Path(last).name
    return unpacked


@pytest.fixture(scope="module")
def debian(system, bundle):
    """The fresh Debian, booted without a network, with the bundle in /shared."""
    if why := fresh_debian.hindrance():
        pytest.skip(why)
    system.finish()
    system.share(bundle)
    system.boot()
    return system


@pytest.fixture(scope="module")
def agent(debian):
    """The system with the agent alone; `told` is what the installation printed last."""
    debian.told = debian.run("/shared/install.sh", "aldaba-agent", seconds=120).stdout
    return debian


@pytest.fixture(scope="module")
def server(agent):
    """The same system after the installation of the rest."""
    agent.told = agent.run("/shared/install.sh", seconds=120).stdout
    return agent


def version():
    return run_aldaba("--version").stdout.split()[1]


def copied(bundle, folder):
    """A bundle of links to the files of another one, and copies of those that a test changes."""
    shutil.copytree(bundle, folder, copy_function=lambda source, target: Path(target).symlink_to(source))
    for name in ("install.sh", "SYSTEM", "SHA256SUMS"):
        (folder / name).unlink()
        shutil.copy(bundle / name, folder / name)
    return folder


def test_the_bundle_has_what_a_small_debian_does_not_have(bundle):
    names = {file.name.partition("_")[0] for file in (bundle / "packages").glob("*.deb")}
    assert {"aldaba", "aldaba-agent", "libnghttp2-14", "libcurl4", "ca-certificates"} <= names
    assert not names & {"libc6", "dpkg", "apt", "bash"}
    sums = {line.split(maxsplit=1)[1] for line in (bundle / "SHA256SUMS").read_text().splitlines()}
    packed = {str(file.relative_to(bundle)) for file in bundle.rglob("*") if file.is_file()}
    assert sums == packed - {"SHA256SUMS"}


@pytest.mark.parametrize("arguments, change, expected", [
    (["aldaba-server"], None, "'aldaba-server' is no package of this bundle; there are aldaba (the default) and"),
    (["aldaba", "aldaba-agent"], None, "one package at most"),
    ([], ("packages/Packages", "changed"), "files above differ from what was packed, or are missing"),
    ([], ("SYSTEM", "debian 1\n"), "the packages are for debian 1, and this machine has debian"),
])
def test_a_wrong_word_file_or_system_installs_nothing(bundle, tmp_path, arguments, change, expected):
    made = copied(bundle, tmp_path / "bundle")
    if change is not None:
        path, text = change
        (made / path).unlink()
        (made / path).write_text(text)
    if change is not None and change[0] == "SYSTEM":
        summed = subprocess.run(["sha256sum", "SYSTEM"], cwd=made, capture_output=True, text=True, check=True).stdout
        others = [line for line in (made / "SHA256SUMS").read_text().splitlines() if not line.endswith("  SYSTEM")]
        (made / "SHA256SUMS").write_text("\n".join(others) + "\n" + summed)
    (tmp_path / "apt-get").write_text(f"#!/bin/sh\ntouch {tmp_path}/called\n")
    (tmp_path / "id").write_text("#!/bin/sh\necho 0\n")
    for name in ("apt-get", "id"):
        (tmp_path / name).chmod(0o755)
    environment = clean_environment()
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    done = subprocess.run(
        [made / "install.sh", *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and expected in done.stderr, done.stdout + done.stderr
    assert not (tmp_path / "called").exists()


def test_without_a_mirror_the_packages_are_made_and_the_bundle_is_not(bundle, folder, tmp_path):
    (tmp_path / "apt-get").write_text("#!/bin/sh\necho 'no network' >&2; exit 100\n")
    (tmp_path / "apt-get").chmod(0o755)
    environment = clean_environment()
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    lacking = tmp_path / "made"
    lacking.mkdir()
    for file in (folder / "made").glob("*.deb"):
        (lacking / file.name).symlink_to(file)
    done = subprocess.run(
        [REPOSITORY / "Packaging/bundle", lacking], env=environment, capture_output=True, text=True, timeout=60,
        check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert "no network" in done.stderr and "bundle: apt does not find the packages that Aldaba needs" in done.stderr
    assert not list(lacking.glob("*.tar"))


def test_the_agent_s_package_makes_no_server_of_the_machine(agent):
    lines = agent.told.splitlines()
    assert lines[0].startswith("checksums: ") and lines[-1] == f"aldaba-agent {version()} is installed"
    assert agent.run("aldaba", "--version").stdout == f"aldaba {version()}\n"
    assert "\naldaba:" not in (agent.root / "etc/passwd").read_text()
    assert not (agent.root / "etc/aldaba").exists()
    assert not (agent.root / "usr/lib/systemd/system/aldaba.service").exists()
    assert not list((agent.root / "var/lib/apt/lists").glob("*shared*")), "apt's own lists are as they were"


def test_a_user_is_shown_a_notification_without_any_server(agent):
    agent.run("useradd", "--create-home", "anna")
    agent.run("loginctl", "enable-linger", "anna")
    agent.run("systemctl", "start", "user@1000.service")
    agent.run("systemctl", "--user", "enable", "--now", "aldaba-agent", **SESSION)
    agent.run("aldaba", "notify", "Hello", **SESSION)
    assert "Hello" in agent.run("aldaba", "notifications", "list", **SESSION).stdout
    assert not json.loads(agent.run("aldaba", "agent", "status", "--json", **SESSION).stdout)["isConnected"]
    assert agent.run("systemctl", "--user", "is-active", "aldaba-agent", **SESSION).stdout == "active\n"


def test_the_server_comes_later_and_the_agent_goes_on(server):
    assert server.told.splitlines()[-1] == f"aldaba {version()} is installed"
    assert "\naldaba:" in (server.root / "etc/passwd").read_text()
    assert (server.root / "usr/lib/systemd/system/aldaba.service").exists()
    assert "Hello" in server.run("aldaba", "notifications", "list", **SESSION).stdout
    again = server.run("/shared/install.sh", seconds=120).stdout
    assert again.splitlines()[-1] == f"aldaba {version()} is installed"


def test_the_whole_path_runs_without_a_network(server):
    """`up` has a server, an agent and the demo app; a notification goes from the first to the last."""
    server.run("useradd", "--create-home", "berta")
    person = {"user": "berta", "environment": {"HOME": "/home/berta"}}
    server.run("systemd-run", "--unit=whole-path", "--uid=berta", "--setenv=HOME=/home/berta", "sh", "-c", WHOLE_PATH)

    def addresses():
        told = server.run("cat", "/tmp/up.json", check=False).stdout
        return json.loads(told) if told.endswith("\n") else None

    try:
        path = wait_until(addresses, "the whole path is up", 60)
        data = ("--data", path["data"])
        sent = server.run(
            "aldaba", "send", "--app", "com.example.todo", "--title", "Buy milk", "--json", *data, **person)
        identifier = json.loads(sent.stdout)["apnsId"]
        wait_until(
            lambda: "handed" in server.run("aldaba", "get", identifier, "--timeline", *data, **person).stdout,
            "the demo app has the notification", 30)
    finally:
        server.run("systemctl", "stop", "whole-path", check=False)
