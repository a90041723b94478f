"""The commands of a page, run as they stand there."""

import os
import re
import signal
import subprocess

from aldaba_process import REPOSITORY, clean_environment

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    """The text of a page's blocks in one language, in their order."""
    text = (REPOSITORY / "Docs" / page).read_text()
    return [content for kind, content in BLOCK.findall(text) if kind == language]


def run_shell(page, folder, seconds=120, **variables):
    """All `sh` blocks of a page as one script that stops at the first line that fails; its completed process."""
    script = "\n".join(blocks(page, "sh"))
    assert script, f"{page} has no commands"
    # What the script starts and does not end itself, as when it fails midway, ends with its session.
    shell = subprocess.Popen(
        ["sh", "-eux"], cwd=folder, env=clean_environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, errors = shell.communicate(script, timeout=seconds)
        return subprocess.CompletedProcess(shell.args, shell.returncode, output, errors)
    finally:
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
