"""The GitHub Action: its steps, run in the shell and with the files that a runner gives them."""

import os
import signal
import stat
import subprocess

import httpx
import pytest
import yaml

from aldaba_process import REPOSITORY, clean_environment
from waiting import wait_for_end

FOLDER = REPOSITORY / "Packaging/github-action"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text())
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}


@pytest.fixture
def runner(tmp_path):
    """Runs a step: `runner("start", package="…")` gives its process, its outputs and the variables of later steps."""
    programs = tmp_path / "programs"
    programs.mkdir()
    started = []

    def program(name, script):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)

    def run(step, **inputs):
        assert STEPS[step]["shell"] == "bash"
        values = {name: inputs.get(name, about["default"]) for name, about in ACTION["inputs"].items()}
        further = {
            name: value.replace("${{ inputs.package }}", values["package"]) for name, value in STEPS[step].get("env", {}).items()}
        files = {"GITHUB_ENV": tmp_path / "env", "GITHUB_OUTPUT": tmp_path / "output", "RUNNER_TEMP": tmp_path / "temporary"}
        files["RUNNER_TEMP"].mkdir(exist_ok=True)
        for name in ("GITHUB_ENV", "GITHUB_OUTPUT"):
            files[name].write_text("")
        environment = clean_environment(
            GITHUB_ACTION_PATH=str(FOLDER), **{name: str(path) for name, path in files.items()}, **further)
        environment["PATH"] = f"{programs}:{environment['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]], env=environment, capture_output=True,
            text=True, timeout=90, check=False)
        outputs, variables = (
            dict(line.split("=", 1) for line in files[name].read_text().splitlines()) for name in ("GITHUB_OUTPUT", "GITHUB_ENV"))
        if "pid" in outputs:
            started.append(int(outputs["pid"]))
        return done, outputs, variables

    run.program = program
    yield run
    for pid in started:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            continue
        assert wait_for_end(pid)


def test_a_server_runs_after_its_step_and_later_steps_find_and_trust_it(runner):
    done, outputs, variables = runner("start")
    assert done.returncode == 0, done.stderr
    assert set(outputs) == set(ACTION["outputs"])
    assert httpx.get(f"{variables['ALDABA_HTTP']}/health").status_code == 200
    assert outputs["http"] == variables["ALDABA_HTTP"]
    ask = f'fetch("{outputs["fcm"]}").then(answer => console.log("node", answer.status))'
    for command, expected in ((["curl", "-sS", outputs["fcm"]], "Aldaba"), (["node", "-e", ask], "node 200")):
        asked = subprocess.run(
            command, env=clean_environment(**variables), capture_output=True, text=True, timeout=30, check=False)
        assert expected in asked.stdout, asked.stderr
    with open(variables["SSL_CERT_FILE"]) as bundle:
        assert bundle.read().count("BEGIN CERTIFICATE") > 100, "the public authorities are trusted too"


def test_the_variables_are_those_of_aldaba_run(runner):
    _, _, variables = runner("start")
    source = (REPOSITORY / "Sources/aldaba/Run/RunTrust.swift").read_text()
    names = {line.strip(' ",') for row in source.split("names = [")[1].split("]")[0].split("\n") for line in row.split(", ")}
    assert {*names - {""}} == set(variables) - {"ALDABA_HTTP", "ALDABA_DATA"}


def test_a_server_that_does_not_start_fails_the_step_with_its_words(runner):
    runner.program("aldaba", "echo 'cannot listen' >&2; exit 3")
    done, outputs, variables = runner("start")
    assert done.returncode == 1 and "cannot listen" in done.stderr
    assert (outputs, variables) == ({}, {})


@pytest.mark.parametrize("package, expected", [
    ("aldaba-agent_0.1.0_amd64.deb", "sudo apt-get install --yes --no-install-recommends /"), ("aldaba-0.1.0.whl", "python3 -m pip install aldaba-"),
    ("", ""),
])
def test_the_package_is_installed_by_the_system_s_tools(runner, tmp_path, package, expected):
    for name in ("sudo", "python3"):
        runner.program(name, f'echo {name} "$@" >> {tmp_path}/calls')
    runner.program("sysctl", "exit 1")
    done, _, _ = runner("install", package=package)
    assert done.returncode == 0 and done.stdout.startswith("aldaba "), done.stderr
    calls = (tmp_path / "calls").read_text() if (tmp_path / "calls").exists() else ""
    assert calls.startswith(expected) and calls.count("\n") == bool(package)


def test_another_package_is_a_mistake_of_the_caller(runner):
    done, _, _ = runner("install", package="aldaba.zip")
    assert done.returncode == 1 and "'aldaba.zip' is neither a .deb nor a .whl file" in done.stderr


def test_ubuntu_s_restriction_of_namespaces_is_lifted(runner, tmp_path):
    runner.program("sysctl", "echo 1")
    runner.program("sudo", f'echo "$@" >> {tmp_path}/calls')
    done, _, _ = runner("install")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls").read_text() == "sysctl --write kernel.apparmor_restrict_unprivileged_userns=0\n"


def test_the_steps_are_programs_and_the_outputs_are_the_start_s():
    for step in STEPS.values():
        program = FOLDER / step["run"].removeprefix("$GITHUB_ACTION_PATH/")
        assert program.stat().st_mode & stat.S_IXUSR
    for name, about in ACTION["outputs"].items():
        assert about["value"] == f"${{{{ steps.start.outputs.{name} }}}}"
