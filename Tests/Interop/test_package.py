"""The Debian packages, made of what was built: what is in them, and what they do on a Debian on which nothing else is."""

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import debian_packages
import fresh_debian
from aldaba_process import REPOSITORY, clean_environment, run_aldaba
from certificates import make_certificates
from fresh_debian import FreshDebian
from pages import blocks
from waiting import wait_until

DATA = ("--data", "/var/lib/aldaba")
# What systemd-analyze counts from 0 (closed) to 10; 2 and less is "OK".
MOST_EXPOSURE = 2.0

pytestmark = [
    pytest.mark.skipif(not shutil.which("dpkg-shlibdeps"), reason="packages are made by Debian's dpkg-dev"),
    # A fresh Debian takes most of a minute, and several where others want the machine too.
    pytest.mark.timeout(400),
]


def keys_of(program):
    """The keys of a program, by the page of the configuration."""
    rows = re.findall(r"^\| `([a-z-]+)` \| `\w+` \| ([^|]+) \|", (REPOSITORY / "Docs/configuration.md").read_text(), re.M)
    found = [key for key, programs in rows if program in programs.strip().split(", ")]
    assert len(found) > 10
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("package")
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def debian(folder):
    """Begins at once, since the packages are made meanwhile; `installed` is skipped where there can be none."""
    system = FreshDebian(folder)
    if fresh_debian.hindrance() is None:
        system.begin()
    yield system
    system.stop()


@pytest.fixture(scope="module")
def packages(folder):
    """The files of both packages by their names."""
    made = folder / "packages"
    found = {file.name.partition("_")[0]: file for file in map(Path, debian_packages.make(made))}
    assert set(found) == {"aldaba", "aldaba-agent"} and sorted(found.values()) == sorted(made.iterdir())
    return found


@pytest.fixture(scope="module")
def installed(debian, packages):
    if why := fresh_debian.hindrance():
        pytest.skip(why)
    debian.finish()
    debian.share(packages["aldaba"].parent)
    debian.install(*(file.name for file in packages.values()))
    return debian


@pytest.fixture(scope="module")
def served(installed, folder):
    """The booted system, after what the page on production has an operator do; certificates are those of an authority."""
    made = make_certificates(folder / "certificates")
    for name, source in (("fullchain.pem", made.server), ("privkey.pem", made.key), ("ca.pem", made.ca)):
        shutil.copy(source, installed.root / "root" / name)
    # In the system's own network the ports are those of the settings' defaults.
    installed.boot()
    script = "\n".join(blocks("run-in-production.md", "sh"))
    done = installed.run("sh", "-euxc", script, check=False, seconds=100)
    assert done.returncode == 0, done.stdout + done.stderr + installed.journal("aldaba")
    installed.told = done.stdout
    return installed


def administer(system, *words, **options):
    """A command on the server's data, as the page has it."""
    return system.run("aldaba", *words, *DATA, user="aldaba", **options)


def test_what_is_in_the_packages(debian, packages):
    contents = {
        "aldaba": ("lib/systemd/system/aldaba.service", "etc/aldaba/aldaba.yaml", "usr/share/doc/aldaba/copyright"),
        "aldaba-agent": (
            "usr/bin/aldaba -> ../lib/aldaba/aldaba", "usr/lib/aldaba/TodoList", "usr/lib/aldaba/PictureService",
            "usr/lib/systemd/user/aldaba-agent.service", "usr/share/man/man1/aldaba.1.gz",
            "usr/share/dbus-1/services/org.unifiedpush.Distributor.aldaba.service",
            "usr/share/bash-completion/completions/aldaba", "usr/share/zsh/vendor-completions/_aldaba",
            "usr/share/fish/vendor_completions.d/aldaba.fish", "usr/share/doc/aldaba/licences.gz",
            "usr/share/doc/aldaba/guides/configuration.md", "usr/share/doc/aldaba/guides/es/curso.md",
            "usr/share/doc/aldaba-agent/copyright")}
    listed = {name: debian_packages.files(file) for name, file in packages.items()}
    for name, paths in contents.items():
        assert set(paths) <= listed[name]
    assert not listed["aldaba"] & listed["aldaba-agent"], "no file is in both"
    assert not [path for path in listed["aldaba-agent"] if path.startswith(("etc/", "lib/"))]


def test_the_packages_have_one_version_and_name_their_libraries(debian, packages):
    version = run_aldaba("--version").stdout.split()[1]
    server, agent = (debian_packages.fields(packages[name]) for name in ("aldaba", "aldaba-agent"))
    assert server["Version"] == agent["Version"] == version
    assert server["Depends"] == f"adduser, aldaba-agent (= {version})"
    assert "libnghttp2-14" in agent["Depends"] and "adduser" not in agent["Depends"]
    changes = (REPOSITORY / "Packaging/debian/changelog").read_text()
    assert changes.startswith(f"aldaba ({version}) "), "the changelog has no entry for this version"


def test_the_manual_knows_every_command_and_setting(debian, packages, folder):
    subprocess.run(["dpkg-deb", "--extract", packages["aldaba-agent"], folder / "extracted"], check=True)
    page = folder / "extracted/usr/share/man/man1/aldaba.1.gz"
    source = gzip.decompress(page.read_bytes()).decode()
    for key in keys_of("serve") + keys_of("agent"):
        assert f".B --{key}".replace("-", "\\-") in source, key
    for command in ("serve", "agent run", "enrolment-key create", "hub key create"):
        assert f".SS aldaba {command}".replace("-", "\\-") in source, command
    shown = subprocess.run(
        ["man", "--warnings", "--local-file", page], capture_output=True, text=True, check=True,
        env=clean_environment(MANWIDTH="100", LC_ALL="C.UTF-8"))
    assert shown.stderr == "", "the formatter has nothing to say about the page"
    assert "aldaba serve [options]" in shown.stdout


COMPLETE_IN_BASH = """
shopt -s extglob; source <(aldaba --generate-completion-script bash)
COMP_WORDS=(aldaba $1 "$2"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
_aldaba aldaba "$2" "${COMP_WORDS[COMP_CWORD - 1]}"; printf '%s\\n' "${COMPREPLY[@]}"
"""
# zsh's own completion needs a terminal; its function for a command is asked what it hands to _arguments.
COMPLETE_IN_ZSH = """
compdef() { }; source <(aldaba --generate-completion-script zsh)
_arguments() { print -rl -- ${${@%%\\[*}#*\\}} }; __aldaba_complete() { }
_aldaba_${1// /_}
"""
COMPLETE_IN_FISH = 'aldaba --generate-completion-script fish | source; complete -C "aldaba $argv[1] $argv[2]"'


@pytest.mark.parametrize("shell, script", [
    ("bash", ["-c", COMPLETE_IN_BASH, "bash"]), ("zsh", ["-f", "-c", COMPLETE_IN_ZSH, "zsh"]),
    ("fish", ["-N", "-c", COMPLETE_IN_FISH])])
@pytest.mark.parametrize("command, program", [("serve", "serve"), ("agent run", "agent")])
def test_completions_know_every_setting(shell, script, command, program):
    """The shells themselves are asked what they would offer."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed: Scripts/install-packages test")

    def offered(words, last):
        done = subprocess.run(
            [shell, *script, words, last], capture_output=True, text=True, timeout=60, env=clean_environment())
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split())

    assert {f"--{key}" for key in keys_of(program)} - offered(command, "--") == set()
    if shell != "zsh":
        assert {"sandbox", "production"} <= offered(f"{command} --environment", "")


def test_a_fresh_debian_has_what_the_package_needs(installed):
    etc = installed.root / "etc/aldaba"
    group = re.search(r"^aldaba:x:(\d+):", (installed.root / "etc/group").read_text(), re.M)
    assert group and etc.stat().st_gid == int(group[1]) and etc.stat().st_mode & 0o777 == 0o750
    assert (installed.root / "usr/bin/aldaba").is_symlink()
    assert not (installed.root / "etc/systemd/system/multi-user.target.wants/aldaba.service").exists(), "nobody started it"


def test_the_units_are_as_systemd_wants_them(served):
    for scope, unit in ((), "aldaba.service"), (("--user",), "aldaba-agent.service"):
        folder = "/usr/lib/systemd/user" if scope else "/lib/systemd/system"
        told = served.run(
            "systemd-analyze", *scope, "verify", "--man=no", "--recursive-errors=no", f"{folder}/{unit}",
            environment={"XDG_RUNTIME_DIR": "/run"})
        assert told.stderr == "", told.stderr
    rating = served.run("systemd-analyze", "security", "--no-pager", "aldaba.service").stdout
    assert float(re.search(r"exposure level for aldaba.service: ([\d.]+)", rating)[1]) <= MOST_EXPOSURE, rating


def test_the_page_on_production_runs_as_it_stands(served):
    assert "active\n" in served.told and "health: {" in served.told and "\naldaba_" in served.told
    assert "spring" in served.told and "com.example.harbour  team HARBOUR001" in served.told
    assert (served.root / "etc/systemd/system/multi-user.target.wants/aldaba.service").is_symlink()
    [copy] = (served.root / "var/lib/aldaba").glob("backup-*")
    assert (copy / "server.sqlite").exists()


def test_the_agent_is_a_service_of_each_user(served, folder):
    """A person without a screen, who lingers, enrols with a key and shows a notification."""
    key = json.loads(administer(served, "enrolment-key", "create", "anna", "--json").stdout)["key"]
    served.run("useradd", "--create-home", "anna")
    served.run("install", "--mode=644", "/root/ca.pem", "/etc/ssl/aldaba-ca.pem")
    settings = (
        "ALDABA_AGENT_SERVER=127.0.0.1:5228\nALDABA_AGENT_CONTROL=https://127.0.0.1:8443\n"
        f"ALDABA_AGENT_CA=/etc/ssl/aldaba-ca.pem\nALDABA_ENROLMENT_KEY={key}\n")
    served.run(
        "sh", "-euc", 'umask 077; mkdir -p "$HOME/.config/aldaba"; printf %s "$1" > "$HOME/.config/aldaba/agent.env"', "sh",
        settings, user="anna", environment={"HOME": "/home/anna"})
    served.run("loginctl", "enable-linger", "anna")
    served.run("systemctl", "start", "user@1000.service")
    session = {"user": "anna", "environment": {"HOME": "/home/anna", "XDG_RUNTIME_DIR": "/run/user/1000"}}
    served.run("systemctl", "--user", "enable", "--now", "aldaba-agent", **session)
    served.run("systemctl", "--user", "add-wants", "default.target", "aldaba-agent", **session)

    def status():
        return json.loads(served.run("aldaba", "agent", "status", "--json", **session).stdout)

    wait_until(lambda: status()["isConnected"], "the agent is connected", 30)
    served.run("aldaba", "notify", "From a unit", **session)
    assert "From a unit" in served.run("aldaba", "notifications", "list", **session).stdout


def test_the_service_takes_a_notification(served):
    administer(served, "app", "create", "com.example.package", "--team", "PACKAGE001")
    key = json.loads(administer(served, "key", "create", "--team", "PACKAGE001", "--json").stdout)["keyId"]
    made = administer(served, "enrolment-key", "create", "test", "--json")
    administer(served, "device", "simulate", "1", "--offline", "--topic", "com.example.package", "--team", "PACKAGE001",
               "--tokens", "/var/lib/aldaba/tokens", environment={"ALDABA_ENROLMENT_KEY": json.loads(made.stdout)["key"]})
    token = (served.root / "var/lib/aldaba/tokens").read_text().strip()
    sent = administer(served, "send", "--topic", "com.example.package", "--token", token, "--key-id", key, "--team",
                      "PACKAGE001", "--title", "From a package")
    assert sent.stdout.startswith("200"), sent.stdout
    assert (served.root / "var/lib/aldaba").stat().st_mode & 0o777 == 0o700


def test_reload_reads_the_certificate_again(served):
    served.run("systemctl", "reload", "aldaba")
    wait_until(lambda: "read the certificate again" in served.journal("aldaba"), "the journal tells of it")


def server_process(system):
    return system.run("systemctl", "show", "--property=MainPID", "--value", "aldaba").stdout.strip()


def install_both(system, packages):
    system.run("dpkg", "--install", *(f"/shared/{file.name}" for file in packages.values()), seconds=120)


def test_an_upgrade_restarts_what_runs_and_a_removal_leaves_the_data(served, packages):
    before = server_process(served)
    install_both(served, packages)
    assert server_process(served) not in (before, "0")
    served.run("dpkg", "--purge", "aldaba", seconds=120)
    assert served.run("systemctl", "is-active", "aldaba", check=False).stdout != "active\n"
    assert (served.root / "var/lib/aldaba/server.sqlite").exists()
    assert (served.root / "etc/aldaba/server-key.pem").exists()
    assert served.run("aldaba", "--version").stdout.startswith("aldaba "), "the agent's package has stayed"
    served.run("dpkg", "--purge", "aldaba-agent", seconds=120)
    assert not (served.root / "usr/lib/aldaba").exists()


def test_the_one_package_of_before_becomes_two(served, packages, folder):
    """Once `aldaba` had all files. Its server goes on, with the settings that its operator had changed."""
    debian_packages.make_single(packages, folder / "single", packages["aldaba"].parent / "single.deb")
    served.run("dpkg", "--install", "/shared/single.deb", seconds=120)
    settings = served.root / "etc/aldaba/aldaba.yaml"
    changed = settings.read_text() + "log-level: notice\n"
    settings.write_text(changed)
    served.run("systemctl", "enable", "--now", "aldaba")
    before = server_process(served)

    install_both(served, packages)

    assert server_process(served) not in (before, "0") and settings.read_text() == changed
    owner = served.run("dpkg", "--search", "/usr/lib/aldaba/aldaba", "/lib/systemd/system/aldaba.service").stdout
    assert owner == "aldaba-agent: /usr/lib/aldaba/aldaba\naldaba: /lib/systemd/system/aldaba.service\n"
    assert "aldaba.yaml" in served.run("dpkg", "--verify", "aldaba", check=False).stdout
    assert served.run("dpkg", "--verify", "aldaba-agent").stdout == ""
