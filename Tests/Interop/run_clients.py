"""One run of a foreign program under `aldaba run`: what it printed, and what `aldaba received` shows there of its requests."""

import json
import subprocess
from dataclasses import dataclass

from aldaba_process import BINARY, HERE, clean_environment

CLIENTS = HERE / "clients"

# The program, then, if it succeeded, a wait until the devices have what was sent to them, then what came.
SCRIPT = """
acked=$1 && shift
"$@" > output
code=$?
[ $code -ne 0 ] || [ "$acked" -eq 0 ] || aldaba received --state acked --wait "$acked" --timeout 20 --json > devices
aldaba received --limit 1000 --json > received
exit $code
"""


@dataclass(frozen=True)
class ClientRun:
    """`output` has the program's lines; `requests` are the entries of what came, oldest first."""

    code: int
    output: list
    errors: str
    requests: list

    def told(self, interface):
        """Of each request of an interface: title or text of the alert, else nothing; status of the answer; state."""
        return sorted(
            (each["title"] or each["body"] or "", (each["answer"] or {}).get("status"), each["state"])
            for each in self.requests if each["interface"] == interface)


def run_client(folder, *command, acked=0, flags=(), **variables):
    """Runs a program in a folder, waits until so many requests are with their devices, and returns what there is to see."""
    done = subprocess.run(
        [str(BINARY), "run", "--quiet", *flags, "--", "sh", "-c", SCRIPT, "sh", str(acked), *map(str, command)], cwd=folder,
        capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL, env=clean_environment(**variables))
    received = folder / "received"
    requests = [json.loads(line) for line in received.read_text().splitlines()] if received.exists() else []
    output = (folder / "output").read_text().splitlines() if received.exists() else []
    return ClientRun(done.returncode, output, done.stdout + done.stderr, requests[::-1])
