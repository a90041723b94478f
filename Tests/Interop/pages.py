"""The commands of a page, run as they stand there."""

import os
import re
import signal
import subprocess
import sys

from aldaba_process import HERE, REPOSITORY, clean_environment

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What clients that go through a proxy get: one at which nobody listens, except for addresses of this machine.
NO_WAY_OUT = {name: "http://127.0.0.1:1" for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY")} | {
    "no_proxy": "127.0.0.1,localhost"}


def blocks(page, language):
    """The text of a page's blocks in one language, in their order."""
    text = (REPOSITORY / "Docs" / page).read_text()
    return [content for kind, content in BLOCK.findall(text) if kind == language]


def in_a_fresh_root(folder, data):
    """The variables of a newcomer's shell: a home with the data folder at its usual place, and no `aldaba` on PATH."""
    state = folder / "home/.local/state"
    state.mkdir(parents=True, exist_ok=True)
    if not (state / "aldaba").is_symlink():
        (state / "aldaba").symlink_to(data)
    return {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"} | NO_WAY_OUT


def run_shell(page, folder, data, seconds=120, before=""):
    """All `sh` blocks of a page, pasted into a fresh root as one script that stops at the first line that fails; its completed
    process. `aldaba up` runs on the data folder; `before` has the commands that the page presupposes."""
    commands = blocks(page, "sh")
    assert commands, f"{page} has no commands"
    script = "\n".join([before, *commands])
    # What the script starts and does not end itself, as when it fails midway, ends with its session.
    shell = subprocess.Popen(
        ["sh", "-eux"], cwd=folder, env=in_a_fresh_root(folder, data), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, errors = shell.communicate(script, timeout=seconds)
        return subprocess.CompletedProcess(shell.args, shell.returncode, output, errors)
    finally:
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run_python(lines, folder, seconds=120, **variables):
    """Lines of a page as a program of its own, with outbound connections shut; its completed process.

    A try to connect elsewhere fails the test, whatever the program makes of it.
    """
    log = folder / "outbound.log"
    log.write_text("")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", lines], cwd=folder, capture_output=True, text=True, timeout=seconds,
        env=clean_environment(PYTHONPATH=str(HERE / "shut_connections"), OUTBOUND_LOG=str(log), **variables))
    assert log.read_text() == "", f"connections elsewhere: {log.read_text()}\n{done.stderr}"
    return done
